"""Arrow tables, Arrow data sets, and anything that offers an Arrow stream."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dpselect.errors import InvalidDataError, Shown
from dpselect.rows.columns import Column
from dpselect.rows.duckdb.arrow import BATCH_ROWS, RecordBatch, columns_of, holds_of, pa, pc, taken, ways_of
from dpselect.rows.failures import TranslatedErrors
from dpselect.rows.frames.streams import check_unchanged, converted, named_columns


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ArrowTableSource:
    """A table or record batch in memory, read without a copy of the whole.

    Attributes:
        table: the table; a record batch becomes a table.
        shown: its name in errors.
        columns: the columns of its schema.
        listed: whether errors may list the columns.
    """

    table: Any
    shown: str
    columns: tuple[Column, ...]
    listed: bool = True

    @classmethod
    def of(cls, given: Any) -> ArrowTableSource:
        """The rows of a ``pyarrow.Table`` or ``pyarrow.RecordBatch``."""
        shown = f"<pyarrow {type(given).__name__}>"
        table = pa.Table.from_batches([given]) if isinstance(given, pa.RecordBatch) else given
        return cls(table, shown, _columns_of(table.schema, shown))

    @classmethod
    def of_arrays(cls, given: dict[Any, Any]) -> ArrowTableSource:
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
        table = pa.table(columns)
        return cls(table, str(shown), _columns_of(table.schema, str(shown)))

    def size(self) -> int:
        """Rows."""
        return self.table.num_rows

    def batches(self, columns: Sequence[Column], advance: Callable[[int], None]) -> Iterator[RecordBatch]:
        """Slices of the columns asked for."""
        names = [column.name for column in columns]
        asked = pa.Table.from_arrays(taken(self.table, names), names=names)
        return converted(asked.to_batches(max_chunksize=BATCH_ROWS), columns, advance)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class DatasetSource:
    """Files that Arrow reads as one table.

    Attributes:
        dataset: the data set.
        columns: the columns of its schema.
        shown: its name in errors.
        listed: whether errors may list the columns.
    """

    dataset: Any
    columns: tuple[Column, ...]
    shown: str = "<pyarrow Dataset>"
    listed: bool = True

    @classmethod
    def of(cls, dataset: Any) -> DatasetSource:
        """The rows of a ``pyarrow.dataset`` of typed files.

        Raises:
            InvalidDataError: the files are text files, or their types differ from the data set's. Arrow would convert
                their values, and one that cannot be converted would stop the reading.
        """
        shown = Shown("<pyarrow Dataset>")
        kind = getattr(getattr(dataset, "format", None), "default_extname", None)
        if kind not in ("parquet", "ipc", "arrow", "feather", "orc"):
            hint = "Give a pyarrow.Table directly, and text files by their paths."
            raise InvalidDataError("source", shown, "a data set of Parquet, Arrow or ORC files", hint)
        columns = _columns_of(dataset.schema, str(shown))
        _check_types(dataset, shown)
        return cls(dataset, columns)

    def size(self) -> int:
        """Rows."""
        return self.dataset.count_rows()

    def batches(self, columns: Sequence[Column], advance: Callable[[int], None]) -> Iterator[RecordBatch]:
        """The columns asked for, one batch after another."""
        _check_types(self.dataset, Shown(self.shown))
        ways = ways_of(self.dataset.schema)
        wanted = {str(at): pc.field(*ways[column.name][0]) for at, column in enumerate(columns)}
        found = self.dataset.to_batches(columns=wanted, batch_size=BATCH_ROWS, batch_readahead=2)
        return converted(found, columns, advance)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class StreamSource:
    """Anything with ``__arrow_c_stream__``; each question takes a new stream.

    Attributes:
        frame: the object.
        shown: the name of its type.
        columns: the columns of the stream's schema.
        listed: whether errors may list the columns.
    """

    frame: Any
    shown: str
    columns: tuple[Column, ...]
    listed: bool = True

    @classmethod
    def of(cls, frame: Any) -> StreamSource:
        """The rows of a frame of an unknown library."""
        shown = f"<{type(frame).__name__}>"
        unreadable = InvalidDataError("source", Shown(shown), "a table that can be read as an Arrow stream")
        with TranslatedErrors(lambda _: unreadable, Exception):  # the frame's own code, whose errors may quote a row
            schema = pa.RecordBatchReader.from_stream(frame).schema
        return cls(frame, shown, _columns_of(schema, shown))

    def size(self) -> int:
        """0: not known before the end."""
        return 0

    def batches(self, columns: Sequence[Column], advance: Callable[[int], None]) -> Iterator[RecordBatch]:
        """The stream's rows, with only the columns asked for."""
        reader = pa.RecordBatchReader.from_stream(self.frame)
        check_unchanged(columns_of(reader.schema), self.columns, shown=self.shown)
        names = [column.name for column in columns]
        slices = (
            pa.RecordBatch.from_arrays(taken(batch, names), names).slice(start, BATCH_ROWS)
            for batch in reader
            for start in range(0, batch.num_rows, BATCH_ROWS)
        )
        return converted(slices, columns, advance)


def _array(name: str, column: Any) -> Any:
    unreadable = InvalidDataError(
        "source",
        Shown(f"<dict of arrays, column {name!r}>"),
        "a list or a one-dimensional array of values of one type",
    )
    if isinstance(column, str | bytes | Mapping) or not hasattr(column, "__len__"):
        raise unreadable
    with TranslatedErrors(lambda _: unreadable, Exception):  # of any library; they may quote a value
        return column if isinstance(column, pa.Array | pa.ChunkedArray) else pa.array(column)


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


def _columns_of(schema: Any, shown: str) -> tuple[Column, ...]:
    named_columns(schema.names, (holds_of(field.type) for field in schema), shown=shown)
    return columns_of(schema)
