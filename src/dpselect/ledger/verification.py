"""Whether a ledger is what it was: compared with what is known of it elsewhere, and followed entry by entry."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import sqlalchemy as sa

from dpselect.accounting.codec import from_json
from dpselect.accounting.events import Run
from dpselect.accounting.filter import Cost
from dpselect.errors import LedgerDamagedError, LedgerForkedError, LedgerRolledBackError, LedgerUnavailableError
from dpselect.ledger import store
from dpselect.ledger.accounts import (
    FIRST,
    AccountTerms,
    State,
    account_seal,
    canonical,
    cost_from,
    damaged_account,
    entry_hash,
    fraction_of,
    readable,
    release_hash,
)
from dpselect.ledger.anchor import FileAnchor
from dpselect.ledger.arguments import short_text
from dpselect.ledger.records import Head, Verified
from dpselect.ledger.store import accounts, entries, ledger_id, releases

_BITS = 36
"""Two versions or two machines may compute divergences that differ by a relative 2^-36."""


_NUMBERS = sa.select(accounts.c.number)
_CHARGE = (entries.c.account == releases.c.account) & (entries.c.sequence == releases.c.sequence)
_WITHOUT_CHARGE = sa.select(releases.c.sequence).outerjoin(entries, _CHARGE).where(entries.c.sequence.is_(None))


_BEHIND = (
    "an older copy was put in its place, its log was lost, or entries were cut off. Nothing was drawn."
    " Find the complete ledger."
)
_BESIDE = (
    "two copies of the ledger were used, or its history was rewritten. Nothing was drawn. Use only the copy that its"
    " anchor and receipts belong to."
)


class Expected(NamedTuple):
    """An entry that is known from elsewhere."""

    account: str
    sequence: int
    hash: str


def refuse_behind(connection: sa.Connection, row: store.AccountRow, noted: Head | None, *, ledger: str) -> None:
    """Compare an account with the head that was noted of it."""
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
    """Look up entries of one account that are known from elsewhere."""
    name = row.terms.name
    for each in expected:
        if each.sequence >= row.state.entries:
            last = row.state.entries - 1
            text = f"account {name!r} ends at entry {last}, and once had entry {each.sequence}: {_BEHIND}"
            raise LedgerRolledBackError(ledger, text)
        found = store.entry_at(connection, row.terms, each.sequence, ledger=ledger)
        if found is None or found["hash"] != each.hash:
            raise LedgerForkedError(ledger, f"entry {each.sequence} of account {name!r} is a different one: {_BESIDE}")


def refuse_missing_accounts(held: Iterable[str], noted: Iterable[str], *, ledger: str) -> None:
    """Accounts that are known from elsewhere have to be there."""
    there = set(held)
    missing = sorted(name for name in noted if name not in there)
    if missing:
        raise LedgerRolledBackError(ledger, f"account {missing[0]!r} is missing: {_BEHIND}")


class _WrongEntryError(Exception):
    """The message says what is wrong with the current entry."""


def verified(
    connection: sa.Connection,
    name: str | None,
    *,
    ledger: str,
    noted: Mapping[str, Head],
    anchor: FileAnchor | None,
    only_new: bool,
) -> list[Verified]:
    """Check one account, or all and that none is missing, also against the heads that the anchor has `noted`."""
    if not only_new:
        refuse_unsound_file(connection, ledger=ledger)
        _refuse_orphans(connection, ledger=ledger)
    held = store.account_names(connection, ledger=ledger)
    if not held:
        raise LedgerDamagedError(ledger, "there is no account in it, and so nothing to verify.")
    names = held if name is None else [short_text(name, "account")]
    numbers = list(connection.scalars(sa.select(accounts.c.number).order_by(accounts.c.number)))
    if numbers != list(range(1, len(numbers) + 1)):
        raise LedgerDamagedError(ledger, "an account is missing.")
    refuse_missing_accounts(held, noted, ledger=ledger)
    own_id = ledger_id(connection, ledger=ledger)
    found: list[Verified] = []
    for each in names:
        head = noted.get(each)
        verified, once = _verified_account(
            connection, each, ledger=ledger, noted=head, only_new=only_new, own_id=own_id
        )
        if anchor is not None and head is not None and once > head.sequence:
            raise anchor.cut_back(head, once)
        found.append(verified)
    return found


def refuse_unsound_file(connection: sa.Connection, *, ledger: str) -> None:
    """Let SQLite check every page and index: with a damaged index a request is not found, and is charged again."""
    if connection.dialect.name != "sqlite":
        return
    found = str(connection.exec_driver_sql("PRAGMA integrity_check(1)").scalar())
    unread = re.search(r"error code=([0-9]+)", found)  # of a page: SQLite reports it like damage, and goes on
    if unread is not None and int(unread[1]) & 0xFF == sqlite3.SQLITE_IOERR:
        raise LedgerUnavailableError(ledger, "the disk failed while its file was read. Try again.")
    if found != "ok":
        text = "its file is damaged: a page or an index is not as SQLite writes it (PRAGMA integrity_check)."
        raise LedgerDamagedError(ledger, f"{text} Restore it and verify it.")


def _refuse_orphans(connection: sa.Connection, *, ledger: str) -> None:
    """Refuse entries whose account is missing, and stored releases whose charge is missing."""
    entry = connection.scalar(sa.select(entries.c.account).where(entries.c.account.not_in(_NUMBERS)).limit(1))
    if entry is not None:
        raise LedgerDamagedError(ledger, "an account is missing: its entries are there.")
    release = connection.execute(_WITHOUT_CHARGE.limit(1)).first()
    if release is not None:
        raise LedgerDamagedError(ledger, "an entry is missing: the release stored for it is there.")


def _verified_account(
    connection: sa.Connection, name: str, *, ledger: str, noted: Head | None, only_new: bool, own_id: str
) -> tuple[Verified, int]:
    """The account, and the largest number that its entries say that an anchor had noted."""
    row = store.account_row(connection, name, ledger=ledger)
    refuse_behind(connection, row, noted, ledger=ledger)
    state: State | None = None
    head, place, after, once = FIRST, 0, None, -1
    if only_new and noted is not None:
        state = _state_of(noted, row.terms, ledger=ledger)
        head, place, after = noted.hash, noted.sequence + 1, noted.sequence
    try:
        for found in store.entry_rows(connection, row.terms, ledger=ledger, after=after):
            if found["sequence"] < 0:
                raise LedgerDamagedError(
                    ledger, f"account {name!r} has an entry {found['sequence']}, before its first."
                )
            with readable(ledger, name, place):
                state, known = _followed(found, state, terms=row.terms, place=place, previous=head, own_id=own_id)
            once = max(once, known)
            head, place = found["hash"], place + 1
        if place < row.state.entries:
            raise _WrongEntryError("is missing")
        if place > row.state.entries or state != row.state or head != row.head:
            raise _WrongEntryError("does not follow from the ones before it")
    except _WrongEntryError as wrong:
        raise LedgerDamagedError(ledger, f"entry {place} of account {name!r} {wrong}.") from None
    return Verified(account=name, entries=place, head=head), once


def _state_of(noted: Head, terms: AccountTerms, *, ledger: str) -> State:
    """The account's state at that head. The seal shows that the terms were the same."""
    if account_seal(terms.number, terms.name, terms.to_text(), noted.state, noted.hash) != noted.seal:
        raise damaged_account(ledger, terms.name)
    with readable(ledger, terms.name, noted.sequence):
        return State.from_text(noted.state)


