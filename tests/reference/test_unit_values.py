"""Bounded contributions and ranks: every neighbour of small data sets, nothing sampled."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import Any

import pytest

from dpselect import Neighbours
from tests.drawn_answers import planned
from tests.reference.counting import is_monotone, score_range, sensitivity
from tests.reference.unit_values import (
    Contribution,
    add_remove_pairs,
    exp_epsilon,
    grid_score,
    kept_values,
    movements,
    on_grid,
    point_scores,
    rank_range,
    released_law,
    replaced_movements,
    worst_ratio,
)
from tests.slow import SLOW

UNITS = ("ann", "bob", "cid")
GRID = (0, 1, 2, 3)
CONTRIBUTIONS: tuple[Contribution, ...] = ((), (0,), (2, 2), (None, 9, -9, 1), (3, 3, 3))
LEVELS = [Fraction(0), Fraction(1, 4), Fraction(1, 2), Fraction(2, 3), Fraction(1)]

every_level = pytest.mark.parametrize("level", LEVELS)
every_most = pytest.mark.parametrize("most", [1, 2])
both_domains = pytest.mark.parametrize("cells", [False, True])


def stated(level: Fraction, most: int, neighbours: Neighbours = Neighbours.ADD_REMOVE) -> Any:
    """What a quantile says that a unit changes."""
    asked = {"level": float(level), "max_rows_per_unit": most, "neighbours": neighbours}
    return planned("quantile", **asked, bounds=(0, 3), step=1, epsilon=1.0).terms


@pytest.mark.sampled(2)
@both_domains
@every_most
@every_level
def test_the_rank_score_moves_by_what_is_claimed_and_no_less(level: Fraction, most: int, cells: bool) -> None:
    changes = movements(add_remove_pairs(UNITS, CONTRIBUTIONS), GRID, level=level, most=most, cells=cells)
    claimed = most * max(level, 1 - level)
    assert sensitivity(changes) == claimed  # type: ignore[arg-type]
    assert score_range(changes) <= rank_range(level, most=most)  # type: ignore[arg-type]
    moved = stated(level, most)
    assert 0 <= moved.sensitivity - claimed < 1e-15
    assert moved.monotonic == is_monotone(changes) == (level in (0, 1))  # type: ignore[arg-type]


@pytest.mark.parametrize("level", [Fraction(0), Fraction(1)])
def test_with_one_row_at_the_extremes_a_replaced_unit_moves_scores_by_no_more(level: Fraction) -> None:
    """A range of m is all that there is; the noise is for twice as much, as monotone is claimed of add-remove only."""
    for most in (1, 2):
        changes = replaced_movements(UNITS, CONTRIBUTIONS, GRID, level=level, most=most)
        assert score_range(changes) == most  # type: ignore[arg-type]
    assert not stated(level, 1, Neighbours.REPLACE_ONE).monotonic


@both_domains
@every_most
@every_level
def test_replacing_a_unit_moves_the_rank_score_by_its_rows(level: Fraction, most: int, cells: bool) -> None:
    changes = replaced_movements(UNITS, CONTRIBUTIONS, GRID, level=level, most=most, cells=cells)
    claimed = stated(level, most, Neighbours.REPLACE_ONE).sensitivity
    assert sensitivity(changes) == claimed == most  # type: ignore[arg-type]
    assert score_range(changes) <= 2 * most  # type: ignore[arg-type]


def test_ranks_are_not_monotone_and_use_the_whole_range() -> None:
    changes = movements(add_remove_pairs(UNITS, CONTRIBUTIONS), GRID, level=Fraction(1, 2), most=1)
    assert not is_monotone(changes)  # type: ignore[arg-type]
    assert score_range(changes) == 1  # type: ignore[arg-type]


def test_without_a_bound_on_rows_the_score_moves_further() -> None:
    pairs = add_remove_pairs(UNITS, CONTRIBUTIONS)
    changes = movements(pairs, GRID, level=Fraction(1, 2), most=1, bounded=False)
    assert sensitivity(changes) > Fraction(1, 2)  # type: ignore[arg-type]


@both_domains
@every_most
@every_level
def test_the_loss_of_a_release_is_at_most_epsilon(level: Fraction, most: int, cells: bool) -> None:
    root = Fraction(3, 2)
    for larger, smaller in add_remove_pairs(UNITS[:2], CONTRIBUTIONS):
        laws = [released_law(data, GRID, level=level, most=most, root=root, cells=cells) for data in (larger, smaller)]
        assert worst_ratio(*laws) <= exp_epsilon(root, level=level, most=most)


@pytest.mark.sampled(2)
@both_domains
@every_most
@every_level
def test_the_loss_of_a_release_is_at_most_epsilon_if_a_unit_is_replaced(
    level: Fraction, most: int, cells: bool
) -> None:
    root = Fraction(3, 2)
    promised = root ** (2 * most * level.denominator)  # at the scale 2 m / epsilon
    for other, *rows in product(CONTRIBUTIONS, repeat=3):
        laws = [
            released_law({"ann": own, "bob": other}, GRID, level=level, most=most, root=root, cells=cells)
            for own in rows
        ]
        assert worst_ratio(*laws) <= promised


@both_domains
def test_the_scale_of_monotone_scores_would_lose_more(cells: bool) -> None:
    """One value low down makes all that is below the other better, and the little above it worse."""
    root, level, grid = Fraction(3, 2), Fraction(1, 2), range(12)
    smaller = {"ann": (10,)}
    larger = {**smaller, "bob": (0,)}
    laws = [released_law(data, grid, level=level, most=1, root=root, cells=cells) for data in (larger, smaller)]
    promised = exp_epsilon(root, level=level, most=1)
    assert promised == root**2
    # With half of the scale in use, e^epsilon would be promised to be the root alone.
    assert root < worst_ratio(*laws) <= promised


@both_domains
@every_most
@pytest.mark.parametrize("level", [Fraction(0), Fraction(1)])
def test_at_the_extremes_half_of_that_scale_is_kept_and_used(level: Fraction, most: int, cells: bool) -> None:
    root, worst = Fraction(30), Fraction(1)
    for larger, smaller in add_remove_pairs(UNITS[:2], CONTRIBUTIONS):
        laws = [released_law(data, GRID, level=level, most=most, root=root, cells=cells) for data in (larger, smaller)]
        worst = max(worst, worst_ratio(*laws))
    assert root ** (most - 1) * 8 < worst <= exp_epsilon(root, level=level, most=most) == root**most


def test_who_is_kept_of_one_unit_says_nothing_of_another() -> None:
    law = kept_values({"ann": (1, 2, 3), "bob": (10, 20)}, most=2, bounds=(0, 99))
    assert law == {(a, b, 10, 20): Fraction(1, 3) for a, b in ((1, 2), (1, 3), (2, 3))}
    alone = kept_values({"ann": (1, 2, 3)}, most=2, bounds=(0, 99))
    for others in ((), (5,), (5, 5, 5, 5)):
        joint = kept_values({"ann": (1, 2, 3), "bob": others}, most=2, bounds=(0, 99))
        marginal: dict[object, Fraction] = {}
        for values, probability in joint.items():
            own = tuple(value for value in values if value != 5)
            marginal[own] = marginal.get(own, Fraction(0)) + probability
        assert marginal == alone


@pytest.mark.sampled(1)
@every_level
def test_on_a_grid_some_point_always_has_the_wanted_rank(level: Fraction) -> None:
    for size in range(5):
        for values in product((0, Fraction(1, 3), 1, 2, Fraction(5, 2), 3), repeat=size):
            assert max(point_scores(tuple(sorted(values)), GRID, level=level)) == 0


def test_without_rounding_to_the_grid_no_point_may_be_near_the_wanted_rank() -> None:
    """Everybody between two points: each of them is half of all people away from the median, and all points tie."""
    values = (Fraction(3, 2),) * 10
    assert {grid_score(point, values, level=Fraction(1, 2)) for point in GRID} == {Fraction(-5)}
    assert [grid_score(point, on_grid(values, GRID), level=Fraction(1, 2)) for point in GRID] == [-5, 0, -5, -5]


@pytest.mark.sampled(2)
@every_level
def test_the_error_stays_within_the_bound(level: Fraction) -> None:
    """Pr[score < -b ln((G - 1)(1 - beta) / beta)] <= beta, in powers of the root: e^(error/b) = root^(d error)."""
    root = Fraction(3, 2)
    for values in product(GRID, repeat=5 if SLOW else 4):
        data = {str(i): (value,) for i, value in enumerate(values)}
        law = released_law(data, GRID, level=level, most=1, root=root)
        scores = point_scores(tuple(sorted(values)), GRID, level=level)
        for error in set(scores):
            odds = root ** int(-error * level.denominator)  # e^theta with theta = error / b
            bound = (len(GRID) - 1) / (odds + len(GRID) - 1)
            assert sum(p for p, score in zip(law, scores, strict=True) if score <= error and error < 0) <= bound
