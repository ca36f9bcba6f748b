"""What order and counts give away together: as much as their noise is made for, and no less."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import product
from math import exp, log
from typing import Any

import numpy as np
import pytest

from dpselect.errors import InvalidDataError
from dpselect.mechanisms import DiscreteGaussianMechanism, NoisyOrder
from tests.reference.counting import Contribution, add_remove_pairs, bounded_counts, replace_one_pairs
from tests.reference.discrete_gaussian import law as gaussian_noise
from tests.reference.noisy_order import (
    count_error_above,
    counted_law,
    difference_above,
    exponential_order_law,
    geometric_noise,
    hockey_stick,
    noise_once_law,
    once_law,
    order_error_above,
    worst_ratio,
)

UNITS = ("ann", "bob")
ROWS: tuple[Contribution, ...] = ((), ("x",), ("y", "y"), ("x", "y", "z", None), ("w", "x"))
CANDIDATES = ("x", "y", "z")
ROOT = Fraction(3, 2)
"""e^epsilon of noise for a change of 1."""

PAIRS = {"add_remove": add_remove_pairs, "replace_one": replace_one_pairs}
Laws = Callable[..., dict[Any, Fraction]]


def worst(relation: str, law: Laws, *, most: int, candidates: tuple[str, ...] = CANDIDATES, **more: Any) -> Fraction:
    known: dict[Any, Any] = {}

    def of(data: dict[str, Contribution]) -> dict[Any, Fraction]:
        key = tuple(data.items())
        if key not in known:
            known[key] = law(bounded_counts(data, candidates=candidates, most=most), reach=2, **more)
        return known[key]

    return max(worst_ratio(of(one), of(other)) for one, other in PAIRS[relation](UNITS, ROWS))


@pytest.mark.sampled(2)
@pytest.mark.parametrize("k", [1, 2, 3])
@pytest.mark.parametrize("most", [1, 2, 3])
@pytest.mark.parametrize("relation", PAIRS)
def test_noise_once_loses_what_a_unit_counts_for(relation: str, most: int, k: int) -> None:
    """All tables of two units: the loss of order and counts is at most that of the whole vector."""
    moved = most if relation == "add_remove" else min(2 * most, 3)
    loss = worst(relation, once_law, most=most, k=k, ratio=1 / ROOT)
    assert loss <= ROOT**moved
    if relation == "add_remove" and most <= k:
        assert loss == ROOT**moved  # attained


def test_the_noise_for_one_value_is_not_enough_for_two() -> None:
    """Control: with e^(-epsilon) instead of e^(-epsilon/2), two values per unit lose 2 epsilon."""
    assert worst("add_remove", once_law, most=2, k=2, ratio=1 / ROOT) == ROOT**2
    assert worst("add_remove", once_law, most=1, k=2, ratio=1 / ROOT) == ROOT


def test_without_a_bound_every_count_may_change() -> None:
    """Control: the bound is what the noise relies on."""
    assert worst("add_remove", once_law, most=3, k=3, ratio=1 / ROOT) == ROOT**3


def test_a_replaced_value_moves_two_counts() -> None:
    """Control: replace-one needs twice the scale."""
    assert worst("replace_one", once_law, most=1, k=2, ratio=1 / ROOT) == ROOT**2


@pytest.mark.parametrize("k", [1, 2])
def test_exponential_noise_once_does_not_profit_from_one_value_per_unit(k: int) -> None:
    """Control: one count that rises alone, by 1, costs k times what noise for a change of 1 is made for."""

    def pairs() -> Iterator[tuple[dict[Any, Fraction], dict[Any, Fraction]]]:
        for counts in product((0, 9, 10), repeat=3):
            for place in range(3):
                more = tuple(count + (at == place) for at, count in enumerate(counts))
                yield tuple(exponential_order_law(each, k=k, ratio=Fraction(1, 3)) for each in (counts, more))  # type: ignore[misc]

    loss = max(max(max(one[o] / other[o], other[o] / one[o]) for o in one) for one, other in pairs())
    assert loss == Fraction(3) ** k


@pytest.mark.sampled(1)
@pytest.mark.parametrize("most", [1, 2, 3])
@pytest.mark.parametrize("relation", PAIRS)
def test_selecting_and_then_counting_loses_the_sum(relation: str, most: int) -> None:
    k = 2
    moved = min(most, k) if relation == "add_remove" else min(2 * most, k)
    width = 1 if relation == "add_remove" else 2
    more = {"k": k, "flip_ratio": 1 / ROOT, "ratio": 1 / ROOT}
    loss = worst(relation, counted_law, most=most, **more)
    assert loss <= ROOT ** (k * width) * ROOT**moved
    without = worst(relation, counted_law, most=most, **(more | {"ratio": Fraction(1, 1000)}))
    assert without > ROOT ** (k * width) * ROOT**moved  # control: counts with hardly any noise


RATIOS = [Fraction(1, 2), Fraction(4, 5)]
REACH = {Fraction(1, 2): 14, Fraction(4, 5): 24}
"""Noise beyond it is so rare that it does not matter here."""


@pytest.mark.parametrize("ratio", RATIOS)
@pytest.mark.parametrize("k", [1, 2])
@pytest.mark.parametrize("exact", [(0, 0), (4, 0), (12, 0), (30, 0), (3, 2, 0), (9, 9, 0)])
def test_the_bounds_hold(exact: tuple[int, ...], k: int, ratio: Fraction) -> None:
    """With noise of this ratio, at 90 %, for the exact probabilities."""
    reach = REACH[ratio] if len(exact) == 2 else 9
    order = NoisyOrder(len(exact), k, epsilon=-log(ratio), max_values_per_unit=1)
    noise = geometric_noise(ratio, reach)
    assert order_error_above(exact, order.error_bound(0.9), k=k, noise=noise) <= Fraction(1, 10)
    assert count_error_above(exact, order.count_bound(0.9), k=k, noise=noise) <= Fraction(1, 10)


def in_short(variance: float, *, reach: int) -> dict[int, Fraction]:
    """Gaussian noise to 100 binary places, so that its fractions do not get long."""
    law = gaussian_noise(Fraction(variance), reach=reach)
    return {y: Fraction(round(chance * 2**100), 2**100) for y, chance in law.items()}


@pytest.mark.sampled(2)
@pytest.mark.parametrize("k", [1, 2])
@pytest.mark.parametrize("exact", [(0, 0), (4, 0), (12, 0), (3, 2, 0), (9, 9, 0)])
def test_the_bounds_of_gaussian_noise_hold(exact: tuple[int, ...], k: int) -> None:
    """At 90 %, for the exact probabilities. Control: 0 is no bound for counts."""
    order = NoisyOrder(len(exact), k, epsilon=2.0, delta=0.1, max_values_per_unit=1)
    noise = in_short(order.noise.variance, reach=8)
    assert order_error_above(exact, order.error_bound(0.9), k=k, noise=noise) <= Fraction(1, 10)
    assert count_error_above(exact, order.count_bound(0.9), k=k, noise=noise) <= Fraction(1, 10)
    assert count_error_above(exact, 0, k=k, noise=noise) > Fraction(1, 10)


@pytest.mark.parametrize("variance", [0.03, 0.3, 1.0, 4.5, 40.0])
def test_the_difference_of_two_gaussian_noises(variance: float) -> None:
    """Claim 9 of the discrete Gaussian's page: never too small, and close for the differences that bounds are about."""
    mechanism = DiscreteGaussianMechanism(epsilon=1.0, delta=0.5, squared_sensitivity=1)
    object.__setattr__(mechanism, "variance", variance)
    reach = 15 + round(4 * variance**0.5)
    noise = np.array([float(each) for each in in_short(variance, reach=reach).values()])
    difference = np.convolve(noise, noise[::-1])
    for bound in range(12):
        exact = difference[2 * reach + bound + 1 :].sum()
        assert exact <= np.exp(mechanism.difference_bound(bound)) * (1 + 1e-12) + 1e-15
        if variance > 1 and exact > 1e-9:
            assert np.exp(mechanism.difference_bound(bound)) < 3 * exact


