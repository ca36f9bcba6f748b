"""Numbers of the line with noise: one by the Laplace mechanism, and the mean of bounded numbers."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal, cast

import numpy as np
import numpy.typing as npt

from dpselect._native import _core
from dpselect.accounting import BoundedRangeEvent, LaplaceProfileEvent
from dpselect.checks import finite_bounds, fraction_up, one_of, positive_count, positive_sensitivity, probability
from dpselect.errors import InvalidDataError, InvalidParameterError, Shown
from dpselect.grids import Grid
from dpselect.mechanisms.mechanism import HasScale, MechanismValue
from dpselect.mechanisms.numbers import FloatArray, exact_value, native_whole, scale_of
from dpselect.mechanisms.piecewise import ConcaveMechanism
from dpselect.mechanisms.scores import ScoresLike, plain_points, plain_values
from dpselect.privacy import Neighbours


@dataclass(frozen=True, slots=True, kw_only=True)
class LaplaceMechanism(HasScale):
    r"""Releases a number with noise: density proportional to :math:`e^{-|y - value|/b}` over the line.

    The exponential mechanism with the score ``-abs(y - value)``, at b = sensitivity / epsilon: on the whole line, and
    only there, without the factor two. So `bounds` do not restrict the distribution; they clamp the released number.

    Args:
        sensitivity: the largest change of the value between neighbouring data sets, > 0. It refers to the number you
            *pass*: if you rounded it, or added up floats, rounding may have increased the change.
        bounds: ``(lower, upper)``, public: an answer beyond them becomes the nearer one.

    Proof: ``proofs/laplace_mechanism.md``. Source: Dwork, McSherry, Nissim & Smith (2006).

    >>> mechanism = LaplaceMechanism(epsilon=0.5, sensitivity=1)
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
        ends = None if self.bounds is None else tuple(map(float, finite_bounds(self.bounds)))
        self._set(bounds=ends, _ends=ends or (-math.inf, math.inf))

    def draw(self, value: float | Fraction) -> float:
        """A finite number plus noise, rounded once to the nearest finite double, at the cost of `epsilon`.

        A float counts as the binary number that it is.
        """
        above, below = exact_value(value).as_integer_ratio()
        unit = native_whole(below)
        sampler = _core.PiecewiseSampler(self.epsilon, self.sensitivity, 1)
        drawn = sampler.draw_peak(native_whole(above, signed=True), None, None, unit, unit, False)
        return min(max(drawn, self._ends[0]), self._ends[1])

    def cdf(self, value: float | Fraction, points: npt.ArrayLike) -> FloatArray:
        """Probability of an answer not above each of `points`, if the value were this. For planning."""
        center, at = exact_value(value), plain_points(points)
        near = float(center)
        with np.errstate(over="ignore", under="ignore"):
            scaled = ((at - near) - float(center - Fraction(near))) * (self.epsilon / self.sensitivity)
            tail = np.exp(-np.abs(scaled)) / 2.0
        inside = np.where(scaled < 0.0, tail, 1.0 - tail)
        return np.where(at < self._ends[0], 0.0, np.where(at >= self._ends[1], 1.0, inside))


