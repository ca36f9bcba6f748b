"""Sums of clipped whole amounts, in exact fractions.

Proof: ``proofs/clipped_sums.md``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction

Row = tuple[str | None, str | None, int | Fraction | None]
"""Unit, value and number; each may be missing."""

SMALLEST, LARGEST = -(2**63), 2**63 - 1


def row_amount(number: int | Fraction, *, scale: int | Fraction, lower: int, upper: int) -> int:
    """The whole number a row adds: scaled, rounded half to even, clipped.

    >>> [row_amount(Fraction(each, 2), scale=1, lower=-9, upper=9) for each in (1, 3, 5, -1, 99)]
    [0, 2, 2, 0, 9]
    """
    return max(lower, min(upper, round(Fraction(number) * scale)))


def clipped_totals(
    rows: Iterable[Row], *, candidates: Sequence[str], scale: int | Fraction = 1, lower: int, upper: int
) -> tuple[int, ...]:
    """For each candidate the sum of the units' amounts, each of them a clipped sum of clipped amounts.

    A row is left out if its unit, its candidate or its number is missing. A sum that 64 bits cannot hold counts as the
    nearest they can.

    >>> rows = [("ann", "x", 7), ("ann", "x", 7), ("bob", "x", -3), (None, "x", 5), ("bob", "y", None)]
    >>> clipped_totals(rows, candidates=["x", "y"], lower=0, upper=10)
    (10, 0)
    """
    units: dict[tuple[str, str], int] = {}
    for unit, value, number in rows:
        if unit is not None and value is not None and number is not None:
            added = row_amount(number, scale=scale, lower=lower, upper=upper)
            units[unit, value] = units.get((unit, value), 0) + added
    totals = [
        sum(max(lower, min(upper, amount)) for (_, value), amount in units.items() if value == candidate)
        for candidate in candidates
    ]
    return tuple(max(SMALLEST, min(LARGEST, total)) for total in totals)
