"""A ledger that goes back is seen by its anchor; so is damage to either of them."""

from __future__ import annotations

import json
import multiprocessing
import os
import pickle
import random
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

import dpselect as dps
from dpselect.errors import AnchorError, InvalidParameterError, LedgerError, LedgerForkedError, LedgerRolledBackError
from dpselect.ledger import Ledger
from dpselect.ledger.accounts import Head
from dpselect.ledger.anchor import FileAnchor
from tests.ledger.noted import anchor_at, heads_of
from tests.ledger.test_file import CUT_OFF
from tests.slow import EXAMPLES, SLOW

EVENT = dps.PermuteAndFlip(epsilon=0.125, sensitivity=1).event


@pytest.fixture
def anchor(tmp_path: Path) -> Path:
    return tmp_path / "elsewhere" / "anchor"


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "elsewhere").mkdir()
    return tmp_path / "budget.db"


@pytest.fixture
def ledger(place: Path, anchor: Path) -> Iterator[Ledger]:
    with Ledger(place, anchor=anchor) as ledger:
        ledger.open_account("clicks", epsilon=10)
        ledger.open_account("pets", epsilon=10, delta=1e-6)
        for _ in range(3):
            ledger.charge("clicks", EVENT)
            ledger.charge("pets", EVENT)
        yield ledger


def copied(ledger: Ledger, place: Path, to: Path) -> Path:
    ledger.disconnect()
    return Path(shutil.copy(place, to))


def test_receipts_name_their_ledger(ledger: Ledger, tmp_path: Path) -> None:
    receipt = ledger.charge("clicks", EVENT)
    assert receipt.ledger is not None
    assert len(receipt.ledger) == 32
    assert receipt == ledger.history("clicks")[-1].receipt
    assert {entry.body["ledger"] for entry in ledger.history("clicks")} == {receipt.ledger}
    with Ledger(tmp_path / "other.db") as other:
        other.open_account("clicks", epsilon=1)
        assert other.charge("clicks", EVENT).ledger != receipt.ledger


def test_an_older_copy_in_its_place_is_refused(ledger: Ledger, place: Path, tmp_path: Path, anchor: Path) -> None:
    older = copied(ledger, place, tmp_path / "older.db")
    ledger.charge("pets", EVENT)
    copied(ledger, place, tmp_path / "newer.db")
    shutil.copy(older, place)
    with Ledger(place, anchor=anchor) as restored:
        for act in (
            lambda: restored.charge("pets", EVENT),
            lambda: restored.look("pets", [(EVENT, None, "")]),
            lambda: restored.set_limit("pets", epsilon=20),
            lambda: restored.close("pets"),
            restored.verify,
        ):
            with pytest.raises(LedgerRolledBackError, match="'pets' ends at entry 3, and once had entry 4"):
                act()
        restored.charge("clicks", EVENT)  # of which nothing is missing
        assert restored.account("pets").entries == 4
    shutil.copy(tmp_path / "newer.db", place)
    with Ledger(place, anchor=anchor) as whole, pytest.raises(LedgerRolledBackError, match="'clicks'"):
        whole.verify()  # the copy that lost a charge of the other account meanwhile
    with Ledger(place) as unanchored:
        unanchored.verify()  # control: the anchor is what knows


def test_a_fork_is_told_from_a_rollback(ledger: Ledger, place: Path, tmp_path: Path, anchor: Path) -> None:
    older = copied(ledger, place, tmp_path / "older.db")
    ledger.charge("clicks", EVENT, note="here")
    with Ledger(older) as fork:
        fork.charge("clicks", EVENT, note="there")
        fork.charge("clicks", EVENT)
    with Ledger(older, anchor=anchor) as fork:
        for act in (lambda: fork.charge("clicks", EVENT), fork.verify):
            with pytest.raises(LedgerForkedError, match="entry 4 of account 'clicks' is a different one"):
                act()