def _followed(
    found: Mapping[Any, Any],
    state: State | None,
    *,
    terms: AccountTerms,
    place: int,
    previous: str,
    own_id: str,
) -> tuple[State, int]:
    """The state after the entry at `place`, which is checked completely, and the number that it says was noted."""
    if found["sequence"] != place:
        raise _WrongEntryError("is missing")
    if entry_hash(previous, found["body"]) != found["hash"]:
        raise _WrongEntryError("was changed, or one before it")
    body: dict[str, Any] = json.loads(found["body"])
    if canonical(body) != found["body"]:
        raise _WrongEntryError("is not written as entries are")
    if (body["account"], body["sequence"], body.get("request")) != (terms.name, place, found["request"]):
        raise _WrongEntryError("belongs elsewhere")
    if body["ledger"] != own_id:
        raise _WrongEntryError("belongs to another ledger")
    if found["release"] is not None and release_hash(found["hash"], found["release"]) != found["release_hash"]:
        raise _WrongEntryError("has another release than was stored")
    noted = body.get("noted", -1)
    if type(noted) is not int or not -1 <= noted < max(place, 0):
        raise _WrongEntryError("says what no anchor noted")
    return _after(body, state, terms), noted


def _after(body: Mapping[str, Any], state: State | None, terms: AccountTerms) -> State:
    if state is None:
        if body["kind"] != "open" or body["terms"] != terms.to_text():
            raise _WrongEntryError("does not open the account on its terms")
        return State.opened(terms, epsilon=fraction_of(body["epsilon"]), unit=body["unit"])
    if not state.is_open:
        raise _WrongEntryError("comes after the account was closed")
    match body["kind"]:
        case "charge" if "begins" in body:
            return _begun(body, state)
        case "charge":
            return _charged(body, state, terms)
        case "limit":
            limited = state.limited(fraction_of(body["epsilon"]))
        case "close":
            limited = state.closed()
        case _:
            raise _WrongEntryError("is of an unknown kind")
    if not terms.allow(limited.epsilon, limited.total):
        raise _WrongEntryError("sets a limit below what was spent")
    return limited


