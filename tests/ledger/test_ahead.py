"""Charges made ahead: all or none, each drawn for once, and found again by whoever asks the same."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from dpselect import Neighbours
from dpselect.accounting import PureEvent, Run
from dpselect.errors import (
    ChargeRefusedError,
    InvalidAccountError,
    InvalidParameterError,
    LedgerDamagedError,
    LedgerUnavailableError,
    RequestReusedError,
)
from dpselect.ledger import Ledger, entries
from dpselect.ledger.accounts import Account
from dpselect.mechanisms import plan_top_k
from dpselect.testing import seeded
from tests.ledger.granted import Granted
from tests.ledger.remembered import forbid_second_attempts, has_unheard
from tests.ledger.tampering import by_hand

DAY = datetime(2026, 11, 25, tzinfo=UTC)
QUARTER = Run(event=PureEvent(epsilon=0.25), mechanism="m", neighbours=Neighbours.ADD_REMOVE, unit="person")
HALF = replace(QUARTER, event=PureEvent(epsilon=0.5))
TWO = [(QUARTER, "a", "ages", "1" * 64, DAY), (HALF, "b", "towns", "2" * 64, DAY)]


def opened(ledger: Ledger, epsilon: float = 1.0) -> Ledger:
    ledger.open_account("plans", epsilon=epsilon, unit="person")
    return ledger


def kinds(ledger: Ledger) -> list[str]:
    return [each.kind for each in ledger.history("plans")]


def drawn_for(ledger: Ledger, at: int = 0) -> int:
    what, request, question, certificate, time = TWO[at]
    receipt = ledger.charge("plans", what, request=request, question=question, certificate=certificate, time=time)
    return receipt.sequence


def test_nothing_more_is_allowed_whatever_an_account_says(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is stored costs nothing, also of an account that says that more was spent than its limit."""
    opened(ledger).charge_ahead("plans", TWO)
    monkeypatch.setattr(Account, "allows", lambda *_: False)
    known = ledger.look("plans", [(what, request, question) for what, request, question, _, _ in TWO])
    assert [each and each.sequence for each in known] == [1, 2]
    assert ledger.look("plans", []) == []
    with pytest.raises(ChargeRefusedError):
        ledger.look("plans", [(QUARTER, "c", "ages")])


def test_all_are_charged_once_and_each_is_drawn_for_once(ledger: Ledger) -> None:
    opened(ledger).charge_ahead("plans", TWO)
    ledger.charge_ahead("plans", TWO)  # they are there
    assert (ledger.remaining("plans"), kinds(ledger)) == (0.25, ["open", "charge", "charge"])
    known = ledger.look("plans", [(what, request, question) for what, request, question, _, _ in TWO])
    assert [each and (each.sequence, each.release) for each in known] == [(1, None), (2, None)]
    receipt = ledger.charge("plans", QUARTER, request="a", question="ages", certificate="1" * 64, time=DAY)
    assert (receipt.sequence, receipt.question, receipt.time) == (1, "1" * 64, "2026-11-25T00:00:00+00:00")
    assert ledger.store_release(receipt, "answer") == "answer"
    begin = ledger.history("plans")[-1]
    assert (begin.kind, begin.epsilon, begin.what, begin.receipt) == ("begin", 0.0, "the draw for entry 1", None)
    assert (ledger.remaining("plans"), drawn_for(ledger, 1)) == (0.25, 2)
    assert ledger.verify()[0].entries == 5


def test_nothing_is_drawn_for_a_closed_account(ledger: Ledger) -> None:
    """Nor is it damaged by who tries; what was answered stays an answer."""
    opened(ledger).charge_ahead("plans", TWO)
    drawn_for(ledger)
    receipt = ledger.history("plans")[1].receipt
    assert receipt is not None
    ledger.store_release(receipt, "answer")
    ledger.close("plans")
    with pytest.raises(InvalidAccountError, match="this one is closed"):
        drawn_for(ledger, 1)
    assert ledger.verify()[0].entries == 5
    assert ledger.charge("plans", QUARTER, request="a", question="ages").release == "answer"


