"""Lines on top of each other: said in words, because no style can show it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dpselect.charts.axes import Axis, FloatArray
from dpselect.charts.series import Series

_TOO_CLOSE = 1.5 / 270
"""Of the height of the frame: less than the width of a line."""


def overlap_note(series: Sequence[Series], y: Axis, domain: tuple[float, float]) -> str:
    """Which curves nearly coincide everywhere, in a sentence; nothing if none do.

    >>> curves = [Series(name=name, x=[1, 2], y=[1, end]) for name, end in (("a", 9), ("b", 9.01), ("c", 5))]
    >>> overlap_note(curves, Axis(title="error"), (0.0, 10.0))
    'Nearly on one line: a, b.'
    """
    clusters: list[list[Series]] = []
    for one in series:
        for cluster in clusters:
            if _coincide(cluster[0], one, y, domain):
                cluster.append(one)
                break
        else:
            clusters.append([one])
    together = [", ".join(each.name for each in cluster) for cluster in clusters if len(cluster) > 1]
    return f"Nearly on one line: {'; '.join(together)}." if together else ""


def _coincide(one: Series, other: Series, y: Axis, domain: tuple[float, float]) -> bool:
    """Whether two curves over the same points of the axis are closer than a line is wide, wherever they are seen."""
    if not np.array_equal(one.points[0], other.points[0]):
        return False
    places, others = _places(one, y, domain), _places(other, y, domain)
    seen = ~(np.isnan(places) & np.isnan(others))
    return bool(seen.any()) and bool((np.abs(places - others)[seen] < _TOO_CLOSE).all())


def _places(one: Series, y: Axis, domain: tuple[float, float]) -> FloatArray:
    """How high each point is in the frame, from 0 to 1; NaN where it is not seen."""
    heights = one.points[1]
    seen = np.where(y.drawable(heights) & (heights >= domain[0]) & (heights <= domain[1]), heights, np.nan)
    low, high = domain
    if y.log:
        return (np.log(seen) - np.log(low)) / (np.log(high) - np.log(low))
    return (seen - low) / (high - low)
