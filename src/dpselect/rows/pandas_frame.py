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
Number = bool | int | float | Decimal | Fraction


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
    mask = ma.getmaskarray(values) if isinstance(values, ma.MaskedArray) else None
    return pa.array(np.ascontiguousarray(values, values.dtype.newbyteorder("=")), mask=mask)


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
    if kind is np.longdouble:  # whose `item` is itself
        return None
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
