"""How much one unit may add to a sum: a public column, a scale and two bounds, in whole numbers."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from itertools import count
from typing import Any

from dpselect.accounting.rounding import fraction_up
from dpselect.checks import decimal_fraction, finite_bounds
from dpselect.errors import InvalidParameterError, Shown

_LARGEST = 2**31
_MOST_DIGITS = 20
"""Of a scale in a message."""


@dataclass(frozen=True, slots=True)
class PublicClip:
    """Amounts as whole numbers: a number times `scale`, rounded, and clipped to `lower` ... `upper`.

    Attributes:
        column: name of the column of numbers.
        scale: > 0; 100 counts cents.
        lower: the smallest amount that one unit's rows may add to a candidate, in scaled whole numbers.
        upper: the largest amount, > lower.

    >>> clip = PublicClip.given("paid", (0, 99.5), scale=100)
    >>> clip.lower, clip.upper
    (0, 9950)
    """

    column: str
    scale: Fraction
    lower: int
    upper: int

    @classmethod
    def given(cls, column: object, clip: object, *, scale: object = 1) -> PublicClip:
        """The clip given by the caller; floats are read as decimals.

        Raises:
            InvalidParameterError: `clip` is not two numbers in the unit of the column, the smaller first, whose
                products with `scale` are whole and from -2^31 to 2^31; or `scale` is not a decimal number > 0.
        """
        if not isinstance(column, str):
            raise InvalidParameterError("sum", column, "the name of a column, as text")
        try:
            lower, upper = finite_bounds(clip, "clip")
        except InvalidParameterError as refused:
            hint = "They are public: what one unit may add at least and at most, such as (0, 80)."
            raise InvalidParameterError("clip", refused.got, refused.expected, hint) from None
        factor = _scale(scale)
        ends = lower * factor, upper * factor
        if not all(end.denominator == 1 and abs(end) <= _LARGEST for end in ends):
            got = Shown(f"({float(lower)!r}, {float(upper)!r})")
            if any(abs(end) > _LARGEST for end in ends):
                hint = f"Count in larger units, with a smaller scale: {_smaller_scale(lower, upper)}."
            else:
                hint = "Set scale=100 to count hundredths." if factor == 1 else ""
            raise InvalidParameterError(
                "clip", got, "bounds that are whole when multiplied by the scale, from -2^31 to 2^31", hint
            )
        return cls(column, factor, *map(int, ends))

    @property
    def ends(self) -> tuple[Fraction, Fraction]:
        """The bounds in the unit of the column."""
        return self.lower / self.scale, self.upper / self.scale

    def in_units(self, amount: float) -> float:
        """A scaled `amount` in the unit of the column: the double that is written as it, or else the next above."""
        exact = Fraction(amount) / self.scale
        nearest = fraction_up(exact)
        below = math.nextafter(nearest, -math.inf)
        return below if math.isfinite(nearest) and Fraction(repr(below)) == exact else nearest

    def error_in_units(self, error: float) -> float:
        """A bound on the distance of two sums in the unit of the column: they are whole when scaled.

        >>> PublicClip.given("paid", (0, 99.5), scale=100).error_in_units(250.75)
        2.5
        """
        return self.in_units(math.floor(error)) if error < 2**63 else math.inf

    def description(self) -> dict[str, Any]:
        """What a certificate says of it: the bounds in scaled whole numbers."""
        return {"sum": self.column, "scale": float(self.scale), "lower": self.lower, "upper": self.upper}


def _smaller_scale(lower: Fraction, upper: Fraction) -> str:
    """The largest negative power of ten with which both fit; or an example, if they are not whole then."""
    digits = next(digits for digits in count(1) if max(abs(lower), abs(upper)) <= _LARGEST * 10**digits)
    is_whole = all((end / 10**digits).denominator == 1 for end in (lower, upper))
    return f"scale={10.0**-digits:.{digits}f}" if is_whole and digits < _MOST_DIGITS else "scale=0.001 counts thousands"


def _scale(scale: object) -> Fraction:
    expected = "a decimal number > 0, such as 100 or 0.001"
    factor = decimal_fraction(scale, "scale", expected=expected)
    if not factor > 0 or decimal_fraction(float(factor), "scale", expected=expected) != factor:
        raise InvalidParameterError("scale", scale, expected)
    return factor
