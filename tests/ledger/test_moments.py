"""What fails for a moment is a failure of that moment: no damage, no lost answer, and none to pay for again."""

from __future__ import annotations

import errno
import fcntl
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from dpselect.accounting import PureEvent
from dpselect.errors import (
    AnchorError,
    AnchorUnavailableError,
    AnswerNotStoredWarning,
    LedgerBusyError,
    LedgerDamagedError,
    LedgerFullError,
    LedgerReadOnlyError,
    LedgerUnavailableError,
    LedgerVersionError,
)
from dpselect.ledger import Ledger
from dpselect.ledger import postgres as server
from dpselect.ledger.store import refuse_unsound_file
from tests.ledger.noted import anchor_at, around_notes, heads_of, line

EIGHTH = PureEvent(epsilon=0.125)
ASKED: dict[str, Any] = {"request": "november", "question": "top page"}


@pytest.fixture
def anchor(tmp_path: Path) -> Path:
    return tmp_path / "anchor"


@pytest.fixture
def ledger(tmp_path: Path, anchor: Path) -> Iterator[Ledger]:
    with Ledger(tmp_path / "budget.db", anchor=anchor, wait=0.05) as ledger:
        ledger.open_account("clicks", epsilon=10, delta=1e-6)
        yield ledger


class Failing:
    """A system call that fails for one path, a number of times."""

    def __init__(self, path: Path, code: int, times: int) -> None:
        self._path, self._code, self.times = path, code, times
        self._open, self._read, self._files = os.open, os.fdopen, set[int]()

    def open(self, path: Any, *given: Any, **named: Any) -> int:
        if self._code != errno.EIO and str(path) == str(self._path) and self._is_due():
            raise OSError(self._code, "the system's words")
        file = self._open(path, *given, **named)
        (self._files.add if str(path) == str(self._path) else self._files.discard)(file)
        return file

    def read(self, file: int, *given: Any, **named: Any) -> Any:
        if self._code == errno.EIO and file in self._files and self._is_due():
            raise OSError(self._code, "the system's words")
        return self._read(file, *given, **named)

    def _is_due(self) -> bool:
        self.times -= 1
        return self.times >= 0


