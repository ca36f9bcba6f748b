"""Searches that evaluate a function in few places find what they find when they evaluate it in all."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from dpselect.accounting import bounded_range_renyi, laplace_profile_renyi, renyi
from dpselect.accounting.renyi import Crossing, best_epsilon, largest_epsilon, largest_fitting, total_epsilon
from dpselect.accounting.rounding import quotient_down
from dpselect.accounting.tight import one_more
from dpselect.mechanisms.discrete_gaussian import affordable_rho

WIDTH = 2.0**-30


def halved(fits: Callable[[float], bool]) -> float:
    """The largest that fits below 64, to 2^-40."""
    low, high = 0.0, 64.0
    for _ in range(46):
        middle = (low + high) / 2.0
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low


@pytest.mark.parametrize("start", [1e-9, 0.3, 7.0, 1e200])
@pytest.mark.parametrize(
    "function",
    [
        lambda x: x,
        lambda x: x * x + 0.01 * x,
        lambda x: math.sqrt(x),
        lambda x: math.floor(8.0 * x) / 3.0,
        lambda x: 0.0 if x < 5.0 else 9.0,
        lambda x: math.inf if x > 3.0 else x,
        lambda x: 100.0,
    ],
)
def test_the_same_is_found_wherever_the_search_begins(function: Callable[[float], float], start: float) -> None:
    plain = halved(lambda place: function(place) <= 2.5)
    assert largest_fitting(function, 2.5, halved, start=start, width=WIDTH) == plain


def test_few_places_are_evaluated() -> None:
    asked: list[float] = []

    def function(place: float) -> float:
        asked.append(place)
        return place**1.7 + place

    largest_fitting(function, 2.5, halved, start=1.0, width=WIDTH)
    assert len(asked) < 25
    asked.clear()
    halved(lambda place: function(place) <= 2.5)
    assert len(asked) == 46


def test_what_was_only_inferred_is_evaluated_at_the_end() -> None:
    """The function falls in the place where it is looked at first. That smaller ones fit does not follow from there."""

    def function(place: float) -> float:
        return 1.0 if place == 10.03 else place

    crossing = Crossing(function, 2.5)
    crossing.approach(10.03, width=WIDTH)
    assert crossing.fits(9.0)  # which is wrong
    assert largest_fitting(function, 2.5, halved, start=10.03, width=WIDTH) == 2.5


@pytest.mark.parametrize("divergence", [bounded_range_renyi, laplace_profile_renyi])
@pytest.mark.parametrize(("epsilon", "count", "delta"), [(1.0, 10, 1e-6), (0.013, 300, 1e-9), (8.7, 2, 1e-3)])
def test_planned_rounds_are_those_of_a_plain_bisection(
    divergence: renyi.Renyi, epsilon: float, count: int, delta: float
) -> None:
    affordable, too_much = quotient_down(epsilon, count), 2.0 * quotient_down(epsilon, count)

    def fits(each: float) -> bool:
        return total_epsilon(divergence, epsilon=each, count=count, delta=delta) <= epsilon

    while fits(too_much):
        affordable, too_much = too_much, 2.0 * too_much
    while too_much - affordable > affordable * 2.0**-30:
        middle = affordable + (too_much - affordable) / 2.0
        affordable, too_much = (middle, too_much) if fits(middle) else (affordable, middle)
    assert largest_epsilon(divergence, epsilon=epsilon, count=count, delta=delta) == affordable


@pytest.mark.parametrize(("epsilon", "delta"), [(1.0, 1e-6), (0.013, 1e-9), (30.0, 1e-3)])
def test_an_affordable_rho_is_that_of_a_plain_bisection(epsilon: float, delta: float) -> None:
    affordable, too_much = 0.0, epsilon
    for _ in range(60):
        middle = math.sqrt(affordable * too_much) if affordable else too_much / 4.0
        fits = best_epsilon(lambda orders, rho=middle: rho * orders * (1.0 + 2.0**-50), delta=delta)[0] <= epsilon
        affordable, too_much = (middle, too_much) if fits else (affordable, middle)
    assert affordable_rho(epsilon, delta) == affordable


def test_cells_can_be_maximised_over_in_any_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bit for bit: plans and certificates are compared."""
    steps, step = 23, 0.01
    rest = np.maximum(0.0, -np.expm1(np.arange(-steps, steps + 1) * step - 0.1))
    found = []
    for at_once in (1, 100, 1 << 20):
        monkeypatch.setattr("dpselect.accounting.tight._CELLS", at_once)
        found.append(one_more(rest, first=-steps, width=steps, steps=steps, step=step, new_first=-2 * steps).tobytes())
    assert len({*found}) == 1
