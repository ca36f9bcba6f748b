"""Distinct units per candidate: every neighbour of every small data set, nothing sampled."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from itertools import permutations, product

import pytest

from tests.reference.counting import (
    Contribution,
    add_remove_pairs,
    bounded_counts,
    distinct_unit_counts,
    is_monotone,
    movements,
    replace_one_pairs,
    score_range,
    sensitivity,
)

UNITS = ("ann", "bob", "cid")
CANDIDATES = ("x", "y", "z")
CONTRIBUTIONS: tuple[Contribution, ...] = (
    (),
    ("x",),
    ("y", "z"),
    ("x", "x", "y"),
    ("x", "y", "z", "x"),
    (None, "y"),
    ("elsewhere", "x"),
)


@pytest.mark.parametrize("ownerless", [(), ("x", "x", None, "elsewhere")])
def test_adding_or_removing_a_unit_moves_every_score_by_at_most_one_and_all_the_same_way(
    ownerless: Contribution,
) -> None:
    changes = movements(add_remove_pairs(UNITS, CONTRIBUTIONS), candidates=CANDIDATES, ownerless=ownerless)
    assert sensitivity(changes) == 1
    assert is_monotone(changes)
    assert score_range(changes) == 1
    assert {(1, 1, 1), (-1, -1, -1)} <= changes  # however many candidates a unit touches


def test_replacing_a_unit_moves_scores_both_ways() -> None:
    changes = movements(replace_one_pairs(UNITS, CONTRIBUTIONS), candidates=CANDIDATES)
    assert sensitivity(changes) == 1
    assert not is_monotone(changes)
    assert score_range(changes) == 2


def test_counting_rows_instead_of_units_would_break_the_bound() -> None:
    def row_counts(rows: list[tuple[str, str]]) -> tuple[int, ...]:
        return tuple(sum(value == candidate for _, value in rows) for candidate in CANDIDATES)

    rows = [("ann", "x"), ("bob", "x"), ("bob", "x"), ("bob", "x")]
    without_bob = [row for row in rows if row[0] != "bob"]
    assert row_counts(rows)[0] - row_counts(without_bob)[0] == 3
    assert (
        distinct_unit_counts(rows, candidates=CANDIDATES)[0]
        - distinct_unit_counts(without_bob, candidates=CANDIDATES)[0]
        == 1
    )


def test_one_null_row_does_not_take_the_others_of_its_unit_with_it() -> None:
    rows = [("ann", None), ("ann", "x"), (None, "x"), (None, None)]
    assert distinct_unit_counts(rows, candidates=CANDIDATES) == (1, 0, 0)


def test_rows_without_a_unit_are_not_merged_into_one_person() -> None:
    rows = [(None, "x"), (None, "y"), ("ann", "x")]
    assert distinct_unit_counts(rows, candidates=CANDIDATES) == (1, 0, 0)


def test_the_order_of_rows_does_not_matter() -> None:
    rows = [("ann", "x"), ("ann", "y"), ("bob", "x"), ("bob", "x")]
    assert {distinct_unit_counts(order, candidates=CANDIDATES) for order in permutations(rows)} == {(2, 1, 0)}


def worst_noisy(pairs: Iterable[tuple[dict[str, Contribution], dict[str, Contribution]]], *, most: int) -> Fraction:
    """The largest ratio of the probabilities of noisy counts, with noise of scale 1 / ln ROOT on each."""
    ratios: list[Fraction] = []
    for one, other in pairs:
        laws = [bounded_counts(data, candidates=NOISY, most=most) for data in (one, other)]
        for released in product((0, 2), repeat=len(NOISY)):
            weights = [
                sum(
                    chance / ROOT ** sum(abs(noisy - exact) for noisy, exact in zip(released, counts, strict=True))
                    for counts, chance in law.items()
                )
                for law in laws
            ]
            ratios.append(Fraction(weights[0]) / Fraction(weights[1]))
    return max(ratios)


ROOT, NOISY = Fraction(3, 2), ("x", "y", "z")
GIVEN: list[Contribution] = [(), ("x",), ("y", "y", "w"), ("x", "z"), ("x", "y", "z")]


@pytest.mark.sampled(1)
@pytest.mark.parametrize("most", [1, 2, 3])
def test_noisy_counts_lose_as_much_as_one_unit_may_count(most: int) -> None:
    """And up to twice as much if a unit is replaced, as long as each count changes by at most 1."""
    assert worst_noisy(add_remove_pairs(("ann", "bob"), GIVEN), most=most) == ROOT**most
    replaced = worst_noisy(replace_one_pairs(("ann", "bob"), GIVEN), most=most)
    assert replaced <= ROOT ** min(2 * most, len(NOISY))
    assert most == 2 or replaced == ROOT ** min(2 * most, len(NOISY))


def test_without_a_bound_noise_for_one_value_is_not_enough() -> None:
    """Control: a unit with three values loses three times as much."""
    assert worst_noisy(add_remove_pairs(("ann", "bob"), GIVEN), most=3) > ROOT
