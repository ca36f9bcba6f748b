"""Transactions on a PostgreSQL server that depend on no setting of the session, the role, the database or the server.

Each may run in another session, as with a pooler. A stopped server still has its sockets, and the system acknowledges
what arrives: so connections give up by their own clock. Errors say whether something may have been written.
"""

from __future__ import annotations

import functools
import math
import re
import threading
import warnings
from collections.abc import Generator, Mapping
from concurrent.futures import Future
from contextlib import contextmanager, suppress
from time import monotonic, sleep
from typing import Any

import psycopg
from psycopg.abc import RV, PQGen
from psycopg.conninfo import conninfo_to_dict
from psycopg.rows import TupleRow

from dpselect.errors import LedgerBusyError, LedgerDamagedError, LedgerReadOnlyError
from dpselect.ledger.sqlite import BUSY, FOREIGN, FULL, READ_ONLY, TAMPERED, Address, Fault, Transaction

NoAnswerError = psycopg.errors.ConnectionTimeout  # the server said nothing until the deadline

_AGAIN = "Nothing was written; try again, or wait longer."
_SLOW = Fault(f"the server took longer than the time to wait. {_AGAIN}", LedgerBusyError)
_CUT_SHORT = Fault(
    "the server ends this user's statements before they are done: its own statement_timeout is too short. Nothing was"
    " written; raise it for this user."
)
_FULL_HOUSE = Fault(f"the server has as many connections as it allows. {_AGAIN}", LedgerBusyError)
_SILENT = Fault(f"the server did not answer within the time to wait. {_AGAIN}")
_LOST = Fault("the connection to the server broke. Nothing was written; try again.")
_IN_DOUBT = Fault(
    "the connection broke, or the server did not answer, during a commit. A charge may have been recorded;"
    " none was used."
)
_NO_RIGHT = Fault("this user of the server has no right to do that. Nothing was written.", LedgerReadOnlyError)
_DAMAGED = Fault("the server reports damaged files. Nothing was written; restore it and verify it.", LedgerDamagedError)

_STATES: dict[str, Fault] = {  # the first characters of the SQLSTATE
    "55P03": BUSY,
    "40": BUSY,
    "57014": _SLOW,
    "08": _LOST,
    "57P": _LOST,
    "25006": READ_ONLY,
    "42501": _NO_RIGHT,
    "42P01": FOREIGN,
    "53100": FULL,
    "23": TAMPERED,
    "P0001": TAMPERED,
    "XX001": _DAMAGED,
    "XX002": _DAMAGED,
}

_NO_HOST = Fault("there is no such host. Nothing was written; check the host in its URL.")
_NO_SERVER = Fault("no server answers there. Nothing was written; check host and port in its URL.")
_NO_DATABASE = Fault("the server has no such database. Nothing was written; check its URL.")
_NOBODY = Fault("the server does not let this user in. Nothing was written; check its URL.")
_NOT_READY = Fault("the server is starting or stopping. Nothing was written; try again later.")
_NO_WAY = Fault("the server cannot be reached, or lets nobody in. Nothing was written.")

