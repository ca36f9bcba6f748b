"""One file, one name, and the same file for as long as it is open."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from dpselect.accounting.events import PureEvent
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
    """With a write-ahead log each name would have charges of its own."""
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
    with pytest.raises(LedgerDamagedError, match="in its place"), ledger._database.writing():
        os.replace(copy, file)
    ledger.disconnect()


def test_a_file_taken_away_under_an_open_ledger_is_said_to_be_gone(file: Path) -> None:
    with Ledger(file) as ledger:
        ledger.charge("clicks", TENTH)
        file.unlink()
        with pytest.raises(LedgerUnavailableError, match="no such file"):
            ledger.charge("clicks", TENTH)
