"""What plans are computed from, against fifty digits: probabilities and expected errors for any epsilon in use.

From 1e-6 to 100, up to 200 scores, general and monotone; ties, near-ties, huge counts, one far ahead.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import dpselect as dps
from tests.mechanisms import high_precision
from tests.mechanisms.high_precision import Law, expected_error, largest_relative_error, relative_error, scaled_gaps
from tests.reference.permute_and_flip import law_by_dynamic_program

AT_MOST = 1e-10

SMALLEST = 1e-290
"""Probabilities and errors below are left out: below 2.2e-308 a double has fewer digits than the comparison asks for,
and a probability that small may be the product of factors of which one is below that."""

EPSILONS = [1e-6, 1e-4, 1e-2, 0.1, 1.0, 10.0, 100.0]
SENSITIVITY = 0.75

Kind = Callable[..., Any]

EXPONENTIAL = (dps.ExponentialMechanism, high_precision.exponential)
PERMUTE_AND_FLIP = (dps.PermuteAndFlip, high_precision.permute_and_flip)
LAPLACE = (dps.ReportNoisyMax, high_precision.laplace)

FEW_LEVELS = ["all equal", "small integers", "one best"]
SHAPES = [*FEW_LEVELS, "normal", "geometric", "one far ahead", "near-ties", "huge counts"]


def scores_of(shape: str, n: int) -> np.ndarray:
    rng = np.random.default_rng(sum(map(ord, shape)) + n)
    return {
        "all equal": np.full(n, 3.25),
        "small integers": rng.integers(0, 10, n),
        "one best": np.r_[np.full(n - 1, -7.3), 0.0],
        "normal": rng.normal(scale=5.0, size=n),
        "geometric": 2.0 ** -np.arange(n),
        "one far ahead": np.r_[1e4, rng.exponential(size=n - 1)],
        "near-ties": 1.0 + rng.integers(0, 1000, n) * 1e-9,
        "huge counts": 10**9 - rng.integers(0, 2000, n),
    }[shape]


@dataclass(frozen=True)
class Errors:
    """The largest relative errors, and how much of the law they were taken over."""

    of_pmf: float
    of_expected_error: float
    compared: int


def compare(kind: Kind, exact_law: Law, scores: np.ndarray, *, epsilon: float, monotonic: bool) -> Errors:
    scale = (1 if monotonic else 2) * Fraction(SENSITIVITY) / Fraction(epsilon)
    exact = exact_law(scaled_gaps(scores.tolist(), scale=scale))
    mechanism = kind(epsilon=epsilon, sensitivity=SENSITIVITY, monotonic=monotonic)
    pmf = mechanism.pmf(scores)
    visible = [i for i, chance in enumerate(exact) if chance > SMALLEST]
    assert np.all(np.delete(pmf, visible) <= 2 * SMALLEST)
    error = expected_error(scaled_gaps(scores.tolist(), scale=Fraction(1)), exact)
    computed = mechanism.expected_error(scores)
    assert error > SMALLEST or computed <= 2 * SMALLEST
    return Errors(
        of_pmf=largest_relative_error(pmf[visible], [exact[i] for i in visible]),
        of_expected_error=relative_error(computed, error) if error > SMALLEST else 0.0,
        compared=len(visible) + (error > SMALLEST),
    )


def settings(n: int) -> Iterator[dict[str, Any]]:
    """Every epsilon, monotone or not in turn; the next size has it the other way round."""
    for place, epsilon in enumerate(EPSILONS):
        yield {"epsilon": epsilon, "monotonic": (place + len(str(n))) % 2 == 0}


def check(kind: Kind, exact_law: Law, scores: np.ndarray) -> None:
    for setting in settings(scores.size):
        errors = compare(kind, exact_law, scores, **setting)
        assert errors.of_pmf <= AT_MOST, setting
        assert errors.of_expected_error <= AT_MOST, setting


@pytest.mark.parametrize("n", [2, 30, 200])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("kind", [EXPONENTIAL, PERMUTE_AND_FLIP], ids=["exponential mechanism", "permute-and-flip"])
def test_expected_errors_and_probabilities(kind: tuple[Kind, Law], shape: str, n: int) -> None:
    check(*kind, scores_of(shape, n))


@pytest.mark.parametrize("n", [2, 30])
@pytest.mark.parametrize("shape", SHAPES)
def test_expected_errors_and_probabilities_with_laplace_noise(shape: str, n: int) -> None:
    check(*LAPLACE, scores_of(shape, n))


@pytest.mark.parametrize("shape", FEW_LEVELS)
def test_two_hundred_scores_with_laplace_noise(shape: str) -> None:
    check(*LAPLACE, scores_of(shape, 200))


def test_a_hundred_different_scores_with_laplace_noise() -> None:
    """Few settings: the integral has a piece for each pair of neighbouring scores."""
    for epsilon in (1e-3, 0.5):
        errors = compare(*LAPLACE, scores_of("normal", 100), epsilon=epsilon, monotonic=True)
        assert max(errors.of_pmf, errors.of_expected_error) <= AT_MOST


def test_next_to_nothing_is_left_out() -> None:
    compared = [
        compare(*EXPONENTIAL, scores_of(shape, 30), **setting).compared for shape in SHAPES for setting in settings(30)
    ]
    assert sum(compared) > 0.75 * 31 * len(compared)
    assert min(compared) >= 1


def test_a_nudge_of_epsilon_is_noticed() -> None:
    def nudged(*, epsilon: float, **others: Any) -> Any:
        return dps.PermuteAndFlip(epsilon=epsilon * (1 + 1e-8), **others)

    errors = compare(nudged, high_precision.permute_and_flip, scores_of("normal", 30), epsilon=1.0, monotonic=False)
    assert errors.of_pmf > AT_MOST
    assert errors.of_expected_error > AT_MOST


@pytest.mark.parametrize(("n", "is_right"), [(5, True), (100, False), (200, False)])
@pytest.mark.parametrize("shape", ["all equal", "near-ties"])
def test_the_alternating_sum_of_the_paper_fails_where_the_flip_probabilities_add_up(
    shape: str, n: int, is_right: bool
) -> None:
    """Its O(n^2) dynamic program in doubles passes the same comparison for a few scores, and not for a hundred."""
    x = scaled_gaps(scores_of(shape, n).tolist(), scale=Fraction(1))
    computed = np.array(law_by_dynamic_program([float(np.exp(-float(each))) for each in x]))
    error = largest_relative_error(computed, high_precision.permute_and_flip(x))
    assert error <= AT_MOST if is_right else error > 1.0
