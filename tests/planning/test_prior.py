"""Planning with a prior: errors of the exponential mechanism with public weights, and of a blind guess by them."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np
import pytest

import dpselect as dps
from dpselect.errors import InvalidParameterError, InvalidScoresError
from dpselect.planning import epsilon_for, error_curve, worst_case_bounds, worst_case_error

PRIOR, SCORES = [90, 5, 4, 0, 1], [40.0, 30.0, 20.0, 99.0, 35.0]
ONE: dict[str, Any] = {"sensitivity": 1.0, "monotonic": True}
ALIKE = dps.ExponentialMechanism


def prior(weights: Any = PRIOR) -> Any:
    return partial(dps.ExponentialMechanism, weights=weights)


def made(epsilon: float, weights: Any = PRIOR) -> dps.ExponentialMechanism:
    return prior(weights)(epsilon=epsilon, **ONE)


def test_curves_are_those_of_the_mechanism() -> None:
    at = [0.01, 0.3, 2.0]
    found = error_curve(prior(), SCORES, epsilons=at, **ONE)
    assert found == pytest.approx([made(epsilon).expected_error(SCORES) for epsilon in at])
    assert found != pytest.approx(error_curve(ALIKE, SCORES, epsilons=at, **ONE))  # control: without a prior
    worst = error_curve(prior(), epsilons=at, confidence=0.9, **ONE)
    assert worst == pytest.approx([made(epsilon).error_bound(5, 0.9) for epsilon in at])
    assert worst == pytest.approx(error_curve(prior(), n=5, epsilons=at, confidence=0.9, **ONE))
    within = error_curve(prior(), SCORES, epsilons=at, confidence=0.9, **ONE)
    for epsilon, distance in zip(at, within, strict=True):
        pmf, below = made(epsilon).pmf(SCORES), 40.0 - np.array(SCORES)
        assert pmf[below > distance].sum() <= 0.1 < pmf[below >= distance].sum()


def test_the_blind_guess_is_by_the_weights() -> None:
    blind = (5 * 10 + 4 * 20 + 1 * 5) / 100
    assert error_curve(prior(), SCORES, epsilons=[1e-12], **ONE) == pytest.approx([blind])
    with pytest.raises(InvalidParameterError, match=rf"a number > .*and < {blind}"):
        epsilon_for(prior(), SCORES, expected_error=blind * 1.01, **ONE)
    found = epsilon_for(prior(), SCORES, expected_error=blind * 0.999, **ONE)
    assert made(found).expected_error(SCORES) == pytest.approx(blind * 0.999, rel=1e-6)
    uniform = (10 + 20 + 5) / 4
    assert blind < uniform
    assert epsilon_for(ALIKE, SCORES[:3] + SCORES[4:], expected_error=uniform * 0.99, **ONE) > 0.0
    with pytest.raises(InvalidParameterError, match=r"confidence=0\.9: expected a number > 0\.91 and < 1"):
        epsilon_for(prior(), SCORES, within=5.0, confidence=0.9, **ONE)


def test_targets_are_reached_and_not_with_less() -> None:
    targets: list[tuple[dict[str, Any], Any]] = [
        ({"expected_error": 0.5}, lambda mechanism: mechanism.expected_error(SCORES) <= 0.5),
        ({"within": 5.0, "confidence": 0.99}, lambda mechanism: mechanism.pmf(SCORES)[1:3].sum() <= 0.01),
    ]
    for target, holds in targets:
        epsilon = epsilon_for(prior(), SCORES, **target, **ONE)
        assert holds(made(epsilon))
        assert not holds(made(epsilon * 0.99))
    epsilon = epsilon_for(prior(), within=20.0, confidence=0.99, **ONE)
    assert made(epsilon).error_bound(5) == pytest.approx(20.0)
    with pytest.raises(InvalidParameterError, match=r"expected a number > 0\.01 and < 1"):
        epsilon_for(prior(), within=20.0, confidence=0.005, **ONE)
    with pytest.raises(InvalidParameterError, match="always the best"):
        epsilon_for(prior([0, 3, 0]), within=20.0, confidence=0.99, **ONE)


def test_the_worst_case_is_that_of_the_lightest() -> None:
    worst = worst_case_error(prior(), 5, epsilon=1.0, **ONE)
    behind = np.linspace(0.0, 20.0, 200_001)  # all but the lightest candidate, which weighs 1 of 100
    assert worst == pytest.approx(np.max(behind * 99.0 / (np.exp(behind) + 99.0)), rel=1e-9)
    assert worst > worst_case_error(ALIKE, 4, epsilon=1.0, **ONE)
    bounds = worst_case_bounds(prior(), 5, epsilon=1.0, **ONE)
    assert bounds.upper == pytest.approx(math.log(100))
    assert bounds.lower <= worst <= bounds.upper
    assert (
        worst > worst_case_bounds(ALIKE, 5, epsilon=1.0, **ONE).upper
    )  # control: without the weights it would not hold
    assert worst_case_bounds(prior([0, 2]), 2, epsilon=1.0, **ONE).upper == 0.0


def test_other_numbers_and_bad_weights_are_refused() -> None:
    with pytest.raises(InvalidScoresError, match="one for each weight"):
        error_curve(prior(), SCORES[:4], epsilons=[1], **ONE)
    with pytest.raises(InvalidParameterError, match=r"^n=4"):
        error_curve(prior(), n=4, epsilons=[1], **ONE)
    with pytest.raises(InvalidParameterError, match="number of weights"):
        worst_case_error(prior(), 4, epsilon=1.0, **ONE)
    with pytest.raises(InvalidParameterError, match="weights"):
        error_curve(prior([-1] * 5), SCORES, epsilons=[1], **ONE)
