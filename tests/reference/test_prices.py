"""Revenue moves by no more than the highest price and in one direction; the product's law against exact integrals."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dpselect as dps
from dpselect.errors import InvalidDataError, InvalidParameterError
from tests.laws.goodness_of_fit import NEVER, p_value
from tests.laws.test_bad_input import SECRET, assert_says_nothing
from tests.reference.prices import allowance, best_revenue, masses, revenue, shortfall

UPPER = Fraction(8)
offer = st.fractions(0, 8, max_denominator=4)
offer_lists = st.lists(offer, max_size=6)
prices = [Fraction(place, 8) for place in range(65)]


def range_of_moves(before: list[Fraction], after: list[Fraction]) -> Fraction:
    moves = [revenue(after, price) - revenue(before, price) for price in prices]
    return max(moves) - min(moves)


@given(offer_lists, offer, offer)
def test_one_unit_moves_all_revenues_in_one_direction(offers: list[Fraction], one: Fraction, other: Fraction) -> None:
    assert range_of_moves(offers, [*offers, one]) <= UPPER
    assert range_of_moves([*offers, one], [*offers, other]) <= UPPER


def test_the_range_is_attained_and_two_offers_of_one_unit_move_further() -> None:
    assert range_of_moves([], [UPPER - Fraction(1, 8)]) == UPPER - Fraction(1, 8)
    low, high = Fraction(4), UPPER
    # One unit's offers go from (4, 4) to (0, 8): revenue falls by 4 at the price 4 and rises by 8 at the price 8.
    assert range_of_moves([low, low], [Fraction(0), high]) == 12


few = st.lists(offer, max_size=3)


@given(offer_lists, few, few)
def test_the_offers_of_one_unit_move_no_two_revenues_further_apart(
    offers: list[Fraction], own: list[Fraction], other: list[Fraction]
) -> None:
    """The control is above: 12 with two offers, and highest prices of 8."""
    assert range_of_moves(offers, [*offers, *own]) <= len(own) * UPPER
    assert range_of_moves([*offers, *own], [*offers, *other]) <= max(len(own), len(other)) * UPPER


@given(offer_lists, st.lists(offer, max_size=2), st.lists(offer, max_size=2))
def test_the_loss_by_two_offers_of_one_unit(offers: list[Fraction], own: list[Fraction], other: list[Fraction]) -> None:
    for before, after in ((offers, [*offers, *own]), ([*offers, *own], [*offers, *other])):
        assert worst_loss(before, after, epsilon=1.0, upper=2 * UPPER) <= 1.0 + 1e-12


def test_two_offers_of_one_unit_cost_more_than_one_is_paid_for() -> None:
    many = [UPPER] * 20
    assert worst_loss(many, [*many, *[UPPER - Fraction(1, 8)] * 2], epsilon=1.0, upper=UPPER) > 1.3


LISTS: dict[str, list[float]] = {
    "none": [],
    "one": [3.0],
    "ties": [2.0, 2.0, 2.0, 6.5],
    "outside": [-3.0, 0.5, 9.0, 1e300, math.inf, -math.inf],
    "many": [k / 7 for k in range(1, 60)],
}
every_list = pytest.mark.parametrize("offers", LISTS.values(), ids=LISTS)
CUTS = [Fraction(1), *(Fraction(place, 4) for place in range(5, 33))]


def exact_masses(offers: list[float], *, epsilon: float) -> np.ndarray:
    finite = [Fraction(min(max(each, -9.0), 99.0)) for each in offers]
    scale = Fraction(8) / Fraction(epsilon)
    return np.array([float(p) for p in masses(finite, cuts=CUTS, scale=scale, bounds=(Fraction(1), UPPER))])


@every_list
@pytest.mark.parametrize("epsilon", [1e-6, 1.0, 30.0])
def test_the_distribution_is_the_integral(offers: list[float], epsilon: float) -> None:
    mechanism = dps.mechanisms.PriceMechanism(epsilon=epsilon, bounds=(1, 8))
    at = [float(cut) for cut in CUTS]
    np.testing.assert_allclose(
        np.diff(mechanism.law(offers).cdf(at)), exact_masses(offers, epsilon=epsilon), atol=1e-13
    )
    assert mechanism.law(offers).cdf([0.5, 1.0, 8.0, 9.0]) == pytest.approx([0.0, 0.0, 1.0, 1.0], abs=1e-13)


def test_the_distribution_for_several_offers_of_a_unit() -> None:
    """The control is the law for one."""
    mechanism = dps.mechanisms.PriceMechanism(epsilon=2.0, bounds=(1, 8), values_per_unit=2)
    assert (mechanism.sensitivity, mechanism.scale) == (16.0, 8.0)
    at = [float(cut) for cut in CUTS]
    law = np.diff(mechanism.law(LISTS["ties"]).cdf(at))
    np.testing.assert_allclose(law, exact_masses(LISTS["ties"], epsilon=1.0), atol=1e-13)
    assert np.abs(law - exact_masses(LISTS["ties"], epsilon=2.0)).max() > 1e-3
    counts = np.histogram([mechanism.draw(LISTS["ties"]) for _ in range(8000)], bins=at)[0]
    assert p_value(counts, law) >= NEVER
    assert p_value(counts, exact_masses(LISTS["ties"], epsilon=20.0)) < NEVER


LOWEST = Fraction(1)
SHARES = st.sampled_from([Fraction(1, 4), Fraction(1, 2), Fraction(9, 10), Fraction(99, 100)])


@given(st.lists(st.tuples(offer, st.integers(1, 60)), max_size=4), SHARES, st.sampled_from([0.5, 1.0, 8.0]))
def test_the_revenue_is_as_near_to_the_best_as_is_claimed(
    groups: list[tuple[Fraction, int]], share: Fraction, epsilon: float
) -> None:
    offers = [price for price, count in groups for _ in range(count)]
    mechanism = dps.mechanisms.PriceMechanism(epsilon=epsilon, bounds=(1, 8))
    within = Fraction(mechanism.error_bound(0.9, share=float(share)))
    scale = UPPER / Fraction(epsilon)
    exact = allowance(Fraction(9, 10), share=share, scale=scale, bounds=(LOWEST, UPPER))
    assert float(within) == pytest.approx(float(exact), rel=1e-10, abs=1e-12)
    assert missed(offers, within, share=share, scale=scale) <= Fraction(1, 10)


def test_the_claim_on_the_revenue_can_fail() -> None:
    """All offer just enough to count, and few enough for what is left to be nothing: nine tenths of the bound."""
    mechanism, share = dps.mechanisms.PriceMechanism(epsilon=1.0, bounds=(1, 8)), Fraction(99, 100)
    within = Fraction(mechanism.error_bound(0.99, share=0.99))
    price = LOWEST / share
    for part, holds in ((Fraction(1), True), (Fraction(9, 10), False)):
        offers = [price] * (math.floor(part * within) + 1)
        assert share * revenue(offers, price) > part * within
        assert (missed(offers, part * within, share=share, scale=UPPER) <= Fraction(1, 100)) == holds
        # By the product's own law: all prices above earn nothing.
        sold = mechanism.law([float(price)] * len(offers)).cdf(float(price))
        assert (1.0 - sold <= 0.01) == holds


def missed(offers: list[Fraction], within: Fraction, *, share: Fraction, scale: Fraction) -> Fraction:
    enough = share * best_revenue(offers, bounds=(LOWEST / share, UPPER)) - within
    return shortfall(offers, enough, scale=scale, bounds=(LOWEST, UPPER))


def test_bounds_on_the_error_at_the_edges() -> None:
    assert dps.mechanisms.PriceMechanism(epsilon=1.0, bounds=(0, 8)).error_bound(share=0.5) == math.inf
    assert (
        dps.mechanisms.PriceMechanism(epsilon=1.0, bounds=(1, 8)).error_bound(share=0.1) == math.inf
    )  # of prices from 10 on
    assert dps.mechanisms.PriceMechanism(epsilon=1.0, bounds=(7, 8)).error_bound(0.5, share=0.9) == 0.0
    tiny = dps.mechanisms.PriceMechanism(epsilon=1.0, bounds=(5e-324, 1e300)).error_bound(share=0.5)
    assert tiny == pytest.approx(1e300 * (math.log(99.0) + 624 * math.log(10.0) - math.log(4.94)), rel=1e-3)
    for bad in (0.0, 1.0, -1, 2, math.nan, None, "1"):
        with pytest.raises(InvalidParameterError, match=r"^share="):
            dps.mechanisms.PriceMechanism(epsilon=1.0, bounds=(1, 8)).error_bound(share=bad)  # type: ignore[arg-type]
        with pytest.raises(InvalidParameterError, match=r"^confidence="):
            dps.mechanisms.PriceMechanism(epsilon=1.0, bounds=(1, 8)).error_bound(bad, share=0.5)  # type: ignore[arg-type]


@pytest.mark.sampled(1)
@every_list
def test_draws_follow_the_law(offers: list[float]) -> None:
    mechanism = dps.mechanisms.PriceMechanism(epsilon=2.0, bounds=(1, 8))
    draws = [mechanism.draw(offers) for _ in range(5000)]
    counts = np.histogram(draws, bins=[float(cut) for cut in CUTS])[0]
    assert counts.sum() == len(draws)
    assert p_value(counts, exact_masses(offers, epsilon=2.0)) >= NEVER
    wrong = exact_masses(offers + [5.0] * 2, epsilon=2.0)
    assert p_value(counts, wrong) < NEVER


@given(offer_lists, offer, offer, st.sampled_from([0.1, 1.0, 4.0]))
def test_the_loss_is_at_most_epsilon(offers: list[Fraction], one: Fraction, other: Fraction, epsilon: float) -> None:
    for before, after in ((offers, [*offers, one]), ([*offers, other], [*offers, one])):
        assert worst_loss(before, after, epsilon=epsilon, upper=UPPER) <= epsilon + 1e-12


def test_the_law_above_can_fail() -> None:
    """With half the scale, or a range that a highest offer leaves."""
    many = [UPPER] * 20
    assert worst_loss(many, [*many, UPPER - Fraction(1, 8)], epsilon=1.0, upper=UPPER / 2) > 1.3


def worst_loss(before: list[Fraction], after: list[Fraction], *, epsilon: float, upper: Fraction) -> float:
    scale = upper / Fraction(epsilon)
    laws = [masses(offers, cuts=prices[::4], scale=scale, bounds=(Fraction(0), UPPER)) for offers in (before, after)]
    return max(abs(math.log(a) - math.log(b)) for a, b in zip(*laws, strict=True))


def test_extreme_scales() -> None:
    huge = dps.mechanisms.PriceMechanism(epsilon=1e6, bounds=(0, 1e300))
    assert huge.draw([1e-300, 2e299, 1e299, 1e299]) == pytest.approx(1e299, rel=1e-4)
    tiny = dps.mechanisms.PriceMechanism(epsilon=1.0, bounds=(0, 1e-300))
    assert 0.0 <= tiny.draw([1e-301] * 5 + [5e-324]) <= 1e-300
    flat = dps.mechanisms.PriceMechanism(epsilon=1e-6, bounds=(0, 1e300))
    assert 0.2 < np.mean([flat.draw([1e-300, 1e300]) > 5e299 for _ in range(400)]) < 0.8


@pytest.mark.parametrize(
    "offers", [[2, 3], np.array([2, 3], dtype=np.uint8), pd.Series([2.0, 3.0]), np.float32([2, 3])]
)
def test_offers_of_any_type(offers: Any) -> None:
    mechanism = dps.mechanisms.PriceMechanism(epsilon=1.0, bounds=(0, 8))
    assert 0 <= mechanism.draw(offers) <= 8
    assert mechanism.law(offers).cdf(4.0) == mechanism.law([2.0, 3.0]).cdf(4.0)


@pytest.mark.parametrize("offers", [[SECRET, math.nan], ["7919"], None, [[SECRET]], [None, SECRET], SECRET])
def test_bad_offers(offers: Any) -> None:
    mechanism = dps.mechanisms.PriceMechanism(epsilon=1.0, bounds=(0, 8))
    for call in (mechanism.draw, mechanism.law):
        with pytest.raises(InvalidDataError) as caught:
            call(offers)
        assert caught.value.name == "offers"
        assert_says_nothing(caught.value)


@pytest.mark.parametrize(
    ("name", "bad"),
    [
        ("epsilon", {"epsilon": -1}),
        ("bounds", {"bounds": (2, 1)}),
        ("bounds", {"bounds": (-1, 1)}),
        ("bounds", {"bounds": (0, math.inf)}),
        ("bounds", {"bounds": (math.nan, 1)}),
        ("bounds", {"bounds": (1, 1)}),
        ("bounds", {"bounds": (-2, -1)}),
        ("neighbours", {"neighbours": "swap"}),
        ("values_per_unit", {"values_per_unit": 0}),
        ("values_per_unit", {"values_per_unit": 1.0}),
        ("sensitivity", {"bounds": (0, 1e300), "values_per_unit": 10**9}),
    ],
)
def test_bad_arguments(name: str, bad: dict[str, Any]) -> None:
    with pytest.raises(InvalidParameterError) as caught:
        dps.mechanisms.PriceMechanism(**{"epsilon": 1.0, "bounds": (0, 1), **bad})
    assert caught.value.name == name


def test_sensitivity_and_scale() -> None:
    mechanism = dps.mechanisms.PriceMechanism(epsilon=0.5, bounds=(0, 0.1), neighbours="replace_one")
    assert (mechanism.sensitivity, mechanism.scale) == (0.1, 0.2)
