"""DuckDB relations: computed where they are defined, the asked columns streamed through the rows' engine.

Of a relation the connection behind it is not known, and with it neither a way to join candidates nor whether it would
be safe to; within one process streaming costs little more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import duckdb

from dpselect.backends.columns import Column, Holds
from dpselect.backends.failures import TranslatedErrors
from dpselect.backends.lazy.reading import changed, reading, unanswered
from dpselect.backends.lazy.schema import columns_of
from dpselect.backends.rows.arrow import ARROW_TYPES, RecordBatch, pa, valid_text
from dpselect.errors import SelectionError

_BATCH, _BATCH_OF_TEXT = 1 << 17, 1 << 10
"""Rows at a time; few of text, of which the engine hands out no more than 2 GiB together."""

_LONGEST = 1 << 20
"""Bytes of text; what is longer is left out here, or it would decide whether the engine can answer."""

_UNLIKE = {"uuid": Holds.TEXT, "null": Holds.NOTHING, "interval": Holds.TIMES}
"""Types that narwhals has no word for, or another one."""

_CASTS = {
    Holds.INTEGERS: "BIGINT",
    Holds.UNSIGNED: "UBIGINT",
    Holds.FLOATS: "DOUBLE",
    Holds.SHORT_FLOATS: "DOUBLE",
    Holds.DATES: "DATE",
    Holds.BOOLEANS: "BOOLEAN",
    Holds.BYTES: "BLOB",
}


@dataclass(frozen=True, slots=True, repr=False)
class DuckDBRelation:
    """A relation as a source of rows.

    Attributes:
        relation: what DuckDB calls so.
        columns: from its schema.
        kept: what the relation needs as long as it is there.
    """

    relation: Any
    columns: tuple[Column, ...]
    kept: Any = None
    shown = "<DuckDB relation>"
    listed = True

    @classmethod
    def of(cls, relation: Any, *, kept: Any = None) -> DuckDBRelation:
        """Read the schema of `relation`."""
        with reading(cls.shown):
            types = {name: str(type_.id) for name, type_ in zip(relation.columns, relation.types, strict=True)}
            unlike = {name: _UNLIKE.get(type_) for name, type_ in types.items()}
            return cls(relation, columns_of(relation, relation.columns, cls.shown, unlike=unlike.get), kept)

    def size(self) -> int:
        """Unknown before it was read."""
        return 0

    def batches(self, columns: Sequence[Column], advance: Callable[[int], None]) -> Iterator[RecordBatch]:
        """The rows, as far as they are asked for; every cast widens, or writes as text, and none can fail.

        That is so of the types that the columns had when they were described. DuckDB looks for tables anew each time:
        types are compared before, and at the end or when it fails, for what may have happened meanwhile.
        """
        self._unchanged(columns)
        names, types = [column.name for column in columns], [ARROW_TYPES[column.holds] for column in columns]
        casts = [f"{_read(column)} AS {_quoted(column.name)}" for column in columns]
        is_long = any(column.holds in (Holds.TEXT, Holds.BYTES) for column in columns)
        rows = _BATCH_OF_TEXT if is_long else _BATCH
        with TranslatedErrors(lambda error: self._said(error, columns)):
            for batch in self.relation.project(", ".join(casts)).to_arrow_reader(rows):
                # Text comes as it lies in the relation, which need not be UTF-8.
                found = [
                    valid_text(array) if pa.types.is_large_string(type_) else array.cast(type_)
                    for array, type_ in zip(batch.columns, types, strict=True)
                ]
                yield pa.RecordBatch.from_arrays(found, names=names)
                advance(batch.num_rows)
        self._unchanged(columns)

    def _unchanged(self, columns: Sequence[Column]) -> None:
        """Refuse the relation if some of `columns` hold something else now."""

        def said(error: BaseException) -> SelectionError:
            is_gone = isinstance(error, duckdb.BinderException | duckdb.CatalogException)
            return changed(self.shown) if is_gone else unanswered(error, self.shown)

        with TranslatedErrors(said):
            found = self.relation.project(", ".join(_quoted(column.name) for column in columns))
        now = DuckDBRelation.of(found).columns
        if [column.holds for column in now] != [column.holds for column in columns]:
            raise changed(self.shown)

    def _said(self, error: BaseException, columns: Sequence[Column]) -> SelectionError:
        """Where a type changed after all, no row is to decide what is said: another one would not have failed."""
        try:
            self._unchanged(columns)
        except SelectionError as refusal:
            return refusal
        return unanswered(error, self.shown)


def _read(column: Column) -> str:
    cell = f"CAST({_quoted(column.name)} AS {_CASTS.get(column.holds, 'VARCHAR')})"
    length = {Holds.TEXT: "strlen", Holds.BYTES: "octet_length"}.get(column.holds)
    return cell if length is None else f"CASE WHEN {length}({cell}) <= {_LONGEST} THEN {cell} END"


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
