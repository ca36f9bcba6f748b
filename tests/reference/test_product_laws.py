"""What the product says of itself - probabilities, errors, bounds - against the exact models."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dpselect as dps
from tests.reference import exponential
from tests.reference.error_bounds import chance_of_falling_behind, worst_flip_probabilities
from tests.reference.noisy_max import laplace_noise_law
from tests.reference.permute_and_flip import law_by_positions
from tests.reference.precision import exponential as exp_fraction
from tests.reference.precision import flip_probabilities
from tests.reference.strategies import few_examples

Law = Callable[[Sequence[Fraction]], tuple[Fraction, ...]]


def laplace_law(weights: Sequence[Fraction]) -> tuple[Fraction, ...]:
    return tuple(chance.value() for chance in laplace_noise_law(weights))


MECHANISMS: dict[str, tuple[Callable[..., Any], Law]] = {
    "exponential mechanism": (dps.ExponentialMechanism, exponential.law),
    "permute-and-flip": (dps.PermuteAndFlip, law_by_positions),
    "Laplace noise": (partial(dps.ReportNoisyMax, noise="laplace"), laplace_law),
    "exponential noise": (partial(dps.ReportNoisyMax, noise="exponential"), law_by_positions),
    "Gumbel noise": (partial(dps.ReportNoisyMax, noise="gumbel"), exponential.law),
}
every_mechanism = pytest.mark.parametrize("name", MECHANISMS)
score_vectors = st.lists(
    st.one_of(st.integers(-20, 20).map(float), st.floats(-20, 20, allow_subnormal=False)), min_size=1, max_size=6
)
epsilons = st.sampled_from([0.01, 0.5, 1.0, 3.0])
sensitivities = st.sampled_from([0.25, 1.0, 2.0])


def exact_scale(*, epsilon: float, sensitivity: float, monotonic: bool) -> Fraction:
    return (1 if monotonic else 2) * Fraction(sensitivity) / Fraction(epsilon)


@every_mechanism
@few_examples
@given(scores=score_vectors, epsilon=epsilons, sensitivity=sensitivities, monotonic=st.booleans())
def test_probabilities_and_expected_error(
    name: str, scores: list[float], epsilon: float, sensitivity: float, monotonic: bool
) -> None:
    make, law = MECHANISMS[name]
    mechanism = make(epsilon=epsilon, sensitivity=sensitivity, monotonic=monotonic)
    scale = exact_scale(epsilon=epsilon, sensitivity=sensitivity, monotonic=monotonic)
    exact = law(flip_probabilities(scores, scale=scale))
    probabilities = mechanism.pmf(np.array(scores))
    assert float(mechanism.scale) == pytest.approx(float(scale), rel=1e-15)
    assert probabilities == pytest.approx([float(chance) for chance in exact], rel=1e-10, abs=1e-12)
    error = sum(chance * (Fraction(max(scores)) - Fraction(s)) for chance, s in zip(exact, scores, strict=True))
    assert mechanism.expected_error(np.array(scores)) == pytest.approx(float(error), rel=1e-9, abs=1e-11)


@every_mechanism
@pytest.mark.parametrize("n", [1, 2, 3, 7])
@pytest.mark.parametrize("confidence", [0.4, 0.5, 0.9, 0.99, 0.999999])
def test_error_bounds_are_met_with_equality_by_the_worst_scores(name: str, n: int, confidence: float) -> None:
    make, law = MECHANISMS[name]
    mechanism = make(epsilon=0.5, sensitivity=1.0, monotonic=False)
    distance = Fraction(mechanism.error_bound(n, confidence=confidence)) / 4  # the scale is 2 * 1 / 0.5
    allowed = 1 - confidence
    if allowed >= 1 - 1 / n:  # even a uniform choice among equals is bad less often
        assert distance == pytest.approx(0, abs=1e-9)
        return
    cutoff = exp_fraction(-distance)
    worst = worst_flip_probabilities(n, cutoff=cutoff)
    attained = chance_of_falling_behind(law(worst), worst, cutoff=cutoff)
    assert float(attained) == pytest.approx(allowed, rel=1e-7)


@every_mechanism
def test_another_epsilon_is_told_apart(name: str) -> None:
    make, law = MECHANISMS[name]
    scores = [0.0, -1.0, -2.0]
    exact = law(flip_probabilities(scores, scale=exact_scale(epsilon=1.0, sensitivity=1.0, monotonic=False)))
    half = make(epsilon=0.5, sensitivity=1.0, monotonic=False).pmf(np.array(scores))
    assert max(abs(half - np.array([float(chance) for chance in exact]))) > 0.01
    assert math.fsum(half) == pytest.approx(1.0, abs=1e-12)
