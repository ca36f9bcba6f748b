"""Compares a ledger with evidence from outside: its anchor, receipts, and hashes that somebody noted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

import sqlalchemy as sa

from dpselect.errors import AnchorError, LedgerError, LedgerForkedError, LedgerRolledBackError
from dpselect.ledger import store
from dpselect.ledger.accounts import AccountTerms, State
from dpselect.ledger.anchors import Anchor, Head, name_of
from dpselect.ledger.chain import account_seal

_BEHIND = (
    "an older copy was put in its place, its log was lost, or entries were cut off. Nothing was drawn."
    " Look for the whole ledger; `dpselect ledger restore --write-off` counts what cannot be found as spent."
)
_BESIDE = (
    "two copies of it went on, or it was written anew. Nothing was drawn. Go on with the copy that its anchor and"
    " receipts are of, and with no other."
)


def _is_gone(head: Head | None) -> bool:
    """Whether the head says that the whole account was lost and written off."""
    return head is not None and head.sequence < 0


class Expected(NamedTuple):
    """An entry that is known from outside the ledger."""

    account: str
    sequence: int
    hash: str


def noted_now(connection: sa.Connection, id_: str, anchor: Anchor, *, ledger: str) -> list[Head]:
    """Note the head of every account in `anchor`, unless it is noted already.

    Raises:
        LedgerRolledBackError: the anchor knows of later entries.
        LedgerForkedError: the anchor knows of other entries.
    """
    known, heads = anchor.heads(id_), list[Head]()
    held = store.account_names(connection, ledger=ledger)
    refuse_missing_accounts(held, known, ledger=ledger)
    for name in held:
        row = store.account_row(connection, name, ledger=ledger)
        refuse_behind(connection, row, known.get(name), ledger=ledger)
        head = head_of(row.terms, row.state, row.head)
        if name not in known or known[name].sequence < head.sequence:
            anchor.note(id_, head)
        heads.append(head)
    return heads


def note(anchor: Anchor, id_: str, head: Head) -> Head:
    """Note the head of what was committed. Only when this returns may anything be drawn.

    Returns:
        The head that the anchor has now. It is another one if somebody else noted a later head, or was faster.

    Raises:
        AnchorError: the head cannot be noted, or cannot be read back. The error names the entry, which stays.
    """
    try:
        anchor.note(id_, head)
        return anchor.heads(id_)[head.account]
    except Exception as error:  # noqa: BLE001 - a caller's own anchor may raise anything
        why = error.what if isinstance(error, LedgerError) else f"An unexpected {type(error).__name__}."
        text = (
            f"entry {head.sequence} of account {head.account!r} was recorded and stays, but could not be noted here,"
            f" and nothing was drawn. Asking the same again in this process uses it. The reason: {why}"
        )
        raise AnchorError(name_of(anchor), text) from None


def head_of(terms: AccountTerms, state: State, hash_: str) -> Head:
    """The head of an account after its last entry."""
    seal = account_seal(terms.number, terms.name, terms.to_text(), state.to_text(), hash_)
    return Head(account=terms.name, sequence=state.entries - 1, hash=hash_, state=state.to_text(), seal=seal)


def refuse_behind(connection: sa.Connection, row: store.AccountRow, noted: Head | None, *, ledger: str) -> None:
    """Compare an account with the head that its anchor noted.

    Raises:
        LedgerRolledBackError: the account has fewer entries than noted.
        LedgerForkedError: the noted entry, or the state after it, is a different one here.
    """
    if noted is None:
        return
    if noted.sequence == row.state.entries - 1 and noted.hash == row.head:
        if noted.state != row.state.to_text():
            text = f"account {row.terms.name!r} says of itself what its anchor does not: {_BESIDE}"
            raise LedgerForkedError(ledger, text)
        return  # nearly always: no entry has to be read
    refuse_unless_there(connection, row, [Expected(noted.account, noted.sequence, noted.hash)], ledger=ledger)


def refuse_unless_there(
    connection: sa.Connection, row: store.AccountRow, expected: Iterable[Expected], *, ledger: str
) -> None:
    """Check that entries known from outside are in one account.

    Raises:
        LedgerRolledBackError: an entry is missing.
        LedgerForkedError: a different entry is in its place.
    """
    name = row.terms.name
    for each in expected:
        if each.sequence >= row.state.entries:
            text = f"account {name!r} has {row.state.entries} entries, and had entry {each.sequence} once: {_BEHIND}"
            raise LedgerRolledBackError(ledger, text)
        found = store.entry_at(connection, row.terms, each.sequence, ledger=ledger)
        if found is None or found["hash"] != each.hash:
            raise LedgerForkedError(ledger, f"entry {each.sequence} of account {name!r} is another: {_BESIDE}")


def refuse_missing_accounts(held: Iterable[str], noted: Mapping[str, Head | None], *, ledger: str) -> None:
    """Check that accounts known from outside exist, unless they were written off.

    Raises:
        LedgerRolledBackError: an account is missing.
    """
    there = set(held)
    missing = sorted(name for name, head in noted.items() if name not in there and not _is_gone(head))
    if missing:
        raise LedgerRolledBackError(ledger, f"account {missing[0]!r} is missing: {_BEHIND}")
