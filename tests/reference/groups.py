"""Which rows take part if each unit may belong to a few groups only, and what one answer for each group gives away.

Proof: ``proofs/groups.md``.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from itertools import combinations, product
from typing import TypeVar

from tests.reference.permute_and_flip import law_by_heads

Contribution = tuple[tuple[str, str], ...]
"""Group and candidate in each of one unit's rows."""

Data = Mapping[str, Contribution]

Law = Mapping[tuple[int, ...], Fraction]
"""The probability of each outcome: a candidate for each group."""

Rest = TypeVar("Rest")


def taking_part(
    rows: Sequence[tuple[str | None, str | None, Rest]], *, groups: Sequence[str], most: int
) -> Iterator[tuple[Fraction, list[list[tuple[str, Rest]]]]]:
    """Every outcome of the choice: its probability, and for each group the rows left, as units with the rest.

    Each unit takes part in `most` of the groups it has rows in, or in all if there are no more; each set of so many
    is equally likely, and the units choose independently.

    Args:
        rows: unit, group and anything else. Those without a unit, or of none of the groups, are left out.
        groups: all different.
        most: >= 1.

    >>> list(taking_part([("ann", "a", 1), ("ann", "b", 2), ("bob", "b", 3)], groups=["a", "b"], most=1))
    [(Fraction(1, 2), [[('ann', 1)], [('bob', 3)]]), (Fraction(1, 2), [[], [('ann', 2), ('bob', 3)]])]
    """
    kept = [(unit, group, rest) for unit, group, rest in rows if unit is not None and group in groups]
    units = list(dict.fromkeys(unit for unit, _, _ in kept))
    own = [[group for group in groups if any(row[:2] == (unit, group) for row in kept)] for unit in units]
    choices = [list(combinations(each, min(most, len(each)))) for each in own]
    outcomes = list(product(*choices))
    for outcome in outcomes:
        chosen = dict(zip(units, outcome, strict=True))
        parts = [[(u, rest) for u, g, rest in kept if g == group and group in chosen[u]] for group in groups]
        yield Fraction(1, len(outcomes)), parts


def released_law(data: Data, groups: Sequence[str], candidates: Sequence[str], *, most: int, root: Fraction) -> Law:
    """The law of one candidate for each group, by permute-and-flip on distinct units; the scale is ``1 / ln root``.

    >>> law = released_law({"ann": (("a", "x"),)}, ["a"], ["x", "y"], most=1, root=Fraction(2))
    >>> law[0,], law[1,]
    (Fraction(3, 4), Fraction(1, 4))
    """
    rows = [(unit, group, what) for unit, own in data.items() for group, what in own]
    total: defaultdict[tuple[int, ...], Fraction] = defaultdict(Fraction)
    for probability, parts in taking_part(rows, groups=groups, most=most):
        laws: list[tuple[Fraction, ...]] = []
        for part in parts:
            counts = [sum(what == each for _, what in set(part)) for each in candidates]
            laws.append(law_by_heads([root ** (count - max(counts)) for count in counts]))
        for answer in product(range(len(candidates)), repeat=len(groups)):
            of_this = probability
            for law, place in zip(laws, answer, strict=True):
                of_this *= law[place]
            total[answer] += of_this
    return total


def add_remove_pairs(units: Sequence[str], contributions: Sequence[Contribution]) -> Iterator[tuple[Data, Data]]:
    """Every data set in which each of `units` has one of `contributions`, and the same without one of them."""
    for chosen in product(contributions, repeat=len(units)):
        larger = dict(zip(units, chosen, strict=True))
        for unit in units:
            yield larger, {other: rows for other, rows in larger.items() if other != unit}


def worst_ratio(first: Law, second: Law) -> Fraction:
    """The largest ratio of the probabilities of an outcome, in either direction."""
    return max(max(first[each] / second[each], second[each] / first[each]) for each in first)
