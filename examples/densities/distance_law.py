"""The expected Kolmogorov-Smirnov distance of a private sample from its data, between two bounds, without drawing."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from examples.densities.bands import FloatArray, IntArray, log_weights

MOST_CUTS = 4096
"""How many values of the distance are distinguished, unless the caller sets another number."""

_FIRST_CUTS, _SECOND_CUTS = 64, 128
_NEGLIGIBLE = 25.0
"""Samples with less than exp(-25) of the largest weight need no fine cuts."""


@dataclass(frozen=True, kw_only=True)
class Between:
    """A number with bounds on both sides, valid up to rounding."""

    low: float
    high: float
    estimate: float

    @property
    def is_tight(self) -> bool:
        """Whether the bounds agree to nine digits."""
        return self.high - self.low <= 1e-9 * self.high


@dataclass(frozen=True, eq=False)
class _Shells:
    """Samples by distance: those in a shell are at distances from `nearest` to `farthest`."""

    nearest: FloatArray
    farthest: FloatArray
    log_weight: FloatArray

    @classmethod
    def at(cls, cuts: IntArray, counts: IntArray, k: int, chances: FloatArray | None) -> _Shells:
        n = int(counts.sum())
        everything = _log_weight_of_all(len(counts), k, chances)
        up_to = np.maximum.accumulate(np.append(log_weights(counts, k, cuts, chances=chances), everything))
        before = np.append(-np.inf, up_to[:-1])
        with np.errstate(divide="ignore", invalid="ignore"):
            own = up_to + np.log(-np.expm1(before - up_to))
        ends = np.append(cuts, n * k).astype(np.float64)
        starts = np.append(0, cuts + math.gcd(n, k)).astype(np.float64)
        seen = np.isfinite(own)
        return cls(starts[seen], ends[seen], own[seen])

    def relevant(self, rate: float) -> tuple[float, float]:
        """The range of distances in which the weights exp(-rate distance) are not negligible."""
        at_most, at_least = self.log_weight - rate * self.nearest, self.log_weight - rate * self.farthest
        kept = np.flatnonzero(at_most > at_least.max() - _NEGLIGIBLE)
        return float(self.nearest[kept[0]]), float(self.farthest[kept[-1]])

    def mean(self, rate: float, side: int) -> float:
        """The smallest (`side` -1), largest (1) or a middle (0) mean distance that the shells allow.

        The mean is where the sum of weight * (distance - mean) * exp(-rate * distance) changes its sign.
        """
        low, high = 0.0, float(self.farthest[-1])
        while high - low > 1e-13 * high:
            middle = (low + high) / 2
            low, high = (middle, high) if self._sum(middle, rate, side) > 0 else (low, middle)
        return (low + high) / 2

    def _sum(self, mean: float, rate: float, side: int) -> float:
        common = float((self.log_weight - rate * self.nearest).max())

        def part(distance: FloatArray) -> FloatArray:
            return (distance - mean) * np.exp(self.log_weight - rate * distance - common)

        if side == 0:
            return float(part((self.nearest + self.farthest) / 2).sum())
        ends = part(self.nearest), part(self.farthest)
        if side < 0:
            return float(np.minimum(*ends).sum())
        # It rises up to 1/rate beyond the mean, and falls from there.
        peak = np.clip(mean + 1 / rate if rate > 0 else np.inf, self.nearest, self.farthest)
        return float(part(peak).sum())


def expected_distance(
    counts: IntArray, k: int, *, rate: float, chances: FloatArray | None = None, most_cuts: int = MOST_CUTS
) -> Between:
    r"""Mean Kolmogorov-Smirnov distance of a sample z of size `k`, with weight ``base(z) exp(-rate d(z))``.

    ``d = n k`` times the Kolmogorov-Smirnov distance is a whole number, and the base weight of all samples with
    ``d <= t`` comes from `log_weights`. If all values of d are distinguished, both bounds are the mean itself.
    Otherwise they enclose it, because the largest and the smallest ``(d - mean) exp(-rate d)`` of a shell are easy to
    find.

    Args:
        counts: shape ``(m,)``, records in each bin.
        k: size of the sample, >= 1.
        rate: epsilon / (2 k) for the Kolmogorov-Smirnov mechanism; 0 for independent points.
        chances: the base measure, as for `log_weights`.
        most_cuts: maximum number of values of the distance to distinguish; with fewer, the bounds are farther apart.

    >>> round(expected_distance(np.array([3, 1]), 4, rate=0.0).estimate, 9)  # 0 to 4 points in the first bin, all alike
    0.35
    """
    n = int(counts.sum())
    step = math.gcd(n, k)
    top = n * k // step
    cuts = np.unique(np.append(0, np.rint(np.geomspace(1, top, _FIRST_CUTS)).astype(np.int64)))
    for at_most in (_SECOND_CUTS, most_cuts):
        shells = _Shells.at(cuts * step, counts, k, chances)
        start, end = (int(each) // step for each in shells.relevant(rate))
        stride = max(1, -(-(end - start + 2) // at_most))
        cuts = np.union1d(cuts, np.minimum(np.arange(max(0, start - 1), end + stride, stride), top))
    shells = _Shells.at(cuts * step, counts, k, chances)
    low, high, estimate = (shells.mean(rate, side) / (n * k) for side in (-1, 1, 0))
    return Between(low=low, high=high, estimate=estimate)


def _log_weight_of_all(m: int, k: int, chances: FloatArray | None) -> float:
    if chances is None:
        return math.lgamma(m + k) - math.lgamma(m) - math.lgamma(k + 1)
    return k * math.log(chances.sum()) - math.lgamma(k + 1)
