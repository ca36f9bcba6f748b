"""Copies of a ledger: a copy that lacks charges is refused."""

from __future__ import annotations

import shutil
import stat
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import pytest

import dpselect as dps
from dpselect.cli import main
from dpselect.errors import InvalidParameterError, LedgerUnavailableError
from dpselect.ledger import Ledger

EVENT = dps.PermuteAndFlip(epsilon=0.125, sensitivity=1).event
SELECTION = dps.ExponentialMechanism(epsilon=0.25, sensitivity=1).event


@pytest.fixture
def anchor(tmp_path: Path) -> Path:
    return tmp_path / "anchor"


@pytest.fixture
def ledger(tmp_path: Path, anchor: Path) -> Iterator[Ledger]:
    with Ledger(tmp_path / "budget.db", anchor=anchor) as ledger:
        ledger.open_account("clicks", epsilon=1)
        ledger.open_account("pets", epsilon=1, delta=1e-6, unit="owner")
        ledger.charge("clicks", EVENT)
        ledger.charge("pets", SELECTION)
        yield ledger


def test_a_backup_is_whole_and_for_its_owner_alone(ledger: Ledger, tmp_path: Path) -> None:
    copy = tmp_path / "copy.db"
    assert ledger.backup(copy) == ledger.verify()
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600
    ledger.charge("clicks", EVENT)
    with Ledger(copy) as copied:
        assert [each.entries for each in copied.verify()] == [2, 2]
        for name in ("clicks", "pets"):
            assert copied.history(name) == ledger.history(name)[:2]


@pytest.mark.parametrize("there", ["copy.db", "copy.db-wal", "copy.db-journal"])
def test_a_backup_overwrites_nothing(ledger: Ledger, tmp_path: Path, there: str) -> None:
    (tmp_path / there).write_text("mine")
    with pytest.raises(InvalidParameterError, match="nothing exists yet"):
        ledger.backup(tmp_path / "copy.db")
    assert (tmp_path / there).read_text() == "mine"


def test_a_backup_names_no_path_that_cannot_be(ledger: Ledger, tmp_path: Path) -> None:
    with pytest.raises(LedgerUnavailableError, match="cannot be written"):
        ledger.backup(f"{tmp_path}/\ud800.db")


def test_the_commands(tmp_path: Path, ledger: Ledger, anchor: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def run(*words: object) -> tuple[int, str, str]:
        status = main([*map(str, words)])
        told = capsys.readouterr()
        return status, told.out, told.err

    place, copy = tmp_path / "budget.db", tmp_path / "copy.db"
    assert run("ledger", "verify", place, "--anchor", anchor)[0] == 0
    assert run("ledger", "anchor", place, "--to", tmp_path / "second")[0] == 0
    assert run("ledger", "backup", place, "--to", copy)[0] == 0
    ledger.charge("clicks", EVENT)
    ledger.disconnect()
    assert "noted up to entry" in run("ledger", "anchor", place, "--to", tmp_path / "second")[1]
    status, _, err = run("ledger", "backup", copy, "--to", place, "--anchor", anchor)
    assert (status, "Find the complete ledger" in err) == (2, True)
    status, _, err = run("ledger", "backup", copy, "--to", place)
    assert (status, "nothing exists yet" in err) == (2, True)
    for each in tmp_path.glob("budget.db*"):
        shutil.move(each, tmp_path / f"lost-{each.name}")
    status, _, err = run("ledger", "backup", copy, "--to", place, "--anchor", anchor)
    assert (status, "Find the complete ledger" in err, place.exists()) == (2, True, False)
    with Ledger(tmp_path / "lost-budget.db") as lost:
        lost.backup(tmp_path / "whole.db")
    status, out, _ = run("ledger", "backup", tmp_path / "whole.db", "--to", place, "--anchor", anchor)
    assert (status, "clicks" in out) == (0, True)
    with Ledger(place) as restored:
        assert restored.account("clicks").spent == Fraction(1, 4)


def test_receipts_of_certificates_are_looked_up(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with Ledger(tmp_path / "budget.db") as ledger:
        ledger.open_account("clicks", epsilon=1, unit="session")
        visits = dps.Dataset("examples/data/clicks.parquet", unit="session", ledger=ledger, account="clicks")
        folder = tmp_path / "certificates"
        folder.mkdir()
        older = tmp_path / "older.db"
        ledger.backup(older)
        release = visits.most_common("page", candidates=range(1, 100), epsilon=0.5)
        (folder / "one.json").write_text(release.to_json())
    certificate = str(folder / "one.json")
    assert main(["verify", certificate, "--ledger", str(tmp_path / "budget.db")]) == 0
    assert "Charged to account 'clicks', entry 1." in capsys.readouterr().out
    assert main(["verify", certificate, "--ledger", str(older)]) == 2
    assert "receipt" in capsys.readouterr().err
