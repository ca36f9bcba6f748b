"""A ledger's database, in a file here or on a server: its transactions and its locks.

SQLite's locks belong to a process, and SQLite remembers which ones it holds. A child that used an inherited connection
would write without the locks that it believes it holds, and a mutex of SQLite that another thread held during the fork
would stay locked in the child for ever. So a fork waits until no connection is being opened or returned, and closes the
idle ones. A child is refused if its parent was using a ledger during the fork.
"""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, cast
from weakref import WeakSet

import sqlalchemy as sa
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.pool import QueuePool

from dpselect.errors import (
    LedgerBusyError,
    LedgerDamagedError,
    LedgerError,
    LedgerUnavailableError,
    MissingExtraError,
)
from dpselect.ledger.arguments import Address
from dpselect.ledger.sqlite_file import (
    CLOSED,
    FileConnection,
    Identity,
    identity_of,
    refuse_lost,
    size_of,
    standing_still,
    translated,
    uri_of,
)

_FORKED = (
    "this process was forked from one that was using a ledger at that moment, in another thread, and cannot lock it"
    " safely. Nothing was written; start such processes by 'spawn' or 'forkserver', or fork before ledgers are used."
)


def raw_of(connection: sa.Connection) -> FileConnection:
    """The connection of SQLite's driver."""
    return cast(FileConnection, connection.connection.dbapi_connection)


_guard = threading.RLock()
"""Held while a connection is opened, closed or returned, and while the process forks."""
_all: WeakSet[SqliteDatabase] = WeakSet()
_used: WeakSet[object] = WeakSet()
"""Weak references: after an interrupt, an object counts as in use only while somebody can still use it."""
_is_forked_amid_use = False


def _before_fork() -> None:
    _guard.acquire()  # nobody opens or returns a connection until the fork is over
    for each in list(_all):
        each.close_idle()


def _in_parent() -> None:
    _guard.release()


def _in_child() -> None:
    global _guard, _is_forked_amid_use
    _guard = threading.RLock()
    _is_forked_amid_use |= bool(_used)
    _used.clear()


if hasattr(os, "register_at_fork"):  # Windows has no forks
    os.register_at_fork(before=_before_fork, after_in_parent=_in_parent, after_in_child=_in_child)


_CROWDED = "another thread of this process holds its lock. Nothing was written; try again, or wait longer."
_UNNAMED = "not even the names of its tables can be read. Nothing was written; restore it and verify it."
_DURABLE = (
    "PRAGMA synchronous=EXTRA",  # FULL, and for a file without a write-ahead log its folder too
    "PRAGMA fullfsync=ON",  # macOS: an fsync alone stops at the disk's own memory; elsewhere these two change nothing
    "PRAGMA checkpoint_fullfsync=ON",
)