_REFUSALS: tuple[tuple[str, Fault], ...] = (
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


def refused(error: Exception) -> Fault:
    """What is wrong if a connection could not be made."""
    if isinstance(error, NoAnswerError):
        return _SILENT
    return next((fault for signs, fault in _REFUSALS if re.search(signs, str(error), re.IGNORECASE)), _NO_WAY)


def failed(error: psycopg.Error, moment: str = "") -> Fault:
    """What is wrong if a transaction failed: "committing", or "beginning", when it had no limits of time yet."""
    if moment == "committing" and error.diag.severity_nonlocalized != "ERROR":
        return _IN_DOUBT  # the server did not answer that it rolled back
    if isinstance(error, NoAnswerError):
        return _SILENT
    state = error.sqlstate
    if isinstance(error, psycopg.OperationalError) and state is None:
        return _LOST
    for prefix, fault in _STATES.items():
        if (state or "").startswith(prefix):
            return _CUT_SHORT if moment == "beginning" and fault is _SLOW else fault
    said = "" if state is None else f" (SQLSTATE {state})"
    return Fault(f"the server could not do what it was asked for{said}. Nothing was written.")


class PatientConnection(psycopg.Connection[TupleRow]):
    """A connection that is closed if an answer takes too long.

    A server that resumes later rolls back what it was not asked to commit by then: all that it can still read is that
    the client has left.
    """

    deadline: float = math.inf  # by `time.monotonic`; after it no answer is awaited and nothing more is sent
    silence: float = math.inf  # the most seconds that one answer may take, also without a deadline

    def wait(self, gen: PQGen[RV], *args: Any, **kwargs: Any) -> RV:
        """Wait for an answer as psycopg does, but only until the deadline."""
        return super().wait(self._in_time(gen, min(self.deadline, monotonic() + self.silence)), *args, **kwargs)

    def refuse_late(self, due: float = math.inf) -> None:
        """Give up at the deadline, or when an answer is `due`."""
        if monotonic() >= min(due, self.deadline):
            self.pgconn.finish()
            raise NoAnswerError("no answer in time")

    def _in_time(self, gen: PQGen[RV], due: float) -> PQGen[RV]:
        self.refuse_late()
        try:
            awaited = next(gen)
            while True:
                awaited = gen.send((yield awaited))  # read what has arrived before looking at the clock
                self.refuse_late(due)
        except StopIteration as done:
            return done.value


def connected(options: Mapping[str, Any], *, deadline: float, silence: float) -> PatientConnection:
    """A new connection, made before the deadline, in a thread of its own, which closes one that comes too late.

    Looking up a host's name cannot be interrupted, and several addresses are waited for one after the other.
    """
    made: Future[PatientConnection] = Future()

    def make() -> None:
        try:
            made.set_result(PatientConnection.connect(**options))
        except Exception as error:  # noqa: BLE001 - raised where it is waited for
            made.set_exception(error.with_traceback(None))  # it holds the password, and an abandoned attempt's socket

    threading.Thread(target=make, name="dpselect-connecting", daemon=True).start()
    try:
        connection = made.result(deadline - monotonic())
    except BaseException as error:
        made.add_done_callback(lambda late: late.exception() or late.result().close())
        if isinstance(error, TimeoutError):
            raise NoAnswerError("no answer in time") from None
        raise
    connection.deadline, connection.silence = deadline, silence
    return connection


_GRACE = 0.5  # seconds beyond the time to wait, for the server's own work when nobody holds a lock
_PAUSE = 0.05

_PIN = """\
SELECT pg_catalog.current_setting('fsync'), place, is_found,
 pg_catalog.set_config('search_path', CASE WHEN place IS NULL THEN '' ELSE 'pg_catalog, pg_temp' END, true),
 pg_catalog.set_config('lock_timeout', %s, true), pg_catalog.set_config('statement_timeout', %s, true),
 pg_catalog.set_config('synchronous_commit', CASE WHEN pg_catalog.current_setting('synchronous_commit')
 OPERATOR(pg_catalog.=) ANY (ARRAY['off', 'local']) THEN 'on'
 ELSE pg_catalog.current_setting('synchronous_commit') END, true)
 FROM (SELECT known IS NOT NULL OR pg_catalog.to_regclass('dpselect_ledger') IS NOT NULL AS is_found,
 COALESCE(known, (SELECT nspname FROM pg_catalog.pg_class JOIN pg_catalog.pg_namespace AS held
 ON held.oid OPERATOR(pg_catalog.=) relnamespace
 WHERE pg_class.oid OPERATOR(pg_catalog.=) pg_catalog.to_regclass('dpselect_ledger')), pg_catalog.current_schema())
 AS place FROM (SELECT CAST(%s AS pg_catalog.text) AS known) AS given LIMIT 1) AS found"""
"""Settings for this transaction only. With a standby, `synchronous_commit` may be stricter than `on`.

The user's `search_path` says once where the tables are, or where to create them. From then on they are named with their
schema, and all other names (operators, functions, types) are looked up only among the server's own. Otherwise another
user's operator in the tables' schema could fit an argument more exactly than the server's, and would be called.
"""


_TABLE, _VALUE = re.compile(r"\bdpselect_(?:ledger|accounts|entries|releases|refuse)\b"), re.compile(r":(\w+)")


@functools.lru_cache(maxsize=64)
def _written(statement: str, schema: str) -> str:
    """A statement as psycopg takes it, with the schema before each table."""
    place = '"{}".'.format(schema.replace('"', '""').replace("%", "%%")) if schema else ""
    return _TABLE.sub(lambda found: place + found[0], _VALUE.sub(r"%(\1)s", statement.replace("%", "%%")))


class ServerTransaction(Transaction):
    """One transaction on a server, with its tables in this schema."""

    lock = " FOR UPDATE"

    def __init__(self, raw: PatientConnection, schema: str) -> None:
        super().__init__(raw)
        self._schema = schema

    def execute(self, statement: str, **values: object) -> list[dict[str, Any]]:
        return super().execute(_written(statement, self._schema), **values)

    def has_table(self, name: str) -> bool:
        found = "SELECT 1 FROM pg_tables WHERE schemaname = :schema AND tablename = :name"
        return bool(self.execute(found, name=name, schema=self._schema))


class Server:
    """One database on a server. Safe to use from several threads, and in a forked process.

    Each transaction has a connection of its own: none that a restart, a pooler or a fork could have spoiled meanwhile.
    """

    def __init__(self, address: Address, *, wait: float) -> None:
        self._url, self.shown, self._wait = str(address.place), address.shown, wait
        self._has_warned = False
        self._place: str | None = None  # the schema of the tables, once they exist

    def close(self) -> None:
        """Forget in which schema the tables are."""
        self._place = None

    @contextmanager
    def transaction(self, *, write: bool = False) -> Generator[Transaction]:
        """A transaction that sees one state; or with `write` one that is committed if the block ends without an error.

        A reader may take long, but each answer has a time limit. Whoever gets the lock of an account reads what the
        last holder wrote; a stricter isolation would fail instead.
        """
        session, moment = self._connected(), "beginning"
        try:
            left = session.deadline - _GRACE - monotonic()
            session.deadline = session.deadline if write else math.inf
            level = psycopg.IsolationLevel
            session.isolation_level = level.READ_COMMITTED if write else level.REPEATABLE_READ
            session.read_only = None if write else True
            limits = [str(max(1, round(1000 * each))) for each in (left, self._wait + _GRACE)]
            pinned: Any = session.execute(_PIN.encode(), (*limits, self._place)).fetchone()
            fsync, place, is_found, *_ = pinned
            moment = ""
            self._place = place if is_found else None
            if fsync == "off" and not self._has_warned:
                self._has_warned = True
                text = "its server has fsync off: a power cut can undo charges, or destroy the ledger. Turn it on."
                warnings.warn(f"ledger {self.shown}: {text}", RuntimeWarning, stacklevel=2)
            yield ServerTransaction(session, place or "")
            if write:
                session.refuse_late()
                # If a client gives up after sending a commit, its outcome is unknown, so it gets some time at least.
                session.deadline = max(session.deadline, monotonic() + 0.25)
                moment = "committing"
                session.commit()
        except psycopg.Error as error:
            raise failed(error, moment).of(self.shown) from None
        finally:
            with suppress(psycopg.Error):  # committed already, or undone with its lost connection
                session.rollback()
            session.close()

    def _connected(self) -> PatientConnection:
        """A new connection. While the server has no room for it, it is waited for like a lock.

        An unreachable server is given up after `wait`, unless the URL says otherwise. No statement is prepared: it
        would belong to a session that a pooler may have given to somebody else since.
        """
        until, seconds = monotonic() + self._wait, max(2, math.ceil(self._wait))
        patience = {"connect_timeout": seconds, "tcp_user_timeout": 1000 * seconds, "keepalives_idle": seconds}
        while True:
            try:
                asked = conninfo_to_dict(self._url)
                options = {**patience, **asked, "client_encoding": "UTF8", "prepare_threshold": None}
                return connected(options, deadline=until + _GRACE, silence=self._wait + _GRACE)
            except (psycopg.Error, OSError, ValueError) as error:
                fault = refused(error)
                if fault not in (_FULL_HOUSE, _NOT_READY) or monotonic() + _PAUSE > until:
                    raise fault.of(self.shown) from None
            sleep(_PAUSE)
