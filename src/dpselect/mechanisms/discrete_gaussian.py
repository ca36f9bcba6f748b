"""Whole numbers with discrete Gaussian noise: less noise than geometric where one unit changes many of them."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from dpselect._native import _core
from dpselect.accounting import ApproximateEvent
from dpselect.accounting.renyi import best_epsilon, largest_fitting
from dpselect.accounting.rounding import fraction_up
from dpselect.checks import delta_below_one, positive_count, positive_epsilon
from dpselect.errors import InvalidParameterError
from dpselect.mechanisms.exact_coins import exp_minus, exp_minus_at_most
from dpselect.mechanisms.mechanism import MechanismValue
from dpselect.mechanisms.noise import WholeNoise, offsets_from, whole_value, whole_values
from dpselect.mechanisms.numbers import FloatArray, IntArray
from dpselect.mechanisms.scores import ScoresLike
from dpselect.privacy import Neighbours

_MOST_VARIANCE = 2.0**100
_CLOSE = 2.0**-40
_BITS = 60
_BELOW_PI = Fraction(3_141_592_653, 10**9)

_MOST_RHO = 2.0**100
"""More is not used: the variance is far below 1 then, and products with orders would leave the doubles."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DiscreteGaussianMechanism(WholeNoise):
    r"""Releases whole numbers with noise: y with probability proportional to :math:`e^{-(y - f)^2 / (2 \sigma^2)}`.

    The variance :math:`\sigma^2` is the smallest that the conversion from zero-concentrated differential privacy proves
    to be (`epsilon`, `delta`)-differentially private, rounded up. Of a vector in which one unit changes t numbers by 1,
    the noise grows with the root of t; geometric noise grows with t, but needs no delta, and less noise for t = 1.

    Args:
        squared_sensitivity: the largest sum of the squared changes of all numbers between neighbours, a whole number.

    Proof: ``proofs/discrete_gaussian.md``. Source: Canonne, Kamath & Steinke (2020).

    >>> mechanism = DiscreteGaussianMechanism(epsilon=1.0, delta=1e-6, squared_sensitivity=10)
    >>> round(mechanism.scale, 2)
    14.33
    >>> import numpy as np
    >>> bool(np.all(abs(mechanism.draw_many([120, 0, 8301]) - [120, 0, 8301]) < 200))
    True
    >>> mechanism.first_noise(Fraction(1, 10**6)), f"{float(mechanism.tail_bound(68)):.3g} {mechanism.reaches(68):.3g}"
    (69, '1.26e-06 1.23e-06')
    """

    epsilon: float
    delta: float
    squared_sensitivity: int
    neighbours: Neighbours = Neighbours.ADD_REMOVE
    variance: float = field(init=False)
    _sampler: _core.GaussianSampler = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        MechanismValue.__post_init__(self)
        self._set(delta=positive_epsilon(delta_below_one(self.delta), "delta"))
        moved = positive_count(self.squared_sensitivity, "squared_sensitivity", at_most=2**53)
        self._set(squared_sensitivity=moved)
        variance = fraction_up(Fraction(moved) / (2 * Fraction(affordable_rho(self.epsilon, self.delta))))
        if not variance <= _MOST_VARIANCE:
            raise InvalidParameterError("epsilon", self.epsilon, "a number large enough for a useful count")
        self._set(variance=variance)
        # At proposals of about this scale most of them are accepted.
        self._set(_sampler=_core.GaussianSampler(variance, float(math.isqrt(math.floor(variance)) + 1)))

    @property
    def scale(self) -> float:
        r"""The scale :math:`\sigma`; the standard deviation is at most this."""
        return math.sqrt(self.variance)

    @property
    def moved(self) -> float:
        root = math.sqrt(self.squared_sensitivity)
        return root if root.is_integer() else math.nextafter(root, math.inf)

    @property
    def event(self) -> ApproximateEvent:
        return ApproximateEvent(epsilon=self.epsilon, delta=self.delta)

    def draw_many(self, values: ScoresLike) -> IntArray:
        return self._sampler.draw_many(whole_values(values))

    def pmf(self, value: int, points: npt.ArrayLike) -> FloatArray:
        reach = np.arange(0.0, math.ceil(40.0 * self.scale) + 1.0)
        weights = np.exp(-(reach**2) / (2.0 * self.variance))
        total = 2.0 * float(weights.sum()) - 1.0
        offsets = offsets_from(whole_value(value), points)
        return np.exp(-(offsets**2) / (2.0 * self.variance)) / total

    def total_error_bound(self, size: int, confidence: float = 0.99) -> int:
        alone = size * self.error_bound(confidence, size=size)
        spread = 2.0 * size * self.variance * math.log(2.0 / (1.0 - confidence))
        return min(alone, math.floor(math.sqrt(spread) * (1.0 + 1e-9)))

    def one_sided_bound(self, failure: float) -> int:
        from scipy import stats  # not loaded with the package, because draws do not need it

        return max(0, math.ceil(self.scale * float(stats.norm.isf(failure)) * (1.0 + 1e-9)))

    def difference_bound(self, difference: int) -> float:
        from scipy import stats

        variance = self.variance
        by_moments = -((difference + 1) ** 2) / (4.0 * variance)
        total = max(math.sqrt(2.0 * math.pi * variance), 1.0 + 2.0 * math.exp(-1.0 / (2.0 * variance)))
        narrow = variance / 2.0  # the sum of exp(-x^2 / variance)
        weights = (
            math.sqrt(2.0 * math.pi * narrow) * (1.0 + 2.0**-20)
            if narrow > 1.0
            else 1.0 + 2.0 * sum(math.exp(-(x**2) / variance) for x in range(1, 12))
        )
        factor = math.log(2.0 * math.sqrt(math.pi * variance) * weights) - 2.0 * math.log(total)
        by_normal = factor + float(stats.norm.logsf(difference / math.sqrt(2.0 * variance)))
        least = min(by_moments, by_normal)
        return least + 1e-9 * (1.0 + abs(least))

    def tail_bound(self, noise: int) -> Fraction:
        twice = 2 * Fraction(self.variance)
        exponent, step = noise**2 / twice, (2 * noise + 1) / twice
        kept = 1 - exp_minus(step, _BITS + math.ceil(1 / step).bit_length())[1]
        root = math.isqrt(math.floor(_BELOW_PI * twice * (1 << 2 * _BITS)))
        total = max(Fraction(root, 1 << _BITS), 1 + 2 * exp_minus(1 / twice, _BITS)[0])
        return exp_minus_at_most(exponent) / (kept * total)

    def reaches(self, noise: int) -> float:
        reach = 40 * int(self.scale + 1.0)
        least = max(noise, -reach)
        beyond = float(self.pmf(0, (least if least > 0 else 1 - least) + np.arange(reach)).sum())
        return beyond if least > 0 else 1.0 - beyond

    def _about(self, noise: int) -> float:
        twice = 2.0 * self.variance
        kept = -math.expm1(-(2.0 * noise + 1.0) / twice)
        total = max(math.sqrt(math.pi * twice), 1.0 + 2.0 * math.exp(-1.0 / twice))
        return -float(noise) * noise / twice - (math.log(kept) + math.log(total) if kept > 0.0 else 0.0)


def affordable_rho(epsilon: float, delta: float) -> float:
    """The largest rho, rounded down, whose zero-concentrated privacy is proved to be (`epsilon`, `delta`)-private.

    Proof: ``proofs/discrete_gaussian.md``, claim 3.

    >>> round(affordable_rho(1.0, 1e-6), 4)
    0.0244
    """

    def epsilon_of(rho: float) -> float:
        return best_epsilon(lambda orders: rho * orders * (1.0 + 2.0**-50), delta)

    most = min(epsilon, _MOST_RHO)

    start = min(_first_guess(epsilon, delta), most)
    affordable = largest_fitting(epsilon_of, epsilon, start=start, close=_CLOSE, most=most)
    if not affordable:
        raise InvalidParameterError("epsilon", epsilon, "a number large enough for a useful count")
    return affordable


def _first_guess(epsilon: float, delta: float) -> float:
    """Where `affordable_rho` looks first: a simpler conversion, which gives less."""
    logarithm = -math.log(delta)
    return max((epsilon / (math.sqrt(logarithm + epsilon) + math.sqrt(logarithm))) ** 2, 1e-300)
