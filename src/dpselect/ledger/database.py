"""A ledger's database, in a file or on a server: its transactions and its locks."""

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
    """Gives out transactions, and turns the driver's errors into a `LedgerError`.

    Safe to use from several threads, and in a forked process as far as `SqliteDatabase` is.

    Attributes:
        shown: its address in messages.
        table: on a server, the table that tells which schema all tables are in.
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
        """The arguments it was made from, for a copy in another process."""
        return self._address.url, self._wait

    def reading(self) -> AbstractContextManager[sa.Connection]:
        """A transaction that sees one state of the ledger and does not wait for writers."""
        return self._at.reading()

    def writing(self, *, create: bool = False) -> AbstractContextManager[sa.Connection]:
        """A transaction that is committed, and on disk, if the block ends without an error; otherwise it is undone.

        On SQLite it is the only writer from its start. On PostgreSQL, reading an account in it locks the account's row.
        With `create`, a missing file is created.
        """
        return self._at.writing(create=create) if isinstance(self._at, SqliteDatabase) else self._at.writing()

    def checkpoint(self) -> None:
        """See `SqliteDatabase.checkpoint`; a server does it by itself."""
        if isinstance(self._at, SqliteDatabase):
            self._at.checkpoint()

    def close(self) -> None:
        """Close the connections; the next use opens new ones."""
        self._at.close()

    def lock_whole(self, connection: sa.Connection) -> None:
        """Lock the creation of tables until the transaction ends. Any user may hold this lock."""
        if not isinstance(self._at, SqliteDatabase):
            connection.exec_driver_sql("SELECT pg_advisory_xact_lock(7234117045221903)")

    def refuse_another_file(self, connection: sa.Connection) -> None:
        """Check once more that the file is the same: the last step before a commit that can still fail with no effect.

        Raises:
            LedgerDamagedError: another file has its name now.
            LedgerUnavailableError: the file is gone, or has several names.
        """
        if isinstance(self._at, SqliteDatabase):
            self._at.refuse_another_file(connection)


def has_table(connection: sa.Connection, table: str) -> bool:
    """Whether the schema of the ledger's tables has a table of this name."""
    return sa.inspect(connection).has_table(table, schema=schema_of(connection))


def schema_of(connection: sa.Connection) -> str | None:
    """The schema of the tables on a server, from its `search_path`; None for a file."""
    return connection.get_execution_options().get("schema_translate_map", {}).get(None)


def _server(address: Address, *, wait: float, table: str) -> Server:
    try:
        from dpselect.ledger.server import Server
    except ModuleNotFoundError:
        raise MissingExtraError("ledgers on PostgreSQL", "postgres") from None
    return Server(address.url, address.shown, wait=wait, table=table)
