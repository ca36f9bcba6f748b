"""Columns of every kind of table in the one type that their kind is read as, not too many bytes at a time.

One text may stand in very many rows and lie in memory, or in a file, once; written out row by row it can be larger than
any memory. So rows are cut into pieces by what they will take before any of them is written out.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from dpselect.backends.columns import Column, Holds
from dpselect.backends.rows.arrow import ARROW_TYPES, Array, RecordBatch, pa, pc, valid_text
from dpselect.backends.rows.decimals import decimal_text

PIECE_BYTES = 1 << 24
"""Bytes of text that are written out together, unless one row has more."""

_IN_LINE = (pa.types.is_string, pa.types.is_binary, pa.types.is_large_string, pa.types.is_large_binary)
_VIEWS, _WIDE = (pa.types.is_string_view, pa.types.is_binary_view), (pa.large_string(), pa.large_binary())


def plain_batches(arrays: Sequence[Array], columns: Sequence[Column], names: Sequence[str]) -> Iterator[RecordBatch]:
    """Batches of plain columns.

    Args:
        arrays: one for each of `columns`, equally long.
        columns: what they hold.
        names: what they are called.
    """
    for piece in pieces(arrays):
        found = [plain(array, column.holds) for array, column in zip(piece, columns, strict=True)]
        yield pa.RecordBatch.from_arrays(found, names=list(names))


def pieces(arrays: Sequence[Array]) -> Iterator[list[Array]]:
    """The rows of equally long arrays in parts that do not take much when they are written out.

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
    """Beginnings and ends of runs of rows that take at most `PIECE_BYTES` together, or are one row."""
    ends: list[int] = [0, *np.cumsum(taken).tolist()]
    start = 0
    while start < len(taken):
        end = bisect_right(ends, ends[start] + PIECE_BYTES) - 1
        end = max(end, start + 1)
        yield start, end
        start = end


def _bytes_of_rows(array: Array) -> NDArray[np.int64] | None:
    """How many bytes the text of each row takes; None if that is little for certain."""
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
    """Bytes of each text; None if the type is another one."""
    if any(matches(array.type) for matches in _VIEWS):
        if not len(array):
            return np.zeros(0, np.int64)
        views = np.frombuffer(array.buffers()[1], np.int32).reshape(-1, 4)[array.offset : array.offset + len(array), 0]
        valid = array.is_valid().to_numpy(zero_copy_only=False)
        return np.where(valid, views, 0).astype(np.int64)
    if any(matches(array.type) for matches in _IN_LINE):
        return pc.binary_length(array).cast(pa.int64()).fill_null(0).to_numpy(zero_copy_only=False)
    return None


def plain(column: Array, holds: Holds) -> Array:
    """The column in the one type its kind is read as, in every table alike; no cast here can refuse a value."""
    if isinstance(column, pa.ExtensionArray):
        column = column.storage
    if isinstance(column, pa.DictionaryArray):
        column = _decoded(column)
    if holds is Holds.TEXT:
        return valid_text(column)
    return decimal_text(column) if pa.types.is_decimal(column.type) else column.cast(ARROW_TYPES[holds], safe=False)


def _decoded(column: Array) -> Array:
    """The values that a dictionary stands for; Arrow cannot take views from one."""
    values = column.dictionary
    wider = next((wide for matches, wide in zip(_VIEWS, _WIDE, strict=True) if matches(values.type)), None)
    return column.dictionary_decode() if wider is None else values.cast(wider).take(column.indices)
