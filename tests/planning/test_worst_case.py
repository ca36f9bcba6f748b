"""The worst scores and their errors: against a search over all vectors, closed forms, and the paper's bounds."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize, minimize_scalar
from scipy.special import lambertw

import dpselect as dps
from dpselect.planning import worst_case_bounds, worst_case_error
from tests.laws.subjects import KINDS, every_kind
from tests.reference.error_bounds import laplace_parts
from tests.slow import crossed

Kind = Callable[..., Any]
COUNTS = [2, 3, 4, 5, 10, 1000, 10**6, 10**9]


@pytest.mark.sampled(1)
@pytest.mark.parametrize(("n", "name"), crossed([5, 4, 3, 2], [*KINDS]))
def test_no_vector_found_by_searching_is_worse(n: int, name: str) -> None:
    """Also for Laplace noise, where nothing is proved; the search comes as far as the claimed maximum."""
    kind = KINDS[name]
    mechanism = kind(epsilon=2.0, sensitivity=1.0)
    generator = np.random.default_rng(n)

    def found(gaps: np.ndarray) -> float:
        return -mechanism.expected_error(np.r_[0.0, -np.abs(gaps)])

    starts = generator.uniform(0.0, 2.0 * math.log(n) + 3.0, size=(4, n - 1))
    largest = max(-minimize(found, start, method="Nelder-Mead", options={"maxiter": 1500}).fun for start in starts)
    claimed = worst_case_error(kind, n, epsilon=2.0, sensitivity=1.0)
    assert claimed * (1 - 1e-6) <= largest <= claimed * (1 + 1e-9)


def worst_gap(mechanism: Any, n: int) -> float:
    """How far below the best all others are where the error is the largest."""
    loses = mechanism.law.best_loses
    found = minimize_scalar(
        lambda theta: -theta * loses(theta, n),
        bounds=(0, 2 * math.log(n) + 4),
        method="bounded",
        options={"xatol": 1e-9},
    )
    return found.x * mechanism.scale


@every_kind
@pytest.mark.parametrize("n", [2, 7, 3000])
def test_the_worst_scores_attain_the_worst_error(kind: Kind, n: int) -> None:
    mechanism = kind(epsilon=0.3, sensitivity=2.0, monotonic=True)
    scores = np.r_[0.0, np.full(n - 1, -worst_gap(mechanism, n))]
    error = worst_case_error(kind, n, epsilon=0.3, sensitivity=2.0, monotonic=True)
    assert mechanism.expected_error(scores) == pytest.approx(error, rel=1e-10)
    for factor in (0.9, 1.1):
        assert mechanism.expected_error(factor * scores) < error


@pytest.mark.parametrize("n", COUNTS)
def test_closed_form_of_the_exponential_mechanism(n: int) -> None:
    """The largest ``theta (n-1) e^-theta / (1 + (n-1) e^-theta)`` is Lambert's W of ``(n-1)/e``."""
    expected = float(lambertw((n - 1) / math.e).real)
    assert worst_case_error(dps.ExponentialMechanism, n, epsilon=2.0, sensitivity=1.0) == pytest.approx(
        expected, rel=1e-12
    )
    assert worst_gap(dps.ExponentialMechanism(epsilon=2.0, sensitivity=1.0), n) == pytest.approx(1 + expected, rel=1e-6)


@every_kind
@pytest.mark.parametrize("n", COUNTS)
def test_between_the_bounds(kind: Kind, n: int) -> None:
    bounds = worst_case_bounds(kind, n, epsilon=0.7, sensitivity=1.0)
    error = worst_case_error(kind, n, epsilon=0.7, sensitivity=1.0)
    assert bounds.lower <= error <= bounds.upper
    assert bounds.lower == pytest.approx(0.5 / 0.7 * math.log(n), rel=1e-12)
    loose = worst_case_bounds(dps.PermuteAndFlip, n, epsilon=0.7, sensitivity=1.0).upper
    assert bounds.upper <= loose * (1 + 1e-12) or n < 5


