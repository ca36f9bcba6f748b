"""Top-k: one total price, the better mechanism by public arguments, the k best in order."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from itertools import permutations

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dpselect as dps
from dpselect import Neighbours
from dpselect.accounting import ComposedEvent, LaplaceProfileEvent, calibrate_rounds, compose
from dpselect.errors import InvalidParameterError, InvalidScoresError
from dpselect.mechanisms import plan_top_k
from dpselect.planning import worst_case_error
from tests.accounting.worlds import closed_form_rounds, rounds_epsilon
from tests.laws.goodness_of_fit import NEVER, p_value
from tests.reference import permute_and_flip
from tests.reference.precision import flip_probabilities
from tests.reference.top_k import exponential_noise_once, peeled
from tests.slow import SLOW, crossed


def test_the_best_in_order() -> None:
    scores = np.array([10.0, 4000.0, 7.0, 2000.0, 3000.0, 1.0])
    for delta in (0.0, 1e-6):
        assert dps.top_k(scores, 3, epsilon=2.0, sensitivity=1.0, delta=delta) == [1, 4, 3]
        winners = dps.top_k(scores, 2, epsilon=2.0, sensitivity=1.0, delta=delta, candidates=list("abcdef"))
        assert winners == ["b", "e"]
    assert dps.top_k(pl.Series(scores), 1, epsilon=2.0, sensitivity=1.0) == [1]
    assert all(type(index) is int for index in dps.top_k(scores, 6, epsilon=2.0, sensitivity=1.0))


@given(
    n=st.integers(1, 40),
    k=st.integers(1, 40),
    epsilon=st.floats(0.01, 5.0),
    delta=st.sampled_from([0.0, 1e-9, 1e-6, 1e-3]),
)
def test_a_plan_never_costs_more_than_was_asked(n: int, k: int, epsilon: float, delta: float) -> None:
    k = min(k, n)
    plan = plan_top_k(n, k, epsilon=epsilon, sensitivity=1.0, delta=delta)
    rounds = max(1, k - (k == n))
    assert plan.delta <= delta
    assert plan.epsilon == epsilon
    assert plan.k == k
    if isinstance(plan.mechanism, dps.ExponentialNoiseTopK):
        assert (plan.delta, plan.rounds, plan.mechanism.k) == (0.0, 1, rounds)
        assert plan.event == plan.mechanism.event == LaplaceProfileEvent(epsilon=epsilon)
        assert plan.mechanism.scale == pytest.approx(2.0 * rounds / epsilon, rel=1e-15)
        assert Fraction(plan.mechanism._share) * rounds <= Fraction(epsilon)
        return
    assert plan.rounds == rounds
    assert plan.event == ComposedEvent(event=plan.mechanism.event, count=rounds)
    if isinstance(plan.mechanism, dps.PermuteAndFlip):
        assert plan.delta == 0.0
        assert Fraction(plan.mechanism.epsilon) * rounds <= Fraction(epsilon)
        assert plan.event.epsilon <= epsilon
        assert plan.mechanism.epsilon == pytest.approx(epsilon / rounds, rel=1e-15)
    else:
        assert plan.delta == delta
        assert rounds_epsilon(plan.mechanism.epsilon, count=rounds, delta=delta) <= epsilon
        assert plan.mechanism.epsilon >= closed_form_rounds(epsilon=epsilon, delta=delta, count=rounds) * (1 - 1e-8)


@pytest.mark.parametrize("delta", [0.0, 1e-6])
@pytest.mark.parametrize("k", [2, 3, 10, 40])
def test_the_last_of_all_candidates_takes_no_round(k: int, delta: float) -> None:
    """All of k are planned as k - 1 of them; what is left is then the same as if it had been drawn."""
    every, but_one = (plan_top_k(k, size, epsilon=1.0, sensitivity=1.0, delta=delta) for size in (k, k - 1))
    assert every.mechanism == but_one.mechanism
    assert every.event == but_one.event
    assert every.error_bound() == but_one.error_bound()
    assert every.error_bound() < plan_top_k(k + 1, k, epsilon=1.0, sensitivity=1.0, delta=delta).error_bound()
    assert sorted(every.select(np.zeros(k))) == list(range(k))


def test_of_one_candidate_one_round_is_charged() -> None:
    plan = plan_top_k(1, 1, epsilon=0.7, sensitivity=1.0)
    assert (plan.rounds, plan.event) == (1, ComposedEvent(event=LaplaceProfileEvent(epsilon=0.7), count=1))


def test_all_candidates_have_the_law_of_all_but_one() -> None:
    """Three candidates in order: the law at twice the scale of one selection, not at three times, and not peeled."""
    scores, epsilon = [0.0, 2.0, 2.0], 2.0
    orders = list(permutations(range(3)))
    # With 16,000 draws the peeled law is taken for the right one less than once in 10^10 runs.
    size = 24_000 if SLOW else 16_000
    draws = Counter(tuple(dps.top_k(scores, 3, epsilon=epsilon, sensitivity=1.0)) for _ in range(size))
    counts = np.array([draws[order] for order in orders])
    draw_once = exponential_noise_once
    for shares, draw, is_its_own in ((2, draw_once, True), (3, draw_once, False), (2, _peeled, False)):
        flips = flip_probabilities(scores, scale=2 * shares / Fraction(epsilon))
        law = draw(flips, k=3)
        chances = np.array([float(law[order]) for order in orders])
        assert (p_value(counts, chances) >= NEVER) is is_its_own


def _peeled(flips: Sequence[Fraction], *, k: int) -> dict[tuple[int, ...], Fraction]:
    return peeled(permute_and_flip.law_by_heads, flips, k=k)


@pytest.mark.slow
@pytest.mark.parametrize("k", [10, 50, 100])
def test_rounds_are_planned_by_the_exact_recursion(k: int) -> None:
    """With 2 to 7 percent more of epsilon a round than by Rényi divergences, and still within the total."""
    plan = plan_top_k(1000, k, epsilon=1.0, sensitivity=1.0, delta=1e-6)
    assert isinstance(plan.mechanism, dps.ExponentialMechanism)
    assert plan.mechanism.epsilon > 1.02 * closed_form_rounds(epsilon=1.0, delta=1e-6, count=k)
    assert compose([plan.event], tight=True).epsilon(1e-6) <= 1.0
    assert compose([plan.event], work=0).epsilon(1e-6) > 1.02  # the control: the other bound alone would not do
    beyond = plan_top_k(1000, 101, epsilon=1.0, sensitivity=1.0, delta=1e-6)
    assert beyond.mechanism.epsilon == pytest.approx(closed_form_rounds(epsilon=1.0, delta=1e-6, count=101), rel=1e-8)


@pytest.mark.parametrize("n", [2, 30, 1000, 10**6])
@pytest.mark.parametrize("k", [1, 2, 5, 10, 50])
def test_the_mechanism_with_the_smaller_worst_expected_error_is_taken(n: int, k: int) -> None:
    k = min(k, n)
    plan = plan_top_k(n, k, epsilon=1.0, sensitivity=1.0, delta=1e-6)
    rounds = max(1, k - (k == n))
    affordable = calibrate_rounds(epsilon=1.0, delta=1e-6, count=rounds)
    permute_and_flip = worst_case_error(dps.PermuteAndFlip, n, epsilon=1.0, sensitivity=1.0) * rounds
    errors = {
        dps.PermuteAndFlip: permute_and_flip,
        dps.ExponentialNoiseTopK: permute_and_flip,
        dps.ExponentialMechanism: worst_case_error(dps.ExponentialMechanism, n, epsilon=affordable, sensitivity=1.0),
    }
    assert errors[type(plan.mechanism)] <= min(errors.values()) * (1 + 1e-12)


def test_the_choice_depends_on_the_public_arguments() -> None:
    def chosen(k: int, delta: float) -> type:
        return type(plan_top_k(1000, k, epsilon=1.0, sensitivity=1.0, delta=delta).mechanism)

    assert chosen(1, 1e-6) is dps.PermuteAndFlip
    assert chosen(1, 0.0) is dps.PermuteAndFlip
    assert chosen(2, 1e-9) is dps.ExponentialNoiseTopK
    assert chosen(50, 0.0) is dps.ExponentialNoiseTopK
    assert type(plan_top_k(2, 2, epsilon=1.0, sensitivity=1.0).mechanism) is dps.PermuteAndFlip
    assert chosen(10, 1e-6) is dps.ExponentialMechanism
    assert chosen(50, 1e-6) is dps.ExponentialMechanism


def test_known_advantage_of_the_exponential_mechanism() -> None:
    """Epsilon a round over that of basic composition, at delta = 10^-6 and total epsilon 1."""
    for k, ratio, exact in ((5, 1.16, 1.164), (10, 1.5, 1.54), (20, 2.04, 2.13), (50, 3.16, 3.33)):
        assert closed_form_rounds(epsilon=1.0, delta=1e-6, count=k) * k == pytest.approx(ratio, abs=5e-3)
        assert calibrate_rounds(epsilon=1.0, delta=1e-6, count=k) * k == pytest.approx(exact, rel=5e-3)


@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_all_winners_stay_within_the_error_bound(delta: float) -> None:
    """On the worst scores of the first round, the bound's own confidence is met and hardly exceeded."""
    n, k, confidence = 50, 12, 0.9
    plan = plan_top_k(n, k, epsilon=1.0, sensitivity=1.0, delta=delta)
    bound = plan.error_bound(confidence)
    if delta:
        single = plan.mechanism.error_bound(n, confidence ** (1 / k))
        assert bound == pytest.approx(single, rel=1e-9)
        assert bound > plan.mechanism.error_bound(n, confidence)
    else:
        assert bound == plan.mechanism.error_bound(n, confidence)
        rounds = dps.PermuteAndFlip(epsilon=1 / k, sensitivity=1.0).error_bound(n, confidence ** (1 / k))
        assert bound < 0.8 * rounds  # no union over rounds
    scores = np.r_[np.full(k, 0.0), np.full(n - k, -bound * 1.001)]
    failures = sum(max(plan.select(scores)) >= k for _ in range(1500))
    # Each run fails with probability at most 0.1: 1500 of them 263 times with one below 10^-17.
    assert failures <= 263
    too_close = np.r_[np.full(k, 0.0), np.full(n - k, -bound / 4)]
    assert sum(max(plan.select(too_close)) >= k for _ in range(1500)) > 263


