"""What a database driver raised, as an error of this package that says what to do."""

from __future__ import annotations

import sqlite3
from typing import cast

from sqlalchemy.exc import DBAPIError, NoSuchModuleError
from sqlalchemy.exc import TimeoutError as NoConnectionError

from dpselect.errors import (
    LedgerBusyError,
    LedgerDamagedError,
    LedgerError,
    LedgerFullError,
    LedgerReadOnlyError,
    LedgerUnavailableError,
)

_BUSY = (LedgerBusyError, "another process holds its lock. Nothing was written; try again, or wait longer.")
_CROWDED = (
    LedgerBusyError,
    "all of this process's connections are in use. Nothing was written; wait longer.",
)
_READ_ONLY = (LedgerReadOnlyError, "it cannot be written to, only read. Nothing was written.")
_FULL = (LedgerFullError, "there is no room left on its disk. Nothing was written.")
_DAMAGED = (LedgerDamagedError, "this is no intact SQLite file. Nothing was written; restore it and verify it.")
_TAMPERED = (LedgerDamagedError, "its rows are not as written: one is in the way. Nothing was written; verify it.")
_CLOSED = (LedgerUnavailableError, "it cannot be opened: no such place, or no permission. Nothing was written.")
_BROKEN = (LedgerUnavailableError, "the disk or the connection failed. A charge may have been recorded; none was used.")

_SQLITE = {
    sqlite3.SQLITE_BUSY: _BUSY,
    sqlite3.SQLITE_LOCKED: _BUSY,
    sqlite3.SQLITE_READONLY: _READ_ONLY,
    sqlite3.SQLITE_PERM: _READ_ONLY,
    sqlite3.SQLITE_FULL: _FULL,
    sqlite3.SQLITE_CORRUPT: _DAMAGED,
    sqlite3.SQLITE_NOTADB: _DAMAGED,
    sqlite3.SQLITE_CONSTRAINT: _TAMPERED,
    sqlite3.SQLITE_MISMATCH: _TAMPERED,
    sqlite3.SQLITE_CANTOPEN: _CLOSED,
    sqlite3.SQLITE_AUTH: _CLOSED,
    sqlite3.SQLITE_IOERR: _BROKEN,
}
_POSTGRES = {  # the first characters of the SQLSTATE
    "55P03": _BUSY,
    "40": _BUSY,
    "57014": _BUSY,
    "25006": _READ_ONLY,
    "42501": _READ_ONLY,
    "53100": _FULL,
    "23": _TAMPERED,
    "P0001": _TAMPERED,
    "XX001": _DAMAGED,
    "XX002": _DAMAGED,
}


def translated(error: Exception, ledger: str) -> LedgerError:
    """The error to raise instead. Never quotes the driver's text, which holds statements and their values."""
    if isinstance(error, NoSuchModuleError):
        return LedgerUnavailableError(ledger, "there is no driver for this database.")
    if isinstance(error, NoConnectionError):
        kind, text = _CROWDED
        return kind(ledger, text)
    cause: object = error.orig if isinstance(error, DBAPIError) else error
    kind, text = _BROKEN
    if isinstance(cause, sqlite3.Error):
        primary = cast(int, getattr(cause, "sqlite_errorcode", sqlite3.SQLITE_IOERR)) & 0xFF
        if primary == sqlite3.SQLITE_ERROR:
            return LedgerDamagedError(ledger, "its tables are not those of a ledger. Nothing was written.")
        kind, text = _SQLITE.get(primary, _BROKEN)
    else:
        state = str(getattr(cause, "sqlstate", None) or "")
        if state.startswith("42P01"):
            return LedgerDamagedError(ledger, "its tables are not those of a ledger. Nothing was written.")
        for prefix, fault in _POSTGRES.items():
            if state.startswith(prefix):
                kind, text = fault
    return kind(ledger, text)
