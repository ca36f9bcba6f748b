"""What fails between a charge and its answer: no answer is lost without a word, and nothing is paid for twice."""

from __future__ import annotations

import itertools
import shutil
import sqlite3
import warnings
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

import dpselect as dps
from dpselect import Release
from dpselect.cli import main
from dpselect.errors import (
    AnswerLostError,
    AnswerNotStoredWarning,
    ChargeRefusedError,
    LedgerVersionError,
    RequestReusedError,
)
from dpselect.mechanisms import PermuteAndFlip
from tests.ledger.broken_lines import Fault, connecting, failure, faulty_connection, line_to
from tests.ledger.hashes import digest
from tests.ledger.remembered import answers_to_store, as_another_process
from tests.ledger.tampering import by_hand
from tests.rows.tables import write_csv
from tests.slow import SLOW

QUESTION = {"candidates": range(10_000), "epsilon": 0.01, "request": "november"}
_NUMBERS = itertools.count()


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_csv(tmp_path_factory.mktemp("table") / "t.csv", [b"1,2", b"2,2"], header=b"session,page\n")


@pytest.fixture
def draws(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """One for each draw: the law that a charge is drawn for at most once can be seen to fail."""
    drawn: list[object] = []
    select = PermuteAndFlip.select

    def counted(*given: object, **named: object) -> object:
        drawn.append(None)
        return select(*given, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(PermuteAndFlip, "select", counted)
    return drawn


Ask = Callable[[], Release]


def asking(url: object, table: Path, *, wait: float) -> tuple[Ask, dps.Ledger]:
    ledger = dps.Ledger(url, wait=wait)  # type: ignore[arg-type]
    visits = dps.Dataset(table, unit="session", ledger=ledger, account="clicks")
    return lambda: visits.most_common("page", **QUESTION), ledger


def check_that_nothing_is_lost(
    ask: Ask, ledger: dps.Ledger, fault: Fault, truth: dps.Ledger, draws: list[object]
) -> str:
    """Ask where something fails after the charge was begun; and, when it does not any more, once more."""
    del draws[:]
    first, charge = None, dps.Ledger.charge

    def armed(*given: Any, **named: Any) -> dps.ledger.Receipt:
        fault.armed = True
        return charge(*given, **named)

    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        patch.setattr(dps.Ledger, "charge", armed)
        try:
            first, said = ask(), ""
        except dps.SelectionError as error:
            said = str(error)
        is_lasting = fault.lasting
        fault.lift()
        ledger._wait = ledger._database._wait = 60  # what works again has time to, on a busy machine as well
        told = " ".join([said, *(str(each.message) for each in warned)])
        assert "Zoe" not in told
        charged = [entry for entry in truth.history("clicks") if entry.kind == "charge"]
        if first is None and charged:
            assert is_lasting  # else there was time to look
            assert f"entry {charged[0].sequence} of account 'clicks'" in said
            assert "Nothing was written" not in said
        second = ask()
    assert [entry.kind for entry in truth.history("clicks")] == ["open", "charge"]  # paid once
    assert len(draws) == 1
    assert first in (None, second)
    assert truth.verify()
    assert truth.history("clicks")[1].release == second.to_json()  # and stored after all
    is_warned = any(issubclass(each.category, dps.errors.AnswerNotStoredWarning) for each in warned)
    return "error" if first is None else "warning" if is_warned else "answer"


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("opened") / "budget.db"
    with dps.Ledger(path) as ledger:
        ledger.open_account("clicks", epsilon=1)
    return path


def steps(turn: int, turns: int) -> Iterable[int]:
    """At which of the steps something fails: by day at one of so many in turn, and others in the cases beside."""
    return itertools.count() if SLOW else itertools.count(turn, turns)


CODES = {"locked": sqlite3.SQLITE_BUSY, "full": sqlite3.SQLITE_FULL, "broken": sqlite3.SQLITE_IOERR}


@pytest.mark.parametrize("lasting", [False, True], ids=["once", "lasting"])
@pytest.mark.parametrize("moment", ["before", "after"])
@pytest.mark.parametrize("code", CODES)
def test_no_failure_of_a_disk_loses_an_answer(
    code: str,
    moment: str,
    lasting: bool,
    opened: Path,
    table: Path,
    draws: list[object],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    outcomes: list[str] = []
    for at in steps([*CODES].index(code), 3):
        path = Path(shutil.copy(opened, tmp_path / f"{at}.db"))
        fault = Fault(at, moment, lasting, armed=False)  # type: ignore[arg-type]
        ask, ledger = asking(path, table, wait=0.02 if lasting else 30)
        with monkeypatch.context() as patch, dps.Ledger(path) as truth, ledger:
            connecting(patch, faulty_connection(fault, CODES[code]))
            outcomes.append(check_that_nothing_is_lost(ask, ledger, fault, truth, draws))
        if not fault.hit:
            break
    assert len(outcomes) > (11 if SLOW else 3)  # of each kind: with those of a network, more than 200 faults
    assert set(outcomes) == ({"error", "warning", "answer"} if lasting else {"error", "answer"})


@pytest.mark.sampled(1)
@pytest.mark.parametrize("lasting", [False, True], ids=["once", "lasting"])
@pytest.mark.parametrize("moment", ["before", "amid", "after"])
def test_no_failure_of_a_network_loses_an_answer(
    moment: str, lasting: bool, postgres: sa.Engine, table: Path, draws: list[object]
) -> None:
    outcomes: list[str] = []
    for at in steps(int(lasting), 2):
        name = f"lost_{next(_NUMBERS)}"
        with postgres.connect() as connection:
            connection.exec_driver_sql(f"CREATE SCHEMA {name}")
        server = f"postgresql://postgres@/postgres?host={postgres.url.query['host']}&options=-csearch_path%3D{name}"
        fault = Fault(at, moment, lasting, armed=False)  # type: ignore[arg-type]
        with dps.Ledger(server) as truth, line_to(server, fault) as url:
            truth.open_account("clicks", epsilon=1)
            ask, ledger = asking(url, table, wait=0.1 if lasting else 30)
            with ledger:
                outcomes.append(check_that_nothing_is_lost(ask, ledger, fault, truth, draws))
        if not fault.hit:
            break
    assert len(outcomes) > (12 if SLOW else 4)
    assert set(outcomes) == ({"error", "warning", "answer"} if lasting else {"error", "answer"})


@pytest.fixture
def unknown(opened: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A ledger in which a charge is recorded that its process was never told of; the connections are sound again."""
    for at in itertools.count():
        path = Path(shutil.copy(opened, tmp_path / f"{at}.db"))
        fault = Fault(at, "after", lasting=True)
        with monkeypatch.context() as patch, dps.Ledger(path, wait=0.01) as ledger:
            connecting(patch, faulty_connection(fault, sqlite3.SQLITE_IOERR))
            with pytest.raises(dps.SelectionError) as failed:
                ledger.charge("clicks", ALL, **ASKED)  # type: ignore[arg-type]
            fault.lift()
        if "cannot be determined" in str(failed.value):
            break
    assert "entry 1 of account 'clicks'" in str(failed.value)
    with dps.Ledger(path) as ledger:
        assert ledger.remaining("clicks") == 0.0
    return path


ALL = dps.PermuteAndFlip(epsilon=1.0, sensitivity=1).event
ASKED = {"request": "november", "question": "top page", "note": "monthly", "certificate": "0" * 64}


def test_a_charge_that_was_recorded_unseen_is_used_once(unknown: Path) -> None:
    with dps.Ledger(unknown) as ledger:
        assert ledger.look("clicks", [(ALL, "november", "top page")]) == [None]  # not refused: it is paid
        receipt = ledger.charge("clicks", ALL, **ASKED)  # type: ignore[arg-type]
        assert (receipt.sequence, receipt.hash) == (1, ledger.account("clicks").head)
        assert receipt == ledger.history("clicks")[1].receipt
        with pytest.raises(ChargeRefusedError):
            ledger.look("clicks", [(ALL, "november", "top page")])
        with pytest.raises(ChargeRefusedError):
            ledger.charge("clicks", ALL, request="november", question="top page")


CHANGES = [
    {"request": "december"},
    {"request": None},
    {"note": "yearly"},
    {"certificate": "1" * 64},
    {"time": datetime(2000, 1, 1, tzinfo=UTC)},
]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("changed", CHANGES)
def test_a_charge_that_was_recorded_unseen_is_used_for_nothing_else(unknown: Path, changed: dict[str, object]) -> None:
    with dps.Ledger(unknown) as ledger:
        with pytest.raises(ChargeRefusedError):
            ledger.charge("clicks", ALL, **(ASKED | changed))  # type: ignore[arg-type]
        assert ledger.charge("clicks", ALL, **ASKED).sequence == 1  # type: ignore[arg-type]


def test_a_charge_that_was_recorded_unseen_belongs_to_one_process(
    unknown: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a process and its fork only one may draw for it."""
    with dps.Ledger(unknown) as ledger:
        with monkeypatch.context() as forked:
            as_another_process(forked)
            with pytest.raises(ChargeRefusedError):
                ledger.charge("clicks", ALL, **ASKED)  # type: ignore[arg-type]
            with pytest.raises(ChargeRefusedError):
                ledger.look("clicks", [(ALL, "november", "top page")])
        assert ledger.charge("clicks", ALL, **ASKED).sequence == 1  # type: ignore[arg-type]


def test_an_interrupted_commit_is_no_lost_budget(opened: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = shutil.copy(opened, tmp_path / "budget.db")

    half = dps.PermuteAndFlip(epsilon=0.5, sensitivity=1).event

    class Interrupted(sqlite3.Connection):
        def commit(self) -> None:
            super().commit()
            raise KeyboardInterrupt

    with dps.Ledger(path) as ledger:
        ledger.charge("clicks", half)
        with monkeypatch.context() as patch:
            connecting(patch, Interrupted)
            with pytest.raises(KeyboardInterrupt) as caught:
                ledger.charge("clicks", half)
        assert "entry 2 of account 'clicks' was being recorded" in caught.value.__notes__[0]
        assert ledger.account("clicks").entries == 3
        assert ledger.charge("clicks", half).sequence == 2


def read_only(ledger: dps.Ledger, patch: pytest.MonkeyPatch) -> None:
    """Of a sudden, for all connections that are opened from now on."""

    class Cursor(sqlite3.Cursor):
        def execute(self, *given: Any) -> sqlite3.Cursor:
            if given[0] == "BEGIN IMMEDIATE":
                raise failure(sqlite3.SQLITE_READONLY)
            return super().execute(*given)

    class ReadOnly(sqlite3.Connection):
        def cursor(self, *_: Any) -> sqlite3.Cursor:  # type: ignore[override]
            return super().cursor(Cursor)

    ledger.disconnect()
    connecting(patch, ReadOnly)


def test_an_answer_that_cannot_be_stored_is_given_and_kept(
    opened: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = shutil.copy(opened, tmp_path / "budget.db")
    expected = r"charged as entry 1 of account 'clicks', and answered, but .* not stored: it cannot be written to"
    with dps.Ledger(path, wait=0.02) as ledger, dps.Ledger(path) as other:
        receipt = ledger.charge("clicks", ALL, **ASKED)  # type: ignore[arg-type]
        with monkeypatch.context() as patch:
            read_only(ledger, patch)
            with pytest.warns(AnswerNotStoredWarning, match=expected):
                assert ledger.store_release(receipt, "answer") == "answer"
            with pytest.warns(AnswerNotStoredWarning, match="another try just now failed as well"):
                (known,) = ledger.look("clicks", [(ALL, "november", "top page")])
            assert known is not None
            assert known.release == "answer"
            with pytest.raises(RequestReusedError):
                ledger.look("clicks", [(ALL, "november", "another")])
            with pytest.warns(AnswerNotStoredWarning):
                assert ledger.store_release(receipt, "another") == "answer"  # the first answer is the answer
        ledger.disconnect()
        assert ledger.history("clicks")[1].release is None
        assert other.charge("clicks", ALL, **ASKED).release == "answer"  # type: ignore[arg-type]
        assert ledger.history("clicks")[1].release == "answer"
        assert ledger.verify()[0].entries == 2


def test_an_answer_that_another_process_stored_first_is_the_answer(
    opened: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = shutil.copy(opened, tmp_path / "budget.db")
    half = dps.PermuteAndFlip(epsilon=0.5, sensitivity=1).event
    with dps.Ledger(path, wait=0.02) as ledger:
        mine = ledger.charge("clicks", half, **ASKED)  # type: ignore[arg-type]
        theirs = ledger.charge("clicks", half, **ASKED)  # type: ignore[arg-type]
        with monkeypatch.context() as patch:
            read_only(ledger, patch)
            with pytest.warns(AnswerNotStoredWarning):
                ledger.store_release(mine, "mine")
        ledger.disconnect()
        by_hand(
            f"sqlite:///{path}",
            f"INSERT INTO dpselect_releases VALUES (1, 2, 'theirs', '{digest('release', theirs.hash, 'theirs')}')",
        )
        assert ledger.charge("clicks", half, **ASKED).release == "theirs"  # type: ignore[arg-type]
        assert mine.hash not in answers_to_store()


def ask_with_a_charge_gone(opened: Path, table: Path, path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    shutil.copy(opened, path)
    ask, ledger = asking(path, table, wait=0.02)
    select = PermuteAndFlip.select

    def taken_back(*given: object, **named: object) -> object:
        ledger.disconnect()
        path.unlink()
        shutil.copy(opened, path)
        return select(*given, **named)  # type: ignore[arg-type]

    with monkeypatch.context() as patch, ledger:
        patch.setattr(PermuteAndFlip, "select", taken_back)
        with pytest.raises(AnswerLostError) as lost:
            ask()
        assert ledger.account("clicks").entries == 1
    return str(lost.value)


def test_an_answer_whose_charge_is_gone_is_not_shown(
    opened: Path, table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An older copy was put in the ledger's place: nothing that is left there pays for the answer."""
    said = ask_with_a_charge_gone(opened, table, tmp_path / "budget.db", monkeypatch)
    assert "charged as entry 1 of account 'clicks', but no answer was shown" in said
    assert not answers_to_store()


@pytest.mark.filterwarnings("error::dpselect.errors.AnswerNotStoredWarning")
def test_a_warning_that_is_made_an_error_loses_nothing(
    opened: Path, table: Path, tmp_path: Path, draws: list[object], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = Path(shutil.copy(opened, tmp_path / "budget.db"))
    ask, ledger = asking(path, table, wait=0.02)
    select = PermuteAndFlip.select
    with ledger, monkeypatch.context() as patch:

        def full(*given: object, **named: object) -> object:
            read_only(ledger, patch)
            return select(*given, **named)  # type: ignore[arg-type]

        patch.setattr(PermuteAndFlip, "select", full)
        with pytest.raises(AnswerLostError, match="charged as entry 1 of account 'clicks'"):
            ask()
        patch.undo()
        ledger.disconnect()
        release = ask()
        assert ledger.history("clicks")[1].release == release.to_json()
        assert ledger.account("clicks").entries == 2


def test_the_command_line_answers_with_a_warning_of_one_line(
    opened: Path, table: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = Path(shutil.copy(opened, tmp_path / "budget.db"))

    def newer(*_: object) -> str:
        raise LedgerVersionError("sqlite:///budget.db", "later")

    monkeypatch.setattr(dps.Ledger, "_stored_release", newer)
    asked = ["most-common", str(table), "page", "--unit", "session", "--candidates", "1..3", "--epsilon", "0.5"]
    asked += ["--ledger", str(path), "--account", "clicks", "--request", "r", "--quiet"]
    assert main(asked) == 0
    out, err = capsys.readouterr()
    assert int(out) in (1, 2, 3)
    assert err.startswith(f"dpselect: warning: ledger sqlite:///{path}: charged as entry 1 of account 'clicks', and")
    assert err.count("\n") == 1


@pytest.mark.parametrize("statement", range(1, 9))
def test_an_interrupt_within_a_statement_is_one_and_frees_the_lock(
    opened: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, statement: int
) -> None:
    """At once: its traceback holds the statement, and with it SQLite's connection, for as long as somebody looks."""
    path = shutil.copy(opened, tmp_path / "budget.db")
    half = dps.PermuteAndFlip(epsilon=0.5, sensitivity=1).event
    numbers = itertools.count(1)

    class Cursor(sqlite3.Cursor):
        def execute(self, *given: Any) -> sqlite3.Cursor:
            super().execute(*given)
            if next(numbers) == statement:
                raise KeyboardInterrupt
            return self

    class Interrupted(sqlite3.Connection):
        def cursor(self, *_: Any) -> sqlite3.Cursor:  # type: ignore[override]
            return super().cursor(Cursor)

    with dps.Ledger(path) as ledger:
        ledger.charge("clicks", half)
        with monkeypatch.context() as patch:
            connecting(patch, Interrupted)
            with pytest.raises(KeyboardInterrupt) as caught:
                ledger.charge("clicks", half)
        other = sqlite3.connect(path, timeout=0, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        other.close()
        assert caught.value.__traceback__ is not None
        assert ledger.charge("clicks", half).sequence == ledger.account("clicks").entries - 1
