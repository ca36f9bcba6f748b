"""A table that a library holds: a schema and a stream of Arrow. Each question asks for them again; none modifies it.

Polars, DuckDB's relations and tables of Ibis compute the columns that a question needs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

from dpselect.errors import InvalidDataError, Shown
from dpselect.rows.columns import Column, Holds, check_names
from dpselect.rows.duckdb.arrow import (
    BATCH_ROWS,
    RecordBatch,
    columns_of,
    first_of,
    holds_of,
    no_type,
    pa,
    plain_batches,
    sliced,
)
from dpselect.rows.duckdb.connection import quoted
from dpselect.rows.duckdb.scan import Source
from dpselect.rows.failures import ASK, TranslatedErrors, changed, reading

_MAY_COME_AS = {Holds.DECIMALS: Holds.TEXT}
"""What a library may hand over in place of a type."""

_ROWS_OF_TEXT = 1 << 10
"""At a time, from DuckDB: it returns at most 2 GiB of text together."""

_ODD = ("bit", "bignum")
"""Types of DuckDB's that reach Arrow as bytes."""

_LONGEST = 1 << 20
"""Bytes of text in a relation. Longer text is left out; otherwise it would decide whether DuckDB can answer."""

Now = tuple[Any, Callable[[list[str]], Iterable[RecordBatch]]]
"""The present Arrow schema of a table, and what reads some of its columns, by name; others may come with them."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Frame(Source):
    """Rows that the caller's library holds or computes.

    Attributes:
        now: describes the rows as they are when it is called, and reads just these. Both may raise anything.
        rows: how many there are; 0: not known before the end.
        known_as: its id and its version, by which a ledger tells it from others; None: it has none.
        hint: what to do if the library cannot answer.
        expected: what errors expect of it.
    """

    now: Callable[[], Now]
    rows: Callable[[], int] = field(default=lambda: 0, kw_only=True)
    known_as: Callable[[], str] | None = field(default=None, kw_only=True)
    hint: str = field(default="", kw_only=True)
    expected: str = field(default="a table that can be read to its end", kw_only=True)

    @classmethod
    def of(cls, shown: str, now: Callable[[], Now], **about: Any) -> Self:
        """A frame with the columns that its schema has now.

        Raises:
            InvalidDataError: the schema cannot be read, or has no columns, or two of one name.
        """
        frame = cls(shown, (), now, **about)
        with frame._reading():
            schema, _ = now()
        check_names(schema.names, shown=shown)
        return cls(shown, columns_of(schema), now, **about)

    @property
    def origin(self) -> str:
        """See `Source`."""
        return self.shown if self.known_as is None else self.known_as()

    def size(self) -> int:
        """Rows."""
        return self.rows()

    def batches(self, columns: Sequence[Column], advance: Callable[[int], None]) -> Iterator[RecordBatch]:
        """See `Source`.

        The columns have to have the types that they had when the frame was opened: if one has another type now, a row
        may decide how the others are read. Other columns may come, go and change.
        """
        names = [column.name for column in columns]
        with self._reading():
            schema, read = self.now()
            if not set(columns) <= set(columns_of(schema)):
                raise changed(self.shown)
            for batch in read(first_of(schema, names)):
                found = {each.name: each.holds for each in columns_of(batch.schema)}
                if any(found.get(each.name) not in (each.holds, _MAY_COME_AS.get(each.holds)) for each in columns):
                    raise changed(self.shown)
                for arrays in sliced([batch], names):
                    advance(len(arrays[0]))
                    yield from plain_batches(arrays, columns, [str(at) for at in range(len(columns))])

    def _reading(self) -> TranslatedErrors:
        return reading(self.shown, hint=self.hint, expected=self.expected)


def of_table(table: Any, shown: str) -> Frame:
    """A table in memory, read without a copy of the whole."""

    def now() -> Now:
        return table.schema, lambda names: table.select(names).to_batches(max_chunksize=BATCH_ROWS)

    return Frame.of(shown, now, rows=lambda: table.num_rows)


def of_polars(frame: Any) -> Frame:
    """The rows of a ``polars.DataFrame``, or of a ``LazyFrame``, which hands over the columns asked for as a whole."""
    import polars as pl

    is_lazy = isinstance(frame, pl.LazyFrame)

    def now() -> Now:
        held = frame.clone()  # a snapshot
        empty = pl.DataFrame(schema=held.collect_schema())

        def read(names: list[str]) -> Iterator[RecordBatch]:
            asked = held.select(*(pl.nth(empty.columns.index(name)) for name in names))
            return _batches((asked.collect(engine="streaming") if is_lazy else asked).get_columns(), names)

        return pa.schema([(column.name, _type_in_arrow(column)) for column in empty.get_columns()]), read

    if is_lazy:
        return Frame.of("<polars LazyFrame>", now, hint=ASK)
    return Frame.of("<polars DataFrame>", now, rows=lambda: frame.height)


def _batches(columns: list[Any], names: list[str]) -> Iterator[RecordBatch]:
    for start in range(0, len(columns[0]), BATCH_ROWS):
        arrays = [_in_arrow(each.slice(start, BATCH_ROWS)) for each in columns]
        yield pa.RecordBatch.from_arrays(arrays, names)


def _type_in_arrow(empty: Any) -> Any:
    """Not of objects, whose Arrow type would be that of memory addresses."""
    import polars as pl

    try:
        return no_type() if empty.dtype == pl.Object else _in_arrow(empty).type
    except pa.ArrowException:  # Arrow has no such type
        return no_type()


def _in_arrow(column: Any) -> Any:
    """The column without its name, because Polars panics at a name with a zero byte."""
    import polars as pl

    return column.alias("").to_arrow(compat_level=pl.CompatLevel.newest())


def of_relation(relation: Any) -> Frame:
    """The rows of a ``duckdb.DuckDBPyRelation``, computed on its own connection."""

    def now() -> Now:
        with TranslatedErrors(lambda _: changed(shown), *_gone()):
            columns, engines_types = list(relation.columns), relation.types
            arrow_types = relation.limit(0).to_arrow_table().schema.types
        check_names(columns, shown=shown, capitals_count=False)
        types = dict(zip(columns, arrow_types, strict=True))
        for name, type_ in zip(columns, engines_types, strict=True):
            if type_.id in _ODD or holds_of(types[name]) is Holds.NESTED:  # the fields of a struct may be long
                types[name] = no_type()

        def read(names: list[str]) -> Any:
            holds = [holds_of(types[name]) for name in names]
            is_long = Holds.TEXT in holds or Holds.BYTES in holds
            asked = relation.project(", ".join(map(_short, names, holds)))
            return asked.to_arrow_reader(_ROWS_OF_TEXT if is_long else BATCH_ROWS)

        return pa.schema(list(types.items())), read

    shown = "<DuckDB relation>"
    return Frame.of(shown, now, hint=ASK)


def _gone() -> tuple[type[Exception], ...]:
    """What DuckDB says of a table or a column that is not there any more."""
    import duckdb

    return duckdb.BinderException, duckdb.CatalogException


def _short(column: str, holds: Holds) -> str:
    name = quoted(column)
    if holds is Holds.DECIMALS:  # some have more digits than Arrow's
        return f"{name}::VARCHAR AS {name}"
    length = {Holds.TEXT: f"strlen({name}::VARCHAR)", Holds.BYTES: f"octet_length({name})"}.get(holds)
    return name if length is None else f"CASE WHEN {length} <= {_LONGEST} THEN {name} END AS {name}"


def of_ibis(table: Any) -> Frame:
    """The rows of an ``ibis.Table`` on any of its engines. It hands over the columns as a whole."""

    def now() -> Now:
        def read(names: list[str]) -> Any:
            return table.select(*(table[name] for name in names)).to_pyarrow().to_batches(max_chunksize=BATCH_ROWS)

        return table.schema().to_pyarrow(), read

    shown = "<Ibis table>"
    hint = "Give a table of a connection, such as ibis.duckdb.connect(...).table(...)."
    unbound = InvalidDataError("source", Shown(shown), "a table on an engine", hint)
    with TranslatedErrors(lambda _: unbound):
        table.get_backend()
    return Frame.of(shown, now, hint=ASK)
