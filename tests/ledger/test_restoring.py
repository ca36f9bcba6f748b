"""Copies of a ledger, and what they lack: refused, or written off as spent."""

from __future__ import annotations

import json
import shutil
import stat
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import pytest

import dpselect as dps
from dpselect.cli import main
from dpselect.errors import (
    ChargeRefusedError,
    InvalidParameterError,
    LedgerDamagedError,
    LedgerForkedError,
    LedgerRolledBackError,
)
from dpselect.ledger import Ledger
from dpselect.ledger.chain import canonical, entry_hash
from tests.ledger.tampering import by_hand

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
        assert [*copied.export()] == [line for line in ledger.export() if json.loads(line)["entry"]["sequence"] < 2]


@pytest.mark.parametrize("there", ["copy.db", "copy.db-wal", "copy.db-journal"])
def test_a_backup_overwrites_nothing(ledger: Ledger, tmp_path: Path, there: str) -> None:
    (tmp_path / there).write_text("mine")
    with pytest.raises(InvalidParameterError, match="nothing exists yet"):
        ledger.backup(tmp_path / "copy.db")
    assert (tmp_path / there).read_text() == "mine"


def test_what_a_copy_lacks_is_written_off(ledger: Ledger, tmp_path: Path, anchor: Path) -> None:
    copy = tmp_path / "copy.db"
    ledger.backup(copy)
    ledger.set_limit("clicks", epsilon=0.75)
    ledger.charge("clicks", EVENT)
    ledger.charge("pets", SELECTION)
    before = {each.name: each for each in ledger.accounts()}
    ledger.disconnect()
    with Ledger(copy, anchor=anchor) as restored:
        with pytest.raises(LedgerRolledBackError, match="write-off"):
            restored.charge("clicks", EVENT)
        assert {each.name for each in restored.write_off()} == {"clicks", "pets"}
        for name, lost in before.items():
            now = restored.account(name)
            assert (now.spent, now.epsilon, now.unit, now.is_open) == (lost.spent, lost.epsilon, lost.unit, True)
        assert restored.account("clicks").spent == Fraction(1, 4)
        assert restored.history("clicks")[-1].kind == "written-off"
        assert restored.write_off() == []
        assert [each.entries for each in restored.verify()] == [3, 3]
        assert [each.entries for each in restored.verify(only_new=True)] == [3, 3]
        restored.charge("clicks", EVENT)
        for _ in range(3):
            restored.charge("clicks", EVENT)
        with pytest.raises(ChargeRefusedError):
            restored.charge("clicks", EVENT)
        restored.verify()
    with Ledger(tmp_path / "budget.db", anchor=anchor) as found_again, pytest.raises(LedgerRolledBackError):
        found_again.verify()  # from now on the restored one is the ledger


def test_an_account_that_a_copy_lacks_stays_gone(ledger: Ledger, tmp_path: Path, anchor: Path) -> None:
    copy = tmp_path / "copy.db"
    ledger.backup(copy)
    ledger.open_account("late", epsilon=3)
    with Ledger(copy, anchor=anchor) as restored:
        assert restored.write_off() == []
        assert len(restored.verify()) == 2
        with pytest.raises(LedgerRolledBackError, match="account 'late' is missing"):
            restored.open_account("late", epsilon=3)
        assert restored.open_account("late again", epsilon=3).entries == 1


def test_another_history_is_not_written_off(ledger: Ledger, tmp_path: Path, anchor: Path) -> None:
    copy = tmp_path / "copy.db"
    ledger.backup(copy)
    ledger.charge("clicks", EVENT)
    with Ledger(copy) as other:
        other.charge("clicks", EVENT, note="elsewhere")
    with Ledger(copy, anchor=anchor) as other, pytest.raises(LedgerForkedError):
        other.write_off()
    with Ledger(copy) as unanchored, pytest.raises(InvalidParameterError, match="anchor"):
        unanchored.write_off()


@pytest.mark.parametrize(
    "edit",
    [("total", ["0", "0", ""]), ("epsilon", "1/16"), ("open", "x"), ("unit", 3)],
    ids=["gives back", "a limit below what is spent", "no state", "no unit"],
)
def test_a_written_off_entry_by_hand_is_found(
    ledger: Ledger, tmp_path: Path, anchor: Path, edit: tuple[str, object]
) -> None:
    """Also where the hash of the entry was computed anew."""
    copy = tmp_path / "copy.db"
    ledger.backup(copy)
    ledger.charge("clicks", EVENT)
    with Ledger(copy, anchor=anchor) as restored:
        restored.write_off()
        *_, before, entry = restored.history("clicks")
    body = dict(entry.body)
    body["state"] = canonical(json.loads(body["state"]) | {edit[0]: edit[1]})
    text = canonical(body)
    head, quoted = entry_hash(before.hash, text), text.replace("'", "''")
    place = "WHERE account=1 AND sequence=2"
    by_hand(f"sqlite:///{copy}", f"UPDATE dpselect_entries SET body='{quoted}', hash='{head}' {place}")
    with Ledger(copy) as damaged, pytest.raises(LedgerDamagedError, match="entry 2 of account 'clicks'"):
        damaged.verify()


def test_the_commands(tmp_path: Path, ledger: Ledger, anchor: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def run(*words: object) -> tuple[int, str, str]:
        status = main([*map(str, words)])
        told = capsys.readouterr()
        return status, told.out, told.err

    place, copy = tmp_path / "budget.db", tmp_path / "copy.db"
    head = ledger.account("clicks").head
    assert run("ledger", "verify", place, "--anchor", anchor, "--expect", f"clicks:1:{head}", "--only-new")[0] == 0
    status, _, err = run("ledger", "verify", place, "--expect", f"clicks:1:{'0' * 64}")
    assert (status, "is a different one" in err) == (2, True)
    status, _, err = run("ledger", "verify", place, "--expect", "clicks:1")
    assert (status, "ACCOUNT:ENTRY:HASH" in err) == (2, True)
    assert run("ledger", "anchor", place, "--to", tmp_path / "second")[0] == 0
    assert run("ledger", "backup", place, "--to", copy)[0] == 0
    ledger.charge("clicks", EVENT)
    ledger.disconnect()
    assert "noted up to entry" in run("ledger", "anchor", place, "--to", tmp_path / "second")[1]
    status, _, err = run("ledger", "restore", copy, "--to", place, "--anchor", anchor)
    assert (status, "move what is there away" in err) == (2, True)
    for each in tmp_path.glob("budget.db*"):
        shutil.move(each, tmp_path / f"lost-{each.name}")
    status, _, err = run("ledger", "restore", copy, "--to", place, "--anchor", anchor)
    assert (status, "--write-off" in err, place.exists()) == (2, True, False)
    status, out, _ = run("ledger", "restore", copy, "--to", place, "--anchor", anchor, "--write-off")
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
    command = ["--certificates", str(folder)]
    assert main(["ledger", "verify", str(tmp_path / "budget.db"), *command]) == 0
    assert main(["ledger", "verify", str(older), *command]) == 2
    assert "once had entry 1" in capsys.readouterr().err
    (folder / "two.json").write_text("{}")
    assert main(["ledger", "verify", str(tmp_path / "budget.db"), *command]) == 2
    assert "two.json" in capsys.readouterr().err
