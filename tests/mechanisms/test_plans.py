"""Plans of draws of numbers: the law of each draw, what a plan shows, and what it keeps."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import dpselect as dps
from dpselect.errors import InvalidParameterError
from dpselect.mechanisms.base import DrawPlan
from tests.laws.goodness_of_fit import NEVER, p_value
from tests.laws.test_bad_input import SECRET, assert_says_nothing

LINES = dps.mechanisms.PiecewiseLinearMechanism(epsilon=2.0, sensitivity=1.0)
CONCAVE = dps.mechanisms.ConcaveMechanism(epsilon=2.0, sensitivity=1.0)
PRICE = dps.mechanisms.PriceMechanism(epsilon=1.5, bounds=(0, 10))
GIVEN: dict[str, tuple[Any, tuple[Any, ...], dict[str, Any]]] = {
    "lines": (LINES, ([0.0, 1.0, 4.0, 6.0], [0.0, 3.0, 0.0, 1.0]), {}),
    "tails": (LINES, ([0.0, 2.0], [1.0, -1.0]), {"left_slope": 0.5, "right_slope": -2.0}),
    "concave": (CONCAVE, ([-1.0, 3.0], [2.0, -6.0]), {}),
    "price": (PRICE, ([4.0, 4.5, 6.0, 6.0, 9.0, 12.0, 3.0],), {}),
    "no offers": (PRICE, ([],), {}),
    "2000 pieces": (LINES, (np.linspace(0, 5, 2001), np.abs(np.sin(np.arange(2001.0) / 400))), {}),
    # Revenues of 1.2e17 and more, beyond what doubles tell apart, at a scale that they matter at.
    "huge revenues": (
        dps.mechanisms.PriceMechanism(epsilon=1.0, bounds=(0, 2**54)),
        (np.repeat([2.0**54 - 16, 2.0**53 - 9, 2.0**52 + 1], [8, 8, 16]),),
        {},
    ),
}
every_kind = pytest.mark.parametrize(("mechanism", "data", "options"), GIVEN.values(), ids=GIVEN)


@every_kind
def test_each_draw_of_a_plan_has_the_law(mechanism: Any, data: tuple[Any, ...], options: dict[str, Any]) -> None:
    plan = mechanism.plan(*data, **options)
    draws = plan.draw_many(20_000)
    cuts = np.quantile(draws, np.linspace(0.05, 0.95, 19))
    law = np.diff(np.concatenate([[0.0], mechanism.law(*data, **options).cdf(cuts), [1.0]]))
    fresh = plan.draw_many(20_000)  # other draws than those that the cuts come from
    counts = np.histogram(fresh, bins=np.concatenate([[-np.inf], cuts, [np.inf]]))[0]
    assert p_value(counts, law) >= NEVER
    wrong = law * np.where(np.arange(law.size) % 2, 0.8, 1.2)
    assert p_value(counts, wrong / wrong.sum()) < NEVER


def test_draws_of_one_plan_are_independent() -> None:
    plan = LINES.plan([0.0, 1.0], [0.0, 0.0])
    first, second = plan.draw_many(20_000), np.array([plan.draw() for _ in range(20_000)])
    boxes = np.histogram2d(first, second, bins=4, range=[(0, 1), (0, 1)])[0].ravel()
    assert p_value(boxes, np.full(16, 1 / 16)) >= NEVER
    copied = np.histogram2d(first, first, bins=4, range=[(0, 1), (0, 1)])[0].ravel()
    assert p_value(copied, np.full(16, 1 / 16)) < NEVER


@every_kind
def test_a_plan_tells_its_price_and_nothing_of_the_data(
    mechanism: Any, data: tuple[Any, ...], options: dict[str, Any]
) -> None:
    plan = mechanism.plan(*data, **options)
    assert isinstance(plan, DrawPlan)
    assert plan.event == mechanism.event
    assert repr(plan) == str(plan) == f"<DrawPlan at epsilon={mechanism.epsilon!r} a draw>"
    assert not hasattr(plan, "__dict__")
    forms: list[Callable[[Any], Any]] = [pickle.dumps, copy.deepcopy]
    for write in forms:
        with pytest.raises(TypeError, match="cannot pickle"):
            write(plan)


def test_a_plan_keeps_what_it_was_made_of() -> None:
    places, scores = np.array([0.0, 1.0, 1.0, 2.0]), np.array([0.0, 0.0, -500.0, -500.0])
    plan = LINES.plan(places, scores)
    places[:], scores[:] = [5.0, 6.0, 6.0, 7.0], 0.0
    assert np.all(plan.draw_many(100) <= 1.0)


@pytest.mark.parametrize("size", [0, -1, 1.5, "3", None, True])
def test_sizes_that_are_none(size: Any) -> None:
    plan = LINES.plan([SECRET, SECRET + 1.0], [0.0, 0.0])
    with pytest.raises(InvalidParameterError) as caught:
        plan.draw_many(size)
    assert caught.value.name == "size"
    assert_says_nothing(caught.value)


def test_a_plan_is_refused_as_a_draw_is() -> None:
    for call in (LINES.draw, LINES.plan):
        with pytest.raises(InvalidParameterError, match="breakpoints"):
            call([SECRET, SECRET], [1.0, 2.0])
    for call in (CONCAVE.draw, CONCAVE.plan):
        with pytest.raises(InvalidParameterError, match="slopes"):
            call([SECRET, 1e9], [1.0, 2.0])
    for call in (PRICE.draw, PRICE.plan):
        with pytest.raises(dps.errors.InvalidDataError, match="NaN"):
            call([SECRET, np.nan])
