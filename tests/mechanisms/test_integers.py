"""Scores on the whole numbers: draws against exact sums, the ceiling's part in it, and what is refused."""

from __future__ import annotations

import copy
import math
import pickle
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dpselect as dps
from dpselect._native import _core
from dpselect.errors import InvalidParameterError, InvalidScoresError
from tests.laws.goodness_of_fit import NEVER, p_value
from tests.laws.test_bad_input import SECRET, assert_says_nothing

Ceiling = dps.mechanisms.IntegerCeiling
CASES: dict[str, tuple[Callable[[int], object], dps.mechanisms.IntegerCeiling]] = {
    "the ceiling itself": (lambda y: -abs(y), Ceiling(center=0, fall=1)),
    "falls of two kinds": (lambda y: -2.5 * abs(y - 1), Ceiling(center=1, fall=(0.5, 2), height=0.5)),
    "an end": (lambda y: -abs(y - 2) / 2, Ceiling(center=0, fall=(0, 0.5), height=1, lower=0)),
    "two ends and flat": (lambda y: (y * 7) % 5 - 4, Ceiling(center=3, fall=0, lower=-4, upper=6)),
    "above the ceiling": (lambda y: 3 - abs(y) if y % 2 else -5, Ceiling(center=0, fall=Fraction(1, 3), lower=-40)),
    "far away": (lambda y: Fraction(-abs(y - 10**30), 3), Ceiling(center=10**30 + 1, fall=Fraction(1, 3), height=1)),
    "of numpy's types": (lambda y: np.float32(-abs(y)), Ceiling(center=np.int64(0), fall=np.float64(1.0))),
}
every_case = pytest.mark.parametrize(("score", "ceiling"), CASES.values(), ids=CASES)


def exact_law(
    score: Any, ceiling: dps.mechanisms.IntegerCeiling, *, scale: float, reach: int = 150
) -> dict[int, float]:
    points = [p for p in range(ceiling.center - reach, ceiling.center + reach + 1) if ceiling.contains(p)]
    capped = [min(Fraction(score(p)) if not isinstance(score(p), np.floating) else Fraction(float(score(p))),
                  ceiling.at(p)) for p in points]  # fmt: skip
    weights = [math.exp(float(each - max(capped)) / scale) for each in capped]
    return dict(zip(points, (weight / math.fsum(weights) for weight in weights), strict=True))


@pytest.mark.sampled(1)
@every_case
def test_draws_and_probabilities(score: Any, ceiling: dps.mechanisms.IntegerCeiling) -> None:
    mechanism = dps.mechanisms.IntegerMechanism(epsilon=1.5, sensitivity=1, monotonic=True)
    law = exact_law(score, ceiling, scale=1 / 1.5)
    points = list(law)
    exact = np.array(list(law.values()))
    np.testing.assert_allclose(mechanism.pmf(score, ceiling, points), exact, rtol=1e-10, atol=1e-300)
    draws = [mechanism.draw(score, ceiling) for _ in range(2000)]
    assert set(draws) <= set(points)
    counts = np.array([draws.count(point) for point in points])
    assert p_value(counts, exact) >= NEVER
    other = np.array(list(exact_law(score, ceiling, scale=1.4).values()))
    assert p_value(counts, other) < NEVER


@every_case
def test_how_often_a_score_is_computed(score: Any, ceiling: dps.mechanisms.IntegerCeiling) -> None:
    mechanism = dps.mechanisms.IntegerMechanism(epsilon=1.0, sensitivity=1)
    expected = mechanism.expected_calls(score, ceiling)
    assert expected >= 1.0 - 1e-12
    calls = 0

    def counting(point: int) -> object:
        nonlocal calls
        calls += 1
        return score(point)

    for _ in range(400):
        mechanism.draw(counting, ceiling)
    # The number of calls of a draw is geometric: its deviation is below its mean.
    assert abs(calls / 400 - expected) < 7 * math.sqrt(expected * (expected - 1) / 400) + 1e-9


@given(st.lists(st.floats(-3, 3), min_size=11, max_size=11), st.data(), st.booleans())
def test_the_loss_is_at_most_epsilon(heights: list[float], data: st.DataObject, monotonic: bool) -> None:
    ceiling = Ceiling(center=0, fall=0.3, height=2, lower=-5, upper=5)  # some scores are above it
    least = 0.0 if monotonic else -1.0
    moves = data.draw(st.lists(st.floats(least, 1), min_size=11, max_size=11))
    mechanism = dps.mechanisms.IntegerMechanism(epsilon=1.0, sensitivity=1, monotonic=monotonic)
    points = range(-5, 6)
    laws = [
        mechanism.pmf(lambda y, s=scores: s[y + 5], ceiling, points)
        for scores in (heights, [h + m for h, m in zip(heights, moves, strict=True)])
    ]
    assert np.abs(np.log(laws[0] / laws[1])).max() <= 1.0 + 1e-9


def test_the_law_above_can_fail() -> None:
    ceiling = Ceiling(center=0, fall=0, height=5, lower=0, upper=1000)
    mechanism = dps.mechanisms.IntegerMechanism(epsilon=1.0, sensitivity=1, monotonic=True)  # but they move both ways
    laws = [mechanism.pmf(lambda y, d=d: d if y == 0 else -d, ceiling, [0]) for d in (0, 1)]
    assert math.log(laws[1][0] / laws[0][0]) > 1.9


