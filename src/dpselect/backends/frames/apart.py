"""Tables and columns in memory, taken apart into cells by the type of each column alone."""

from __future__ import annotations

from typing import Any

import numpy as np

from dpselect.backends.columns import Holds
from dpselect.backends.frames.cells import READABLE, ArrowCells, CategoryCells, Cells, NumPyCells, ObjectCells
from dpselect.backends.frames.objects import text_of_strings
from dpselect.backends.frames.pandas_frame import holds_of_dtype
from dpselect.backends.frames.polars_frame import holds_of_series
from dpselect.backends.frames.recognising import is_a
from dpselect.backends.frames.sparse import dense
from dpselect.backends.rows.arrow import pa
from dpselect.errors import InvalidDataError, Shown


def taken_apart(given: Any, *, argument: str = "source") -> list[Cells] | Cells | None:
    """The columns of a frame, or the cells of one column; None if `given` is neither.

    Args:
        given: anything.
        argument: which argument it came in.

    Raises:
        InvalidDataError: something that says it can be read as Arrow, but cannot.

    >>> import pyarrow as pa
    >>> taken_apart(pa.array([2**53 + 1, None])).places({2**53: 0, 2**53 + 1: 1})
    array([ 1, -1])
    """
    if is_a(given, "pandas", "DataFrame"):
        return [_of_pandas(given.iloc[:, place]) for place in range(given.shape[1])]
    if any(is_a(given, "pandas", name) for name in ("Series", "Index", "ExtensionArray")):
        return _of_pandas(given)
    if is_a(given, "polars", "DataFrame"):
        return [_of_polars(column) for column in given.get_columns()]
    if is_a(given, "polars", "Series"):
        return _of_polars(given)
    if isinstance(given, pa.Table | pa.RecordBatch):
        return [ArrowCells.of(column) for column in given.columns]
    if isinstance(given, pa.Array | pa.ChunkedArray):
        return ArrowCells.of(given)
    if hasattr(given, "__arrow_c_stream__"):
        return _of_stream(given, argument)
    return None


def _of_pandas(column: Any) -> Cells:
    """A series, an index or an array of pandas' own."""
    dtype, array = column.dtype, getattr(column, "array", column)
    holds = holds_of_dtype(dtype)
    if holds not in READABLE:
        return ArrowCells(pa.nulls(len(array)), holds)
    name = type(dtype).__name__
    if name == "CategoricalDtype":
        known = ArrowCells(pa.nulls(0), holds) if dtype.categories is None else _of_pandas(dtype.categories)
        return CategoryCells(known, np.asarray(array.codes))
    if holds is Holds.ANYTHING:
        return ObjectCells(np.asarray(array, object))
    if name == "StringDtype" and dtype.storage == "python":
        return ArrowCells(text_of_strings(np.asarray(array, object)), holds)
    if name == "SparseDtype":
        return NumPyCells(dense(array))
    if isinstance(dtype, np.dtype):
        return NumPyCells(np.asarray(array))
    return ArrowCells.of(pa.array(array))


def _of_polars(column: Any) -> Cells:
    if str(column.dtype) == "Object":
        return ObjectCells(column.to_list())
    holds = holds_of_series(column)
    return ArrowCells.of(column.alias("").to_arrow()) if holds in READABLE else ArrowCells(pa.nulls(len(column)), holds)


def _of_stream(given: Any, argument: str) -> list[Cells] | Cells:
    try:
        read = pa.chunked_array(given)
        if not pa.types.is_struct(read.type):
            return ArrowCells.of(read)
        return [ArrowCells.of(column) for column in pa.table(given).columns]
    except Exception:  # noqa: BLE001 - it runs code that is not ours; what it says may quote a row
        shown = Shown(f"<{type(given).__name__}>")
    raise InvalidDataError(argument, shown, "a table that can be read as an Arrow stream")
