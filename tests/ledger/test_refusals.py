"""What a refusal says, and what the first question of an account costs."""

from __future__ import annotations

import re
from fractions import Fraction
from pathlib import Path

import pytest

from dpselect import Neighbours
from dpselect.accounting import ComposedEvent, Event, Filter, PureEvent, compose
from dpselect.accounting.filter import Limits
from dpselect.errors import ChargeRefusedError
from dpselect.ledger import Ledger
from dpselect.ledger.accounts import Account, epsilon_left, left_shown, refusal, terms_of_new
from dpselect.mechanisms import plan_top_k


def top_k_event(k: int, *, epsilon: float, delta: float) -> ComposedEvent:
    return plan_top_k(1000, k, epsilon=epsilon, delta=delta, sensitivity=1, monotonic=True).event


def account(epsilon: float, delta: float, spent: float = 0.0) -> Account:
    limit = Fraction(epsilon)
    limits = Limits.new(epsilon=limit, delta=Fraction(delta), set_aside=Fraction(0))
    terms = terms_of_new("a", 1, neighbours=Neighbours.ADD_REMOVE, limits=limits)
    new = Account.unopened(terms).next(epsilon=limit)
    return new.next(total=limits.cost(PureEvent(epsilon=spent))) if spent else new


def fits(row: Account, event: Event) -> bool:
    return row.allows(row.total + row.limits.cost(event))


def test_what_is_left_is_shown_rounded_down() -> None:
    assert [left_shown(each) for each in (2.6999999999999997, 0.25, 0.0)] == ["2.69999", "0.25", "0"]
    assert (epsilon_left(2.6999999999999997), epsilon_left(0.0, equals="=")) == ("epsilon = 2.69999", "epsilon=0.0")
    assert epsilon_left(2.498001805406602e-16) == "hardly any epsilon (below 1e-09)"


@pytest.mark.parametrize("k", [5, 10, 20, 50, 100])
def test_the_refusal_of_a_top_k_says_what_would_be_spent(tmp_path: Path, k: int) -> None:
    with Ledger(tmp_path / "budget.db") as ledger:
        ledger.open_account("clicks", epsilon=1, delta=1e-6)
        ledger.charge("clicks", PureEvent(epsilon=1e-9))  # what comes first is charged as it was planned: see below
        with pytest.raises(ChargeRefusedError) as refused:
            ledger.charge("clicks", top_k_event(k, epsilon=1.0, delta=1e-6))
        found = re.search(r"left of 1\.0; with this, (1\.\d+) would be spent\. Nothing was", refused.value.what)
        assert found is not None
        assert 1.0 < float(found[1]) < 1.11


@pytest.mark.parametrize(("k", "epsilon", "delta"), [(2, 1.0, 0.05), (20, 1.0, 1e-6), (100, 0.25, 1e-9)])
def test_a_top_k_fits_into_an_account_of_exactly_its_size(ledger: Ledger, k: int, epsilon: float, delta: float) -> None:
    event = top_k_event(k, epsilon=epsilon, delta=delta)
    limit = Filter(epsilon=epsilon, delta=delta)
    ledger.open_account("clicks", epsilon=epsilon, delta=delta)
    ledger.look("clicks", [(event, None, "")])
    ledger.charge("clicks", event)
    limit.spend(event)
    spent = ledger.account("clicks").spent
    assert 0.99 * epsilon < spent <= epsilon
    assert spent == Fraction(limit.basic) == Fraction(compose([event]).epsilon(delta))
    for second in (event, PureEvent(epsilon=0.01 * epsilon)):
        assert not limit.admits(second)
        with pytest.raises(ChargeRefusedError):
            ledger.charge("clicks", second)
    ledger.set_limit("clicks", epsilon=1e300)  # no order has room for it, however high the limit is
    ledger.charge("clicks", PureEvent(epsilon=1.0))
    assert ledger.account("clicks").spent == spent + 1
    assert ledger.verify()


def test_only_what_comes_first_is_charged_as_it_was_planned(ledger: Ledger) -> None:
    """Later rounds may depend on answers: no order may be left open beside them."""
    event = top_k_event(2, epsilon=1.0, delta=0.05)
    for name, before in (("first", None), ("second", PureEvent(epsilon=1e-300))):
        ledger.open_account(name, epsilon=1, delta=0.05)
        if before is not None:
            ledger.charge(name, before)
        assert ledger.account(name).spent < 1e-299
    ledger.charge("first", event)
    with pytest.raises(ChargeRefusedError, match="would be spent"):
        ledger.charge("second", event)


def test_the_smallest_price_is_shown() -> None:
    row = account(1.0, 1e-6, spent=1.0)
    event = PureEvent(epsilon=5e-324)
    text = refusal(event, row.limits.cost(event), row, ledger="a").what
    assert "has epsilon=0.0 left of 1.0; this would cost 5e-324. Nothing was" in text


def test_without_a_delta_the_rounds_are_added_up(tmp_path: Path) -> None:
    with Ledger(tmp_path / "budget.db") as ledger:
        ledger.open_account("clicks", epsilon=1)
        with pytest.raises(ChargeRefusedError, match=r"this would cost 2\.13\d*, the sum of its rounds\. Nothing"):
            ledger.charge("clicks", top_k_event(20, epsilon=1.0, delta=1e-6))
