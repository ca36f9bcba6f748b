"""Turns failures of a PostgreSQL server, or of the connection to it, into errors that say what to do.

The caller needs to know whether something may have been written. That is possible only if the server was asked to
commit and did not answer that it could not. The driver's text is never quoted: it contains statements and their values.
"""

from __future__ import annotations

import re

import psycopg
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as NoConnectionError

from dpselect.errors import (
    LedgerBusyError,
    LedgerDamagedError,
    LedgerError,
    LedgerReadOnlyError,
    LedgerUnavailableError,
)
from dpselect.ledger.server_connections import NoAnswerError
from dpselect.ledger.sqlite_errors import BUSY, FOREIGN, FULL, READ_ONLY, TAMPERED

_Fault = tuple[type[LedgerError], str]

_AGAIN = "Nothing was written; try again, or wait longer."
_SLOW = (LedgerBusyError, f"the server took longer than the time to wait. {_AGAIN}")
_CUT_SHORT = (
    LedgerUnavailableError,
    "the server ends this user's statements before they are done: its own statement_timeout is too short. Nothing was"
    " written; raise it for this user.",
)
_CROWDED = (LedgerBusyError, "all of this process's connections are in use. Nothing was written; wait longer.")
_FULL_HOUSE = (LedgerBusyError, f"the server has as many connections as it allows. {_AGAIN}")
_SILENT = (LedgerUnavailableError, f"the server did not answer within the time to wait. {_AGAIN}")
_LOST = (LedgerUnavailableError, "the connection to the server broke. Nothing was written; try again.")
_IN_DOUBT = (
    LedgerUnavailableError,
    "the connection broke, or the server did not answer, during a commit. A charge may have been recorded;"
    " none was used.",
)
_NO_RIGHT = (
    LedgerReadOnlyError,
    "this user of the server has no right to do that. Nothing was written.",
)
_DAMAGED = (LedgerDamagedError, "the server reports damaged files. Nothing was written; restore it and verify it.")

_STATES: dict[str, _Fault] = {  # the first characters of the SQLSTATE
    "55P03": BUSY,
    "40": BUSY,
    "57014": _SLOW,
    "25006": READ_ONLY,
    "42501": _NO_RIGHT,
    "42P01": FOREIGN,
    "53100": FULL,
    "23": TAMPERED,
    "P0001": TAMPERED,
    "XX001": _DAMAGED,
    "XX002": _DAMAGED,
}

_NO_HOST = (LedgerUnavailableError, "there is no such host. Nothing was written; check the host in its URL.")
_NO_SERVER = (LedgerUnavailableError, "no server answers there. Nothing was written; check host and port in its URL.")
_NO_DATABASE = (LedgerUnavailableError, "the server has no such database. Nothing was written; check its URL.")
_NOBODY = (LedgerUnavailableError, "the server does not let this user in. Nothing was written; check its URL.")
_NOT_READY = (LedgerUnavailableError, "the server is starting or stopping. Nothing was written; try again later.")
_NO_WAY = (LedgerUnavailableError, "the server cannot be reached, or lets nobody in. Nothing was written.")

_REFUSALS: tuple[tuple[str, _Fault], ...] = (
    ("too many clients|connection slots are|too many connections for|no more connections allowed", _FULL_HOUSE),
    ("system is (starting up|shutting down|in recovery)|not yet accepting connections", _NOT_READY),
    ("authentication failed|no password supplied|pg_hba|not permitted to log in|permission denied", _NOBODY),
    ('role ".*" does not exist|no such user', _NOBODY),
    ('database ".*" does not exist|no such database', _NO_DATABASE),
    ("connection refused|no such file or directory|cannot connect to server", _NO_SERVER),
    ("resolve host|translate host name|name or service not known|name resolution", _NO_HOST),
)
"""Patterns in the driver's text, because libpq gives no SQLSTATE for a refused connection. If the server speaks another
language than English, the message is general, but never wrong about whether something was written."""


def refused(error: Exception, ledger: str) -> LedgerError:
    """The error for a connection that could not be made."""
    kind, text = _refusal(error)
    return kind(ledger, text)


def is_passing(error: Exception) -> bool:
    """Whether the next attempt to connect may succeed."""
    return _refusal(error) in (_FULL_HOUSE, _NOT_READY)


def failed(error: Exception, ledger: str, *, committing: bool = False, beginning: bool = False) -> LedgerError:
    """The error for a failed transaction.

    Args:
        error: what the driver raised.
        ledger: the ledger's address in messages.
        committing: whether the server had been asked to commit.
        beginning: whether the transaction had not set its own time limits yet.
    """
    kind, text = _failure(error, committing=committing)
    kind, text = _CUT_SHORT if beginning and (kind, text) == _SLOW else (kind, text)
    return kind(ledger, text)


def _refusal(error: Exception) -> _Fault:
    if isinstance(error, (NoAnswerError, psycopg.errors.ConnectionTimeout)):
        return _SILENT
    return next((fault for signs, fault in _REFUSALS if re.search(signs, str(error), re.IGNORECASE)), _NO_WAY)


def _failure(error: Exception, *, committing: bool) -> _Fault:
    if isinstance(error, NoConnectionError):
        return _CROWDED
    cause = error.orig if isinstance(error, DBAPIError) else error
    if not isinstance(cause, psycopg.Error):
        return _IN_DOUBT if committing else _other(None)
    if committing and cause.diag.severity_nonlocalized != "ERROR":  # the server did not answer that it rolled back
        return _IN_DOUBT
    if isinstance(cause, NoAnswerError):
        return _SILENT
    state = cause.sqlstate
    known = [fault for prefix, fault in _STATES.items() if state is not None and state.startswith(prefix)]
    if not known and isinstance(cause, psycopg.OperationalError) and (state or "08").startswith(("08", "57P")):
        return _LOST
    return known[0] if known else _other(state)


def _other(state: str | None) -> _Fault:
    said = "" if state is None else f" (SQLSTATE {state})"
    return LedgerUnavailableError, f"the server could not do what it was asked for{said}. Nothing was written."
