"""Public grids: equally spaced numbers, including both ends, and numbers that grow apart."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

from dpselect.checks import decimal_fraction
from dpselect.errors import InvalidParameterError

_LARGEST_COUNT = 2**53  # so that the position of every point is exact as a double

_FINEST_STEP = 2  # units in the last place of the larger bound: so no two points are the same double


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
        """The grid from `lower` to `upper`. Floats are read as decimals: 0.1 divides (0, 1) into ten steps."""
        expected = "a finite number > 0 that divides upper - lower into whole steps"
        exact = decimal_fraction(step, "step", expected=expected)
        if exact <= 0:
            raise InvalidParameterError("step", step, expected)
        steps = (upper - lower) / exact
        if steps.denominator != 1:
            hint = "Floats are read as decimals; one third, for example, is the fraction 1/3."
            raise InvalidParameterError("step", step, expected, hint)
        spacing = Fraction(math.ulp(float(max(abs(lower), abs(upper)))))
        if steps.numerator >= _LARGEST_COUNT or exact < _FINEST_STEP * spacing:
            raise InvalidParameterError("step", step, "a larger step: this one is too fine for floating-point numbers")
        return cls(lower, exact, steps.numerator + 1)

    @property
    def upper(self) -> Fraction:
        """The last point."""
        return self.lower + self.width

    @property
    def width(self) -> Fraction:
        """The distance between the first point and the last."""
        return (self.count - 1) * self.step

    def point(self, position: int) -> float:
        """The double nearest to the point at `position`, counted from 0."""
        return float(self.lower + position * self.step)

    def position(self, value: float) -> int:
        """The position of the point nearest to a number within the grid."""
        return round((Fraction(value) - self.lower) / self.step)


_MOST_STEPS = 2**50  # of a growing grid: so that an equally spaced one of the same step reaches as far


def growing_grid(lower: object, *, step: object, growth: Fraction) -> tuple[Fraction, Fraction, tuple[float, ...]]:
    """Numbers that start at `lower` and grow apart: near it by `step`, further away by a share of the distance from it.

    They are ``lower + c * step`` for whole numbers c: 0, 1, and after each c the larger of ``c + 1`` and
    ``ceil(growth * c)``, up to 2^50; `growth` is 1 plus the share. Computed with whole numbers and fractions, they
    are the same on every machine. Returned are `lower` and `step`, floats as the decimals that they are written as, and
    the doubles nearest to the numbers, increasing.
    """
    first = decimal_fraction(lower, "lower", expected="a finite number")
    exact = decimal_fraction(step, "step", expected="a finite number > 0")
    if exact <= 0:
        raise InvalidParameterError("step", step, "a finite number > 0")
    largest = abs(first) + exact * _MOST_STEPS
    if largest > 10**300 or exact < _FINEST_STEP * Fraction(math.ulp(float(largest))):
        raise InvalidParameterError("step", step, "a step that doubles from the lower bound on can distinguish")
    return first, exact, _growing(first, exact, growth)


@lru_cache(maxsize=16)
def _growing(lower: Fraction, step: Fraction, growth: Fraction) -> tuple[float, ...]:
    multiples = [0, 1]
    while multiples[-1] < _MOST_STEPS:
        multiples.append(min(max(multiples[-1] + 1, math.ceil(growth * multiples[-1])), _MOST_STEPS))
    return tuple(float(lower + multiple * step) for multiple in multiples)
