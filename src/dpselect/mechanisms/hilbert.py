"""Hilbert's curve through a grid of 2^bits cells a side: a public order of cells in which neighbours are near."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

IntArray = npt.NDArray[np.int64]


def places_on_curve(cells: IntArray, *, bits: int) -> IntArray:
    """How many cells the curve passes before each of `cells`.

    Args:
        cells: shape ``(n, r)``, r >= 2, numbers from 0 to ``2**bits - 1``.
        bits: with ``r * bits`` at most 62.

    Returns:
        Shape ``(n,)``, numbers from 0 to ``2**(r * bits) - 1``.

    Source: Skilling (2004).

    >>> places_on_curve(np.array([[0, 0], [0, 1], [1, 1], [1, 0]]), bits=1).tolist()
    [0, 1, 2, 3]
    """
    x = [column.copy() for column in cells.T]
    for bit in range(bits - 1, 0, -1):
        for axis in range(len(x)):
            _turn(x, axis, bit=bit)
    for axis in range(1, len(x)):
        x[axis] ^= x[axis - 1]
    flips = np.zeros_like(x[0])
    for bit in range(bits - 1, 0, -1):
        flips ^= np.where(x[-1] >> bit & 1, (1 << bit) - 1, 0)
    place = np.zeros_like(flips)
    for bit in range(bits - 1, -1, -1):
        for column in x:
            place = place << 1 | (column ^ flips) >> bit & 1
    return place


def cells_on_curve(places: IntArray, *, bits: int, dimensions: int) -> IntArray:
    """The cells at these places of the curve: the inverse of `places_on_curve`.

    Returns:
        Shape ``(n, dimensions)``.

    >>> cells_on_curve(np.arange(4), bits=1, dimensions=2).tolist()
    [[0, 0], [0, 1], [1, 1], [1, 0]]
    """
    x = [np.zeros_like(places) for _ in range(dimensions)]
    for position in range(bits * dimensions):
        axis = position % dimensions
        x[axis] = x[axis] << 1 | places >> (bits * dimensions - 1 - position) & 1
    flips = x[-1] >> 1
    for axis in range(dimensions - 1, 0, -1):
        x[axis] ^= x[axis - 1]
    x[0] ^= flips
    for bit in range(1, bits):
        for axis in range(dimensions - 1, -1, -1):
            _turn(x, axis, bit=bit)
    return np.stack(x, axis=1)


def _turn(x: list[IntArray], axis: int, *, bit: int) -> None:
    """Where `bit` of this axis is set, flip the lower bits of the first axis; elsewhere exchange those of both axes."""
    below = (1 << bit) - 1
    is_set = (x[axis] >> bit & 1).astype(bool)
    exchanged = np.where(is_set, 0, (x[0] ^ x[axis]) & below)
    x[0] = x[0] ^ np.where(is_set, below, exchanged)
    if axis > 0:
        x[axis] = x[axis] ^ exchanged
