"""The way to a ledger's database: full durability, one writer at a time, errors of our own."""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import cast
from urllib.parse import quote

import sqlalchemy as sa
from sqlalchemy import event
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.exc import ArgumentError, SQLAlchemyError
from sqlalchemy.pool import QueuePool

from dpselect.errors import InvalidParameterError, MissingExtraError, Shown
from dpselect.ledger.faults import translated
from dpselect.ledger.file import FileConnection, identity_of, refuse_replaced

_SQLITE, _POSTGRES = "sqlite", "postgresql"
_of_parents: list[list[sa.Connection]] = []
_EXPECTED = "a database URL such as 'sqlite:///budget.db' or 'postgresql://user@host/database'"


class Database:
    """Hands out transactions, and turns what the driver raises into a `LedgerError`.

    Safe to use from several threads, and in a process forked from the one that made it.

    Attributes:
        shown: where it is, for messages: no password, and no option, as any option may hold one.
    """

    def __init__(self, url: str | Path, *, wait: float) -> None:
        self._url = _parsed(url)
        self.shown = _without_secrets(self._url)
        self._wait = wait
        self._is_sqlite = self._url.get_backend_name() == _SQLITE
        self._path = _path(self._url) if self._is_sqlite else None
        self._process, self._lock = os.getpid(), threading.Lock()
        self._idle: list[sa.Connection] = []
        self._engine = self._new_engine()

    def __repr__(self) -> str:
        return repr(self.shown)

    @property
    def address(self) -> tuple[str, float]:
        """What it was made from, for a copy in another process."""
        return self._url.render_as_string(hide_password=False), self._wait

    @contextmanager
    def reading(self) -> Generator[sa.Connection]:
        """A transaction that sees one state of the ledger and does not wait for writers."""
        with self._connected() as connection:
            connection.exec_driver_sql(
                "BEGIN" if self._is_sqlite else "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY"
            )
            self._refuse_replaced_file(connection)
            yield connection

    @contextmanager
    def writing(self, *, create: bool = False) -> Generator[sa.Connection]:
        """A transaction that is committed, and on disk, when the block ends without an error; else nothing is.

        On SQLite it is the only writer from its start; on PostgreSQL whoever reads an account in it locks that row.
        """
        if create:
            self._create_file()
        with self._connected() as connection:
            raw = self._raw(connection)
            if raw is not None:  # SQLAlchemy would begin later, and do more
                raw.execute("BEGIN IMMEDIATE")
            yield connection
            self._refuse_replaced_file(connection)
            if raw is None or connection.in_transaction():
                connection.commit()
            else:
                raw.execute("COMMIT")

    def close(self) -> None:
        """Let go of connections; the next use opens new ones."""
        while (connection := self._idle_one()) is not None:
            connection.close()
        self._engine.dispose()

    def is_empty(self, connection: sa.Connection, table: str) -> bool:
        """Whether `table` is not there."""
        return not sa.inspect(connection).has_table(table)

    def lock_whole(self, connection: sa.Connection) -> None:
        """Keep everybody else from creating, migrating or opening until the transaction ends."""
        if not self._is_sqlite:
            connection.exec_driver_sql("SELECT pg_advisory_xact_lock(7234117045221903)")

    @contextmanager
    def _connected(self) -> Generator[sa.Connection]:
        """A connection kept from the last use: taking it from the engine's pool takes longer than writing to disk."""
        if os.getpid() != self._process:
            self._leave_to_parent()
        try:
            connection = self._idle_one() or self._engine.connect()
            try:
                yield connection
            except BaseException:
                connection.close()
                raise
            if connection.in_transaction():
                connection.rollback()
            self._idle.append(connection)
        except (SQLAlchemyError, sqlite3.Error) as error:
            raise translated(error, self.shown) from None

    def _idle_one(self) -> sa.Connection | None:
        try:
            return self._idle.pop()
        except IndexError:
            return None

    def _leave_to_parent(self) -> None:
        """In a forked process: what was open belongs to the parent, and is not even closed here."""
        with self._lock:
            if os.getpid() != self._process:
                _of_parents.append(self._idle)
                self._idle = []
                self._engine.dispose(close=False)
                self._process = os.getpid()

    def _new_engine(self) -> sa.Engine:
        try:
            if self._path is not None:
                engine = sa.create_engine("sqlite://", creator=self._sqlite, poolclass=QueuePool)
            else:
                engine = sa.create_engine(self._url, pool_pre_ping=False)
                event.listen(engine, "connect", self._prepare_postgres)
        except ModuleNotFoundError:
            raise MissingExtraError("ledgers on PostgreSQL", "postgres") from None
        except ArgumentError:
            raise InvalidParameterError("ledger", Shown("<URL>"), _EXPECTED) from None
        return engine

    def _sqlite(self) -> sqlite3.Connection:
        path = cast(Path, self._path)
        mode = "ro" if self._url.query.get("mode") == "ro" else "rw"
        identity = identity_of(path, ledger=self.shown)
        connection = sqlite3.connect(
            f"file:{quote(str(path))}?mode={mode}",
            uri=True,
            timeout=self._wait,
            isolation_level=None,
            check_same_thread=False,
            factory=FileConnection,
        )
        connection.identity = identity
        connection.text_factory = _text
        connection.execute("PRAGMA synchronous=FULL")
        connection.execute("PRAGMA foreign_keys=ON")
        return connection

    def _prepare_postgres(self, connection: DBAPIConnection, _record: object) -> None:
        cursor = connection.cursor()
        cursor.execute(f"SET lock_timeout = {max(1, round(self._wait * 1000))}")
        cursor.execute(
            "SELECT set_config('synchronous_commit', 'on', false)"
            " WHERE current_setting('synchronous_commit') IN ('off', 'local')"
        )
        cursor.close()
        connection.commit()

    def _raw(self, connection: sa.Connection) -> FileConnection | None:
        return cast(FileConnection, connection.connection.dbapi_connection) if self._is_sqlite else None

    def _refuse_replaced_file(self, connection: sa.Connection) -> None:
        if self._path is not None:
            opened = cast(FileConnection, self._raw(connection))
            refuse_replaced(self._path, opened.identity, ledger=self.shown)

    def _create_file(self) -> None:
        """A write-ahead log: a commit is one write that reaches the disk, and readers do not wait for it."""
        if self._path is None or self._path.exists() or self._url.query.get("mode") == "ro":
            return
        try:
            with sqlite3.connect(self._path, timeout=self._wait, isolation_level=None) as connection:
                connection.execute("PRAGMA journal_mode=WAL")
            connection.close()
        except sqlite3.Error as error:
            raise translated(error, self.shown) from None


