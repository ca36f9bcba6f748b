"""Numbers of the line with noise: one by the Laplace mechanism, and the mean of bounded numbers."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal

import numpy as np
import numpy.typing as npt

from dpselect._native import _core
from dpselect.accounting import BoundedRangeEvent, LaplaceProfileEvent
from dpselect.accounting.rounding import fraction_up
from dpselect.checks import (
    finite_bounds,
    one_of,
    positive_count,
    positive_sensitivity,
    probability,
)
from dpselect.errors import InvalidDataError, InvalidParameterError, Shown
from dpselect.grids import Grid
from dpselect.mechanisms.mechanism import MechanismValue
from dpselect.mechanisms.numbers import FloatArray, exact_value, native_whole, scale_of
from dpselect.mechanisms.piecewise import ConcaveMechanism
from dpselect.mechanisms.scores import ScoresLike, plain_points, plain_values
from dpselect.privacy import Neighbours

_LOW_BITS = 31


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

    costs = LaplaceProfileEvent

    epsilon: float
    sensitivity: float
    neighbours: Neighbours = Neighbours.ADD_REMOVE
    bounds: tuple[float | Fraction, float | Fraction] | None = None
    _ends: tuple[float, float] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        MechanismValue.__post_init__(self)
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
        return min(max(draw_peak(sampler, exact_value(value)), self._ends[0]), self._ends[1])

    def cdf(self, value: float | Fraction, points: npt.ArrayLike) -> FloatArray:
        """Probability of an answer not above each of `points`, if the value were this. For planning."""
        center, at = exact_value(value), plain_points(points)
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


@dataclass(frozen=True, slots=True, kw_only=True)
class MeanMechanism(MechanismValue):
    r"""Releases the mean of bounded numbers, one per unit; the number of values, or of units, is public.

    ``score="absolute"``: density proportional to :math:`e^{-|y - mean|/b}` over the line, the Laplace distribution with
    ``b = (upper - lower) / (n * epsilon)``; the answer is clamped to the bounds afterwards. ``score="squared"``:
    density proportional to :math:`e^{-(y - mean)^2/b}` *within the bounds*, a truncated normal distribution with
    ``b = 2 * (upper - lower)**2 / (n * epsilon)``. Without bounds the squared score has no finite sensitivity and its
    normal distribution is not `epsilon`-DP for any epsilon. For n above about ``2/epsilon`` the absolute score has the
    smaller error.

    Values are rounded to a public grid and added up as integers, so the mean is exact. A sum of floats may change by
    more than the values do, which has broken published libraries.

    Args:
        score: ``"absolute"`` or ``"squared"``.
        neighbours: ``"replace_one"``, and nothing else: if a unit is added or removed, n is private, and the mean's
            sensitivity is unknown.

    Proof: ``proofs/means.md``. Sources: Dwork, McSherry, Nissim & Smith (2006); Casacuberta et al. (2022) for the sum.

    >>> mechanism = MeanMechanism(epsilon=1.0, bounds=(0, 100), step=0.01)
    >>> mechanism.sensitivity_for(1000)
    0.1
    >>> 38 < mechanism.draw([40.0] * 1000) < 42
    True
    """

    epsilon: float
    bounds: tuple[float | Fraction, float | Fraction]
    step: float | Fraction
    score: Literal["absolute", "squared"] = "absolute"
    neighbours: Neighbours = Neighbours.REPLACE_ONE
    _grid: Grid = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        MechanismValue.__post_init__(self)
        one_of(self.score, "score", ("absolute", "squared"))
        self._set(_grid=Grid.dividing(*_bounded(self.bounds), step=self.step))
        if self.neighbours is not Neighbours.REPLACE_ONE:
            hint = "The number of values is public here; a unit added or removed changes it."
            raise InvalidParameterError("neighbours", Shown(repr(str(self.neighbours))), "'replace_one'", hint)

    @property
    def event(self) -> BoundedRangeEvent | LaplaceProfileEvent:
        if self.score == "squared":
            return BoundedRangeEvent(epsilon=self.epsilon)
        return LaplaceProfileEvent(epsilon=self.epsilon)

    def sensitivity_for(self, n: int) -> float:
        """How much the score of any answer can change between neighbours of n values each, rounded up.

        This is ``(upper - lower) / n``, or ``(2 n - 1) / n**2 * (upper - lower)**2`` for the squared score. The squared
        score's scale comes from less than twice that: its changes at any two answers differ by at most
        ``2 * (upper - lower)**2 / n``.

        Raises:
            InvalidParameterError: n is not a whole number >= 1.
        """
        n = positive_count(n, "n")
        if self.score == "absolute":
            return fraction_up(self._width / n)
        return fraction_up(self._width**2 * Fraction(2 * n - 1, n**2))

    def scale_for(self, n: int) -> float:
        """The scale b for n values, in the unit of the score."""
        widths = self._width if self.score == "absolute" else 2 * self._width**2
        try:
            return float(widths / positive_count(n, "n") / Fraction(self.epsilon))
        except OverflowError:
            return math.inf

    def error_bound(self, n: int, *, confidence: float = 0.99) -> float:
        """With probability `confidence` the answer is at most this far from the mean, for the absolute score.

        It is infinite if it does not fit into a double. It does not depend on the values, so it may be published.

        Args:
            n: number of values.

        Raises:
            InvalidParameterError: an argument is out of range, or the score is the squared one.

        Proof: ``proofs/means.md``, claim 5.

        >>> round(MeanMechanism(epsilon=1.0, bounds=(0, 100), step=1).error_bound(1000), 3)  # 0.1 ln 100
        0.461
        """
        if self.score == "squared":
            raise InvalidParameterError(
                "score", Shown("'squared'"), "'absolute', because no bound is stated for this one"
            )
        noise = -math.log1p(-probability(confidence, "confidence")) * self.scale_for(n)
        # What is released is rounded once, to the nearest double.
        return min(noise * (1.0 + 1e-9) + max(math.ulp(float(end)) for end in self._ends), fraction_up(self._width))

    def draw(self, values: ScoresLike) -> float:
        """Draw the mean of `values`, at the cost of `epsilon`.

        Args:
            values: shape ``(n,)``, ``n >= 1``, numbers of any float or integer type; infinities are clamped to the
                bounds.

        Returns:
            A number within the bounds: the exact draw rounded once to the nearest double.

        Raises:
            InvalidDataError: `values` is not one-dimensional, not numeric, empty, or contains NaN. Nothing is drawn
                then.
        """
        mean, count = self._mean(values)
        # Distances in widths: the score then changes by 1 / n, or has range 2 / n, and no square can overflow.
        factor = 1 if self.score == "absolute" else 2
        sampler = _core.PiecewiseSampler(self.epsilon, positive_sensitivity(Fraction(1, count)), factor)
        lower, upper = (float(end) for end in self._ends)
        if self.score == "squared":
            return draw_peak(sampler, mean, bounds=self._ends, unit=self._width, is_squared=True)
        return min(max(draw_peak(sampler, mean, unit=self._width), lower), upper)

    def cdf(self, values: ScoresLike, points: npt.ArrayLike) -> FloatArray:
        """Probability of an answer not above each of `points`, if the values were these. For planning."""
        mean, count = self._mean(values)
        if self.score == "absolute":
            most = positive_sensitivity(self._width / count)
            return LaplaceMechanism(epsilon=self.epsilon, sensitivity=most, bounds=self._ends).cdf(mean, points)
        shares = (plain_points(points) / 2.0 - float(self._grid.lower) / 2.0) / float(self._width / 2)
        at_mean = float((mean - self._grid.lower) / self._width)
        normal = ConcaveMechanism(epsilon=self.epsilon, sensitivity=1.0 / count)
        return normal.law([0.0, 1.0], [2.0 * at_mean, 2.0 * at_mean - 2.0]).cdf(shares)

    @property
    def _ends(self) -> tuple[Fraction, Fraction]:
        return self._grid.lower, self._grid.upper

    @property
    def _width(self) -> Fraction:
        return self._grid.upper - self._grid.lower

    def _mean(self, values: ScoresLike) -> tuple[Fraction, int]:
        """The exact mean of the values' grid points, and over how many."""
        plain = plain_values(values)
        if not plain.size:
            raise InvalidDataError("values", Shown("<empty>"), "at least one number")
        total = exact_sum(grid_indices(plain, self._grid))
        return self._grid.lower + self._grid.step * Fraction(total, plain.size), plain.size


