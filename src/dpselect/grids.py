"""Public grids: equally spaced numbers that both ends belong to."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from dpselect.arguments import decimal_fraction
from dpselect.errors import InvalidParameterError

_LARGEST_COUNT = 2**53
"""So that the position of a point is a double, too."""

_FINEST_STEP = 2
"""In units of the last place of the larger bound: no two points are the same double, and each is nearest to itself."""


@dataclass(frozen=True, slots=True)
class Grid:
    """The numbers ``lower + j * step`` for ``j = 0 .. count - 1``, exactly; an answer is the double nearest to one.

    A value counts as the point nearest to it, midway between two as the lower one. The core decides which, exactly.
    """

    lower: Fraction
    step: Fraction
    count: int

    @classmethod
    def dividing(cls, lower: Fraction, upper: Fraction, *, step: object) -> Grid:
        """The grid from `lower` to `upper`, or an error if `step` does not lead from one to the other.

        Floats mean the decimals they are written as: 0.1 divides (0, 1) into ten steps, and (0.1, 0.7) into six. Where
        a step is no decimal, give a `fractions.Fraction`.

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
            hint = "A third, say, is Fraction(1, 3): a float means the decimal it is written as."
            raise InvalidParameterError("step", step, expected, hint)
        spacing = Fraction(math.ulp(float(max(abs(lower), abs(upper)))))
        if steps.numerator >= _LARGEST_COUNT or exact < _FINEST_STEP * spacing:
            raise InvalidParameterError("step", step, "a step that doubles within the bounds can tell apart")
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
