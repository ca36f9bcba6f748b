"""Copies of a ledger, and writing off what is lost when a copy replaces the ledger."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import sqlalchemy as sa

from dpselect.errors import InvalidParameterError, LedgerForkedError, LedgerUnavailableError, Shown
from dpselect.ledger import store
from dpselect.ledger.accounts import State
from dpselect.ledger.anchors import Head
from dpselect.ledger.chain import FIRST
from dpselect.ledger.damage import readable
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


def written_off(
    connection: sa.Connection, row: store.AccountRow, noted: Head, stamp: dict[str, str], *, ledger: str
) -> Head:
    """Count as spent all that the anchor knows of an account beyond its entries. Returns the new head.

    Raises:
        LedgerForkedError: the account has other entries than the anchor knows.
        LedgerDamagedError: the anchor's state of the account cannot be read.
    """
    if noted.sequence < row.state.entries:
        text = f"account {row.terms.name!r} has other entries than its anchor; only missing entries can be written off."
        raise LedgerForkedError(ledger, text)
    with readable(ledger, row.terms.name, noted.sequence):
        known = State.from_text(noted.state)
        spent_more = known.total.covers(row.state.total)
    if not (spent_more and row.state.is_open):
        text = f"account {row.terms.name!r} has spent more than its anchor says, or is closed: no entries are missing."
        raise LedgerForkedError(ledger, text)
    known = _cautious(row, known)
    state = row.state.written_off(known)
    body = {**stamp, "state": known.to_text(), "noted": {"sequence": noted.sequence, "hash": noted.hash}}
    return replace(store.append(connection, row, state, body), written_off=noted.sequence)


def _cautious(row: store.AccountRow, known: State) -> State:
    """The state that the anchor had noted, but with no right that the account does not have: added lines give none."""
    limit = max(min(row.state.epsilon, known.epsilon), row.terms.spent(known.total))
    return replace(known, epsilon=limit, unit=row.state.unit or known.unit)


def gone(noted: Head) -> Head:
    """The head of an account that is missing altogether: nothing can be charged to it any more."""
    return replace(noted, sequence=-1, hash=FIRST, seal=FIRST, written_off=noted.sequence)
