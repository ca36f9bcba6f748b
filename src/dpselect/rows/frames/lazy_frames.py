"""Frames that are computed when they are read: Polars' lazy frames, DuckDB's relations, and tables of Ibis.

Each question has its library compute the columns that it needs, and reads them as a stream of Arrow batches.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from dpselect.errors import InvalidDataError, SelectionError, Shown
from dpselect.rows.columns import Column, Holds
from dpselect.rows.duckdb.arrow import BATCH_ROWS, RecordBatch, column_of, holds_of
from dpselect.rows.duckdb.scan import quoted
from dpselect.rows.failures import TranslatedErrors, changed, reading, unanswered
from dpselect.rows.frames.polars_frame import PolarsSource
from dpselect.rows.frames.streams import check_unchanged, columns_in, converted, named_columns

_ROWS_OF_TEXT = 1 << 10
"""At a time, from DuckDB: it returns at most 2 GiB of text together."""

_ODD = ("bit", "bignum")
"""Types of DuckDB's that reach Arrow as bytes."""

_LONGEST = 1 << 20
"""Bytes of text in a relation. Longer text is left out; otherwise it would decide whether DuckDB can answer."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class LazySource:
    """Rows that are computed when they are read.

    Attributes:
        frame: the lazy frame, relation or table.
        shown: its name in errors.
        columns: the columns of its schema.
        listed: whether errors may list the columns.
    """

    frame: Any
    shown: str
    columns: tuple[Column, ...]
    listed: bool = True

    def size(self) -> int:
        """0: not known before the end."""
        return 0

    def batches(self, columns: Sequence[Column], advance: Callable[[int], None]) -> Iterator[RecordBatch]:
        """The rows, with only the columns asked for. Their types are those that they had when it was opened."""
        raise NotImplementedError


class PolarsLazySource(LazySource):
    """A lazy frame of Polars."""

    __slots__ = ()

    @classmethod
    def of(cls, frame: Any) -> PolarsLazySource:
        """Read the schema of a ``polars.LazyFrame``."""
        import polars as pl

        shown = "<polars LazyFrame>"
        with reading(shown):
            empty = pl.DataFrame(schema=frame.collect_schema())
        return cls(frame, shown, PolarsSource.of(empty).columns)

    def batches(self, columns: Sequence[Column], advance: Callable[[int], None]) -> Iterator[RecordBatch]:
        """See `LazySource.batches`."""
        import polars as pl

        with reading(self.shown):
            empty = pl.DataFrame(schema=self.frame.collect_schema())
            now = PolarsSource.of(empty)
            check_unchanged(now.columns, self.columns, shown=self.shown)
            places = now.places(columns)
            asked = PolarsSource.of(empty.select(empty.get_columns()[at] for at in places)).columns
            for frame in self.frame.select(*map(pl.nth, places)).collect_batches(chunk_size=BATCH_ROWS):
                yield from PolarsSource(frame, asked, self.shown).batches(columns, advance)


class RelationSource(LazySource):
    """A relation of DuckDB, computed on its own connection."""

    __slots__ = ()

    @classmethod
    def of(cls, relation: Any) -> RelationSource:
        """Read the schema of a ``duckdb.DuckDBPyRelation``."""
        shown = "<DuckDB relation>"
        with reading(shown):
            types = relation.limit(0).to_arrow_table().schema.types  # there, a second column of a name gets another
            odd = [type_.id in _ODD for type_ in relation.types]
        named_columns(relation.columns, (), shown=shown, capitals_count=False)
        found = zip(relation.columns, types, odd, strict=True)
        columns = (Column(name, Holds.OTHER) if is_odd else column_of(name, type_) for name, type_, is_odd in found)
        return cls(relation, shown, tuple(columns))

    def batches(self, columns: Sequence[Column], advance: Callable[[int], None]) -> Iterator[RecordBatch]:
        """See `LazySource.batches`. DuckDB looks tables up again each time, so types are compared before and after."""
        is_long = any(column.holds in (Holds.TEXT, Holds.BYTES) for column in columns)
        self._check(columns)
        open_ones: list[Any] = []
        with TranslatedErrors(lambda error: self._said(error, columns, open_ones)):
            asked = self.frame.project(", ".join(map(_short, columns)))
            open_ones.append(asked.to_arrow_reader(_ROWS_OF_TEXT if is_long else BATCH_ROWS))
            yield from converted(open_ones[0], columns, advance)
        self._check(columns)

    def _check(self, columns: Sequence[Column]) -> None:
        """Refuse the relation if some of `columns` have other types now."""
        with TranslatedErrors(lambda error: changed(self.shown) if _is_gone(error) else unanswered(error, self.shown)):
            found = self.frame.project(", ".join(quoted(column.name) for column in columns))
        check_unchanged(self.of(found).columns, columns, shown=self.shown)

    def _said(self, error: BaseException, columns: Sequence[Column], open_ones: list[Any]) -> SelectionError:
        """The error for a failed read. If a type changed, it says so, since whether the read failed depends on rows."""
        for reader in open_ones:
            reader.close()  # a connection answers nothing while a result is open
        try:
            self._check(columns)
        except SelectionError as refusal:
            return refusal
        return unanswered(error, self.shown)


class IbisSource(LazySource):
    """A table of Ibis, on any of its engines."""

    __slots__ = ()

    @classmethod
    def of(cls, table: Any) -> IbisSource:
        """Read the schema of an ``ibis.Table``."""
        shown = "<Ibis table>"
        hint = "Give a table of a connection, such as ibis.duckdb.connect(...).table(...)."
        unbound = InvalidDataError("source", Shown(shown), "a table on an engine", hint)
        with TranslatedErrors(lambda _: unbound):
            table.get_backend()
        with reading(shown):
            schema = table.schema().to_pyarrow()
        return cls(table, shown, _named(schema, shown))

    def batches(self, columns: Sequence[Column], advance: Callable[[int], None]) -> Iterator[RecordBatch]:
        """See `LazySource.batches`. Ibis hands over the columns as a whole."""
        with reading(self.shown):
            found = self.frame.select(*(self.frame[column.name] for column in columns)).to_pyarrow()
            check_unchanged(columns_in(found.schema), tuple(columns), shown=self.shown)
            yield from converted(found.to_batches(max_chunksize=BATCH_ROWS), columns, advance)


def _named(schema: Any, shown: str) -> tuple[Column, ...]:
    named_columns(schema.names, (holds_of(field.type) for field in schema), shown=shown)
    return columns_in(schema)


def _is_gone(error: BaseException) -> bool:
    """Whether DuckDB found no such table or column."""
    return type(error).__name__ in ("BinderException", "CatalogException")


def _short(column: Column) -> str:
    name = quoted(column.name)
    if column.holds is Holds.DECIMALS:  # some have more digits than Arrow's
        return f"{name}::VARCHAR"
    length = {Holds.TEXT: f"strlen({name}::VARCHAR)", Holds.BYTES: f"octet_length({name})"}.get(column.holds)
    return name if length is None else f"CASE WHEN {length} <= {_LONGEST} THEN {name} END"
