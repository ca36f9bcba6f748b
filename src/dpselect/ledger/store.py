"""The tables of a ledger, and a `Book`: reading and writing their rows in one transaction."""

from __future__ import annotations

import secrets
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, cast

import sqlalchemy as sa

from dpselect.errors import (
    InvalidAccountError,
    LedgerDamagedError,
    LedgerError,
    LedgerVersionError,
    MissingExtraError,
    did_you_mean,
    typed,
)
from dpselect.ledger.accounts import (
    UNREADABLE,
    Account,
    Head,
    canonical,
    digest,
)
from dpselect.ledger.arguments import Address
from dpselect.ledger.records import Entry, entry_of
from dpselect.ledger.sqlite import SqliteFile

if TYPE_CHECKING:
    from dpselect.ledger.postgres import Server

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

_ID_LOCKED = sa.select(names.c.id).with_for_update()
_REFUSAL = "entries of a ledger are never changed, and accounts never deleted"
_NEVER = {
    "entries": "UPDATE DELETE",
    "releases": "UPDATE DELETE",
    "accounts": "DELETE",
    "ledger": "INSERT UPDATE DELETE",
}


_LOCK_ALL = "SELECT pg_advisory_xact_lock(7234117045221903)"
"""Until the transaction ends. Any user may hold this lock."""


def database_at(address: Address, *, wait: float) -> SqliteFile | Server:
    """The database at an address.

    It gives out transactions, and turns the driver's errors into a `LedgerError`. On SQLite one that writes is alone
    from its start; on PostgreSQL reading an account in it locks the account's row.
    """
    if address.path is not None:
        return SqliteFile(address.path, address.shown, wait=wait, read_only=address.read_only)
    try:
        from dpselect.ledger.postgres import Server
    except ModuleNotFoundError:
        raise MissingExtraError("ledgers on PostgreSQL", "postgres") from None
    return Server(address.url, address.shown, wait=wait, table=names.name)


def _schema_of(connection: sa.Connection) -> str | None:
    """The schema of the tables on a server, from its `search_path`; None for a file."""
    return connection.get_execution_options().get("schema_translate_map", {}).get(None)


def _is_there(connection: sa.Connection) -> bool:
    return sa.inspect(connection).has_table(names.name, schema=_schema_of(connection))


def create(database: SqliteFile | Server) -> None:
    """Create the tables in one transaction, unless they are there."""
    with database.writing(create=True) as connection:
        if connection.dialect.name != "sqlite" and not _is_there(connection):
            connection.exec_driver_sql(_LOCK_ALL)  # against somebody who creates them at this moment
        if not _is_there(connection):
            _create(connection)


def _create(connection: sa.Connection) -> None:
    """Create the tables, with triggers that keep the database from changing what was written.

    The triggers stop accidents, not attacks.
    """
    metadata.create_all(connection)
    connection.execute(names.insert(), {"id": secrets.token_hex(16), "version": CURRENT})
    is_file = connection.dialect.name == "sqlite"
    place = (
        "" if is_file else f"{connection.dialect.identifier_preparer.quote_identifier(str(_schema_of(connection)))}."
    )
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


_VERSION = sa.select(sa.func.max(names.c.version)).scalar_subquery().label("version")
_ACCOUNT = sa.select(accounts, _VERSION).where(accounts.c.name == sa.bindparam("account_key"))
_LOCKED = _ACCOUNT.with_for_update(of=accounts)
_NAMES = sa.select(accounts.c.name).order_by(accounts.c.number)
_ENTRIES = (
    sa.select(entries, releases.c.body.label("release"), releases.c.hash.label("release_hash"))
    .outerjoin(releases, (releases.c.account == entries.c.account) & (releases.c.sequence == entries.c.sequence))
    .where(entries.c.account == sa.bindparam("account_key"))
    .order_by(entries.c.sequence)
)
_of_request = entries.alias("of_request")
_UNDER_REQUEST = _ENTRIES.where(
    # The subquery needs only the index. For whole rows, SQLite assumes that an account has ten entries and a request
    # nine, and reads the whole account.
    entries.c.sequence.in_(
        sa.select(_of_request.c.sequence).where(
            _of_request.c.account == sa.bindparam("account_key"), _of_request.c.request == sa.bindparam("request_id")
        )
    )
)
PAGE = 1000
_PAGE = _ENTRIES.where(entries.c.sequence > sa.bindparam("after"), entries.c.sequence < sa.bindparam("end")).limit(PAGE)
_ENDS = sa.select(sa.func.min(entries.c.sequence), sa.func.max(entries.c.sequence)).where(
    entries.c.account == sa.bindparam("account_key")
)
_AT = _ENTRIES.where(entries.c.sequence == sa.bindparam("place"))


