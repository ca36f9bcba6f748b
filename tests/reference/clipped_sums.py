"""Sums of clipped amounts per candidate, and all their neighbours by brute force.

Proof: ``proofs/clipped_sums.md``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import product

Row = tuple[str | None, int | None]
"""Candidate and amount, in scaled whole numbers; either may be missing."""

Data = Mapping[str, tuple[Row, ...]]
"""The rows of each unit."""


def clipped(amount: int, clip: tuple[int, int]) -> int:
    """The number within the bounds that is nearest to `amount`."""
    lower, upper = clip
    return max(lower, min(upper, amount))


def contribution(rows: Sequence[Row], candidate: str, *, clip: tuple[int, int]) -> int:
    """What one unit's rows add to a candidate: 0 if none of them is about it.

    >>> contribution([("x", 9), ("x", 9), ("y", 1)], "x", clip=(-2, 5))
    5
    >>> contribution([("y", 1)], "x", clip=(2, 5))
    0
    """
    amounts = [clipped(amount, clip) for what, amount in rows if what == candidate and amount is not None]
    return clipped(sum(amounts), clip) if amounts else 0


def sums(data: Data, candidates: Sequence[str], *, clip: tuple[int, int], most: int | None = None) -> tuple[int, ...]:
    """The score of each candidate; with `most`, sums beyond it count as it, in either direction.

    >>> sums({"ann": (("x", 3), ("x", 9)), "bob": (("x", -9), ("y", 1))}, ["x", "y"], clip=(-2, 5))
    (3, 1)
    """
    totals = (sum(contribution(rows, each, clip=clip) for rows in data.values()) for each in candidates)
    return tuple(total if most is None else clipped(total, (-most, most)) for total in totals)


def add_remove_pairs(units: Sequence[str], contributions: Sequence[tuple[Row, ...]]) -> Iterator[tuple[Data, Data]]:
    """Every ordered pair of data sets of which one has all rows of one more unit than the other."""
    for chosen in product(contributions, repeat=len(units)):
        larger = dict(zip(units, chosen, strict=True))
        for unit in units:
            smaller = {other: rows for other, rows in larger.items() if other != unit}
            yield larger, smaller
            yield smaller, larger


def replace_one_pairs(units: Sequence[str], contributions: Sequence[tuple[Row, ...]]) -> Iterator[tuple[Data, Data]]:
    """Every ordered pair of data sets that differ in all rows of one unit."""
    for chosen in product(contributions, repeat=len(units)):
        data = dict(zip(units, chosen, strict=True))
        for unit in units:
            for rows in contributions:
                yield data, data | {unit: rows}


def movements(
    pairs: Iterator[tuple[Data, Data]], candidates: Sequence[str], *, clip: tuple[int, int], most: int | None = None
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