@dataclass(frozen=True, slots=True, kw_only=True)
class MeanMechanism(MechanismValue):
    r"""Releases the mean of bounded numbers, one per unit; the number of values, or of units, is public.

    ``score="absolute"``: `LaplaceMechanism` with ``b = (upper - lower) / (n * epsilon)``. ``score="squared"``: density
    proportional to :math:`e^{-(y - mean)^2/b}` *within the bounds*, a truncated normal distribution with
    ``b = 2 * (upper - lower)**2 / (n * epsilon)``. For n above about ``2/epsilon`` the first has the smaller error.

    Values are rounded to a public grid and added up as integers, so the mean is exact. A sum of floats may change by
    more than the values do, which has broken published libraries.

    Args:
        score: ``"absolute"`` or ``"squared"``.
        neighbours: ``"replace_one"``, and nothing else: if a unit is added or removed, n is private.

    Proof: ``proofs/means.md``. Sources: Dwork, McSherry, Nissim & Smith (2006); Casacuberta et al. (2022) for the sum.

    >>> 38 < MeanMechanism(epsilon=1.0, bounds=(0, 100), step=0.01).draw([40.0] * 1000) < 42
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
        try:
            ends = finite_bounds(self.bounds)
        except InvalidParameterError as refused:
            is_line = cast(object, self.bounds) is None or "inf" in refused.got
            hint = "On the whole line one value could move the mean, and its score, by any amount." if is_line else ""
            raise InvalidParameterError(refused.name, refused.got, refused.expected, hint) from None
        self._set(_grid=Grid.dividing(*ends, step=self.step))
        if self.neighbours is not Neighbours.REPLACE_ONE:
            hint = "The number of values is public here; a unit added or removed changes it."
            raise InvalidParameterError("neighbours", Shown(repr(str(self.neighbours))), "'replace_one'", hint)

    @property
    def event(self) -> BoundedRangeEvent | LaplaceProfileEvent:
        return (BoundedRangeEvent if self.score == "squared" else LaplaceProfileEvent)(epsilon=self.epsilon)

    def scale_for(self, n: int) -> float:
        """The scale b for n values, in the unit of the score."""
        widths = self._grid.width if self.score == "absolute" else 2 * self._grid.width**2
        return scale_of(self.epsilon, fraction_up(widths / positive_count(n, "n")), factor=1)

    def error_bound(self, n: int, *, confidence: float = 0.99) -> float:
        """With probability `confidence` the answer is at most this far from the mean, for the absolute score.

        For n values, whatever they are, so it may be published. Infinite if it does not fit into a double.

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
        return min(
            noise * (1.0 + 1e-9) + max(math.ulp(float(end)) for end in self._ends), fraction_up(self._grid.width)
        )

    def draw(self, values: ScoresLike) -> float:
        """Draw the mean of `values`, at least one, rounded once to the nearest double, at the cost of `epsilon`."""
        mean, count = self._mean(values)
        if self.score == "absolute":
            return self._laplace(count).draw(mean)
        # Distances in widths: the score then has range 2 / n, and no square can overflow.
        sampler = _core.PiecewiseSampler(self.epsilon, positive_sensitivity(Fraction(1, count)), 2)
        below = math.lcm(*(each.denominator for each in (mean, *self._ends)))
        at, lower, upper = (native_whole(int(each * below), signed=True) for each in (mean, *self._ends))
        return sampler.draw_peak(
            at, lower, upper, native_whole(int(self._grid.width * below)), native_whole(below), True
        )

    def cdf(self, values: ScoresLike, points: npt.ArrayLike) -> FloatArray:
        """Probability of an answer not above each of `points`, if the values were these. For planning."""
        mean, count = self._mean(values)
        if self.score == "absolute":
            return self._laplace(count).cdf(mean, points)
        shares = (plain_points(points) / 2.0 - float(self._grid.lower) / 2.0) / float(self._grid.width / 2)
        at_mean = float((mean - self._grid.lower) / self._grid.width)
        normal = ConcaveMechanism(epsilon=self.epsilon, sensitivity=1.0 / count)
        return normal.law([0.0, 1.0], [2.0 * at_mean, 2.0 * at_mean - 2.0]).cdf(shares)

    def _laplace(self, n: int) -> LaplaceMechanism:
        most = positive_sensitivity(self._grid.width / n)
        return LaplaceMechanism(epsilon=self.epsilon, sensitivity=most, bounds=self._ends)

    @property
    def _ends(self) -> tuple[Fraction, Fraction]:
        return self._grid.lower, self._grid.upper

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
    high, low = numbers >> np.uint64(31), numbers & np.uint64((1 << 31) - 1)
    return (int(high.sum(dtype=np.uint64)) << 31) + int(low.sum(dtype=np.uint64))
