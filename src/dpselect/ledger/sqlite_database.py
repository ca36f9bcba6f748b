"""Transactions in a SQLite file: full durability, one writer at a time, errors of our own."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import NamedTemporaryFile

import sqlalchemy as sa
from sqlalchemy.exc import SQLAlchemyError

from dpselect.errors import LedgerBusyError, LedgerError, LedgerUnavailableError
from dpselect.ledger.damage import damaged_text
from dpselect.ledger.sqlite_connections import SqliteConnections, in_use, raw_of
from dpselect.ledger.sqlite_errors import translated
from dpselect.ledger.sqlite_file import (
    FileConnection,
    Identity,
    identity_of,
    refuse_lost,
    refuse_lost_log,
    refuse_moved,
    refuse_replaced,
    size_of,
    standing_still,
    uri_of,
)

_CROWDED = "another thread of this process holds its lock. Nothing was written; try again, or wait longer."
_NO_ROOM = "no file can be made in the folder for temporary files (TMPDIR). Nothing was written."
_DURABLE = (
    "PRAGMA synchronous=EXTRA",  # FULL, and for a file without a write-ahead log its folder too
    "PRAGMA fullfsync=ON",  # macOS: an fsync alone stops at the disk's own memory; elsewhere these two change nothing
    "PRAGMA checkpoint_fullfsync=ON",
)


class SqliteDatabase:
    """The way to one file. Safe to use from several threads.

    A forked process may go on using it, unless it was forked while another thread was using a SQLite file; then it is
    refused.

    Args:
        path: of the file, all links followed.
        shown: how messages speak of it.
        wait: seconds to wait for whoever else is writing.
        read_only: whether the caller asked not to write.
    """

    def __init__(self, path: Path, shown: str, *, wait: float, read_only: bool) -> None:
        self._path, self._shown, self._wait, self._read_only = path, shown, wait, read_only
        self._connections = SqliteConnections(shown, self._open)
        self._turn = threading.RLock()  # one that knows its owner: see `writing`
        self._opened: Identity | None = None

    def close(self) -> None:
        """Let go of connections; the next use opens new ones."""
        self._connections.close()
        self._opened = None

    @contextmanager
    def reading(self) -> Generator[sa.Connection]:
        """A transaction that sees one state of the file and does not wait for writers."""
        with self._connected() as connection:
            raw = raw_of(connection)
            connection.exec_driver_sql("BEGIN")
            refuse_replaced(self._path, raw, ledger=self._shown)
            try:
                yield connection
            finally:
                refuse_moved(raw, ledger=self._shown)  # also where what was read looked damaged
            refuse_lost_log(raw, ledger=self._shown)

    @contextmanager
    def writing(self, *, create: bool = False) -> Generator[sa.Connection]:
        """A transaction that is the only writer from its start, and on disk when the block ends without an error."""
        if create:
            self._create_file()
        with self._connected() as connection:
            raw = raw_of(connection)
            try:
                if not self._turn.acquire(timeout=self._wait):  # SQLite's own queue is no queue: threads would starve
                    raise LedgerBusyError(self._shown, _CROWDED)
                connection.exec_driver_sql("BEGIN IMMEDIATE")
                yield connection
                refuse_replaced(self._path, raw, ledger=self._shown)
                connection.commit()
                refuse_lost_log(raw, ledger=self._shown)
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

    def refuse_another_file(self, connection: sa.Connection) -> None:
        """Look for the file once more: the last thing before a commit that can fail for certain, without effect.

        Raises:
            LedgerDamagedError: another file has its name now.
            LedgerUnavailableError: there is none, or it has several names.
        """
        refuse_replaced(self._path, raw_of(connection), ledger=self._shown)

    @contextmanager
    def _connected(self) -> Generator[sa.Connection]:
        try:
            with self._connections.one() as connection:
                yield connection
        except (SQLAlchemyError, sqlite3.Error) as error:
            raise translated(error, self._shown) from None
        except UnicodeDecodeError:  # SQLite quotes a damaged schema in its message, which Python then cannot read
            raise damaged_text(self._shown) from None

    def _open(self) -> FileConnection:
        found = identity_of(self._path, ledger=self._shown)
        refuse_lost(found, ledger=self._shown)
        self._opened = self._opened or found  # that of the first connection, until `close`
        still = standing_still(self._path, ledger=self._shown)
        options = {"mode": "ro" if self._read_only else "rw"}
        connection = sqlite3.connect(
            uri_of(self._path, **(options if still is None else {"mode": "ro", "immutable": "1"})),
            uri=True,
            timeout=self._wait,
            isolation_level=None,
            check_same_thread=False,
            factory=FileConnection,
        )
        connection.opened(self._path, self._opened, still).text_factory = _text
        for setting in _DURABLE:
            connection.execute(setting)
        connection.execute("PRAGMA foreign_keys=ON")
        return connection

    def _create_file(self) -> None:
        """For its owner alone, with a write-ahead log: a commit is one write, and readers do not wait for it."""
        if self._read_only or size_of(self._path):
            return
        try:
            with NamedTemporaryFile(prefix="dpselect-") as private:  # whose permissions SQLite gives the new file
                uri = uri_of(self._path, modeof=private.name)

                def connect() -> FileConnection:
                    opened = sqlite3.connect(uri, uri=True, timeout=self._wait, factory=FileConnection)
                    return opened.opened(self._path)

                with in_use(self._shown, connect, FileConnection.close) as connection:
                    for setting in (*_DURABLE, "PRAGMA journal_mode=WAL"):
                        connection.execute(setting)
        except sqlite3.Error as error:
            raise translated(error, self._shown) from None
        except OSError:
            raise LedgerUnavailableError(self._shown, _NO_ROOM) from None


def _text(raw: bytes) -> str | bytes:
    """A text of SQLite. Text that is not UTF-8 stays bytes, so that readers of the row do not take it for text."""
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return raw
