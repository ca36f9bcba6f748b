"""Whatever a caller gives, one error of ours that names it, and nothing is charged."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from typing import Any, cast

import pytest

from dpselect import Neighbours
from dpselect.accounting import ComposedEvent, PureEvent, Run
from dpselect.errors import ChargeRefusedError, InvalidParameterError
from dpselect.ledger import Ledger

HALF = PureEvent(epsilon=0.5)
NO_TEXTS: list[Any] = [None, b"x", 7, ["x"], "\ud800", "a\x00b"]


class DerivedEvent(PureEvent):
    """Of a class that no accountant knows."""


class DerivedGroup(ComposedEvent):
    """Likewise."""


@pytest.fixture
def file(tmp_path: Path) -> Iterator[Ledger]:
    with Ledger(tmp_path / "budget.db") as ledger:
        ledger.open_account("clicks", epsilon=1)
        yield ledger


@pytest.mark.parametrize("limit", [10**400, Fraction(10**400), Fraction(10**400, 3), 2**1024])
def test_a_limit_above_every_double_is_refused(file: Ledger, limit: object) -> None:
    for act in (lambda: file.open_account("more", epsilon=limit), lambda: file.set_limit("clicks", epsilon=limit)):
        with pytest.raises(InvalidParameterError, match=r"epsilon=.*: expected a finite number"):
            act()
    assert file.account("clicks").entries == 1


@pytest.mark.parametrize("question", NO_TEXTS)
@pytest.mark.parametrize("request_id", [None, "november"])
def test_a_question_is_a_text(file: Ledger, question: Any, request_id: str | None) -> None:
    with pytest.raises(InvalidParameterError, match="question"):
        file.charge("clicks", HALF, request=request_id, question=question)
    with pytest.raises(InvalidParameterError, match="question"):
        file.look("clicks", [(HALF, request_id, question)])
    assert file.account("clicks").entries == 1


@pytest.mark.parametrize("certificate", [*NO_TEXTS[1:], "", "a" * 63, "A" * 64, "a" * 64 + "\n", 10**63])
def test_a_hash_of_a_certificate_is_a_text_of_64_digits(file: Ledger, certificate: Any) -> None:
    """Also of a charge ahead, whose receipt nobody sees: an entry that cannot be read would stay for ever."""
    run = Run(event=HALF, mechanism="m", unit="person", neighbours=Neighbours.ADD_REMOVE)
    with pytest.raises(InvalidParameterError, match="certificate"):
        file.charge("clicks", HALF, certificate=certificate)
    with pytest.raises(InvalidParameterError, match="certificate"):
        file.charge_ahead("clicks", [(run, "november", "ages", certificate, datetime(2026, 11, 25, tzinfo=UTC))])
    assert file.account("clicks").entries == 1


@pytest.mark.parametrize("release", NO_TEXTS)
def test_a_release_is_a_text(file: Ledger, release: Any) -> None:
    receipt = file.charge("clicks", HALF, request="november")
    with pytest.raises(InvalidParameterError, match="release"):
        file.store_release(receipt, release)
    assert file.store_release(receipt, "äöü\n") == "äöü\n"


@pytest.mark.parametrize("receipt", [None, "receipt", 7])
def test_a_receipt_is_one(file: Ledger, receipt: Any) -> None:
    with pytest.raises(InvalidParameterError, match="receipt"):
        file.store_release(receipt, "answer")


@pytest.mark.parametrize("event", [DerivedEvent(epsilon=0.5), DerivedGroup(event=HALF, count=1)])
def test_an_event_of_a_derived_class_is_none(file: Ledger, event: Any) -> None:
    for act in (
        lambda: file.charge("clicks", event),
        lambda: file.look("clicks", [(event, None, "")]),
        lambda: ComposedEvent(event=event, count=2),
        lambda: Run(event=event, mechanism="m", neighbours=cast(Neighbours, "add_remove"), unit="unit"),
    ):
        with pytest.raises(InvalidParameterError, match="event=<Derived"):
            act()
    assert file.account("clicks").entries == 1
    with pytest.raises(ChargeRefusedError):  # the control: of the class itself it is only too much
        file.charge("clicks", PureEvent(epsilon=2.0))
