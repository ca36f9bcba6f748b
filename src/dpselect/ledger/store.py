"""Rows in and out: what an account says, its entries, and one more of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from dpselect.errors import InvalidAccountError, LedgerDamagedError, Shown
from dpselect.ledger.accounts import State, Terms
from dpselect.ledger.chain import account_seal, canonical, entry_hash
from dpselect.ledger.schema import accounts, entries, releases, version_now

_ACCOUNT = sa.select(accounts, version_now.label("version")).where(accounts.c.name == sa.bindparam("wanted"))
_LOCKED = _ACCOUNT.with_for_update(of=accounts)
_NAMES = sa.select(accounts.c.name).order_by(accounts.c.number)
_ENTRIES = (
    sa.select(entries, releases.c.body.label("release"), releases.c.hash.label("release_hash"))
    .outerjoin(releases, (releases.c.account == entries.c.account) & (releases.c.sequence == entries.c.sequence))
    .where(entries.c.account == sa.bindparam("wanted"))
    .order_by(entries.c.sequence)
)
_UNDER_REQUEST = _ENTRIES.where(entries.c.request == sa.bindparam("asked"))
_PAGE = _ENTRIES.where(entries.c.sequence > sa.bindparam("after")).limit(1000)
_AT = _ENTRIES.where(entries.c.sequence == sa.bindparam("place"))
_MOVE_ON = (
    accounts.update()
    .where(accounts.c.number == sa.bindparam("wanted"))
    .values(state=sa.bindparam("new_state"), head=sa.bindparam("new_head"), seal=sa.bindparam("new_seal"))
)
_INSERT_ENTRY, _INSERT_RELEASE = entries.insert(), releases.insert()


@dataclass(frozen=True, slots=True)
class AccountRow:
    """An account as it stands in the database, its seal checked."""

    terms: Terms
    state: State
    head: str
    version: int | None


def account_row(connection: sa.Connection, name: str, *, ledger: str, lock: bool = False) -> AccountRow:
    """The account called `name`; with `lock`, nobody else may change it until the transaction ends.

    Raises:
        InvalidAccountError: there is none.
        LedgerDamagedError: its row was changed by hand.
    """
    row = connection.execute(_LOCKED if lock else _ACCOUNT, {"wanted": name}).mappings().first()
    if row is None:
        raise InvalidAccountError("account", Shown(repr(name)), "the name of an account of this ledger")
    return checked(row, ledger=ledger)


def checked(row: Mapping[Any, Any], *, ledger: str) -> AccountRow:
    """The account of a database row.

    Raises:
        LedgerDamagedError: it was changed by hand.
    """
    seal = account_seal(row["number"], row["name"], row["terms"], row["state"], row["head"])
    if seal != row["seal"]:
        text = f"what account {row['name']!r} says of itself is not what was written. Nothing was written; verify it."
        raise LedgerDamagedError(ledger, text)
    return AccountRow(Terms.from_text(row["terms"]), State.from_text(row["state"]), row["head"], row["version"])


def account_names(connection: sa.Connection) -> list[str]:
    """All accounts, in the order they were opened in."""
    return list(connection.scalars(_NAMES))


def entry_rows(connection: sa.Connection, number: int) -> Iterator[Mapping[Any, Any]]:
    """The entries of an account with their stored releases, in order, a thousand at a time."""
    after = -1
    while page := list(connection.execute(_PAGE, {"wanted": number, "after": after}).mappings()):
        yield from page
        after = page[-1]["sequence"]


def entries_under(connection: sa.Connection, number: int, request: str) -> list[Mapping[Any, Any]]:
    """The charges of an account under a request id, in order."""
    return list(connection.execute(_UNDER_REQUEST, {"wanted": number, "asked": request}).mappings())


def entry_at(connection: sa.Connection, number: int, sequence: int) -> Mapping[Any, Any] | None:
    """One entry of an account, or None."""
    return connection.execute(_AT, {"wanted": number, "place": sequence}).mappings().first()


def append(connection: sa.Connection, before: AccountRow, after: State, body: Mapping[str, Any]) -> str:
    """Write the account's next entry, move the account on, and return the new hash."""
    terms = before.terms
    text = canonical({**body, "account": terms.name, "sequence": before.state.entries})
    head, state = entry_hash(before.head, text), after.to_text()
    place = {"account": terms.number, "sequence": before.state.entries}
    connection.execute(_INSERT_ENTRY, {**place, "request": body.get("request"), "body": text, "hash": head})
    seal = account_seal(terms.number, terms.name, terms.to_text(), state, head)
    moved = {"wanted": terms.number, "new_state": state, "new_head": head, "new_seal": seal}
    connection.execute(_MOVE_ON, moved)
    return head


def insert_release(connection: sa.Connection, number: int, sequence: int, *, body: str, digest: str) -> None:
    """Keep the answer that a charge was for."""
    held = {"account": number, "sequence": sequence, "body": body, "hash": digest}
    connection.execute(_INSERT_RELEASE, held)
