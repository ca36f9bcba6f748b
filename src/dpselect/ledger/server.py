"""Transactions on a PostgreSQL server that depend on no setting of the session, the role, the database or the server.

Each transaction sets its own isolation, timeouts and durability. So each may run in another session of the server, as
with a pooler such as pgbouncer.
"""

from __future__ import annotations

import math
import os
import threading
import warnings
from collections.abc import Generator, Iterable, Mapping
from contextlib import contextmanager, suppress
from time import monotonic, sleep
from typing import Any, cast

import psycopg
import sqlalchemy as sa
from sqlalchemy import event
from sqlalchemy.exc import SQLAlchemyError

from dpselect.ledger.server_connections import NoAnswerError, PatientConnection, connected
from dpselect.ledger.server_errors import failed, is_passing, refused

_GRACE = 0.5
"""Seconds beyond the time to wait, for the server's own work when nobody holds a lock."""
_TO_COMMIT = 0.25
"""Seconds that a commit gets at least: if a client gives up after sending it, its outcome is unknown."""
_PAUSE = 0.05

_PIN = """\
SELECT pg_catalog.current_setting('fsync'), place, is_found,
 pg_catalog.set_config('search_path', CASE WHEN place IS NULL THEN '' ELSE 'pg_catalog, pg_temp' END, true),
 pg_catalog.set_config('lock_timeout', %s, true), pg_catalog.set_config('statement_timeout', %s, true),
 pg_catalog.set_config('synchronous_commit', CASE WHEN pg_catalog.current_setting('synchronous_commit')
 OPERATOR(pg_catalog.=) ANY (ARRAY['off', 'local']) THEN 'on'
 ELSE pg_catalog.current_setting('synchronous_commit') END, true)
"""
_FOUND = """
 FROM (SELECT TRUE AS is_found, %s AS place LIMIT 1) AS found"""
_FIND = """
 FROM (SELECT pg_catalog.to_regclass(%s) IS NOT NULL AS is_found,
 COALESCE((SELECT nspname FROM pg_catalog.pg_class JOIN pg_catalog.pg_namespace AS held
 ON held.oid OPERATOR(pg_catalog.=) relnamespace
 WHERE pg_class.oid OPERATOR(pg_catalog.=) pg_catalog.to_regclass(%s)), pg_catalog.current_schema()) AS place
 LIMIT 1) AS found"""
"""Settings for this transaction only. With a standby, `synchronous_commit` may be stricter than `on`.

The user's `search_path` says once where the tables are, or where to create them. From then on they are named with their
schema, and all other names (operators, functions, types) are looked up only among the server's own. Otherwise another
user's operator in the tables' schema could fit an argument more exactly than the server's, and would be called.
"""