class SqliteDatabase:
    """The way to one file. Safe to use from several threads.

    A forked process may go on using it, unless it was forked while another thread was using a SQLite file; then it is
    refused. All links in `path` are followed; `shown` is how messages speak of it.
    """

    def __init__(self, path: Path, shown: str, *, wait: float, read_only: bool) -> None:
        self._path, self.shown, self._wait, self._read_only = path, shown, wait, read_only
        # A pool size of 0 means no limit: threads never wait for a connection, only for their turn to write.
        self._engine = sa.create_engine(
            "sqlite://", creator=self._open, poolclass=QueuePool, pool_size=0, pool_use_lifo=True
        )
        self._turn = threading.RLock()  # one that knows its owner: see `writing`
        self._opened: Identity | None = None
        with _guard:
            _all.add(self)

    def close_idle(self) -> None:
        """Close the idle connections."""
        with _guard:  # not `engine.dispose`: connections in use would return to a pool that is never closed
            self._engine.pool.dispose()

    def close(self) -> None:
        """Let go of connections; the next use opens new ones."""
        self.close_idle()
        self._opened = None

    @contextmanager
    def reading(self) -> Generator[sa.Connection]:
        """A transaction that sees one state of the file and does not wait for writers."""
        with self._connected() as connection:
            raw = raw_of(connection)
            connection.exec_driver_sql("BEGIN")
            raw.refuse_replaced()
            try:
                yield connection
            finally:
                raw.refuse_moved()  # also where what was read looked damaged
            raw.refuse_lost_log()

    @contextmanager
    def writing(self, *, create: bool = False) -> Generator[sa.Connection]:
        """A transaction that is the only writer from its start, and on disk when the block ends without an error."""
        if create:
            self._create_file()
        with self._connected() as connection:
            raw = raw_of(connection)
            try:
                if not self._turn.acquire(timeout=self._wait):  # SQLite's own queue is no queue: threads would starve
                    raise LedgerBusyError(self.shown, _CROWDED)
                connection.exec_driver_sql("BEGIN IMMEDIATE")
                raw.refuse_replaced()  # while it is certain that nothing is written
                yield connection
                raw.refuse_replaced()
                connection.commit()
                raw.refuse_lost_log()
            except BaseException:
                raw.release()  # before it is another's turn
                raise
            finally:
                with suppress(RuntimeError):  # not acquired: it timed out, or an interrupt came first
                    self._turn.release()

    def checkpoint(self) -> None:
        """Copy what was committed from the write-ahead log into the file, so that both have to be lost to lose it.

        It is in the log already: where this fails, nothing is missing, and whoever writes next is told why.
        """
        with suppress(LedgerError), self._connected() as connection:
            connection.exec_driver_sql("PRAGMA wal_checkpoint(PASSIVE)")

    @contextmanager
    def _connected(self) -> Generator[sa.Connection]:
        """A connection for this block alone; closed for good if the block fails.

        It counts as in use until it is closed, because SQLite may hold locks through it.
        """
        try:
            with _guard:
                if _is_forked_amid_use:
                    raise LedgerUnavailableError(self.shown, _FORKED)
                connection = self._engine.connect()
                _used.add(connection)
            try:
                raw = raw_of(connection)
                if raw.process != os.getpid():  # forked without Python's hooks
                    raise LedgerUnavailableError(self.shown, _FORKED)
                refuse_lost(cast(Identity, raw.identity), ledger=self.shown)
                yield connection
                if raw.still is not None:
                    connection.invalidate()  # SQLite would not read the file again, and would miss what others write
            except BaseException:
                connection.invalidate()
                raise
            finally:
                with _guard:
                    connection.close()
                    _used.discard(connection)
        except (SQLAlchemyError, sqlite3.Error) as error:
            raise translated(error, self.shown) from None
        except UnicodeDecodeError:  # SQLite quotes a damaged schema in its message, which Python then cannot read
            raise LedgerDamagedError(self.shown, _UNNAMED) from None

    def _open(self) -> FileConnection:
        found = identity_of(self._path, ledger=self.shown)
        refuse_lost(found, ledger=self.shown)
        self._opened = self._opened or found  # that of the first connection, until `close`
        still = standing_still(self._path, ledger=self.shown)
        options = {"mode": "ro" if self._read_only else "rw"}
        connection = sqlite3.connect(
            uri_of(self._path, **(options if still is None else {"mode": "ro", "immutable": "1"})),
            uri=True,
            timeout=self._wait,
            isolation_level=None,
            check_same_thread=False,
            factory=FileConnection,
        )
        connection.opened(self._path, self.shown, self._opened, still).text_factory = _text
        for setting in _DURABLE:
            connection.execute(setting)
        connection.execute("PRAGMA foreign_keys=ON")
        return connection

    def _create_file(self) -> None:
        """For its owner alone, with a write-ahead log: a commit is one write, and readers do not wait for it."""
        if self._read_only or size_of(self._path):
            return
        try:
            with _guard, suppress(FileExistsError):
                os.close(os.open(self._path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        except OSError:
            raise CLOSED.of(self.shown) from None
        with self._connected() as connection:
            connection.exec_driver_sql("PRAGMA journal_mode=WAL")


def _text(raw: bytes) -> str | bytes:
    """A text of SQLite. Text that is not UTF-8 stays bytes, so that readers of the row do not take it for text."""
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return raw


if TYPE_CHECKING:
    from dpselect.ledger.postgres import Server


def database_at(address: Address, *, wait: float, table: str) -> SqliteDatabase | Server:
    """The database at an address; on a server `table` tells which schema all tables are in.

    It gives out transactions, and turns the driver's errors into a `LedgerError`. On SQLite one that writes is alone
    from its start; on PostgreSQL reading an account in it locks the account's row.
    """
    if address.path is not None:
        return SqliteDatabase(address.path, address.shown, wait=wait, read_only=address.read_only)
    try:
        from dpselect.ledger.postgres import Server
    except ModuleNotFoundError:
        raise MissingExtraError("ledgers on PostgreSQL", "postgres") from None
    return Server(address.url, address.shown, wait=wait, table=table)


def has_table(connection: sa.Connection, table: str) -> bool:
    """Whether the schema of the ledger's tables has a table of this name."""
    return sa.inspect(connection).has_table(table, schema=schema_of(connection))


def schema_of(connection: sa.Connection) -> str | None:
    """The schema of the tables on a server, from its `search_path`; None for a file."""
    return connection.get_execution_options().get("schema_translate_map", {}).get(None)
