"""The columns of a table in memory, each as a table of its own, whatever their names."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from dpselect.errors import InvalidDataError, Shown, describe
from dpselect.mechanisms.scores import arrow_chunks
from dpselect.rows.duckdb import Source
from dpselect.rows.duckdb.arrow import pa
from dpselect.rows.frames.arrow_tables import ArrowTableSource
from dpselect.rows.frames.detection import is_a
from dpselect.rows.frames.pandas_frame import PandasSource
from dpselect.rows.frames.polars_frame import PolarsSource


def single_columns(given: Any, *, argument: str) -> list[Source] | Source | None:
    """The columns of a frame, or the one of a series; None if `given` is neither.

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
        return [PandasSource.of(column.to_frame(str(column.name))) for column in columns]
    if any(is_a(given, "pandas", name) for name in ("Series", "Index", "ExtensionArray")):
        return PandasSource.of(import_module("pandas").DataFrame({argument: given}))
    if is_a(given, "polars", "DataFrame"):
        return [PolarsSource.of(column.to_frame()) for column in given.get_columns()]
    if is_a(given, "polars", "Series"):
        return PolarsSource.of(given.to_frame())
    if hasattr(given, "__arrow_c_stream__") or hasattr(given, "__arrow_c_array__"):
        return _through_arrow(given, argument)
    return None


def _through_arrow(given: Any, argument: str) -> list[Source] | Source:
    chunks = arrow_chunks(given)
    if chunks is None:
        shown = Shown(f"<{type(given).__name__}>")
        raise InvalidDataError(argument, shown, "a table that can be read as an Arrow stream")
    if not pa.types.is_struct(chunks.type):
        return ArrowTableSource.of(pa.table({argument: chunks}))
    return [ArrowTableSource.of(pa.table({argument: column})) for column in pa.Table.from_struct_array(chunks).columns]


def check_distinct_names(given: Any, *, argument: str) -> None:
    """Refuse a frame with two columns of the same name. Not needed for Polars, which has no such frames.

    Raises:
        InvalidDataError: names the argument.
    """
    if is_a(given, "pandas", "DataFrame"):
        names = list(given.columns)
    elif is_a(given, "pyarrow", "Table"):
        names = given.column_names
    else:
        return
    if len(set(names)) < len(names):
        hint = "Two of them have the same."
        raise InvalidDataError(argument, Shown(describe(given)), "columns with different names", hint)
