"""Verifies accounts: reads all entries in order, and recomputes everything that was derived from them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import sqlalchemy as sa

from dpselect.accounting.events import Run, from_json
from dpselect.errors import LedgerDamagedError
from dpselect.ledger import store
from dpselect.ledger.accounts import AccountTerms, State
from dpselect.ledger.anchoring import refuse_behind, refuse_missing_accounts
from dpselect.ledger.anchors import Head
from dpselect.ledger.arguments import short_text
from dpselect.ledger.chain import FIRST, account_seal, canonical, entry_hash, release_hash
from dpselect.ledger.costs import Cost, fraction_of
from dpselect.ledger.damage import damaged_account, readable, refuse_unsound_file
from dpselect.ledger.records import Verified
from dpselect.ledger.schema import accounts, entries, ledger_id, releases

_BITS = 36
"""Two versions or two machines may compute divergences that differ by a relative 2^-36."""


_NUMBERS = sa.select(accounts.c.number)
_CHARGE = (entries.c.account == releases.c.account) & (entries.c.sequence == releases.c.sequence)
_WITHOUT_CHARGE = sa.select(releases.c.sequence).outerjoin(entries, _CHARGE).where(entries.c.sequence.is_(None))


class _WrongEntryError(Exception):
    """The message says what is wrong with the current entry."""


def verified(
    connection: sa.Connection, name: str | None, *, ledger: str, noted: Mapping[str, Head], only_new: bool
) -> list[Verified]:
    """Check one account, or all accounts and that none is missing, also against the heads in `noted`.

    Raises:
        LedgerDamagedError: an entry is not what was written. The error names the first account and entry.
        LedgerRolledBackError: an account has fewer entries than noted.
        LedgerForkedError: a noted entry, or the state after it, is a different one here.
    """
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
    return [
        _verified_account(connection, each, ledger=ledger, noted=noted.get(each), only_new=only_new, own_id=own_id)
        for each in names
    ]


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
) -> Verified:
    row = store.account_row(connection, name, ledger=ledger)
    refuse_behind(connection, row, noted, ledger=ledger)
    state: State | None = None
    head, place, after = FIRST, 0, None
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
                state = _followed(found, state, terms=row.terms, place=place, previous=head, own_id=own_id)
            head, place = found["hash"], place + 1
        if place < row.state.entries:
            raise _WrongEntryError("is missing")
        if place > row.state.entries or state != row.state or head != row.head:
            raise _WrongEntryError("does not follow from the ones before it")
    except _WrongEntryError as wrong:
        raise LedgerDamagedError(ledger, f"entry {place} of account {name!r} {wrong}.") from None
    return Verified(account=name, entries=place, head=head)


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
) -> State:
    """The state after the entry at `place`, which is checked completely."""
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
    return _after(body, state, terms)


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
        case "written-off":
            return _written_off(body, state, terms)
        case _:
            raise _WrongEntryError("is of an unknown kind")
    if not terms.allow(limited.epsilon, limited.total):
        raise _WrongEntryError("sets a limit below what was spent")
    return limited


def _written_off(body: Mapping[str, Any], state: State, terms: AccountTerms) -> State:
    """The state after lost entries were counted as spent. It is one that an anchor knew, and has spent no less."""
    lost = state.written_off(State.from_text(body["state"]))
    if not lost.total.covers(state.total):
        raise _WrongEntryError("gives back what was spent")
    if state.unit not in (None, lost.unit) or not terms.allow(lost.epsilon, lost.total):
        raise _WrongEntryError("is about another account")
    return lost


def _begun(body: Mapping[str, Any], state: State) -> State:
    """The state after a draw begins for a charge that was made ahead: nothing is spent."""
    if type(body["begins"]) is not int or not 0 < body["begins"] < state.entries or {"event", "cost"} & body.keys():
        raise _WrongEntryError("begins no draw")
    return state.charged(state.total, unit=None)


def _charged(body: Mapping[str, Any], state: State, terms: AccountTerms) -> State:
    run = from_json(body["event"])
    event = run.event if isinstance(run, Run) else run
    cost, true = Cost.from_list(body["cost"]), terms.cost(event)
    if (cost.pure, cost.delta) != (true.pure, true.delta) or not _close(cost.renyi, true.renyi):
        raise _WrongEntryError("costs less than its event")
    total = state.total + cost
    if not terms.allow(state.epsilon, total):
        raise _WrongEntryError("passes the limit")
    if isinstance(run, Run) and (run.neighbours is not terms.neighbours or state.unit not in (None, run.unit)):
        raise _WrongEntryError("is about another unit or relation")
    return state.charged(total, unit=run.unit if isinstance(run, Run) else None)


def _close(charged: tuple[int, ...], true: tuple[int, ...]) -> bool:
    """Whether no divergence was understated by more than one unit and `_BITS`; in whole numbers, for speed."""
    pairs = zip(charged, true, strict=True)
    return all((mine + 1) << _BITS >= theirs * (2**_BITS - 1) for mine, theirs in pairs)
