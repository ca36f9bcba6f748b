"""Converts columns of all kinds of tables to the types of `ARROW_TYPES`, in pieces of limited size.

A text that occurs in very many rows may be stored once, in memory or in a file. Written out row by row it can exceed
all memory. So rows are divided into pieces by their size before any of them is written out.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpselect.rows.columns import Column, Holds
from dpselect.rows.duckdb.arrow import ARROW_TYPES, Array, RecordBatch, pa, pc, valid_text


def decimal_text(column: Array) -> Array:
    """Decimals as text without an exponent and without trailing zeros.

    Args:
        column: Arrow array of decimals of any width, with any number of decimals from 0.

    Returns:
        ``large_string`` array, null where `column` is. Two texts are equal exactly if the numbers are.

    >>> tenths = pa.array([None, "-1.50", "0", "20"], pa.string()).cast(pa.decimal128(38, 10))
    >>> decimal_text(tenths).to_pylist()
    [None, '-1.5', '0', '20']
    """
    text = column.cast(pa.large_string())
    short = pc.fill_null(pc.match_substring(text, "E"), False)
    if pc.any(short).as_py():
        text = pc.replace_with_mask(text, short, _digits(column.filter(short)))
    if not column.type.scale:
        return text
    return pc.ascii_rtrim(pc.ascii_rtrim(text, characters="0"), characters=".")


def _digits(column: Array) -> Array:
    """All decimals of the type, without an exponent."""
    places, whole = column.type.scale, _without_point(column)
    digits = pc.ascii_lpad(pc.ascii_ltrim(whole, characters="-"), width=places + 1, padding="0")
    before, after = pc.utf8_slice_codeunits(digits, 0, -places), pc.utf8_slice_codeunits(digits, -places)
    sign = pc.if_else(pc.starts_with(whole, "-"), _text("-"), _text(""))
    return pc.binary_join_element_wise(pc.binary_join_element_wise(sign, before, _text("")), after, _text("."))


def _without_point(column: Array) -> Array:
    """All digits as text of whole numbers: the same bytes, read as decimals of scale 0."""
    width = column.type.bit_width
    if width < 128:
        column, width = column.cast(pa.decimal128(38, column.type.scale)), 128
    whole = pa.decimal256(76, 0) if width == 256 else pa.decimal128(38, 0)
    buffers = column.buffers()
    return pa.Array.from_buffers(whole, len(column), buffers, offset=column.offset).cast(pa.large_string())


def _text(value: str) -> Any:
    return pa.scalar(value, pa.large_string())


PIECE_BYTES = 1 << 24
"""The most bytes of text written out at once, unless one row has more."""

_IN_LINE = ("is_string", "is_binary", "is_large_string", "is_large_binary")
_VIEWS, _WIDE = (pa.types.is_string_view, pa.types.is_binary_view), (pa.large_string(), pa.large_binary())


def plain_batches(arrays: Sequence[Array], columns: Sequence[Column], names: Sequence[str]) -> Iterator[RecordBatch]:
    """Batches of converted columns.

    Args:
        arrays: one for each of `columns`, equally long.
        columns: the columns with their types.
        names: names in the batches.
    """
    for piece in pieces(arrays):
        found = [plain(array, column.holds) for array, column in zip(piece, columns, strict=True)]
        yield pa.RecordBatch.from_arrays(found, names=list(names))


def pieces(arrays: Sequence[Array]) -> Iterator[list[Array]]:
    """The rows of equally long arrays in parts whose text takes at most `PIECE_BYTES` when written out.

    >>> long = pa.array(["x" * (1 << 23)])
    >>> repeated = pa.DictionaryArray.from_arrays(pa.array([0, None, 0, 0, 0]), long)
    >>> [len(part) for (part,) in pieces([repeated])]
    [3, 2]
    """
    taken = [each for array in arrays if (each := _bytes_of_rows(array)) is not None]
    if not taken:
        yield list(arrays)
        return
    for start, end in cuts(np.sum(np.stack(taken), axis=0)):
        yield [array.slice(start, end - start) for array in arrays]


def cuts(taken: NDArray[np.int64]) -> Iterator[tuple[int, int]]:
    """Starts and ends of runs of rows that take at most `PIECE_BYTES` together, or are a single row."""
    ends: list[int] = [0, *np.cumsum(taken).tolist()]
    start = 0
    while start < len(taken):
        end = bisect_right(ends, ends[start] + PIECE_BYTES) - 1
        end = max(end, start + 1)
        yield start, end
        start = end


def _bytes_of_rows(array: Array) -> NDArray[np.int64] | None:
    """Bytes of the text in each row; None if all together certainly take at most `PIECE_BYTES`."""
    if isinstance(array, pa.ExtensionArray):
        return _bytes_of_rows(array.storage)
    if isinstance(array, pa.DictionaryArray):
        lengths = _lengths(array.dictionary)
        if lengths is None or lengths.max(initial=0) * len(array) <= PIECE_BYTES:
            return None
        at = array.indices.cast(pa.int64()).fill_null(len(lengths)).to_numpy(zero_copy_only=False)
        return np.append(lengths, 0)[at]
    lengths = _lengths(array)
    return None if lengths is None or lengths.sum() <= PIECE_BYTES else lengths


def _lengths(array: Array) -> NDArray[np.int64] | None:
    """Bytes of each text; None for other types."""
    if any(matches(array.type) for matches in _VIEWS):
        if not len(array):
            return np.zeros(0, np.int64)
        views = np.frombuffer(array.buffers()[1], np.int32).reshape(-1, 4)[array.offset : array.offset + len(array), 0]
        valid = array.is_valid().to_numpy(zero_copy_only=False)
        return np.where(valid, views, 0).astype(np.int64)
    if any(getattr(pa.types, test)(array.type) for test in _IN_LINE):
        return pc.binary_length(array).cast(pa.int64()).fill_null(0).to_numpy(zero_copy_only=False)
    return None


def plain(column: Array, holds: Holds) -> Array:
    """The column in the Arrow type of `holds`, the same for every table. No cast here can fail for a value."""
    if isinstance(column, pa.ExtensionArray):
        column = column.storage
    if isinstance(column, pa.DictionaryArray):
        column = _decoded(column)
    if holds is Holds.TEXT:
        return valid_text(column)
    if holds is Holds.TIMES:
        return dates_of(column)
    return decimal_text(column) if pa.types.is_decimal(column.type) else column.cast(ARROW_TYPES[holds], safe=False)


_A_DAY = {"s": 86_400, "ms": 86_400_000, "us": 86_400_000_000, "ns": 86_400_000_000_000}
_FIRST_DAY, _LAST_DAY = -719_162, 2_932_896
"""1 January of the year 1 and 31 December 9999, counted from 1970."""


def dates_of(stamps: Array) -> Array:
    """The dates of timestamps, in their own time zone if the type has one; dates stay what they are.

    Null where UTC has a year before 1 or after 9999.

    >>> noon = pa.array([0, None, 2**62], pa.timestamp("s", "America/New_York"))
    >>> dates_of(noon).to_pylist()
    [datetime.date(1969, 12, 31), None, None]
    """
    if pa.types.is_date32(stamps.type):  # categories, which were converted before
        return stamps
    unit = _A_DAY[stamps.type.unit]
    # In a time zone the last whole numbers of 64 bits would overflow.
    low, high = max(unit * _FIRST_DAY, unit - 2**63), min(unit * (_LAST_DAY + 1), 2**63 - unit)
    at = stamps.cast(pa.int64())
    inside = pc.and_(pc.greater_equal(at, low), pc.less(at, high))
    return pc.if_else(inside, stamps, pa.scalar(None, stamps.type)).cast(pa.date32(), safe=False)


def _decoded(column: Array) -> Array:
    """The values of a dictionary array; Arrow cannot decode dictionaries of views."""
    values = column.dictionary
    wider = next((wide for matches, wide in zip(_VIEWS, _WIDE, strict=True) if matches(values.type)), None)
    return column.dictionary_decode() if wider is None else values.cast(wider).take(column.indices)
