"""Tables in memory and in other libraries, each recognised by the name of its type: no unused library is imported.

To read one more library is a function that makes a `Frame`, and a line in `_READERS`.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any, cast

from dpselect.errors import InvalidDataError, Shown, describe
from dpselect.rows.duckdb.arrow import pa
from dpselect.rows.duckdb.scan import Source
from dpselect.rows.failures import TranslatedErrors
from dpselect.rows.frames.frame import Frame, Now, of_table

_READERS = {
    ("deltalake", "DeltaTable"): "table_formats.of_delta",
    ("pyiceberg", "Table"): "table_formats.of_iceberg",
    ("pandas", "DataFrame"): "pandas_frame.of_pandas",
    ("polars", "DataFrame"): "frame.of_polars",
    ("polars", "LazyFrame"): "frame.of_polars",
    ("_duckdb", "DuckDBPyRelation"): "frame.of_relation",
    ("duckdb", "DuckDBPyRelation"): "frame.of_relation",
    ("ibis", "Table"): "frame.of_ibis",
}
"""By the library and the name of a type, what reads it."""


def frame_source(frame: object) -> Source | None:
    """The rows of a frame, which each question reads again; None if `frame` is not a frame in memory.

    Raises:
        InvalidDataError: the frame has no columns, two columns of the same name, or names that are not text; it can be
            read only once; or a dictionary holds something else than arrays of one length.
    """
    if isinstance(frame, pa.Table | pa.RecordBatch):
        table = pa.Table.from_batches([frame]) if isinstance(frame, pa.RecordBatch) else frame
        return of_table(table, f"<pyarrow {type(frame).__name__}>")
    if isinstance(frame, dict):
        return _of_arrays(cast("dict[object, object]", frame))
    if isinstance(frame, pa.RecordBatchReader):
        hint = "Give the table itself, for example reader.read_all()."
        raise InvalidDataError("source", Shown("<Arrow stream>"), "rows that can be read more than once", hint)
    if is_a(frame, "pyarrow", "Dataset"):
        hint = "Give its files by their paths, or its rows by to_table()."
        raise InvalidDataError("source", Shown("<pyarrow Dataset>"), "files or a table", hint)
    for (library, name), reader in _READERS.items():
        if is_a(frame, library, name):
            module, _, function = reader.partition(".")
            return getattr(import_module(f"{__name__}.{module}"), function)(frame)
    return _of_stream(frame) if hasattr(frame, "__arrow_c_stream__") else None


def is_a(value: object, library: str, name: str) -> bool:
    """Whether `value` is an instance of the class `name` of `library`, by the names of its type's bases."""
    return any(each.__name__ == name and each.__module__.partition(".")[0] == library for each in type(value).__mro__)


def _of_arrays(given: dict[Any, Any]) -> Frame:
    """The rows of columns that a dictionary names: lists or one-dimensional arrays of one length.

    Raises:
        InvalidDataError: a name is not text, or a column is no such array. No value is quoted.
    """
    shown, columns = Shown("<dict of arrays>"), dict[str, Any]()
    if not given or not all(isinstance(name, str) for name in given):
        raise InvalidDataError("source", shown, "a column for each of one or more names, which are text")
    for name, column in given.items():
        got = Shown(f"<dict of arrays, column {name!r}>")
        unreadable = InvalidDataError("source", got, "a list or a one-dimensional array of values of one type")
        if isinstance(column, str | bytes | Mapping) or not hasattr(column, "__len__"):
            raise unreadable
        with TranslatedErrors(lambda _, said=unreadable: said, Exception):  # of any library; they may quote a value
            columns[name] = column if isinstance(column, pa.Array | pa.ChunkedArray) else pa.array(column)
    if len({len(column) for column in columns.values()}) > 1:
        raise InvalidDataError("source", shown, "arrays of the same length")
    return of_table(pa.table(columns), str(shown))


def _of_stream(given: Any) -> Frame:
    """The rows of anything with ``__arrow_c_stream__``; each question takes a new stream."""

    def now() -> Now:
        stream = pa.RecordBatchReader.from_stream(given)
        return stream.schema, lambda names: stream

    return Frame.of(f"<{type(given).__name__}>", now)


def single_columns(given: Any, *, argument: str) -> list[Source] | Source | None:
    """The columns of a frame, each as a table of its own, or the one of a series; None if `given` is neither.

    Args:
        given: a frame or a series of pandas or Polars, or anything with the Arrow C interface, which is read once.
        argument: the argument it was given in.

    Raises:
        InvalidDataError: it has the Arrow C interface, but cannot be read through it.

    >>> column = single_columns(pa.array([2**53 + 1, None]), argument="y")
    >>> column.columns[0].holds, column.size()
    (<Holds.INTEGERS: 'whole numbers'>, 2)
    """
    if is_a(given, "pandas", "DataFrame"):
        columns = (given.iloc[:, place] for place in range(given.shape[1]))
        return [_only_one(column.to_frame(str(column.name))) for column in columns]
    if any(is_a(given, "pandas", name) for name in ("Series", "Index", "ExtensionArray")):
        return _only_one(import_module("pandas").DataFrame({argument: given}))
    if is_a(given, "polars", "DataFrame"):
        return [_only_one(column.to_frame()) for column in given.get_columns()]
    if is_a(given, "polars", "Series"):
        return _only_one(given.to_frame())
    if not hasattr(given, "__arrow_c_stream__") and not hasattr(given, "__arrow_c_array__"):
        return None
    from dpselect.mechanisms.scores import arrow_chunks

    chunks = arrow_chunks(given)
    if chunks is None:
        got = Shown(f"<{type(given).__name__}>")
        raise InvalidDataError(argument, got, "a table that can be read as an Arrow stream")
    if not pa.types.is_struct(chunks.type):
        return _only_one(pa.table({argument: chunks}))
    return [_only_one(pa.table({argument: column})) for column in pa.Table.from_struct_array(chunks).columns]


def _only_one(frame: Any) -> Source:
    found = frame_source(frame)
    assert found is not None, "it is a frame of a library that is known"
    return found


def check_distinct_names(given: Any, *, argument: str) -> None:
    """Refuse a frame with two columns of the same name. Not needed for Polars, which has no such frames.

    Raises:
        InvalidDataError: names the argument.
    """
    names: list[Any] = []
    if is_a(given, "pandas", "DataFrame"):
        names = list(given.columns)
    elif is_a(given, "pyarrow", "Table"):
        names = given.column_names
    if len(set(names)) < len(names):
        hint = "Two of them have the same."
        raise InvalidDataError(argument, Shown(describe(given)), "columns with different names", hint)
