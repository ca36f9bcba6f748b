"""What a refusal says would fit, fits: of any question, and of a `top_k` planned anew at that epsilon."""

from __future__ import annotations

import re
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import dpselect as dps
from dpselect import Neighbours
from dpselect.accounting import (
    BoundedRangeEvent,
    ComposedEvent,
    Event,
    Filter,
    NonAdaptiveEvent,
    PureEvent,
    SequenceEvent,
    compose,
)
from dpselect.accounting.filter import Limits
from dpselect.errors import ChargeRefusedError
from dpselect.ledger import Ledger
from dpselect.ledger.accounts import Account
from dpselect.ledger.charging import refusal, scaled, sure_share
from dpselect.mechanisms import plan_top_k
from tests.slow import crossed


def top_k_event(k: int, *, epsilon: float, delta: float) -> ComposedEvent:
    return plan_top_k(1000, k, epsilon=epsilon, delta=delta, sensitivity=1, monotonic=True).event


def account(epsilon: float, delta: float, spent: float = 0.0) -> Account:
    limit = Fraction(epsilon)
    limits = Limits.new(epsilon=limit, delta=Fraction(delta), set_aside=Fraction(0))
    new = Account.new("a", 1, neighbours=Neighbours.ADD_REMOVE, limits=limits, epsilon=limit, unit=None).next()
    return new.charged(limits.cost(PureEvent(epsilon=spent)), unit=None) if spent else new


def fits(row: Account, event: Event) -> bool:
    return row.allows(row.total + row.limits.cost(event))


@pytest.mark.parametrize("k", [5, 10, 20, 50, 100])
def test_the_refusal_of_a_top_k_says_what_is_spent_and_what_fits(tmp_path: Path, k: int) -> None:
    with Ledger(tmp_path / "budget.db") as ledger:
        ledger.open_account("clicks", epsilon=1, delta=1e-6)
        ledger.charge("clicks", PureEvent(epsilon=1e-9))  # what comes first is charged as it was planned: see below
        with pytest.raises(ChargeRefusedError) as refused:
            ledger.charge("clicks", top_k_event(k, epsilon=1.0, delta=1e-6))
        found = re.search(
            r"left of 1\.0; with this, (1\.0\d+) would be spent\. At (0\.[89]\d+) times", refused.value.what
        )
        assert found is not None
        assert 1.0 < float(found[1]) < 1.11
        ledger.charge("clicks", top_k_event(k, epsilon=float(found[2]), delta=1e-6))


@pytest.mark.parametrize(("k", "epsilon", "delta"), [(2, 1.0, 0.05), (20, 1.0, 1e-6), (100, 0.25, 1e-9)])
def test_a_top_k_fits_into_an_account_of_exactly_its_size(ledger: Ledger, k: int, epsilon: float, delta: float) -> None:
    event = top_k_event(k, epsilon=epsilon, delta=delta)
    limit = Filter(epsilon=epsilon, delta=delta)
    ledger.open_account("clicks", epsilon=epsilon, delta=delta)
    ledger.look("clicks", event)
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


@pytest.mark.parametrize(("delta", "k"), crossed([1e-4, 1e-6, 1e-9], [3, 10, 100]))
@pytest.mark.parametrize(("asked", "limit"), crossed([0.25, 1.0, 4.0, 16.0], [0.5, 2.0]))
def test_a_top_k_at_the_share_that_is_told_fits(delta: float, k: int, asked: float, limit: float) -> None:
    row = account(limit, 1e-6, spent=limit / 4)
    event = top_k_event(k, epsilon=asked, delta=delta)
    if fits(row, event):
        return
    share = sure_share(event, row)
    assert share < 1.0
    if share == 0.0:
        assert asked > 20 * limit  # far from the mark
        return
    smaller = top_k_event(k, epsilon=share * asked, delta=delta)
    if type(smaller) is not type(event):
        return  # at that epsilon the rule takes another plan, which has a price of its own
    assert fits(row, smaller)


singles = st.builds(BoundedRangeEvent, epsilon=st.floats(0.01, 50)) | st.builds(PureEvent, epsilon=st.floats(0.01, 50))
events = singles | st.builds(ComposedEvent, event=singles, count=st.integers(1, 500))


@given(events, st.sampled_from([0.0, 1e-6]))
def test_the_share_fits_and_much_more_does_not(event: Event, spent: float) -> None:
    row = account(1.0, 1e-6, spent)
    share = Fraction(str(sure_share(event, row)))
    if share:
        assert fits(row, scaled(event, share))
    if isinstance(event, (BoundedRangeEvent, PureEvent)) and event.epsilon > 1.01:
        assert not fits(row, scaled(event, share + Fraction(2, 1000)))


def test_a_question_with_a_number_of_units_fits_at_what_is_said(tmp_path: Path) -> None:
    people = {"who": list(range(100)), "age": [40] * 100}
    with Ledger(tmp_path / "budget.db") as ledger:
        ledger.open_account("people", epsilon=0.9, delta=1e-6)
        data = dps.Dataset(people, unit="who", ledger=ledger, account="people")

        def ask(share: float) -> object:
            asked = {"epsilon": share * 1.0, "usable_epsilon": share * 0.05}
            return data.median("age", bounds=(0, 120), step=1, **asked)

        with pytest.raises(ChargeRefusedError, match=r"At 0\.857 times each of its epsilons it would fit") as refused:
            ask(1.0)
        (share,) = re.findall("At ([0-9.]+) times", refused.value.what)
        with pytest.raises(ChargeRefusedError):
            ask(float(share) + 0.002)
        ask(float(share))


def test_every_part_of_a_group_is_scaled() -> None:
    many = NonAdaptiveEvent(event=BoundedRangeEvent(epsilon=1), count=3)
    group = SequenceEvent(events=(PureEvent(epsilon=4), ComposedEvent(event=many, count=2)))
    assert scaled(group, Fraction(1, 4)).epsilon == group.epsilon / 4


def test_nothing_is_advised_where_nothing_fits() -> None:
    row = account(1.0, 1e-6, spent=1.0)
    event = PureEvent(epsilon=5e-324)
    text = refusal(event, row.limits.cost(event), row, ledger="a").what
    assert "would fit" not in text
    assert "has epsilon=0.0 left of 1.0; this would cost 5e-324. Nothing was" in text


def test_without_a_delta_the_rounds_are_added_up(tmp_path: Path) -> None:
    with Ledger(tmp_path / "budget.db") as ledger:
        ledger.open_account("clicks", epsilon=1)
        with pytest.raises(ChargeRefusedError, match=r"this would cost 2\.13\d*, the sum of its rounds\. Nothing"):
            ledger.charge("clicks", top_k_event(20, epsilon=1.0, delta=1e-6))
