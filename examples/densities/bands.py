"""How many samples of a histogram are within each distance of it: the law of the distance, without drawing."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

CUTS_AT_ONCE = 64
"""Few, so that narrow bands stay narrow: all of them get arrays as wide as the widest."""

SMALLEST = 1e-200
"""Weights below this share of the largest count as 0: their products would slow everything down."""


def log_weights(counts: IntArray, k: int, within: IntArray, *, chances: FloatArray | None = None) -> FloatArray:
    """Logarithm of the weight of all samples z of size `k` with distance at most each of `within`.

    A sample is a histogram with cumulative counts C_1, ..., C_m = k, the data has cumulative counts X_1, ..., X_m = n,
    and the distance max_j abs(n C_j - k X_j) is n k times the Kolmogorov-Smirnov distance. A step of the recursion
    adds a bin, for many of `within` at once. Only doubles of the same sign are added.

    Args:
        counts: shape ``(m,)``, records in each bin.
        k: size of a sample.
        within: shape ``(t,)``, whole numbers >= 0, ascending.
        chances: shape ``(m,)``: a sample with c_j points in bin j weighs prod(chances_j^c_j / c_j!), k! of which is the
            probability that independent points of these chances lead to it. None: each sample weighs 1.

    Returns:
        Shape ``(t,)``; -inf where there is no such sample.

    >>> np.exp(log_weights(np.array([1, 1]), 2, np.array([0, 1, 2])))  # (1, 1); then (0, 2) and (2, 0) too
    array([1., 1., 3.])
    """
    parts = [within[start : start + CUTS_AT_ONCE] for start in range(0, len(within), CUTS_AT_ONCE)]
    return np.concatenate([_log_weights(counts, k, part, chances) for part in parts])


def _log_weights(counts: IntArray, k: int, within: IntArray, chances: FloatArray | None) -> FloatArray:
    n = int(counts.sum())
    middle = k * np.cumsum(counts)
    lowest = np.clip(-((within[:, None] - middle) // n), 0, k)  # of C_j in the band: exact whole numbers
    highest = np.clip((middle + within[:, None]) // n, 0, k)
    first = lowest.min(axis=0)
    last = np.maximum(highest.max(axis=0), first)  # where no band has a whole number in it, one place of weight 0
    # Weights times tilt^C, which is the same for all samples in the end, are largest where the counts are likely.
    tilt = 1.0 if chances is None else k / float(chances.sum())
    weights, log_scale, start = np.ones((len(within), 1)), np.zeros(len(within)), 0
    for j in range(len(counts)):
        here = np.arange(first[j], last[j] + 1)
        if chances is None:
            sums = np.cumsum(weights, axis=1)
            weights = sums[:, np.minimum(here - start, sums.shape[1] - 1)]
        else:
            steps, common = _steps(here - start, weights.shape[1], tilt * float(chances[j]))
            weights, log_scale = weights @ steps, log_scale + common
        weights = np.where((here >= lowest[:, j, None]) & (here <= highest[:, j, None]), weights, 0.0)
        largest = weights.max(axis=1)
        scale = np.where(largest > 0, largest, 1.0)
        weights, log_scale, start = weights / scale[:, None], log_scale + np.log(scale), int(first[j])
        weights[weights < SMALLEST] = 0.0
    with np.errstate(divide="ignore"):
        return np.log(weights[:, -1]) + log_scale - k * np.log(tilt)


def _steps(to: IntArray, rows: int, chance: float) -> tuple[FloatArray, float]:
    """Weights chance^c / c! of c points more, from each of `rows` places to each of `to`, and the logarithm of their
    common factor."""
    least = max(0, int(to[0]) - rows + 1)
    points = np.arange(least, int(to[-1]) + 1)
    logs = points * np.log(chance) - gammaln(points + 1.0)
    common = float(logs.max())
    weights = np.exp(logs - common)
    weights[weights < SMALLEST] = 0.0
    more = to[None, :] - np.arange(rows)[:, None]
    return np.where(more >= 0, weights[np.maximum(more - least, 0)], 0.0), common
