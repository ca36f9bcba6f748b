"""Transactions on a PostgreSQL server that depend on no setting of the session, the role, the database or the server.

Each transaction says for itself how it wants to be isolated, how long it waits and how safely it is kept. So every
transaction may get another session of the server, as a pooler such as pgbouncer hands them out.
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
"""Seconds beyond the time to wait, for a call that does not wait for anybody: those that the server itself needs."""
_TO_COMMIT = 0.25
"""Seconds that a commit has at least: once it was asked for, who gives up does not know what became of it."""
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
"""For this transaction only. On a standby, `synchronous_commit` may ask for more than `on`.

The user's `search_path` says once where the tables are, or are to be made. From then on they are named with their
schema, and what else is named (operators, functions, types) is looked up among the server's own alone. In the tables'
schema others may have an operator that fits an argument more exactly than the server's, and so be called.
"""


class Server:
    """The way to one database on a server. Safe to use from several threads, and in a forked process.

    Args:
        url: of it, with the driver to use.
        shown: how messages speak of it.
        wait: seconds that a call may take, be it for a connection, a lock or an answer.
        table: one of those to be used, which lie in the same schema.
    """

    def __init__(self, url: sa.URL, shown: str, *, wait: float, table: str) -> None:
        self._url, self._shown, self._wait, self._table = url, shown, wait, table
        self._process, self._lock = os.getpid(), threading.Lock()
        self._due = threading.local()  # by when this thread has to have a connection
        self._has_warned = False
        self._place: str | None = None  # the schema of the tables, once they are there
        options = self._options()
        self._engine = sa.create_engine(url, pool_timeout=wait, connect_args=options, use_native_hstore=False)
        event.listen(self._engine, "do_connect", self._connect)

    def close(self) -> None:
        """Let go of connections; the next use opens new ones, and looks up anew where the tables are."""
        self._engine.dispose()
        self._place = None

    @contextmanager
    def reading(self) -> Generator[sa.Connection]:
        """A transaction that sees one state. It may take long, but each of its answers only so long."""
        with self._begun(psycopg.IsolationLevel.REPEATABLE_READ, is_reader=True) as connection:
            try:
                yield connection
            except SQLAlchemyError as error:
                raise failed(error, self._shown) from None

    @contextmanager
    def writing(self) -> Generator[sa.Connection]:
        """A transaction that is committed when the block ends without an error.

        Each statement sees what was committed before it, whatever the server's default: who has got the lock of an
        account then reads what the last holder wrote, where a stricter isolation would have to give up.
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
            raise failed(error, self._shown) from None
        try:
            self._warn_of(fsync)
            yield connection
        finally:
            with suppress(SQLAlchemyError):  # it is committed, or lost with its connection, which undoes it as well
                connection.rollback()
            if not connection.invalidated:
                _session(connection).deadline = math.inf
            connection.close()

    def _pinned(self, isolation: psycopg.IsolationLevel, *, is_reader: bool) -> tuple[sa.Connection, str]:
        """A connection in a transaction of its own, and the server's `fsync`.

        The server may have closed a kept connection since its last use, as when it was started anew. Nothing was
        sent through it but the beginning of a transaction, so another is taken.
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
        """In milliseconds: for a lock what is left of the time to wait, and for any statement a little more."""
        lock = max(1, round(1000 * (until - monotonic())))
        return str(lock), str(round(1000 * (self._wait + _GRACE)))

    def _connect(
        self, _dialect: object, _record: object, arguments: Iterable[Any], options: Mapping[str, Any]
    ) -> PatientConnection:
        """A new connection; one that the server has no room for is waited for as a lock is."""
        due: float = self._due.deadline
        while True:
            try:
                return connected(arguments, options, deadline=due, silence=self._wait + _GRACE)
            except (psycopg.Error, OSError, ValueError) as error:
                if not is_passing(error) or monotonic() + _PAUSE > due - _GRACE:
                    raise refused(error, self._shown) from None
            sleep(_PAUSE)

    def _options(self) -> dict[str, object]:
        """A server that cannot be reached is given up after `wait`, unless the URL says otherwise.

        Text is UTF-8 whatever the role or the environment prefer. Nothing is prepared on the server: it would be in a
        session that a pooler may have given to somebody else since.
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
        """In a forked process the connections to a server are the parent's."""
        if os.getpid() != self._process:
            with self._lock:
                if os.getpid() != self._process:
                    self._engine.dispose(close=False)
                    self._process = os.getpid()


def _session(connection: sa.Connection) -> PatientConnection:
    return cast(PatientConnection, connection.connection.dbapi_connection)