class Server:
    """One database on a server. Safe to use from several threads, and in a forked process.

    Args:
        url: URL of the database, with the driver to use.
        shown: its address in messages.
        wait: seconds to wait for a connection, a lock or an answer.
        table: one of the tables to use; all are in the same schema.
    """

    def __init__(self, url: sa.URL, shown: str, *, wait: float, table: str) -> None:
        self._url, self._shown, self._wait, self._table = url, shown, wait, table
        self._process, self._lock = os.getpid(), threading.Lock()
        self._due = threading.local()  # when this thread has to have a connection
        self._has_warned = False
        self._place: str | None = None  # the schema of the tables, once they exist
        options = self._options()
        self._engine = sa.create_engine(url, pool_timeout=wait, connect_args=options, use_native_hstore=False)
        event.listen(self._engine, "do_connect", self._connect)

    def close(self) -> None:
        """Close the connections. The next use opens new ones and looks up the tables' schema again."""
        self._engine.dispose()
        self._place = None

    @contextmanager
    def reading(self) -> Generator[sa.Connection]:
        """A transaction that sees one state. It may take long, but each answer has a time limit."""
        with self._begun(psycopg.IsolationLevel.REPEATABLE_READ, is_reader=True) as connection:
            try:
                yield connection
            except SQLAlchemyError as error:
                raise failed(error, self._shown) from None

    @contextmanager
    def writing(self) -> Generator[sa.Connection]:
        """A transaction that is committed if the block ends without an error.

        Each statement sees what was committed before it, whatever the server's default. So whoever gets the lock of an
        account reads what the last holder wrote; a stricter isolation would fail instead.
        """
        with self._begun(psycopg.IsolationLevel.READ_COMMITTED, is_reader=False) as connection:
            session = _session(connection)
            try:
                yield connection
                session.refuse_late()
            except (SQLAlchemyError, NoAnswerError) as error:
                raise failed(error, self._shown) from None
            session.deadline = max(session.deadline, monotonic() + _TO_COMMIT)
            try:
                connection.commit()
            except SQLAlchemyError as error:
                raise failed(error, self._shown, committing=True) from None

    @contextmanager
    def _begun(self, isolation: psycopg.IsolationLevel, *, is_reader: bool) -> Generator[sa.Connection]:
        self._leave_to_parent()
        try:
            connection, fsync = self._pinned(isolation, is_reader=is_reader)
        except (SQLAlchemyError, psycopg.Error) as error:
            raise failed(error, self._shown, beginning=True) from None
        try:
            self._warn_of(fsync)
            yield connection
        finally:
            with suppress(SQLAlchemyError):  # committed already, or undone with its lost connection
                connection.rollback()
            if not connection.invalidated:
                _session(connection).deadline = math.inf
            connection.close()

    def _pinned(self, isolation: psycopg.IsolationLevel, *, is_reader: bool) -> tuple[sa.Connection, str]:
        """A connection with a new transaction, and the server's `fsync` setting.

        The server may have closed a pooled connection since its last use, for example when it restarted. Only the start
        of a transaction was sent through it, so another connection is taken.
        """
        until = monotonic() + self._wait
        self._due.deadline = until + _GRACE
        while True:
            connection = self._engine.connect()
            session = _session(connection)
            was_used, session.was_used = session.was_used, True
            session.deadline, session.silence = math.inf if is_reader else until + _GRACE, self._wait + _GRACE
            try:
                session.isolation_level, session.read_only = isolation, is_reader or None
                known = self._place
                where = (_FIND, self._table, self._table) if known is None else (_FOUND, known)
                pinned = connection.exec_driver_sql(_PIN + where[0], (*self._timeouts(until), *where[1:])).one()
                fsync, place, is_found, *_ = pinned
                self._place = place if is_found else None
                return connection.execution_options(schema_translate_map={None: place}), fsync
            except BaseException as error:
                is_lost = session.closed and isinstance(error, (SQLAlchemyError, psycopg.Error))
                if is_lost:
                    connection.invalidate()
                connection.close()
                if not (was_used and is_lost and monotonic() < until + _GRACE):
                    raise

    def _timeouts(self, until: float) -> tuple[str, str]:
        """In milliseconds: the remaining time to wait for a lock, and a little more than all of it for a statement."""
        lock = max(1, round(1000 * (until - monotonic())))
        return str(lock), str(round(1000 * (self._wait + _GRACE)))

    def _connect(
        self, _dialect: object, _record: object, arguments: Iterable[Any], options: Mapping[str, Any]
    ) -> PatientConnection:
        """A new connection. While the server has no room for it, it is waited for like a lock."""
        due: float = self._due.deadline
        while True:
            try:
                return connected(arguments, options, deadline=due, silence=self._wait + _GRACE)
            except (psycopg.Error, OSError, ValueError) as error:
                if not is_passing(error) or monotonic() + _PAUSE > due - _GRACE:
                    raise refused(error, self._shown) from None
            sleep(_PAUSE)

    def _options(self) -> dict[str, object]:
        """Options of a connection: give up an unreachable server after `wait`, unless the URL says otherwise.

        Text is UTF-8, whatever the role or the environment prefers. No statement is prepared on the server: it would
        belong to a session that a pooler may have given to somebody else since.
        """
        seconds = max(2, math.ceil(self._wait))
        patience = {"connect_timeout": seconds, "tcp_user_timeout": 1000 * seconds, "keepalives_idle": seconds}
        unsaid = {name: value for name, value in patience.items() if name not in self._url.query}
        return {**unsaid, "client_encoding": "UTF8", "prepare_threshold": None}

    def _warn_of(self, fsync: str) -> None:
        if fsync == "off" and not self._has_warned:
            self._has_warned = True
            text = "its server has fsync off: a power cut can undo charges, or destroy the ledger. Turn it on."
            warnings.warn(f"ledger {self._shown}: {text}", RuntimeWarning, stacklevel=2)

    def _leave_to_parent(self) -> None:
        """Abandon inherited connections in a forked process: they are the parent's."""
        if os.getpid() != self._process:
            with self._lock:
                if os.getpid() != self._process:
                    self._engine.dispose(close=False)
                    self._process = os.getpid()


def _session(connection: sa.Connection) -> PatientConnection:
    return cast(PatientConnection, connection.connection.dbapi_connection)
