"""Numbers as people read them: three digits, decimal points below each other."""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import ROUND_CEILING, ROUND_HALF_EVEN, Decimal

_DIGITS = 3
_PLAIN = range(-3, 9)
"""Powers of ten that are written out."""


def figure(value: float, *, up: bool = False) -> str:
    """A number >= 0 with three significant digits, and never fewer than those before the point.

    Args:
        value: what to show.
        up: never round down: for bounds, and for what has to be enough.

    >>> [figure(value) for value in (0.0, 4.2653, 99.96, 1521.7, 4, 1.23456e-7, 12345678900.0)]
    ['0', '4.27', '100.0', '1,522', '4', '1.23e-07', '1.23e+10']
    >>> figure(4.261, up=True), figure(0.1, up=True), figure(9.999e-5, up=True)
    ('4.27', '0.100', '1.00e-04')
    """
    if not math.isfinite(value):
        return "inf"
    exact = Decimal(repr(float(value)))  # the number as people write it: 0.1 is not rounded up for its last bits
    power = exact.adjusted() if exact else 0
    if power in _PLAIN:
        if exact == exact.to_integral_value():
            return f"{exact.to_integral_value():,f}"
        decimals = max(0, _DIGITS - 1 - power)
        return f"{_rounded(exact, decimals, up=up):,f}"
    scaled = _rounded(exact.scaleb(-power), _DIGITS - 1, up=up)
    if scaled == 10:
        scaled, power = Decimal("1.00"), power + 1
    return f"{scaled:f}e{power:+03d}"


def _rounded(exact: Decimal, decimals: int, *, up: bool) -> Decimal:
    return exact.quantize(Decimal(1).scaleb(-decimals), rounding=ROUND_CEILING if up else ROUND_HALF_EVEN)


def exact(value: float) -> str:
    """A number as it was given, without a decimal point if it needs none.

    >>> exact(1.0), exact(0.125), exact(1e-6)
    ('1', '0.125', '1e-06')
    """
    return repr(value).removesuffix(".0")


def percent(share: float) -> str:
    """A share as percentage, all its digits: 0.9999999 is not 100 %.

    >>> percent(0.99), percent(0.9999999), percent(0.5)
    ('99 %', '99.99999 %', '50 %')
    """
    return f"{(Decimal(repr(share)) * 100).normalize():f} %"


def aligned(texts: Sequence[str]) -> list[str]:
    """`texts` of one width, their decimal points below each other.

    >>> aligned(["1,522", "4.27"])
    ['1,522   ', '    4.27']
    """
    places = [text.find(".") if "." in text else len(text) for text in texts]
    before = max(places)
    after = max(len(text) - place for text, place in zip(texts, places, strict=True))
    return [
        " " * (before - place) + text + " " * (after - len(text) + place)
        for text, place in zip(texts, places, strict=True)
    ]
