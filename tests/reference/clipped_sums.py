"""Sums of clipped whole amounts, in exact fractions, and all their neighbours by brute force.

Proof: ``proofs/clipped_sums.md``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import product

Row = tuple[str | None, str | None, int | Fraction | None]
"""Unit, value and number; each may be missing."""

Contribution = tuple[tuple[str | None, int | None], ...]
"""Candidate and number in each of one unit's rows."""

Data = Mapping[str, Contribution]

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


def sums(data: Data, candidates: Sequence[str], *, clip: tuple[int, int], most: int = LARGEST) -> tuple[int, ...]:
    """The score of each candidate; sums beyond `most` count as it, in either direction.

    >>> sums({"ann": (("x", 3), ("x", 9)), "bob": (("x", -9), ("y", 1))}, ["x", "y"], clip=(-2, 5))
    (3, 1)
    """
    rows = ((unit, what, number) for unit, own in data.items() for what, number in own)
    totals = clipped_totals(rows, candidates=candidates, lower=clip[0], upper=clip[1])
    return tuple(max(-most, min(most, total)) for total in totals)


def add_remove_pairs(units: Sequence[str], contributions: Sequence[Contribution]) -> Iterator[tuple[Data, Data]]:
    """Every ordered pair of data sets of which one has all rows of one more unit than the other."""
    for chosen in product(contributions, repeat=len(units)):
        larger = dict(zip(units, chosen, strict=True))
        for unit in units:
            smaller = {other: rows for other, rows in larger.items() if other != unit}
            yield larger, smaller
            yield smaller, larger


def replace_one_pairs(units: Sequence[str], contributions: Sequence[Contribution]) -> Iterator[tuple[Data, Data]]:
    """Every ordered pair of data sets that differ in all rows of one unit."""
    for chosen in product(contributions, repeat=len(units)):
        data = dict(zip(units, chosen, strict=True))
        for unit in units:
            for rows in contributions:
                yield data, data | {unit: rows}


def movements(
    pairs: Iterable[tuple[Data, Data]], candidates: Sequence[str], *, clip: tuple[int, int], most: int = LARGEST
) -> set[tuple[int, ...]]:
    """Every vector of score changes between the first and the second of a pair."""
    found: set[tuple[int, ...]] = set()
    for first, second in pairs:
        before, after = (sums(data, candidates, clip=clip, most=most) for data in (first, second))
        found.add(tuple(b - a for a, b in zip(before, after, strict=True)))
    return found


def proved_range(clip: tuple[int, int], *, replaced: bool) -> int:
    """``w``: from the least to the most that a unit adds to a candidate, twice that if one is replaced."""
    lower, upper = clip
    return (max(upper, 0) - min(lower, 0)) * (2 if replaced else 1)


def exp_epsilon(root: Fraction, clip: tuple[int, int], *, replaced: bool) -> Fraction:
    """``e ** epsilon`` of a release whose scale is ``1 / ln root``, from ``scale = w / epsilon``."""
    return root ** proved_range(clip, replaced=replaced)
