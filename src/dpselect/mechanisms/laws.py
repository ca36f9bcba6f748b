r"""What a selection's law is: gaps of scores, probabilities from them, and errors that hold for any scores.

In the notation of the proof pages: the gap :math:`s^* - s_i` and the scaled gap :math:`x_i = (s^* - s_i)/b`. A
mechanism is a law at a scale. For two kinds of noise report-noisy-max has no law of its own: with Gumbel noise it has
that of the exponential mechanism, with exponential noise that of permute-and-flip.

For every mechanism here the scores on which an error of at least :math:`b\theta` is most likely are one best candidate
and :math:`n - 1` others exactly :math:`b\theta` below it: raising a candidate of that set, or lowering one outside it
down into it, only makes the set win more often. So one curve per law is enough,

.. math:: \theta \mapsto \Pr[\text{one of the } n - 1 \text{ wins}],

which each law computes without cancellation on either side. Proof: ``proofs/error_bounds.md``.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from dpselect.accounting import BoundedRangeEvent, LaplaceProfileEvent
from dpselect.mechanisms.numbers import FloatArray

if TYPE_CHECKING:
    from dpselect.mechanisms.scores import NumericArray


@dataclass(frozen=True, slots=True)
class Gaps:
    """Gaps ``mantissa * 2**exponent``: the exponent is 1 only if a difference of doubles would overflow."""

    mantissa: FloatArray
    exponent: int

    @classmethod
    def below_best(cls, scores: NumericArray) -> Gaps:
        """The gaps of finite, non-empty `scores`."""
        return cls.between(scores.max(keepdims=True), scores)

    @classmethod
    def between(cls, high: Any, low: Any) -> Gaps:
        """``high - low``, not negative, each correctly rounded (integers of 64 bits are subtracted exactly)."""
        if low.dtype.kind != "f":
            # Modulo 2^64 the difference of two 64-bit integers is exact, and it is never negative.
            return cls((high.view(np.uint64) - low.view(np.uint64)).astype(np.float64), 0)
        with np.errstate(over="ignore"):
            difference = high - low
        if np.isfinite(difference).all():
            return cls(difference, 0)
        # One of both is beyond 2^970 here, so what halving loses is negligible.
        return cls(high / 2.0 - low / 2.0, 1)

    def scaled(self, *, epsilon: float, sensitivity: float, factor: int) -> FloatArray:
        """``gap * epsilon / (factor * sensitivity)`` for a `factor` of 1 or 2.

        Infinite or zero only where the true value is that extreme.
        """
        # Mantissas and exponents separately: the quotient of the arguments may overflow although the product does not.
        epsilon_mantissa, epsilon_exponent = math.frexp(epsilon)
        sensitivity_mantissa, sensitivity_exponent = math.frexp(sensitivity)
        ratio = epsilon_mantissa / sensitivity_mantissa
        exponent = epsilon_exponent - sensitivity_exponent - (factor - 1) + self.exponent
        with np.errstate(over="ignore", under="ignore"):
            if -1000 < exponent < 1000:
                return self.mantissa * math.ldexp(ratio, exponent)
            mantissas, exponents = np.frexp(self.mantissa)
            return np.ldexp(mantissas * ratio, exponents + exponent)

    def mean(self, probabilities: FloatArray) -> float:
        """The expected gap, in the unit of the scores."""
        return float((probabilities * self.mantissa).sum()) * 2.0**self.exponent


@dataclass(frozen=True, slots=True)
class Rule:
    """``sum(weights * f(nodes))`` is the integral of f over [0, 1], exactly so for polynomials of degree ``2 K - 1``.

    Attributes:
        nodes: shape ``(K,)``, increasing, strictly between 0 and 1.
        weights: shape ``(K,)``, positive, summing to 1.
    """

    nodes: FloatArray
    weights: FloatArray


@cache
def gauss_legendre(count: int) -> Rule:
    """The rule of `count` nodes.

    NumPy's and SciPy's nodes are as accurate as doubles around 1. At the ends of the interval their weights then have
    errors of 1e-13, which would be the largest error of a probability. Here each node is found as its distance from
    the nearer end.

    >>> rule = gauss_legendre(2)
    >>> rule.nodes.round(4), rule.weights
    (array([0.2113, 0.7887]), array([0.5, 0.5]))
    """
    index = np.arange(1, (count + 1) // 2 + 1)
    v = np.sin(np.pi * (4 * index - 1) / (8 * count + 4)) ** 2  # the usual first guess at the roots of P(1 - 2v)
    slope = np.ones_like(v)
    for _ in range(5):  # Newton's method; the third step already changes no more than the last digit
        value, slope = _legendre(v, count)
        v -= value / slope
    _, slope = _legendre(v, count)
    weights = 1.0 / (v * (1.0 - v) * slope**2)
    mirrored = slice(None, -1) if count % 2 else slice(None)  # a node in the middle is its own mirror image
    rule = Rule(np.r_[v, (1.0 - v)[mirrored][::-1]], np.r_[weights, weights[mirrored][::-1]])
    rule.nodes.flags.writeable = rule.weights.flags.writeable = False
    return rule


def _legendre(v: FloatArray, degree: int) -> tuple[FloatArray, FloatArray]:
    """``P(1 - 2v)`` of `degree` and its derivative by v, by steps between successive degrees.

    The steps are small for small v, so nothing cancels there.
    """
    value, before, step = np.ones_like(v), np.ones_like(v), np.zeros_like(v)
    for k in range(degree):
        step = (k * step - (4 * k + 2) * v * value) / (k + 1)
        before, value = value, value + step
    return value, degree * ((1.0 - 2.0 * v) * value - before) / (2.0 * v * (1.0 - v))


Curve = Callable[[float, int], float]
"""Takes theta and n and returns a probability."""

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

    @functools.lru_cache(maxsize=256)  # noqa: B019 - there are four of them, and most services ask for few sizes
    def error_quantile(self, n: int, failure: float, confidence: float) -> float:
        """The smallest theta with ``Pr[error > theta] <= failure`` on every vector of `n` scores, rounded up.

        By at most `_ROUNDING` of it. `failure` and `confidence` sum to 1 and are both given, so that neither has to be
        subtracted from 1. 0 if a blind guess among `n` reaches the confidence.
        """
        if Fraction(confidence) * n <= 1:
            return 0.0
        if confidence >= 0.5:
            return _crossing(lambda theta: math.log(max(self.best_loses(theta, n), _SMALLEST) * _MARGIN / failure))
        return _crossing(lambda theta: math.log(confidence * _MARGIN / self.best_wins(theta, n)))

    @functools.lru_cache(maxsize=256)  # noqa: B019
    def expected_error(self, n: int) -> float:
        """The largest expected error over vectors of `n` scores with one best and the others equal, in scales.

        The worst case over all vectors for the exponential mechanism and permute-and-flip. Golden-section search for
        the single maximum of ``theta * best_loses(theta)``.
        """
        low, high = 0.0, 2.0 * math.log(n) + 4.0
        shrink = (math.sqrt(5.0) - 1.0) / 2.0
        for _ in range(48):
            left, right = high - shrink * (high - low), low + shrink * (high - low)
            if left * self.best_loses(left, n) < right * self.best_loses(right, n):
                low = left
            else:
                high = right
        return low * self.best_loses(low, n)


def _crossing(excess: Callable[[float], float]) -> float:
    """Where a falling function reaches 0, rounded up.

    Args:
        excess: the logarithm of how many times too likely an error is; above 0 where theta is too small.
    """
    fails, works = 0.0, 1.0
    while excess(works) > 0.0:
        fails, works = works, 2.0 * works
    while works - fails > works * _ROUNDING:
        middle = fails + (works - fails) / 2.0
        fails, works = (middle, works) if excess(middle) > 0.0 else (fails, middle)
    return works


@dataclass(frozen=True, slots=True)
class Law:
    """How the winner is distributed, given the scaled gaps.

    Attributes:
        name: its name in the compiled core.
        probabilities: from scaled gaps, shape ``(n,)``, to probabilities, shape ``(n,)``.
        worst_case: the errors for the worst scores.
        privacy: the event of one run at the scale for epsilon.
    """

    name: Literal["exponential", "permute_and_flip", "laplace"]
    probabilities: Callable[[FloatArray], FloatArray]
    worst_case: WorstCase
    privacy: type[BoundedRangeEvent] | type[LaplaceProfileEvent]
