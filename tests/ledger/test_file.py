"""One file, one name, and the same file for as long as it is open."""

from __future__ import annotations

import json
import os
import pickle
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from dpselect.accounting import PureEvent
from dpselect.errors import LedgerDamagedError, LedgerUnavailableError
from dpselect.ledger import Ledger

TENTH = PureEvent(epsilon=0.125)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "budget.db"
    with Ledger(path) as ledger:
        ledger.open_account("clicks", epsilon=1)
    return path


def test_a_file_under_two_names_is_no_ledger(file: Path, tmp_path: Path) -> None:
    """What a crash left to undo lies beside one of the names."""
    other = tmp_path / "other.db"
    with Ledger(file) as ledger:
        ledger.charge("clicks", TENTH)
        os.link(file, other)
        for used in (ledger, Ledger(file), Ledger(other)):
            for act in (lambda used=used: used.charge("clicks", TENTH), used.verify, used.accounts):
                with pytest.raises(LedgerUnavailableError, match="a second name"):
                    act()
        other.unlink()
        assert ledger.charge("clicks", TENTH).sequence == 2


def test_a_symbolic_link_is_the_file_itself(file: Path, tmp_path: Path) -> None:
    link = tmp_path / "link.db"
    link.symlink_to(file)
    with Ledger(file) as ledger, Ledger(link) as linked:
        assert [ledger.charge("clicks", TENTH).sequence, linked.charge("clicks", TENTH).sequence] == [1, 2]
        assert ledger.account("clicks").entries == linked.account("clicks").entries == 3


def test_a_file_put_in_the_place_of_an_open_one_is_noticed(file: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy.db"
    shutil.copy(file, copy)
    with Ledger(file) as ledger:
        ledger.charge("clicks", TENTH)
        os.replace(copy, file)
        for act in (lambda: ledger.charge("clicks", TENTH), ledger.verify, lambda: ledger.remaining("clicks")):
            with pytest.raises(LedgerDamagedError, match="another file was put in its place"):
                act()


def test_a_file_replaced_during_a_charge_takes_none(file: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy.db"
    shutil.copy(file, copy)
    ledger = Ledger(file)
    with pytest.raises(LedgerDamagedError, match="in its place"), ledger._database.transaction(write=True):
        os.replace(copy, file)
    ledger.disconnect()


def test_a_file_taken_away_under_an_open_ledger_is_said_to_be_gone(file: Path) -> None:
    with Ledger(file) as ledger:
        ledger.charge("clicks", TENTH)
        file.unlink()
        with pytest.raises(LedgerUnavailableError, match="no such file"):
            ledger.charge("clicks", TENTH)


@pytest.mark.parametrize("name", ["x?y.db", "%41.db", "q?mode=ro", "budget.db"])
def test_a_path_is_taken_as_it_is(name: str, tmp_path: Path) -> None:
    with Ledger(tmp_path / name) as ledger:
        ledger.open_account("clicks", epsilon=1)
        assert pickle.loads(pickle.dumps(ledger)).account("clicks").name == "clicks"
    assert (tmp_path / name).is_file()


def test_between_two_transactions_the_file_alone_is_the_ledger(file: Path, tmp_path: Path) -> None:
    """A copy of it lacks nothing, and nothing beside it can be lost."""
    with Ledger(file) as ledger:
        ledger.open_account("pets", epsilon=1)
        ledger.charge("pets", TENTH)
        assert [each.stat().st_size for each in tmp_path.glob("budget.db?*")] == [0]
        shutil.copy(file, tmp_path / "alone.db")
        file.with_name("budget.db-journal").unlink()
        ledger.charge("pets", TENTH)
        assert ledger.account("pets").entries == 3
    with Ledger(tmp_path / "alone.db") as copied:
        assert [each.entries for each in copied.verify()] == [1, 2]


@pytest.mark.slow
def test_a_copy_made_by_the_charging_process_costs_no_charge(file: Path, tmp_path: Path) -> None:
    """Closing any other descriptor of the file drops the locks of the whole process: POSIX has it so."""
    show = [sys.executable, "-m", "dpselect", "ledger", "show", f"sqlite:///{file}", "--json"]
    with Ledger(file) as ledger:
        ledger.charge("clicks", TENTH)
        shutil.copy(file, tmp_path / "copy.db")
        subprocess.run(show, check=True, capture_output=True)
        ledger.charge("clicks", TENTH)
    shown = subprocess.run(show, check=True, capture_output=True, text=True).stdout
    assert json.loads(shown)["entries"] == 3


CUT_OFF = """
import os, sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
connection.execute("PRAGMA cache_size=1")  # so that pages are written to the file before the commit
connection.execute("BEGIN IMMEDIATE")
connection.execute("UPDATE dpselect_accounts SET state = hex(randomblob(1000))")
connection.execute("CREATE TABLE more AS SELECT hex(randomblob(100000))")
os._exit(0)
"""


def test_a_charge_that_a_crash_cut_off_is_undone_by_whoever_comes_next(file: Path) -> None:
    with Ledger(file) as ledger:
        ledger.charge("clicks", TENTH)
        subprocess.run([sys.executable, "-c", CUT_OFF, str(file)], check=True)
        assert file.with_name("budget.db-journal").stat().st_size > 512
        with Ledger(f"sqlite:///{file}?mode=ro") as reader, pytest.raises(LedgerUnavailableError, match="a crash left"):
            reader.verify()  # it may undo nothing
        assert ledger.verify()[0].entries == 2
        with Ledger(f"sqlite:///{file}?mode=ro") as reader:
            assert reader.verify()[0].entries == 2


def test_a_write_ahead_log_that_somebody_chose_is_given_up(file: Path) -> None:
    connection = sqlite3.connect(file)
    assert connection.execute("PRAGMA journal_mode=WAL").fetchone() == ("wal",)
    connection.close()
    with Ledger(file) as ledger:
        ledger.charge("clicks", TENTH)
    assert {each.name for each in file.parent.iterdir()} <= {"budget.db", "budget.db-journal"}
