"""The tables of a ledger, which the first account to be opened creates."""

from __future__ import annotations

import secrets
from typing import cast

import sqlalchemy as sa

from dpselect.errors import LedgerDamagedError, LedgerVersionError
from dpselect.ledger.database import Database, has_table, schema_of

CURRENT = 1
metadata = sa.MetaData()

names = sa.Table(
    "dpselect_ledger", metadata, sa.Column("id", sa.Text, primary_key=True), sa.Column("version", sa.Integer)
)
"""One row: the ledger's id, which entries and receipts contain and copies share, and the version of its tables."""
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

version_now = sa.select(sa.func.max(names.c.version)).scalar_subquery()
_LOCKED = sa.select(names.c.id).with_for_update()
_REFUSAL = "entries of a ledger are never changed, and accounts never deleted"
_NEVER = {
    "entries": "UPDATE DELETE",
    "releases": "UPDATE DELETE",
    "accounts": "DELETE",
    "ledger": "INSERT UPDATE DELETE",
}


def created(database: Database) -> str:
    """The id of the ledger, whose tables are created in one transaction unless they are there.

    Raises:
        LedgerVersionError: another version of this package wrote the ledger.
    """
    with database.writing(create=True) as connection:
        if not has_table(connection, names.name):
            database.lock_whole(connection)  # on a server, against somebody who creates them at this moment
        if not has_table(connection, names.name):
            _create(connection)
        check_version(connection.scalar(sa.select(version_now)), database.shown)
        return ledger_id(connection, ledger=database.shown)


def _create(connection: sa.Connection) -> None:
    """Create the tables, with triggers that keep the database from changing what was written.

    The triggers stop accidents, not attacks.
    """
    metadata.create_all(connection)
    connection.execute(names.insert(), {"id": secrets.token_hex(16), "version": CURRENT})
    is_file = connection.dialect.name == "sqlite"
    place = "" if is_file else f"{connection.dialect.identifier_preparer.quote_identifier(str(schema_of(connection)))}."
    # As text: an `sa.Index` with this condition loads the dialects of both databases wherever a ledger is imported.
    connection.exec_driver_sql(
        f"CREATE INDEX dpselect_entries_request ON {place}dpselect_entries (account, request) WHERE request IS NOT NULL"
    )
    if not is_file:
        connection.exec_driver_sql(
            f"CREATE FUNCTION {place}dpselect_refuse() RETURNS trigger LANGUAGE plpgsql AS"
            f" $$ BEGIN RAISE EXCEPTION '{_REFUSAL}'; END $$"
        )
    for table, acts in _NEVER.items():
        for act in acts.split() if is_file else [f"{acts} TRUNCATE".replace(" ", " OR ")]:
            name = f"dpselect_{table}_no_{act.lower()}" if is_file else f"dpselect_{table}_kept"
            then = f"BEGIN SELECT RAISE(ABORT, '{_REFUSAL}'); END"
            then = then if is_file else f"FOR EACH STATEMENT EXECUTE FUNCTION {place}dpselect_refuse()"
            connection.exec_driver_sql(f"CREATE TRIGGER {name} BEFORE {act} ON {place}dpselect_{table} {then}")


def check_version(version: object, ledger: str) -> None:
    """Refuse the tables of another version.

    Raises:
        LedgerVersionError: another version of this package wrote the ledger.
        LedgerDamagedError: the ledger has no version.
    """
    if not isinstance(version, int):
        raise LedgerDamagedError(ledger, "it does not say which version it has. Nothing was written.")
    if version != CURRENT:
        text = f"another dpselect wrote it (version {version}; this one knows {CURRENT}). Nothing was written."
        raise LedgerVersionError(ledger, text)


def ledger_id(connection: sa.Connection, *, ledger: str) -> str:
    """The id of the ledger.

    Raises:
        LedgerDamagedError: the id is missing, or there are several.
    """
    found = cast("list[object]", [*connection.scalars(sa.select(names.c.id))])
    if len(found) != 1 or not isinstance(found[0], str):
        raise LedgerDamagedError(ledger, "its own id is not what was written. Nothing was written.")
    return found[0]


def lock_accounts(connection: sa.Connection) -> None:
    """Lock the opening of accounts until the transaction ends.

    On a server this needs the right to change the ledger's id, although a trigger stops any such change. So users who
    may not open accounts cannot hold this lock, while any user could hold an advisory lock (`Database.lock_whole`).
    """
    connection.execute(_LOCKED).all()