def test_a_draw_that_was_begun_and_left_is_paid_for_again(ledger: Ledger) -> None:
    quick = Ledger(ledger._given, wait=0.05)  # pyright: ignore
    opened(quick).charge_ahead("plans", TWO)
    assert drawn_for(quick) == 1
    quick.charge_ahead("plans", TWO)
    assert (quick.remaining("plans"), kinds(quick)[-1]) == (0.0, "charge")
    assert drawn_for(quick) == 4
    quick.set_limit("plans", epsilon=2.0)
    assert drawn_for(quick) == 7  # by one charge alone, after waiting for an answer
    assert quick.remaining("plans") == 0.75
    quick.disconnect()


def test_a_charge_that_was_not_made_ahead_may_have_been_drawn_for(ledger: Ledger) -> None:
    opened(ledger)
    assert [drawn_for(ledger), drawn_for(ledger)] == [1, 2]
    ledger.charge_ahead("plans", TWO[:1])
    assert (kinds(ledger), ledger.remaining("plans")) == (["open", "charge", "charge", "charge"], 0.25)


def test_one_too_many_charges_none(ledger: Ledger) -> None:
    opened(ledger, 0.7)
    with pytest.raises(ChargeRefusedError, match="the sum of its parts"):
        ledger.charge_ahead("plans", TWO)
    assert kinds(ledger) == ["open"]
    with pytest.raises(RequestReusedError):
        ledger.charge_ahead("plans", [TWO[0]]) or ledger.charge_ahead("plans", [(HALF, "a", "ages", "1" * 64, DAY)])
    with seeded(3), pytest.raises(InvalidParameterError, match="ledger"):
        ledger.charge_ahead("plans", TWO)


