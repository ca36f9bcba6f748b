"""The tables of a ledger, and reading and writing their rows: accounts, their entries, and stored releases."""

from __future__ import annotations

import functools
import secrets
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import sqlalchemy as sa
from sqlalchemy.dialects import sqlite

from dpselect.errors import InvalidAccountError, LedgerDamagedError, LedgerVersionError, did_you_mean, typed
from dpselect.ledger.accounts import (
    AccountTerms,
    State,
    account_seal,
    canonical,
    damaged_account,
    entry_hash,
    readable,
    sound,
)
from dpselect.ledger.database import has_table, raw_of, schema_of
from dpselect.ledger.records import Head

if TYPE_CHECKING:
    from dpselect.ledger.database import SqliteDatabase
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

version_now = sa.select(sa.func.max(names.c.version)).scalar_subquery()
_ID_LOCKED = sa.select(names.c.id).with_for_update()
_REFUSAL = "entries of a ledger are never changed, and accounts never deleted"
_NEVER = {
    "entries": "UPDATE DELETE",
    "releases": "UPDATE DELETE",
    "accounts": "DELETE",
    "ledger": "INSERT UPDATE DELETE",
}


def created(database: SqliteDatabase | Server) -> str:
    """The id of the ledger, whose tables are created in one transaction unless they are there."""
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
    """Refuse the tables of another version."""
    if not isinstance(version, int):
        raise LedgerDamagedError(ledger, "it does not say which version it has. Nothing was written.")
    if version != CURRENT:
        text = f"another dpselect wrote it (version {version}; this one knows {CURRENT}). Nothing was written."
        raise LedgerVersionError(ledger, text)


def ledger_id(connection: sa.Connection, *, ledger: str) -> str:
    """The id of the ledger."""
    found = cast("list[object]", [*connection.scalars(sa.select(names.c.id))])
    if len(found) != 1 or not isinstance(found[0], str):
        raise LedgerDamagedError(ledger, "its own id is not what was written. Nothing was written.")
    return found[0]


def lock_accounts(connection: sa.Connection) -> None:
    """Lock the opening of accounts until the transaction ends.

    On a server this needs the right to change the ledger's id, although a trigger stops any such change. So users who
    may not open accounts cannot hold this lock, while any user could hold an advisory lock (`Server.lock_whole`).
    """
    connection.execute(_ID_LOCKED).all()


_DIALECT = sqlite.dialect()  # type: ignore[no-untyped-call]


def run(connection: sa.Connection, statement: sa.Insert | sa.Update, values: Mapping[str, Any]) -> None:
    """Execute a statement that returns no rows.

    Args:
        connection: in a transaction.
        statement: always the same object, because its text is kept.
        values: of its columns and parameters; always with the same names.
    """
    if _is_sqlite(connection):
        text, names, fixed = _compiled(statement, tuple(values))
        raw_of(connection).execute(text, [values[name] if name in values else fixed[name] for name in names])
    else:
        connection.execute(statement, values)


def first(connection: sa.Connection, statement: sa.Select[Any], values: Mapping[str, Any]) -> Mapping[Any, Any] | None:
    """The only row that a query finds, by the names of its columns; None if it finds none. Arguments as in `run`."""
    if not _is_sqlite(connection):
        return connection.execute(statement, values).mappings().first()
    text, names, fixed = _compiled(statement, ())
    given = [values[name] if name in values else fixed[name] for name in names]
    found = raw_of(connection).execute(text, given).fetchall()  # all, so that the statement is finished
    return dict(zip(statement.selected_columns.keys(), found[0], strict=True)) if found else None


def _is_sqlite(connection: sa.Connection) -> bool:
    return connection.dialect.name == "sqlite"


@functools.lru_cache(maxsize=16)
def _compiled(
    statement: sa.Insert | sa.Update | sa.Select[Any], columns: tuple[str, ...]
) -> tuple[str, tuple[str, ...], Mapping[str, Any]]:
    """The text for SQLite, the names of its parameters in order, and the values of those that are fixed."""
    names = list(columns) if isinstance(statement, sa.Insert) else None
    compiled = cast(Any, statement.compile(dialect=_DIALECT, column_keys=names))
    return str(compiled), tuple(compiled.positiontup), compiled.params


_ACCOUNT = sa.select(accounts, version_now.label("version")).where(accounts.c.name == sa.bindparam("account_key"))
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
_FIRST_PAGE = _ENTRIES.limit(1000)
_PAGE = _ENTRIES.where(entries.c.sequence > sa.bindparam("after")).limit(1000)
_AT = _ENTRIES.where(entries.c.sequence == sa.bindparam("place"))
_MOVE_ON = (
    accounts.update()
    .where(accounts.c.number == sa.bindparam("account_key"))
    .values(state=sa.bindparam("new_state"), head=sa.bindparam("new_head"), seal=sa.bindparam("new_seal"))
)
_INSERT_ENTRY, _INSERT_RELEASE = entries.insert().inline(), releases.insert().inline()

_CACHED_ACCOUNTS = 256
_written: dict[str, tuple[tuple[object, ...], State]] = {}
"""By the text of an account's terms: its row as this process last wrote it, and the state in it. If nobody else charged
meanwhile, the row is still the same. Comparing it is as strict as checking the seal, and saves parsing it."""


