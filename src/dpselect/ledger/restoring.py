"""Copies of a ledger, and what is counted as spent when one takes the place of a lost ledger."""

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
    """Where a copy may be made: a path at which nothing is yet.

    Raises:
        InvalidParameterError: it is none, or something is there.
    """
    if not isinstance(to, (str, Path)) or not str(to) or "://" in str(to) or "\0" in str(to):
        raise InvalidParameterError(name, to, "the path of a file")
    place = Path(os.path.abspath(to))
    for each in (place, Path(f"{place}-wal"), Path(f"{place}-shm"), Path(f"{place}-journal")):
        if os.path.lexists(each):
            hint = "A ledger is never overwritten: move what is there away first."
            raise InvalidParameterError(name, Shown(f"<{each.name}>"), "a path at which there is nothing yet", hint)
    return place


def copy_of(source: sqlite3.Connection, place: Path, *, ledger: str) -> None:
    """Copy a SQLite ledger as it is at this moment, its log included, while others go on charging.

    Raises:
        LedgerUnavailableError: the copy cannot be written.
    """
    try:
        os.close(os.open(place, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        with closing(sqlite3.connect(place)) as copy:
            source.backup(copy)
            copy.execute("PRAGMA journal_mode=DELETE")  # one file that says all, wherever it is carried to
        file_to_disk(place)
        folder_to_disk(place.parent)
    except (OSError, sqlite3.Error):
        raise LedgerUnavailableError(ledger, "the copy cannot be written: no permission, or no room.") from None


def written_off(
    connection: sa.Connection, row: store.AccountRow, noted: Head, stamp: dict[str, str], *, ledger: str
) -> Head:
    """Count all that an anchor knows of an account, and its entries do not, as spent; the new head of both.

    Raises:
        LedgerForkedError: the account came further by another way.
        LedgerDamagedError: what the anchor says cannot be read.
    """
    if noted.sequence < row.state.entries:
        text = f"account {row.terms.name!r} has other entries than its anchor says; only missing ones are written off."
        raise LedgerForkedError(ledger, text)
    with readable(ledger, row.terms.name, noted.sequence):
        known = State.from_text(noted.state)
    state = row.state.written_off(known)
    body = {**stamp, "state": known.to_text(), "noted": {"sequence": noted.sequence, "hash": noted.hash}}
    return replace(store.append(connection, row, state, body), written_off=noted.sequence)


def gone(noted: Head) -> Head:
    """Of an account that is missing as a whole: nothing can be charged to it any more."""
    return replace(noted, sequence=-1, hash=FIRST, seal=FIRST, written_off=noted.sequence)
