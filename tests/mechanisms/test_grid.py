"""Any score on a public grid: the exponential mechanism on its points."""

from __future__ import annotations

import copy
import math
import pickle
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import dpselect as dps
from dpselect.errors import InvalidParameterError, InvalidScoresError
from tests.laws.goodness_of_fit import NEVER, p_value
from tests.laws.test_bad_input import SECRET, assert_says_nothing


def make(**changes: Any) -> dps.mechanisms.GridMechanism:
    return dps.mechanisms.GridMechanism(**{"epsilon": 2.0, "sensitivity": 1, "bounds": (0, 1), "step": 0.1, **changes})


def score(point: float) -> float:
    return -3 * abs(point - 0.4)


def test_draws_have_the_law() -> None:
    mechanism = make()
    points = [j / 10 for j in range(11)]
    assert mechanism.points.tolist() == points
    law = mechanism.pmf(score)
    weights = np.exp([score(point) for point in points])  # b = 1
    np.testing.assert_allclose(law, weights / weights.sum(), rtol=1e-12)
    draws = [mechanism.draw(score) for _ in range(3000)]
    counts = np.array([draws.count(point) for point in points])
    assert counts.sum() == 3000
    assert p_value(counts, law) >= NEVER
    assert p_value(counts, make(epsilon=4.0).pmf(score)) < NEVER


def test_the_loss_is_at_most_epsilon_and_can_be_more() -> None:
    before, after = (lambda _: 0.0), (lambda point: 1.0 if point < 0.05 else -1.0)
    losses = np.log(make().pmf(after) / make().pmf(before))
    assert 1.5 < np.abs(losses).max() <= 2.0
    wrong = make(monotonic=True)
    assert np.abs(np.log(wrong.pmf(after) / wrong.pmf(before))).max() > 2.0


def test_too_many_points_are_refused_before_any_score() -> None:
    assert make(bounds=(0, 1000), step=Fraction(1, 3)).points.size == 3001
    make(bounds=(0, 10**7 - 1), step=1)
    with pytest.raises(InvalidParameterError, match=r"10000000 points, .* makes 10000001.*PiecewiseLinearMechanism"):
        make(bounds=(0, 10**7), step=1)


def test_large_integer_scores_stay_exact() -> None:
    base = 2**60
    mechanism = make(epsilon=20.0, bounds=(0, 1), step=1)
    assert mechanism.pmf(lambda point: base + int(point)) == pytest.approx(
        [1 / (1 + math.exp(10)), 1 / (1 + math.exp(-10))]
    )


def test_a_value_with_an_event_and_a_bound() -> None:
    mechanism = make(sensitivity=3, monotonic=True)
    assert mechanism.scale == 1.5
    assert mechanism.event == dps.accounting.BoundedRangeEvent(epsilon=2.0)
    same = dps.ExponentialMechanism(epsilon=2.0, sensitivity=3, monotonic=True)
    assert mechanism.error_bound() == same.error_bound(11)
    for again in (copy.deepcopy(mechanism), pickle.loads(pickle.dumps(mechanism))):
        assert again == mechanism
        assert 0.0 <= again.draw(score) <= 1.0


@pytest.mark.parametrize("bad", [math.nan, math.inf, "7919", None, True, [SECRET]])
def test_bad_scores(bad: Any) -> None:
    for call in (make().draw, make().pmf):
        with pytest.raises(InvalidScoresError) as caught:
            call(lambda point: SECRET if point < 0.5 else bad)
        assert_says_nothing(caught.value)


def test_errors_of_the_score_pass_through() -> None:
    def fails(_: float) -> float:
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        make().draw(fails)


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("bounds", {"bounds": (1, 0)}),
        ("bounds", {"bounds": (0, math.nan)}),
        ("bounds", {"bounds": (True, 2)}),
        ("step", {"step": 0.3}),
        ("step", {"step": 0}),
        ("step", {"step": math.nan}),
        ("epsilon", {"epsilon": -1}),
        ("sensitivity", {"sensitivity": 0}),
        ("monotonic", {"monotonic": True, "neighbours": "replace_one"}),
    ],
)
def test_bad_arguments(name: str, arguments: dict[str, Any]) -> None:
    with pytest.raises(InvalidParameterError) as caught:
        make(**arguments)
    assert caught.value.name == name


def test_a_score_has_to_be_a_function() -> None:
    with pytest.raises(InvalidParameterError) as caught:
        make().draw([SECRET] * 11)  # type: ignore[arg-type]
    assert caught.value.name == "score"
    assert_says_nothing(caught.value)
