"""Numbers as people write them: a decimal or a fraction, taken exactly."""

from __future__ import annotations

import re
from decimal import Decimal, InvalidOperation
from fractions import Fraction

MOST_DIGITS = 40
"""Of a whole number, and of each side of a fraction."""


def whole(text: str) -> int:
    """The whole number that is written, also as 1e9.

    Raises:
        ValueError: it is none.

    >>> whole("1e3")
    1000
    """
    try:
        number = Decimal(text)
    except InvalidOperation:
        raise ValueError from None
    if not (number.is_finite() and number.adjusted() < MOST_DIGITS and number == number.to_integral_value()):
        raise ValueError
    return int(number)


def decimal(text: str) -> float | Fraction:
    """The number that is written: as a double if one is written like it, otherwise as a fraction.

    Raises:
        ValueError: no such number.

    >>> decimal("0.1"), decimal("1/3"), decimal("0.12345678901234567890")
    (0.1, Fraction(1, 3), Fraction(1234567890123456789, 10000000000000000000))
    >>> decimal("1152921504606847000") == 2.0**60  # whose shortest decimal this is
    False
    """
    if (fraction := _fraction(text)) is not None:
        return fraction
    if "_" in text:
        raise ValueError
    try:
        number, nearest = Decimal(text), float(text)
    except (InvalidOperation, ValueError):
        raise ValueError from None
    if not number.is_finite() or nearest in (float("inf"), float("-inf")):
        return nearest  # refused by the question
    if number and not (number.adjusted() > -400 and len(text) <= 400):
        raise ValueError
    exact = Fraction(number)
    is_meant = nearest == exact if abs(exact) >= 2**52 else Fraction(repr(nearest)) == exact
    return nearest if is_meant else exact


def _fraction(text: str) -> Fraction | None:
    if not re.fullmatch(r"[+-]?[0-9]{1,40}/[0-9]{1,40}", text) or not int(text.partition("/")[2]):
        return None
    return Fraction(text)
