"""Whole numbers with noise: what its kinds have in common, and the two-sided geometric one."""

from __future__ import annotations

import abc
import math
from contextlib import suppress
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from dpselect._native import _core
from dpselect.accounting import ApproximateEvent, PureEvent
from dpselect.accounting.divergence import best_epsilon, largest_fitting
from dpselect.checks import fraction_up, positive_count, probability, whole_bounds, whole_number, whole_sensitivity
from dpselect.errors import InvalidDataError, InvalidParameterError, Shown
from dpselect.mechanisms.mechanism import HasScale, MechanismValue
from dpselect.mechanisms.numbers import FloatArray, IntArray, exp_minus, first_count
from dpselect.mechanisms.scores import ScoresLike, native_values
from dpselect.privacy import Neighbours

_MACHINE = (-(2**63), 2**63 - 1)


class WholeNoise(MechanismValue, abc.ABC):
    """Symmetrical noise on whole numbers: the base of the geometric and the discrete Gaussian kind."""

    __slots__ = ()

    @abc.abstractmethod
    def draw_many(self, values: ScoresLike) -> IntArray:
        """Release a vector of whole numbers, each with independent noise, *together* at the cost of one `event`.

        Args:
            values: shape ``(n,)``, of an integer type; ``n = 0`` is allowed. Numbers outside the 64-bit range are
                clamped to its nearer end, before and after the noise.

        Raises:
            InvalidDataError: not one-dimensional, or not of an integer type. Nothing is drawn then.
            InvalidParameterError: there are bounds, and they lie outside the 64-bit range.
        """

    @abc.abstractmethod
    def pmf(self, value: int, points: npt.ArrayLike) -> FloatArray:
        """Probability of each of `points`, whole numbers, if the true number is `value`. For planning.

        Raises:
            InvalidDataError: `value` is not of an integer type.
            InvalidParameterError: `points` are not.
        """

    @abc.abstractmethod
    def reaches(self, noise: int) -> float:
        """The probability of noise that is at least as large as a number, up to rounding. For planning."""

    def error_bound(self, confidence: float = 0.99, *, size: int = 1) -> int:
        """With probability `confidence` all of `size` releases are at most this far from the true numbers, rounded up.

        For true numbers within the bounds, if there are any. From public arguments only, so it may be published.
        """
        size = positive_count(size, "size", at_most=2**63)
        each = -math.expm1(math.log(probability(confidence, "confidence")) / size)
        return self.one_sided_bound(each / 2.0)

    @abc.abstractmethod
    def total_error_bound(self, size: int, confidence: float = 0.99) -> int:
        """With probability `confidence` the sum of `size` releases is at most this far from that of the true numbers.

        Proof: ``proofs/noisy_histograms.md``, claim 2; ``proofs/discrete_gaussian.md``, claim 6.
        """

    @abc.abstractmethod
    def one_sided_bound(self, failure: float) -> int:
        """With probability 1 - `failure` noise is at most this: for the sum of such statements about several noises.

        Proof: ``proofs/noisy_order.md``, claim 4; ``proofs/discrete_gaussian.md``, claim 5.
        """

    @abc.abstractmethod
    def difference_bound(self, difference: int) -> float:
        """The logarithm of a bound on the probability that one noise is above another by more than a number >= -1.

        Proof: ``proofs/noisy_order.md``, claim 3; ``proofs/discrete_gaussian.md``, claim 9.
        """

    @abc.abstractmethod
    def tail_bound(self, noise: int) -> Fraction:
        """At most so likely is noise that is at least as large as a number >= 1. Verified by exact arithmetic.

        Proof: ``proofs/unknown_candidates.md``, claim 3; ``proofs/discrete_gaussian.md``, claim 8.
        """

    def first_noise(self, share: Fraction) -> int:
        """The smallest number >= 1 whose `tail_bound` is at most `share`; at most 2^63 - 1."""
        return first_count(lambda noise: self.tail_bound(noise) <= share)


