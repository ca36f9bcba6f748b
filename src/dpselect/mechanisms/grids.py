"""Public grids: equally spaced points that both ends belong to."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from dpselect._native import _core
from dpselect.arguments import decimal_fraction
from dpselect.errors import InvalidParameterError

_LARGEST_COUNT = 2**62


@dataclass(frozen=True, slots=True)
class Grid:
    """The doubles nearest to ``lower + j * step``, exactly computed, for ``j = 0 .. count - 1``."""

    lower: Fraction
    step: Fraction
    count: int

    @classmethod
    def dividing(cls, lower: Fraction, upper: Fraction, *, step: object) -> Grid:
        """The grid from `lower` to `upper`, or an error if `step` does not lead from one to the other.

        Floats mean the decimals they are written as: 0.1 divides (0, 1) into ten steps, and (0.1, 0.7) into six. Where
        a step is no decimal, give a `fractions.Fraction`.

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
        if steps.numerator >= _LARGEST_COUNT or exact < _spacing(max(abs(lower), abs(upper))):
            raise InvalidParameterError("step", step, "a step that doubles within the bounds can tell apart")
        return cls(lower, exact, steps.numerator + 1)

    def native(self) -> _core.Grid:
        """The grid as the core reads it."""
        denominator = math.lcm(self.lower.denominator, self.step.denominator)
        start, step = int(self.lower * denominator), int(self.step * denominator)
        return _core.Grid(_bytes(start, signed=True), _bytes(step), _bytes(denominator), self.count)


def _spacing(magnitude: Fraction) -> Fraction:
    """The distance between neighbouring doubles there."""
    return Fraction(math.ulp(float(magnitude)))


def _bytes(number: int, *, signed: bool = False) -> bytes:
    return number.to_bytes(number.bit_length() // 8 + 1, "little", signed=signed)
