"""Planning with a prior: errors of the exponential mechanism with public weights, and of a blind guess by them."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np
import pytest

import dpselect as dps
from dpselect.errors import InvalidParameterError, InvalidScoresError
from dpselect.planning import (
    epsilon_for,
    error_curve,
    lead_needed,
    recommend_top_k,
    worst_case_bounds,
    worst_case_error,
    worst_case_scores,
)

PRIOR, SCORES = [90, 5, 4, 0, 1], [40.0, 30.0, 20.0, 99.0, 35.0]
ONE: dict[str, Any] = {"sensitivity": 1.0, "monotonic": True}
WITH = dps.ExponentialMechanism


def made(epsilon: float, weights: Any = PRIOR) -> dps.ExponentialMechanism:
    return WITH(epsilon=epsilon, weights=weights, **ONE)


def test_curves_are_those_of_the_mechanism_and_of_its_partial() -> None:
    at = [0.01, 0.3, 2.0]
    found = error_curve(WITH, SCORES, weights=PRIOR, epsilons=at, **ONE)
    assert found == pytest.approx([made(epsilon).expected_error(SCORES) for epsilon in at])
    assert found == pytest.approx(error_curve(partial(WITH, weights=PRIOR), SCORES, epsilons=at, **ONE))
    assert found != pytest.approx(error_curve(WITH, SCORES, epsilons=at, **ONE))  # control: without a prior
    worst = error_curve(WITH, weights=PRIOR, epsilons=at, confidence=0.9, **ONE)
    assert worst == pytest.approx([made(epsilon).error_bound(5, 0.9) for epsilon in at])
    assert worst == pytest.approx(error_curve(WITH, n=5, weights=PRIOR, epsilons=at, confidence=0.9, **ONE))
    within = error_curve(WITH, SCORES, weights=PRIOR, epsilons=at, confidence=0.9, **ONE)
    for epsilon, distance in zip(at, within, strict=True):
        pmf, below = made(epsilon).pmf(SCORES), 40.0 - np.array(SCORES)
        assert pmf[below > distance].sum() <= 0.1 < pmf[below >= distance].sum()


def test_the_blind_guess_is_by_the_weights() -> None:
    blind = (5 * 10 + 4 * 20 + 1 * 5) / 100
    assert error_curve(WITH, SCORES, weights=PRIOR, epsilons=[1e-12], **ONE) == pytest.approx([blind])
    with pytest.raises(InvalidParameterError, match=rf"a number > .*and < {blind}"):
        epsilon_for(WITH, SCORES, weights=PRIOR, expected_error=blind * 1.01, **ONE)
    found = epsilon_for(WITH, SCORES, weights=PRIOR, expected_error=blind * 0.999, **ONE)
    assert made(found).expected_error(SCORES) == pytest.approx(blind * 0.999, rel=1e-6)
    uniform = (10 + 20 + 5) / 4
    assert blind < uniform
    assert epsilon_for(WITH, SCORES[:3] + SCORES[4:], expected_error=uniform * 0.99, **ONE) > 0.0
    with pytest.raises(InvalidParameterError, match=r"confidence=0\.9: expected a number > 0\.91 and < 1"):
        epsilon_for(WITH, SCORES, weights=PRIOR, within=5.0, confidence=0.9, **ONE)


def test_targets_are_reached_and_not_with_less() -> None:
    targets: list[tuple[dict[str, Any], Any]] = [
        ({"expected_error": 0.5}, lambda mechanism: mechanism.expected_error(SCORES) <= 0.5),
        ({"within": 5.0, "confidence": 0.99}, lambda mechanism: mechanism.pmf(SCORES)[1:3].sum() <= 0.01),
    ]
    for target, holds in targets:
        epsilon = epsilon_for(WITH, SCORES, weights=PRIOR, **target, **ONE)
        assert holds(made(epsilon))
        assert not holds(made(epsilon * 0.99))
    epsilon = epsilon_for(WITH, weights=PRIOR, within=20.0, confidence=0.99, **ONE)
    assert made(epsilon).error_bound(5) == pytest.approx(20.0)
    with pytest.raises(InvalidParameterError, match=r"expected a number > 0\.01 and < 1"):
        epsilon_for(WITH, weights=PRIOR, within=20.0, confidence=0.005, **ONE)
    with pytest.raises(InvalidParameterError, match="always the best"):
        epsilon_for(WITH, weights=[0, 3, 0], within=20.0, confidence=0.99, **ONE)


def test_the_worst_case_is_that_of_the_lightest() -> None:
    worst = worst_case_error(WITH, 5, epsilon=1.0, weights=PRIOR, **ONE)
    assert worst == pytest.approx(made(1.0).worst_expected_error(5))
    assert worst > worst_case_error(WITH, 4, epsilon=1.0, **ONE)
    assert lead_needed(5, 1.0, mechanism=WITH, weights=PRIOR, **ONE) == made(1.0).error_bound(5)
    weighted: Any = partial(WITH, weights=PRIOR)
    bounds = worst_case_bounds(weighted, 5, epsilon=1.0, **ONE)
    assert bounds.upper == pytest.approx(math.log(100))
    assert bounds.lower <= worst <= bounds.upper
    assert (
        worst > worst_case_bounds(WITH, 5, epsilon=1.0, **ONE).upper
    )  # control: without the weights it would not hold
    assert worst_case_bounds(partial(WITH, weights=[0, 2]), 2, epsilon=1.0, **ONE).upper == 0.0
    with pytest.raises(InvalidParameterError, match="without weights"):
        worst_case_scores(weighted, 5, epsilon=1.0, **ONE)


def test_the_best_k_with_a_prior() -> None:
    advice = recommend_top_k(5, 2, monotonic=True, ordered=False, weights=PRIOR)
    assert advice.mechanism == WITH(epsilon=0.5, weights=PRIOR, **ONE)
    assert advice.rounds == 2
    assert "no other mechanism has weights and an order" in advice.reason
    whole = dps.TopKSet(epsilon=1.0, k=2, weights=PRIOR, **ONE)
    assert advice.bounds["the set at once"] == whole.error_bound(5)
    halved = recommend_top_k(5, 2, monotonic=True, ordered=False, with_counts=True)
    assert halved.bounds["the set at once"] == dps.TopKSet(epsilon=0.5, k=2, **ONE).error_bound(5)
    assert recommend_top_k(5, 2, monotonic=True, weights=PRIOR, with_counts=True).mechanism.epsilon == 0.25
    with pytest.raises(InvalidParameterError, match="max_values_per_unit"):
        recommend_top_k(5, 2, monotonic=True, weights=PRIOR, max_values_per_unit=1)


@pytest.mark.parametrize("mechanism", [dps.PermuteAndFlip, dps.ReportNoisyMax, partial(WITH)])
def test_only_the_exponential_mechanism_has_a_prior(mechanism: Any) -> None:
    with pytest.raises(InvalidParameterError, match=r"^weights=<weights>"):
        epsilon_for(mechanism, SCORES, weights=PRIOR, expected_error=1.0, **ONE)


def test_other_numbers_and_bad_weights_are_refused() -> None:
    with pytest.raises(InvalidScoresError, match="one for each weight"):
        error_curve(WITH, SCORES[:4], weights=PRIOR, epsilons=[1], **ONE)
    with pytest.raises(InvalidParameterError, match=r"^n=4"):
        error_curve(WITH, n=4, weights=PRIOR, epsilons=[1], **ONE)
    with pytest.raises(InvalidParameterError, match="number of weights"):
        worst_case_error(WITH, 4, epsilon=1.0, weights=PRIOR, **ONE)
    with pytest.raises(InvalidParameterError, match="weights"):
        error_curve(WITH, SCORES, weights=[-1] * 5, epsilons=[1], **ONE)
