"""Damaged rows: whatever they contain, the error is a `LedgerDamagedError` that says where."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import sqlalchemy as sa

from dpselect.errors import LedgerDamagedError, LedgerError, LedgerUnavailableError, SelectionError

_TEXTS = ("body", "hash")
_TEXTS_OR_NONE = ("request", "release", "release_hash")
_UNREADABLE = (SelectionError, ValueError, TypeError, KeyError, AttributeError, ArithmeticError, RecursionError)


def damaged_account(ledger: str, name: str) -> LedgerDamagedError:
    """The error for an account whose row is not the one that the ledger wrote."""
    text = f"what account {name!r} says of itself is not what was written. Nothing was written; verify it."
    return LedgerDamagedError(ledger, text)


def damaged_entry(ledger: str, account: str, place: object) -> LedgerDamagedError:
    """The error for an entry that no ledger wrote."""
    place = place if isinstance(place, int) else "?"
    return LedgerDamagedError(ledger, f"entry {place} of account {account!r} cannot be read.")


def damaged_text(ledger: str) -> LedgerDamagedError:
    """The error for a file whose description of its own tables is not text."""
    text = "not even the names of its tables can be read. Nothing was written; restore it and verify it."
    return LedgerDamagedError(ledger, text)


def refuse_unsound_file(connection: sa.Connection, *, ledger: str) -> None:
    """Let SQLite check every page and index: with a damaged index a request is not found, and is charged again.

    Raises:
        LedgerDamagedError: a page or an index is damaged.
        LedgerUnavailableError: the disk could not be read.
    """
    if connection.dialect.name != "sqlite":
        return
    found = str(connection.exec_driver_sql("PRAGMA integrity_check(1)").scalar())
    unread = re.search(r"error code=([0-9]+)", found)  # of a page: SQLite reports it like damage, and goes on
    if unread is not None and int(unread[1]) & 0xFF == sqlite3.SQLITE_IOERR:
        raise LedgerUnavailableError(ledger, "the disk failed while its file was read. Try again.")
    if found != "ok":
        text = "its file is damaged: a page or an index is not as SQLite writes it (PRAGMA integrity_check)."
        raise LedgerDamagedError(ledger, f"{text} Restore it and verify it.")


def sound(rows: Iterable[Mapping[Any, Any]], account: str, *, ledger: str) -> Iterator[Mapping[Any, Any]]:
    """Check the types in rows of entries, because SQLite stores anything in any column.

    Raises:
        LedgerDamagedError: a value has another type than the ledger writes. The error names the first such entry.
    """
    for row in rows:
        texts = all(isinstance(row[name], str) for name in _TEXTS)
        texts_or_none = all(isinstance(row[name], (str, type(None))) for name in _TEXTS_OR_NONE)
        pair = (row["release"] is None) == (row["release_hash"] is None)
        if not (texts and texts_or_none and pair and isinstance(row["sequence"], int)):
            raise damaged_entry(ledger, account, row["sequence"])
        yield row


@contextmanager
def readable(ledger: str, account: str, place: object) -> Generator[None]:
    """A block in which the text of an entry is read.

    Raises:
        LedgerDamagedError: in place of any error that comes from a text that no ledger wrote.
    """
    try:
        yield
    except LedgerError:
        raise
    except _UNREADABLE:
        raise damaged_entry(ledger, account, place) from None
