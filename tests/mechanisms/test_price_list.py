"""The best price of a list: its law and its losses, who buys at which price, exact revenues, and what is refused."""

from __future__ import annotations

import math
import pickle
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dpselect as dps
from dpselect import Neighbours
from dpselect.errors import InvalidDataError, InvalidParameterError
from tests.laws.goodness_of_fit import NEVER, p_value
from tests.laws.test_bad_input import BAD_SCORES, SECRET, assert_says_nothing
from tests.slow import SLOW

SEED = 23
RELATIONS = [Neighbours.ADD_REMOVE, Neighbours.REPLACE_ONE]
cents = st.integers(1, 3000).map(lambda multiple: multiple / 100)
price_lists = st.lists(cents, min_size=1, max_size=6, unique=True)
offers_near = st.one_of(cents, st.floats(-5.0, 40.0), st.just(math.inf))


def plain_revenues(offers: Any, prices: list[Any]) -> list[Fraction]:
    return [Fraction(str(price)) * sum(float(offer) >= float(price) for offer in offers) for price in prices]


def selection(mechanism: dps.mechanisms.PriceListMechanism) -> dps.PermuteAndFlip:
    """What the mechanism has to be, on revenues in money."""
    return dps.PermuteAndFlip(epsilon=mechanism.epsilon, sensitivity=mechanism.score_range or 1.0, monotonic=True)


@pytest.mark.parametrize("neighbours", RELATIONS)
@given(prices=price_lists, offers=st.lists(offers_near, max_size=12), epsilon=st.floats(0.05, 4.0))
def test_the_law_is_permute_and_flip_on_revenues(
    neighbours: Neighbours, prices: list[float], offers: list[float], epsilon: float
) -> None:
    mechanism = dps.mechanisms.PriceListMechanism(epsilon=epsilon, prices=prices, neighbours=neighbours)
    revenues = [float(revenue) for revenue in plain_revenues(offers, prices)]
    assert mechanism.pmf(offers) == pytest.approx(selection(mechanism).pmf(revenues), rel=1e-9, abs=1e-15)
    expected = selection(mechanism).expected_error(revenues)
    assert mechanism.expected_error(offers) == pytest.approx(expected, rel=1e-9, abs=1e-9)


def loss(mechanism: dps.mechanisms.PriceListMechanism, first: list[float], second: list[float]) -> float:
    return float(np.abs(np.log(mechanism.pmf(first)) - np.log(mechanism.pmf(second))).max())


@pytest.mark.parametrize("neighbours", RELATIONS)
@given(
    prices=price_lists,
    shared=st.lists(offers_near, max_size=10),
    own=st.lists(offers_near, max_size=2),
    other=st.lists(offers_near, max_size=2),
    epsilon=st.floats(0.05, 3.0),
)
def test_the_loss_between_neighbours_is_at_most_epsilon(
    neighbours: Neighbours,
    prices: list[float],
    shared: list[float],
    own: list[float],
    other: list[float],
    epsilon: float,
) -> None:
    replaced = other if neighbours is Neighbours.REPLACE_ONE else []
    mechanism = dps.mechanisms.PriceListMechanism(
        epsilon=epsilon, prices=prices, neighbours=neighbours, values_per_unit=2
    )
    assert loss(mechanism, [*shared, *own], [*shared, *replaced]) <= epsilon + 1e-9


def test_the_bound_is_reached_and_with_more_offers_of_a_unit_exceeded() -> None:
    mechanism = dps.mechanisms.PriceListMechanism(epsilon=0.5, prices=[1, 4])
    assert loss(mechanism, [4.0] * 3, [4.0] * 2) == pytest.approx(0.5, abs=1e-9)
    assert loss(mechanism, [4.0] * 4, [4.0] * 2) > 0.9


@pytest.mark.sampled(1)
@pytest.mark.parametrize("prices", [[3, 1, 2], [0.75, 0.25, 0.5], [Fraction(1, 3), Fraction(1, 9), Fraction(2, 9)]])
def test_draws_follow_the_law(prices: list[Any]) -> None:
    """The control is the law at a slightly larger epsilon."""
    mechanism = dps.mechanisms.PriceListMechanism(epsilon=1.5, prices=prices)
    offers = [float(prices[i]) for i in (0, 1, 1, 2, 2, 2)]
    names = {float(price): place for place, price in enumerate(prices)}
    draws = [names[float(mechanism.draw(offers))] for _ in range(20_000 if SLOW else 8000)]
    counts = np.bincount(draws, minlength=3)
    assert p_value(counts, mechanism.pmf(offers)) > NEVER
    other = dps.mechanisms.PriceListMechanism(epsilon=2.2, prices=prices)
    assert p_value(counts, other.pmf(offers)) < NEVER


