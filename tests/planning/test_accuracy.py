"""What plans are computed from, against fifty digits: probabilities and expected errors for any epsilon in use.

From 1e-6 to 100, up to 200 scores, general and monotone; ties, near-ties, huge counts, one far ahead.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import islice
from typing import Any

import numpy as np
import pytest
from benchmarks.recurrences import all_by_symmetric_polynomials, one_by_positions

import dpselect as dps
from tests.mechanisms import high_precision
from tests.mechanisms.high_precision import largest_relative_error, scaled_gaps
from tests.planning.accuracy import EPSILONS, FEW_LEVELS, LAWS, SHAPES, SMALLEST, compare, scores_of
from tests.reference.permute_and_flip import law_by_dynamic_program
from tests.slow import SLOW, crossed

AT_MOST = 1e-10


def settings(n: int) -> Iterator[dict[str, Any]]:
    """Every epsilon, monotone or not in turn; the next size has it the other way round."""
    for place, epsilon in enumerate(EPSILONS):
        yield {"epsilon": epsilon, "monotonic": (place + len(str(n))) % 2 == 0}


def check(law: str, shape: str, n: int) -> None:
    """By day each third epsilon, the next ones for the next shape and size."""
    scores, turn = scores_of(shape, n), [*SHAPES].index(shape) + len(str(n))
    for setting in islice(settings(n), 0 if SLOW else turn % 3, None, 1 if SLOW else 3):
        errors = compare(*LAWS[law], scores, **setting)
        assert errors.of_pmf <= AT_MOST, setting
        assert errors.of_expected_error <= AT_MOST, setting


@pytest.mark.sampled(4)
@pytest.mark.parametrize(("shape", "n"), crossed([*SHAPES], [2, 30, 200]))
@pytest.mark.parametrize("law", ["EM", "PF"])
def test_expected_errors_and_probabilities(law: str, shape: str, n: int) -> None:
    check(law, shape, n)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("n", [2, 30])
@pytest.mark.parametrize("shape", SHAPES)
def test_expected_errors_and_probabilities_with_laplace_noise(shape: str, n: int) -> None:
    check("Laplace noisy max", shape, n)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("shape", FEW_LEVELS)
def test_two_hundred_scores_with_laplace_noise(shape: str) -> None:
    check("Laplace noisy max", shape, 200)


@pytest.mark.slow
def test_a_hundred_different_scores_with_laplace_noise() -> None:
    """Few settings: the integral has a piece for each pair of neighbouring scores."""
    for epsilon in (1e-3, 0.5):
        errors = compare(*LAWS["Laplace noisy max"], scores_of("normal", 100), epsilon=epsilon, monotonic=True)
        assert max(errors.of_pmf, errors.of_expected_error) <= AT_MOST


def test_next_to_nothing_is_left_out() -> None:
    compared = [
        compare(*LAWS["EM"], scores_of(shape, 30), **setting).compared for shape in SHAPES for setting in settings(30)
    ]
    assert sum(compared) > 0.75 * 31 * len(compared)
    assert min(compared) >= 1


def test_a_nudge_of_epsilon_is_noticed() -> None:
    def nudged(*, epsilon: float, **others: Any) -> Any:
        return dps.PermuteAndFlip(epsilon=epsilon * (1 + 1e-8), **others)

    errors = compare(nudged, high_precision.permute_and_flip, scores_of("normal", 30), epsilon=1.0, monotonic=False)
    assert errors.of_pmf > AT_MOST
    assert errors.of_expected_error > AT_MOST


def by_reference_program(p: np.ndarray) -> np.ndarray:
    return np.array(law_by_dynamic_program(p.tolist()))  # written for fractions; given floats, it computes with them


@pytest.mark.parametrize("alternating", [by_reference_program, all_by_symmetric_polynomials])
@pytest.mark.parametrize(("n", "is_right"), [(5, True), (100, False), (200, False)])
@pytest.mark.parametrize("shape", ["all equal", "near-ties"])
def test_the_alternating_sum_of_the_paper_fails_where_the_flip_probabilities_add_up(
    shape: str, n: int, is_right: bool, alternating: Callable[[np.ndarray], np.ndarray]
) -> None:
    """Its O(n^2) dynamic program in doubles passes the same comparison for a few scores, and not for a hundred."""
    x = scaled_gaps(scores_of(shape, n).tolist(), scale=Fraction(1))
    computed = alternating(np.exp(-np.array(x, dtype=float)))
    error = largest_relative_error(computed, high_precision.permute_and_flip(x))
    assert error <= AT_MOST if is_right else error > 1.0


@pytest.mark.sampled(2)
@pytest.mark.parametrize("shape", SHAPES)
def test_the_recurrence_of_positive_terms_does_not(shape: str) -> None:
    x = scaled_gaps(scores_of(shape, 200).tolist(), scale=Fraction(2))
    exact = high_precision.permute_and_flip(x)
    p = np.exp(-np.array(x, dtype=float))
    items = [item for item in (0, int(np.argmax(p)), 199) if exact[item] > SMALLEST]
    computed = np.array([one_by_positions(p, item) for item in items])
    assert largest_relative_error(computed, [exact[item] for item in items]) <= AT_MOST