def test_what_is_no_account_or_no_time_is_refused_at_once(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is no failure of the database, after which another attempt might succeed."""
    forbid_second_attempts(monkeypatch)
    opened(ledger)
    for account in (Fraction(1, 3), b"plans", None, ["plans"]):
        for ask in (ledger.charge_ahead, ledger.look):
            with pytest.raises(InvalidParameterError, match=r"^account="):
                ask(account, [])  # type: ignore[arg-type]
    for moment in (Fraction(1, 3), None, datetime(2026, 11, 25)):
        with pytest.raises(InvalidParameterError, match=r"^time="):
            ledger.charge_ahead("plans", [(*TWO[0][:4], moment)])  # type: ignore[list-item]
    assert kinds(ledger) == ["open"]


def test_another_certificate_is_another_charge(ledger: Ledger) -> None:
    opened(ledger).charge_ahead("plans", TWO[:1])
    other = ledger.charge("plans", QUARTER, request="a", question="ages", certificate="3" * 64, time=DAY)
    assert (other.sequence, ledger.remaining("plans")) == (2, 0.5)
    assert drawn_for(ledger) == 1


def test_a_begun_draw_whose_commit_is_in_doubt_is_not_begun_twice(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The commit of the entry that begins a draw takes effect, and its news is lost: this process may still draw."""
    opened(ledger).charge_ahead("plans", TWO)
    real, failures = Ledger._writing, [1]  # pyright: ignore

    @contextmanager
    def lost(self: Ledger) -> Iterator[Any]:
        with real(self) as held:  # pyright: ignore
            yield held
        if failures:
            failures.pop()
            raise LedgerUnavailableError("ledger", "the connection broke.")

    monkeypatch.setattr(Ledger, "_writing", lost)
    assert drawn_for(ledger) == 1
    assert kinds(ledger) == ["open", "charge", "charge", "begin"]
    assert not has_unheard(ledger)


def test_a_beginning_whose_commit_failed_is_written_before_the_draw(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As if it were in doubt, but it took no effect."""
    opened(ledger).charge_ahead("plans", TWO)
    real, failures = Ledger._writing, [1]  # pyright: ignore

    @contextmanager
    def failing(self: Ledger) -> Iterator[Any]:
        with real(self) as held:  # pyright: ignore
            yield held
            if failures:
                failures.pop()
                raise LedgerUnavailableError("ledger", "the connection broke.")

    monkeypatch.setattr(Ledger, "_writing", failing)
    assert drawn_for(ledger) == 1
    assert kinds(ledger) == ["open", "charge", "charge", "begin"]


def test_who_may_charge_may_charge_ahead(granted: Granted) -> None:
    with granted.of("charge") as charger:
        unit = next(each.unit for each in charger.accounts() if each.name == "clicks")
        run = replace(QUARTER, event=PureEvent(epsilon=0.125), unit=unit or "session")
        charger.charge_ahead("clicks", [(run, "a", "ages", "1" * 64, DAY)])
        receipt = charger.charge("clicks", run, request="a", question="ages", certificate="1" * 64, time=DAY)
        assert charger.history("clicks")[-1].kind == "begin"
        assert charger.store_release(receipt, "answer") == "answer"
        charger.verify()


PLANNED = Run(
    event=plan_top_k(1000, 2, epsilon=1.0, delta=0.05, sensitivity=1, monotonic=True).event,
    mechanism="m",
    neighbours=Neighbours.ADD_REMOVE,
    unit="person",
)
"""Its rounds add up to more than 1; planned together they are (1, .05)-DP."""


@pytest.mark.parametrize("is_ahead", [True, False], ids=["ahead", "at once"])
def test_an_account_whose_first_charge_was_planned_is_followed_and_verified(
    ledger: Ledger, tmp_path: Path, is_ahead: bool
) -> None:
    """Every entry after it, too: the draw that begins, a limit, an entry that the anchor knew of, the end."""
    asked: dict[str, Any] = {"request": "a", "question": "ages", "certificate": "1" * 64, "time": DAY}
    anchor = tmp_path / "anchor"
    ledger.open_account("plans", epsilon=1, delta=0.05, unit="person")
    if is_ahead:
        with pytest.raises(ChargeRefusedError):
            ledger.charge_ahead("plans", [(PLANNED, "a", "ages", "1" * 64, DAY), TWO[1]])
        ledger.charge_ahead("plans", [(PLANNED, "a", "ages", "1" * 64, DAY)])
        assert ledger.verify()[0].entries == 2
    receipt = ledger.charge("plans", PLANNED, **asked)
    assert kinds(ledger) == ["open", "charge", "begin"][: 3 if is_ahead else 2]
    assert ledger.store_release(receipt, "answer") == "answer"
    spent = ledger.account("plans").spent
    assert 0.99 < spent <= 1 < PLANNED.event.epsilon
    ledger.anchor(anchor)
    with Ledger(ledger._given, anchor=anchor) as anchored:  # pyright: ignore
        with pytest.raises(ChargeRefusedError):
            anchored.charge("plans", QUARTER)
        anchored.set_limit("plans", epsilon=2)
        anchored.charge("plans", QUARTER)
        anchored.close("plans")
        (verified,) = anchored.verify()
        assert verified == ledger.account("plans")
        assert verified.spent == spent + Fraction(1, 4)
    first = next(each for each in ledger.history("plans") if each.kind == "charge")
    pure, delta, _ = first.body["cost"]
    assert (Fraction(pure), delta) == (spent, "0")
    by_hand(
        ledger._given,  # pyright: ignore
        f"""UPDATE dpselect_entries SET body = replace(body, '"{pure}"', '"1/2"') WHERE sequence = 1""",
    )
    with pytest.raises(LedgerDamagedError, match="entry 1 of account 'plans' was changed"):
        ledger.verify()


def test_a_planned_cost_is_for_the_first_charge_alone(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that charged a later one as it was planned would be found out."""
    ledger.open_account("plans", epsilon=2, delta=0.05, unit="person")
    ledger.charge("plans", PureEvent(epsilon=2.0**-40))
    planned = ledger.account("plans").limits.planned_cost(PLANNED.event)
    assert planned is not None
    monkeypatch.setattr("dpselect.ledger.requests.allowed", lambda *_: [planned])
    with pytest.raises(entries.WrongEntryError, match="costs less than its event"):
        ledger.charge("plans", PLANNED)
    assert len(ledger.history("plans")) == 2
    monkeypatch.setattr(entries, "_is_at_least", lambda *_: True)
    ledger.charge("plans", PLANNED)
    monkeypatch.undo()
    with pytest.raises(LedgerDamagedError, match="entry 2 of account 'plans' costs less than its event"):
        ledger.verify()
