"""Prices as whole multiples of one common unit, so that revenues are whole numbers and nothing is ever rounded."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice
from numbers import Integral
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from dpselect.checks import decimal_fraction, double_holds
from dpselect.errors import InvalidCandidatesError, InvalidParameterError, Shown, describe

Price = int | float | Fraction

MOST_PRICES = 1_000_000
"""A longer list is refused, because it describes a range."""

MOST_UNITS = 2**40
"""The highest price allowed, in common units. Revenues 2^63 units apart are then millions of highest prices apart."""

_LONGEST_DENOMINATOR = 2200
"""Bits of a denominator: any double is more than `MOST_UNITS` of a common unit this small."""

_ACCEPTED = "finite numbers > 0"


@dataclass(frozen=True, slots=True, eq=False)
class PriceUnits:
    """A public list of prices, checked, in the caller's order.

    Attributes:
        prices: each as an ``int`` or the float that is written like it; a `Fraction` where there is no such float.
        multiples: shape ``(m,)``, int64, read-only: each price in units.
        unit: the largest number that all prices are whole multiples of.
        order: positions of the prices from the lowest to the highest.
        thresholds: shape ``(m,)``, float64, increasing: the doubles nearest to the prices.
    """

    prices: tuple[Price, ...]
    multiples: NDArray[np.int64]
    unit: Fraction
    order: NDArray[np.int64]
    thresholds: NDArray[np.float64]

    @classmethod
    def of(cls, prices: object) -> PriceUnits:
        """`prices` as the caller gave them. A float means the decimal number it is written as.

        Raises:
            InvalidCandidatesError: none, too many, not positive numbers, two that are the same double, one beyond 2^52
                that is no double, or with too small a common unit. The text quotes none of them: someone will pass
                the offers by mistake.

        >>> listed = PriceUnits.of([0.5, 0.2, 1])
        >>> listed.multiples.tolist(), listed.unit
        ([5, 2, 10], Fraction(1, 10))
        """
        members = _members(prices)
        exact = [_positive(member, prices) for member in members]
        shown = tuple(_plain(member, number) for member, number in zip(members, exact, strict=True))
        multiples, unit = _in_units(exact, prices)
        order = np.argsort(multiples, kind="stable")
        thresholds = np.array([float(number) for number in exact], np.float64)[order]
        if not (np.diff(thresholds) > 0.0).all():
            raise _refusal(prices, "different prices", "Each at most once, and apart as doubles.")
        for array in (multiples, order, thresholds):
            array.setflags(write=False)
        return cls(shown, multiples, unit, order, thresholds)

    @property
    def highest(self) -> int:
        """The highest price in units."""
        return int(self.multiples[self.order[-1]])

    @property
    def lowest(self) -> int:
        """The lowest price in units."""
        return int(self.multiples[self.order[0]])

    @property
    def second_highest(self) -> int:
        """The second highest price in units; 0 if there is only one."""
        return int(self.multiples[self.order[-2]]) if self.order.size > 1 else 0


_NOT_LISTS: tuple[type, ...] = (type(None), str, bytes, bytearray, Mapping)


def _members(prices: Any) -> list[object]:
    if isinstance(prices, _NOT_LISTS) or hasattr(prices, "columns"):
        raise _refusal(prices, "a public list of prices", "Such as prices=range(1, 101) or prices=[4.5, 5, 6].")
    members = prices
    for method in ("to_list", "tolist"):  # pandas, Polars; NumPy, Arrow
        convert = getattr(prices, method, None)
        if callable(convert):
            members = convert()
            break
    if not isinstance(members, Iterable):
        raise _refusal(prices, "a public list of prices")
    found = list(islice(cast("Iterable[object]", members), MOST_PRICES + 1))  # it may have no end
    if not found:
        raise _refusal(prices, "at least one price")
    if len(found) > MOST_PRICES:
        raise _refusal(prices, f"at most {MOST_PRICES:,} prices")
    return found


def _positive(member: object, prices: object) -> int | Fraction:
    if type(member) is int and 0 < member <= MOST_UNITS:
        return member  # a long range is refused early
    if type(member) is Fraction and 0 < member.numerator < 2**52 and float(member) > 0.0:
        return member if member.denominator > 1 else member.numerator  # of a long grid, too
    try:
        exact = decimal_fraction(member, "prices", expected=_ACCEPTED)
    except InvalidParameterError:
        exact = Fraction(0)
    if not float(exact) > 0.0:  # also a number so small that its double is 0
        raise _refusal(prices, _ACCEPTED, "One of them is not, or is missing, or is no number a double can hold.")
    if not double_holds(exact):
        raise _refusal(prices, "prices that doubles hold", "From 2^53 on, doubles skip whole numbers.")
    return exact


def _plain(member: object, exact: int | Fraction) -> Price:
    if isinstance(member, Integral):
        return int(member)
    nearest = float(exact)
    return nearest if isinstance(exact, int) or Fraction(repr(nearest)) == exact else exact


def _in_units(exact: Sequence[int | Fraction], prices: object) -> tuple[NDArray[np.int64], Fraction]:
    denominator = 1
    for part in {number.denominator for number in exact}:
        denominator = math.lcm(denominator, part)
        if denominator.bit_length() > _LONGEST_DENOMINATOR:
            raise _too_fine(prices)
    numerators = [number.numerator * (denominator // number.denominator) for number in exact]
    divisor = math.gcd(*numerators)
    if max(numerators) // divisor > MOST_UNITS:
        raise _too_fine(prices)
    multiples = np.array([numerator // divisor for numerator in numerators], np.int64)
    return multiples, Fraction(divisor, denominator)


def _too_fine(prices: object) -> InvalidCandidatesError:
    expected = "prices of at most 2^40 times their largest common unit"
    return _refusal(prices, expected, "Round them, to cents say: round(price, 2).")


def _refusal(prices: object, expected: str, hint: str = "") -> InvalidCandidatesError:
    return InvalidCandidatesError("prices", Shown(describe(prices)), expected, hint)
