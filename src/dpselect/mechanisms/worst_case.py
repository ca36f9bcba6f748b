r"""Errors that hold for any scores, known before any data is seen.

For every mechanism here the scores on which an error of at least :math:`b\theta` is most likely are one best
candidate and :math:`n - 1` others exactly :math:`b\theta` below it: raising a candidate of that set, or lowering one
outside it down into it, only makes the set win more often. So one curve per law is enough,

.. math:: \theta \mapsto \Pr[\text{one of the } n - 1 \text{ wins}],

computed here without cancellation on either side. Proof: ``proofs/error_bounds.md``.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.polynomial.legendre import leggauss
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
Curve = Callable[[float, int], float]
"""Takes theta and n and returns a probability."""

_NODES, _WEIGHTS = leggauss(16)
_UNIT_NODES, _UNIT_WEIGHTS = (1.0 + _NODES) / 2.0, _WEIGHTS / 2.0

_MARGIN = 1.0 + 2.0**-40
"""Added to a probability, to be on the safe side: far above the rounding of the curves, and far too small to matter."""

_ROUNDING = 2.0**-44
_SMALLEST = 5e-324


@dataclass(frozen=True, slots=True)
class WorstCase:
    """The worst case of one law: the probability that the best of n loses to the n - 1 others, theta scales below."""

    best_loses: Curve
    """With a small relative error where it is small."""

    best_wins: Curve
    """The complement, with a small relative error where *it* is small."""

    def error_quantile(self, n: int, *, failure: float, confidence: float) -> float:
        """The smallest theta with ``Pr[error > theta] <= failure`` on every vector of `n` scores, rounded up.

        By at most `_ROUNDING` of it. `failure` and `confidence` sum to 1 and are both given, so that neither has to be
        subtracted from 1. 0 if a blind guess among `n` reaches the confidence.
        """
        return _error_quantile(self, n, failure, confidence)

    def expected_error(self, n: int) -> float:
        """The largest expected error over vectors of `n` scores with one best and the others equal, in scales.

        The worst case over all vectors for the exponential mechanism and permute-and-flip.
        """
        return _peak(self.best_loses, n)[1]

    def gap(self, n: int) -> float:
        """How far below the best the others then are, in scales."""
        return _peak(self.best_loses, n)[0]


@functools.lru_cache(maxsize=256)  # of public numbers only; most services ask for few sizes
def _error_quantile(worst: WorstCase, n: int, failure: float, confidence: float) -> float:
    if Fraction(confidence) * n <= 1:
        return 0.0
    if confidence >= 0.5:
        loses = worst.best_loses
        return _crossing(lambda theta: math.log(max(loses(theta, n), _SMALLEST) * _MARGIN / failure))
    wins = worst.best_wins
    return _crossing(lambda theta: math.log(confidence * _MARGIN / wins(theta, n)))


def _crossing(excess: Callable[[float], float]) -> float:
    """Where a falling function reaches 0, rounded up: by secants that keep both ends (the Illinois method).

    Args:
        excess: the logarithm of how many times too likely an error is; above 0 where theta is too small.
    """
    fails, works = 0.0, 1.0
    above, below = excess(fails), excess(works)
    while below > 0.0:
        fails, above, works = works, below, 2.0 * works
        below = excess(works)
    side = 0
    while works - fails > works * _ROUNDING:
        middle = fails + (works - fails) * above / (above - below)
        if not fails < middle < works:
            middle = fails + (works - fails) / 2.0
        found = excess(middle)
        if found > 0.0:
            fails, above, below, side = middle, found, below / (2.0 if side > 0 else 1.0), 1
        else:
            works, below, above, side = middle, found, above / (2.0 if side < 0 else 1.0), -1
    return works


@functools.lru_cache(maxsize=256)
def _peak(best_loses: Curve, n: int) -> tuple[float, float]:
    """Golden-section search for the single maximum of ``theta * best_loses(theta)``: its place and its height."""
    low, high = 0.0, 2.0 * math.log(n) + 4.0
    shrink = (math.sqrt(5.0) - 1.0) / 2.0
    for _ in range(48):
        left, right = high - shrink * (high - low), low + shrink * (high - low)
        if left * best_loses(left, n) < right * best_loses(right, n):
            low = left
        else:
            high = right
    return low, low * best_loses(low, n)


def _exponential_loses(theta: float, n: int) -> float:
    odds = (n - 1) * math.exp(-theta)
    return odds / (1.0 + odds)


def _exponential_wins(theta: float, n: int) -> float:
    return 1.0 / (1.0 + (n - 1) * math.exp(-theta))


def _permute_and_flip_loses(theta: float, n: int) -> float:
    return _tossed_away(math.exp(-theta), n)


def _permute_and_flip_wins(theta: float, n: int) -> float:
    return _not_tossed(math.exp(-theta), n)


def _not_tossed(p: float, n: int) -> float:
    """``integral_0^1 (1 - t p)^(n-1) dt = (1 - (1-p)^n) / (n p)``, for p in (0, 1]."""
    return (1.0 if p == 1.0 else -math.expm1(n * math.log1p(-p))) / (n * p) if p > 0.0 else 1.0


def _tossed_away(p: float, n: int) -> float:
    """One minus `_not_tossed`."""
    if n * p >= 1.0:
        return 1.0 - _not_tossed(p, n)
    return float(-_UNIT_WEIGHTS @ np.expm1((n - 1) * np.log1p(-p * _UNIT_NODES)))


def _laplace_loses(theta: float, n: int) -> float:
    y, weights, log_all_below = _between_best_and_others(theta, n)
    between = float(-(weights * np.exp(-y)) @ np.expm1(log_all_below))
    p = math.exp(-theta)
    return (_tossed_away(p / 2.0, n) + between + p * (1.0 - _below_all(n))) / 2.0


def _laplace_wins(theta: float, n: int) -> float:
    y, weights, log_all_below = _between_best_and_others(theta, n)
    between = float((weights * np.exp(-y)) @ np.exp(log_all_below))
    p = math.exp(-theta)
    return (_not_tossed(p / 2.0, n) + between + p * _below_all(n)) / 2.0


def _below_all(n: int) -> float:
    """Probability that the best wins if its noisy value is below the scores of all others: ``2^(1-n) / n``."""
    return math.ldexp(1.0, -min(n - 1, 2000)) / n


def _between_best_and_others(theta: float, n: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Nodes y in [0, theta] below the best, their weights, and the log-probability that all others are below y."""
    edges = np.linspace(0.0, theta, max(1, math.ceil(theta)) + 1)
    width = np.diff(edges)[:, np.newaxis]
    y = (edges[:-1, np.newaxis] + width * _UNIT_NODES).ravel()
    return y, (width * _UNIT_WEIGHTS).ravel(), (n - 1) * np.log1p(-0.5 * np.exp(y - theta))


EXPONENTIAL = WorstCase(_exponential_loses, _exponential_wins)
PERMUTE_AND_FLIP = WorstCase(_permute_and_flip_loses, _permute_and_flip_wins)
LAPLACE = WorstCase(_laplace_loses, _laplace_wins)