GAUSSIAN = {"epsilon": 0.5, "delta": 0.15}


@pytest.mark.sampled(1)
@pytest.mark.parametrize("k", [1, 2])
@pytest.mark.parametrize("most", [1, 2])
@pytest.mark.parametrize("relation", PAIRS)
def test_gaussian_noise_once_fails_no_more_often_than_delta(relation: str, most: int, k: int) -> None:
    """Of order and counts together, over all tables of two units. Control: noise for epsilon times three."""
    candidates = ("x", "y")

    def failing(**price: float) -> Fraction:
        order: Any = NoisyOrder(2, k, **price, max_values_per_unit=most, neighbours=relation)  # type: ignore[arg-type]
        assert order.noise.squared_sensitivity == (most if relation == "add_remove" else 2)
        noise = in_short(order.noise.variance, reach=30)
        known: dict[Any, Any] = {}

        def of(data: dict[str, Contribution]) -> dict[Any, Fraction]:
            key = tuple(data.items())
            if key not in known:
                counts = bounded_counts(data, candidates=candidates, most=most)
                known[key] = noise_once_law(counts, k=k, noise=noise, reach=6)
            return known[key]

        growth = Fraction(exp(GAUSSIAN["epsilon"]))
        return max(hockey_stick(of(one), of(other), growth) for one, other in PAIRS[relation](UNITS, ROWS))

    assert 0 < failing(**GAUSSIAN) <= Fraction(GAUSSIAN["delta"])
    assert failing(epsilon=2.5, delta=GAUSSIAN["delta"]) > Fraction(GAUSSIAN["delta"])


