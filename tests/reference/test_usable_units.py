"""The number of usable units loses as much as its noise is made for, and no less."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import pytest

from tests.reference.groups import Contribution, add_remove_pairs
from tests.reference.usable_units import usable_law, weight

GROUPS, CANDIDATES, ROOT = ("a", "b", "c"), ("x", "y"), Fraction(3, 2)
ROWS: list[Contribution] = [
    (("a", "x"), ("a", "y"), ("a", "x")),
    (("a", "x"), ("b", "x")),
    (("a", "z"),),
    (("a", "y"), ("b", "x"), ("c", "y"), ("d", "x")),
]


def worst(most: int) -> Fraction:
    ratios: list[Fraction] = []
    for pair in add_remove_pairs(("ann", "bob"), ROWS):
        one, other = (usable_law(data, GROUPS, CANDIDATES, most=most) for data in pair)
        for released in product((0, 2), repeat=len(GROUPS)):
            ratio = weight(one, released, root=ROOT) / weight(other, released, root=ROOT)
            ratios += [ratio, 1 / ratio]
    return max(ratios)


@pytest.mark.parametrize("most", [1, 2, 3])
def test_the_loss_is_that_of_as_many_groups_as_a_unit_may_be_in(most: int) -> None:
    assert worst(most) == ROOT**most


def test_the_noise_for_one_group_is_not_enough_for_two() -> None:
    """Control of the test above."""
    assert worst(2) > ROOT


def test_a_unit_with_many_rows_counts_once_and_one_without_a_candidate_does_not() -> None:
    law = usable_law({"ann": ROWS[0], "bob": ROWS[2], "cid": ROWS[1]}, GROUPS, CANDIDATES, most=3)
    assert law == {(2, 1, 0): 1}
