"""An answer that another thread is storing at this moment is waited for, and is none that could not be stored."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import dpselect as dps
from dpselect.errors import AnswerNotStoredWarning, LedgerVersionError
from dpselect.ledger import Receipt, requests

EVENT = dps.PermuteAndFlip(epsilon=0.5, sensitivity=1).event
ASKED: dict[str, Any] = {"request": "november", "question": "top page"}
LONG = 60
"""Seconds until a test that hangs fails."""


def charged(ledger: dps.Ledger) -> Receipt | None:
    return ledger.charge("a", EVENT, **ASKED)


def looked(ledger: dps.Ledger) -> Receipt | None:
    return ledger.look("a", EVENT, **ASKED)


WAYS = [charged, looked]


class Storing:
    """A thread that stores an answer, held up in the midst of it until `goes_on` is set."""

    def __init__(self, path: Path, patch: pytest.MonkeyPatch, *, wait: float = LONG, fails: bool = False) -> None:
        self.ledger = dps.Ledger(path / "budget.db", wait=wait)
        self.ledger.open_account("a", epsilon=1)
        receipt = self.ledger.charge("a", EVENT, **ASKED)
        self.goes_on, self.warned = threading.Event(), list[str]()
        begun, store = threading.Event(), dps.Ledger._stored_release  # pyright: ignore[reportPrivateUsage]

        def held_up(ledger: dps.Ledger, *given: Any) -> str:
            if threading.current_thread() is not self._thread:
                return store(ledger, *given)
            begun.set()
            assert self.goes_on.wait(LONG)
            if fails:
                raise LedgerVersionError("the ledger", "a later version.")
            return store(ledger, *given)

        def run() -> None:
            try:
                self.ledger.store_release(receipt, "answer")
            except AnswerNotStoredWarning as warning:  # warnings are errors in tests
                self.warned.append(str(warning))

        patch.setattr(dps.Ledger, "_stored_release", held_up)
        self._thread = threading.Thread(target=run)
        self._thread.start()
        assert begun.wait(LONG)

    def ends(self) -> None:
        self.goes_on.set()
        self._thread.join(LONG)


def going_on_when_waited_for(held: Storing, patch: pytest.MonkeyPatch) -> list[str]:
    """Lets the thread go on as soon as another one waits for it, and notes that it does."""
    until, waits = requests.Patience.until, list[str]()

    def noted(patience: requests.Patience, done: threading.Event | None) -> bool:
        assert done is not None
        waits.append("waits")
        held.goes_on.set()
        return until(patience, done)

    patch.setattr(requests.Patience, "until", noted)
    return waits


@pytest.mark.parametrize("way", WAYS)
def test_an_answer_that_is_being_stored_is_waited_for(
    way: Callable[[dps.Ledger], Receipt | None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = Storing(tmp_path, monkeypatch)
    waits = going_on_when_waited_for(held, monkeypatch)
    found = way(held.ledger)
    held.ends()
    assert (waits, held.warned) == (["waits"], [])
    assert found is not None
    assert found.release == "answer"
    assert held.ledger.account("a").entries == 2


@pytest.mark.parametrize("way", WAYS)
def test_an_answer_that_then_cannot_be_stored_is_given_with_a_warning(
    way: Callable[[dps.Ledger], Receipt | None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = Storing(tmp_path, monkeypatch, fails=True)
    waits = going_on_when_waited_for(held, monkeypatch)
    with pytest.warns(AnswerNotStoredWarning) as warned:  # of both threads
        found = way(held.ledger)
    held.ends()
    said = " ".join(str(each.message) for each in warned)
    assert (waits, len(warned)) == (["waits"], 2)
    assert "another dpselect wrote it meanwhile" in said
    assert "another try just now failed as well" in said
    assert found is not None
    assert found.release == "answer"
    again = looked(held.ledger)  # whoever asks next stores it
    assert again is not None
    assert held.ledger.history("a")[1].release == "answer"


def test_nobody_waits_for_longer_than_for_a_lock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    held = Storing(tmp_path, monkeypatch)
    impatient = dps.Ledger(tmp_path / "budget.db", wait=0)
    with pytest.warns(AnswerNotStoredWarning, match="another thread has not been able to, so far"):
        found = looked(impatient)
    assert found is not None
    assert found.release == "answer"
    held.ends()
    assert held.ledger.history("a")[1].release == "answer"


def test_what_was_stored_is_not_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    held = Storing(tmp_path, monkeypatch)
    held.ends()
    waits = going_on_when_waited_for(held, monkeypatch)
    assert charged(held.ledger) == looked(held.ledger)
    assert not waits
    assert not requests._storing  # pyright: ignore[reportPrivateUsage]