@pytest.mark.parametrize("n", [2, 3, 50, 10**6])
@pytest.mark.parametrize("k", [1, 2])
@pytest.mark.parametrize("epsilon", [0.01, 0.7, 3.0])
def test_the_bounds_are_the_smallest_that_the_formulas_give(n: int, k: int, epsilon: float) -> None:
    ratio = Fraction(exp(-epsilon))
    order = NoisyOrder(n, k, epsilon=epsilon, max_values_per_unit=1)
    bound, within, pairs = order.error_bound(), order.count_bound(), k * (n - 1)
    assert pairs * difference_above(ratio, bound) <= 0.01 * (1 + 1e-9)
    assert bound == 0 or pairs * difference_above(ratio, bound - 1) > 0.01 * (1 - 1e-9)
    assert (n + k) * ratio ** (within + 1) / (1 + ratio) <= 0.01 * (1 + 1e-9)
    assert within == 0 or (n + k) * ratio**within / (1 + ratio) > 0.01 * (1 - 1e-9)


def test_a_bound_on_gaussian_counts_covers_all_candidates() -> None:
    order = NoisyOrder(50, 30, epsilon=1.0, delta=1e-6, max_values_per_unit=20)
    bound = order.count_bound(0.99)
    beyond = order.noise.pmf(0, np.arange(bound + 1, 40 * bound)).sum()
    assert (50 + 30) * beyond <= 0.01
    assert (50 + 30) * (beyond + order.noise.pmf(0, [bound])[0]) > 0.005  # and is not much too wide


@pytest.mark.parametrize("given", [[], [5], [1, 2, 3, 4]])
def test_other_numbers_of_counts_than_it_was_made_for_are_refused(given: list[int]) -> None:
    with pytest.raises(InvalidDataError, match=f"<{len(given)} of them>: expected 3 counts"):
        NoisyOrder(3, 1, epsilon=1.0, max_values_per_unit=1).select(given)
