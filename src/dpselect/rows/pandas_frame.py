"""pandas frames and NumPy arrays, read in chunks by their dtypes. Columns of Python objects are read as text.

Objects are read by their actual type and by the methods of built-in types. Their own attributes and methods are not
trusted (``__class__``, ``__float__``, ``__eq__``, ...): they may do anything, and none can make reading fail.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
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

from dpselect.rows.arrow import BATCH_ROWS, Array, RecordBatch, cuts, holds_of, no_type, pa, plain, text_array
from dpselect.rows.columns import check_names
from dpselect.rows.frame import Frame, Now

Strings = list[str | None]
Number = bool | int | float | Decimal | Fraction


def of_pandas(frame: Any) -> Frame:
    """The rows of a ``pandas.DataFrame``, whose index is ignored."""

    def now() -> Now:
        held = frame.copy(deep=False)  # a snapshot
        names = list(map(str, held.columns))
        schema = pa.schema([(name, _way(dtype)[0]) for name, dtype in zip(names, held.dtypes, strict=True)])
        return schema, lambda asked: _batches(asked, [held.iloc[:, names.index(name)] for name in asked])

    shown = "<pandas DataFrame>"
    check_names(list(frame.columns), shown=shown)
    hints = dict(zip(frame.columns, map(_hint, frame.columns, frame.dtypes), strict=True))
    return Frame(shown, now, size=len(frame), hint_of=lambda column: hints.get(column.name, ""))


def of_numpy_array(values: NDArray[Any]) -> Frame:
    """A one-dimensional array of numbers, booleans or text as the column ``values``. Masked ones are missing."""

    def now() -> Now:
        starts = range(0, len(values), BATCH_ROWS)
        chunks = (from_numpy(values[start : start + BATCH_ROWS]) for start in starts)
        schema = pa.schema([("values", _way(values.dtype)[0])])
        return schema, lambda _: (pa.RecordBatch.from_arrays([each], names=["values"]) for each in chunks)

    return Frame("<array>", now, size=len(values))


def _batches(names: list[str], asked: Sequence[Any]) -> Iterator[RecordBatch]:
    """The rows of some columns, at most `PIECE_BYTES` characters of Python's strings at a time, or one row."""
    readers = [_way(series.dtype)[1] for series in asked]
    for start in range(0, len(asked[0]), BATCH_ROWS):
        slices = (series.array[start : start + BATCH_ROWS] for series in asked)
        found = [read(each) for read, each in zip(readers, slices, strict=True)]
        long = [[len(value or "") for value in cast("Strings", each)] for each in found if isinstance(each, list)]
        for begin, end in cuts(np.sum(long, axis=0)) if long else [(0, len(found[0]))]:
            yield pa.RecordBatch.from_arrays([_arrow(each[begin:end]) for each in found], names=names)


def _arrow(values: Array | Strings) -> Array:
    return text_array(cast("Strings", values)) if isinstance(values, list) else values


def from_numpy(values: NDArray[Any]) -> Array:
    """The values, with nulls where they are masked; long doubles become the nearest doubles."""
    if values.dtype.kind == "U":
        return text_array(cast("Strings", values.tolist()))
    mask = ma.getmaskarray(values) if isinstance(values, ma.MaskedArray) else None
    values = np.asarray(values)
    if values.dtype.kind == "f" and values.dtype.itemsize > 8:
        with np.errstate(all="ignore"):  # a warning about overflow would depend on a row
            values = values.astype(np.float64)
    return pa.array(np.ascontiguousarray(values, values.dtype.newbyteorder("=")), mask=mask)


