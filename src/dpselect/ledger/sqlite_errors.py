"""Turns errors of SQLite into errors of this package that say what to do."""

from __future__ import annotations

import sqlite3
from typing import cast

from sqlalchemy.exc import DBAPIError

from dpselect.errors import (
    LedgerBusyError,
    LedgerDamagedError,
    LedgerError,
    LedgerFullError,
    LedgerReadOnlyError,
    LedgerUnavailableError,
)

BUSY = (LedgerBusyError, "another process holds its lock. Nothing was written; try again, or wait longer.")
READ_ONLY = (LedgerReadOnlyError, "it cannot be written to, only read. Nothing was written.")
FULL = (LedgerFullError, "there is no room left on its disk. Nothing was written.")
TAMPERED = (LedgerDamagedError, "its rows are not as written: one is in the way. Nothing was written; verify it.")
FOREIGN = (LedgerDamagedError, "its tables are not those of a ledger. Nothing was written.")
"""Faults that servers have as well."""

_DAMAGED = (LedgerDamagedError, "this is not an intact SQLite file. Nothing was written; restore it and verify it.")
_CLOSED = (LedgerUnavailableError, "it cannot be opened: no such place, or no permission. Nothing was written.")
_BROKEN = (LedgerUnavailableError, "the disk or the connection failed. A charge may have been recorded; none was used.")

_SQLITE = {
    sqlite3.SQLITE_ERROR: FOREIGN,
    sqlite3.SQLITE_BUSY: BUSY,
    sqlite3.SQLITE_LOCKED: BUSY,
    sqlite3.SQLITE_READONLY: READ_ONLY,
    sqlite3.SQLITE_PERM: READ_ONLY,
    sqlite3.SQLITE_FULL: FULL,
    sqlite3.SQLITE_CORRUPT: _DAMAGED,
    sqlite3.SQLITE_NOTADB: _DAMAGED,
    sqlite3.SQLITE_CONSTRAINT: TAMPERED,
    sqlite3.SQLITE_MISMATCH: TAMPERED,
    sqlite3.SQLITE_CANTOPEN: _CLOSED,
    sqlite3.SQLITE_AUTH: _CLOSED,
    sqlite3.SQLITE_IOERR: _BROKEN,
}


def translated(error: Exception, ledger: str) -> LedgerError:
    """The error to raise instead. It never quotes the driver's text, which contains statements and their values."""
    cause: object = error.orig if isinstance(error, DBAPIError) else error
    if not isinstance(cause, sqlite3.Error):
        kind, text = _BROKEN
        return kind(ledger, text)
    primary = cast(int, getattr(cause, "sqlite_errorcode", sqlite3.SQLITE_IOERR)) & 0xFF
    kind, text = _SQLITE.get(primary, _BROKEN)
    return kind(ledger, text)