def test_geometric_noise_is_a_special_case() -> None:
    mechanism = dps.mechanisms.IntegerMechanism(epsilon=2.0, sensitivity=1)
    same = dps.GeometricMechanism(epsilon=1.0, sensitivity=1)  # without the factor 2
    points = range(-20, 30)
    by_score = mechanism.pmf(lambda y: -abs(y - 4), Ceiling(center=4, fall=1), points)
    np.testing.assert_allclose(by_score, same.pmf(4, points), rtol=1e-11)


@pytest.mark.parametrize(("epsilon", "sensitivity"), [(1e-6, 1), (1e6, 1), (1.0, 10**15), (1e-300, 1e300)])
def test_extreme_scales(epsilon: float, sensitivity: float) -> None:
    mechanism = dps.mechanisms.IntegerMechanism(epsilon=epsilon, sensitivity=sensitivity)
    draws = [mechanism.draw(lambda y: -abs(y), Ceiling(center=0, fall=1)) for _ in range(20)]
    if epsilon == 1e6:
        assert set(draws) == {0}
    else:
        assert max(map(abs, draws)) > mechanism.scale / 100 or mechanism.scale == math.inf
    assert all(type(draw) is int for draw in draws)


def test_scale_and_ceilings_are_values() -> None:
    assert dps.mechanisms.IntegerMechanism(epsilon=0.5, sensitivity=3).scale == 12.0
    ceiling = Ceiling(center=0, fall=(1, 2))
    assert pickle.loads(pickle.dumps(ceiling)) == ceiling == copy.deepcopy(ceiling)


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("fall", {"fall": 0}),
        ("fall", {"fall": (1, 0)}),
        ("fall", {"fall": (0, 1), "upper": 5}),
        ("fall", {"fall": -1, "lower": -1, "upper": 1}),
        ("fall", {"fall": math.nan}),
        ("fall", {"fall": math.inf}),
        ("fall", {"fall": (1, 2, 3)}),
        ("fall", {"fall": "1"}),
        ("fall", {"fall": True}),
        ("height", {"height": math.nan}),
        ("height", {"height": True}),
        ("center", {"center": 0.5}),
        ("center", {"center": True}),
        ("center", {"lower": 1}),
        ("center", {"upper": -1}),
        ("lower", {"lower": 0.5}),
        ("upper", {"upper": math.inf}),
    ],
)
def test_bad_ceilings(name: str, arguments: dict[str, Any]) -> None:
    with pytest.raises(InvalidParameterError) as caught:
        Ceiling(**{"center": 0, "fall": 1, **arguments})
    assert caught.value.name == name


def test_a_ceiling_without_a_sum_says_which_side() -> None:
    with pytest.raises(InvalidParameterError, match="right side is unbounded"):
        Ceiling(center=0, fall=(1, 0))


@pytest.mark.parametrize(
    "score", [math.nan, math.inf, -math.inf, np.float32("nan"), "7919", None, True, 7919j, [SECRET]]
)
def test_bad_scores(score: Any) -> None:
    mechanism = dps.mechanisms.IntegerMechanism(epsilon=1.0, sensitivity=1)
    ceiling = Ceiling(center=7919, fall=1)
    for call in (mechanism.draw, mechanism.expected_calls, lambda s, c: mechanism.pmf(s, c, [7919])):
        with pytest.raises(InvalidScoresError) as caught:
            call(lambda _: score, ceiling)
        assert_says_nothing(caught.value)


def test_errors_of_the_score_pass_through() -> None:
    def fails(_: int) -> float:
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        dps.mechanisms.IntegerMechanism(epsilon=1.0, sensitivity=1).draw(fails, Ceiling(center=0, fall=1))


def test_a_score_may_draw_itself() -> None:
    mechanism = dps.mechanisms.IntegerMechanism(epsilon=1.0, sensitivity=1)
    geometric = dps.GeometricMechanism(epsilon=1.0, sensitivity=1)
    mechanism.draw(lambda y: -abs(y) - 0 * geometric.draw(0), Ceiling(center=0, fall=1))


def test_other_bad_arguments() -> None:
    mechanism = dps.mechanisms.IntegerMechanism(epsilon=1.0, sensitivity=1)
    score: Any = lambda y: -abs(y)  # noqa: E731
    for name, call in {
        "ceiling": lambda: mechanism.draw(score, 5),  # type: ignore[arg-type]
        "points": lambda: mechanism.pmf(score, Ceiling(center=0, fall=1), [0.5]),
    }.items():
        with pytest.raises(InvalidParameterError) as caught:
            call()
        assert caught.value.name == name


def test_the_core_takes_no_negative_fractions() -> None:
    one, minus_one = (b"\x01", b"\x01"), (b"\xff", b"\x01")
    for name, call in {
        "fall": lambda: _core.Proposals(1.0, 1.0, 1, one, minus_one),
        "gap": lambda: _core.Proposals(1.0, 1.0, 1, one, one).accepts(minus_one),
        "weights": lambda: _core.WeightedSampler(1.0, 1.0, 1, [one, minus_one]),
    }.items():
        with pytest.raises(InvalidParameterError) as caught:
            call()
        assert caught.value.name == name


def test_sums_that_take_too_long_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dpselect.mechanisms.integers._MOST_POINTS", 1000)
    mechanism = dps.mechanisms.IntegerMechanism(epsilon=1.0, sensitivity=1)
    with pytest.raises(InvalidParameterError, match="too wide"):
        mechanism.pmf(lambda y: -abs(y) / 100, Ceiling(center=0, fall=0.01), [0])
    with pytest.raises(InvalidParameterError, match="too wide"):
        mechanism.expected_calls(lambda _: -1e9, Ceiling(center=0, fall=1))