def test_an_account_that_is_gone_is_missed(ledger: Ledger, place: Path, tmp_path: Path, anchor: Path) -> None:
    older = copied(ledger, place, tmp_path / "older.db")
    ledger.open_account("late", epsilon=1)
    with Ledger(older, anchor=anchor) as restored:
        with pytest.raises(LedgerRolledBackError, match="account 'late' is missing"):
            restored.verify()
        with pytest.raises(LedgerRolledBackError, match="account 'late' is missing"):
            restored.open_account("late", epsilon=5)


def test_a_ledger_ahead_of_its_anchor_goes_on(ledger: Ledger, place: Path, anchor: Path) -> None:
    """As after a crash between a charge and its note; and of who begins to use an anchor late."""
    with Ledger(place) as unanchored:
        unanchored.charge("clicks", EVENT)
    ledger.charge("clicks", EVENT)
    assert [each.entries for each in ledger.verify()] == [6, 4]


def test_entries_known_from_receipts_are_looked_up(ledger: Ledger) -> None:
    receipt = ledger.charge("clicks", EVENT)
    entry = ledger.find("clicks", receipt.sequence)
    assert entry is not None
    assert entry.receipt == receipt
    assert ledger.find("clicks", receipt.sequence + 1) is None


def test_entries_noted_once_are_looked_up(ledger: Ledger, place: Path, tmp_path: Path) -> None:
    """Of a ledger that names no anchor from day to day."""
    noted, older = tmp_path / "noted", copied(ledger, place, tmp_path / "older.db")
    with Ledger(place) as alone:
        alone.charge("clicks", EVENT)
        alone.anchor(noted)
        alone.charge("clicks", EVENT)
    with Ledger(place, anchor=noted) as later:
        assert later.verify()[0].entries == 6
    with Ledger(older, anchor=noted) as back, pytest.raises(LedgerRolledBackError, match="once had entry 4"):
        back.verify()


def test_an_anchor_of_another_ledger_is_refused(tmp_path: Path, place: Path) -> None:
    anchor = tmp_path / "anchor"
    with Ledger(place, anchor=anchor) as ledger:
        ledger.open_account("clicks", epsilon=1)
    with Ledger(tmp_path / "other.db") as other:
        other.open_account("clicks", epsilon=1)
    with Ledger(tmp_path / "other.db", anchor=anchor) as other:
        for act in (lambda: other.charge("clicks", EVENT), other.verify):
            with pytest.raises(AnchorError, match="belongs to another ledger"):
                act()
        assert other.account("clicks").entries == 1


