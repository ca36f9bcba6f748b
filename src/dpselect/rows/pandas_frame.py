"""pandas frames and NumPy arrays, read in chunks by their dtypes. Columns of Python objects are read as text."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any, cast

import numpy as np
from numpy import ma
from numpy.typing import NDArray

from dpselect.rows.arrow import BATCH_ROWS, Array, RecordBatch, cuts, no_type, pa, text_array, text_of_objects, type_of
from dpselect.rows.columns import check_names
from dpselect.rows.frame import Frame, Now

Strings = list[str | None]


def of_pandas(frame: Any) -> Frame:
    """The rows of a ``pandas.DataFrame``, whose index is ignored."""

    def now() -> Now:
        held = frame.copy(deep=False)  # a snapshot
        names = [*map(str, held.columns)]
        schema = pa.schema([(name, _way(dtype)[0]) for name, dtype in zip(names, held.dtypes, strict=True)])
        return schema, lambda asked: _batches({name: held.iloc[:, names.index(name)] for name in asked})

    shown = "<pandas DataFrame>"
    check_names(list(frame.columns), shown=shown)
    hints = dict(zip(frame.columns, map(_hint, frame.columns, frame.dtypes), strict=True))
    return Frame(shown, now, size=len(frame), hint_of=lambda column: hints.get(column.name, ""))


def of_numpy_array(values: NDArray[Any]) -> Frame:
    """A one-dimensional array of numbers, booleans or text as the column ``values``. Masked ones are missing."""

    def now() -> Now:
        starts = range(0, len(values), BATCH_ROWS)
        chunks = (from_numpy(values[start : start + BATCH_ROWS]) for start in starts)
        schema = pa.schema([("values", type_of(lambda: from_numpy(values[:0])))])
        return schema, lambda _: (pa.RecordBatch.from_arrays([each], names=["values"]) for each in chunks)

    return Frame("<array>", now, size=len(values))


def _batches(asked: Mapping[str, Any]) -> Iterator[RecordBatch]:
    """The rows of some columns, at most `PIECE_BYTES` characters of Python's strings at a time, or one row."""
    readers, names = [(series.array, _way(series.dtype)[1]) for series in asked.values()], [*asked]
    for start in range(0, len(readers[0][0]), BATCH_ROWS):
        found = [read(array[start : start + BATCH_ROWS]) for array, read in readers]
        long = [[len(value or "") for value in cast("Strings", each)] for each in found if isinstance(each, list)]
        for begin, end in cuts(np.sum(long, axis=0)) if long else [(0, len(found[0]))]:
            arrays = [_arrow(each[begin:end]) for each in found]
            yield from pa.table(arrays, names).to_batches()  # some have several chunks


def _arrow(values: Array | Strings) -> Array:
    return text_array(cast("Strings", values)) if isinstance(values, list) else values


def from_numpy(values: NDArray[Any]) -> Array:
    """The values, with nulls where they are masked."""
    if values.dtype.kind == "U":
        return text_array(cast("Strings", values.tolist()))
    return pa.array(values.astype(values.dtype.newbyteorder("="), copy=False))


def _way(dtype: Any) -> tuple[Any, Callable[[Any], Array | Strings]]:
    """The Arrow type of a column of a dtype, and what reads slices of its array; `no_type` where none fits.

    It reads into an Arrow array, or into Python strings, of which too many may be too long.
    """
    name = type(dtype).__name__
    if name == "CategoricalDtype":
        type_, read = _way(dtype.categories.dtype)
        every = cache(lambda: pa.table([_arrow(read(dtype.categories.array))], [""]).column(0).combine_chunks())
        return type_, lambda chunk: pa.DictionaryArray.from_arrays(from_numpy(ma.masked_less(chunk.codes, 0)), every())
    if dtype.name == "object" or (name == "StringDtype" and dtype.storage == "python"):  # else Arrow's, maybe not UTF-8
        return pa.large_string(), lambda chunk: text_of_objects(np.asarray(chunk, object))
    if name in ("PeriodDtype", "IntervalDtype"):  # numbers and structs in Arrow
        return pa.duration("ns") if name == "PeriodDtype" else no_type(), pa.array
    if isinstance(dtype, cast("Any", np.dtype)):
        return type_of(lambda: from_numpy(np.empty(0, dtype))), lambda chunk: from_numpy(np.asarray(chunk))
    return type_of(lambda: pa.array(dtype.construct_array_type()._from_sequence([], dtype=dtype))), pa.array


def _hint(name: object, dtype: Any) -> str:
    """How to convert a column whose dtype counts as text or is refused."""
    cell = f"frame[{name!r}]"
    is_category = getattr(dtype, "categories", None) is not None
    if (dtype.categories.dtype if is_category else dtype).name == "object":
        counts = "It is a category over objects, which count" if is_category else "Its dtype is object, which counts"
        return (
            f"{counts} as text. Convert it first: {cell} = pd.to_numeric({cell}), for dates "
            f"{cell}.astype('date32[pyarrow]'), for booleans {cell}.astype('boolean')."
        )
    is_sparse = type(dtype).__name__ == "SparseDtype"
    return f"Convert it first: {cell} = {cell}.sparse.to_dense()." if is_sparse else ""
