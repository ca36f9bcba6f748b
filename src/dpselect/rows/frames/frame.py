"""Tables that this process was given, in memory or computed when they are read: all are streams of Arrow."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from dpselect.errors import InvalidDataError, Shown
from dpselect.rows.columns import Column, named_columns
from dpselect.rows.duckdb.arrow import (
    BATCH_ROWS,
    Array,
    RecordBatch,
    columns_of,
    pa,
    pc,
    plain_batches,
    sliced,
    taken,
    ways_of,
)
from dpselect.rows.duckdb.scan import Source
from dpselect.rows.failures import TranslatedErrors, changed

Batches = Iterable[Sequence[Array]]
"""For each batch an array of each column that was asked for."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Frame(Source):
    """Rows that the caller's library holds or computes; each question reads them again.

    Attributes:
        read: the rows, with only the columns asked for.
        rows: how many there are; 0: not known before the end.
        known_as: its id and its version, by which a ledger tells it from others; None: it has none.
    """

    read: Callable[[Sequence[Column]], Batches]
    rows: Callable[[], int] = field(default=lambda: 0, kw_only=True)
    known_as: Callable[[], str] | None = field(default=None, kw_only=True)

    @property
    def origin(self) -> str:
        """See `Source`."""
        return self.shown if self.known_as is None else self.known_as()

    def size(self) -> int:
        """Rows."""
        return self.rows()

    def batches(self, columns: Sequence[Column], advance: Callable[[int], None]) -> Iterator[RecordBatch]:
        """See `Source`."""
        names = [str(at) for at in range(len(columns))]
        for arrays in self.read(columns):
            advance(len(arrays[0]))
            yield from plain_batches(arrays, columns, names)


def check_unchanged(now: Iterable[Column], opened: Sequence[Column], *, shown: str) -> None:
    """Refuse a frame whose columns, or their types, changed after it was opened.

    Questions refer to the columns at that time. A position may now be that of another column, and if a column changed
    its type, one row may decide how the others are read.

    Raises:
        InvalidDataError: they differ in names, order or types.
    """
    if tuple(now) != tuple(opened):
        raise changed(shown)


def columns_in(schema: Any, shown: str) -> tuple[Column, ...]:
    """The columns of an Arrow schema, each with a name of its own."""
    named_columns(schema.names, (), shown=shown)
    return columns_of(schema)


def of_table(table: Any, shown: str) -> Frame:
    """A table in memory, read without a copy of the whole."""

    def read(columns: Sequence[Column]) -> Batches:
        names = [column.name for column in columns]
        asked = pa.Table.from_arrays(taken(table, names), names=names)
        return (batch.columns for batch in asked.to_batches(max_chunksize=BATCH_ROWS))

    return Frame(shown, columns_in(table.schema, shown), read, rows=lambda: table.num_rows)


def of_arrays(given: dict[Any, Any]) -> Frame:
    """The rows of columns that a dictionary names: lists or one-dimensional arrays of one length.

    Raises:
        InvalidDataError: a name is not text, or a column is no such array. No value is quoted.
    """
    shown = Shown("<dict of arrays>")
    if not given or not all(isinstance(name, str) for name in given):
        raise InvalidDataError("source", shown, "a column for each of one or more names, which are text")
    columns = {name: _array(name, column) for name, column in given.items()}
    if len({len(column) for column in columns.values()}) > 1:
        raise InvalidDataError("source", shown, "arrays of the same length")
    return of_table(pa.table(columns), str(shown))


def _array(name: str, column: Any) -> Any:
    shown = Shown(f"<dict of arrays, column {name!r}>")
    unreadable = InvalidDataError("source", shown, "a list or a one-dimensional array of values of one type")
    if isinstance(column, str | bytes | Mapping) or not hasattr(column, "__len__"):
        raise unreadable
    with TranslatedErrors(lambda _: unreadable, Exception):  # of any library; they may quote a value
        return column if isinstance(column, pa.Array | pa.ChunkedArray) else pa.array(column)


def of_dataset(dataset: Any) -> Frame:
    """Typed files that a ``pyarrow.dataset`` reads as one table.

    Raises:
        InvalidDataError: the files are text files, or their types differ from the data set's. Arrow would convert
            their values, and one that cannot be converted would stop the reading.
    """
    shown = Shown("<pyarrow Dataset>")
    kind = getattr(getattr(dataset, "format", None), "default_extname", None)
    if kind not in ("parquet", "ipc", "arrow", "feather", "orc"):
        hint = "Give a pyarrow.Table directly, and text files by their paths."
        raise InvalidDataError("source", shown, "a data set of Parquet, Arrow or ORC files", hint)
    columns = columns_in(dataset.schema, str(shown))
    _check_types(dataset, shown)

    def read(columns: Sequence[Column]) -> Batches:
        _check_types(dataset, shown)
        return of_fragments(dataset, columns)

    return Frame(str(shown), columns, read, rows=dataset.count_rows)


def of_fragments(dataset: Any, columns: Sequence[Column]) -> Batches:
    """The columns asked for, one batch after another."""
    ways = ways_of(dataset.schema)
    wanted = {str(at): pc.field(*ways[column.name][0]) for at, column in enumerate(columns)}
    return (batch.columns for batch in dataset.to_batches(columns=wanted, batch_size=BATCH_ROWS, batch_readahead=2))


def _check_types(dataset: Any, shown: Shown) -> None:
    """Refuse files whose present types differ from the data set's."""
    types = {field.name: field.type for field in dataset.schema}
    damaged = InvalidDataError("source", shown, "files that can be read", "One of them is damaged.")
    with TranslatedErrors(lambda _: damaged, OSError, pa.ArrowException):
        schemas = [_schema_in(fragment) for fragment in dataset.get_fragments()]
    if any(field.type != types.get(field.name, field.type) for schema in schemas for field in schema):
        raise InvalidDataError("source", shown, "files with columns of the same types")


def _schema_in(fragment: Any) -> Any:
    """The present schema of a file; Arrow may have cached an older one."""
    if fragment.buffer is not None:
        return fragment.physical_schema
    return fragment.format.inspect(fragment.path, fragment.filesystem)


def of_stream(given: Any) -> Frame:
    """The rows of anything with ``__arrow_c_stream__``; each question takes a new stream."""
    shown = f"<{type(given).__name__}>"
    unreadable = InvalidDataError("source", Shown(shown), "a table that can be read as an Arrow stream")
    with TranslatedErrors(lambda _: unreadable, Exception):  # the frame's own code, whose errors may quote a row
        opened = columns_in(pa.RecordBatchReader.from_stream(given).schema, shown)

    def read(columns: Sequence[Column]) -> Batches:
        reader = pa.RecordBatchReader.from_stream(given)
        check_unchanged(columns_of(reader.schema), opened, shown=shown)
        return sliced(reader, [column.name for column in columns])

    return Frame(shown, opened, read)
