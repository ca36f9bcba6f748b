"""Gaussian counts from a threshold on: the threshold against exact tails, the draws against their law, bad input."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from dpselect import Neighbours
from dpselect.errors import InvalidDataError, InvalidParameterError
from dpselect.mechanisms import DiscreteGaussianMechanism, GaussianThresholdCounts
from tests.laws.goodness_of_fit import NEVER, p_value
from tests.reference.precision import exponential, logarithm

PRICES = [(1.0, 1e-6, 1), (1.0, 1e-6, 10), (3.0, 0.3, 2), (0.5, 0.9, 1), (4.0, 1e-9, 3), (20.0, 0.2, 1)]
PRICED = pytest.mark.parametrize(("epsilon", "delta", "most"), PRICES)


def exact_tail(noise: int, variance: Fraction) -> Fraction:
    """At least so likely is noise from `noise` on, up to the cut-off far outside."""
    reach = noise + 30 * (int(variance**0.5) + 1)
    weights = [exponential(-Fraction(y * y) / (2 * variance), digits=40) for y in range(reach)]
    return sum(weights[noise:], Fraction(0)) / (2 * sum(weights, Fraction(0)) - 1)


@pytest.mark.parametrize("squared", [1, 7, 100])
@pytest.mark.parametrize("epsilon", [0.7, 4.0, 30.0])
def test_the_bound_of_the_tail_is_above_it_and_close(squared: int, epsilon: float) -> None:
    noise = DiscreteGaussianMechanism(epsilon=epsilon, delta=1e-6, squared_sensitivity=squared)
    for times in (0.1, 1, 3, 5, 7):
        reached = 1 + int(times * noise.scale)
        bound, exact = noise.tail_bound(reached), exact_tail(reached, Fraction(noise.variance))
        assert bound >= exact * (1 - Fraction(1, 10**30))
        if times >= 3:
            assert bound <= exact * Fraction(23, 20)


@pytest.mark.sampled(3)
@PRICED
@pytest.mark.parametrize("neighbours", list(Neighbours))
def test_the_threshold_is_the_smallest_that_keeps_delta(
    epsilon: float, delta: float, most: int, neighbours: Neighbours
) -> None:
    mechanism = GaussianThresholdCounts(epsilon=epsilon, delta=delta, max_values_per_unit=most, neighbours=neighbours)
    moved = most if neighbours is Neighbours.ADD_REMOVE else 2 * most
    assert mechanism.noise == DiscreteGaussianMechanism(
        epsilon=epsilon, delta=delta / 2, squared_sensitivity=moved, neighbours=neighbours
    )
    share = 1 - exponential(logarithm(1 - Fraction(delta) / 2) / moved)
    variance = Fraction(mechanism.noise.variance)
    assert exact_tail(mechanism.threshold - 1, variance) <= share
    if mechanism.threshold > 2:
        assert exact_tail(mechanism.threshold - 2, variance) > share


@PRICED
def test_counts_that_are_needed(epsilon: float, delta: float, most: int) -> None:
    mechanism = GaussianThresholdCounts(epsilon=epsilon, delta=delta, max_values_per_unit=most)
    assert mechanism.count_needed(0.5) == mechanism.count_needed(0.1) == mechanism.threshold
    assert mechanism.probability(mechanism.threshold) > 0.5 > mechanism.probability(mechanism.threshold - 1)
    for chance in (0.9, 0.99, 0.9999):
        needed = mechanism.count_needed(chance)
        assert mechanism.probability(needed) >= chance
        assert mechanism.probability(needed - 2 - int(mechanism.noise.scale / 4)) < chance
    assert mechanism.probability(1) <= delta
    assert mechanism.probability(0) == 0.0


def test_what_is_released_of_a_value_has_its_law() -> None:
    mechanism, size = GaussianThresholdCounts(epsilon=2.0, delta=0.05, max_values_per_unit=3), 60_000
    for count in (mechanism.threshold - 1, mechanism.threshold + 2):
        released = mechanism.draw(np.full(size, count))
        assert (np.diff(released.positions) > 0).all()
        beyond = np.minimum(released.counts - mechanism.threshold, 5)
        found = np.array([size - released.positions.size, *np.bincount(beyond, minlength=6)])
        each = mechanism.noise.pmf(count, np.arange(mechanism.threshold, mechanism.threshold + 200))
        chances = np.array([1 - each.sum(), *each[:5], each[5:].sum()])
        assert p_value(found, chances) > NEVER
        assert p_value(np.roll(found, 1), chances) < NEVER  # control
        assert 1 - chances[0] == pytest.approx(mechanism.probability(count))
        assert abs(mechanism.select(np.full(size, count)).size - size * (1 - chances[0])) < size**0.5 * 4


def test_values_without_units_are_never_released() -> None:
    mechanism = GaussianThresholdCounts(epsilon=0.1, delta=0.9)
    assert mechanism.draw(np.zeros(10_000, np.int64)).positions.size == 0
    assert mechanism.draw([]).counts.size == 0
    positions, counts = mechanism.draw([0, 10**6, 0, 2 * 10**6])
    assert positions.tolist() == [1, 3]
    assert abs(counts - [10**6, 2 * 10**6]).max() < 10_000


BAD: list[tuple[dict[str, Any], str]] = [
    ({"epsilon": 0.0}, "epsilon"),
    ({"epsilon": 1e-300}, "epsilon=1e-300: expected a number large enough"),
    ({"delta": 0.0}, "delta=0.0: expected a number strictly between 0 and 1"),
    ({"delta": 1.0}, "delta=1.0: expected a number strictly between 0 and 1"),
    ({"delta": 5e-324}, "delta=5e-324: expected a number large enough to be halved"),
    ({"delta": 1.5e-323}, "large enough to be halved"),
    ({"max_values_per_unit": 0}, "max_values_per_unit"),
    ({"neighbours": "none"}, "neighbours"),
]


@pytest.mark.parametrize(("change", "said"), BAD)
def test_bad_arguments(change: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidParameterError, match=said):
        GaussianThresholdCounts(**({"epsilon": 1.0, "delta": 1e-6} | change))


@pytest.mark.parametrize("counts", [[1.5, 2.0], [[1], [2]], ["a"]])
def test_bad_counts(counts: Any) -> None:
    with pytest.raises(InvalidDataError):
        GaussianThresholdCounts(epsilon=1.0, delta=1e-6).draw(counts)
