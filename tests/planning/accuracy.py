"""The product's probabilities and expected errors, held against fifty digits: shapes, settings and the comparison."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

import dpselect as dps
from tests.mechanisms import high_precision
from tests.mechanisms.high_precision import Law, expected_error, largest_relative_error, relative_error, scaled_gaps

SMALLEST = 1e-290
"""Probabilities and errors below are left out: below 2.2e-308 a double has fewer digits than the comparison asks for,
and a probability that small may be the product of factors of which one is below that."""

EPSILONS = [1e-6, 1e-4, 1e-2, 0.1, 1.0, 10.0, 100.0]
SENSITIVITY = 0.75

Kind = Callable[..., Any]

LAWS: dict[str, tuple[Kind, Law]] = {
    "EM": (dps.ExponentialMechanism, high_precision.exponential),
    "PF": (dps.PermuteAndFlip, high_precision.permute_and_flip),
    "Laplace noisy max": (dps.ReportNoisyMax, high_precision.laplace),
}

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
