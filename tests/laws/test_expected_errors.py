"""Laws of the error: who errs less, by how much at most, and bounds that no scores exceed."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dpselect as dps
from tests.laws.error_ratios import VECTORS, furthest_outside_one_to_two
from tests.laws.subjects import epsilons, every_kind, score_vectors
from tests.slow import SLOW

Kind = Callable[..., Any]


@given(scores=score_vectors(), epsilon=epsilons)
def test_permute_and_flip_errs_at_most_as_much_as_the_exponential_mechanism_and_at_least_half(
    scores: np.ndarray, epsilon: float
) -> None:
    permute_and_flip = dps.PermuteAndFlip(epsilon=epsilon, sensitivity=1.0).expected_error(scores)
    exponential = dps.ExponentialMechanism(epsilon=epsilon, sensitivity=1.0).expected_error(scores)
    assert permute_and_flip <= exponential * (1 + 1e-12)
    assert exponential <= 2 * permute_and_flip * (1 + 1e-12)


def test_the_ratio_is_between_one_and_two_on_random_vectors() -> None:
    """By day on a twentieth of them, many more than the controls below need."""
    exponential = dps.ExponentialMechanism(epsilon=2.0, sensitivity=1.0)
    permute_and_flip = dps.PermuteAndFlip(epsilon=2.0, sensitivity=1.0)
    count = VECTORS if SLOW else VECTORS // 20
    assert furthest_outside_one_to_two(exponential, permute_and_flip, count=count) <= 1e-12


@pytest.mark.slow
@pytest.mark.parametrize(
    ("larger", "smaller"),
    [
        (dps.ExponentialMechanism(epsilon=1.999999, sensitivity=1.0), dps.PermuteAndFlip(epsilon=2.0, sensitivity=1.0)),
        (dps.ExponentialMechanism(epsilon=3.0, sensitivity=1.0), dps.PermuteAndFlip(epsilon=2.0, sensitivity=1.0)),
        (dps.ReportNoisyMax(epsilon=2.0, sensitivity=1.0), dps.PermuteAndFlip(epsilon=2.0, sensitivity=1.0)),
        (dps.ExponentialMechanism(epsilon=2.0, sensitivity=1.0), dps.ReportNoisyMax(epsilon=2.0, sensitivity=1.0)),
    ],
    ids=["a little more noise", "less noise", "Laplace noise above", "Laplace noise below"],
)
def test_other_pairs_leave_that_interval(larger: Any, smaller: Any) -> None:
    assert furthest_outside_one_to_two(larger, smaller, count=50) > 1e-9


def test_both_ends_of_that_ratio_are_approached() -> None:
    def ratio(scores: list[float]) -> float:
        errors = [
            kind(epsilon=1.0, sensitivity=1.0).expected_error(scores)
            for kind in (dps.ExponentialMechanism, dps.PermuteAndFlip)
        ]
        return errors[0] / errors[1]

    assert ratio([0.0, -60.0]) > 1.999
    assert 1.0 < ratio([0.0, *[-1e-3] * 5000]) < 1.001


@every_kind
@given(scores=score_vectors(), epsilon=epsilons)
def test_expected_error_is_the_mean_gap(kind: Kind, scores: np.ndarray, epsilon: float) -> None:
    mechanism = kind(epsilon=epsilon, sensitivity=1.0)
    expected = float(mechanism.pmf(scores) @ (scores.max() - scores))
    assert mechanism.expected_error(scores) == pytest.approx(expected, rel=1e-12)


@every_kind
@given(scores=score_vectors(max_size=30), epsilon=epsilons, confidence=st.floats(0.01, 0.999))
def test_no_scores_exceed_the_error_bound(kind: Kind, scores: np.ndarray, epsilon: float, confidence: float) -> None:
    mechanism = kind(epsilon=epsilon, sensitivity=1.0)
    bound = mechanism.error_bound(scores.size, confidence)
    within = scores.max() - scores <= bound
    assert mechanism.pmf(scores)[within].sum() >= confidence - 1e-12


@every_kind
@pytest.mark.parametrize("n", [2, 3, 50, 5000])
@pytest.mark.parametrize("confidence", [0.6, 0.99, 0.999999])
def test_the_worst_scores_reach_the_error_bound(kind: Kind, n: int, confidence: float) -> None:
    mechanism = kind(epsilon=0.7, sensitivity=3.0)
    bound = mechanism.error_bound(n, confidence)

    def chance_of_the_others(gap: float) -> float:
        return 1.0 - float(mechanism.pmf(np.r_[0.0, np.full(n - 1, -gap)])[0])

    assert chance_of_the_others(bound * (1 + 1e-9)) <= 1 - confidence
    assert chance_of_the_others(bound * (1 - 1e-6)) > 1 - confidence


@every_kind
def test_the_error_bound_grows_with_candidates_confidence_and_scale(kind: Kind) -> None:
    mechanism = kind(epsilon=1.0, sensitivity=1.0)
    by_count = [mechanism.error_bound(n) for n in (1, 2, 10, 10**3, 10**6, 10**9)]
    by_confidence = [mechanism.error_bound(100, c) for c in (0.005, 0.3, 0.5, 0.9, 0.99, 0.9999)]
    assert by_count == sorted(set(by_count))
    assert by_confidence == sorted(set(by_confidence))
    assert by_count[0] == by_confidence[0] == 0.0
    doubled = kind(epsilon=0.5, sensitivity=1.0).error_bound(10)
    assert doubled == pytest.approx(2 * by_count[2], rel=1e-12)
    assert kind(epsilon=0.5, sensitivity=1.0, monotonic=True).error_bound(10) == by_count[2]


def test_votes_of_the_lecture() -> None:
    """How far ahead a winner has to be among 2 * 10 options: a bound computed here, against its closed form."""
    mechanism = dps.ExponentialMechanism(epsilon=1.0, sensitivity=1.0)
    assert mechanism.error_bound(20) == pytest.approx(2 * math.log(19 * 99), rel=1e-11)
    assert dps.PermuteAndFlip(epsilon=1.0, sensitivity=1.0).error_bound(20) < mechanism.error_bound(20)