@dataclass(frozen=True, slots=True)
class AccountRow:
    """An account as it is in the database, with its seal checked.

    `noted` is the number of its entry that the anchor knew when the account was locked; entries contain it, so that an
    anchor that was cut back is noticed.
    """

    terms: AccountTerms
    state: State
    head: str
    version: int | None
    noted: int | None = None


def account_row(connection: sa.Connection, name: str, *, ledger: str, lock: bool = False) -> AccountRow:
    """The account called `name`; with `lock`, nobody else may change it until the transaction ends."""
    row = first(connection, _LOCKED if lock else _ACCOUNT, {"account_key": name})
    if row is None:
        names = account_names(connection, ledger=ledger)  # a name that is not text is damage, not a missing account
        hint = did_you_mean(name, names)
        raise InvalidAccountError("account", typed(name), "the name of an account of this ledger", hint)
    return checked(row, ledger=ledger)


def checked(row: Mapping[Any, Any], *, ledger: str) -> AccountRow:
    """The account of a database row."""
    held = row["number"], row["name"], row["terms"], row["state"], row["head"], row["seal"]
    written = _written.get(row["terms"])
    if written is not None and written[0] == held:
        return AccountRow(AccountTerms.from_text(row["terms"]), written[1], row["head"], row["version"])
    number, *texts, seal = held
    if not all(isinstance(text, str) for text in texts) or seal != account_seal(number, *texts):
        raise damaged_account(ledger, row["name"])
    try:
        with readable(ledger, row["name"], 0):
            terms, state = AccountTerms.from_text(row["terms"]), State.from_text(row["state"])
    except LedgerDamagedError:
        raise damaged_account(ledger, row["name"]) from None
    return AccountRow(terms, state, row["head"], row["version"])


def account_names(connection: sa.Connection, *, ledger: str) -> list[str]:
    """The names of all accounts, in the order in which they were opened."""
    names = list(connection.scalars(_NAMES))
    for place, name in enumerate(names, 1):
        if not isinstance(name, str):
            raise LedgerDamagedError(ledger, f"the name of its account number {place} cannot be read.")
    return names


def entry_rows(
    connection: sa.Connection, terms: AccountTerms, *, ledger: str, after: int | None = None
) -> Iterator[Mapping[Any, Any]]:
    """The entries of an account with their stored releases, in order, a thousand at a time.

    Args:
        connection: a connection in a transaction, which has to stay open until the last entry is read.
        terms: the account's terms.
        ledger: the ledger's address in messages.
        after: return only entries after this number; None: all, even those with negative numbers.
    """
    first = _FIRST_PAGE if after is None else _PAGE
    page = list(connection.execute(first, {"account_key": terms.number, "after": after}).mappings())
    while page:
        yield from sound(page, terms.name, ledger=ledger)
        after_last = {"account_key": terms.number, "after": page[-1]["sequence"]}
        page = list(connection.execute(_PAGE, after_last).mappings())


def entries_under(connection: sa.Connection, row: AccountRow, request: str, *, ledger: str) -> list[Mapping[Any, Any]]:
    """The charges of an account under a request id, in order.

    Only entries that the account counts: any other was never charged.
    """
    found = connection.execute(_UNDER_REQUEST, {"account_key": row.terms.number, "request_id": request}).mappings()
    counted = [each for each in found if 0 <= each["sequence"] < row.state.entries]
    return list(sound(counted, row.terms.name, ledger=ledger))


def entry_at(connection: sa.Connection, terms: AccountTerms, sequence: int, *, ledger: str) -> Mapping[Any, Any] | None:
    """One entry of an account, or None."""
    found = connection.execute(_AT, {"account_key": terms.number, "place": sequence}).mappings()
    return next(sound(found, terms.name, ledger=ledger), None)


def append(connection: sa.Connection, before: AccountRow, after: State, body: Mapping[str, Any]) -> Head:
    """Write the account's next entry, update the account, and return its new head."""
    terms = before.terms
    body = dict(body) if before.noted is None else {**body, "noted": before.noted}
    text = canonical({**body, "account": terms.name, "sequence": before.state.entries})
    head, state = entry_hash(before.head, text), after.to_text()
    place = {"account": terms.number, "sequence": before.state.entries}
    run(connection, _INSERT_ENTRY, {**place, "request": body.get("request"), "body": text, "hash": head})
    new = head_of(terms, after, head)
    moved = {"account_key": terms.number, "new_state": state, "new_head": head, "new_seal": new.seal}
    run(connection, _MOVE_ON, moved)
    if len(_written) >= _CACHED_ACCOUNTS:
        _written.clear()
    _written[terms.to_text()] = (terms.number, terms.name, terms.to_text(), state, head, new.seal), after
    return new


def head_of(terms: AccountTerms, state: State, hash_: str) -> Head:
    """The head of an account after its last entry."""
    seal = account_seal(terms.number, terms.name, terms.to_text(), state.to_text(), hash_)
    return Head(account=terms.name, sequence=state.entries - 1, hash=hash_, state=state.to_text(), seal=seal)


def insert_release(connection: sa.Connection, number: int, sequence: int, *, body: str, digest: str) -> None:
    """Store the answer of a charge."""
    held = {"account": number, "sequence": sequence, "body": body, "hash": digest}
    run(connection, _INSERT_RELEASE, held)
