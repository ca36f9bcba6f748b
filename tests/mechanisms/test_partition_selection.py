"""Optimal partition selection: its probabilities against the recursion, its coins against its probabilities."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import dpselect.mechanisms.numbers as product
from dpselect import Neighbours, testing
from dpselect.errors import InvalidDataError, InvalidParameterError
from dpselect.mechanisms import PartitionSelection
from dpselect.mechanisms.numbers import LARGEST_COUNT, exp_minus, first_count
from dpselect.mechanisms.partition_selection import divided
from tests.laws.goodness_of_fit import NEVER, p_value
from tests.reference.partition_selection import in_closed_form, probabilities
from tests.reference.precision import exponential
from tests.slow import SLOW

PRICES = [(1.0, 1e-6), (0.1, 1e-8), (3.0, 0.3), (0.01, 0.2), (40.0, 1e-9), (0.5, 0.999)]
PRICED = pytest.mark.parametrize(("epsilon", "delta"), PRICES)


def certain_count(mechanism: PartitionSelection) -> int:
    """The smallest number of units at which a value is named for certain."""
    return first_count(lambda count: mechanism._bounds(count, 400)[0] == 1 << 400)  # pyright: ignore[reportPrivateUsage]


@pytest.mark.sampled(1)
@PRICED
def test_probabilities_lie_within_their_bounds_and_are_those_of_the_recursion(epsilon: float, delta: float) -> None:
    """To 2^-60 and to 2^-300; the recursion is at 150 digits."""
    law = PartitionSelection(epsilon=epsilon, delta=delta)
    growth = exponential(Fraction(epsilon), digits=150)
    counts = range(0, 330, 7 if SLOW else 35)
    truth = [in_closed_form(growth, Fraction(delta), count) for count in counts]
    room = Fraction(1, 10**120)
    for count, true in zip(counts, truth, strict=True):
        for bits in (60, 300):
            low, high = law._bounds(count, bits)  # pyright: ignore[reportPrivateUsage]
            assert Fraction(low, 1 << bits) <= true + room
            assert true - room <= Fraction(high, 1 << bits)
            assert 0 <= low <= high <= low + 2 <= (1 << bits) + 2


@pytest.mark.sampled(1)
@PRICED
def test_each_step_is_the_largest_that_privacy_allows(epsilon: float, delta: float) -> None:
    mechanism = PartitionSelection(epsilon=epsilon, delta=delta)
    chances = [mechanism.probability(count) for count in range(330)]
    assert chances[:2] == [0.0, delta]
    growth = float(np.exp(epsilon))
    for before, after in pairwise(chances):
        assert after == pytest.approx(min(growth * before + delta, 1 - (1 - before - delta) / growth, 1.0), rel=1e-9)


def test_the_figures_of_the_theory() -> None:
    mechanism = PartitionSelection(epsilon=1.0, delta=1e-6)
    assert (mechanism.count_needed(0.5), certain_count(mechanism)) == (14, 28)
    mechanism = PartitionSelection(epsilon=0.1, delta=1e-8)
    assert (mechanism.count_needed(0.5), certain_count(mechanism)) == (155, 310)
    several = [PartitionSelection(epsilon=1.0, delta=1e-6, max_values_per_unit=most) for most in (3, 10, 100)]
    assert [each.count_needed(0.5) for each in several] == [40, 132, 1313]
    assert PartitionSelection(epsilon=1.0, delta=1e-6, neighbours=Neighbours.REPLACE_ONE).count_needed(0.5) == 27


@PRICED
def test_counts_that_are_needed_are_the_smallest(epsilon: float, delta: float) -> None:
    mechanism = PartitionSelection(epsilon=epsilon, delta=delta)
    for chance in (0.01, 0.5, 0.99):
        needed = mechanism.count_needed(chance)
        assert mechanism.probability(needed) >= chance > mechanism.probability(needed - 1)
    certain = certain_count(mechanism)
    assert mechanism.probability(certain) == 1.0
    _, high = mechanism._bounds(certain - 1, 400)  # pyright: ignore[reportPrivateUsage]
    assert high < 1 << 400


@pytest.mark.parametrize("values", [2, 3, 20, 10**6])
@pytest.mark.parametrize("delta", [1e-6, 1e-300, 0.5, 0.999999])
def test_a_share_of_delta_is_the_largest_that_was_proved(delta: float, values: int) -> None:
    epsilon, share = divided(1.0, delta, values)
    assert epsilon == Fraction(1, values)
    kept = exponential(1 / Fraction(values) * _log(1 - Fraction(delta)), digits=800)
    exact = 1 - kept
    assert share <= exact
    assert float(exact) == pytest.approx(share, rel=1e-12)


def _log(number: Fraction) -> Fraction:
    from tests.reference.precision import logarithm

    return logarithm(number, digits=800)


@pytest.mark.parametrize(
    "exponent", [Fraction(1, 10**30), Fraction(1, 3), Fraction(5), Fraction(10**400), Fraction(64)]
)
def test_exponentials_are_enclosed(exponent: Fraction) -> None:
    low, high = exp_minus(exponent)
    true = Fraction(0) if exponent > 10**6 else exponential(-exponent, digits=300)
    assert 0 <= low <= true + Fraction(1, 10**290)
    assert true - Fraction(1, 10**290) <= high < 1
    assert high - low <= Fraction(1, 10**36) * high or high < Fraction(1, 10**434)


@pytest.mark.parametrize(
    ("epsilon", "delta"),
    [(5e-324, 5e-324), (1e-300, 0.5), (1.7e308, 1e-300), (1e-12, 1e-12), (1e-9, 0.9999999999999999), (700.0, 5e-324)],
)
def test_extreme_prices(epsilon: float, delta: float) -> None:
    mechanism = PartitionSelection(epsilon=epsilon, delta=delta)
    assert mechanism.probability(1) == delta
    needed = mechanism.count_needed(0.5)
    assert 1 <= needed <= LARGEST_COUNT
    assert mechanism.select([LARGEST_COUNT, 0]).tolist() in ([0], [])
    assert mechanism.probability(LARGEST_COUNT) > 0.99 or delta < 1e-12


def draws(mechanism: PartitionSelection, count: int, size: int) -> np.ndarray:
    named = mechanism.select(np.full(size, count))
    assert named.size == 0 or (np.diff(named) > 0).all()
    return np.array([named.size, size - named.size])


@pytest.mark.sampled(2)
@pytest.mark.parametrize("count", [10, 13, 14, 15, 18])
def test_coins_have_their_probability(count: int) -> None:
    mechanism = PartitionSelection(epsilon=1.0, delta=1e-6)
    chance, size = mechanism.probability(count), 400_000
    found = draws(mechanism, count, size)
    assert p_value(found, np.array([chance, 1 - chance])) > NEVER
    beside = mechanism.probability(count + (1 if chance < 0.5 else -1))
    assert p_value(found, np.array([beside, 1 - beside])) < NEVER  # control


def test_the_coins_of_equal_counts_are_independent() -> None:
    """Of three values with one count, all eight sets have the probabilities of independent coins."""
    mechanism = PartitionSelection(epsilon=0.2, delta=0.05)
    chance, size = mechanism.probability(4), 6000 if SLOW else 1000
    found = np.zeros(8, np.int64)
    for _ in range(size):
        found[sum(1 << place for place in mechanism.select([4, 4, 4]).tolist())] += 1
    heads = np.array([place.bit_count() for place in range(8)])
    assert p_value(found, chance**heads * (1 - chance) ** (3 - heads)) > NEVER
    assert p_value(np.roll(found, 1), chance**heads * (1 - chance) ** (3 - heads)) < NEVER  # control


def test_a_coin_that_the_first_digits_leave_open_is_decided_by_more(monkeypatch: pytest.MonkeyPatch) -> None:
    """With three digits at a time nearly every coin takes several looks."""
    mechanism = PartitionSelection(epsilon=0.3, delta=0.01)
    monkeypatch.setattr(product, "_BITS", 3)
    chance, size = mechanism.probability(6), 100_000
    found = draws(mechanism, 6, size)
    assert p_value(found, np.array([chance, 1 - chance])) > NEVER


def test_values_without_units_are_never_named_and_large_ones_always() -> None:
    mechanism = PartitionSelection(epsilon=1.0, delta=0.9)
    assert mechanism.select(np.zeros(1000, np.int64)).size == 0
    assert mechanism.select(np.full(1000, certain_count(mechanism))).size == 1000
    assert mechanism.select([]).tolist() == []
    assert PartitionSelection(epsilon=1.0, delta=1e-6).select([28, 0, 3000, 29]).tolist() == [0, 2, 3]


def test_seeded_coins_repeat() -> None:
    mechanism = PartitionSelection(epsilon=0.2, delta=0.05)
    counts = np.arange(200) % 9
    with testing.seeded(7):
        first = mechanism.select(counts).tolist()
    with testing.seeded(7):
        assert mechanism.select(counts).tolist() == first
    assert any(mechanism.select(counts).tolist() != first for _ in range(5))


BAD: list[tuple[dict[str, Any], str]] = [
    ({"epsilon": 0.0}, "epsilon"),
    ({"epsilon": float("nan")}, "epsilon"),
    ({"delta": 0.0}, "delta=0.0: expected a number strictly between 0 and 1"),
    ({"delta": 1.0}, "delta=1.0: expected a number strictly between 0 and 1"),
    ({"delta": -1e-9}, "delta"),
    ({"delta": float("nan")}, "delta"),
    ({"delta": None}, "delta=None: expected a number strictly between 0 and 1"),
    ({"delta": True}, "delta"),
    ({"delta": 5e-324, "max_values_per_unit": 2}, "large enough to be divided"),
    ({"max_values_per_unit": 0}, "max_values_per_unit"),
    ({"max_values_per_unit": 1.5}, "max_values_per_unit"),
    ({"max_values_per_unit": 10**10}, "max_values_per_unit"),
    ({"neighbours": "none"}, "neighbours"),
]


@pytest.mark.parametrize(("change", "said"), BAD)
def test_bad_arguments(change: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidParameterError, match=said):
        PartitionSelection(**({"epsilon": 1.0, "delta": 1e-6} | change))


@pytest.mark.parametrize("counts", [[1.5, 2.0], [[1], [2]], ["a"], [True]])
def test_bad_counts(counts: Any) -> None:
    with pytest.raises(InvalidDataError) as refused:
        PartitionSelection(epsilon=1.0, delta=1e-6).select(counts)
    assert "1.5" not in str(refused.value)


def test_bad_chances() -> None:
    mechanism = PartitionSelection(epsilon=1.0, delta=1e-6)
    for chance in (0.0, 1.0, float("nan")):
        with pytest.raises(InvalidParameterError, match="chance"):
            mechanism.count_needed(chance)
    with pytest.raises(InvalidParameterError, match="count"):
        mechanism.probability(-1)


def test_fractions_are_prices() -> None:
    mechanism = PartitionSelection(epsilon=Fraction(1, 3), delta=1e-6, max_values_per_unit=2)  # type: ignore[arg-type]
    assert mechanism.epsilon == 1 / 3
    assert repr(mechanism).startswith("PartitionSelection(epsilon=0.333")
    assert probabilities(Fraction(2), Fraction(1, 10), 1) == [0, Fraction(1, 10)]


@pytest.mark.parametrize("first", [1, 2, 3, 4, 5, 50, 2**40, 2**40 + 1, LARGEST_COUNT - 1, LARGEST_COUNT])
def test_the_first_count_is_found_by_few_questions(first: int) -> None:
    asked: list[int] = []

    def holds(count: int) -> bool:
        asked.append(count)
        return count >= first

    assert first_count(holds) == first
    assert len(asked) <= 2 * first.bit_length() + 1
    assert first_count(lambda count: False) == LARGEST_COUNT
