"""The adaptive recursion and the pairs: exact fractions from both sides against the product."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial

import numpy as np
import pytest

from dpselect.accounting import BoundedRangeEvent, LaplaceProfileEvent, LogisticProfileEvent, PureEvent, compose
from dpselect.accounting.tight import convolved, loss_masses, one_more, repeated, trivial
from tests.reference import composition as model
from tests.reference.composition import Grid

FIVE = Grid.near(0.5, steps=12)


def test_the_game_lies_between_both_sides() -> None:
    for place in (24, 30, 36):
        assert model.lower(FIVE, 5, place) <= model.upper(FIVE, 5, place)
    assert model.upper(FIVE, 5, 30) <= model.lower(FIVE, 5, 30) * Fraction(106, 100)


def test_the_value_that_is_known() -> None:
    """k = 5, epsilon = 0.5, at 1.25: the adaptive truth lies in [5.324, 5.326] thousandths."""
    total = compose([BoundedRangeEvent(epsilon=0.5)] * 5, tight=True, work=1e8)
    assert model.lower(FIVE, 5, 30) <= total.delta(1.25) <= model.upper(FIVE, 5, 30)
    assert 5.324e-3 <= total.delta(1.25) <= 5.3265e-3


def test_the_formula_for_fixed_draws_is_no_bound_for_adaptive_ones() -> None:
    fixed = model.fixed_draws(FIVE, 5, Fraction(30))
    assert float(fixed) == pytest.approx(4.691e-3, rel=2e-3)
    assert fixed < model.lower(FIVE, 5, 30) * Fraction(95, 100)


@pytest.mark.parametrize("draws", [1, 2, 5])
@pytest.mark.parametrize("place", [0, 4, 11, 24])
def test_fixed_draws_never_cost_more_than_the_product_says(draws: int, place: int) -> None:
    exact = float(model.fixed_draws(Grid.near(0.5, steps=40), draws, Fraction(4 * place)))
    delta = compose([BoundedRangeEvent(epsilon=0.5)] * draws, tight=True).delta(place * 0.05)
    assert exact * (1 - 1e-12) <= delta


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("epsilon", "steps", "runs"), [(0.5, 6, 4), (2.0, 5, 3), (0.01, 4, 3), (1e-9, 3, 2)])
def test_one_grid_of_the_product_against_fractions(epsilon: float, steps: int, runs: int) -> None:
    grid, step = Grid.near(epsilon, steps=steps), epsilon / steps
    values, first, width = trivial(0, 0, step=step), 0, 0
    for run in range(1, runs + 1):
        new_first = -width - steps
        values = one_more(values, first=first, width=width, steps=steps, step=step, new_first=new_first)
        first, width = new_first, width + steps
        for place in range(first, width + 1):
            value = values[place - first]
            slack = 1e-12 * float(model.no_run(grid, place - steps)) + 1e-11 * value
            assert float(model.lower(grid, run, place)) * (1 - 1e-12) <= value + 1e-24
            assert value <= float(model.upper(grid, run, place)) + slack + 1e-12 * epsilon


@pytest.mark.parametrize("steps", [1, 2, 3, 8])
@pytest.mark.parametrize("epsilon", [0.3, 2.0])
def test_losses_between_grid_points_are_looked_at(epsilon: float, steps: int) -> None:
    """One run, of which the profile is known, on grids that do not hold its worst loss."""
    step = epsilon / steps
    values = one_more(trivial(0, 0, step=step), first=0, width=0, steps=steps, step=step, new_first=-steps)
    for place, value in zip(range(-steps, steps + 1), values, strict=True):
        exact = np.expm1((place * step - epsilon) / 2.0) ** 2 / -np.expm1(-epsilon)
        assert value >= exact * (1 - 1e-12)


PAIRS = pytest.mark.parametrize(
    ("event", "masses", "profile"),
    [
        (LaplaceProfileEvent, model.laplace_masses, lambda a, e: -np.expm1((a - e) / 2)),
        (LogisticProfileEvent, model.logistic_masses, lambda a, e: np.expm1((a - e) / 2) ** 2 / -np.expm1(-e)),
        (PureEvent, model.pure_masses, lambda a, e: (np.exp(e) - np.exp(a)) / (1 + np.exp(e))),
    ],
)


@PAIRS
def test_split_masses_keep_both_laws_and_the_profile(
    event: type, masses: Callable[[Grid], list[Fraction]], profile: Callable[[float, float], float]
) -> None:
    grid = Grid.near(1.5, steps=6)
    exact = masses(grid)
    assert sum(exact) == 1
    assert sum(mass * grid.ratio ** (6 - i) for i, mass in enumerate(exact)) == 1  # the second law's
    for place in range(-6, 7):
        assert float(model.delta_of(grid, exact, place)) == pytest.approx(profile(place * 0.25, 1.5), abs=1e-12)
    computed = loss_masses(event(epsilon=1.5), steps=6, step=0.25)
    for mass, value in zip(exact, computed, strict=True):
        assert mass <= Fraction(value) <= mass * (1 + Fraction(1, 10**12)) + Fraction(1, 10**300)


@PAIRS
@pytest.mark.parametrize("count", [1, 2, 5])
def test_sums_of_losses_are_rounded_up(
    event: type, masses: Callable[[Grid], list[Fraction]], count: int, profile: object
) -> None:
    grid = Grid.near(1.5, steps=6)
    exact = [Fraction(1)]
    for _ in range(count):
        exact = _convolved(exact, masses(grid))
    computed = repeated(loss_masses(event(epsilon=1.5), steps=6, step=0.25), count)
    for mass, value in zip(exact, computed, strict=True):
        assert mass <= Fraction(value) <= mass * (1 + Fraction(1, 10**12))
    total = compose([event(epsilon=1.5)] * count, tight=True, work=3e5)
    for place in range(6 * count + 1):
        delta = float(model.delta_of(grid, exact, place))
        # A coarse grid is an upper bound of a finer one; both bound the same truth.
        assert total.delta(place * 0.25) <= delta * (1 + 1e-9) + 1e-15


def test_rounding_up_can_fail() -> None:
    third = np.array([1 / 3, 1 / 3])
    assert Fraction(np.convolve(third, third)[0]) < Fraction(1 / 3) ** 2 or Fraction(1 / 3) < Fraction(1, 3)
    assert Fraction(convolved(third, third)[0]) > Fraction(1 / 3) ** 2


def _convolved(one: list[Fraction], other: list[Fraction]) -> list[Fraction]:
    total = [Fraction(0)] * (len(one) + len(other) - 1)
    for i, a in enumerate(one):
        for j, b in enumerate(other):
            total[i + j] += a * b
    return total


def test_the_order_of_different_runs_matters_and_the_worst_is_taken() -> None:
    wide, narrow = Grid.near(1.0, steps=40), Grid(Grid.near(1.0, steps=40).root, 10)

    def in_order(first: Grid, second: Grid, place: int) -> Fraction:
        rest = partial(model.lower, second, 1)
        return max(model.first_step(first, rest, t=t, place=place) for t in range(first.steps + 1))

    one, other = in_order(wide, narrow, 20), in_order(narrow, wide, 20)
    assert float(one) == pytest.approx(0.0774, abs=3e-4)
    assert float(other) == pytest.approx(0.0822, abs=3e-4)
    total = compose([BoundedRangeEvent(epsilon=1.0), BoundedRangeEvent(epsilon=0.25)], tight=True, work=1e8)
    assert float(max(one, other)) <= total.delta(0.5) <= float(max(one, other)) * 1.005


def test_bounded_range_last_is_the_worst_order_beside_a_pair() -> None:
    """The adversary of a bounded-range run does best knowing the other run's result."""
    grid = Grid.near(1.0, steps=20)
    masses = model.laplace_masses(grid)

    def pair_first(place: int) -> Fraction:
        return sum(
            (mass * model.lower(grid, 1, place - loss) for loss, mass in zip(range(-20, 21), masses, strict=True)),
            Fraction(0),
        )

    def pair_last(place: int) -> Fraction:
        rest = partial(model.delta_of, grid, masses)
        return max(model.first_step(grid, rest, t=t, place=place) for t in range(21))

    total = compose([BoundedRangeEvent(epsilon=1.0), LaplaceProfileEvent(epsilon=1.0)], tight=True, work=1e8)
    for place in (0, 8, 20, 30):
        assert pair_last(place) <= pair_first(place)
        # The product's pair is on a finer grid, so the truth is a little below this grid's.
        assert total.delta(place * 0.05) <= float(pair_first(place)) * 1.01
        assert total.delta(place * 0.05) >= float(pair_last(place)) * 0.99
