"""Distinct units per candidate: every neighbour of every small data set, nothing sampled."""

from __future__ import annotations

from itertools import permutations

import pytest

from tests.reference.counting import (
    Contribution,
    add_remove_pairs,
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
