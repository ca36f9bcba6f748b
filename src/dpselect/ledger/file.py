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
    """A connection that knows which file it opened, and which write-ahead log it writes to."""

    log_path: str = ""
    identity: Identity | None = None
    log: Identity | None = None


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
        raise LedgerUnavailableError(ledger, "its file cannot be looked at: no permission, or no such place.") from None
    if found.st_nlink > 1 and path.is_file():
        text = (
            "its file has a second name (a hard link). Nothing was read or written: charges made under one name could"
        )
        raise LedgerUnavailableError(ledger, f"{text} be missing under the other. Remove all names but one.")
    return found.st_dev, found.st_ino


def refuse_replaced(path: Path, opened: FileConnection, *, ledger: str) -> None:
    """Compare the file that was opened with the one that has its name now.

    Raises:
        LedgerDamagedError: it is another one.
        LedgerUnavailableError: there is none, or it has several names.
    """
    if identity_of(path, ledger=ledger) != opened.identity:
        text = "another file was put in its place while it was open. Nothing was written; verify it, then open it anew."
        raise LedgerDamagedError(ledger, text)


LOST = (
    "its write-ahead log was removed while it was open; the last charges may be missing, and none was used for a draw"
    " after that. Let no program but this one open the file, not even to copy it; end this process, then verify it."
)


def has_lost_log(opened: FileConnection) -> bool:
    """Whether the write-ahead log that `opened` used first is not the one beside the file now.

    As long as a connection is open and holds its locks, nobody deletes the log. If somebody did, the locks were lost
    (this process opened and closed the file by other means, which drops them) or it was deleted by hand; what was
    written to it since is in no file any more.
    """
    return opened.log is not None and opened.log != _log_of(opened)


def refuse_lost_log(opened: FileConnection, *, ledger: str) -> None:
    """Look for the write-ahead log, after each transaction.

    Raises:
        LedgerDamagedError: it is gone, or another one.
    """
    if opened.log is None:
        opened.log = _log_of(opened)
    elif has_lost_log(opened):
        raise LedgerDamagedError(ledger, LOST)


def _log_of(opened: FileConnection) -> Identity | None:
    try:
        found = os.stat(opened.log_path)
    except OSError:
        return None
    return found.st_dev, found.st_ino
