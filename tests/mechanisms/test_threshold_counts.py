"""Noisy counts from a threshold on: the threshold against exact fractions, the draws against their law."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from dpselect import Neighbours
from dpselect.errors import InvalidDataError, InvalidParameterError
from dpselect.mechanisms import ThresholdCounts
from tests.laws.goodness_of_fit import NEVER, p_value
from tests.reference.precision import exponential, logarithm
from tests.reference.threshold_counts import of_one, threshold

PRICES = [(1.0, 1e-6, 1), (0.3, 1e-8, 1), (3.0, 0.3, 2), (0.5, 0.9, 1), (1.0, 1e-6, 10), (20.0, 1e-300, 3)]
PRICED = pytest.mark.parametrize(("epsilon", "delta", "most"), PRICES)


@pytest.mark.sampled(1)
@PRICED
@pytest.mark.parametrize("neighbours", list(Neighbours))
def test_the_threshold_is_the_smallest_that_keeps_delta(
    epsilon: float, delta: float, most: int, neighbours: Neighbours
) -> None:
    mechanism = ThresholdCounts(epsilon=epsilon, delta=delta, max_values_per_unit=most, neighbours=neighbours)
    moved = most if neighbours is Neighbours.ADD_REMOVE else 2 * most
    ratio = exponential(-Fraction(epsilon) / moved, digits=400)
    share = 1 - exponential(logarithm(1 - Fraction(delta), digits=800) / moved, digits=800)
    assert mechanism.threshold == threshold(ratio, share)
    assert mechanism.noise.sensitivity == moved
    assert (mechanism.noise.epsilon, mechanism.noise.bounds) == (epsilon, None)


def test_the_figures_of_the_theory() -> None:
    found = [ThresholdCounts(epsilon=1.0, delta=1e-6, max_values_per_unit=most).threshold for most in (1, 3, 10)]
    assert found == [15, 45, 156]


@PRICED
def test_counts_that_are_needed_are_the_smallest(epsilon: float, delta: float, most: int) -> None:
    mechanism = ThresholdCounts(epsilon=epsilon, delta=delta, max_values_per_unit=most)
    assert mechanism.count_needed(0.5) == mechanism.count_needed(0.1) == mechanism.threshold
    assert mechanism.probability(mechanism.threshold) > 0.5 > mechanism.probability(mechanism.threshold - 1)
    for chance in (0.9, 0.99, 0.9999):
        needed = mechanism.count_needed(chance)
        assert mechanism.probability(needed) >= chance * (1 - 1e-9)
        assert mechanism.probability(needed - 1) < chance
    assert mechanism.probability(1) <= delta


def test_what_is_released_of_a_value_has_its_law() -> None:
    mechanism, size = ThresholdCounts(epsilon=0.7, delta=0.05), 200_000
    ratio = exponential(Fraction(-0.7))
    for count in (mechanism.threshold - 2, mechanism.threshold + 1):
        released = mechanism.draw(np.full(size, count))
        assert (np.diff(released.positions) > 0).all()
        law = of_one(count, ratio, mechanism.threshold, cells=6)
        beyond = np.minimum(released.counts - mechanism.threshold, 5)
        found = np.array([size - released.positions.size, *np.bincount(beyond, minlength=6)])
        chances = np.array([float(chance) for chance in law.values()])
        assert p_value(found, chances) > NEVER
        assert p_value(np.roll(found, 1), chances) < NEVER  # control


def test_values_without_units_are_never_released() -> None:
    mechanism = ThresholdCounts(epsilon=0.01, delta=0.9)
    assert mechanism.draw(np.zeros(100_000, np.int64)).positions.size == 0
    assert mechanism.draw([]).counts.size == 0
    positions, counts = mechanism.draw([0, 10**6, 0, 2 * 10**6])
    assert positions.tolist() == [1, 3]
    assert abs(counts - [10**6, 2 * 10**6]).max() < 10_000


BAD: list[tuple[dict[str, Any], str]] = [
    ({"epsilon": 0.0}, "epsilon"),
    ({"epsilon": 1e-300}, "epsilon=1e-300: expected a number large enough for a count to be released"),
    ({"delta": 0.0}, "delta=0.0: expected a number strictly between 0 and 1"),
    ({"delta": 1.0}, "delta=1.0: expected a number strictly between 0 and 1"),
    ({"delta": None}, "delta=None"),
    ({"delta": 5e-324, "max_values_per_unit": 2}, "large enough to be divided"),
    ({"max_values_per_unit": 0}, "max_values_per_unit"),
    ({"max_values_per_unit": 1.5}, "max_values_per_unit"),
    ({"neighbours": "none"}, "neighbours"),
]


@pytest.mark.parametrize(("change", "said"), BAD)
def test_bad_arguments(change: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidParameterError, match=said):
        ThresholdCounts(**({"epsilon": 1.0, "delta": 1e-6} | change))


@pytest.mark.parametrize("counts", [[1.5, 2.0], [[1], [2]], ["a"]])
def test_bad_counts(counts: Any) -> None:
    with pytest.raises(InvalidDataError):
        ThresholdCounts(epsilon=1.0, delta=1e-6).draw(counts)


def test_a_count_that_no_machine_holds_is_released() -> None:
    mechanism = ThresholdCounts(epsilon=1.0, delta=1e-6)
    assert mechanism.probability(10**400) == 1.0
    assert mechanism.draw([10**400]).positions.tolist() == [0]
