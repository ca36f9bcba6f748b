"""Copies of a ledger."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path

from dpselect.errors import InvalidParameterError, LedgerUnavailableError, Shown
from dpselect.ledger.durable import file_to_disk, folder_to_disk


def new_place(to: object, name: str) -> Path:
    """The path of a new copy. Nothing may exist there.

    Raises:
        InvalidParameterError: `to` is not a path, or something exists there.
    """
    if not isinstance(to, (str, Path)) or not str(to) or "://" in str(to) or "\0" in str(to):
        raise InvalidParameterError(name, to, "the path of a file")
    place = Path(os.path.abspath(to))
    for each in (place, Path(f"{place}-wal"), Path(f"{place}-shm"), Path(f"{place}-journal")):
        if os.path.lexists(each):
            hint = "A ledger is never overwritten: move what is there away first."
            raise InvalidParameterError(name, Shown(f"<{each.name}>"), "a path where nothing exists yet", hint)
    return place


def copy_of(source: sqlite3.Connection, place: Path, *, ledger: str) -> None:
    """Copy a SQLite ledger, with its log, as it is now, while others go on charging.

    Raises:
        LedgerUnavailableError: the copy cannot be written.
    """
    try:
        os.close(os.open(place, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        with closing(sqlite3.connect(place)) as copy:
            source.backup(copy)
            copy.execute("PRAGMA journal_mode=DELETE")  # a single file that is complete wherever it is moved
        file_to_disk(place)
        folder_to_disk(place.parent)
    except (OSError, sqlite3.Error):
        raise LedgerUnavailableError(ledger, "the copy cannot be written: no permission, or no room.") from None
