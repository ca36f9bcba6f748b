"""One question of each of several groups, of which a unit takes part in few: the law of all answers together.

Proof: ``proofs/groups.md``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import combinations, product

from tests.reference.permute_and_flip import law_by_heads

Row = tuple[str, str]
"""Group and candidate."""

Data = Mapping[str, tuple[Row, ...]]
"""The rows of each unit."""

Counts = tuple[tuple[int, ...], ...]
"""For each group, how many units have each candidate."""


def choices(rows: Sequence[Row], groups: Sequence[str], *, most: int) -> list[tuple[str, ...]]:
    """In which groups a unit may take part, each choice equally likely.

    >>> choices([("a", "x"), ("b", "x"), ("a", "y")], ["a", "b"], most=1)
    [('a',), ('b',)]
    """
    own = [group for group in groups if any(of == group for of, _ in rows)]
    return list(combinations(own, min(most, len(own))))


def counts_law(data: Data, groups: Sequence[str], candidates: Sequence[str], *, most: int) -> dict[Counts, Fraction]:
    """The law of the counts of all groups: every unit chooses for itself.

    >>> counts_law({"ann": (("a", "x"), ("b", "y"))}, ["a", "b"], ["x", "y"], most=1)
    {((1, 0), (0, 0)): Fraction(1, 2), ((0, 0), (0, 1)): Fraction(1, 2)}
    """
    own = [[(rows, chosen) for chosen in choices(rows, groups, most=most)] for rows in data.values()]
    seen: list[Counts] = []
    for picked in product(*own):
        taking_part = [{(of, what) for of, what in rows if of in chosen} for rows, chosen in picked]
        seen.append(tuple(tuple(sum((g, c) in unit for unit in taking_part) for c in candidates) for g in groups))
    return {counts: Fraction(times, len(seen)) for counts, times in Counter(seen).items()}


def released_law(
    data: Data, groups: Sequence[str], candidates: Sequence[str], *, most: int, root: Fraction
) -> dict[tuple[int, ...], Fraction]:
    """The law of one candidate for each group, by permute-and-flip in each; the scale is ``1 / ln root``."""
    total: Counter[tuple[int, ...]] = Counter()
    for counts, probability in counts_law(data, groups, candidates, most=most).items():
        laws = [law_by_heads([root ** (count - max(each)) for count in each]) for each in counts]
        for answer in product(range(len(candidates)), repeat=len(groups)):
            part = probability
            for law, place in zip(laws, answer, strict=True):
                part *= law[place]
            total[answer] += part  # type: ignore[assignment]
    return dict(total)  # type: ignore[arg-type]


def add_remove_pairs(units: Sequence[str], contributions: Sequence[tuple[Row, ...]]) -> Iterator[tuple[Data, Data]]:
    """Every data set in which each of `units` has one of `contributions`, and the same without one of them."""
    for chosen in product(contributions, repeat=len(units)):
        larger = dict(zip(units, chosen, strict=True))
        for unit in units:
            yield larger, {other: rows for other, rows in larger.items() if other != unit}


def worst_ratio(first: Mapping[tuple[int, ...], Fraction], second: Mapping[tuple[int, ...], Fraction]) -> Fraction:
    """The largest ratio of the probabilities of an outcome, in either direction."""
    return max(max(first[each] / second[each], second[each] / first[each]) for each in first)
