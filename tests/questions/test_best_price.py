"""The best price: planned from public arguments, drawn from bounded offers, certified to no more than is proved."""

from __future__ import annotations

import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dpselect
from dpselect import Neighbours
from dpselect.errors import InvalidCandidatesError, InvalidParameterError
from dpselect.mechanisms import PriceListMechanism
from tests.drawn_answers import WHEN, planned, released
from tests.laws.goodness_of_fit import NEVER, p_value

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(("rows", "epsilon", "scale"), [(1, 0.5, 16.0), (1, 2.0, 4.0), (7, 1.0, 56.0)])
def test_the_plan(rows: int, epsilon: float, scale: float) -> None:
    task = planned("best_price", prices=[2, 8, 10], epsilon=epsilon, max_rows_per_unit=rows)
    assert task.mechanism.scale == scale
    assert task.mechanism.neighbours is Neighbours.ADD_REMOVE
    assert (task.domain.lower, task.domain.upper, task.domain.grid) == (0.0, 10.0, None)
    assert task.max_rows_per_unit == rows
    assert task.mechanism.event == dpselect.PermuteAndFlip(epsilon=epsilon, sensitivity=1).event


def test_the_draws_follow_the_law() -> None:
    """The control is the law at another number of rows."""
    offers = [2.0, 2.0, 3.0, 5.0, 5.0]
    task = planned("best_price", prices=[2, 3, 5], epsilon=4.0, max_rows_per_unit=2)
    drawn = [released(task, offers).value for _ in range(4000)]
    counts = np.array([drawn.count(price) for price in (2, 3, 5)])
    assert p_value(counts, task.mechanism.pmf(offers)) > NEVER
    assert p_value(counts, planned("best_price", prices=[2, 3, 5], epsilon=4.0).mechanism.pmf(offers)) < NEVER


@pytest.mark.parametrize(("prices", "kind"), [([1, 2], int), ([1.0, 2], (int, float)), ([Fraction(1, 3)], float)])
def test_the_value_is_a_price_as_it_was_given(prices: list[Any], kind: Any) -> None:
    for _ in range(10):
        assert isinstance(released(planned("best_price", prices=prices, epsilon=1.0), []).value, kind)


def test_offers_that_were_gathered_for_another_question_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    task = planned("best_price", prices=[5, 10], epsilon=1.0, max_rows_per_unit=2)
    assert released(task, [4.0], most=1).value in (5, 10)  # fewer rows than allowed do no harm
    monkeypatch.setattr(PriceListMechanism, "draw", None)
    others: list[dict[str, Any]] = [{"most": 3}, {"bounds": (0, 9)}, {"bounds": (5, 10)}]
    for other in others:
        with pytest.raises(InvalidParameterError, match=r"^values=<UnitValues>"):
            released(task, [6.0], **other)


@pytest.mark.parametrize("rows", [0, -1, 1.0, None, "1", True, 10**9 + 1, 10**400, math.nan])
def test_bad_rows_per_unit(rows: Any) -> None:
    with pytest.raises(InvalidParameterError, match=r"^max_rows_per_unit="):
        planned("best_price", prices=[1, 2], epsilon=1.0, max_rows_per_unit=rows)


def test_bad_prices_and_epsilon() -> None:
    for prices in ([], None):
        with pytest.raises(InvalidCandidatesError, match=r"^prices="):
            planned("best_price", prices=prices, epsilon=1.0)
    with pytest.raises(InvalidParameterError, match=r"^epsilon="):
        planned("best_price", prices=[1], epsilon=0.0)
    with pytest.raises(InvalidParameterError, match=r"^sensitivity="):
        planned("best_price", prices=[1e300], epsilon=1.0, max_rows_per_unit=10**9)


def test_the_certificate() -> None:
    task = planned("best_price", prices=[2.5, 10, 20], epsilon=0.5, max_rows_per_unit=2)
    release = released(task, [40.0], column="offer", unit="buyer")
    assert (release.task, release.column, release.unit, release.time) == ("best_price", "offer", "buyer", WHEN)
    assert (release.mechanism, release.rounds, release.epsilon, release.delta) == ("PriceListMechanism", 1, 0.5, 0.0)
    assert (release.sensitivity, release.monotonic, release.neighbours) == (40.0, True, Neighbours.ADD_REMOVE)
    ends = {"lowest": 2.5, "second_highest": 10.0, "highest": 20.0}
    assert release.candidates == {"origin": "caller", "count": 3, "kind": "prices", "common_unit": "5/2", **ends}
    assert release.arguments == {"max_rows_per_unit": 2}
    assert release.error_bound == task.mechanism.error_bound(0.99)
    assert release.error_bound <= 70.0 * math.log(3 * 100)
    assert release.to_dict()["error_bound"] == {"within": release.error_bound, "confidence": 0.99, "unit": "revenue"}
    assert release.receipt is None
    assert all((ROOT / page).is_file() for page in release.proofs)
    assert hasattr(dpselect.mechanisms, release.mechanism)


def test_the_certificate_does_not_depend_on_the_offers() -> None:
    certificates = []
    for offers in ([], [40.0] * 1000):
        certificate = released(planned("best_price", prices=[5, 10], epsilon=0.5), offers).to_dict()
        del certificate["value"]
        certificates.append(certificate)
    assert certificates[0] == certificates[1]


@pytest.mark.parametrize(
    ("prices", "epsilon", "words"),
    [
        ([1, 2], 1e-3, "the revenue of the released price is within 3,912 of the best"),
        ([0.05, 0.1], 1e-3, "the revenue of the released price is within 195.6 of the best"),
        ([7], 1.0, "the revenue of the released price is within 0 of the best"),
        ([1, 2], 1e-300, "At this epsilon no useful bound on the error can be given."),
    ],
)
def test_the_error_bound_in_words(prices: list[Any], epsilon: float, words: str) -> None:
    assert f" {words}" in f" {released(planned('best_price', prices=prices, epsilon=epsilon), []).accuracy}"