@dataclass(frozen=True, slots=True, kw_only=True)
class GeometricMechanism(WholeNoise, HasScale):
    r"""Releases a whole number f with noise: y with probability proportional to :math:`e^{-|y - f|/b}`.

    The scale b is ``sensitivity / epsilon``. With `bounds` a noisy number outside is clamped to the nearer bound, which
    costs nothing.

    Args:
        sensitivity: the largest change of f between neighbouring data sets, a whole number >= 1. For a vector released
            by `draw_many`, the largest sum of the changes of all its entries: ``proofs/counting.md``, claim 6.
        bounds: ``(lower, upper)``, public whole numbers; None for all whole numbers.

    Round a number that is not whole first, and use the sensitivity of the rounded number:
    ``proofs/geometric_mechanism.md`` shows what is lost otherwise.

    Proof: ``proofs/geometric_mechanism.md``. Sources: Ghosh, Roughgarden & Sundararajan (2012); Canonne, Kamath &
    Steinke (2020) for the way it is drawn.

    >>> mechanism = GeometricMechanism(epsilon=1.0, sensitivity=1)
    >>> abs(mechanism.draw(1000) - 1000) < 50
    True
    >>> mechanism.error_bound(confidence=0.99), mechanism.error_bound(size=12), mechanism.total_error_bound(12)
    (4, 7, 16)
    """

    costs = PureEvent

    epsilon: float
    sensitivity: int
    bounds: tuple[int, int] | None = None
    neighbours: Neighbours = Neighbours.ADD_REMOVE
    _sampler: _core.GeometricSampler = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        MechanismValue.__post_init__(self)
        self._set(sensitivity=whole_sensitivity(self.sensitivity))
        self._set(bounds=None if self.bounds is None else whole_bounds(self.bounds))
        self._set(_sampler=_core.GeometricSampler(self.epsilon, float(self.sensitivity)))

    @property
    def expected_error(self) -> float:
        """The expected distance between a release and the true number, without bounds."""
        power, rest = math.exp(-1.0 / self.scale), -math.expm1(-1.0 / self.scale)
        return 2.0 * power / (rest * (1.0 + power))

    def draw(self, value: int) -> int:
        """Release `value`, at the cost of `epsilon`.

        Args:
            value: a whole number of any size, of an integer type: 3.0 is refused like 3.5, because otherwise the error
                would reveal something about the data.

        Raises:
            InvalidDataError: `value` is not of an integer type. Nothing is drawn then.

        Proof that the draw is exact: ``proofs/geometric_mechanism.md``.
        """
        noisy = whole_value(value) + self._sampler.noise()
        return noisy if self.bounds is None else min(max(noisy, self.bounds[0]), self.bounds[1])

    def draw_many(self, values: ScoresLike) -> IntArray:
        lower, upper = _MACHINE if self.bounds is None else whole_bounds(self.bounds, within=_MACHINE)
        return self._sampler.draw_many(whole_values(values), lower, upper)

    def pmf(self, value: int, points: npt.ArrayLike) -> FloatArray:
        whole = whole_value(value)
        offsets = offsets_from(whole, points)
        rate = self._rate
        chances = math.tanh(rate / 2.0) * np.exp(-rate * np.abs(offsets))
        if self.bounds is None:
            return chances
        lower, upper = (float(bound - whole) for bound in self.bounds)
        chances = np.where(offsets == lower, self._noise_up_to(lower), chances)
        chances = np.where(offsets == upper, self._noise_up_to(-upper), chances)
        return np.where((offsets < lower) | (offsets > upper), 0.0, chances)

    def error_bound(self, confidence: float = 0.99, *, size: int = 1) -> int:
        bound = WholeNoise.error_bound(self, confidence, size=size)
        return bound if self.bounds is None else min(bound, self.bounds[1] - self.bounds[0])

    def total_error_bound(self, size: int, confidence: float = 0.99) -> int:
        alone = self.error_bound(confidence, size=size)  # also checks the arguments
        rate = self._rate
        log_chance = math.log(2.0 / (1.0 - confidence))
        # Any point gives a bound. Near the best one the bound hardly changes, so a grid is enough. With the noise in
        # units of 1/rate, and exact for tiny rates: 1 - exp(-x) is -expm1(-x).
        shares = np.linspace(0.0, 1.0, 4097)[1:-1]
        below, above = (np.log(-np.expm1(-rate * (1.0 + sign * shares))) for sign in (-1, 1))
        grown = 2.0 * math.log(-math.expm1(-rate)) - below - above
        scales = Fraction(float(np.min((size * grown + log_chance) / shares)) * (1.0 + 1e-9))
        return min(size * alone, math.floor(scales * self.sensitivity / Fraction(self.epsilon)))

    def one_sided_bound(self, failure: float) -> int:
        # Pr[noise > m] = a^(m+1) / (1 + a), a = e^(-1/b).
        scales = max(-math.log(failure) - math.log1p(math.exp(-self._rate)), 0.0) * (1.0 + 1e-12)
        return max(math.ceil(Fraction(scales) * self.sensitivity / Fraction(self.epsilon)) - 1, 0)

    def difference_bound(self, difference: int) -> float:
        rate, ratio, step = self._rate, math.exp(-self._rate), -math.expm1(-self._rate)
        constant = (1.0 + ratio + 2.0 * ratio**2) / (1.0 + ratio)
        return math.log((difference + 1) * step + constant) - (difference + 1) * rate - 2.0 * math.log1p(ratio)

    def tail_bound(self, noise: int) -> Fraction:
        rate = Fraction(self.epsilon) / self.sensitivity
        return exp_minus(noise * rate)[1] / (1 + exp_minus(rate)[0])

    def reaches(self, noise: int) -> float:
        return float(self._noise_up_to(-noise))

    @property
    def _rate(self) -> float:
        """1/b, limited so that its multiples are finite."""
        return 1.0 / min(max(self.scale, 1e-300), 1e300)

    def _noise_up_to(self, offsets: FloatArray | float) -> FloatArray:
        """Pr[noise <= m]."""
        at = np.asarray(offsets, dtype=np.float64)
        rate = self._rate
        tail = np.exp(-rate * np.where(at < 0.0, -at, at + 1.0)) / (1.0 + math.exp(-rate))
        return np.where(at < 0.0, tail, 1.0 - tail)


