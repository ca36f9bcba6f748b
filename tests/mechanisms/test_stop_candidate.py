"""A candidate that ends the answer: its plan, its draws against their law, its bounds, and bad input."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from dpselect import Neighbours, testing
from dpselect.accounting import ApproximateEvent, calibrate_rounds
from dpselect.errors import InvalidDataError, InvalidParameterError
from dpselect.mechanisms import StopCandidate
from tests.laws.goodness_of_fit import NEVER, p_value
from tests.reference.precision import exponential
from tests.reference.stop_candidate import law

PRICES = [(1, 1.0, 1e-6, 1), (2, 0.5, 0.1, 3), (3, 1.0, 1e-6, 1000), (40, 3.0, 1e-9, 5), (5, 20.0, 1e-300, 10**9)]
PRICED = pytest.mark.parametrize(("k", "epsilon", "delta", "most"), PRICES)


@PRICED
@pytest.mark.parametrize("neighbours", list(Neighbours))
def test_the_plan_spends_epsilon_and_delta(
    k: int, epsilon: float, delta: float, most: int, neighbours: Neighbours
) -> None:
    mechanism = StopCandidate(k=k, epsilon=epsilon, delta=delta, max_values_per_unit=most, neighbours=neighbours)
    stopping = delta if k <= 2 else delta / 2
    assert mechanism.stop_delta == stopping
    left = float(Fraction(epsilon) - k * Fraction(stopping))
    assert mechanism.rounds.epsilon == pytest.approx(
        calibrate_rounds(epsilon=left, delta=delta - stopping, count=k), rel=1e-12
    )
    assert mechanism.rounds.scale * mechanism.rounds.epsilon == pytest.approx(
        1.0 if neighbours is Neighbours.ADD_REMOVE else 2.0
    )
    assert mechanism.event == ApproximateEvent(epsilon=epsilon, delta=delta)


def growth_and_base(mechanism: StopCandidate) -> tuple[Fraction, Fraction]:
    return exponential(1 / Fraction(mechanism.rounds.scale)), mechanism.max_values_per_unit / Fraction(
        mechanism.stop_delta
    )


@PRICED
def test_counts_that_are_needed_are_the_smallest(k: int, epsilon: float, delta: float, most: int) -> None:
    mechanism = StopCandidate(k=k, epsilon=epsilon, delta=delta, max_values_per_unit=most)
    growth, base = growth_and_base(mechanism)
    for chance in (0.01, 0.5, 0.99, 0.9999):
        needed = mechanism.count_needed(chance)
        before, at = (1 / (1 + base / growth ** (count - 1)) for count in (needed - 1, needed))
        assert at >= Fraction(chance)
        assert needed == 1 or before < Fraction(chance)
        assert mechanism.probability(needed) == pytest.approx(float(at), rel=1e-9)
    assert mechanism.probability(1) * most <= delta
    assert mechanism.probability(0) == 0.0


def test_the_figures_of_the_theory() -> None:
    def half(k: int, most: int) -> int:
        return StopCandidate(k=k, epsilon=1.0, delta=1e-6, max_values_per_unit=most).count_needed(0.5)

    assert [half(1, 1), half(1, 10), half(10, 1), half(10, 10), half(10, 100)] == [15, 18, 99, 114, 130]


@pytest.mark.parametrize("neighbours", list(Neighbours))
@pytest.mark.parametrize(("k", "counts"), [(1, (2, 2)), (3, (30, 0, 16, 1))])
def test_answers_have_their_law(k: int, counts: tuple[int, ...], neighbours: Neighbours) -> None:
    mechanism = StopCandidate(k=k, epsilon=1.5, delta=0.3, max_values_per_unit=2, neighbours=neighbours)
    growth, base = growth_and_base(mechanism)
    expected = law(counts, growth, base, k=k)
    orders, size = list(expected), 500
    found = np.zeros(len(orders), np.int64)
    for _ in range(size):
        found[orders.index(tuple(mechanism.select(counts).tolist()))] += 1
    chances = np.array([float(chance) for chance in expected.values()])
    assert p_value(found, chances) > NEVER
    # Control: a "stop" so much lighter that only draws twelve standard deviations from their mean would fit it.
    other = law(counts, growth, base / 16, k=k)
    assert p_value(found, np.array([float(other[order]) for order in orders])) < NEVER


def test_a_stop_candidate_of_any_weight_has_its_share() -> None:
    """Weights and the numbers of units that make up for them, up to where one value and "stop" are equally likely."""
    for epsilon, delta, most in ((1.0, 0.05, 1), (1.0, 1e-300, 10**9), (0.01, 5e-324, 7)):
        mechanism = StopCandidate(k=1, epsilon=epsilon, delta=delta, max_values_per_unit=most)
        count, size = mechanism.count_needed(0.5), 1_000
        chance = mechanism.probability(count)
        named = sum(mechanism.select([count]).size for _ in range(size))
        assert p_value(np.array([named, size - named]), np.array([chance, 1 - chance])) > NEVER
        assert p_value(np.array([named, size - named]), np.array([chance / 2, 1 - chance / 2])) < NEVER


def test_values_without_units_are_never_drawn_and_all_others_may_be() -> None:
    mechanism = StopCandidate(k=4, epsilon=1.0, delta=0.2)
    assert mechanism.select(np.zeros(1000, np.int64)).size == 0
    assert mechanism.select([]).size == 0
    assert mechanism.select([0, 10**6, -3, 2 * 10**6, 2**63 - 1]).tolist() == [4, 3, 1]
    many = StopCandidate(k=3, epsilon=1.0, delta=1e-6).select(np.arange(1, 200_001) * 100)
    assert many.tolist() == [199_999, 199_998, 199_997]


def test_equal_values_are_equally_likely_wherever_they_are() -> None:
    mechanism = StopCandidate(k=1, epsilon=1.0, delta=1e-3)
    found = np.bincount([int(mechanism.select([60, 60, 60])[0]) for _ in range(1000)], minlength=3)
    assert p_value(found, np.full(3, 1 / 3)) > NEVER


def test_seeded_answers_repeat() -> None:
    mechanism = StopCandidate(k=5, epsilon=0.5, delta=0.05)
    with testing.seeded(7):
        first = mechanism.select(np.arange(1, 50)).tolist()
    with testing.seeded(7):
        assert mechanism.select(np.arange(1, 50)).tolist() == first
    assert any(mechanism.select(np.arange(1, 50)).tolist() != first for _ in range(5))


def test_more_values_of_a_unit_cost_little() -> None:
    needed = [
        StopCandidate(k=3, epsilon=1.0, delta=1e-6, max_values_per_unit=10**at).count_needed(0.5) for at in range(10)
    ]
    assert all(0 < later - earlier < 8 for earlier, later in pairwise(needed))


BAD: list[tuple[dict[str, Any], str]] = [
    ({"k": 0}, "k=0"),
    ({"k": 10**9}, "k=1000000000: expected at most 10000000"),
    ({"epsilon": 0.0}, "epsilon"),
    ({"epsilon": 1e-6}, "epsilon=1e-06: expected more than k=3 times a part of delta"),
    ({"delta": 0.0}, "delta=0.0: expected a number strictly between 0 and 1"),
    ({"delta": 1.0}, "delta=1.0: expected a number strictly between 0 and 1"),
    ({"max_values_per_unit": 0}, "max_values_per_unit"),
    ({"max_values_per_unit": 1.5}, "max_values_per_unit"),
    ({"neighbours": "none"}, "neighbours"),
]


@pytest.mark.parametrize(("change", "said"), BAD)
def test_bad_arguments(change: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidParameterError, match=said):
        StopCandidate(**({"k": 3, "epsilon": 1.0, "delta": 1e-6} | change))


@pytest.mark.parametrize("counts", [[1.5, 2.0], [[1], [2]], ["a"]])
def test_bad_counts(counts: Any) -> None:
    with pytest.raises(InvalidDataError):
        StopCandidate(k=1, epsilon=1.0, delta=1e-6).select(counts)