def _way(dtype: Any) -> tuple[Any, Callable[[Any], Array | Strings]]:
    """The Arrow type of a column of a dtype, and what reads slices of it; `no_type` where none fits.

    It reads into an Arrow array, or into Python strings, of which too many may be too long. Timestamps are times, even
    if all of them are at midnight.
    """
    name = type(dtype).__name__
    if name == "CategoricalDtype":
        type_, read = _way(dtype.categories.dtype)
        every = cache(lambda: _arrow(read(dtype.categories.array)))
        return type_, lambda chunk: pa.DictionaryArray.from_arrays(from_numpy(ma.masked_less(chunk.codes, 0)), every())
    if dtype.name == "object" or (name == "StringDtype" and dtype.storage == "python"):  # else Arrow's, maybe not UTF-8
        return pa.large_string(), lambda chunk: text_of_objects(np.asarray(chunk, object))
    if isinstance(dtype, np.dtype):
        if dtype.kind in "biuf":
            type_ = pa.from_numpy_dtype(dtype.newbyteorder("=")) if dtype.itemsize <= 8 else pa.float64()
        else:
            others = {"U": pa.large_string(), "S": pa.large_binary(), "M": pa.timestamp("ns"), "m": pa.duration("ns")}
            type_ = others.get(dtype.kind, no_type())
        return type_, lambda chunk: from_numpy(np.asarray(chunk))
    known = {"StringDtype": pa.large_string(), "DatetimeTZDtype": pa.timestamp("ns"), "PeriodDtype": pa.duration("ns")}
    masked = getattr(dtype, "numpy_dtype", None)  # Int64, Float32, boolean, ...
    type_ = known.get(name, no_type() if masked is None else _way(masked)[0])
    return dtype.pyarrow_dtype if name == "ArrowDtype" else type_, lambda chunk: _joined(pa.array(chunk))


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


def _joined(array: Array) -> Array:
    """One array from several. They are converted first: Arrow cannot join more than 2 GiB of text in some types."""
    chunks = array.chunks if isinstance(array, pa.ChunkedArray) else [array]
    return chunks[0] if len(chunks) == 1 else pa.concat_arrays([plain(each, holds_of(each.type)) for each in chunks])


_PLAIN = frozenset({bool, int, float, str, Decimal, Fraction})
_EXACTLY: dict[type, Any] = {int: int.__int__, float: float.__float__, str: str.__str__, Decimal: Decimal}
"""Converts a value of a subclass to an equal value of the built-in type."""


def text_of_objects(values: Iterable[Any]) -> list[str | None]:
    """Objects as text: strings as they are, other values as in a CSV file. Equal numbers give equal text.

    A whole number of any type is its digits; any other number is the shortest decimal of the nearest double. UUIDs are
    text, too. All else is None: NaN, numbers beyond all doubles, timestamps, bytes, lists, objects of other types.
    """
    return [value if type(value) is str else _text(value) for value in values]


def number_of_object(value: object) -> float:
    """The double nearest to a number, an infinity if the number is beyond all doubles; NaN for anything else."""
    try:
        plain = _plain(value)
        return np.nan if plain is None or isinstance(plain, str) else _double(plain)
    except Exception:  # noqa: BLE001 - an object that was never initialised, for example
        return np.nan


def place_of_object(value: object, known: Mapping[object, int]) -> int:
    """The place in `known` of the string or number `value`; -1 if it has none."""
    try:
        return known.get(_plain(value), -1)
    except Exception:  # noqa: BLE001 - a decimal that signals, for example
        return -1


def _plain(value: Any) -> str | Number | None:
    """A string or number of a built-in type that equals `value`; None for anything else."""
    kind = cast("type[Any]", type(value))
    if kind in _PLAIN:
        return value
    if kind is np.longdouble:  # there is no such built-in type
        with np.errstate(all="ignore"):
            return int(value) if np.isfinite(value) and value.is_integer() else float(value)
    if issubclass(kind, (np.bool_, np.number)) and not issubclass(kind, np.timedelta64):
        return _plain(np.generic.item(value))
    return next((exactly(value) for base, exactly in _EXACTLY.items() if issubclass(kind, base)), None)


def _double(number: Number) -> float:
    try:
        return float(number)
    except OverflowError:  # a number beyond all doubles, and so beyond any bound
        return np.inf if number > 0 else -np.inf


def _text(value: Any) -> str | None:
    if value is None:
        return None
    try:
        plain = _plain(value)
        if plain is None:
            is_date = issubclass(type(value), date) and not issubclass(type(value), datetime)
            return date.isoformat(value) if is_date else str(value) if type(value) is UUID else None
        if isinstance(plain, str | bool):
            return plain if isinstance(plain, str) else str(plain).lower()
        double = _double(plain)
        if not isfinite(double):  # NaN, an infinity, or beyond all doubles: writing its digits may take very long
            return repr(double) if plain == double else None
        whole = int(plain)
        return str(whole) if whole == plain else repr(double)
    except Exception:  # noqa: BLE001 - see above
        return None