_ROUND_FIRST = "Round first, and give the sensitivity of the rounded numbers."


def whole_value(value: object) -> int:
    """`value` as an int, if its type is one of whole numbers."""
    if type(value) is int:  # at once: it is drawn for in less than two microseconds
        return value
    with suppress(InvalidParameterError):  # whose text shows the number
        return whole_number(value, "value")
    got = Shown(f"<{type(value).__name__}>")
    raise InvalidDataError("value", got, "a whole number (of an integer type)", _ROUND_FIRST)


def whole_values(values: ScoresLike) -> IntArray:
    """`values` as contiguous 64-bit integers; those outside that range become its nearer end."""
    expected = "a one-dimensional array of integers"
    if isinstance(cast(object, values), list | tuple):
        members = cast("list[Any]", values)
        with suppress(InvalidParameterError):  # as an array they are refused below, by a text that shows no number
            whole = [min(max(whole_number(each, "values"), _MACHINE[0]), _MACHINE[1]) for each in members]
            return np.array(whole, dtype=np.int64)
    vector = native_values(values, "values", expected)
    if vector.dtype.kind not in "iu" and vector.size:
        raise InvalidDataError("values", Shown(f"<numbers of type {vector.dtype}>"), expected, _ROUND_FIRST)
    fits = np.minimum(vector, np.uint64(_MACHINE[1])) if vector.dtype == np.uint64 else vector
    return np.ascontiguousarray(fits, dtype=np.int64)


def offsets_from(value: int, points: npt.ArrayLike) -> FloatArray:
    """``points - value`` as doubles, subtracted exactly."""
    at = np.asarray(points)
    if at.dtype.kind in "iu" and at.size and max(-int(at.min()), int(at.max()), abs(value)) < 2**62:
        return (at.astype(np.int64) - value).astype(np.float64)
    return np.asarray(np.clip(whole_points(at) - value, -(2**1000), 2**1000), dtype=np.float64)


