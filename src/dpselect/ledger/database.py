"""The way to a ledger's database: full durability, one writer at a time, errors of our own."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Generator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import TYPE_CHECKING, cast

import sqlalchemy as sa
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.pool import NullPool

from dpselect.errors import LedgerBusyError, LedgerUnavailableError, MissingExtraError
from dpselect.ledger.addresses import Address
from dpselect.ledger.damage import damaged_text
from dpselect.ledger.faults import translated
from dpselect.ledger.file import (
    FileConnection,
    Identity,
    identity_of,
    refuse_lost_log,
    refuse_moved,
    refuse_replaced,
    size_of,
    standing_still,
    uri_of,
)
from dpselect.ledger.kept import Kept, in_use

if TYPE_CHECKING:
    from dpselect.ledger.server import Server

_CROWDED = "another thread of this process holds its lock. Nothing was written; try again, or wait longer."
_NO_ROOM = "no file can be made in the folder for temporary files (TMPDIR). Nothing was written."
_DURABLE = (
    "PRAGMA synchronous=EXTRA",  # FULL, and for a file without a write-ahead log its folder too
    "PRAGMA fullfsync=ON",  # macOS: an fsync alone stops at the disk's own memory; elsewhere these two change nothing
    "PRAGMA checkpoint_fullfsync=ON",
)


class Database:
    """Hands out transactions, and turns what the driver raises into a `LedgerError`.

    Safe to use from several threads. A forked process may go on using it, unless it was forked while another thread
    was using a SQLite file; then it is refused.

    Attributes:
        shown: where it is, for messages.
        table: a table by which the schema of all is found, on a server.
    """

    def __init__(self, url: object, *, wait: float, table: str) -> None:
        self._address = Address.given(url)
        self.shown = self._address.shown
        self._wait, self._table = wait, table
        self._server = self._new_server() if self._path is None else None
        engine = sa.create_engine("sqlite://", creator=self._sqlite, poolclass=NullPool)
        self._kept = Kept(self.shown, self._identity, engine.connect)
        self._turn = threading.RLock()  # one that knows its owner: see `writing`
        self._opened: Identity | None = None

    def __repr__(self) -> str:
        return repr(self.shown)

    @property
    def address(self) -> tuple[sa.URL, float]:
        """What it was made from, for a copy in another process."""
        return self._address.url, self._wait

    @contextmanager
    def reading(self) -> Generator[sa.Connection]:
        """A transaction that sees one state of the ledger and does not wait for writers."""
        if self._server is not None:
            with self._server.reading() as connection:
                yield connection
            return
        with self._connected() as connection:
            raw = _raw(connection)
            connection.exec_driver_sql("BEGIN")
            self._refuse_replaced_file(raw)
            try:
                yield connection
            finally:
                refuse_moved(raw, ledger=self.shown)  # also where what was read looked damaged
            refuse_lost_log(raw, ledger=self.shown)

    @contextmanager
    def writing(self, *, create: bool = False) -> Generator[sa.Connection]:
        """A transaction that is committed, and on disk, when the block ends without an error; else nothing is.

        On SQLite it is the only writer from its start; on PostgreSQL whoever reads an account in it locks that row.
        """
        if self._server is not None:
            with self._server.writing() as connection:
                yield connection
            return
        if create:
            self._create_file()
        with self._connected() as connection:
            raw = _raw(connection)
            try:
                if not self._turn.acquire(timeout=self._wait):  # SQLite's own queue is no queue: threads would starve
                    raise LedgerBusyError(self.shown, _CROWDED)
                raw.execute("BEGIN IMMEDIATE")  # not by SQLAlchemy, which would begin later, and do more
                yield connection
                self._refuse_replaced_file(raw)
                if connection.in_transaction():
                    connection.commit()
                else:
                    raw.execute("COMMIT")
                refuse_lost_log(raw, ledger=self.shown)
            except BaseException:
                if raw.in_transaction:
                    raw.rollback()  # before it is another's turn
                raise
            finally:
                with suppress(RuntimeError):  # not acquired: it timed out, or an interrupt came first
                    self._turn.release()

    def close(self) -> None:
        """Let go of connections; the next use opens new ones."""
        if self._server is not None:
            self._server.close()
            return
        self._kept.close()
        self._opened = None

    def is_nowhere(self) -> bool:
        """Whether it is a file that is not there yet, or has nothing in it."""
        return self._path is not None and not size_of(self._path)

    def is_empty(self, connection: sa.Connection, table: str) -> bool:
        """Whether `table` is not there."""
        return not has_table(connection, table)

    def lock_whole(self, connection: sa.Connection) -> None:
        """Keep everybody else from creating or migrating until the transaction ends. Any user may hold this lock."""
        if self._path is None:
            connection.exec_driver_sql("SELECT pg_advisory_xact_lock(7234117045221903)")

    def refuse_another_file(self, connection: sa.Connection) -> None:
        """Look for the file once more: the last thing before a commit that can fail for certain, without effect.

        Raises:
            LedgerDamagedError: another file has its name now.
            LedgerUnavailableError: there is none, or it has several names.
        """
        if self._path is not None:
            raw = cast(FileConnection, connection.connection.dbapi_connection)
            refuse_replaced(self._path, raw, ledger=self.shown)

    @property
    def _path(self) -> Path | None:
        return self._address.path

    @contextmanager
    def _connected(self) -> Generator[sa.Connection]:
        """One kept from the last use: opening it, or a pool's bookkeeping, takes longer than writing."""
        try:
            with self._kept.one() as connection:
                yield connection
        except (SQLAlchemyError, sqlite3.Error) as error:
            raise translated(error, self.shown) from None
        except UnicodeDecodeError:  # SQLite quotes a damaged schema in its message, which Python then cannot read
            raise damaged_text(self.shown) from None

    def _new_server(self) -> Server:
        try:
            from dpselect.ledger.server import Server
        except ModuleNotFoundError:
            raise MissingExtraError("ledgers on PostgreSQL", "postgres") from None
        return Server(self._address.url, self.shown, wait=self._wait, table=self._table)

    def _identity(self) -> Identity:
        return identity_of(cast(Path, self._path), ledger=self.shown)

    def _sqlite(self) -> sqlite3.Connection:
        path = cast(Path, self._path)
        identity = self._opened = self._opened or self._identity()  # that of the first connection, until `close`
        still = standing_still(path, ledger=self.shown)
        options = {"mode": "ro" if self._address.read_only else "rw"}
        connection = sqlite3.connect(
            uri_of(path, **(options if still is None else {"mode": "ro", "immutable": "1"})),
            uri=True,
            timeout=self._wait,
            isolation_level=None,
            check_same_thread=False,
            factory=FileConnection,
        )
        connection.path, connection.identity, connection.still = path, identity, still
        connection.text_factory = _text
        for setting in _DURABLE:
            connection.execute(setting)
        connection.execute("PRAGMA foreign_keys=ON")
        return connection

    def _refuse_replaced_file(self, raw: FileConnection) -> None:
        refuse_replaced(cast(Path, self._path), raw, ledger=self.shown)

    def _create_file(self) -> None:
        """For its owner alone, with a write-ahead log: a commit is one write, and readers do not wait for it."""
        if self._path is None or self._address.read_only or size_of(self._path):
            return
        try:
            with (
                in_use(self.shown),
                NamedTemporaryFile(prefix="dpselect-") as private,  # whose permissions SQLite gives the new file
                closing(
                    sqlite3.connect(uri_of(self._path, modeof=private.name), uri=True, timeout=self._wait)
                ) as connection,
            ):
                for setting in (*_DURABLE, "PRAGMA journal_mode=WAL"):
                    connection.execute(setting)
        except sqlite3.Error as error:
            raise translated(error, self.shown) from None
        except OSError:
            raise LedgerUnavailableError(self.shown, _NO_ROOM) from None


def has_table(connection: sa.Connection, table: str) -> bool:
    """Whether there is a table of this name where the others are."""
    return sa.inspect(connection).has_table(table, schema=schema_of(connection))


def schema_of(connection: sa.Connection) -> str | None:
    """Where the tables are on a server, as its `search_path` says; None for a file."""
    return connection.get_execution_options().get("schema_translate_map", {}).get(None)


def _raw(connection: sa.Connection) -> FileConnection:
    return cast(FileConnection, connection.connection.dbapi_connection)


def _text(raw: bytes) -> str | bytes:
    """A text of SQLite's; what is not UTF-8 stays bytes, which are no text to whoever reads the row."""
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return raw