@np.errstate(all="ignore")  # a value near zero may underflow; the caller's settings must not make that an error
def grid_indices(values: FloatArray, grid: Grid) -> npt.NDArray[np.uint64]:
    """The index of the grid point nearest to each value; values beyond an end count as that end."""
    lower, upper = float(grid.lower), float(grid.upper)
    share = np.clip(values, lower, upper) / 2.0 - lower / 2.0  # halves, so that nothing overflows
    places = np.rint(share / float(grid.step) * 2.0)
    return np.minimum(np.maximum(places, 0.0).astype(np.uint64), np.uint64(grid.count - 1))


def exact_sum(numbers: npt.NDArray[np.uint64]) -> int:
    """The sum of up to 2^31 numbers, which may be larger than 64 bits; their order does not matter."""
    high, low = numbers >> np.uint64(_LOW_BITS), numbers & np.uint64((1 << _LOW_BITS) - 1)
    return (int(high.sum(dtype=np.uint64)) << _LOW_BITS) + int(low.sum(dtype=np.uint64))


def _bounded(bounds: object) -> tuple[Fraction, Fraction]:
    try:
        return finite_bounds(bounds)
    except InvalidParameterError as refused:
        is_line = bounds is None or "inf" in refused.got
        hint = "On the whole line one value could move the mean, and its score, by any amount." if is_line else ""
        raise InvalidParameterError(refused.name, refused.got, refused.expected, hint) from None
