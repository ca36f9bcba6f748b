"""pandas frames and NumPy arrays, read in chunks by their dtypes. Columns of Python objects are read as text.

Objects are read by their actual type and by the methods of built-in types. Their own attributes and methods are not
trusted (``__class__``, ``__float__``, ``__eq__``, ...): they may do anything, and none can make reading fail.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import date, datetime
from decimal import Decimal
from fractions import Fraction
from functools import cache
from math import isfinite
from typing import Any, cast
from uuid import UUID

import numpy as np
from numpy import ma
from numpy.typing import NDArray

from dpselect.rows.arrow import BATCH_ROWS, Array, RecordBatch, cuts, no_type, pa, text_array, type_of
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


_READERS: dict[type, Callable[[Any], Any]] = {
    **dict.fromkeys((object, datetime, np.timedelta64, np.longdouble, np.complexfloating), lambda _: None),
    **dict.fromkeys((np.bool_, np.number), np.generic.item),
    **{kind: kind for kind in (bool, Decimal, Fraction)},
    int: int.__int__,
    float: float.__float__,
    str: str.__str__,
    UUID: UUID.__str__,
    date: date.isoformat,
}
"""What reads objects, by the nearest type that they inherit from."""


def value_of_object(value: Any) -> str | bool | int | float | None:
    """A string or a boolean; a whole number of any type; of another number the nearest double. Equal ones are equal.

    Of dates and UUIDs it is the text. All else is None: NaN, numbers beyond all doubles, timestamps, bytes, lists,
    objects of other types.
    """
    kind = cast("type[Any]", type(value))
    try:
        known = kind if kind in _READERS else next(base for base in kind.__mro__ if base in _READERS)
        read = _READERS[known](value)
        if read is None or type(read) in (str, bool):
            return read
        double = float(read)
        if not isfinite(double):  # writing the digits of a number beyond all doubles may take very long
            return double if double == read else None
        whole = int(read)
        return whole if whole == read else double
    except Exception:  # noqa: BLE001 - an object that was never initialised, or a decimal that signals, for example
        return None


def text_of_objects(values: Iterable[Any]) -> list[str | None]:
    """Strings as they are, other values as in a CSV file."""
    return [value if value is None or type(value) is str else _text(value) for value in values]


def _text(value: Any) -> str | None:
    read = value_of_object(value)
    return read if read is None or isinstance(read, str) else str(read).lower()
