"""Doubles rounded to the safe side: what is spent is never understated, and what may be spent is never overstated."""

from __future__ import annotations

import math
import sys
from fractions import Fraction


def product_up(value: float, count: int) -> float:
    """The smallest double that is at least ``value * count``; infinite where no finite one is."""
    return fraction_up(Fraction(value) * count)


def fraction_up(exact: Fraction) -> float:
    """The smallest double that is at least `exact`; infinite where no finite one is."""
    try:
        nearest = exact.numerator / exact.denominator
    except OverflowError:
        return math.inf
    return math.nextafter(nearest, math.inf) if nearest < exact else nearest


def fraction_down(exact: Fraction) -> float:
    """The largest double that is at most `exact`.

    >>> fraction_down(Fraction(1, 3)) < Fraction(1, 3) < fraction_up(Fraction(1, 3))
    True
    """
    try:
        nearest = exact.numerator / exact.denominator
    except OverflowError:
        return sys.float_info.max
    return math.nextafter(nearest, -math.inf) if nearest > exact else nearest


def quotient_down(value: float, count: int) -> float:
    """The largest double that is at most ``value / count``: `count` times it never exceeds `value`."""
    return fraction_down(Fraction(value) / count)


def divided(value: float, share: float) -> tuple[float, float]:
    """A share of `value`, and the rest: two doubles that together never exceed it.

    >>> part, rest = divided(0.1, 0.2)
    >>> Fraction(part) + Fraction(rest) <= Fraction(0.1) < Fraction(0.1 * 0.2) + Fraction(0.1 * 0.8)
    True
    """
    part = fraction_down(Fraction(value) * Fraction(share))
    return part, fraction_down(Fraction(value) - Fraction(part))
