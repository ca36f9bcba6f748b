"""The search for where an increasing function crosses its limit: few evaluations, and never a place above the limit."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from dpselect.accounting.divergence import best_epsilon, largest_fitting
from dpselect.accounting.tight import one_more
from dpselect.mechanisms.noise import affordable_rho

CLOSE = 2.0**-30


@pytest.mark.parametrize("start", [1e-9, 0.3, 7.0, 1e200])
@pytest.mark.parametrize(
    ("function", "crossing"),
    [
        (lambda x: x, 2.5),
        (lambda x: x * x + 0.01 * x, math.sqrt(2.5 + 0.005**2) - 0.005),
        (lambda x: math.sqrt(x), 6.25),
        (lambda x: math.floor(8.0 * x) / 3.0, 1.0),
        (lambda x: 0.0 if x < 5.0 else 9.0, 5.0),
        (lambda x: math.inf if x > 3.0 else x, 2.5),
        (lambda x: math.inf if x > 2.0 else x, 2.0),
        (lambda x: 100.0, 0.0),
    ],
)
def test_the_same_is_found_wherever_the_search_begins(
    function: Callable[[float], float], crossing: float, start: float
) -> None:
    found = largest_fitting(function, 2.5, start=start, close=CLOSE)
    assert found == pytest.approx(crossing, rel=4 * CLOSE)
    assert found == 0.0 or function(found) <= 2.5


def test_few_places_are_evaluated() -> None:
    asked: list[float] = []

    def function(place: float) -> float:
        asked.append(place)
        return place**1.7 + place

    largest_fitting(function, 2.5, start=1.0, close=CLOSE)
    assert len(asked) < 10


def test_no_place_beyond_the_largest_is_evaluated() -> None:
    asked: list[float] = []
    assert largest_fitting(lambda place: asked.append(place) or place, 9.0, start=1.0, close=CLOSE, most=4.0) == 4.0
    assert max(asked) == 4.0


def test_what_is_found_was_evaluated_even_where_the_function_falls() -> None:
    def function(place: float) -> float:
        return 1.0 if place == 10.03 else place

    for start in (0.1, 9.0, 10.03, 50.0):
        assert function(largest_fitting(function, 2.5, start=start, close=CLOSE)) <= 2.5


@pytest.mark.parametrize(("epsilon", "delta"), [(1.0, 1e-6), (0.013, 1e-9), (30.0, 1e-3)])
def test_an_affordable_rho_is_that_of_a_plain_bisection(epsilon: float, delta: float) -> None:
    def epsilon_of(rho: float) -> float:
        return best_epsilon(lambda orders: rho * orders * (1.0 + 2.0**-50), delta)

    affordable, too_much = 0.0, epsilon
    for _ in range(60):
        middle = math.sqrt(affordable * too_much) if affordable else too_much / 4.0
        affordable, too_much = (middle, too_much) if epsilon_of(middle) <= epsilon else (affordable, middle)
    assert epsilon_of(affordable_rho(epsilon, delta)) <= epsilon
    assert affordable_rho(epsilon, delta) == pytest.approx(affordable, rel=2.0**-36)


def test_cells_can_be_maximised_over_in_any_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bit for bit: plans and certificates are compared."""
    steps, step = 23, 0.01
    rest = np.maximum(0.0, -np.expm1(np.arange(-steps, steps + 1) * step - 0.1))
    found = []
    for at_once in (1, 100, 1 << 20):
        monkeypatch.setattr("dpselect.accounting.tight._CELLS", at_once)
        found.append(one_more(rest, first=-steps, width=steps, steps=steps, step=step, new_first=-2 * steps).tobytes())
    assert len({*found}) == 1
