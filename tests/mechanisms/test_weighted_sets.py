"""The k best as a set with weights: its law in draws, its table, its bound, and what is refused."""

from __future__ import annotations

import math
import pickle
from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import dpselect as dps
from dpselect.errors import InvalidParameterError, InvalidScoresError
from dpselect.mechanisms import plan_top_k, rank_sets
from dpselect.mechanisms.rank_sets import _dyadic, _Point, log_sets
from dpselect.mechanisms.top_k_set import _WeightedSetDraw
from dpselect.mechanisms.weights import CandidateWeights
from tests.laws.goodness_of_fit import NEVER, p_value
from tests.reference.precision import exponential
from tests.reference.weighted_sets import failure_bound, law
from tests.slow import SLOW

DRAWS = 3000 if SLOW else 400
SHAPES: list[tuple[list[int], list[Any], int]] = [
    ([3, 1, 4, 1, 5, 9], [1, 2.5, Fraction(1, 3), 4, 0, 1], 2),
    ([0, 0, 0, 0], [1, 9, 1, 3], 2),
    ([2, 1], [1, 5], 1),
    ([9, 8, 7, 7], [1, 2, 3, 40], 3),
    ([-4, -4, 50, 3], [1e-3, 7, 0.01, 1], 1),
    ([100, 99, 5, 5, 4, 4], [1, 1, 10**30, 1, 5 * 10**30, 1], 3),
    ([6, 0, 5, 1], [Fraction(1, 10**400), 1, Fraction(1, 10**400), 2], 2),
]


def made(weights: Any, k: int = 2, *, epsilon: float = 1.0, **options: Any) -> dps.TopKSet:
    given = {"sensitivity": 1.0, "monotonic": True} | options
    return dps.TopKSet(**given, k=k, epsilon=epsilon, weights=weights)


def law_of(mechanism: dps.TopKSet, scores: list[int], weights: list[Any]) -> dict[tuple[int, ...], float]:
    exact = law(scores, [Fraction(weight) for weight in weights], mechanism.k, exponential(mechanism.rate))
    return {members: float(each) for members, each in exact.items()}


def counted(mechanism: dps.TopKSet, scores: Any, sets: Any) -> np.ndarray:
    found = Counter(tuple(mechanism.select(scores)) for _ in range(DRAWS))
    assert set(found) <= set(sets)
    return np.array([found[each] for each in sets])


@pytest.mark.sampled(1)
@pytest.mark.parametrize(("scores", "weights", "k"), SHAPES if SLOW else SHAPES[::3])
def test_draws_have_the_law_of_all_weighted_sets(scores: list[int], weights: list[Any], k: int) -> None:
    mechanism = made(weights, k)
    exact = law_of(mechanism, scores, weights)
    counts = counted(mechanism, scores, exact)
    assert p_value(counts, np.array([*exact.values()])) >= NEVER
    equal = law_of(mechanism, scores, [int(weight > 0) for weight in weights])
    if max(exact.values()) < 0.99:
        assert p_value(counts, np.array([*equal.values()])) < NEVER  # control: without weights


@pytest.mark.sampled(1)
@pytest.mark.parametrize("dtype", ["f4", "u8"] if not SLOW else ["f4", "i2", "u8", "f8"])
def test_scales_and_types(dtype: str) -> None:
    scores, weights = [6, 3, 4, 1], [1, 4, 2, 2]
    mechanism = made(weights, monotonic=False, sensitivity=0.5)
    exact = law_of(mechanism, scores, weights)
    counts = counted(mechanism, np.array(scores, dtype), exact)
    assert p_value(counts, np.array([*exact.values()])) >= NEVER
    other = law_of(made(weights, sensitivity=0.5), scores, weights)
    assert p_value(counts, np.array([*other.values()])) < NEVER


def test_equal_weights_draw_as_none_do() -> None:
    scores = [4, 1, 3, 3]
    exact = law_of(made([5] * 4), scores, [1] * 4)
    counts = counted(made([5] * 4), scores, exact)
    assert p_value(counts, np.array([*exact.values()])) >= NEVER
    none = counted(dps.TopKSet(k=2, epsilon=1.0, sensitivity=1.0, monotonic=True), scores, exact)
    assert p_value(none, np.array([*exact.values()])) >= NEVER


def value(logarithm: float) -> Fraction:
    digits, exponent = _dyadic(logarithm)
    return Fraction(digits) * Fraction(2) ** exponent


