"""The tables of a ledger, and the migration of older ledgers.

A released version never changes: a new version is a new step in `_STEPS`.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from datetime import UTC, datetime
from typing import cast

import sqlalchemy as sa

from dpselect.errors import LedgerDamagedError, LedgerVersionError
from dpselect.ledger.database import Database, has_table, schema_of

metadata = sa.MetaData()

migrations = sa.Table(
    "dpselect_migrations",
    metadata,
    sa.Column("version", sa.Integer, primary_key=True),
    sa.Column("time", sa.Text, nullable=False),
)
accounts = sa.Table(
    "dpselect_accounts",
    metadata,
    sa.Column("number", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("name", sa.Text, nullable=False, unique=True),
    sa.Column("terms", sa.Text, nullable=False),
    sa.Column("state", sa.Text, nullable=False),
    sa.Column("head", sa.Text, nullable=False),
    sa.Column("seal", sa.Text, nullable=False),
)
entries = sa.Table(
    "dpselect_entries",
    metadata,
    sa.Column("account", sa.Integer, sa.ForeignKey("dpselect_accounts.number"), primary_key=True, autoincrement=False),
    sa.Column("sequence", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("request", sa.Text),
    sa.Column("body", sa.Text, nullable=False),
    sa.Column("hash", sa.Text, nullable=False),
    sqlite_with_rowid=False,
)
releases = sa.Table(
    "dpselect_releases",
    metadata,
    sa.Column("account", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("sequence", sa.BigInteger, primary_key=True, autoincrement=False),
    sa.Column("body", sa.Text, nullable=False),
    sa.Column("hash", sa.Text, nullable=False),
    sa.ForeignKeyConstraint(["account", "sequence"], ["dpselect_entries.account", "dpselect_entries.sequence"]),
    sqlite_with_rowid=False,
)

names = sa.Table("dpselect_ledger", metadata, sa.Column("id", sa.Text, primary_key=True))

_LOCKED = sa.select(names.c.id).with_for_update()

_REFUSAL = "entries of a ledger are never changed, and accounts never deleted"


def _create_tables(connection: sa.Connection) -> None:
    metadata.create_all(connection, tables=[migrations, accounts, entries, releases])
    table = "dpselect_entries" if connection.dialect.name == "sqlite" else f"{place_of(connection)}.dpselect_entries"
    # As text: an `sa.Index` with this condition loads the dialects of both databases wherever a ledger is imported.
    connection.exec_driver_sql(
        f"CREATE INDEX dpselect_entries_request ON {table} (account, request) WHERE request IS NOT NULL"
    )


def _guard_against_accidents(connection: sa.Connection) -> None:
    """From version 2 on, the database itself refuses to change or delete an entry, or to delete an account.

    This stops accidents, not attacks.
    """
    if connection.dialect.name == "sqlite":
        for table in ("entries", "releases"):
            for act in ("UPDATE", "DELETE"):
                connection.exec_driver_sql(
                    f"CREATE TRIGGER dpselect_{table}_no_{act.lower()} BEFORE {act} ON dpselect_{table}"
                    f" BEGIN SELECT RAISE(ABORT, '{_REFUSAL}'); END"
                )
        connection.exec_driver_sql(
            "CREATE TRIGGER dpselect_accounts_no_delete BEFORE DELETE ON dpselect_accounts"
            f" BEGIN SELECT RAISE(ABORT, '{_REFUSAL}'); END"
        )
        return
    place = place_of(connection)
    connection.exec_driver_sql(
        f"CREATE FUNCTION {place}.dpselect_refuse() RETURNS trigger LANGUAGE plpgsql AS"
        f" $$ BEGIN RAISE EXCEPTION '{_REFUSAL}'; END $$"
    )
    for table in ("entries", "releases"):
        connection.exec_driver_sql(
            f"CREATE TRIGGER dpselect_{table}_kept BEFORE UPDATE OR DELETE OR TRUNCATE ON {place}.dpselect_{table}"
            f" FOR EACH STATEMENT EXECUTE FUNCTION {place}.dpselect_refuse()"
        )
    connection.exec_driver_sql(
        f"CREATE TRIGGER dpselect_accounts_kept BEFORE DELETE OR TRUNCATE ON {place}.dpselect_accounts"
        f" FOR EACH STATEMENT EXECUTE FUNCTION {place}.dpselect_refuse()"
    )


def _salt_entries(connection: sa.Connection) -> None:
    """From version 3 on, an entry's body has a nonce, and that of a charge a public time and hashes of its question.

    Tables and entries stay as they are. An older library must no longer write: it would leave these fields out.
    """
    del connection


def _name_ledger(connection: sa.Connection) -> None:
    """From version 4 on, a ledger has an id, which its entries and receipts contain and its copies share.

    It is written once. Like entries, it is guarded against accidents.
    """
    names.create(connection)
    connection.execute(names.insert(), {"id": secrets.token_hex(16)})
    if connection.dialect.name == "sqlite":
        for act in ("INSERT", "UPDATE", "DELETE"):
            connection.exec_driver_sql(
                f"CREATE TRIGGER dpselect_ledger_no_{act.lower()} BEFORE {act} ON dpselect_ledger"
                f" BEGIN SELECT RAISE(ABORT, '{_REFUSAL}'); END"
            )
        return
    place = place_of(connection)
    connection.exec_driver_sql(
        f"CREATE TRIGGER dpselect_ledger_kept BEFORE INSERT OR UPDATE OR DELETE OR TRUNCATE ON {place}.dpselect_ledger"
        f" FOR EACH STATEMENT EXECUTE FUNCTION {place}.dpselect_refuse()"
    )


def _charge_ahead(connection: sa.Connection) -> None:
    """From version 5 on, charges may be made ahead, and entries without a cost begin their draws; see `ahead`.

    Tables and entries stay as they are. An older library would not understand such entries.
    """
    del connection


_STEPS: dict[int, Callable[[sa.Connection], None]] = {
    1: _create_tables,
    2: _guard_against_accidents,
    3: _salt_entries,
    4: _name_ledger,
    5: _charge_ahead,
}
CURRENT = max(_STEPS)

version_now = sa.select(sa.func.max(migrations.c.version)).scalar_subquery()


def check_version(version: int | None, database: Database) -> bool:
    """Whether the ledger is current; False if it is older.

    Raises:
        LedgerVersionError: the ledger is newer than this library.
        LedgerDamagedError: the ledger has no version.
    """
    if not isinstance(cast(object, version), int):
        raise LedgerDamagedError(database.shown, "it does not say which version it has. Nothing was written.")
    version = cast(int, version)
    if version > CURRENT:
        text = f"a later dpselect wrote it (version {version}; this one knows {CURRENT}): update this one."
        raise LedgerVersionError(database.shown, f"{text} Nothing was written.")
    return version == CURRENT


def ledger_id(connection: sa.Connection, *, ledger: str) -> str | None:
    """The id of the ledger; None before version 4.

    Raises:
        LedgerDamagedError: the id is missing, or there are several.
    """
    if (connection.scalar(sa.select(version_now)) or 0) < 4:
        return None
    there = has_table(connection, names.name)
    found: list[object] = [*connection.scalars(sa.select(names.c.id))] if there else []
    if len(found) != 1 or not isinstance(found[0], str):
        raise LedgerDamagedError(ledger, "its own id is not what was written. Nothing was written.")
    return found[0]


def migrate(database: Database, *, create: bool) -> str | None:
    """Bring the ledger up to date in one transaction, all steps or none, and return its id.

    Raises:
        LedgerDamagedError: the tables are not a ledger's, and `create` is False.
        LedgerVersionError: the ledger is newer than this library.
    """
    with database.writing(create=create) as connection:
        version = _version(connection, database, create=create)
        if version < CURRENT:
            database.lock_whole(connection)
            version = _version(connection, database, create=create)
        for step in range(version + 1, CURRENT + 1):
            _STEPS[step](connection)
            now = datetime.now(UTC).isoformat(timespec="seconds")
            connection.execute(migrations.insert(), {"version": step, "time": now})
        return ledger_id(connection, ledger=database.shown)


def lock_accounts(connection: sa.Connection) -> None:
    """Lock the opening of accounts until the transaction ends.

    On a server this needs the right to change the ledger's id, although a trigger stops any such change. So users who
    may not open accounts cannot hold this lock, while any user could hold an advisory lock (`Database.lock_whole`).
    """
    connection.execute(_LOCKED).all()


def place_of(connection: sa.Connection) -> str:
    """The schema of the tables on a server, for SQL."""
    return connection.dialect.identifier_preparer.quote_identifier(str(schema_of(connection)))


def _version(connection: sa.Connection, database: Database, *, create: bool) -> int:
    if has_table(connection, migrations.name):
        found = connection.scalar(sa.select(sa.func.max(migrations.c.version)))
        check_version(found, database)
        return found or 0
    if not create:
        raise LedgerDamagedError(database.shown, "there is no ledger in it. Opening an account makes one.")
    return 0