@pytest.mark.parametrize("times", [1, 10**9], ids=["once", "lasting"])
@pytest.mark.parametrize("code", [errno.EMFILE, errno.ENFILE, errno.EIO])
def test_an_anchor_that_cannot_be_had_loses_no_paid_answer(
    code: int, times: int, ledger: Ledger, anchor: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    receipt = ledger.charge("clicks", EIGHTH, **ASKED)
    patience = 60 if times == 1 else 0.05
    with Ledger(ledger._given, anchor=anchor, wait=patience) as storing:  # which has not read the anchor yet
        with monkeypatch.context() as patch:
            failing = Failing(anchor, code, times)
            patch.setattr(os, "open", failing.open)
            patch.setattr(os, "fdopen", failing.read)
            if times == 1:
                assert storing.store_release(receipt, "answer") == "answer"
            else:
                with pytest.warns(AnswerNotStoredWarning, match="entry 1 of account 'clicks'.*not stored: anchor .*: "):
                    assert storing.store_release(receipt, "answer") == "answer"
            assert failing.times < times
        assert storing.charge("clicks", EIGHTH, **ASKED).release == "answer"
        assert [entry.kind for entry in storing.history("clicks")] == ["open", "charge"]
        assert storing.history("clicks")[1].release == "answer"


def test_an_anchor_whose_lock_is_held_loses_no_paid_answer(ledger: Ledger, anchor: Path) -> None:
    receipt = ledger.charge("clicks", EIGHTH, **ASKED)
    with open(anchor, "rb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        with pytest.warns(AnswerNotStoredWarning, match="not stored: anchor .*: "):
            assert ledger.store_release(receipt, "answer") == "answer"
    assert ledger.charge("clicks", EIGHTH, **ASKED).release == "answer"
    assert ledger.account("clicks").entries == 2


def test_what_may_pass_is_caught_as_one_error() -> None:
    for kind in (LedgerBusyError, LedgerFullError, LedgerReadOnlyError, AnchorUnavailableError):
        assert issubclass(kind, LedgerUnavailableError)
    for lasting in (LedgerDamagedError, LedgerVersionError, AnchorError):
        assert not issubclass(lasting, LedgerUnavailableError)


def test_a_note_that_fails_for_a_moment_is_made_again(
    ledger: Ledger, anchor: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    failures = [1]

    def failing(note: Callable[[], None]) -> None:
        if failures:
            failures.pop()
            raise AnchorUnavailableError(str(anchor), "the disk failed.")
        note()

    around_notes(monkeypatch, failing)
    with Ledger(ledger._given, anchor=anchor, wait=60) as patient:
        assert patient.charge("clicks", EIGHTH).sequence == 1
    assert ledger.account("clicks").entries == 2
    assert ledger.verify()
    failures.extend([1] * 1000)
    with pytest.raises(AnchorUnavailableError, match="entry 2 of account 'clicks' was recorded and stays"):
        ledger.charge("clicks", EIGHTH)
    failures.clear()
    assert ledger.charge("clicks", EIGHTH).sequence == 2


def test_an_anchor_that_was_cut_back_does_not_pass(ledger: Ledger, anchor: Path) -> None:
    for _ in range(100):
        ledger.charge("clicks", EIGHTH if _ == 0 else PureEvent(epsilon=2.0**-20))
    whole = anchor.read_bytes()
    anchor.write_bytes(b"".join(whole.splitlines(keepends=True)[:-80]))
    with Ledger(ledger._given, anchor=anchor) as fresh:
        with pytest.raises(AnchorError, match="ends at entry 20 of account 'clicks', and had noted entry 99"):
            fresh.verify()
        fresh.anchor(anchor)
        assert fresh.verify()[0].entries == 101
    anchor.write_bytes(b"".join(whole.splitlines(keepends=True)[:-1]))  # as after a crash before the note
    with Ledger(ledger._given, anchor=anchor) as fresh:
        assert fresh.verify()[0].entries == 101


def test_a_page_that_cannot_be_read_is_not_damaged() -> None:
    class Told:
        """A connection whose check of the file found this."""

        def __init__(self, found: str) -> None:
            self._found = found

        def scalar(self, _statement: str) -> str:
            return self._found

    refuse_unsound_file(Told("ok"), ledger="budget")  # type: ignore[arg-type]
    for code in (10, 266):  # SQLITE_IOERR, SQLITE_IOERR_READ
        told = Told(f"Tree 5 page 7: unable to get the page. error code={code}")
        with pytest.raises(LedgerUnavailableError):
            refuse_unsound_file(told, ledger="budget")  # type: ignore[arg-type]
    for found in ("Tree 5 page 7: unable to get the page. error code=11", "wrong # of entries in index"):
        with pytest.raises(LedgerDamagedError):
            refuse_unsound_file(Told(found), ledger="budget")  # type: ignore[arg-type]


def test_a_time_limit_of_the_server_is_not_a_lock(server_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with Ledger(server_url) as ledger:
        ledger.open_account("clicks", epsilon=1)
    monkeypatch.setattr(server, "_PIN", server._PIN.replace("SELECT ", "SELECT pg_catalog.pg_sleep(60), ", 1))
    with Ledger(server_url.replace("options=", "options=-cstatement_timeout%3D1%20")) as hasty:
        for act in (lambda: hasty.remaining("clicks"), lambda: hasty.charge("clicks", EIGHTH)):
            with pytest.raises(LedgerUnavailableError, match="statement_timeout is too short") as no:
                act()
            assert not isinstance(no.value, LedgerBusyError)


def test_a_long_anchor_takes_little_work(ledger: Ledger, anchor: Path) -> None:
    """A new process reads all lines. Functions entered are counted, since seconds would depend on the machine."""
    receipt = ledger.charge("clicks", EIGHTH)
    head = heads_of(anchor, receipt.ledger)["clicks"]
    with open(anchor, "a") as file:
        file.writelines(f"{line(head, sequence=number)}\n" for number in range(2, 302))
    entered = 0

    def count(_frame: object, event: str, _argument: object) -> None:
        nonlocal entered
        entered += event == "call"

    fresh = anchor_at(anchor)
    profiled = sys.getprofile()
    sys.setprofile(count)
    try:
        heads = fresh.heads(str(receipt.ledger))
    finally:
        sys.setprofile(profiled)
    assert heads["clicks"].sequence == 301
    assert entered < 20 * 300
