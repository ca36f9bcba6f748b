"""Which file a SQLite ledger is: one name, and the same file for as long as it is open.

SQLite keeps what is not yet in the file beside it, under the file's name. So two names of one file would be two
ledgers, each without the other's charges; and a file put in an open one's place would go unnoticed.
"""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

from dpselect.errors import LedgerDamagedError, LedgerUnavailableError

Identity = tuple[int, int]


class FileConnection(sqlite3.Connection):
    """A connection that knows which file it opened."""

    identity: Identity | None = None


def identity_of(path: Path, *, ledger: str) -> Identity:
    """Device and number of the file at `path`.

    Raises:
        LedgerUnavailableError: there is none, or it has several names.
    """
    try:
        found = os.stat(path)
    except FileNotFoundError:
        raise LedgerUnavailableError(ledger, "there is no such file. Opening an account creates it.") from None
    except OSError:
        raise LedgerUnavailableError(ledger, "there is no permission to look at its file.") from None
    if found.st_nlink > 1 and path.is_file():
        text = (
            "its file has a second name (a hard link). Nothing was read or written: charges made under one name could"
        )
        raise LedgerUnavailableError(ledger, f"{text} be missing under the other. Remove all names but one.")
    return found.st_dev, found.st_ino


def refuse_replaced(path: Path, opened: Identity | None, *, ledger: str) -> None:
    """Compare the file that was opened with the one that has its name now.

    Raises:
        LedgerDamagedError: it is another one.
        LedgerUnavailableError: there is none, or it has several names.
    """
    if identity_of(path, ledger=ledger) != opened:
        text = "another file was put in its place while it was open. Nothing was written; verify it, then open it anew."
        raise LedgerDamagedError(ledger, text)
