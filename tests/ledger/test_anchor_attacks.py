"""What an anchor must not let pass: copies that race, anchors that are missing, foreign, in the way, or sent back."""

from __future__ import annotations

import fcntl
import os
import shutil
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

import dpselect as dps
from dpselect.errors import AnchorError, InvalidParameterError, LedgerError, LedgerForkedError, LedgerRolledBackError
from dpselect.ledger import Ledger
from tests.ledger.noted import anchor_at, around_notes, heads_of, line

EIGHTH = dps.PermuteAndFlip(epsilon=0.125, sensitivity=1).event


@pytest.fixture
def anchor(tmp_path: Path) -> str:
    (tmp_path / "elsewhere").mkdir()
    return f"{tmp_path}/elsewhere/anchor"


@pytest.fixture
def place(tmp_path: Path, anchor: str) -> Path:
    """Of a ledger with one account, one charge, and its anchor."""
    place = tmp_path / "budget.db"
    with Ledger(place, anchor=anchor) as ledger:
        ledger.open_account("clicks", epsilon=10, delta=1e-6)
        ledger.charge("clicks", EIGHTH)
    return place


@pytest.mark.slow
def test_of_two_copies_that_charge_at_once_one_is_refused(
    place: Path, anchor: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both have looked at the anchor before either notes."""
    other = Path(shutil.copy(place, tmp_path / "copy.db"))
    outcomes: list[object] = []
    together = threading.Barrier(2)

    def late(note: Callable[[], None]) -> None:
        together.wait(60)
        note()

    around_notes(monkeypatch, late)

    def charge(path: Path) -> None:
        with Ledger(path, anchor=anchor) as ledger:
            try:
                outcomes.append(ledger.charge("clicks", EIGHTH).sequence)
            except LedgerError as error:
                outcomes.append(type(error))

    threads = [threading.Thread(target=charge, args=(path,)) for path in (place, other)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outcomes, key=str) == sorted([2, LedgerForkedError], key=str)


@pytest.mark.parametrize("act", ["charge", "look", "verify", "open", "limit", "close"])
def test_an_anchor_that_is_missing_or_another_is_made_by_nobody_but_who_asks_for_it(
    place: Path, anchor: str, act: str
) -> None:
    Path(anchor).unlink()
    with Ledger(place, anchor=anchor) as ledger:
        acts: dict[str, Callable[[], object]] = {
            "charge": lambda: ledger.charge("clicks", EIGHTH),
            "look": lambda: ledger.look("clicks", [(EIGHTH, None, "")]),
            "verify": ledger.verify,
            "open": lambda: ledger.open_account("pets", epsilon=1),
            "limit": lambda: ledger.set_limit("clicks", epsilon=20),
            "close": lambda: ledger.close("clicks"),
        }
        with pytest.raises(AnchorError, match=r"it knows nothing of account 'clicks'.*ledger anchor` notes what"):
            acts[act]()
        assert (ledger.account("clicks").entries, ledger.account("clicks").epsilon) == (2, 10)
    with Ledger(place) as ledger:
        ledger.anchor(anchor)
    with Ledger(place, anchor=anchor) as ledger:
        assert ledger.charge("clicks", EIGHTH).sequence == 2


def test_an_account_that_was_opened_past_the_anchor_is_not_charged(place: Path, anchor: str) -> None:
    with Ledger(place) as careless:
        careless.open_account("pets", epsilon=1)
    with Ledger(place, anchor=anchor) as ledger:
        with pytest.raises(AnchorError, match=r"it knows nothing of account 'pets'"):
            ledger.charge("pets", EIGHTH)
        assert ledger.charge("clicks", EIGHTH).sequence == 2
        ledger.anchor(anchor)
        assert ledger.charge("pets", EIGHTH).sequence == 1


def test_a_note_that_fails_names_the_entry_which_the_process_uses_when_asked_again(
    place: Path, anchor: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Ledger(place, anchor=anchor) as ledger:
        around_notes(monkeypatch, lambda _: {}["row of Zoe"])
        with pytest.raises(AnchorError) as caught:
            ledger.charge("clicks", EIGHTH, request="nightly")
        text = str(caught.value)
        assert "entry 2 of account 'clicks' was recorded and stays" in text
        assert "nothing was drawn" in text
        assert "Zoe" not in text
        assert "Nothing was charged" not in text
        assert ledger.account("clicks").entries == 3
        monkeypatch.undo()
        assert ledger.charge("clicks", EIGHTH, request="nightly").sequence == 2
        assert ledger.account("clicks").entries == 3


@pytest.mark.parametrize("harm", ["lower total", "higher number", "same number, other state", "no state", "two totals"])
def test_lines_that_are_only_added_send_no_anchor_back(place: Path, anchor: str, tmp_path: Path, harm: str) -> None:
    older = Path(shutil.copy(place, tmp_path / "older.db"))
    with Ledger(place, anchor=anchor) as ledger:
        identity = ledger.charge("clicks", EIGHTH).ledger
        assert identity is not None
    known = heads_of(anchor, identity)["clicks"]
    with Ledger(older) as back:
        (old,) = back.anchor(tmp_path / "old anchor")
    forged = {
        "lower total": replace(old, sequence=known.sequence + 1),
        "higher number": replace(old, sequence=known.sequence + 5),
        "same number, other state": replace(old, state=known.state),
        "no state": replace(known, sequence=known.sequence + 1, state="{}"),
        "two totals": replace(old, sequence=known.sequence + 1, state=known.state[:-1] + "," + old.state[1:]),
    }[harm]
    with suppress(AnchorError):  # its own writer looks at what it wrote
        anchor_at(anchor).note(forged)
    with Ledger(older, anchor=anchor) as rolled_back:
        with pytest.raises((AnchorError, LedgerRolledBackError, LedgerForkedError)):
            rolled_back.charge("clicks", EIGHTH)
        assert rolled_back.account("clicks").entries == 2


@pytest.mark.parametrize(
    "forgery",
    ["before the copy", "by way of a fork", "by way of a fork, with the true state", "by way of a large number"],
)
def test_no_sequence_of_added_lines_lets_an_older_copy_be_charged(
    place: Path, anchor: str, tmp_path: Path, forgery: str
) -> None:
    older = Path(shutil.copy(place, tmp_path / "older.db"))
    with Ledger(older) as back:
        (h1,) = back.anchor(tmp_path / "old anchor")
    with Ledger(place, anchor=anchor) as ledger:
        (identity, *_) = [str(ledger.charge("clicks", EIGHTH).ledger) for _ in range(3)]
        opening = next(iter(ledger.entries("clicks")))
    hn = heads_of(anchor, identity)["clicks"]
    last = hn.sequence
    with Ledger(older) as back:  # has more entries than the ledger, and has spent less
        for _ in range(5 if "fork" in forgery else 0):
            back.set_limit("clicks", epsilon=10)
        fork = back.anchor(tmp_path / "fork anchor")[0]
        before = replace(fork, sequence=fork.sequence - 1, hash=back.history("clicks")[-2].hash)
    h0 = replace(h1, sequence=0, hash=opening.hash)
    lines = {
        "before the copy": [replace(h0, state=hn.state)],
        "by way of a fork": [fork],
        "by way of a fork, with the true state": [replace(before, state=hn.state)],
        "by way of a large number": [replace(h1, sequence=last + 1), h1],
    }[forgery]
    for head in lines:
        add_line(anchor, line(head))
    refused = pytest.raises((AnchorError, LedgerRolledBackError, LedgerForkedError))
    with Ledger(older, anchor=anchor) as rolled_back, refused:
        rolled_back.charge("clicks", EIGHTH)
    with Ledger(older) as alone:
        assert alone.account("clicks").entries == (7 if "fork" in forgery else 2)


def test_a_note_that_is_not_kept_is_no_note(place: Path, anchor: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """As of a line that somebody else's bytes have swallowed."""
    with Ledger(place, anchor=anchor) as ledger:
        around_notes(monkeypatch, lambda _: None)
        with pytest.raises(AnchorError, match="it did not keep the note"):
            ledger.charge("clicks", EIGHTH)


@pytest.mark.parametrize(
    ("before", "number"),
    [('{"all":', 9), ("", 2**63), ("", -1), ("", -(10**30))],
    ids=["begins like a line of before", "too large", "negative", "very negative"],
)
def test_lines_that_nobody_wrote_are_damage(place: Path, anchor: str, before: str, number: int) -> None:
    """Of another beginning, or with a number that no entry has."""
    with Ledger(place, anchor=anchor) as ledger:
        identity = str(ledger.charge("clicks", EIGHTH).ledger)
    head = heads_of(anchor, identity)["clicks"]
    add_line(anchor, before + line(head, sequence=number))
    with pytest.raises(AnchorError, match="damaged"):
        heads_of(anchor, identity)


def test_the_ledger_itself_is_no_anchor_of_it(place: Path, tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(place)
    for given in (place, f"{place}-journal", link):
        with pytest.raises(InvalidParameterError, match="another file than the ledger's"):
            Ledger(place, anchor=given)


SERVERS = ["postgresql://u:hunter2@h.invalid/x", "postgresql+psycopg://u:hunter2@h/x", "postgresql://u:hunter2@h@i/x"]


@pytest.mark.parametrize("given", [*SERVERS, "postgresql://h/x?password=hunter2", "sqlite:///hunter2.db", "s3://a/b"])
def test_a_url_is_no_anchor(alone: Ledger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, given: str) -> None:
    """Neither when a ledger is opened nor when it is noted once, and whatever secret the URL holds."""
    monkeypatch.chdir(tmp_path)
    before = sorted(tmp_path.iterdir())
    for act in (lambda: Ledger(tmp_path / "budget.db", anchor=given), lambda: alone.anchor(given)):
        with pytest.raises(InvalidParameterError) as caught:
            act()
        assert str(caught.value) == "anchor=<URL>: expected the path of a file."
    assert sorted(tmp_path.iterdir()) == before


def test_what_looks_like_a_server_makes_no_anchor(place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for given in ("host=localhost password=hunter2", "u:hunter2@h.invalid"):
        for each in (given, Path(given)):
            with pytest.raises(InvalidParameterError, match=r"^anchor=") as caught:
                Ledger(place, anchor=each)
            assert "hunter2" not in str(caught.value)
    assert not list(tmp_path.glob("*hunter2*"))


@pytest.fixture
def alone(tmp_path: Path) -> Iterator[Ledger]:
    with Ledger(tmp_path / "budget.db") as ledger:
        ledger.open_account("clicks", epsilon=10)
        yield ledger


OTHERS = [b"my important notes", b'{"forms', b'{"format":"another"', bytes(range(256)) * 40]
OTHERS += [b'{"account":"bob","balance":', b'{"FORMAT":"another"', b"a\nb\n", b'{"a":1}\n', b"\n", b" "]


@pytest.mark.parametrize("content", OTHERS)
def test_somebody_elses_file_is_no_anchor_and_stays_as_it_is(alone: Ledger, tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "notes"
    file.write_bytes(content)
    with pytest.raises(AnchorError, match=r"this is not an anchor|is damaged"):
        alone.anchor(file)
    assert file.read_bytes() == content


def test_a_first_line_that_a_crash_cut_off_is_written_again(alone: Ledger, tmp_path: Path) -> None:
    alone.anchor(tmp_path / "whole")
    whole = (tmp_path / "whole").read_bytes()
    first = whole.index(b"\n") + 1
    for size in range(first + 1):
        cut = tmp_path / f"cut {size}"
        cut.write_bytes(whole[:size])
        alone.anchor(cut)
        assert cut.read_bytes() == whole


def test_an_anchor_that_another_process_holds_is_waited_for_as_a_ledger_is(place: Path, anchor: str) -> None:
    with open(anchor, "rb") as held, Ledger(place, anchor=anchor, wait=0.2) as hasty:
        fcntl.flock(held, fcntl.LOCK_EX)
        with pytest.raises(AnchorError, match="another process holds its lock"):
            hasty.charge("clicks", EIGHTH)
        assert hasty.account("clicks").entries == 2
        fcntl.flock(held, fcntl.LOCK_UN)
        assert hasty.charge("clicks", EIGHTH).sequence == 2


def test_a_pipe_or_a_device_is_no_anchor(alone: Ledger, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for given in (tmp_path / "pipe", Path("/dev/null"), tmp_path):
        with pytest.raises(AnchorError, match=r"it is not a regular file|it cannot be opened"):
            alone.anchor(given)


def add_line(anchor: str, line: str) -> None:
    """As whoever may add lines can do."""
    with open(anchor, "a") as file:
        file.write(f"{line}\n")


def test_a_long_total_that_ends_wrong_is_refused_at_once(place: Path, anchor: str) -> None:
    """Looking for where its numbers end takes no longer than they are, whatever follows them."""
    with Ledger(place, anchor=anchor) as ledger:
        identity = str(ledger.charge("clicks", EIGHTH).ledger)
    head = heads_of(anchor, identity)["clicks"]
    state = '{"total":["1","0","' + "1 23456789" * 1000 + 'x"]}'
    add_line(anchor, line(head, sequence=head.sequence + 1, state=state))
    with pytest.raises(AnchorError, match="damaged"):
        heads_of(anchor, identity)


def test_the_last_head_of_each_account_counts(place: Path, anchor: str) -> None:
    with Ledger(place, anchor=anchor) as ledger:
        identity = str(ledger.charge("clicks", EIGHTH).ledger)
    writer = anchor_at(anchor)
    head = writer.heads(identity)["clicks"]
    for number in range(3, 40):
        writer.note(replace(head, account=f"account {number % 7}", sequence=number))
    known = writer.heads(identity)
    assert [known[f"account {rest}"].sequence for rest in range(7)] == [35, 36, 37, 38, 39, 33, 34]
    assert heads_of(anchor, identity) == known
