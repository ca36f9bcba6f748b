"""Where the tables' quantiles meet the drawing core: the one place that names the interval mechanism."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def draw_quantile(
    values: NDArray[np.float64],
    *,
    level: float,
    bounds: tuple[float, float],
    step: float | None,
    epsilon: float,
    sensitivity: float,
) -> float:
    r"""One exact draw from the exponential mechanism on the rank scores, at the cost of `epsilon`.

    Args:
        values: shape ``(n,)``, ``n >= 0``, finite, within `bounds`, in any order; the draw's law does not depend on it.
        level: of the quantile, from 0 to 1.
        bounds: smallest and largest answer.
        step: of the grid to draw from; None: from all numbers between the bounds.
        epsilon: privacy loss.
        sensitivity: the most that a unit moves any rank score; the scale is twice this over `epsilon`.

    Returns:
        A number within `bounds`; with a step, one of the grid's points.
    """
    raise NotImplementedError("the drawing core for quantiles is not connected yet")
