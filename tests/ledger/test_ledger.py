"""Accounts, charges, requests: what a ledger does and what it refuses, on both databases."""

from __future__ import annotations

import math
import pickle
import re
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import pytest

import dpselect as dps
from dpselect import Neighbours
from dpselect.accounting import ApproximateEvent, BoundedRangeEvent, ComposedEvent, PureEvent, Run
from dpselect.errors import (
    ChargeRefusedError,
    InvalidAccountError,
    InvalidCertificateError,
    InvalidParameterError,
    LedgerDamagedError,
    LedgerUnavailableError,
    RequestReusedError,
)
from dpselect.ledger import Ledger

HALF = PureEvent(epsilon=0.5)
QUARTER = BoundedRangeEvent(epsilon=0.25)


def run(event: PureEvent = HALF, *, neighbours: str = "add_remove", unit: str = "session") -> Run:
    return Run(event=event, mechanism="PermuteAndFlip", neighbours=Neighbours(neighbours), unit=unit)


def test_an_account_runs_out_and_says_what_is_left(ledger: Ledger) -> None:
    ledger.open_account("clicks", epsilon=1, unit="session")
    assert ledger.remaining("clicks") == 1.0
    ledger.charge("clicks", run())
    ledger.charge("clicks", QUARTER)
    with pytest.raises(ChargeRefusedError, match=r"epsilon=0\.25 left of 1\.0; this would cost 0\.5") as refused:
        ledger.charge("clicks", HALF)
    assert refused.value.left == 0.25
    assert pickle.loads(pickle.dumps(refused.value)).left == 0.25
    ledger.charge("clicks", QUARTER)
    assert ledger.remaining("clicks") == 0.0
    account = ledger.account("clicks")
    assert (account.spent, account.entries, account.unit) == (1, 4, "session")
    assert [entry.epsilon for entry in ledger.history("clicks")] == [1.0, 0.5, 0.25, 0.25]
    assert [entry.what for entry in ledger.history("clicks")][1:] == ["PermuteAndFlip", *["BoundedRangeEvent"] * 2]
    (verified,) = ledger.verify()
    assert (verified.entries, verified.head) == (4, account.head)


def test_what_is_charged_is_there_for_the_next_process(url: str) -> None:
    with Ledger(url) as first:
        first.open_account("clicks", epsilon=1)
        receipt = first.charge("clicks", HALF, note="pages, November")
    with Ledger(url) as second:
        assert second.remaining("clicks") == 0.5
        entry = second.find("clicks", receipt.sequence)
        assert entry is not None
        assert (entry.hash, entry.note) == (receipt.hash, "pages, November")
        assert second.find("clicks", 7) is None


def test_a_delta_lets_more_through_than_the_sum(ledger: Ledger) -> None:
    ledger.open_account("pure", epsilon=1)
    ledger.open_account("approximate", epsilon=1, delta=1e-6)
    tenth = BoundedRangeEvent(epsilon=0.1)
    ledger.charge("approximate", ComposedEvent(event=tenth, count=20))
    with pytest.raises(ChargeRefusedError):
        ledger.charge("approximate", tenth)
    with pytest.raises(ChargeRefusedError):
        ledger.charge("pure", ComposedEvent(event=tenth, count=10))
    ledger.charge("approximate", PureEvent(epsilon=ledger.remaining("approximate")))  # what is left is accepted
    assert ledger.verify()


def test_a_delta_of_its_own_has_to_be_reserved(ledger: Ledger) -> None:
    event = ApproximateEvent(epsilon=0.1, delta=1e-8)
    ledger.open_account("none", epsilon=1, delta=1e-6)
    with pytest.raises(ChargeRefusedError, match=r"'none' has no delta set aside .* --set-aside\)\. Nothing"):
        ledger.charge("none", event)
    ledger.open_account("some", epsilon=10, delta=1e-6, set_aside=3 * Fraction(1e-8))
    for _ in range(2):
        ledger.charge("some", event)
    left = r"'some' has (\S+) left of the delta of \S+ that it sets aside .*; this needs 1\.1e-08\. Ask with"
    with pytest.raises(ChargeRefusedError, match=left) as refused:
        ledger.charge("some", ApproximateEvent(epsilon=0.1, delta=1.1e-8))
    stated = re.search(left, str(refused.value))
    assert stated is not None
    ledger.charge("some", ApproximateEvent(epsilon=0.1, delta=float(stated[1])))  # exactly as much as the error says
    with pytest.raises(ChargeRefusedError, match=r"has \S+ left .* needs 1e-08\. To set more aside, open another"):
        ledger.charge("some", event)
    assert ledger.account("some").total.delta == 2 * Fraction(1e-8) + Fraction(float(stated[1]))
    with pytest.raises(InvalidParameterError, match="set_aside"):
        ledger.open_account("too much", epsilon=1, delta=1e-6, set_aside=2e-6)


