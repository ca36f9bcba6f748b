"""Public grids: equally spaced numbers, including both ends."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from dpselect.arguments import decimal_fraction
from dpselect.errors import InvalidParameterError

_LARGEST_COUNT = 2**53
"""So that the position of every point is exact as a double."""

_FINEST_STEP = 2
"""Units in the last place of the larger bound: so no two points are the same double."""


@dataclass(frozen=True, slots=True)
class Grid:
    """The numbers ``lower + j * step`` for ``j = 0 .. count - 1``, exactly; an answer is the double nearest to one.

    A value counts as the nearest point, or as the lower one if it is midway between two. The core decides this exactly.
    """

    lower: Fraction
    step: Fraction
    count: int

    @classmethod
    def dividing(cls, lower: Fraction, upper: Fraction, *, step: object) -> Grid:
        """The grid from `lower` to `upper`, or an error if `step` does not lead from one to the other.

        Floats are read as decimals: 0.1 divides (0, 1) into ten steps, and (0.1, 0.7) into six. For a step that is not
        a decimal, give a `fractions.Fraction`.

        Raises:
            InvalidParameterError: `step` is not a number > 0, does not divide ``upper - lower``, or is less than two
                units in the last place of the larger bound.

        >>> Grid.dividing(Fraction(0), Fraction(1), step=0.1).count
        11
        """
        expected = "a finite number > 0 that divides upper - lower into whole steps"
        exact = decimal_fraction(step, "step", expected=expected)
        if exact <= 0:
            raise InvalidParameterError("step", step, expected)
        steps = (upper - lower) / exact
        if steps.denominator != 1:
            hint = "Floats are read as decimals; one third, for example, is Fraction(1, 3)."
            raise InvalidParameterError("step", step, expected, hint)
        spacing = Fraction(math.ulp(float(max(abs(lower), abs(upper)))))
        if steps.numerator >= _LARGEST_COUNT or exact < _FINEST_STEP * spacing:
            raise InvalidParameterError("step", step, "a step that doubles within the bounds can distinguish")
        return cls(lower, exact, steps.numerator + 1)

    @property
    def upper(self) -> Fraction:
        """The last point."""
        return self.lower + (self.count - 1) * self.step

    def point(self, position: int) -> float:
        """The double nearest to the point at `position`, counted from 0.

        >>> Grid.dividing(Fraction(0), Fraction(1), step=0.1).point(3)
        0.3
        """
        return float(self.lower + position * self.step)
