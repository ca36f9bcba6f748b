"""Revenues: every neighbour of small data sets, nothing sampled; and the product's law beside the model's."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import product
from typing import Any

import pytest

from dpselect import Neighbours
from dpselect.mechanisms import PriceListMechanism
from tests.drawn_answers import planned
from tests.reference.best_price import (
    cut_off,
    exp_epsilon,
    movements,
    proved_range,
    released_law,
    replace_one_pairs,
    revenues,
)
from tests.reference.counting import is_monotone, score_range, sensitivity
from tests.reference.unit_values import Contribution, Data, add_remove_pairs, worst_ratio

PRICES = (4, 1, 2)
UNITS = ("ann", "bob", "cid")
CONTRIBUTIONS: tuple[Contribution, ...] = ((), (1,), (4, 1), (2, 2), (None, 9, -9), (Fraction(3, 2), 2, 4))
ROOT = Fraction(5, 4)

Pairs = Callable[[Any, Any], Iterator[tuple[Data, Data]]]
RELATIONS: dict[str, Pairs] = {"add-remove": add_remove_pairs, "replace-one": replace_one_pairs}
every_relation = pytest.mark.parametrize("pairs", RELATIONS.values(), ids=RELATIONS)
every_most = pytest.mark.parametrize("most", [1, 2, 3])
every_list = pytest.mark.parametrize("prices", [PRICES, (3, 4), (5, 1), (3,), (1, 2, 3, 4)])


@every_list
@every_relation
@every_most
def test_sensitivity_and_range_are_what_is_claimed_and_no_less(
    pairs: Pairs, most: int, prices: tuple[int, ...]
) -> None:
    """Enough contributions to attain both: all offers at one price each."""
    contributions = [*CONTRIBUTIONS, *((price,) * 3 for price in prices)]
    changes = movements(pairs(UNITS[:2], contributions), prices, most=most)
    claimed = planned("best_price", prices=prices, max_rows_per_unit=most, epsilon=1.0).terms.sensitivity
    assert sensitivity(changes) == claimed == most * max(prices)
    assert score_range(changes) == proved_range(prices, most=most, replaced=pairs is replace_one_pairs)


@every_most
def test_one_more_unit_lowers_no_revenue(most: int) -> None:
    assert is_monotone(movements(add_remove_pairs(UNITS, CONTRIBUTIONS), PRICES, most=most))


def test_replacing_one_offer_moves_all_revenues_the_same_way_but_not_so_two_offers() -> None:
    assert is_monotone(movements(replace_one_pairs(UNITS[:2], CONTRIBUTIONS), PRICES, most=1))
    changes = movements(replace_one_pairs(UNITS[:2], CONTRIBUTIONS), PRICES, most=2)
    assert not is_monotone(changes)
    assert (4, 0, -2) in changes  # (2, 2) became (4, 1)


@pytest.mark.sampled(1)
@every_relation
@every_most
def test_the_loss_of_a_release_is_at_most_epsilon(pairs: Pairs, most: int) -> None:
    promised = exp_epsilon(ROOT, PRICES, most=most, replaced=pairs is replace_one_pairs)
    for first, second in pairs(UNITS[:2], CONTRIBUTIONS):
        laws = [released_law(data, PRICES, most=most, root=ROOT) for data in (first, second)]
        assert worst_ratio(*laws) <= promised


def test_a_smaller_scale_would_lose_more() -> None:
    """Three buy at the high price; without one of them, the low price is three further behind, in one direction."""
    prices = (1, 4)
    first: Data = {"ann": (4,), "bob": (4,), "cid": (4,)}
    second: Data = {"ann": (4,), "bob": (4,)}
    laws = [released_law(data, prices, most=1, root=ROOT) for data in (first, second)]
    assert worst_ratio(*laws) == ROOT**3 == exp_epsilon(ROOT, prices, most=1, replaced=False)


def test_the_scale_of_add_remove_loses_more_under_replace_one() -> None:
    prices = (3, 4)
    first: Data = {"ann": (3,), "bob": (4,), "cid": (4,), "dan": (4,), "eve": (3,)}
    second: Data = {**first, "ann": (4,), "eve": (3,)}
    laws = [released_law(data, prices, most=1, root=ROOT) for data in (first, second)]
    assert worst_ratio(*laws) > exp_epsilon(ROOT, prices, most=1, replaced=False)
    assert worst_ratio(*laws) <= exp_epsilon(ROOT, prices, most=1, replaced=True)


@every_relation
@pytest.mark.parametrize("farthest", [1, 3, 5])
def test_distances_that_are_cut_off_move_no_further_apart(pairs: Pairs, farthest: int) -> None:
    changes: set[tuple[int, ...]] = set()
    for first, second in pairs(UNITS, [(), (1, 2), (4, 1), (2, 2), (4, 4), (1,)]):
        ends = []
        for data in (first, second):
            offers = [offer for numbers in data.values() for offer in numbers if offer is not None]
            ends.append(cut_off(revenues(offers, PRICES), farthest=farthest))
        changes.add(tuple(b - a for a, b in zip(*ends, strict=True)))
    assert score_range(changes) <= proved_range(PRICES, most=2, replaced=pairs is replace_one_pairs)


def test_buyers_that_count_no_more_would_break_the_range() -> None:
    """Why distances are cut off and not the number of buyers: then the lowest price would stay where it is."""

    def saturated(offers: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(price * min(sum(offer >= price for offer in offers), 2) for price in PRICES)

    before, after = saturated((1, 1)), saturated((1, 1, 4))
    assert score_range([tuple(b - a for a, b in zip(before, after, strict=True))]) == 4
    assert proved_range(PRICES, most=1, replaced=False) == 3


def test_rounded_revenues_would_move_further_than_the_price() -> None:
    """Why revenues are whole numbers of a common unit: products of doubles do not even keep the sensitivity."""
    moves = [0.1 * (buyers + 1) - 0.1 * buyers for buyers in range(100)]
    assert max(map(Fraction, moves)) > Fraction(0.1) > Fraction(1, 10)


@every_relation
def test_the_product_has_the_law_of_the_model(pairs: Pairs) -> None:
    neighbours = Neighbours.ADD_REMOVE if pairs is add_remove_pairs else Neighbours.REPLACE_ONE
    epsilon = math.log(exp_epsilon(ROOT, PRICES, most=1, replaced=pairs is replace_one_pairs))
    mechanism = PriceListMechanism(epsilon=epsilon, prices=[0.4, 0.1, 0.2], neighbours=neighbours)
    for offers in product((0, 2, 3, 4, 50), repeat=3):
        data: Data = {str(i): (offer,) for i, offer in enumerate(offers)}
        law = [float(p) for p in released_law(data, PRICES, most=1, root=ROOT)]
        assert mechanism.pmf([offer / 10 for offer in offers]) == pytest.approx(law, rel=1e-9)