def entries_without_room(scores: np.ndarray, weights: np.ndarray, k: int) -> int:
    """How many entries of the table are less than all that leads to them."""
    mechanism = made(weights, k)
    sets = _WeightedSetDraw(mechanism, scores, CandidateWeights.of(weights))._sets
    table, missing = sets._table, 0
    for row in range(k + 1):
        for rank in range(1, scores.size + 1):
            steps = value(table[row, rank - 1])
            if row == k and rank == k:
                steps += value(sets._best)
            elif row == k and rank > k:
                end = value(sets._ends[rank - k - 1])
                steps += value(sets._logarithms[rank - 1]) * end * value(table[k - 1, rank - 1])
            elif row < k:
                steps += value(sets._logarithms[rank - 1]) * value(table[row - 1, rank - 1]) if row else 0
                steps += value(sets._starts[row]) if rank == row + 1 else 0
            missing += steps > value(table[row, rank])
    return missing


@pytest.mark.sampled(1)
@pytest.mark.parametrize("shape", ["equal", "near", "far", "apart"])
def test_each_entry_of_the_table_has_room_for_all_that_leads_to_it(shape: str, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(4)
    scores = {"equal": np.zeros(60), "near": rng.normal(scale=5.0, size=60), "far": 1e9 / np.arange(1.0, 61.0)}
    weights = np.exp(rng.normal(scale=150.0 if shape == "apart" else 1.0, size=60))
    used = scores.get(shape, scores["near"])
    for k in (1, 4, 30):
        assert entries_without_room(used, weights, k) == 0
    monkeypatch.setattr(rank_sets, "_DIGITS", 80)  # control: hardly any margin
    assert entries_without_room(used, weights, 30) > 0


def test_a_walk_that_lands_in_a_margin_begins_anew_and_keeps_the_law() -> None:
    scores, weights = np.array([5, 1, 3, 4, 0]), [1, 5, 2, 3, 4]
    draw = _WeightedSetDraw(made(weights, 3), scores, CandidateWeights.of(weights))
    sets = draw._sets
    sets._margin = 0.2
    sets._table = sets._filled()
    tries = [sets.propose() for _ in range(400)]
    assert 0 < sum(each is None for each in tries) < 400
    exact = law_of(made(weights, 3), scores.tolist(), weights)
    found = Counter(tuple(draw.indices()) for _ in range(DRAWS))
    counts = np.array([found[members] for members in exact])
    assert p_value(counts, np.array([*exact.values()])) >= NEVER


def test_digits_that_a_comparison_needs_are_drawn() -> None:
    below = 0
    for _ in range(1000):
        point = _Point(0.0)
        point._drawn, point._exponent = 0, 0  # somewhere from 0 to 1
        below += point.is_below((1, -2))
    assert p_value(np.array([below, 1000 - below]), np.array([0.25, 0.75])) >= NEVER
    assert p_value(np.array([below, 1000 - below]), np.array([0.5, 0.5])) < NEVER


def test_a_point_is_uniform_and_refined_as_far_as_needed() -> None:
    below = sum(_Point(0.0).is_below((3, -2)) for _ in range(2000))
    assert p_value(np.array([below, 2000 - below]), np.array([0.75, 0.25])) >= NEVER
    assert p_value(np.array([below, 2000 - below]), np.array([0.5, 0.5])) < NEVER
    point = _Point(0.0)
    assert not point.is_below((0, 0))
    assert point.is_below((1, 0))
    ends = [(1 << 300) // 3, (1 << 300) // 3 + 1]
    assert point.is_below((ends[0], -300)) <= point.is_below((ends[1], -300))


def test_the_bound_is_that_of_the_lightest_set() -> None:
    for weights in ([1, 2, 3, 4], [1, 0, 30, 2, 2.5], [Fraction(1, 10**400), 1, 2, 3]):
        mechanism, n = made(weights, monotonic=False), len(weights)
        exact = [Fraction(weight) for weight in weights]
        bound = mechanism.error_bound(n, 0.9)
        growth = Fraction(math.exp(min(bound / mechanism.scale, 600.0)))
        if bound / mechanism.scale < 600.0:
            assert float(failure_bound(exact, 2, growth, distance=1)) == pytest.approx(0.1, rel=1e-6)
        else:
            assert bound / mechanism.scale == pytest.approx(400 * math.log(10) + math.log(9 * (1 + 3) / 1), rel=0.01)
    equal = dps.TopKSet(k=2, epsilon=1.0, sensitivity=1.0, monotonic=True)
    assert made([3] * 9).error_bound(9) == pytest.approx(equal.error_bound(9), rel=1e-6)
    assert log_sets(CandidateWeights.of([5, 5, 5]), 1) >= math.log(3)


def test_it_is_a_value_at_the_same_cost() -> None:
    mechanism = made([1, 2, 3])
    assert pickle.loads(pickle.dumps(mechanism)) == mechanism
    assert mechanism != made([1, 2, 4])
    assert mechanism.event == dps.TopKSet(k=2, epsilon=1.0, sensitivity=1.0, monotonic=True).event
    assert "weights=<3 weights>" in repr(mechanism)
    assert "weights" not in repr(dps.TopKSet(k=2, epsilon=1.0, sensitivity=1.0))


def test_far_ahead_with_weights_is_found() -> None:
    rng = np.random.default_rng(2)
    scores = rng.permutation(np.r_[np.full(5000, 3.0), np.arange(1000.0, 1200.0, 20.0)])
    weights = rng.uniform(0.5, 2.0, size=scores.size)
    assert made(weights, 10).select(scores) == np.flatnonzero(scores >= 1000.0).tolist()
    with_weight = np.flatnonzero(scores >= 1020.0)
    weights[np.flatnonzero(scores == 1000.0)] = 0.0
    assert made(weights, 9).select(scores) == with_weight.tolist()
    assert made(weights, 2, epsilon=1e-300).select(scores)
    assert made([1, 2, 3], 1).select([1e308, -1e308, 0.0]) == [0]


@pytest.mark.parametrize("weights", [[1, 2, -1], [0, 0, 0], "abc", [math.nan, 1, 2], [0, 0, 5], [0, 4, 5]])
def test_bad_weights_and_too_few_are_refused(weights: Any) -> None:
    with pytest.raises(InvalidParameterError):
        made(weights)


def test_other_numbers_of_scores_and_too_much_work_are_refused() -> None:
    with pytest.raises(InvalidScoresError, match="one for each weight"):
        made([1, 2, 3]).select([1, 2, 3, 4])
    with pytest.raises(InvalidParameterError, match="number of weights"):
        made([1, 2, 3]).error_bound(4)
    with pytest.raises(InvalidParameterError, match=r"k=300.*at most 200"):
        made(np.ones(100_000), 300)


def test_top_k_takes_weights_in_order_and_as_a_set() -> None:
    asked: dict[str, Any] = {"epsilon": 1.0, "sensitivity": 1.0, "monotonic": True}
    scores, weights = [3, 5, 0, 4], [2, 1, 40, 0]
    first = np.bincount([dps.top_k(scores, 2, weights=weights, **asked)[0] for _ in range(DRAWS)], minlength=4)
    half = dps.ExponentialMechanism(**(asked | {"epsilon": 0.5}), weights=weights)
    assert p_value(first, half.pmf(scores)) >= NEVER
    assert p_value(first, dps.ExponentialMechanism(**asked, weights=weights).pmf(scores)) < NEVER
    whole = Counter(tuple(dps.top_k(scores, 2, weights=weights, method="set", **asked)) for _ in range(DRAWS))
    exact = law_of(made(weights), scores, weights)
    assert p_value(np.array([whole[each] for each in exact]), np.array([*exact.values()])) >= NEVER
    assert dps.top_k(scores, 2, weights=[1, 0, 0, 1], candidates=list("abcd"), **asked | {"epsilon": 1e4}) == ["d", "a"]


def test_a_plan_with_weights_costs_what_its_rounds_do() -> None:
    plan = plan_top_k(4, 3, epsilon=1.0, sensitivity=1.0, weights=[1, 2, 3, 0])
    assert (plan.rounds, plan.k, plan.mechanism.epsilon, plan.delta) == (2, 3, 0.5, 0.0)
    assert plan.event.epsilon <= 1.0
    assert sorted(plan.select([1, 2, 3, 4])) == [0, 1, 2]
    each = dps.ExponentialMechanism(epsilon=0.5, sensitivity=1.0, weights=[1, 2, 3, 0])
    assert plan.error_bound(0.81) == pytest.approx(each.error_bound(4, 0.9))
    many = plan_top_k(100, 50, epsilon=1.0, delta=1e-6, sensitivity=1.0, weights=[1] * 100)
    assert many.delta == 1e-6
    assert many.mechanism.epsilon > 2 / 50
    with pytest.raises(InvalidParameterError, match=r"k=3.*at most 2"):
        plan_top_k(4, 3, epsilon=1.0, sensitivity=1.0, weights=[1, 2, 0, 0])
    with pytest.raises(InvalidParameterError, match="one for each"):
        plan_top_k(4, 3, epsilon=1.0, sensitivity=1.0, weights=[1, 2])


def test_what_does_not_go_together_is_refused() -> None:
    asked: dict[str, Any] = {"epsilon": 1.0, "sensitivity": 1.0}
    with pytest.raises(InvalidParameterError, match="delta"):
        dps.top_k([1, 2, 3], 2, method="set", delta=1e-6, **asked)