def _begun(body: Mapping[str, Any], state: State) -> State:
    """The state after a draw begins for a charge that was made ahead: nothing is spent."""
    if type(body["begins"]) is not int or not 0 < body["begins"] < state.entries or {"event", "cost"} & body.keys():
        raise _WrongEntryError("begins no draw")
    return state.charged(state.total, unit=None)


def _charged(body: Mapping[str, Any], state: State, terms: AccountTerms) -> State:
    run = from_json(body["event"])
    event = run.event if isinstance(run, Run) else run
    cost, true = cost_from(body["cost"]), terms.cost(event)
    if not (_is_at_least(cost, true) or (not state.total.pure and _is_planned(cost, terms.planned_cost(event)))):
        raise _WrongEntryError("costs less than its event")
    total = state.total + cost
    if not terms.allow(state.epsilon, total):
        raise _WrongEntryError("passes the limit")
    if isinstance(run, Run) and (run.neighbours is not terms.neighbours or state.unit not in (None, run.unit)):
        raise _WrongEntryError("is about another unit or relation")
    return state.charged(total, unit=run.unit if isinstance(run, Run) else None)


def _is_at_least(cost: Cost, true: Cost) -> bool:
    """Whether no divergence was understated by more than one unit and `_BITS`; in whole numbers, for speed."""
    pairs = zip(cost.renyi, true.renyi, strict=True)
    return (cost.pure, cost.delta) == (true.pure, true.delta) and all(
        (mine + 1) << _BITS >= theirs * (2**_BITS - 1) for mine, theirs in pairs
    )


def _is_planned(cost: Cost, planned: Cost | None) -> bool:
    """Whether an account's first charge costs what it was planned at, to `_BITS`, and closes the orders."""
    if planned is None or (cost.delta, cost.renyi) != (planned.delta, planned.renyi):
        return False
    return cost.pure * 2**_BITS >= planned.pure * (2**_BITS - 1)
