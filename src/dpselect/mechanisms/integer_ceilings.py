"""Public ceilings for scores on the whole numbers: they make the sum over all weights finite, and a draw possible."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import cast

from dpselect.arguments import exact_number, whole_number
from dpselect.errors import InvalidParameterError, Shown

Number = int | float | Fraction


@dataclass(frozen=True, slots=True, kw_only=True)
class IntegerCeiling:
    """A public line that no score lies above: it falls linearly on both sides of a centre, as far as the ends.

    Args:
        center: the whole number where the ceiling is highest; a good guess at the best number makes draws fast.
        fall: how much the ceiling falls per step, in the unit of the scores; one number, or ``(left, right)``. It has
            to be above 0 on an unbounded side, and at least 0 on a bounded one.
        height: the ceiling at the centre.
        lower: the smallest whole number that may be drawn; None if there is none.
        upper: the largest; None if there is none.

    Numbers are taken exactly: a float is its binary fraction.

    Raises:
        InvalidParameterError: an argument is out of range, or weights under this ceiling have no finite sum.

    >>> ceiling = IntegerCeiling(center=70, fall=(1, 0.5), height=10, lower=0)
    >>> [float(ceiling.at(point)) for point in (68, 70, 74)]
    [8.0, 10.0, 8.0]
    """

    center: int
    fall: Number | tuple[Number, Number]
    height: Number = 0
    lower: int | None = None
    upper: int | None = None

    def __post_init__(self) -> None:
        center = whole_number(self.center, "center")
        lower, upper = (
            None if end is None else whole_number(end, name, expected="a whole number or None")
            for name, end in (("lower", self.lower), ("upper", self.upper))
        )
        object.__setattr__(self, "center", center)  # NumPy's integers would wrap around
        object.__setattr__(self, "lower", lower)
        object.__setattr__(self, "upper", upper)
        if not (lower is None or lower <= center) or not (upper is None or center <= upper):
            raise InvalidParameterError("center", self.center, "a whole number from lower to upper")
        exact_number(self.height, "height")
        for side, fall, end in (("left", self.falls[0], lower), ("right", self.falls[1], upper)):
            if fall < 0:
                raise InvalidParameterError("fall", float(fall), "numbers >= 0", "The centre is where it is highest.")
            if fall == 0 and end is None:
                hint = f"The {side} side is unbounded, so weights under a flat ceiling have no finite sum. Bound it."
                raise InvalidParameterError("fall", 0, "a number > 0 on an unbounded side", hint)

    @property
    def falls(self) -> tuple[Fraction, Fraction]:
        """`fall` on the left and on the right, exactly."""
        expected = "a finite number >= 0, or two: (left, right)"
        if isinstance(cast(object, self.fall), tuple | list):
            pair = cast("tuple[object, ...]", self.fall)
            if len(pair) != 2:
                raise InvalidParameterError("fall", Shown(f"<{len(pair)} of them>"), expected)
            return exact_number(pair[0], "fall", expected=expected), exact_number(pair[1], "fall", expected=expected)
        both = exact_number(self.fall, "fall", expected=expected)
        return both, both

    def at(self, point: int) -> Fraction:
        """The ceiling at `point`, exactly."""
        distance = point - self.center
        return exact_number(self.height, "height") - self.falls[distance > 0] * abs(distance)

    def contains(self, point: int) -> bool:
        """Whether `point` may be drawn."""
        return (self.lower is None or self.lower <= point) and (self.upper is None or point <= self.upper)

    @property
    def reaches(self) -> tuple[int | None, int | None]:
        """How many steps there are to the left and to the right of the centre; None if there is no end."""
        left = None if self.lower is None else self.center - self.lower
        return left, None if self.upper is None else self.upper - self.center


def side_total(rate: float, last: int | None) -> float:
    """The sum of ``exp(-rate * k)`` over ``k = 0 .. last``.

    >>> side_total(math.log(2), 1), round(side_total(math.log(2), None), 9), side_total(0.0, 6)
    (1.5, 2.0, 7.0)
    """
    if rate == 0.0:
        return math.inf if last is None else last + 1.0
    whole = -math.expm1(-rate)
    return 1.0 / whole if last is None else -math.expm1(-rate * (last + 1)) / whole
