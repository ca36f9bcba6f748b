"""Numbers with noise: the Laplace mechanism, and for whole numbers two-sided geometric noise."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from numbers import Integral
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from dpselect._native import _core
from dpselect.accounting import LaplaceProfileEvent, PureEvent
from dpselect.checks import (
    exact_number,
    finite_bounds,
    positive_count,
    positive_sensitivity,
    probability,
    whole_bounds,
    whole_sensitivity,
)
from dpselect.errors import InvalidDataError, InvalidParameterError, InvalidScoresError, Shown, describe
from dpselect.mechanisms.base import MechanismValue, native_whole, scale_of
from dpselect.mechanisms.scores import ScoresLike, native_scores, plain_points
from dpselect.privacy import Neighbours

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class LaplaceMechanism(MechanismValue):
    r"""Releases a number with noise: density proportional to :math:`e^{-|y - value|/b}` over the line.

    The exponential mechanism with the score ``-abs(y - value)``, at half its usual noise: b is sensitivity / epsilon,
    without the factor two, because the normaliser of the density is 2 b whatever the data. This is true only on the
    whole line. Restricted to an interval, or to grid points that may not include the value, the same b would have a
    loss of up to twice `epsilon` (the proof page has the numbers). So `bounds` do not restrict the distribution; they
    clamp the released number afterwards.

    Args:
        sensitivity: the largest change of the value between neighbouring data sets, > 0. Rounded up if it is not a
            double. It refers to the number you *pass*: if you rounded it, or added up floats, rounding may have
            increased the change.
        bounds: ``(lower, upper)``, public: an answer beyond them becomes the nearer one.

    Proof: ``proofs/laplace_mechanism.md``. Source: Dwork, McSherry, Nissim & Smith (2006).

    >>> mechanism = LaplaceMechanism(epsilon=0.5, sensitivity=1)
    >>> mechanism.scale
    2.0
    >>> 0 < mechanism.draw(1000) < 2000
    True
    >>> mechanism.cdf(1000, [998.0, 1000.0])
    array([0.18393972, 0.5       ])
    """

    epsilon: float
    sensitivity: float
    neighbours: Neighbours = Neighbours.ADD_REMOVE
    bounds: tuple[float | Fraction, float | Fraction] | None = None
    _ends: tuple[float, float] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        MechanismValue.__post_init__(self)
        self._set(sensitivity=positive_sensitivity(self.sensitivity))
        ends = (-np.inf, np.inf)
        if self.bounds is not None:
            lower, upper = finite_bounds(self.bounds)
            ends = (float(lower), float(upper))
            self._set(bounds=ends)
        self._set(_ends=ends)

    @property
    def scale(self) -> float:
        """The scale b = sensitivity / epsilon of the noise, in the unit of the value."""
        return scale_of(self.epsilon, self.sensitivity, factor=1)

    @property
    def event(self) -> LaplaceProfileEvent:
        return LaplaceProfileEvent(epsilon=self.epsilon)

    def draw(self, value: float | Fraction) -> float:
        """`value` plus noise, at the cost of `epsilon`.

        Args:
            value: a finite number: an integer, a `fractions.Fraction`, a decimal, or a float, which counts as the
                binary number that it is.

        Returns:
            The nearest finite double to the exact sum, rounded once; one of the `bounds` if it lies beyond them.

        Raises:
            InvalidDataError: not a finite number. Nothing is drawn.
        """
        sampler = _core.PiecewiseSampler(self.epsilon, self.sensitivity, 1)
        return min(max(draw_peak(sampler, _exact_value(value)), self._ends[0]), self._ends[1])

    def cdf(self, value: float | Fraction, points: npt.ArrayLike) -> FloatArray:
        """Probability of an answer not above each of `points`, if the value were this. For planning."""
        center, at = _exact_value(value), plain_points(points)
        near = float(center)
        with np.errstate(over="ignore", under="ignore"):
            scaled = ((at - near) - float(center - Fraction(near))) * (self.epsilon / self.sensitivity)
            tail = np.exp(-np.abs(scaled)) / 2.0
        inside = np.where(scaled < 0.0, tail, 1.0 - tail)
        return np.where(at < self._ends[0], 0.0, np.where(at >= self._ends[1], 1.0, inside))


def draw_peak(
    sampler: _core.PiecewiseSampler,
    center: Fraction,
    *,
    bounds: tuple[Fraction, Fraction] | None = None,
    unit: Fraction = Fraction(1),
    is_squared: bool = False,
) -> float:
    """One draw with the score ``-|y - center| / unit``, or minus its square, within the bounds."""
    below = math.lcm(center.denominator, unit.denominator, *(end.denominator for end in bounds or ()))
    at, *ends = (native_whole(int(number * below), signed=True) for number in (center, *(bounds or ())))
    lower, upper = ends or (None, None)
    return sampler.draw_peak(at, lower, upper, native_whole(int(unit * below)), native_whole(below), is_squared)


def _exact_value(value: object) -> Fraction:
    try:
        return exact_number(value, "value", expected="a finite number")
    except InvalidParameterError:
        pass
    problem = InvalidDataError("value", Shown("<not a finite number>"), "a finite number")
    raise problem


_MACHINE = (-(2**63), 2**63 - 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class GeometricMechanism(MechanismValue):
    r"""Releases a whole number f with noise: y with probability proportional to :math:`e^{-|y - f|/b}`.

    The exponential mechanism on all whole numbers with the score :math:`-|y - f|`, at
    :math:`b = sensitivity / epsilon`, *without* its factor 2, because the weights have the same sum for every whole f.
    With `bounds` a noisy number outside is clamped to the nearer bound (the truncated geometric mechanism, whose ends
    hold the mass of everything beyond), which costs nothing.

    Args:
        sensitivity: the largest change of f between neighbouring data sets, a whole number >= 1. For a vector released
            by `draw_many`, the largest sum of the changes of all its entries (the l1 sensitivity).
        bounds: ``(lower, upper)``, public whole numbers; None for all whole numbers.
        neighbours: which data sets the guarantee compares, ``"add_remove"`` or ``"replace_one"``. A histogram of
            units has l1 sensitivity 1 under the first (each unit in one bin), 2 under the second.

    Round a number that is not whole first, and use the sensitivity of the rounded number:
    ``proofs/geometric_mechanism.md`` shows what is lost otherwise.

    Proof: ``proofs/geometric_mechanism.md``. Sources: Ghosh, Roughgarden & Sundararajan (2012); Canonne, Kamath &
    Steinke (2020) for the way it is drawn.

    >>> mechanism = GeometricMechanism(epsilon=1.0, sensitivity=1)
    >>> abs(mechanism.draw(1000) - 1000) < 50
    True
    >>> mechanism.pmf(5, [5, 6]).round(4)
    array([0.4621, 0.17  ])
    >>> mechanism.error_bound(confidence=0.99)
    4
    >>> GeometricMechanism(epsilon=1.0, sensitivity=1, bounds=(0, 10)).pmf(0, range(11)).sum().round(12)
    np.float64(1.0)
    """

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
    def scale(self) -> float:
        """The scale b = sensitivity / epsilon. For reading only, as a double; draws use the exact quotient."""
        return scale_of(self.epsilon, float(self.sensitivity), factor=1)

    @property
    def expected_error(self) -> float:
        """The expected distance between a release and the true number, without bounds.

        >>> round(GeometricMechanism(epsilon=0.5, sensitivity=1).expected_error, 3)
        1.919
        """
        power, rest = math.exp(-1.0 / self.scale), -math.expm1(-1.0 / self.scale)
        return 2.0 * power / (rest * (1.0 + power))

    @property
    def event(self) -> PureEvent:
        """What one release costs, for accounting; it does not depend on the data.

        At sensitivity 1 every loss is `epsilon` or its negative, so `epsilon`-DP cannot be improved.
        """
        return PureEvent(epsilon=self.epsilon)

    def draw(self, value: int) -> int:
        """Release `value`, at the cost of `epsilon`.

        Args:
            value: a whole number of any size, of an integer type: 3.0 is refused like 3.5, because otherwise the error
                would reveal something about the data.

        Returns:
            A whole number of any size, within the bounds if there are any.

        Raises:
            InvalidDataError: `value` is not of an integer type. Nothing is drawn then.

        Proof that the draw is exact: ``proofs/geometric_mechanism.md``.
        """
        whole = whole_value(value)
        return self._within(whole + self._sampler.noise())

    def _within(self, number: int) -> int:
        return number if self.bounds is None else min(max(number, self.bounds[0]), self.bounds[1])

    def draw_many(self, values: ScoresLike) -> npt.NDArray[np.int64]:
        """Release a vector of whole numbers, each with independent noise, *together* at the cost of `epsilon`.

        `sensitivity` is then the l1 sensitivity of the vector: the largest sum of the changes of all entries.

        Args:
            values: shape ``(n,)``, of an integer type of up to 64 bits; ``n = 0`` is allowed.

        Returns:
            Shape ``(n,)``. Numbers outside the 64-bit range are clamped to its nearer end (before and after the noise),
            as with the bounds.

        Raises:
            InvalidDataError: not one-dimensional, or not of an integer type. Nothing is drawn then.
            InvalidParameterError: the bounds lie outside the 64-bit range.

        >>> import numpy as np
        >>> noisy = GeometricMechanism(epsilon=1.0, sensitivity=1, bounds=(0, 10**6)).draw_many([120, 0, 8301])
        >>> bool(np.all(abs(noisy - [120, 0, 8301]) < 50)), int(noisy.min()) >= 0
        (True, True)
        """
        lower, upper = _MACHINE if self.bounds is None else whole_bounds(self.bounds, within=_MACHINE)
        return self._sampler.draw_many(whole_values(values), lower, upper)

    def pmf(self, value: int, points: npt.ArrayLike) -> FloatArray:
        """Probability of each of `points` if the true number is `value`. For planning: it depends on the data.

        Returns:
            The shape of `points`, which are whole numbers; 0 outside the bounds.

        Raises:
            InvalidDataError: `value` is not of an integer type.
            InvalidParameterError: `points` are not.
        """
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

    def cdf(self, value: int, points: npt.ArrayLike) -> FloatArray:
        """Probability of a release not above each of `points`. For planning: it depends on the data."""
        whole = whole_value(value)
        offsets = offsets_from(whole, points)
        chances = self._noise_up_to(offsets)
        if self.bounds is None:
            return chances
        lower, upper = (float(bound - whole) for bound in self.bounds)
        return np.where(offsets < lower, 0.0, np.where(offsets >= upper, 1.0, chances))

    def error_bound(self, confidence: float = 0.99, *, size: int = 1) -> int:
        """With probability `confidence` all of `size` releases are at most this far from their true numbers.

        For true numbers within the bounds, if there are any. It depends on public arguments only, so it may be
        published. Rounded up; it is the smallest such number up to the last digits of doubles.
        """
        log_confidence = math.log(probability(confidence, "confidence"))
        each = -math.expm1(log_confidence / positive_count(size, "size", at_most=2**63))
        # Pr[|noise| > m] = 2 a^(m+1) / (1 + a), a = e^(-1/b).
        halves = math.log(2.0 / (1.0 + math.exp(-self._rate))) - math.log(each)
        steps = Fraction(max(halves, 0.0) * (1.0 + 1e-12)) * self.sensitivity / Fraction(self.epsilon)
        bound = max(math.ceil(steps) - 1, 0)
        return bound if self.bounds is None else min(bound, self.bounds[1] - self.bounds[0])

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
    """`value` as an int, if its type is one of whole numbers.

    >>> whole_value(np.int8(-3))
    -3
    """
    if not _is_whole(value):
        raise InvalidDataError(
            "value", Shown(f"<{type(value).__name__}>"), "a whole number (of an integer type)", _ROUND_FIRST
        )
    return int(cast(Any, value))


def _is_whole(value: object) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool | np.timedelta64)


def whole_values(values: ScoresLike) -> npt.NDArray[np.int64]:
    """`values` as contiguous 64-bit integers; those outside that range become its nearer end.

    >>> whole_values(np.array([3, 2**64 - 1], dtype=np.uint64))
    array([                  3, 9223372036854775807])
    """
    expected = "a one-dimensional array of integers"
    if isinstance(cast(object, values), list | tuple):
        members = cast("list[Any]", values)
        if members and all(map(_is_whole, members)):
            return np.array([min(max(int(each), _MACHINE[0]), _MACHINE[1]) for each in members], dtype=np.int64)
    try:
        vector = native_scores(values)
    except InvalidScoresError as refused:
        problem = InvalidDataError("values", refused.got, expected)
    else:
        if vector.dtype.kind in "iu" or vector.size == 0:
            fits = np.minimum(vector, np.uint64(_MACHINE[1])) if vector.dtype == np.uint64 else vector
            return np.ascontiguousarray(fits, dtype=np.int64)
        problem = InvalidDataError("values", Shown(f"<numbers of type {vector.dtype}>"), expected, _ROUND_FIRST)
    raise problem


def offsets_from(value: int, points: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """``points - value`` as doubles, subtracted exactly."""
    at = np.asarray(points)
    is_small = at.dtype.kind in "iu" and (at.size == 0 or max(-int(at.min()), int(at.max())) < 2**62)
    if is_small and abs(value) < 2**62:
        return (at.astype(np.int64) - value).astype(np.float64)
    apart = [min(max(each - value, -(2**1000)), 2**1000) for each in whole_points(at).ravel()]
    return np.array(apart, dtype=np.float64).reshape(at.shape)


def whole_points(points: npt.ArrayLike) -> npt.NDArray[Any]:
    """`points` as an array of Python integers.

    >>> whole_points([2**70, 3]).tolist() == [2**70, 3]
    True
    """
    at = np.asarray(points)
    members: list[Any] = at.astype(object).ravel().tolist()
    if not all(map(_is_whole, members)):
        raise InvalidParameterError("points", Shown(describe(points)), "whole numbers")
    return np.array([int(each) for each in members], dtype=object).reshape(at.shape)
