"""DuckDB relations, computed on their own connection; the columns asked for are streamed through the embedded engine.

A relation does not give access to its connection. So there is no way to join candidates there, or to know that it
would be safe. Within one process streaming costs little more.
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
"""Rows at a time; fewer with text, because the engine returns at most 2 GiB of text together."""

_LONGEST = 1 << 20
"""Bytes. Longer text is left out; otherwise it would decide whether the engine can answer."""

_UNLIKE = {"uuid": Holds.TEXT, "null": Holds.NOTHING, "interval": Holds.TIMES}
"""Types that narwhals does not know or names differently."""

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
        relation: the DuckDB relation.
        columns: the columns of its schema.
        kept: an object that has to live as long as the relation.
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
        """0: unknown before it is read."""
        return 0

    def batches(self, columns: Sequence[Column], advance: Callable[[int], None]) -> Iterator[RecordBatch]:
        """The rows, with the columns asked for. Every cast widens or converts to text, and none can fail.

        This holds for the types that the columns had when the relation was opened. DuckDB looks tables up again each
        time, so types are compared before reading, and again at the end or after a failure.
        """
        self._unchanged(columns)
        names, types = [column.name for column in columns], [ARROW_TYPES[column.holds] for column in columns]
        casts = [f"{_read(column)} AS {_quoted(column.name)}" for column in columns]
        is_long = any(column.holds in (Holds.TEXT, Holds.BYTES) for column in columns)
        rows = _BATCH_OF_TEXT if is_long else _BATCH
        with TranslatedErrors(lambda error: self._said(error, columns)):
            for batch in self.relation.project(", ".join(casts)).to_arrow_reader(rows):
                # Text arrives as stored in the relation, which need not be UTF-8.
                found = [
                    valid_text(array) if type_ == "large_string" else array.cast(type_)
                    for array, type_ in zip(batch.columns, types, strict=True)
                ]
                yield pa.RecordBatch.from_arrays(found, names=names)
                advance(batch.num_rows)
        self._unchanged(columns)

    def _unchanged(self, columns: Sequence[Column]) -> None:
        """Refuse the relation if some of `columns` have other types now."""

        def said(error: BaseException) -> SelectionError:
            is_gone = isinstance(error, duckdb.BinderException | duckdb.CatalogException)
            return changed(self.shown) if is_gone else unanswered(error, self.shown)

        with TranslatedErrors(said):
            found = self.relation.project(", ".join(_quoted(column.name) for column in columns))
        now = DuckDBRelation.of(found).columns
        if [column.holds for column in now] != [column.holds for column in columns]:
            raise changed(self.shown)

    def _said(self, error: BaseException, columns: Sequence[Column]) -> SelectionError:
        """The error for a failed read. If a type changed, it says so, since whether the read failed depends on rows."""
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