def whole_points(points: npt.ArrayLike) -> npt.NDArray[Any]:
    """`points` as an array of Python integers."""
    at = np.asarray(points)
    whole = [whole_number(each, "points", expected="whole numbers") for each in at.astype(object).flat]
    return np.array(whole, dtype=object).reshape(at.shape)


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
    >>> bool(abs(mechanism.draw_many([120, 0, 8301]) - [120, 0, 8301]).max() < 200)
    True
    """

    costs = ApproximateEvent

    epsilon: float
    delta: float
    squared_sensitivity: int
    neighbours: Neighbours = Neighbours.ADD_REMOVE
    variance: float = field(init=False)
    _sampler: _core.GaussianSampler = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        MechanismValue.__post_init__(self)
        self._set(delta=probability(self.delta, "delta"))
        moved = positive_count(self.squared_sensitivity, "squared_sensitivity", at_most=2**53)
        self._set(squared_sensitivity=moved)
        rho = affordable_rho(self.epsilon, self.delta)
        variance = fraction_up(Fraction(moved) / (2 * Fraction(rho))) if rho else math.inf
        if not variance <= 2.0**100:
            raise InvalidParameterError("epsilon", self.epsilon, "a number large enough for a useful count")
        self._set(variance=variance)
        # At proposals of about this scale most of them are accepted.
        self._set(_sampler=_core.GaussianSampler(variance, float(math.isqrt(math.floor(variance)) + 1)))

    @property
    def scale(self) -> float:
        r"""The scale :math:`\sigma`; the standard deviation is at most this."""
        return math.sqrt(self.variance)

    @property
    def sensitivity(self) -> float:
        """How much one unit can change all numbers, by the root of the sum of squares, rounded up.

        Proof: ``proofs/discrete_gaussian.md``, claim 2.
        """
        root = math.sqrt(self.squared_sensitivity)
        return root if root.is_integer() else math.nextafter(root, math.inf)

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
        from statistics import NormalDist  # not loaded with the package, because draws do not need it

        return max(0, math.ceil(-self.scale * NormalDist().inv_cdf(failure) * (1.0 + 1e-9)))

    def difference_bound(self, difference: int) -> float:
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
        by_normal = factor + math.log(max(math.erfc(difference / (2.0 * math.sqrt(variance))) / 2.0, math.ulp(0.0)))
        least = min(by_moments, by_normal)
        return least + 1e-9 * (1.0 + abs(least))

    def tail_bound(self, noise: int) -> Fraction:
        twice = 2 * Fraction(self.variance)
        kept = 1 - exp_minus((2 * noise + 1) / twice)[1]
        below_pi = Fraction(3_141_592_653, 10**9)
        root = Fraction(math.isqrt(math.floor(below_pi * twice * 2**120)), 2**60)
        return exp_minus(noise**2 / twice)[1] / (kept * max(root, 1 + 2 * exp_minus(1 / twice)[0]))

    def reaches(self, noise: int) -> float:
        reach = 40 * int(self.scale + 1.0)
        least = max(noise, -reach)
        beyond = float(self.pmf(0, (least if least > 0 else 1 - least) + np.arange(reach)).sum())
        return beyond if least > 0 else 1.0 - beyond


@lru_cache(maxsize=256)
def affordable_rho(epsilon: float, delta: float) -> float:
    """The largest rho, rounded down, whose zero-concentrated privacy is proved to be (`epsilon`, `delta`)-private.

    0 where doubles hold none.

    Proof: ``proofs/discrete_gaussian.md``, claim 3.
    """

    def epsilon_of(rho: float) -> float:
        return best_epsilon(lambda orders: rho * orders * (1.0 + 2.0**-50), delta)

    most = min(epsilon, 2.0**100)  # products of more with orders would leave the doubles
    # A simpler conversion, which gives less, says where to look first.
    logarithm = -math.log(delta)
    start = min(max((epsilon / (math.sqrt(logarithm + epsilon) + math.sqrt(logarithm))) ** 2, 1e-300), most)
    return largest_fitting(epsilon_of, epsilon, start=start, close=2.0**-40, most=most)
