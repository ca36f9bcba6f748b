"""What a gap says of a true lead, in exact fractions: noise on whole counts, and exponential noise on scores.

Proof: ``proofs/free_gap.md``, claims 8 and 9.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from itertools import pairwise, product
from math import prod

Noise = Mapping[int, Fraction]
Order = tuple[int, ...]


def normal(weights: Noise) -> dict[int, Fraction]:
    """The law with these weights; if each one's square is at least the product of its neighbours, it is log-concave.

    >>> normal({-1: Fraction(1), 0: Fraction(2), 1: Fraction(1)})[0]
    Fraction(1, 2)
    """
    total = sum(weights.values(), Fraction(0))
    return {offset: weight / total for offset, weight in weights.items()}


def at_least(noise: Noise, distance: int) -> Fraction:
    """H: the chance that one noise is larger than another by this distance or more.

    >>> at_least({0: Fraction(1, 2), 1: Fraction(1, 2)}, 1)
    Fraction(1, 4)
    """
    pairs = product(noise.items(), repeat=2)
    return sum(p * q for (one, p), (other, q) in pairs if one - other >= distance) + Fraction(0)


def orders_and_gaps(
    counts: Sequence[int], noise: Noise, *, k: int, rarest: bool = False
) -> dict[tuple[Order, Order], Fraction]:
    """The joint law of the k largest noisy counts' order and their gaps. Of equal ones the earlier is the better."""
    law: defaultdict[tuple[Order, Order], Fraction] = defaultdict(Fraction)
    sign = -1 if rarest else 1
    for offsets in product(noise, repeat=len(counts)):
        noisy = [sign * (count + offset) for count, offset in zip(counts, offsets, strict=True)]
        order = sorted(range(len(noisy)), key=lambda place: -noisy[place])
        gaps = [noisy[one] - noisy[after] for one, after in pairwise(order)]
        law[tuple(order[:k]), tuple(gaps[:k])] += prod((noise[offset] for offset in offsets), start=Fraction(1))
    return law


def chance_of_gap(law: Mapping[tuple[Order, Order], Fraction], first: Order, gap: int) -> Fraction:
    """Given the first winners, the chance that the last of them is ahead by this gap or more.

    >>> law = orders_and_gaps([0, 0], {0: Fraction(1, 2), 1: Fraction(1, 2)}, k=1)
    >>> chance_of_gap(law, (0,), 1), chance_of_gap(law, (1,), 1)
    (Fraction(1, 3), Fraction(1, 1))
    """
    r = len(first)
    came = sum((chance for (order, _), chance in law.items() if order[:r] == first), Fraction(0))
    far = (chance for (order, gaps), chance in law.items() if order[:r] == first and gaps[r - 1] >= gap)
    return sum(far, Fraction(0)) / came


def lead(counts: Sequence[int], first: Order) -> int:
    """By how much the last of the first winners is truly ahead of all that are left."""
    return counts[first[-1]] - max(count for place, count in enumerate(counts) if place not in first)


def excluded(
    law: Mapping[tuple[Order, Order], Fraction],
    counts: Sequence[int],
    first: Order,
    bound: Callable[[int, int], Fraction],
) -> list[Fraction]:
    """The chance of each gap over its bound, which is a function of the gap and the true lead."""
    true = lead(counts, first)
    gaps = {gaps[len(first) - 1] for order, gaps in law if order[: len(first)] == first}
    return [chance_of_gap(law, first, gap) / bound(gap, true) for gap in gaps if gap >= 1]
