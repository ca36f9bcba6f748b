"""The rule score: two ways to write it, and every neighbour of every small table, nothing sampled."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.reference import permute_and_flip
from tests.reference.counting import is_monotone, score_range, sensitivity
from tests.reference.feature_scores import (
    Row,
    add_remove_pairs,
    movements,
    replace_one_pairs,
    score,
    score_by_rules,
    scores,
    universe,
)

ROWS = universe(cells=2, features=2, classes=2)
WEIGHTS = [(1, 1), (1, 3), (2, 2)]

held = st.tuples(st.tuples(st.integers(0, 2), st.integers(0, 2)), st.sampled_from([None, 0, 1, 2]))


@given(st.lists(held, max_size=9), st.tuples(*[st.integers(1, 4)] * 3))
def test_the_best_rule_takes_the_heaviest_class_of_each_cell(rows: list[Row], weights: tuple[int, ...]) -> None:
    for feature in range(2):
        best = score_by_rules(rows, feature=feature, cells=3, weights=weights)
        assert score(rows, feature=feature, cells=3, weights=weights) == best


@pytest.mark.parametrize("weights", WEIGHTS)
def test_a_row_more_raises_every_score_by_at_most_its_weight(weights: tuple[int, ...]) -> None:
    changes = movements(add_remove_pairs(ROWS, most=3), cells=2, features=2, weights=weights)
    assert sensitivity(changes) == max(weights)
    assert is_monotone(changes)
    assert score_range(changes) <= max(weights)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("weights", WEIGHTS)
def test_a_row_replaced_moves_scores_both_ways(weights: tuple[int, ...]) -> None:
    changes = movements(replace_one_pairs(ROWS, most=3), cells=2, features=2, weights=weights)
    assert sensitivity(changes) == max(weights)
    assert not is_monotone(changes)
    assert score_range(changes) <= 2 * max(weights)


def test_both_ranges_are_attained() -> None:
    """A cell whose heaviest class outweighs a row by so much that the row changes nothing, beside a cell of its own."""
    crowd: list[Row] = [((0, 0), 0), ((0, 0), 0), ((0, 0), 0)]
    one_more = movements([(crowd, [*crowd, ((0, 1), 1)])], cells=2, features=2, weights=(1, 3))
    assert one_more == {(0, 3)}
    crowds: list[Row] = [((0, 0), 0)] * 3 + [((1, 1), 0)] * 3
    changed = movements([([*crowds, ((2, 0), 1)], [*crowds, ((1, 2), 1)])], cells=3, features=2, weights=(1, 3))
    assert changed == {(-3, 3)}


def test_the_rules_that_are_right_more_often_than_the_frequent_class_would_not_be_monotone() -> None:
    """Control: subtracting what a rule without any feature gets right is harmless, dividing by the rows is not."""
    smaller, larger = [((0, 0), 0), ((1, 0), 1)], [((0, 0), 0), ((1, 0), 1), ((0, 1), 1)]
    before, after = (scores(rows, cells=2, features=2, weights=(1, 1)) for rows in (smaller, larger))
    shares = [Fraction(b, 3) - Fraction(a, 2) for a, b in zip(before, after, strict=True)]
    assert min(shares) < 0 < max(shares)


def loss(pairs: Iterable[tuple[list[Row], list[Row]]]) -> Fraction:
    """The largest ratio of permute-and-flip's probabilities where ``e^(1/b)`` is 3."""
    seen = {tuple(scores(rows, cells=2, features=2, weights=(1, 1)) for rows in pair) for pair in pairs}
    worst = Fraction(0)
    for pair in seen:
        before, after = (
            permute_and_flip.law_by_heads(tuple(Fraction(1, 3 ** (max(each) - one)) for one in each)) for each in pair
        )
        worst = max(worst, *(b / a for a, b in zip(before, after, strict=True)))
    return worst


def test_the_loss_of_a_draw_under_both_relations() -> None:
    """``e^epsilon`` is 3 with ``b = 1/epsilon``, and 9 with ``b = 2/epsilon``, which replacing a row does need."""
    assert loss(add_remove_pairs(ROWS, most=3)) == 3
    assert 3 < loss(replace_one_pairs(ROWS, most=3)) <= 9
