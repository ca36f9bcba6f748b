"""Probabilities against fifty digits, from the smallest to the largest epsilon; and at scale."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import dpselect as dps
from tests.mechanisms import high_precision
from tests.mechanisms.high_precision import largest_relative_error, scaled_gaps

EPSILONS = [1e-6, 1e-3, 0.1, 1.0, 10.0, 100.0]
SMALLEST = 1e-290
"""Entries below may underflow; they are left out of the comparison."""


def scores_of(shape: str, n: int) -> np.ndarray:
    rng = np.random.default_rng(20)
    return {
        "different": rng.uniform(-50, 50, n),
        "ties": rng.integers(0, 5, n).astype(float),
        "equal": np.full(n, 3.25),
        "spike": np.r_[40.0, rng.exponential(1.0, n - 1)],
        "nearly equal": 1.0 + rng.random(n) * 1e-12,
        "zipf": 1e4 / np.arange(1, n + 1),
    }[shape]


SHAPES = ["different", "ties", "equal", "spike", "nearly equal", "zipf"]


def check(
    mechanism: Any, exact_law: Callable[[Sequence[Fraction]], list[Any]], scores: np.ndarray, *, at_most: float
) -> None:
    scale = 2 * Fraction(mechanism.sensitivity) / Fraction(mechanism.epsilon)
    x = scaled_gaps(scores.tolist(), scale=scale)
    exact = exact_law(x)
    pmf = mechanism.pmf(scores)
    visible = [i for i, each in enumerate(exact) if each > SMALLEST]
    assert largest_relative_error(pmf[visible], [exact[i] for i in visible]) <= at_most
    assert np.all(pmf[[i for i in range(len(exact)) if i not in visible]] <= 2 * SMALLEST)
    assert abs(pmf.sum() - 1.0) <= 1e-12


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("n", [2, 13, 120])
def test_exponential(n: int, shape: str, epsilon: float) -> None:
    mechanism = dps.ExponentialMechanism(epsilon=epsilon, sensitivity=0.75)
    check(mechanism, high_precision.exponential, scores_of(shape, n), at_most=1e-12)


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("n", [2, 13, 60])
def test_permute_and_flip(n: int, shape: str, epsilon: float) -> None:
    mechanism = dps.PermuteAndFlip(epsilon=epsilon, sensitivity=0.75)
    check(mechanism, high_precision.permute_and_flip, scores_of(shape, n), at_most=1e-11)


@pytest.mark.slow
def test_permute_and_flip_uses_enough_nodes_for_any_sum_of_the_flip_probabilities() -> None:
    """One best and 199 equal others: nearest to the exponentials that are the hardest to integrate."""
    mechanism = dps.PermuteAndFlip(epsilon=2.0, sensitivity=1.0)
    for mass in np.geomspace(1.02, 190.0, 80):
        x = [0.0] + [-float(np.log((mass - 1.0) / 199.0))] * 199
        assert largest_relative_error(mechanism.pmf(-np.array(x)), high_precision.permute_and_flip(x)) <= 1e-14


@pytest.mark.sampled(1)
@pytest.mark.parametrize(("shape", "epsilon"), [("different", 0.1), ("equal", 1.0), ("zipf", 1e-3)])
def test_permute_and_flip_of_two_hundred(shape: str, epsilon: float) -> None:
    mechanism = dps.PermuteAndFlip(epsilon=epsilon, sensitivity=0.75)
    check(mechanism, high_precision.permute_and_flip, scores_of(shape, 200), at_most=1e-11)


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("n", [2, 11])
def test_laplace(n: int, shape: str, epsilon: float) -> None:
    mechanism = dps.ReportNoisyMax(epsilon=epsilon, sensitivity=0.75, noise="laplace")
    check(mechanism, high_precision.laplace, scores_of(shape, n), at_most=1e-11)


@pytest.mark.parametrize(
    "x", [[0.0], [0.0, 600.0, 601.0, 601.5], [0.0, 0.0, 3.0, 3.0, 640.0], [0.0, 1e-9, 2.0, 30.0, 31.0, 300.0]]
)
def test_laplace_with_scores_far_apart(x: list[float]) -> None:
    mechanism = dps.ReportNoisyMax(epsilon=2.0, sensitivity=1.0)
    check(mechanism, high_precision.laplace, -np.array(x), at_most=1e-11)


def test_the_comparison_can_fail() -> None:
    mechanism = dps.PermuteAndFlip(epsilon=1.0, sensitivity=0.75)
    exact = high_precision.permute_and_flip(scaled_gaps([0.0, 1.0, 2.0], scale=Fraction(3, 2)))
    nudged = dps.PermuteAndFlip(epsilon=1.0 + 1e-9, sensitivity=0.75)
    assert largest_relative_error(mechanism.pmf([0, 1, 2]), exact) < 1e-14
    assert largest_relative_error(nudged.pmf([0, 1, 2]), exact) > 1e-10


def test_gumbel_and_exponential_noise_have_the_laws_of_the_two_mechanisms() -> None:
    scores = scores_of("different", 50)
    for noise, twin in (("gumbel", dps.ExponentialMechanism), ("exponential", dps.PermuteAndFlip)):
        noisy = dps.ReportNoisyMax(epsilon=0.3, sensitivity=1.0, noise=noise)  # type: ignore[arg-type]
        np.testing.assert_array_equal(noisy.pmf(scores), twin(epsilon=0.3, sensitivity=1.0).pmf(scores))


@pytest.mark.parametrize("mechanism", ["ExponentialMechanism", "PermuteAndFlip", "ReportNoisyMax"])
@pytest.mark.parametrize(
    "scores",
    [
        pytest.param(np.random.default_rng(1).integers(0, 1000, 300_000), id="uniform integers"),
        pytest.param(np.random.default_rng(1).random(300_000) * 700, id="all different"),
        pytest.param(np.zeros(300_000), id="equal"),
        pytest.param(1e6 / np.arange(1, 300_001), id="zipf"),
        pytest.param(np.r_[np.random.default_rng(1).random(300_000), 650.0], id="one far above"),
    ],
)
def test_many_candidates(mechanism: str, scores: np.ndarray) -> None:
    pmf = getattr(dps, mechanism)(epsilon=2.0, sensitivity=1.0).pmf(scores)
    assert abs(pmf.sum() - 1.0) <= 1e-12
    order = np.argsort(scores, kind="stable")
    assert np.all(np.diff(pmf[order]) >= -1e-16), "a better score is never less likely"
    top = scores == scores.max()
    assert np.all(pmf[top] == pmf.max())


@pytest.mark.parametrize("width", [20, 60, 1000])
def test_a_series_takes_over_from_single_terms_without_a_seam(width: float) -> None:
    """Above 1536 candidates, those with a small share enter through power series: same law, other arithmetic."""
    few = np.sort(np.random.default_rng(3).uniform(0, width, 1500))
    padded = np.r_[few, np.full(200, -4000.0)]  # of probability about e^-1500: they change nothing else
    for kind in (dps.PermuteAndFlip, dps.ReportNoisyMax):
        mechanism = kind(epsilon=1.0, sensitivity=1.0)
        np.testing.assert_allclose(mechanism.pmf(padded)[:1500], mechanism.pmf(few), rtol=1e-13)


def test_laplace_with_more_candidates_than_are_put_in_order() -> None:
    """One best, and so many behind it that most are summed up unsorted, though each of them can be seen."""
    x = np.r_[0.0, np.random.default_rng(4).uniform(6.0, 6.1, 20_000)]
    pmf = dps.ReportNoisyMax(epsilon=2.0, sensitivity=1.0).pmf(-x)
    nodes, weights = np.polynomial.legendre.leggauss(200)
    above, below = 20.0 * (nodes - 1.0), 2.0 * (nodes + 1.0)  # the winning noisy value is -y; y < 0, and 0 < y < 4
    y = np.r_[above, below]
    density = np.r_[np.full(200, 20.0), np.full(200, 2.0)] * np.tile(weights, 2)
    stays_below = np.where(
        y[:, np.newaxis] <= x, 1.0 - np.exp(y[:, np.newaxis] - x) / 2.0, np.exp(x - y[:, np.newaxis]) / 2.0
    )
    others = density * np.exp(np.log(stays_below).sum(axis=1))
    expected = (others[:, np.newaxis] * np.exp(-np.abs(x - y[:, np.newaxis])) / 2.0 / stays_below).sum(axis=0)
    np.testing.assert_allclose(pmf, expected, rtol=1e-11)


@pytest.mark.parametrize("n", [17, 300, 1024, 2048, 5000])
@pytest.mark.parametrize("mechanism", ["ExponentialMechanism", "PermuteAndFlip", "ReportNoisyMax"])
def test_equal_scores_are_equally_likely_to_the_last_bit(mechanism: str, n: int) -> None:
    """However many there are, and wherever they stand: sums and products of arrays must not depend on the place."""
    rng = np.random.default_rng(n)
    for width in (3, 40):
        scores = rng.integers(0, width, n) * 0.37
        pmf = getattr(dps, mechanism)(epsilon=2.0, sensitivity=1.0).pmf(scores)
        for score in set(scores.tolist()):
            assert np.unique(pmf[scores == score]).size == 1


def test_a_million_different_scores_take_a_second_at_most() -> None:
    scores = np.random.default_rng(7).permutation(1_000_000) / 1000.0
    mechanism = dps.PermuteAndFlip(epsilon=1.0, sensitivity=1.0)
    times: list[float] = []
    for _ in range(3):
        start = time.process_time()  # whatever else the machine does
        pmf = mechanism.pmf(scores)
        times.append(time.process_time() - start)
        assert abs(pmf.sum() - 1.0) <= 1e-12
    assert min(times) <= 1.0
