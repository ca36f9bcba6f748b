"""The law of a released quantile, in float64 and for any size: the exponential mechanism on rank scores.

The exact models are in `tests.reference.unit_values`; here is what they give on a real table.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]


def grid_scores(values: FloatArray, points: FloatArray, *, level: float) -> FloatArray:
    """The rank score of each of `points`: minus the distance of ``level * n`` from the ranks it has."""
    ordered = np.sort(values)
    below, up_to = (np.searchsorted(ordered, points, side) for side in ("left", "right"))
    wanted = level * len(values)
    return -np.maximum(0.0, np.maximum(below - wanted, wanted - up_to))


def grid_law(values: FloatArray, points: FloatArray, *, level: float, scale: float) -> FloatArray:
    """Probability of each of `points`."""
    scores = grid_scores(values, points, level=level)
    weights = np.exp((scores - scores.max()) / scale)
    return weights / weights.sum()


def interval_law(
    values: FloatArray, *, level: float, bounds: tuple[float, float], scale: float
) -> tuple[FloatArray, FloatArray]:
    """Edges of the intervals between the values, shape ``(n + 2,)``, and the probability of each interval."""
    edges = np.concatenate([[bounds[0]], np.sort(values), [bounds[1]]])
    scores = -np.abs(np.arange(len(values) + 1) - level * len(values))
    with np.errstate(divide="ignore"):
        logs = scores / scale + np.log(np.diff(edges))
    weights = np.exp(logs - logs.max())
    return edges, weights / weights.sum()


def probability_between(edges: FloatArray, probabilities: FloatArray, lower: float, upper: float) -> float:
    """Probability that a draw from `interval_law` lies between two numbers."""
    inside = np.clip(edges[1:], lower, upper) - np.clip(edges[:-1], lower, upper)
    lengths = np.diff(edges)
    return float((probabilities * np.divide(inside, lengths, out=np.zeros_like(inside), where=lengths > 0)).sum())