def test_the_first_unit_named_is_the_account_s(ledger: Ledger) -> None:
    ledger.open_account("clicks", epsilon=3)
    ledger.charge("clicks", HALF)
    ledger.charge("clicks", run(unit="session"))
    with pytest.raises(InvalidAccountError, match="unit='user': expected 'session'"):
        ledger.charge("clicks", run(unit="user"))
    with pytest.raises(InvalidAccountError, match="neighbours='replace_one': expected 'add_remove'"):
        ledger.charge("clicks", run(neighbours="replace_one"))
    assert ledger.account("clicks").entries == 3
    assert ledger.verify()


def test_limits_move_only_on_purpose(ledger: Ledger) -> None:
    ledger.open_account("clicks", epsilon=1)
    ledger.charge("clicks", HALF)
    with pytest.raises(InvalidAccountError, match=r"epsilon=0\.25: expected at least 0\.5, what is spent"):
        ledger.set_limit("clicks", epsilon=0.25)
    assert ledger.account("clicks").entries == 2
    assert ledger.set_limit("clicks", epsilon=0.5).left == 0.0
    assert ledger.set_limit("clicks", epsilon=2).left == 1.5
    assert [entry.kind for entry in ledger.history("clicks")] == ["open", "charge", "limit", "limit"]
    assert ledger.verify()


def test_a_closed_account_stays_closed(ledger: Ledger) -> None:
    ledger.open_account("clicks", epsilon=1)
    assert not ledger.close("clicks").is_open
    assert ledger.remaining("clicks") == 0.0
    for act in (
        lambda: ledger.charge("clicks", HALF),
        lambda: ledger.close("clicks"),
        lambda: ledger.set_limit("clicks", epsilon=2),
    ):
        with pytest.raises(InvalidAccountError, match="closed"):
            act()
    assert len(ledger.history("clicks")) == 2
    assert ledger.verify()


def test_a_request_is_answered_once(ledger: Ledger) -> None:
    ledger.open_account("clicks", epsilon=1)
    receipt = ledger.charge("clicks", HALF, request="november", question="top page")
    assert ledger.store_release(receipt, '{"value": 6}') == '{"value": 6}'
    again = ledger.charge("clicks", HALF, request="november", question="top page")
    assert (again.release, again.sequence, again.hash) == ('{"value": 6}', receipt.sequence, receipt.hash)
    assert ledger.remaining("clicks") == 0.5
    assert ledger.store_release(receipt, '{"value": 7}') == '{"value": 6}'  # the first answer is the answer
    for event, question in ((QUARTER, "top page"), (HALF, "last page")):
        with pytest.raises(RequestReusedError, match="'november'"):
            ledger.charge("clicks", event, request="november", question=question)
    assert ledger.account("clicks").entries == 2
    assert ledger.verify()


def test_an_answer_that_was_lost_was_paid_for(ledger: Ledger) -> None:
    """That it was lost may have been seen, and may have depended on it: so no draw is free."""
    ledger.open_account("clicks", epsilon=1)
    lost = ledger.charge("clicks", HALF, request="november")
    again = ledger.charge("clicks", HALF, request="november")
    assert (again.sequence, again.release, ledger.remaining("clicks")) == (lost.sequence + 1, None, 0.0)
    assert ledger.store_release(again, "second") == "second"
    assert ledger.store_release(lost, "first") == "second"  # the lost one was only slow
    assert ledger.charge("clicks", HALF, request="november").release == "second"
    assert ledger.verify()


def test_a_release_needs_its_receipt(ledger: Ledger) -> None:
    ledger.open_account("clicks", epsilon=1)
    ledger.open_account("other", epsilon=1)
    receipt = ledger.charge("clicks", QUARTER, request="november")
    unasked = ledger.charge("clicks", QUARTER)
    with pytest.raises(InvalidParameterError, match="request id"):
        ledger.store_release(unasked, "x")
    fields = {"account": "clicks", "sequence": 1, "hash": receipt.hash, "time": receipt.time, "request": "november"}
    for wrong in ({"account": "other"}, {"sequence": 2}, {"hash": "0" * 64}, {"request": "december"}):
        with pytest.raises(InvalidCertificateError):
            ledger.store_release(dps.ledger.Receipt(**(fields | wrong)), "x")
    assert ledger.store_release(dps.ledger.Receipt(**fields), "x") == "x"


