"""Which rows take part if each unit may belong to a few groups only: the law of the choice, in exact fractions.

Proof: ``proofs/groups.md``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations, product
from typing import TypeVar

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
