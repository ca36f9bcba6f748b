"""The file of an anchor: what it knows, lines as a ledger adds them, and notes that are made late or not at all."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from dpselect.ledger import Head
from dpselect.ledger.anchor import FileAnchor, line_of

anchor_at = FileAnchor
"""The anchor at a path, read anew."""


def heads_of(anchor: str | Path, ledger: str | None) -> Any:
    """The last entry of each account of a ledger."""
    return FileAnchor(anchor).heads(str(ledger))


def line(head: Head, **changed: Any) -> str:
    """The line that notes this entry, with changes that nobody made."""
    return line_of(replace(head, **changed))


def around_notes(patch: pytest.MonkeyPatch, act: Callable[[Callable[[], None]], object]) -> None:
    """From here on `act` is called with what would note an entry, instead."""
    note = FileAnchor.note

    def noted(self: FileAnchor, *given: Any) -> None:
        act(lambda: note(self, *given))

    patch.setattr(FileAnchor, "note", noted)
