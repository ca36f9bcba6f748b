"""Frames of query engines: Polars, eager and lazy, DuckDB's relations, and tables of Ibis.

Each question has the library compute the columns that it needs, and reads them as a stream of Arrow batches.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from queue import Queue
from typing import Any

from dpselect.errors import InvalidDataError, SelectionError, Shown
from dpselect.rows.columns import Column, Holds, named_columns
from dpselect.rows.duckdb.arrow import (
    BATCH_ROWS,
    column_of,
    columns_of,
    first_of,
    holds_of,
    pa,
    taken,
)
from dpselect.rows.duckdb.connection import quoted
from dpselect.rows.failures import TranslatedErrors, changed, reading, unanswered
from dpselect.rows.frames.frame import Batches, Frame, check_unchanged, columns_in

_ROWS_OF_TEXT = 1 << 10
"""At a time, from DuckDB: it returns at most 2 GiB of text together."""

_ODD = ("bit", "bignum")
"""Types of DuckDB's that reach Arrow as bytes."""

_LONGEST = 1 << 20
"""Bytes of text in a relation. Longer text is left out; otherwise it would decide whether DuckDB can answer."""

_RELATION, _IBIS = "<DuckDB relation>", "<Ibis table>"


def of_polars(frame: Any) -> Frame:
    """The rows of a ``polars.DataFrame``, converted slice by slice."""
    shown = "<polars DataFrame>"
    opened = columns_in(_schema(frame), shown)

    def read(columns: Sequence[Column]) -> Batches:
        return _batches(frame, columns, opened, shown)

    return Frame(shown, opened, read, rows=lambda: frame.height)


def of_lazy(frame: Any) -> Frame:
    """The rows of a ``polars.LazyFrame``, with only the columns asked for."""
    import polars as pl

    shown = "<polars LazyFrame>"
    with reading(shown):
        opened = columns_in(_schema(pl.DataFrame(schema=frame.collect_schema())), shown)

    def read(columns: Sequence[Column]) -> Batches:
        with reading(shown):
            empty = pl.DataFrame(schema=frame.collect_schema())
            check_unchanged(columns_of(_schema(empty)), opened, shown=shown)
            first = first_of(_schema(empty), [column.name for column in columns])
            then = columns_of(_schema(empty.select(map(empty.get_column, first))))
            asked = frame.select(*(pl.nth(empty.columns.index(name)) for name in first))
            for part in _computed(asked):
                yield from _batches(part, columns, then, shown)

    return Frame(shown, opened, read)


def _computed(frame: Any) -> Iterator[Any]:
    """The parts of a lazy frame. `collect_batches` would end without a word where Polars panics, and lose rows."""
    parts: Queue[Any] = Queue(maxsize=2)
    is_enough, failed = threading.Event(), list[BaseException]()

    def put(part: Any) -> bool:
        parts.put(part)
        return is_enough.is_set()

    def compute() -> None:
        try:
            frame.sink_batches(put, chunk_size=BATCH_ROWS, maintain_order=False)
        except BaseException as error:  # noqa: BLE001 - panics of Polars are no plain exceptions
            failed.append(error)
        parts.put(None)

    threading.Thread(target=compute, daemon=True).start()
    part = ()
    try:
        while (part := parts.get()) is not None:
            yield part
    finally:
        is_enough.set()
        while part is not None:  # its thread ends when there is room for all that it computed
            part = parts.get()
    if failed:
        raise failed[0]


def _batches(frame: Any, columns: Sequence[Column], opened: Sequence[Column], shown: str) -> Batches:
    frame = frame.select(frame.get_columns())  # a snapshot
    check_unchanged(columns_of(_schema(frame)), opened, shown=shown)
    names = [column.name for column in columns]
    first = first_of(_schema(frame), names)
    asked = [frame.get_column(name) for name in first]
    for start in range(0, frame.height, BATCH_ROWS):
        arrays = [_in_arrow(each.slice(start, BATCH_ROWS)) for each in asked]
        yield taken(pa.RecordBatch.from_arrays(arrays, first), names)


def _schema(frame: Any) -> Any:
    return pa.schema([(column.name, _type_in_arrow(column)) for column in frame.get_columns()])


def _type_in_arrow(column: Any) -> Any:
    """By an empty slice; of objects, whose Arrow type would be that of memory addresses, one that no question takes."""
    import polars as pl

    nested = pa.list_(pa.null())
    try:
        return nested if column.dtype == pl.Object else _in_arrow(column.slice(0, 0)).type
    except pa.ArrowException:  # Arrow has no such type
        return nested


