"""Files that cannot be written, are full or broken, clocks that jump, and ledgers of other versions."""

from __future__ import annotations

import os
import resource
import sqlite3
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from dpselect.accounting import PureEvent
from dpselect.errors import (
    LedgerDamagedError,
    LedgerError,
    LedgerFullError,
    LedgerReadOnlyError,
    LedgerUnavailableError,
    LedgerVersionError,
)
from dpselect.ledger import Ledger, Receipt, requests
from tests.ledger.tampering import by_hand

TENTH = PureEvent(epsilon=0.125)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A ledger with one charge, nobody connected."""
    path = tmp_path / "budget.db"
    with Ledger(path) as ledger:
        ledger.open_account("clicks", epsilon=1000)
        ledger.charge("clicks", TENTH)
    return path


def charge_for_long(ledger: Ledger, receipts: list[Receipt]) -> None:
    for _ in range(1000):
        receipts.append(ledger.charge("clicks", TENTH))


def test_read_only_is_for_reading(file: Path) -> None:
    with Ledger(f"sqlite:///{file}?mode=ro") as ledger:
        assert ledger.remaining("clicks") == 1000 - 0.125
        assert ledger.verify()
        for act in (
            lambda: ledger.charge("clicks", TENTH),
            lambda: ledger.open_account("more", epsilon=1),
            lambda: ledger.close("clicks"),
        ):
            with pytest.raises(LedgerReadOnlyError, match="cannot be written to, only read"):
                act()
    with Ledger(file) as ledger:
        assert ledger.account("clicks").entries == 2


def test_commits_reach_the_disk(file: Path) -> None:
    """What no test can watch, a power cut, rests on these settings; the last on macOS alone."""
    with Ledger(file) as ledger, ledger._database.transaction(write=True) as connection:
        assert connection.scalar("PRAGMA synchronous") == 3  # EXTRA: FULL, and the folder
        assert connection.scalar("PRAGMA journal_mode") == "truncate"
        assert connection.scalar("PRAGMA fullfsync") == 1


def test_the_file_itself_reaches_the_disk_when_it_is_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    connect, said = sqlite3.connect, list[str]()

    def listening(*args: Any, **kwargs: Any) -> sqlite3.Connection:
        connection: sqlite3.Connection = connect(*args, **kwargs)
        connection.set_trace_callback(said.append)
        return connection

    monkeypatch.setattr(sqlite3, "connect", listening)
    with Ledger(tmp_path / "budget.db") as ledger:
        ledger.open_account("clicks", epsilon=1)
    first = said[: said.index("BEGIN IMMEDIATE")]
    assert {"PRAGMA synchronous=EXTRA", "PRAGMA fullfsync=ON"} <= set(first)


def test_a_place_that_cannot_be_opened_is_named(tmp_path: Path) -> None:
    with pytest.raises(LedgerUnavailableError, match="cannot be opened"):
        Ledger(tmp_path / "no" / "such" / "folder" / "budget.db").open_account("clicks", epsilon=1)
    folder = tmp_path / "folder.db"
    folder.mkdir()
    with pytest.raises(LedgerUnavailableError, match="cannot be opened"):
        Ledger(folder).open_account("clicks", epsilon=1)


@pytest.mark.parametrize("damage", ["no database at all", "a page overwritten", "cut in half"])
def test_a_damaged_file_is_said_to_be_one(file: Path, damage: str) -> None:
    content = file.read_bytes()
    match damage:
        case "no database at all":
            file.write_bytes(b"name,epsilon\n" * 500)
        case "a page overwritten":
            file.write_bytes(content[:4096] + os.urandom(len(content) - 4096))
        case _:
            file.write_bytes(content[: len(content) // 2 - 100])
    with Ledger(file) as ledger:
        for act in (lambda: ledger.charge("clicks", TENTH), ledger.verify, lambda: ledger.history("clicks")):
            with pytest.raises(LedgerDamagedError):
                act()


def test_another_application_s_tables_are_no_ledger(url: str) -> None:
    by_hand(url, "CREATE TABLE dpselect_accounts (name TEXT)")
    with Ledger(url) as ledger:
        for act in (lambda: ledger.charge("clicks", TENTH), ledger.accounts):
            with pytest.raises(LedgerDamagedError):
                act()


def test_a_full_disk_takes_no_charge_and_loses_none(file: Path) -> None:
    """The limit on the size of a file stands in for the disk: the system call fails in the same place."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    with Ledger(file) as ledger:
        receipts = [ledger.charge("clicks", TENTH)]
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, before[1]))
        try:
            with pytest.raises(LedgerError) as failed:
                charge_for_long(ledger, receipts)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert isinstance(failed.value, (LedgerFullError, LedgerUnavailableError))
    assert len(receipts) > 3
    with Ledger(file) as ledger:
        kept = {entry.sequence: entry.hash for entry in ledger.history("clicks")}
        assert {receipt.sequence: receipt.hash for receipt in receipts}.items() <= kept.items()
        assert ledger.verify()[0].entries == len(receipts) + 2
        ledger.charge("clicks", TENTH)  # and goes on when there is room


def test_a_full_database_is_said_to_be_full(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    connect = sqlite3.connect

    def small(*args: Any, **kwargs: Any) -> sqlite3.Connection:
        connection: sqlite3.Connection = connect(*args, **kwargs)
        connection.execute("PRAGMA max_page_count = 20")
        return connection

    monkeypatch.setattr(sqlite3, "connect", small)
    with Ledger(file) as ledger:
        with pytest.raises(LedgerFullError, match=r"no room left on its disk. Nothing was written\."):
            charge_for_long(ledger, [])
        entries = ledger.account("clicks").entries
        assert ledger.verify()[0].entries == entries


def test_a_read_only_server_is_for_reading(ledger: Ledger, url: str) -> None:
    if url.startswith("sqlite"):
        url = f"{url}?mode=ro"
    else:
        url = url.replace("options=", "options=-cdefault_transaction_read_only%3Don%20")
    ledger.open_account("clicks", epsilon=1)
    with Ledger(url) as reader:
        assert reader.remaining("clicks") == 1.0
        with pytest.raises(LedgerReadOnlyError):
            reader.charge("clicks", TENTH)


def test_a_clock_that_jumps_back_changes_nothing(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger.open_account("clicks", epsilon=1)
    first = ledger.charge("clicks", TENTH)

    class Earlier(datetime):
        @classmethod
        def now(cls, tz: object = None) -> Earlier:
            return cls(1999, 1, 1, tzinfo=UTC)

    monkeypatch.setattr(requests, "datetime", Earlier)
    second = ledger.charge("clicks", TENTH)
    assert second.time < first.time
    assert second.sequence == first.sequence + 1
    assert [entry.sequence for entry in ledger.history("clicks")] == [0, 1, 2]
    assert ledger.verify()
    assert ledger.remaining("clicks") == 0.75


def test_the_ledger_of_another_version_is_left_alone(ledger: Ledger, url: str) -> None:
    ledger.open_account("clicks", epsilon=1)
    ledger.charge("clicks", TENTH)
    by_hand(url, "UPDATE dpselect_ledger SET version = 2")
    expected = r"another dpselect wrote it \(version 2; this one knows 1\)"
    with Ledger(url) as fresh:
        for used in (ledger, fresh):  # also one that was at work before
            for act in (
                lambda used=used: used.charge("clicks", TENTH),
                lambda used=used: used.remaining("clicks"),
                lambda used=used: used.open_account("more", epsilon=1),
                used.verify,
            ):
                with pytest.raises(LedgerVersionError, match=expected):
                    act()
