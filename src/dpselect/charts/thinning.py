"""Fewer points where a line has more of them than a chart can show."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]

MOST_POINTS = 5000
"""In one chart: what the plotting library accepts by default, and more than can be told apart."""


def thinned(position: FloatArray, y: FloatArray, *, at_most: int) -> NDArray[np.intp]:
    """Indices of at most `at_most` points: of each of many equal steps along the axis, the lowest and the highest.

    Args:
        position: shape ``(n,)``, finite, ascending: where on the axis (the logarithm, if it is logarithmic).
        y: shape ``(n,)``.
        at_most: at least 4.

    Returns:
        Ascending indices, the first and the last point among them; all indices if they are few enough.

    >>> thinned(np.arange(8.0), np.array([0.0, 5, 2, 3, 9, 1, 4, 4]), at_most=6)
    array([0, 1, 4, 5, 7])
    """
    count = len(position)
    if count <= at_most:
        return np.arange(count)
    steps = (at_most - 2) // 2
    width = (position[-1] - position[0]) or 1.0
    step = np.minimum(((position - position[0]) / width * steps).astype(np.intp), steps - 1)
    by_height = np.lexsort((y, step))
    starts = np.searchsorted(step[by_height], np.unique(step), side="left")
    ends = np.append(starts[1:], count) - 1
    return np.unique(np.concatenate([[0], by_height[starts], by_height[ends], [count - 1]]))
