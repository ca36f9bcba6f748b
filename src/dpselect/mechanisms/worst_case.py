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
"""From theta and n to a probability."""

_NODES, _WEIGHTS = leggauss(16)
_UNIT_NODES, _UNIT_WEIGHTS = (1.0 + _NODES) / 2.0, _WEIGHTS / 2.0

_MARGIN = 1.0 + 2.0**-40
"""On a probability, in favour of the bound: far above the rounding of the curves, far below what anyone could see."""


@dataclass(frozen=True, slots=True)
class WorstCase:
    """The worst case of one law: the probability that the best of n loses to the n - 1 others, theta scales below."""

    best_loses: Curve
    """Accurate relative to itself where it is small."""

    best_wins: Curve
    """The complement, accurate relative to itself where *it* is small."""

    def error_quantile(self, n: int, *, failure: float, confidence: float) -> float:
        """The smallest theta with ``Pr[error > theta] <= failure`` on every vector of `n` scores, rounded up.

        `failure` and `confidence` sum to 1 and are both given, so that neither has to be subtracted from 1.
        0 where a blind guess among `n` is confident enough.
        """
        return _error_quantile(self, n, failure, confidence)

    def expected_error(self, n: int) -> float:
        """The largest expected error over vectors of `n` scores with one best and the others equal, in scales.

        The worst case over all vectors for the exponential mechanism and permute-and-flip.
        """
        return _peak(self.best_loses, n)[1]

    def gap(self, n: int) -> float:
        """How far below the best the others are then, in scales."""
        return _peak(self.best_loses, n)[0]


@functools.lru_cache(maxsize=256)  # all of it is public, and a service asks for few sizes
def _error_quantile(worst: WorstCase, n: int, failure: float, confidence: float) -> float:
    """Bisection of the curve that falls with theta, down to two doubles beside each other."""

    def holds(theta: float) -> bool:
        if confidence >= 0.5:
            return worst.best_loses(theta, n) * _MARGIN <= failure
        return worst.best_wins(theta, n) >= confidence * _MARGIN

    if Fraction(confidence) * n <= 1:
        return 0.0
    fails, works = 0.0, 1.0
    while not holds(works):
        fails, works = works, 2.0 * works
    while (middle := fails + (works - fails) / 2.0) not in (fails, works):
        if holds(middle):
            works = middle
        else:
            fails = middle
    return works


@functools.lru_cache(maxsize=256)
def _peak(best_loses: Curve, n: int) -> tuple[float, float]:
    """Golden-section search for the one peak of ``theta * best_loses(theta)``: where it is, and how high."""
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
    """How often the best still wins once its noisy value lies below all the others' scores: ``2^(1-n) / n``."""
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
