"""The way to a ledger's database, wherever it is: transactions, and what is asked of the whole of it."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

import sqlalchemy as sa

from dpselect.errors import MissingExtraError
from dpselect.ledger.addresses import Address
from dpselect.ledger.sqlite_database import SqliteDatabase

if TYPE_CHECKING:
    from dpselect.ledger.server import Server


class Database:
    """Hands out transactions, and turns what the driver raises into a `LedgerError`.

    Safe to use from several threads, and in a forked process as far as `SqliteDatabase` is.

    Attributes:
        shown: where it is, for messages.
        table: a table by which the schema of all is found, on a server.
    """

    def __init__(self, url: object, *, wait: float, table: str) -> None:
        self._address, self._wait = Address.given(url), wait
        self.shown, path = self._address.shown, self._address.path
        self._at: SqliteDatabase | Server
        if path is None:
            self._at = _server(self._address, wait=wait, table=table)
        else:
            self._at = SqliteDatabase(path, self.shown, wait=wait, read_only=self._address.read_only)

    def __repr__(self) -> str:
        return repr(self.shown)

    @property
    def address(self) -> tuple[sa.URL, float]:
        """What it was made from, for a copy in another process."""
        return self._address.url, self._wait

    def reading(self) -> AbstractContextManager[sa.Connection]:
        """A transaction that sees one state of the ledger and does not wait for writers."""
        return self._at.reading()

    def writing(self, *, create: bool = False) -> AbstractContextManager[sa.Connection]:
        """A transaction that is committed, and on disk, when the block ends without an error; else nothing is.

        On SQLite it is the only writer from its start; on PostgreSQL whoever reads an account in it locks that row.
        With `create`, a file that is missing is made.
        """
        return self._at.writing(create=create) if isinstance(self._at, SqliteDatabase) else self._at.writing()

    def checkpoint(self) -> None:
        """See `SqliteDatabase.checkpoint`; a server does it by itself."""
        if isinstance(self._at, SqliteDatabase):
            self._at.checkpoint()

    def close(self) -> None:
        """Let go of connections; the next use opens new ones."""
        self._at.close()

    def is_nowhere(self) -> bool:
        """Whether it is a file that is not there yet, or has nothing in it."""
        return isinstance(self._at, SqliteDatabase) and self._at.is_nowhere()

    def is_empty(self, connection: sa.Connection, table: str) -> bool:
        """Whether `table` is not there."""
        return not has_table(connection, table)

    def lock_whole(self, connection: sa.Connection) -> None:
        """Keep everybody else from creating or migrating until the transaction ends. Any user may hold this lock."""
        if not isinstance(self._at, SqliteDatabase):
            connection.exec_driver_sql("SELECT pg_advisory_xact_lock(7234117045221903)")

    def refuse_another_file(self, connection: sa.Connection) -> None:
        """Look for the file once more: the last thing before a commit that can fail for certain, without effect.

        Raises:
            LedgerDamagedError: another file has its name now.
            LedgerUnavailableError: there is none, or it has several names.
        """
        if isinstance(self._at, SqliteDatabase):
            self._at.refuse_another_file(connection)


def has_table(connection: sa.Connection, table: str) -> bool:
    """Whether there is a table of this name where the others are."""
    return sa.inspect(connection).has_table(table, schema=schema_of(connection))


def schema_of(connection: sa.Connection) -> str | None:
    """Where the tables are on a server, as its `search_path` says; None for a file."""
    return connection.get_execution_options().get("schema_translate_map", {}).get(None)


def _server(address: Address, *, wait: float, table: str) -> Server:
    try:
        from dpselect.ledger.server import Server
    except ModuleNotFoundError:
        raise MissingExtraError("ledgers on PostgreSQL", "postgres") from None
    return Server(address.url, address.shown, wait=wait, table=table)