@dataclass(slots=True)
class Book:
    """The rows of a ledger in one transaction.

    Attributes:
        connection: to the database, in a transaction.
        ledger: the ledger's address in messages.
        id: the ledger's id, once it is known.
        noted: the number of the account's entry that the anchor knew when the account was locked; entries contain it,
            so that an anchor that was cut back is noticed.
        head: the head to note in the anchor after the commit, or None.
    """

    connection: sa.Connection
    ledger: str
    id: str = ""
    noted: int | None = None
    head: Head | None = None

    def identify(self) -> None:
        """Read the ledger's id, if its tables are there and of this version."""
        if not _is_there(self.connection):
            raise LedgerDamagedError(self.ledger, "there is no ledger in it. Opening an account makes one.")
        found = self.connection.execute(sa.select(names)).all()
        if len(found) != 1 or not isinstance(cast(object, found[0].id), str):
            raise LedgerDamagedError(self.ledger, "its own id is not what was written. Nothing was written.")
        self._check_version(found[0].version)
        self.id = found[0].id

    def _check_version(self, version: object) -> None:
        if not isinstance(version, int):
            raise LedgerDamagedError(self.ledger, "it does not say which version it has. Nothing was written.")
        if version != CURRENT:
            text = f"another dpselect wrote it (version {version}; this one knows {CURRENT}). Nothing was written."
            raise LedgerVersionError(self.ledger, text)

    def lock_accounts(self) -> None:
        """Lock the opening of accounts until the transaction ends.

        On a server this needs the right to change the ledger's id, although a trigger stops any such change. So users
        who may not open accounts cannot hold this lock, while any user could hold an advisory lock.
        """
        self.connection.execute(_ID_LOCKED).all()

    def names(self) -> list[str]:
        """The names of all accounts, in the order in which they were opened."""
        found = list(self.connection.scalars(_NAMES))
        for place, name in enumerate(found, 1):
            if not isinstance(name, str):
                raise LedgerDamagedError(self.ledger, f"the name of its account number {place} cannot be read.")
        return found

    def account(self, name: str, *, lock: bool = False) -> Account:
        """The account called `name`; with `lock`, nobody else may change it until the transaction ends."""
        row = self.connection.execute(_LOCKED if lock else _ACCOUNT, {"account_key": name}).mappings().first()
        if row is None:
            hint = did_you_mean(name, self.names())  # a name that is not text is damage, not a missing account
            raise InvalidAccountError("account", typed(name), "the name of an account of this ledger", hint)
        self._check_version(row["version"])
        try:
            account = Account.of_texts(row["terms"], row["state"], row["head"])
            if {"number": account.number, "name": account.name, **account.moving}.items() - row.items():
                raise ValueError("another seal")
            return account
        except UNREADABLE:
            text = f"what account {name!r} says of itself is not what was written. Nothing was written; verify it."
            raise LedgerDamagedError(self.ledger, text) from None

    def page(self, account: Account, *, after: int) -> list[Mapping[Any, Any]]:
        """The rows of the first thousand entries after this number that the account counts, with their releases."""
        return self._sound(self._entries(_PAGE, account, after=after, end=account.entries), account)

    def ends(self, account: Account) -> tuple[int | None, int | None]:
        """The first and the last number of an entry that is there, whatever the account counts."""
        first, last = self.connection.execute(_ENDS, {"account_key": account.number}).one()
        return first, last

    def under(self, account: Account, request: str) -> list[Entry]:
        """The entries of an account under a request id, in order.

        Only those that the account counts: any other was never charged.
        """
        found = self._entries(_UNDER_REQUEST, account, request_id=request)
        counted = [each for each in found if 0 <= each["sequence"] < account.entries]
        return [self.read(each, account) for each in self._sound(counted, account)]

    def at(self, account: Account, sequence: int) -> Entry | None:
        """One entry of an account, or None."""
        found = self._sound(self._entries(_AT, account, place=sequence), account)
        return next((self.read(each, account) for each in found), None)

    def has(self, account: Account, sequence: int, known: str) -> bool:
        """Whether the entry of this number has this hash."""
        entry = self.at(account, sequence)
        return entry is not None and entry.hash == known

    def _entries(self, statement: sa.Select[Any], account: Account, **values: Any) -> list[Mapping[Any, Any]]:
        found = self.connection.execute(statement, {"account_key": account.number, **values})
        return cast("list[Mapping[Any, Any]]", [*found.mappings()])

    def _sound(self, rows: list[Mapping[Any, Any]], account: Account) -> list[Mapping[Any, Any]]:
        """Rows of entries whose types are right, as SQLite stores anything in any column; and their releases."""
        for each in rows:
            texts = isinstance(each["body"], str) and isinstance(each["hash"], str)
            others = all(isinstance(each[name], str | None) for name in ("request", "release", "release_hash"))
            if not (texts and others and isinstance(each["sequence"], int)):
                raise _damaged_entry(account.name, each["sequence"], ledger=self.ledger)
            known = None if each["release"] is None else digest("release", each["hash"], each["release"])
            if known != each["release_hash"]:
                place = f"entry {each['sequence']} of account {account.name!r}"
                raise LedgerDamagedError(self.ledger, f"{place} has another release than was stored.")
        return rows

    def read(self, row: Mapping[Any, Any], account: Account) -> Entry:
        """The entry of a row."""
        with readable(account.name, row["sequence"], ledger=self.ledger):
            return entry_of(row)

    def open(self, account: Account) -> Account:
        """Write a new account, and its opening."""
        fixed = {"number": account.number, "name": account.name, "terms": account.terms}
        self.connection.execute(accounts.insert(), fixed | account.moving)
        epsilon = str(account.epsilon)
        return self.append(account.next(), "open", terms=account.terms, epsilon=epsilon, unit=account.unit)

    def append(self, after: Account, kind: str, now: datetime | None = None, /, **fields: Any) -> Account:
        """Write the next entry of an account, given as it is `after` it but for the hash, and the account.

        The time in the entry is for the ledger's holder: nothing depends on the order of clocks. The nonce hides it
        from anyone who sees the entry's hash in a receipt and tries all milliseconds of a day.
        """
        time = (now or datetime.now(UTC)).isoformat(timespec="milliseconds")
        stamp = {"kind": kind, "time": time, "nonce": secrets.token_hex(16), "ledger": self.id}
        noted = {} if self.noted is None else {"noted": self.noted}
        sequence = after.entries - 1
        text = canonical({**stamp, **fields, **noted, "account": after.name, "sequence": sequence})
        new = replace(after, head=digest("entry", after.head, text))
        place = {"account": new.number, "sequence": sequence, "request": fields.get("request")}
        self.connection.execute(entries.insert(), {**place, "body": text, "hash": new.head})
        self.connection.execute(accounts.update().where(accounts.c.number == new.number).values(new.moving))
        self.head = new.to_head(self.id)
        return new

    def insert_release(self, account: Account, sequence: int, release: str, seal: str) -> None:
        """Store the answer of a charge."""
        self.connection.execute(
            releases.insert(), {"account": account.number, "sequence": sequence, "body": release, "hash": seal}
        )


def _damaged_entry(account: str, place: object, *, ledger: str) -> LedgerDamagedError:
    place = place if isinstance(place, int) else "?"
    return LedgerDamagedError(ledger, f"entry {place} of account {account!r} cannot be read.")


@contextmanager
def readable(account: str, place: object, *, ledger: str) -> Generator[None]:
    """A block that reads the text of an entry: if no ledger wrote it, whatever that raises becomes damage."""
    try:
        yield
    except LedgerError:
        raise
    except UNREADABLE:
        raise _damaged_entry(account, place, ledger=ledger) from None