def _in_arrow(column: Any) -> Any:
    """The column without its name, because Polars panics at a name with a zero byte."""
    import polars as pl

    return column.alias("").to_arrow(compat_level=pl.CompatLevel.newest())


def of_relation(relation: Any) -> Frame:
    """The rows of a ``duckdb.DuckDBPyRelation``, computed on its own connection.

    DuckDB looks tables up again each time, so types are compared before and after.
    """

    def read(columns: Sequence[Column]) -> Batches:
        is_long = any(column.holds in (Holds.TEXT, Holds.BYTES) for column in columns)
        check_relation(relation, columns)
        opened: list[Any] = []
        with TranslatedErrors(lambda error: _said(error, relation, columns, opened)):
            asked = relation.project(", ".join(map(_short, columns)))
            opened.append(asked.to_arrow_reader(_ROWS_OF_TEXT if is_long else BATCH_ROWS))
            now = [holds_of(type_) for type_ in opened[0].schema.types]
            if now != [Holds.TEXT if column.holds is Holds.DECIMALS else column.holds for column in columns]:
                raise changed(_RELATION)
            for batch in opened[0]:
                yield batch.columns
        check_relation(relation, columns)

    return Frame(_RELATION, _relation_columns(relation), read)


def _relation_columns(relation: Any) -> tuple[Column, ...]:
    with reading(_RELATION):
        types = relation.limit(0).to_arrow_table().schema.types  # there, a second column of a name gets another
        odd = [type_.id in _ODD for type_ in relation.types]
    named_columns(relation.columns, (), shown=_RELATION, capitals_count=False)
    found = zip(relation.columns, types, odd, strict=True)
    return tuple(Column(name, Holds.OTHER) if is_odd else column_of(name, type_) for name, type_, is_odd in found)


def check_relation(relation: Any, columns: Sequence[Column]) -> None:
    """Refuse the relation if some of `columns` have other types now."""

    def said(error: BaseException) -> SelectionError:
        is_gone = type(error).__name__ in ("BinderException", "CatalogException")  # no such table or column
        return changed(_RELATION) if is_gone else unanswered(error, _RELATION)

    with TranslatedErrors(said):
        found = relation.project(", ".join(quoted(column.name) for column in columns))
    check_unchanged(_relation_columns(found), columns, shown=_RELATION)


def _said(error: BaseException, relation: Any, columns: Sequence[Column], opened: list[Any]) -> SelectionError:
    """The error for a failed read. If a type changed, it says so, since whether the read failed depends on rows."""
    for reader in opened:
        reader.close()  # a connection answers nothing while a result is open
    try:
        check_relation(relation, columns)
    except SelectionError as refusal:
        return refusal
    return unanswered(error, _RELATION)


def _short(column: Column) -> str:
    name = quoted(column.name)
    if column.holds is Holds.DECIMALS:  # some have more digits than Arrow's
        return f"{name}::VARCHAR"
    length = {Holds.TEXT: f"strlen({name}::VARCHAR)", Holds.BYTES: f"octet_length({name})"}.get(column.holds)
    return name if length is None else f"CASE WHEN {length} <= {_LONGEST} THEN {name} END"


def of_ibis(table: Any) -> Frame:
    """The rows of an ``ibis.Table`` on any of its engines. It hands over the columns as a whole."""
    hint = "Give a table of a connection, such as ibis.duckdb.connect(...).table(...)."
    unbound = InvalidDataError("source", Shown(_IBIS), "a table on an engine", hint)
    with TranslatedErrors(lambda _: unbound):
        table.get_backend()
    with reading(_IBIS):
        opened = _plain_columns(table.schema().to_pyarrow())
    named_columns([each.name for each in opened], (), shown=_IBIS)

    def read(columns: Sequence[Column]) -> Batches:
        with reading(_IBIS):
            found = table.select(*(table[column.name] for column in columns)).to_pyarrow()
            check_unchanged(_plain_columns(found.schema), columns, shown=_IBIS)
            for batch in found.to_batches(max_chunksize=BATCH_ROWS):
                yield batch.columns

    return Frame(_IBIS, opened, read)


def _plain_columns(schema: Any) -> tuple[Column, ...]:
    return tuple(column_of(field.name, field.type) for field in schema)