@pytest.mark.parametrize("bad", [0, -1, math.nan, math.inf, True, "x", None, [1], 10**2000, Decimal("nan"), "1e999"])
def test_a_limit_that_is_none_is_refused(ledger: Ledger, bad: object) -> None:
    with pytest.raises(InvalidParameterError, match="epsilon="):
        ledger.open_account("clicks", epsilon=bad)
    for delta in (bad,) if bad != 0 else (1, 1.5):
        with pytest.raises(InvalidParameterError, match="delta="):
            ledger.open_account("clicks", epsilon=1, delta=delta)
    with pytest.raises(dps.SelectionError):
        ledger.accounts()  # there is no ledger: nothing was written


def test_what_makes_no_sense_is_refused_and_nothing_written(ledger: Ledger) -> None:
    ledger.open_account("clicks", epsilon=1)
    with pytest.raises(InvalidAccountError, match="'clicks': expected a name that no account"):
        ledger.open_account("clicks", epsilon=2)
    with pytest.raises(InvalidAccountError, match=r"'Clicks': expected the name of an account.* Did you mean 'clicks'"):
        ledger.account("Clicks")
    for act in (
        lambda: ledger.charge("pages", HALF),
        lambda: ledger.account("pages"),
        lambda: ledger.history("pages"),
        lambda: ledger.set_limit("pages", epsilon=1),
        lambda: ledger.close("pages"),
        lambda: ledger.verify("pages"),
    ):
        with pytest.raises(InvalidAccountError, match="'pages': expected the name of an account"):
            act()
    for name in ("", "a\nb", "x" * 2000, None, "\x1b[2J", "\ud800"):
        with pytest.raises(InvalidParameterError, match="account="):
            ledger.open_account(name, epsilon=1)  # type: ignore[arg-type]
    for event in (0.5, None, "pure", PureEvent):
        with pytest.raises(InvalidParameterError, match="event="):
            ledger.charge("clicks", event)  # type: ignore[arg-type]
    for request in ("", 5, "a\tb"):
        with pytest.raises(InvalidParameterError, match="request="):
            ledger.charge("clicks", HALF, request=request)  # type: ignore[arg-type]
    with pytest.raises(InvalidParameterError, match="neighbours="):
        ledger.open_account("other", epsilon=1, neighbours="both")
    assert [entry.kind for entry in ledger.history("clicks")] == ["open"]
    assert [account.name for account in ledger.accounts()] == ["clicks"]


@pytest.mark.parametrize(
    "bad",
    [
        "",
        "budget.db?mode=ro",
        "sqlite:budget.db",
        "mysql://host/x",
        "sqlite://",
        "sqlite:///:memory:",
        5,
        None,
        "sqlite:///x.db?cache=shared",
    ],
)
def test_a_url_that_is_none_is_refused(bad: object) -> None:
    with pytest.raises(InvalidParameterError, match="ledger="):
        Ledger(bad)  # type: ignore[arg-type]


def test_a_password_is_never_shown() -> None:
    ledger = Ledger("postgresql://ann:hunter2@127.0.0.1:1/nothing", wait=0.1)
    with pytest.raises(LedgerUnavailableError) as failed:
        ledger.account("clicks")
    shown = f"{ledger!r} {failed.value} {failed.value!r} {failed.value.__cause__!r}"
    assert "hunter2" not in shown
    assert "ann@127.0.0.1" in shown
    with pytest.raises(InvalidParameterError) as refused:
        Ledger("mysql://ann:hunter2@host/x")
    assert "hunter2" not in str(refused.value)


def test_only_opening_an_account_makes_a_file(tmp_path: Path) -> None:
    path = tmp_path / "budget.db"
    ledger = Ledger(path)
    for act in (ledger.accounts, lambda: ledger.charge("clicks", HALF), ledger.verify):
        with pytest.raises(LedgerUnavailableError, match=r"no such file\. Opening an account creates it"):
            act()
    assert not path.exists()
    path.touch()
    with pytest.raises(LedgerDamagedError, match="no ledger in it"):
        ledger.charge("clicks", HALF)


def test_entries_are_all_there_is_to_check_a_chain_elsewhere(ledger: Ledger) -> None:
    import hashlib
    import json

    ledger.open_account("clicks", epsilon=1)
    receipt = ledger.charge("clicks", HALF, request="november")
    ledger.store_release(receipt, "answer")
    before = "0" * 64
    for entry in ledger.history("clicks"):
        body = json.dumps(entry.body, sort_keys=True, separators=(",", ":")).encode()
        parts = [b"entry", before.encode(), body]
        said = b"dpselect ledger 1" + b"".join(b"%d:" % len(part) + part for part in parts)
        before = hashlib.sha256(said).hexdigest()
        assert before == entry.hash
    assert before == ledger.account("clicks").head