def test_an_anchor_that_shrinks_or_goes_is_missed(tmp_path: Path, place: Path) -> None:
    anchor = tmp_path / "anchor"
    with Ledger(place, anchor=anchor) as ledger:
        ledger.open_account("clicks", epsilon=1)
        whole = anchor.read_bytes()
        anchor.write_bytes(whole[: len(whole) // 2])
        with pytest.raises(AnchorError, match="has become shorter"):
            ledger.charge("clicks", EVENT)
        anchor.unlink()
        with pytest.raises(AnchorError, match="the file is gone"):
            ledger.charge("clicks", EVENT)
        anchor.write_bytes(whole)
        assert ledger.charge("clicks", EVENT).sequence == 1


def test_a_line_that_a_crash_cut_off_is_no_damage(tmp_path: Path, place: Path) -> None:
    anchor = tmp_path / "anchor"
    with Ledger(place, anchor=anchor) as ledger:
        ledger.open_account("clicks", epsilon=10)
        ledger.charge("clicks", EVENT)
    whole, noted = anchor.read_bytes(), 1
    for part in (1, 2, 5, -1, None):  # of the line that comes next; the last one lacks only its end
        with Ledger(place, anchor=anchor) as ledger:
            ledger.charge("clicks", EVENT)
            noted += 1
            anchor.write_bytes(whole + anchor.read_bytes()[len(whole) : -1][:part])
            ledger.disconnect()
        with Ledger(place, anchor=anchor) as ledger:
            ledger.verify()
            ledger.charge("clicks", EVENT)
            noted += 1
            assert ledger.verify()[0].entries == noted + 1
        whole = anchor.read_bytes()
    assert json.loads(whole.splitlines()[-1])["sequence"] == noted
    anchor.write_bytes(whole[:-1] + b"x")
    with Ledger(place, anchor=anchor) as ledger, pytest.raises(AnchorError, match="is damaged"):
        ledger.verify()


def test_every_character_of_an_anchor_counts(tmp_path: Path, place: Path) -> None:
    """Also those that no ledger disagrees with."""
    anchor = tmp_path / "anchor"
    with Ledger(place, anchor=anchor) as ledger:
        ledger.open_account("clicks", epsilon=1)
        receipt = ledger.charge("clicks", EVENT)
    whole = anchor.read_text()
    assert heads_of(anchor, receipt.ledger)["clicks"].hash == receipt.hash
    for at in range(0, len(whole), 3):
        anchor.write_text(f"{whole[:at]}{'1' if whole[at] != '1' else '0'}{whole[at + 1 :]}")
        with pytest.raises(AnchorError):
            heads_of(anchor, receipt.ledger)


def test_a_disk_that_is_full_charges_and_says_so(ledger: Ledger, anchor: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def nothing_written(file: int, text: bytes) -> int:
        del file, text
        return 0

    monkeypatch.setattr(os, "write", nothing_written)
    with pytest.raises(AnchorError, match="no room for another line"):
        ledger.charge("clicks", EVENT)
    monkeypatch.undo()
    assert ledger.account("clicks").entries == 5  # it was charged, and nothing was drawn
    assert ledger.charge("clicks", EVENT).sequence == 4  # so the next one uses that charge, and notes it
    assert json.loads(anchor.read_text().splitlines()[-1])["sequence"] == 4
    assert ledger.charge("clicks", EVENT).sequence == 5
    ledger.verify()


def test_anchors_travel_to_other_processes(ledger: Ledger) -> None:
    with pickle.loads(pickle.dumps(ledger)) as other:
        other.charge("clicks", EVENT)
    assert ledger.charge("clicks", EVENT).sequence == 5
    assert len(ledger.verify()) == 2


def _charge_often(url: str, anchor: str, times: int) -> None:
    with Ledger(url, anchor=anchor) as ledger:
        for _ in range(times):
            ledger.charge("clicks", EVENT)


@pytest.mark.slow
def test_processes_share_an_anchor(tmp_path: Path, place: Path) -> None:
    anchor = tmp_path / "anchor"
    with Ledger(place, anchor=anchor) as ledger:
        ledger.open_account("clicks", epsilon=100)
    spawn = multiprocessing.get_context("spawn")
    number = 3 if SLOW else 2
    racers = [spawn.Process(target=_charge_often, args=(str(place), str(anchor), 20)) for _ in range(number)]
    for racer in racers:
        racer.start()
    for racer in racers:
        racer.join()
    assert [racer.exitcode for racer in racers] == [0] * number
    with Ledger(place, anchor=anchor) as ledger:
        assert ledger.verify()[0].entries == 1 + 20 * number
    lines = anchor.read_text().splitlines()
    assert sorted(json.loads(line)["sequence"] for line in lines) == list(range(1 + 20 * number))


@pytest.mark.parametrize("given", [3, "", b"x", "mysql://host/x", "a\0b", object(), anchor_at("a")])
def test_what_is_no_anchor_is_refused(given: object, tmp_path: Path) -> None:
    with pytest.raises(InvalidParameterError, match="anchor"):
        Ledger(tmp_path / "budget.db", anchor=given)  # type: ignore[arg-type]


Meaning = list[tuple[str, int, str, str]] | None


def meaning(place: Path, anchor: Path) -> Meaning:
    """What somebody who checks is told; None where they are told that something is wrong."""
    with Ledger(place, anchor=anchor) as ledger:
        try:
            told = ledger.verify()
            return [(each.name, each.entries, each.head, str(ledger.account(each.name).spent)) for each in told]
        except (LedgerError, AnchorError):
            return None
        finally:
            with suppress(LedgerError):
                ledger.disconnect()


def flipped(path: Path, rng: random.Random) -> None:
    held = bytearray(path.read_bytes())
    held[rng.randrange(len(held))] ^= 1 << rng.randrange(8)
    path.write_bytes(held)


def cut(path: Path, rng: random.Random) -> None:
    held = path.read_bytes()
    path.write_bytes(held[: rng.randrange(len(held))])


@pytest.mark.parametrize("harm", [flipped, cut])
@pytest.mark.parametrize("target", ["budget.db", "budget.db-journal", "anchor"])
def test_no_damage_changes_what_is_told(
    harm: Callable[[Path, random.Random], None], target: str, tmp_path: Path, harms: int
) -> None:
    """To the database, to the journal of a charge that a crash cut off, to its anchor: all is told as it was, or that
    something is wrong."""
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    whole.mkdir()
    with Ledger(whole / "budget.db", anchor=whole / "anchor") as writer:
        writer.open_account("clicks", epsilon=10, delta=1e-6)
        for _ in range(4):
            writer.charge("clicks", EVENT)
    subprocess.run([sys.executable, "-c", CUT_OFF, str(whole / "budget.db")], check=True)
    files = {name: (whole / name).read_bytes() for name in ("budget.db", "budget.db-journal", "anchor")}
    assert len(files["budget.db-journal"]) > 512

    def placed() -> Path:
        shutil.rmtree(broken, ignore_errors=True)
        broken.mkdir()
        for name, held in files.items():
            (broken / name).write_bytes(held)
        return broken / "budget.db"

    truth = meaning(placed(), broken / "anchor")
    assert truth is not None
    rng, found = random.Random(11), 0
    whole_without = (target, harm) == ("anchor", cut)  # a shorter anchor knows less, and the ledger is whole
    for turn in range(30 * harms):
        if turn >= harms and (found or whole_without):
            break
        place = placed()
        harm(broken / target, rng)
        told = meaning(place, broken / "anchor")
        assert told in (truth, None)
        found += told is None
    assert found > 0 or whole_without, "nothing was ever found: the harm does none"


@pytest.fixture
def harms() -> int:
    """How many there are of each kind: more at night."""

    return EXAMPLES


@pytest.mark.parametrize("act", ["verify", "look", "anchor"])
def test_who_reads_compares_with_what_the_anchor_held_before(
    act: str, server_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a server others charge and note meanwhile, which this transaction does not see: no entry is missing."""
    place, heads, seen = tmp_path / "anchor", FileAnchor.heads, list[int]()
    with Ledger(server_url, anchor=place) as ledger, Ledger(server_url, anchor=place) as other:
        ledger.open_account("clicks", epsilon=10)

        def growing(self: FileAnchor, id: str) -> dict[str, Head]:
            if not seen:
                seen.append(1)
                other.charge("clicks", EVENT)
            return heads(self, id)

        monkeypatch.setattr(FileAnchor, "heads", growing)
        acts: dict[str, Callable[[], object]] = {
            "verify": ledger.verify,
            "look": lambda: ledger.look("clicks", [(EVENT, None, "")]),
            "anchor": lambda: ledger.anchor(place),
        }
        acts[act]()
        assert (seen, ledger.account("clicks").entries) == ([1], 2)


def test_verifying_compares_with_what_the_anchor_held_when_it_began(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a server others charge and note meanwhile, which this transaction does not see: no entry is missing."""
    heads, held = FileAnchor.heads, list[dict[str, Head]]()

    def growing(self: FileAnchor, id: str) -> dict[str, Head]:
        held.append(heads(self, id))
        late = 1000 if len(held) > 1 else 0
        return {name: replace(head, sequence=head.sequence + late) for name, head in held[-1].items()}

    monkeypatch.setattr(FileAnchor, "heads", growing)
    assert [each.name for each in ledger.verify()] == ["clicks", "pets"]
