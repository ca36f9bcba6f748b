r"""Noisy sums from which the mean, the variance and the number of units follow, at one cost for all of them.

With a unit's value as a share :math:`u` of the distance between the bounds, the sums of :math:`1 - u` and :math:`u`
give the number of units and the mean; those of :math:`(1 - u)^2`, :math:`2u(1 - u)` and :math:`u^2` the variance as
well. What one unit adds to them is never negative and always adds up to 1. So each of the sums is as accurate as if it
alone were released.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from dpselect.accounting.rounding import fraction_up, quotient_down
from dpselect.errors import InvalidParameterError, Shown
from dpselect.grids import Grid
from dpselect.mechanisms import GeometricMechanism, NoisyHistogramMechanism
from dpselect.mechanisms.mean import exact_sum, grid_indices
from dpselect.privacy import Neighbours
from dpselect.questions.question import CONFIDENCE, LARGEST_COUNT, NoisyUnits

_MOST_STEPS = {1: 2**53, 2: 2**26}
"""So that the sensitivity of the sums is a whole number that a double holds."""

_WIDEST = 2**53

_FARTHEST = {1: Fraction(10) ** 150, 2: Fraction(10) ** 75}
"""A bound beyond this, or bounds closer than one over this, would take sums and errors out of the range of doubles."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MomentSums:
    """The sums of one unit's shares, in whole numbers, and their noise.

    Attributes:
        grid: the public grid that values are rounded to.
        degree: 1 for the mean, 2 for the variance.
        mechanism: adds noise to each of the sums, at one cost for all.

    Proof: ``proofs/moments.md``.
    """

    grid: Grid
    degree: int
    mechanism: GeometricMechanism

    @classmethod
    def planned(cls, grid: Grid, degree: int, *, epsilon: float, neighbours: Neighbours) -> MomentSums:
        """The sums, planned for a cost of `epsilon`.

        Raises:
            InvalidParameterError: `epsilon` is not a finite number > 0, or too small for an answer to be of use; or the
                grid has too many points.

        >>> sums = MomentSums.planned(Grid(Fraction(0), Fraction(1), 121), 1, epsilon=0.5, neighbours="add_remove")
        >>> sums.mechanism.scale, sums.whole  # 120/epsilon
        (240.0, 120)
        """
        far = _FARTHEST[degree]
        if max(abs(grid.lower), abs(grid.upper)) > far or grid.upper - grid.lower < 1 / far:
            got, most = Shown(f"({float(grid.lower)!r}, {float(grid.upper)!r})"), f"{float(far):g}"
            expected = f"bounds from -{most} to {most}, at least {1.0 / float(far):g} apart"
            raise InvalidParameterError("bounds", got, expected, "Tight bounds also need less noise.")
        if grid.count - 1 > _MOST_STEPS[degree]:
            expected = f"a larger step: at most {_MOST_STEPS[degree]:,} of them between the bounds"
            raise InvalidParameterError("step", float(grid.step), expected)
        moved = (grid.count - 1) ** degree * (1 if neighbours == Neighbours.ADD_REMOVE else 2)
        sums = cls(
            grid=grid,
            degree=degree,
            mechanism=GeometricMechanism(epsilon=epsilon, sensitivity=moved, neighbours=neighbours),
        )
        if not sums.units_within <= _WIDEST:
            raise InvalidParameterError("epsilon", epsilon, "a number large enough for a useful answer")
        return sums

    @property
    def whole(self) -> int:
        """What one unit's shares add up to."""
        return (self.grid.count - 1) ** self.degree

    @property
    def width(self) -> Fraction:
        """The distance between the bounds."""
        return self.grid.step * (self.grid.count - 1)

    def exact(self, values: npt.NDArray[np.float64]) -> list[int]:
        """The sums of the units' shares, of one value for each unit; private."""
        places, last, units = grid_indices(values, self.grid), self.grid.count - 1, int(values.size)
        total = exact_sum(places)
        if self.degree == 1:
            return [units * last - total, total]
        squares = exact_sum(places * places)
        return [units * last**2 - 2 * last * total + squares, 2 * (last * total - squares), squares]

    def draw(self, values: npt.NDArray[np.float64]) -> list[int]:
        """The noisy sums: all of them together cost the mechanism's epsilon, because it is planned for all."""
        return [self.mechanism.draw(each) for each in self.exact(values)]

    def units(self, noisy: list[int]) -> int:
        """The number of units by noisy sums, rounded down; at least 0."""
        return min(max(0, sum(noisy) // self.whole), LARGEST_COUNT)

    def mean(self, noisy: list[int]) -> float:
        """The mean by noisy sums, within the bounds; their midpoint if there seem to be no units."""
        share = _clamped(Fraction(noisy[1], sum(noisy)), 1) if sum(noisy) > 0 else Fraction(1, 2)
        return float(self.grid.lower + self.width * share)

    def variance(self, noisy: list[int]) -> float:
        """The variance by noisy sums, at most a quarter of the squared width; half of that if there is no unit."""
        total, most = sum(noisy), Fraction(1, 4)
        if total <= 0:
            return float(self.width**2 * most / 2)
        mean, square = Fraction(noisy[1] + 2 * noisy[2], 2 * total), Fraction(noisy[2], total)
        return float(self.width**2 * _clamped(square - mean**2, most))

    @property
    def units_within(self) -> int:
        """With 99% confidence the released number of units is at most this far from the truth.

        Proof: ``proofs/moments.md``, claim 4.
        """
        noise = NoisyHistogramMechanism(
            epsilon=quotient_down(self.mechanism.epsilon, self.whole), neighbours=self.mechanism.neighbours
        )
        return -(-noise.total_error_bound(self.degree + 1, confidence=CONFIDENCE) // self.whole)

    @property
    def usable(self) -> NoisyUnits:
        """The accuracy of the number of units, which comes at no cost."""
        return NoisyUnits(within=self.units_within)

    @property
    def error_bound(self) -> float:
        """The error of the mean, or of the variance up to a smaller term, times the released number of units.

        Proof: ``proofs/moments.md``, claims 5 and 6.
        """
        noise: int | Fraction = self.mechanism.error_bound(CONFIDENCE, size=self.degree + 1)
        if self.degree == 1:
            exponent = Fraction(-math.log1p(-CONFIDENCE) * (1.0 + 1e-12))
            noise = min(noise, exponent * self.mechanism.sensitivity / Fraction(self.mechanism.epsilon) + 1)
        return fraction_up(Fraction(noise) * self.width**self.degree / self.whole)


def _clamped(number: Fraction, most: Fraction | int) -> Fraction:
    return min(max(number, Fraction(0)), Fraction(most))
