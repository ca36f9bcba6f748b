"""The k best as a set with a weight for each candidate, exactly. Proof: ``proofs/top_k_sets.md``, claims 5 and 6."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import combinations
from math import prod

from tests.reference.top_k_sets import Set, canonical_score


def law(scores: Sequence[int], weights: Sequence[Fraction], k: int, growth: Fraction) -> dict[Set, Fraction]:
    """Of each set of those with a weight: proportional to ``growth^u`` times the product of its weights.

    >>> law([0, 1], [Fraction(9), Fraction(2)], 1, Fraction(3))  # 9/3 to 2 * 3
    {(0,): Fraction(1, 3), (1,): Fraction(2, 3)}
    """
    of_sets = _weights_of_sets(scores, weights, k, growth)
    total = sum(of_sets.values())
    return {members: each / total for members, each in of_sets.items()}


def _weights_of_sets(
    scores: Sequence[int], weights: Sequence[Fraction], k: int, growth: Fraction
) -> dict[Set, Fraction]:
    taking_part = [place for place, weight in enumerate(weights) if weight]
    held, found = [scores[place] for place in taking_part], dict[Set, Fraction]()
    for inside in combinations(range(len(held)), k):
        members = tuple(taking_part[place] for place in inside)
        found[members] = growth ** canonical_score(held, inside) * prod(weights[place] for place in members)
    return found


Raised = Callable[[Fraction], Fraction]
"""What makes a number larger, or leaves it as it is."""


def table(
    ranked: Sequence[int], weights: Sequence[Fraction], k: int, growth: Fraction, raised: Raised = lambda each: each
) -> list[list[Fraction]]:
    """Row j < k: after each rank, the sum over all ways to have left out h and have j members so far; row k: sets.

    >>> sum_of_all = table([4, 3, 1], [Fraction(1)] * 3, 1, Fraction(2))[1][3]
    >>> sum_of_all == Fraction(2) + Fraction(1, 2) + Fraction(1, 8)
    True
    """
    n, rows = len(ranked), [[Fraction(0)] * (len(ranked) + 1) for _ in range(k + 1)]
    for row in range(k + 1):
        for rank in range(1, n + 1):
            steps = _steps(ranked, weights, k, growth, rows, row, rank)
            rows[row][rank] = raised(rows[row][rank - 1] + sum(steps.values()))
    return rows


def _steps(
    ranked: Sequence[int],
    weights: Sequence[Fraction],
    k: int,
    growth: Fraction,
    rows: list[list[Fraction]],
    row: int,
    rank: int,
) -> dict[str, Fraction]:
    """What leads into a row at a rank, besides passing the rank by: it is a member, it is h, or the best set ends."""
    if row == k:
        if rank == k:
            return {"best": growth ** (ranked[k - 1] - ranked[k]) * prod(weights[:k])}
        return {"in": weights[rank - 1] * growth ** ranked[rank - 1] * rows[k - 1][rank - 1]} if rank > k else {}
    steps = {"in": weights[rank - 1] * rows[row - 1][rank - 1]} if row else {}
    if rank == row + 1:
        steps["h"] = growth ** -ranked[rank - 1] * prod(weights[: rank - 1])
    return steps


def law_by_walks(
    scores: Sequence[int], weights: Sequence[Fraction], k: int, growth: Fraction, raised: Raised = lambda each: each
) -> dict[Set, Fraction]:
    """As the product draws it: a walk back through a table of sums or more, begun anew where it lands in no step."""
    taking_part = [place for place, weight in enumerate(weights) if weight]
    by_rank = sorted(taking_part, key=lambda place: (-scores[place], place))
    ranked, held = [scores[place] for place in by_rank], [weights[place] for place in by_rank]
    rows, kept = table(ranked, held, k, growth, raised), dict[Set, Fraction]()

    def walk(row: int, last: int, chance: Fraction, members: list[int]) -> None:
        for rank in range(1, last + 1):
            room = rows[row][rank] - rows[row][rank - 1]
            for kind, step in _steps(ranked, held, k, growth, rows, row, rank).items():
                if not step:
                    continue
                step, room = min(step, room), room - min(step, room)
                reached = chance * step / rows[row][last]
                if kind == "in":
                    walk(row - 1, rank - 1, reached, [*members, rank])
                    continue
                ranks = [*range(1, k + 1)] if kind == "best" else [*range(1, rank), *members]
                found = tuple(sorted(by_rank[each - 1] for each in ranks))
                assert found not in kept, "one walk leads to each set"
                kept[found] = reached

    walk(k, len(ranked), Fraction(1), [])
    total = sum(kept.values())
    return {members: each / total for members, each in sorted(kept.items())}


def failure_bound(weights: Sequence[Fraction], k: int, growth: Fraction, *, distance: int) -> Fraction:
    """Claim 5: of an error of at least `distance`, if the lightest set is the best.

    >>> failure_bound([Fraction(1)] * 3, 1, Fraction(2), distance=1)  # odds of 2 to 1, halved
    Fraction(1, 2)
    """
    of_sets = [prod(each) for each in combinations([weight for weight in weights if weight], k)]
    others = Fraction(sum(of_sets) - min(of_sets)) / min(of_sets) / growth**distance
    return others / (1 + others)
