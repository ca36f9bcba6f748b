"""Comparing a ledger with what is known of it elsewhere: its anchor, receipts, and hashes that somebody noted."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

import sqlalchemy as sa

from dpselect.errors import (
    AnchorError,
    InvalidParameterError,
    LedgerError,
    LedgerForkedError,
    LedgerRolledBackError,
    Shown,
)
from dpselect.ledger import store
from dpselect.ledger.accounts import AccountTerms, State
from dpselect.ledger.addresses import names_a_server
from dpselect.ledger.anchor_file import FileAnchor
from dpselect.ledger.anchors import Anchor, Head, name_of
from dpselect.ledger.chain import account_seal
from dpselect.ledger.damage import readable
from dpselect.server_urls import HIDDEN

EXPECTED = "the path of a file, or an anchor object"


def anchor_of(given: object, *, wait: float, ledger: sa.URL) -> Anchor | None:
    """The anchor that a caller gives: the path of a file, or an anchor object.

    Args:
        given: the caller's argument.
        wait: seconds to wait for the lock of the anchor's file.
        ledger: address of the ledger, which cannot be its own anchor.

    Raises:
        InvalidParameterError: `given` is not one of these.
    """
    if given is None:
        return None
    if isinstance(given, str) and "://" in given:
        raise InvalidParameterError("anchor", Shown("<URL>"), EXPECTED)
    if isinstance(given, (str, Path)) and names_a_server(str(given)):
        raise InvalidParameterError("anchor", Shown(HIDDEN), EXPECTED, "A new file has no name like a server's.")
    if isinstance(given, Path) or (isinstance(given, str) and given and "\0" not in given):
        given = FileAnchor(given, wait=wait)
    if not isinstance(given, Anchor):
        raise InvalidParameterError("anchor", given, EXPECTED)
    own = [f"{ledger.database}{ending}" for ending in ("", "-wal", "-shm", "-journal")]
    is_sqlite = ledger.get_backend_name() == "sqlite"
    if is_sqlite and isinstance(given, FileAnchor) and os.path.realpath(given.path) in own:
        hint = "Whatever harms the ledger would harm it, too."
        raise InvalidParameterError("anchor", Shown("<the ledger>"), "another file than the ledger's", hint)
    return given


_BEHIND = (
    "an older copy was put in its place, its log was lost, or entries were cut off. Nothing was drawn."
    " Find the complete ledger; `dpselect ledger restore --write-off` counts what cannot be found as spent."
)
_BESIDE = (
    "two copies of the ledger were used, or its history was rewritten. Nothing was drawn. Use only the copy that its"
    " anchor and receipts belong to."
)


def _is_gone(head: Head | None) -> bool:
    """Whether it says that the whole account was lost, and written off."""
    return head is not None and head.sequence < 0


class Expected(NamedTuple):
    """An entry that is known from elsewhere."""

    account: str
    sequence: int
    hash: str


def noted_now(connection: sa.Connection, id_: str, anchor: Anchor, *, ledger: str) -> list[Head]:
    """Note in `anchor` how far every account has come, where it does not know that yet.

    Raises:
        LedgerRolledBackError: it knows of more.
        LedgerForkedError: it knows of something else.
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
        The head that the anchor has now: another one if somebody else noted one that comes later, or came first.

    Raises:
        AnchorError: it cannot be noted, or not be read again. Names the entry, which stays.
    """
    try:
        anchor.note(id_, head)
        now = anchor.heads(id_)[head.account]
        if now.sequence < head.sequence:
            raise AnchorError(name_of(anchor), "it did not keep the note.")
        return now
    except Exception as error:  # noqa: BLE001 - a caller's own anchor may raise anything
        why = error.what if isinstance(error, LedgerError) else f"An unexpected {type(error).__name__}."
        text = (
            f"entry {head.sequence} of account {head.account!r} was recorded and stays, but could not be noted here,"
            f" and nothing was drawn. If you ask the same again in this process, that entry is used. The reason: {why}"
        )
        raise AnchorError(name_of(anchor), text) from None


def head_of(terms: AccountTerms, state: State, hash_: str) -> Head:
    """The head of an account after its last entry."""
    seal = account_seal(terms.number, terms.name, terms.to_text(), state.to_text(), hash_)
    return Head(account=terms.name, sequence=state.entries - 1, hash=hash_, state=state.to_text(), seal=seal)


def refuse_behind(connection: sa.Connection, row: store.AccountRow, noted: Head | None, *, ledger: str) -> None:
    """Compare an account with the head that was noted of it.

    Raises:
        LedgerRolledBackError: it has not come as far.
        LedgerForkedError: it came there by another way.
    """
    if noted is None:
        return
    if noted.sequence == row.state.entries - 1 and noted.hash == row.head:
        if noted.state != row.state.to_text():
            text = f"account {row.terms.name!r} differs from its anchor: {_BESIDE}"
            raise LedgerForkedError(ledger, text)
        return  # nearly always: no entry has to be read
    refuse_unless_there(connection, row, [Expected(noted.account, noted.sequence, noted.hash)], ledger=ledger)
    with readable(ledger, noted.account, noted.sequence):
        known = State.from_text(noted.state)
        has_spent_less = not row.state.total.covers(known.total)
    if has_spent_less:
        raise LedgerRolledBackError(
            ledger, f"account {row.terms.name!r} has spent less than its anchor says: {_BEHIND}"
        )


def refuse_unless_there(
    connection: sa.Connection, row: store.AccountRow, expected: Iterable[Expected], *, ledger: str
) -> None:
    """Look up entries of one account that are known from elsewhere.

    Raises:
        LedgerRolledBackError: one is missing.
        LedgerForkedError: one is another.
    """
    name = row.terms.name
    for each in expected:
        if each.sequence >= row.state.entries:
            last = row.state.entries - 1
            text = f"account {name!r} ends at entry {last}, and once had entry {each.sequence}: {_BEHIND}"
            raise LedgerRolledBackError(ledger, text)
        found = store.entry_at(connection, row.terms, each.sequence, ledger=ledger)
        if found is None or found["hash"] != each.hash:
            raise LedgerForkedError(ledger, f"entry {each.sequence} of account {name!r} is a different one: {_BESIDE}")


def refuse_missing_accounts(held: Iterable[str], noted: Mapping[str, Head | None], *, ledger: str) -> None:
    """Accounts that are known from elsewhere have to be there, unless they were written off.

    Raises:
        LedgerRolledBackError: one is not.
    """
    there = set(held)
    missing = sorted(name for name, head in noted.items() if name not in there and not _is_gone(head))
    if missing:
        raise LedgerRolledBackError(ledger, f"account {missing[0]!r} is missing: {_BEHIND}")
