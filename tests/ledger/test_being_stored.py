"""Threads of one process are to each other as processes: each pays, and the answer that is stored first is given."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

import dpselect as dps
from dpselect.errors import AnswerNotStoredWarning, LedgerVersionError
from tests.ledger.remembered import answers_to_store

EVENT = dps.PermuteAndFlip(epsilon=0.25, sensitivity=1).event
ASKED: dict[str, Any] = {"request": "november", "question": "top page"}
LONG = 60
"""Seconds until a test that hangs fails."""


class Storing:
    """A thread that stores an answer, held up in the midst of it until it `ends`."""

    def __init__(self, path: Path, patch: pytest.MonkeyPatch, *, fails: bool = False) -> None:
        self.ledger = dps.Ledger(path / "budget.db", wait=LONG)
        self.ledger.open_account("a", epsilon=1)
        self.receipt = receipt = self.ledger.charge("a", EVENT, **ASKED)
        self.told = list[str]()
        begun, store, self._goes_on = threading.Event(), dps.Ledger._stored_release, threading.Event()  # pyright: ignore

        def held_up(ledger: dps.Ledger, *given: Any) -> str:
            if threading.current_thread() is self._thread:
                begun.set()
                assert self._goes_on.wait(LONG)
                if fails:
                    raise LedgerVersionError("the ledger", "a later version.")
            return store(ledger, *given)

        def run() -> None:
            try:
                self.told.append(self.ledger.store_release(receipt, "first"))
            except AnswerNotStoredWarning as warning:  # warnings are errors in tests
                self.told.append(str(warning))

        patch.setattr(dps.Ledger, "_stored_release", held_up)
        self._thread = threading.Thread(target=run)
        self._thread.start()
        assert begun.wait(LONG)

    def ends(self) -> str:
        self._goes_on.set()
        self._thread.join(LONG)
        return self.told[0]


def test_who_asks_while_an_answer_is_being_stored_pays_and_both_give_one_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is no answer that could not be stored: nobody is warned."""
    held = Storing(tmp_path, monkeypatch)
    assert held.ledger.look("a", [(EVENT, "november", "top page")]) == [None]
    second = held.ledger.charge("a", EVENT, **ASKED)
    assert (second.sequence, second.release) == (2, None)
    assert held.ledger.store_release(second, "second") == "second"
    assert held.ends() == "second"
    third = held.ledger.charge("a", EVENT, **ASKED)
    assert (third.sequence, third.release, held.ledger.remaining("a")) == (2, "second", 0.5)
    assert not {held.receipt.hash, second.hash} & answers_to_store()


def test_an_answer_that_a_thread_could_not_store_is_stored_by_who_asks_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = Storing(tmp_path, monkeypatch, fails=True)
    assert "not stored: a later version. Keep it" in held.ends()
    again = held.ledger.charge("a", EVENT, **ASKED)
    assert (again.sequence, again.release) == (1, "first")
    assert [entry.release for entry in held.ledger.history("a")] == [None, "first"]
