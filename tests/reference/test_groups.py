"""One question of each group: the cost is that of as many groups as a unit may be in, and no less."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import pytest

from tests.reference.groups import Contribution, add_remove_pairs, released_law, worst_ratio

GROUPS, CANDIDATES, ROOT = ("a", "b", "c"), ("x", "y"), Fraction(3, 2)
ROWS: list[Contribution] = [(("a", "x"),), (("a", "x"), ("b", "x")), (("a", "y"), ("b", "x"), ("c", "y"), ("d", "x"))]


@pytest.mark.parametrize("most", [1, 2, 3])
def test_the_loss_is_that_of_as_many_groups_as_a_unit_may_be_in(most: int) -> None:
    pairs = list(add_remove_pairs(("ann", "bob"), ROWS))
    losses = [
        worst_ratio(*(released_law(data, GROUPS, CANDIDATES, most=most, root=ROOT) for data in pair)) for pair in pairs
    ]
    assert max(losses) == ROOT**most


def test_without_a_bound_on_groups_the_loss_exceeds_that_of_one() -> None:
    """Control of the test above."""
    alone = {"ann": ROWS[2]}
    laws = [released_law(data, GROUPS, CANDIDATES, most=3, root=ROOT) for data in (alone, {})]
    assert worst_ratio(*laws) > ROOT


def test_a_replaced_unit_costs_at_most_twice_as_much_and_may() -> None:
    worst = Fraction(1)
    for one, other, rest in product(ROWS, [*ROWS, (("b", "y"),)], [*ROWS, (("b", "x"),)]):
        laws = [
            released_law({"ann": rows, "bob": rest}, GROUPS, CANDIDATES, most=1, root=ROOT) for rows in (one, other)
        ]
        worst = max(worst, worst_ratio(*laws))
    assert worst == ROOT**2