@pytest.mark.parametrize("n", [1, 2, 5, 64, 65, 66, 1000])
def test_the_upper_bound_of_laplace_noise_is_its_sum(n: int) -> None:
    expected = math.fsum((1 - 0.5**k) / k for k in range(1, n + 1)) if n > 1 else 0.0
    bounds = worst_case_bounds(dps.ReportNoisyMax, n, epsilon=2.0, sensitivity=1.0)
    assert bounds.upper == pytest.approx(expected, rel=1e-13)


def test_the_parts_of_the_lower_bound_reach_a_half() -> None:
    assert all(sum(laplace_parts(n)) >= Fraction(1, 2) for n in range(2, 40))
    assert sum(laplace_parts(5)[:2]) < Fraction(1, 2)  # not from two of them


def test_the_order_of_the_three() -> None:
    for n in COUNTS:
        flip, exponential, laplace = (
            worst_case_error(kind, n, epsilon=1.0, sensitivity=1.0)
            for kind in (dps.PermuteAndFlip, dps.ExponentialMechanism, dps.ReportNoisyMax)
        )
        assert flip < exponential
        assert flip < laplace


def test_votes_of_the_lecture() -> None:
    """One hundred candidates, a scale of 4: its 39 votes are 37 by its own bound, and exactly these."""
    lead = dps.ExponentialMechanism(epsilon=0.5, sensitivity=1.0).error_bound(100)
    assert lead == pytest.approx(4 * math.log(99 * 99), rel=1e-11)
    assert math.ceil(4 * math.log(100 * 100)) == math.ceil(lead) == 37
    assert dps.PermuteAndFlip(epsilon=0.5, sensitivity=1.0).error_bound(100) == pytest.approx(34.0, abs=0.01)


@every_kind
@pytest.mark.parametrize("confidence", [0.3, 0.9, 0.999])
def test_a_lead_is_enough_and_less_is_not(kind: Kind, confidence: float) -> None:
    mechanism = kind(epsilon=0.8, sensitivity=1.0, monotonic=True)
    lead = mechanism.error_bound(12, confidence)

    def wins(lead: float) -> float:
        return float(mechanism.pmf(np.r_[lead, np.zeros(11)])[0])

    assert wins(lead * (1 + 1e-9)) >= confidence
    assert wins(lead * (1 - 1e-6)) < confidence


def test_one_candidate_and_many() -> None:
    for kind in (dps.PermuteAndFlip, dps.ReportNoisyMax):
        assert worst_case_error(kind, 1, epsilon=1e-300, sensitivity=1e300) == 0.0
        many = worst_case_error(kind, sys.maxsize, epsilon=1.0, sensitivity=1.0)
        assert 0.0 < many < worst_gap(kind(epsilon=1.0, sensitivity=1.0), sys.maxsize)


@pytest.mark.parametrize("function", [worst_case_error, worst_case_bounds])
@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        ({"n": 0}, "n=0"),
        ({"n": 2.5}, "n=2.5"),
        ({"n": True}, "n=True"),
        ({"n": 2**63}, "n=9223372036854775808"),
        ({"epsilon": 0.0}, "epsilon=0.0"),
        ({"epsilon": math.nan}, "epsilon=nan"),
        ({"sensitivity": -1}, "sensitivity=-1"),
        ({"monotonic": 1}, "monotonic=1"),
        ({"mechanism": "PF"}, "mechanism="),
    ],
)
def test_bad_input(function: Callable[..., Any], arguments: dict[str, Any], match: str) -> None:
    valid: dict[str, Any] = {"mechanism": dps.PermuteAndFlip, "n": 5, "epsilon": 1.0, "sensitivity": 1.0}
    function(**valid)
    with pytest.raises(dps.errors.InvalidParameterError, match=match):
        function(**valid | arguments)