def _text(raw: bytes) -> str | bytes:
    """A text of SQLite's; what is not UTF-8 stays bytes, which are no text to whoever reads the row."""
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return raw


def _parsed(url: object) -> sa.URL:
    if isinstance(url, Path):
        url = f"sqlite:///{url}"
    if not isinstance(url, str):
        raise InvalidParameterError("ledger", url, _EXPECTED)
    before, _, options = url.partition("?")
    if url.startswith(_POSTGRES) and (before.count("@") > 1 or "@" in options):
        raise InvalidParameterError(
            "ledger", Shown("<URL>"), _EXPECTED, "In names and passwords write @ as %40, ? as %3F."
        )
    try:
        parsed = sa.make_url(url)
        backend = parsed.get_backend_name()
    except (ArgumentError, ValueError):
        raise InvalidParameterError("ledger", Shown("<text>"), _EXPECTED) from None
    if backend not in (_SQLITE, _POSTGRES):
        raise InvalidParameterError("ledger", Shown(f"<{backend} URL>"), _EXPECTED)
    if backend == _POSTGRES:
        parsed = parsed.set(drivername="postgresql+psycopg")
    return parsed


def _without_secrets(url: sa.URL) -> str:
    """A password can also stand in an option, by itself or in a text of options; so none is shown."""
    if url.get_backend_name() == _SQLITE:
        return f"{_SQLITE}:///{url.database}"
    shown = sa.URL.create(_POSTGRES, username=url.username, host=url.host, port=url.port, database=url.database)
    return shown.render_as_string(hide_password=True)


def _path(url: sa.URL) -> Path:
    if set(url.query) - {"mode"} or url.query.get("mode", "rw") not in ("ro", "rw"):
        raise InvalidParameterError("ledger", Shown("<URL with another option>"), "no option but ?mode=ro")
    if not url.database or url.database == ":memory:":
        hint = "A ledger has to outlive the process that writes it."
        raise InvalidParameterError("ledger", Shown("<in memory>"), _EXPECTED, hint)
    return Path(url.database)
