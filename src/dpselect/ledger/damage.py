"""Rows that somebody wrote by hand: whatever they hold, one error that says where."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import sqlalchemy as sa

from dpselect.errors import LedgerDamagedError, LedgerError, SelectionError

_TEXTS = ("body", "hash")
_TEXTS_OR_NONE = ("request", "release", "release_hash")
_UNREADABLE = (SelectionError, ValueError, TypeError, KeyError, AttributeError, ArithmeticError, RecursionError)


def damaged_account(ledger: str, name: str) -> LedgerDamagedError:
    """Of an account whose row is not the one the ledger wrote."""
    text = f"what account {name!r} says of itself is not what was written. Nothing was written; verify it."
    return LedgerDamagedError(ledger, text)


def damaged_entry(ledger: str, account: str, place: object) -> LedgerDamagedError:
    """Of an entry that no ledger wrote."""
    place = place if isinstance(place, int) else "?"
    return LedgerDamagedError(ledger, f"entry {place} of account {account!r} cannot be read.")


def damaged_text(ledger: str) -> LedgerDamagedError:
    """Of a file whose own description of its tables is no text."""
    text = "not even the names of its tables can be read. Nothing was written; restore it and verify it."
    return LedgerDamagedError(ledger, text)


def refuse_unsound_file(connection: sa.Connection, *, ledger: str) -> None:
    """On SQLite, let it look at every page and index; a damaged index finds no request, which is then charged again.

    Raises:
        LedgerDamagedError: something in the file is not as SQLite writes it.
    """
    if connection.dialect.name != "sqlite":
        return
    if connection.exec_driver_sql("PRAGMA integrity_check(1)").scalar() != "ok":
        text = "its file is damaged: a page or an index is not as SQLite writes it (PRAGMA integrity_check)."
        raise LedgerDamagedError(ledger, f"{text} Restore it and verify it.")


def sound(rows: Iterable[Mapping[Any, Any]], account: str, *, ledger: str) -> Iterator[Mapping[Any, Any]]:
    """The rows of entries, each holding texts where the ledger writes texts: SQLite keeps anything in any column.

    Raises:
        LedgerDamagedError: names the first that does not.
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
    """Within it the text of an entry is read.

    Raises:
        LedgerDamagedError: instead of whatever a text that no ledger wrote leads to.
    """
    try:
        yield
    except LedgerError:
        raise
    except _UNREADABLE:
        raise damaged_entry(ledger, account, place) from None