def test_the_order_of_the_list_does_not_matter() -> None:
    offers = [0.5, 1.0, 2.0, 2.0, 9.0]
    forwards = dps.mechanisms.PriceListMechanism(epsilon=1.0, prices=[0.5, 1, 2, 5]).pmf(offers)
    backwards = dps.mechanisms.PriceListMechanism(epsilon=1.0, prices=[5, 2, 1, 0.5]).pmf(offers)
    assert forwards == pytest.approx(backwards[::-1], rel=1e-12)
    assert np.ptp(forwards) > 0.1


def buyers(offers: Any, prices: list[Any]) -> list[int]:
    """How many buy at each price, recovered from the revenues the draw is made from."""
    mechanism = dps.mechanisms.PriceListMechanism(epsilon=1.0, prices=prices)
    return [int(each) for each in mechanism._revenues(offers) // mechanism._multiples]


def test_who_offers_the_price_buys() -> None:
    assert buyers([0.1, 0.3, 0.7], [0.1, 0.3, 0.7]) == [3, 2, 1]
    assert buyers([math.nextafter(0.3, 0), math.nextafter(0.3, 1), 0.1 + 0.2], [0.3]) == [2]
    assert buyers([float("0.10"), float("0.1")], [Decimal("0.1")]) == [2]
    assert buyers(np.array([0.1, 0.7], np.float32), [0.1, 0.7]) == [2, 0]  # 0.7 in 32 bits is just below it
    assert buyers([1 / 3], [Fraction(1, 3), Fraction(1, 4)]) == [1, 1]
    assert buyers([-math.inf, -3.0, 0.0, math.inf], [5e-324, 1.5e-323]) == [1, 1]
    assert buyers([2**53 + 1], [2**53]) == [1]


@pytest.mark.parametrize(
    "convert",
    [
        np.array,
        lambda offers: np.array(offers, np.int8),
        lambda offers: np.array(offers, np.uint64),
        lambda offers: np.array(offers, ">f4"),
        pa.array,
        pl.Series,
        lambda offers: pa.chunked_array([offers[:2], offers[2:]]),
    ],
)
def test_offers_of_any_type(convert: Any) -> None:
    assert buyers(convert([1, 5, 7, 7]), [7, 2, 8]) == [2, 3, 0]


def test_many_offers() -> None:
    offers = np.random.default_rng(SEED).exponential(3.0, 10_000).round(1)
    prices = [float(price) for price in np.arange(1, 120) / 10]
    expected = [int((offers >= price).sum()) for price in prices]
    assert buyers(offers, prices) == expected


def test_nobody_buys() -> None:
    for offers in ([], [0.5, -2.0]):
        assert dps.mechanisms.PriceListMechanism(epsilon=1.0, prices=[1, 2, 4]).pmf(offers) == pytest.approx(
            [1 / 3] * 3
        )


def test_revenues_are_exact_where_doubles_are_not() -> None:
    """At 2^40 units: 2^23 - 1 buyers earn just less than 2^63, one more would not fit."""
    prices = [2**40, 2**40 - 1]
    mechanism = dps.mechanisms.PriceListMechanism(epsilon=1.0, prices=prices)
    few = np.full(2**23 - 1, 2.0**40, np.float32)
    assert mechanism._revenues(few).tolist() == [price * (2**23 - 1) for price in prices]
    many = np.full(2**23, 2.0**40, np.float32)
    assert mechanism._revenues(many).tolist() == [0, -(2**23)]
    far = dps.mechanisms.PriceListMechanism(epsilon=1.0, prices=[2**40, 1])
    assert far._revenues(many).tolist() == [0, max(2**23 * (1 - 2**40), 1 - 2**63)]
    assert far._revenues(np.concatenate([many, many])).tolist() == [0, 1 - 2**63]


@pytest.mark.parametrize(
    ("prices", "shown"),
    [
        (range(1, 4), (1, 2, 3)),
        ([0.1, 2], (0.1, 2)),
        (np.array([3, 1]), (3, 1)),
        (np.array([0.5, 0.25], np.float32), (0.5, 0.25)),
        (pl.Series([2, 1]), (2, 1)),
        (pa.array([2.5]), (2.5,)),
        ([Decimal("4.99"), Fraction(1, 2)], (4.99, 0.5)),
        ([Fraction(1, 3), 1], (Fraction(1, 3), 1)),
        ([1e308, 5e307], (1e308, 5e307)),
        ([5e-324], (5e-324,)),
    ],
)
def test_lists_of_prices(prices: Any, shown: tuple[Any, ...]) -> None:
    mechanism = dps.mechanisms.PriceListMechanism(epsilon=1.0, prices=prices)
    assert mechanism.prices == shown
    assert list(map(type, mechanism.prices)) == list(map(type, shown))
    assert mechanism.draw([]) in [price if isinstance(price, int) else float(price) for price in shown]
    assert pickle.loads(pickle.dumps(mechanism)) == mechanism


@pytest.mark.parametrize(
    ("prices", "neighbours", "sensitivity", "score_range"),
    [
        ([5, 10, 15], "add_remove", 15, 10),
        ([5, 10, 20], "add_remove", 20, 15),
        ([9.99, 10.99], "add_remove", 10.99, 9.99),
        ([5, 10, 15], "replace_one", 15, 15),
        ([5], "add_remove", 5, 0),
        ([5], "replace_one", 5, 0),
        ([Fraction(1, 3), Fraction(2, 3)], "add_remove", Fraction(2, 3), Fraction(1, 3)),
    ],
)
def test_sensitivity_range_and_scale(prices: list[Any], neighbours: Any, sensitivity: Any, score_range: Any) -> None:
    for most in (1, 3):
        mechanism = dps.mechanisms.PriceListMechanism(
            epsilon=0.5, prices=prices, neighbours=neighbours, values_per_unit=most
        )
        assert mechanism.sensitivity == pytest.approx(most * float(sensitivity), rel=1e-15)
        assert Fraction(mechanism.sensitivity) >= most * Fraction(str(sensitivity))
        assert mechanism.score_range == pytest.approx(most * float(score_range), rel=1e-15)
        assert mechanism.scale == pytest.approx(2 * most * float(score_range), rel=1e-15)


def test_the_event_is_that_of_permute_and_flip() -> None:
    mechanism = dps.mechanisms.PriceListMechanism(epsilon=0.5, prices=[1, 2])
    assert mechanism.event == dps.PermuteAndFlip(epsilon=0.5, sensitivity=1.0).event


@given(prices=price_lists, offers=st.lists(offers_near, max_size=60), confidence=st.sampled_from([0.6, 0.9, 0.99]))
def test_the_error_stays_within_its_bound(prices: list[float], offers: list[float], confidence: float) -> None:
    mechanism = dps.mechanisms.PriceListMechanism(epsilon=1.0, prices=prices)
    revenues = plain_revenues(offers, prices)
    within = Fraction(repr(mechanism.error_bound(confidence)))
    beyond = [max(revenues) - revenue > within for revenue in revenues]
    assert float(mechanism.pmf(offers) @ np.array(beyond)) <= 1.0 - confidence + 1e-9


def test_the_error_bound_is_a_multiple_of_the_unit_just_below_that_of_the_selection() -> None:
    mechanism = dps.mechanisms.PriceListMechanism(epsilon=0.5, prices=[0.25, 0.5, 1.0])
    within = mechanism.error_bound(0.95)
    assert within % 0.25 == 0.0
    assert 0.0 <= selection(mechanism).error_bound(3, 0.95) - within < 0.25
    assert mechanism.error_bound(0.95) < mechanism.error_bound(0.99)
    assert dps.mechanisms.PriceListMechanism(epsilon=0.5, prices=[7]).error_bound() == 0.0
    assert dps.mechanisms.PriceListMechanism(epsilon=1e-300, prices=[7, 8]).error_bound() == math.inf
    assert dps.mechanisms.PriceListMechanism(epsilon=1e-3, prices=[1.1e308, 1e308]).error_bound() == math.inf


BAD_PRICES: dict[str, tuple[Any, str]] = {
    "none at all": (None, "a public list of prices"),
    "an empty list": ([], "at least one price"),
    "an empty range": (range(5, 1), "at least one price"),
    "a number": (5, "a public list of prices"),
    "a text": ("7919", "a public list of prices"),
    "a mapping": ({7919.125: "Ann"}, "a public list of prices"),
    "a frame": (pl.DataFrame({"Ann": [SECRET]}), "a public list of prices"),
    "zero": ([SECRET, 0], "finite numbers > 0"),
    "a range from zero": (range(10), "finite numbers > 0"),
    "negative": ([SECRET, -1.5], "finite numbers > 0"),
    "NaN": ([SECRET, math.nan], "finite numbers > 0"),
    "infinity": (np.array([SECRET, math.inf]), "finite numbers > 0"),
    "missing": ([SECRET, None], "finite numbers > 0"),
    "texts": (["7919", "Ann"], "finite numbers > 0"),
    "a truth value": ([True, SECRET], "finite numbers > 0"),
    "complex": ([1j, SECRET], "finite numbers > 0"),
    "nested": ([[SECRET], [1.0]], "finite numbers > 0"),
    "beyond the doubles": ([10**400, SECRET], "finite numbers > 0"),
    "below the doubles": ([Decimal("1e-390"), SECRET], "finite numbers > 0"),
    "twice the same": ([SECRET, 1.0, SECRET], "different prices"),
    "twice the same, of two types": ([2, 2.0], "different prices"),
    "no double": ([2**53, 2**53 + 1], "prices that doubles hold"),
    "thirds that are one double": ([Fraction(1, 3), Fraction(1, 3) + Fraction(1, 2**70)], "at most 2^40 times"),
    "not rounded": (np.linspace(0.1, 1.0, 8) ** 2, "Round them, to cents say"),
    "too fine": ([Fraction(1, 7919**i) for i in range(1, 80)], "at most 2^40 times"),
    "far too fine": ([Fraction(1, prime) for prime in range(10**9 + 7, 10**9 + 207, 2)], "at most 2^40 times"),
    "too fine for any memory": ([Fraction(1, each) for each in range(1, 300_001)], "at most 2^40 times"),
    "too many": (range(1, 10**30), "at most 1,000,000 prices"),
}


@pytest.mark.parametrize(("prices", "reason"), BAD_PRICES.values(), ids=BAD_PRICES)
def test_bad_prices(prices: Any, reason: str) -> None:
    with pytest.raises(dps.errors.InvalidCandidatesError, match=r"^prices=") as caught:
        dps.mechanisms.PriceListMechanism(epsilon=1.0, prices=prices)
    assert reason in str(caught.value)
    assert_says_nothing(caught.value)


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({"epsilon": 0.0}, "epsilon"),
        ({"epsilon": math.nan}, "epsilon"),
        ({"neighbours": "both"}, "neighbours"),
        ({"values_per_unit": 0}, "values_per_unit"),
        ({"values_per_unit": 1.5}, "values_per_unit"),
        ({"values_per_unit": 10**400}, "values_per_unit"),
        ({"values_per_unit": 3, "prices": [1e308]}, "sensitivity"),
    ],
)
def test_bad_arguments(changes: dict[str, Any], name: str) -> None:
    with pytest.raises(InvalidParameterError, match=f"^{name}="):
        dps.mechanisms.PriceListMechanism(**{"epsilon": 1.0, "prices": [1, 2], **changes})


NOT_BAD = ("empty", "no scores", "infinity")
BAD_OFFERS = {name: offers for name, offers in BAD_SCORES.items() if not any(word in name for word in NOT_BAD)}


@pytest.mark.parametrize("offers", BAD_OFFERS.values(), ids=BAD_OFFERS)
def test_bad_offers_draw_nothing(offers: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dps.PermuteAndFlip, "select", None)
    mechanism = dps.mechanisms.PriceListMechanism(epsilon=1.0, prices=[1, 2])
    for ask in (mechanism.draw, mechanism.pmf, mechanism.expected_error):
        with pytest.raises(InvalidDataError, match=r"^offers=") as caught:
            ask(offers)
        assert_says_nothing(caught.value)
