"""Which mechanism when selections share a budget: computed both ways, and never against what the budget allows."""

from __future__ import annotations

import math
from typing import Any

import pytest

import dpselect as dps
from dpselect.accounting import LaplaceProfileEvent, compose
from dpselect.planning import recommend, recommendation
from tests.accounting.worlds import rounds_epsilon
from tests.slow import SLOW

DELTAS = [1e-9, 1e-6, 1e-4]


@pytest.mark.parametrize("selections", [1, 2, 10, 1000])
@pytest.mark.parametrize("n", [2, 50, 10**9])
def test_pure_privacy_is_for_permute_and_flip(selections: int, n: int) -> None:
    advice = recommendation(selections, n=n)
    assert advice.mechanism is dps.PermuteAndFlip
    assert advice.exponential_epsilon == advice.permute_and_flip_epsilon


@pytest.mark.slow
@pytest.mark.parametrize("delta", DELTAS)
def test_one_selection_is_for_permute_and_flip_and_many_are_not(delta: float) -> None:
    chosen = [recommend(selections=k, delta=delta) for k in ((*range(1, 16), 20, 39) if SLOW else (1, 2, 4, 8, 15, 39))]
    assert chosen[0] is dps.PermuteAndFlip
    assert chosen[-1] is dps.ExponentialMechanism
    first = chosen.index(dps.ExponentialMechanism)
    assert all(each is dps.ExponentialMechanism for each in chosen[first:])


@pytest.mark.parametrize("delta", DELTAS)
@pytest.mark.parametrize("selections", [1, 3, 10, 100])
def test_both_stay_within_the_budget(selections: int, delta: float) -> None:
    advice = recommendation(selections, delta, epsilon=0.8)
    flips = [LaplaceProfileEvent(epsilon=advice.permute_and_flip_epsilon)] * selections
    assert compose(flips).epsilon(delta) <= 0.8
    assert rounds_epsilon(advice.exponential_epsilon, count=selections, delta=delta) <= 0.8


@pytest.mark.parametrize("selections", [1, 2, 5, 6, 8, 20])
@pytest.mark.parametrize("n", [2, 30, 10**6])
def test_the_one_with_the_lower_error_is_recommended(selections: int, n: int) -> None:
    advice = recommendation(selections, 1e-6, n=n)
    errors = {
        kind: kind(epsilon=epsilon, sensitivity=1.0).error_bound(n)
        for kind, epsilon in (
            (dps.PermuteAndFlip, advice.permute_and_flip_epsilon),
            (dps.ExponentialMechanism, advice.exponential_epsilon),
        )
    }
    assert advice.mechanism is min(errors, key=lambda kind: errors[kind])


def test_the_figures_of_the_theory() -> None:
    """What the exponential mechanism may spend more, at delta = 1e-6 and a total of 1; where it has to."""
    advice = [recommendation(k, 1e-6) for k in (5, 10)]
    advantages = [each.exponential_epsilon / each.permute_and_flip_epsilon for each in advice]
    assert advantages == pytest.approx([1.16, 1.53], abs=0.006)
    assert recommendation(5, 1e-6).break_even == pytest.approx(1 + math.log(2) / math.log(50), rel=0.01)


@pytest.mark.parametrize("confidence", [0.51, 0.7, 0.9, 0.99, 0.9999, 1 - 1e-9])
def test_two_candidates_are_the_hardest_case_for_the_exponential_mechanism(confidence: float) -> None:
    counts = [2, 3, 4, 5, 8, 16, 100, 10**4, 10**6, 10**9, 10**12]
    needed = [recommendation(5, 1e-6, n=n, confidence=confidence).break_even for n in counts]
    assert needed == sorted(needed, reverse=True)
    assert 1.0 < needed[-1] < needed[0] < 2.5


@pytest.mark.parametrize("selections", [1, 20])
@pytest.mark.parametrize("confidence", [0.5, 0.2, 1e-9])
def test_a_confidence_that_a_blind_guess_reaches_leaves_permute_and_flip(selections: int, confidence: float) -> None:
    advice = recommendation(selections, 1e-6, confidence=confidence)
    assert advice.mechanism is dps.PermuteAndFlip


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        ({"selections": 0}, "selections=0"),
        ({"selections": 1.5}, "selections=1.5"),
        ({"selections": 1, "delta": 1.0}, "delta=1"),
        ({"selections": 1, "delta": math.nan}, "delta=nan"),
        ({"selections": 1, "epsilon": 0}, "epsilon=0"),
        ({"selections": 1, "n": 1}, "n=1: expected at least 2"),
        ({"selections": 1, "confidence": 1.0}, "confidence=1"),
    ],
)
def test_bad_input(arguments: dict[str, Any], match: str) -> None:
    with pytest.raises(dps.errors.InvalidParameterError, match=match):
        recommend(**arguments)
