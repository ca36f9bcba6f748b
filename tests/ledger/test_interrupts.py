"""Whoever is interrupted after a charge learns which entry it is: by a note in Python, by a line in a shell."""

from __future__ import annotations

import gc
import itertools
import shutil
import signal
import subprocess
import sys
import threading
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

import dpselect as dps
from dpselect.ledger import sqlite
from tests.ledger.remembered import forget
from tests.rows.tables import write_csv
from tests.slow import SLOW

ROOT = Path(dps.__file__).parent
_WATCHED = tuple(str(ROOT / each) for each in ("ledger", "session/answering.py"))


class Interrupt:
    """Raises KeyboardInterrupt at one of the lines of the ledger that a question passes, counted from its charge."""

    def __init__(self, at: int) -> None:
        self.at, self.passed, self.hit = at, 0, False
        self._is_armed = False

    def trace(self, frame: FrameType, event: str, _argument: object) -> Any:
        if not frame.f_code.co_filename.startswith(_WATCHED):
            return None
        if event == "call" and frame.f_code.co_name == "charge":
            self._is_armed = True
        if event == "call" and frame.f_code.co_name == "__exit__":  # of the ledger: the answer was given
            self._is_armed = False
        if event == "line" and self._is_armed and not self.hit:
            self.passed += 1
            if self.passed > self.at:
                self.hit = True
                raise KeyboardInterrupt
        return self.trace


def asked(path: Path, table: Path, request: str | None) -> dps.Release:
    with dps.Ledger(path) as ledger:
        visits = dps.Dataset(table, unit="session", ledger=ledger, account="clicks")
        return visits.most_common("page", candidates=range(3), epsilon=0.25, request=request)


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_csv(tmp_path_factory.mktemp("table") / "t.csv", [b"1,2", b"2,2"], header=b"session,page\n")


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("opened") / "budget.db"
    with dps.Ledger(path) as ledger:
        ledger.open_account("clicks", epsilon=1)
    return path


def check_that_entries_are_named(opened: Path, table: Path, folder: Path, request_id: str | None, step: int) -> None:
    """In a process of its own: what an interrupt leaves behind, such as an answer to store, is for no other test."""
    before, named = 0, 0
    gc.disable()  # an interrupt of a finalizer is ignored by Python, and no interrupt of the question
    for at in itertools.count(0, step):
        gc.collect()
        path = Path(shutil.copy(opened, folder / f"{at}.db"))
        interrupt = Interrupt(at)
        forget()  # the turns before: what they left would be looked at
        caught: KeyboardInterrupt | None = None
        sys.settrace(interrupt.trace)
        try:
            asked(path, table, request_id)
        except KeyboardInterrupt as error:
            caught = error
        finally:
            sys.settrace(None)
        if not interrupt.hit:
            break
        assert caught is not None
        with dps.Ledger(path) as truth:
            charged = [entry for entry in truth.history("clicks") if entry.kind == "charge"]
        if charged:
            assert any("entry 1 of account 'clicks'" in note for note in getattr(caught, "__notes__", [])), at
            named += 1
        else:
            before += 1
    assert before > 0
    assert named > 5
    print("named", named)


@pytest.mark.parametrize("request_id", [None, "november"])
def test_an_interrupt_at_any_line_after_the_commit_names_the_entry(
    request_id: str | None, opened: Path, table: Path, tmp_path: Path
) -> None:
    given = f"Path({str(opened)!r}), Path({str(table)!r}), Path({str(tmp_path)!r}), {request_id!r}, {1 if SLOW else 5}"
    code = f"from tests.ledger.test_interrupts import *; check_that_entries_are_named({given})"
    checked = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=600, check=False)
    assert checked.stdout.startswith("named"), checked.stderr


def test_an_interrupt_while_others_hold_the_guard_ends_the_turn(
    opened: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another thread may be opening a connection when a transaction ends."""

    class Held:
        def __enter__(self) -> None:
            raise KeyboardInterrupt

        def __exit__(self, *_: object) -> None: ...

    with dps.Ledger(shutil.copy(opened, tmp_path / "budget.db"), wait=1) as ledger:
        event = dps.PermuteAndFlip(epsilon=0.125, sensitivity=1).event
        charge = sqlite.Transaction.insert

        def amid(*given: Any, **named: Any) -> None:
            charge(*given, **named)
            monkeypatch.setattr(sqlite, "_guard", Held())

        monkeypatch.setattr(sqlite.Transaction, "insert", amid)
        with pytest.raises(KeyboardInterrupt):
            ledger.charge("clicks", event)
        monkeypatch.undo()
        gc.collect()
        charged = list[int]()
        other = threading.Thread(target=lambda: charged.append(ledger.charge("clicks", event).sequence))
        other.start()
        other.join()
        assert charged


@pytest.mark.parametrize("line", [2, 3])
def test_an_interrupt_at_the_end_of_reading_leaves_no_lock(opened: Path, tmp_path: Path, line: int) -> None:
    """As long as the interrupt is held, nothing collects the connection."""
    path, code = shutil.copy(opened, tmp_path / "budget.db"), sqlite.Transaction.end.__code__
    hits = list[int]()

    def trace(frame: Any, event: str, _: object) -> Any:
        if frame.f_code is code and event == "line" and frame.f_lineno == code.co_firstlineno + line and not hits:
            hits.append(line)
            raise KeyboardInterrupt
        return trace if frame.f_code is code else None

    with dps.Ledger(path, wait=0.5) as ledger:
        sys.settrace(trace)
        try:
            with pytest.raises(KeyboardInterrupt):
                ledger.account("clicks")
        finally:
            sys.settrace(None)
        with dps.Ledger(path, wait=0.5) as other:
            assert other.charge("clicks", dps.PermuteAndFlip(epsilon=0.125, sensitivity=1).event).sequence == 1
    assert hits == [line]


_COMMAND = """
import signal, sys, time
from dpselect.cli import main
signal.signal(signal.SIGHUP, signal.SIG_DFL)  # under nohup it is ignored
from dpselect.mechanisms import PermuteAndFlip
def interrupted(*_, **__):
    signal.raise_signal(signal.{name})
    while True:  # until this thread has heard of it
        time.sleep(0.01)
PermuteAndFlip.select = interrupted
sys.exit(main())
"""


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_a_command_that_is_ended_after_its_charge_names_the_entry(
    name: str, opened: Path, table: Path, tmp_path: Path
) -> None:
    path = Path(shutil.copy(opened, tmp_path / "budget.db"))
    question = ["most-common", str(table), "page", "--unit", "session", "--candidates", "1..3", "--epsilon", "0.5"]
    question += ["--ledger", str(path), "--account", "clicks", "--quiet"]
    ended = subprocess.run(
        [sys.executable, "-c", _COMMAND.format(name=name), *question],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert (ended.returncode, ended.stdout) == (128 + getattr(signal, name), "")
    assert ended.stderr == (
        "dpselect: charged as entry 1 of account 'clicks', but no answer was shown, and the charge stands."
        " It was interrupted.\n"
    )
    with dps.Ledger(path) as truth:
        assert truth.account("clicks").entries == 2
