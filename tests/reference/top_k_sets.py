"""The k best as a set, by the exponential mechanism over all sets, exactly. Proof: ``proofs/top_k_sets.md``."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations
from math import comb

Set = tuple[int, ...]


def canonical_score(scores: Sequence[int], members: Set) -> int:
    """The worst score inside less the best one outside.

    >>> canonical_score([5, 1, 3], (0, 1))
    -2
    """
    outside = [score for place, score in enumerate(scores) if place not in members]
    return min(scores[place] for place in members) - max(outside)


def law(scores: Sequence[int], k: int, growth: Fraction) -> dict[Set, Fraction]:
    """Of each set, with probability proportional to ``growth^u``, growth being e^(1/b)."""
    weights = {members: growth ** canonical_score(scores, members) for members in combinations(range(len(scores)), k)}
    total = sum(weights.values())
    return {members: weight / total for members, weight in weights.items()}


def classes(n: int, k: int) -> Iterator[tuple[int, int, int]]:
    """All pairs of the best rank left out, h, and the worst member, t, with the number of their sets; ranks from 1.

    >>> list(classes(3, 1))
    [(2, 1, 1), (1, 2, 1), (1, 3, 1)]
    """
    yield k + 1, k, 1
    for h in range(1, k + 1):
        for t in range(k + 1, n + 1):
            yield h, t, comb(t - h - 1, k - h)


def law_by_classes(scores: Sequence[int], k: int, growth: Fraction) -> dict[Set, Fraction]:
    """The same as the product draws it: a class by its weight, then one of its sets."""
    n = len(scores)
    by_rank = sorted(range(n), key=lambda place: (-scores[place], place))
    ranked = [scores[place] for place in by_rank]
    weights = {(h, t): number * growth ** (ranked[t - 1] - ranked[h - 1]) for h, t, number in classes(n, k)}
    total = sum(weights.values())
    found: dict[Set, Fraction] = {}
    for h, t, number in classes(n, k):
        if not number:
            continue
        for between in combinations(range(h + 1, t), k - h) if h <= k else [()]:
            ranks = [*range(1, h), *between, t] if h <= k else range(1, k + 1)
            members = tuple(sorted(by_rank[rank - 1] for rank in ranks))
            assert members not in found, "each set is of one class"
            found[members] = weights[h, t] / total / number
    return found


def stretch(n: int, k: int, h: int, first: int, last: int) -> int:
    """How many sets have this h and a t from `first` to `last`: the sum of their classes in closed form.

    >>> stretch(9, 3, 2, 4, 7) == sum(comb(t - 2 - 1, 3 - 2) for t in range(4, 8))
    True
    """
    assert h <= k < first <= last <= n
    return comb(last - h, k - h + 1) - comb(first - 1 - h, k - h + 1)


def largest_change(before: Sequence[int], after: Sequence[int], k: int) -> tuple[int, int]:
    """The smallest and the largest change of a set's score."""
    changes = [
        canonical_score(after, members) - canonical_score(before, members)
        for members in combinations(range(len(before)), k)
    ]
    return min(changes), max(changes)