def test_plans_are_values() -> None:
    plan = plan_top_k(10, 3, epsilon=1, sensitivity=1, delta=0, neighbours="replace_one")
    assert plan == plan_top_k(10, 3, epsilon=1.0, sensitivity=1.0, delta=0.0, neighbours=Neighbours.REPLACE_ONE)
    assert plan.mechanism.neighbours is Neighbours.REPLACE_ONE
    monotonic = plan_top_k(10, 3, epsilon=1.0, sensitivity=1.0, monotonic=True)
    assert monotonic.mechanism.scale == plan.mechanism.scale / 2
    assert monotonic.error_bound() == pytest.approx(plan.error_bound() / 2, rel=1e-12)


def test_a_plan_is_for_so_many_scores() -> None:
    plan = plan_top_k(3, 2, epsilon=1.0, sensitivity=1.0)
    assert sorted(plan.select([1.0, 2.0, 3.0], ["a", "b", "c"])) in (["a", "b"], ["a", "c"], ["b", "c"])
    for scores in ([1.0, 2.0], [1.0, 2.0, 3.0, 4.0]):
        with pytest.raises(InvalidScoresError, match="the 3 scores the plan was made for"):
            plan.select(scores)


def test_bad_plans() -> None:
    for arguments in ({"n_candidates": 0, "k": 1}, {"n_candidates": 3, "k": 4}, {"n_candidates": 3, "k": 0}):
        with pytest.raises(InvalidParameterError):
            plan_top_k(**arguments, epsilon=1.0, sensitivity=1.0)
    with pytest.raises(InvalidParameterError, match="divided"):
        plan_top_k(3, 2, epsilon=5e-324, sensitivity=1.0)
    assert plan_top_k(3, 1, epsilon=5e-324, sensitivity=1.0).mechanism.epsilon == 5e-324


@pytest.mark.sampled(1)
@pytest.mark.parametrize(("delta", "epsilon"), crossed([0.0, 1e-6, 0.5], [1e300, 1e-300]))
def test_extreme_epsilon(epsilon: float, delta: float) -> None:
    assert len(dps.top_k([3.0, 1.0, 2.0], 2, epsilon=epsilon, sensitivity=1.0, delta=delta)) == 2


def test_one_candidate_and_all_candidates() -> None:
    assert dps.top_k([3.5], 1, epsilon=1.0, sensitivity=1.0, delta=1e-6) == [0]
    assert plan_top_k(1, 1, epsilon=1.0, sensitivity=1.0).error_bound() == 0.0
    assert sorted(dps.top_k(list(range(20)), 20, epsilon=1.0, sensitivity=1.0, delta=1e-6)) == list(range(20))
    assert math.isfinite(plan_top_k(20, 20, epsilon=1.0, sensitivity=1.0).error_bound(1 - 1e-12))
