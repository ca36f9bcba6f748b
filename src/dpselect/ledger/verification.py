"""Reading an account's entries from the first to the last, and believing nothing that was derived from them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import sqlalchemy as sa

from dpselect.accounting.events import Run, from_json
from dpselect.errors import LedgerDamagedError
from dpselect.ledger import store
from dpselect.ledger.accounts import State, Terms
from dpselect.ledger.arguments import short_text
from dpselect.ledger.chain import FIRST, canonical, entry_hash, release_hash
from dpselect.ledger.costs import Cost
from dpselect.ledger.damage import readable, refuse_unsound_file
from dpselect.ledger.exact import fraction_of
from dpselect.ledger.records import Verified
from dpselect.ledger.schema import accounts, entries, releases

_CLOSE = Fraction(1, 2**36)
"""Two versions, or two machines, may compute a divergence so differently, relative to itself."""


_NUMBERS = sa.select(accounts.c.number)
_CHARGE = (entries.c.account == releases.c.account) & (entries.c.sequence == releases.c.sequence)
_WITHOUT_CHARGE = sa.select(releases.c.sequence).outerjoin(entries, _CHARGE).where(entries.c.sequence.is_(None))


class _WrongEntryError(Exception):
    """What is wrong with the entry at hand."""


def verified(connection: sa.Connection, name: str | None, *, ledger: str) -> list[Verified]:
    """Check one account, or all of them and that none is missing.

    Raises:
        LedgerDamagedError: names the first account and entry that are not what was written.
    """
    refuse_unsound_file(connection, ledger=ledger)
    held = store.account_names(connection, ledger=ledger)
    _refuse_orphans(connection, ledger=ledger)
    if not held:
        raise LedgerDamagedError(ledger, "there is no account in it, and so nothing that could be verified.")
    names = held if name is None else [short_text(name, "account")]
    numbers = list(connection.scalars(sa.select(accounts.c.number).order_by(accounts.c.number)))
    if numbers != list(range(1, len(numbers) + 1)):
        raise LedgerDamagedError(ledger, "an account is missing.")
    return [_verified_account(connection, each, ledger=ledger) for each in names]


def _refuse_orphans(connection: sa.Connection, *, ledger: str) -> None:
    """Entries whose account is not there, and stored releases whose charge is not."""
    entry = connection.scalar(sa.select(entries.c.account).where(entries.c.account.not_in(_NUMBERS)).limit(1))
    if entry is not None:
        raise LedgerDamagedError(ledger, "an account is missing: its entries are there.")
    release = connection.execute(_WITHOUT_CHARGE.limit(1)).first()
    if release is not None:
        raise LedgerDamagedError(ledger, "an entry is missing: the release stored for it is there.")


def _verified_account(connection: sa.Connection, name: str, *, ledger: str) -> Verified:
    row = store.account_row(connection, name, ledger=ledger)
    state: State | None = None
    head, place = FIRST, 0
    try:
        for found in store.entry_rows(connection, row.terms, ledger=ledger):
            if found["sequence"] < 0:
                raise LedgerDamagedError(
                    ledger, f"account {name!r} has an entry {found['sequence']}, before its first."
                )
            with readable(ledger, name, place):
                state = _followed(found, state, terms=row.terms, place=place, previous=head)
            head, place = found["hash"], place + 1
        if place < row.state.entries:
            raise _WrongEntryError("is missing")
        if place > row.state.entries or state != row.state or head != row.head:
            raise _WrongEntryError("does not follow from the ones before it")
    except _WrongEntryError as wrong:
        raise LedgerDamagedError(ledger, f"entry {place} of account {name!r} {wrong}.") from None
    return Verified(account=name, entries=place, head=head)


def _followed(found: Mapping[Any, Any], state: State | None, *, terms: Terms, place: int, previous: str) -> State:
    """The state after the entry at `place`, all of it checked."""
    if found["sequence"] != place:
        raise _WrongEntryError("is missing")
    if entry_hash(previous, found["body"]) != found["hash"]:
        raise _WrongEntryError("was changed, or one before it")
    body: dict[str, Any] = json.loads(found["body"])
    if canonical(body) != found["body"]:
        raise _WrongEntryError("is not written as entries are")
    if (body["account"], body["sequence"], body.get("request")) != (terms.name, place, found["request"]):
        raise _WrongEntryError("belongs elsewhere")
    if found["release"] is not None and release_hash(found["hash"], found["release"]) != found["release_hash"]:
        raise _WrongEntryError("has another release than was stored")
    return _after(body, state, terms)


def _after(body: Mapping[str, Any], state: State | None, terms: Terms) -> State:
    if state is None:
        if body["kind"] != "open" or body["terms"] != terms.to_text():
            raise _WrongEntryError("does not open the account on its terms")
        return State.opened(terms, epsilon=fraction_of(body["epsilon"]), unit=body["unit"])
    if not state.is_open:
        raise _WrongEntryError("comes after the account was closed")
    match body["kind"]:
        case "charge":
            return _charged(body, state, terms)
        case "limit":
            limited = state.limited(fraction_of(body["epsilon"]))
        case "close":
            limited = state.closed()
        case _:
            raise _WrongEntryError("is of no kind that there is")
    if not terms.allow(limited.epsilon, limited.total):
        raise _WrongEntryError("sets a limit below what was spent")
    return limited


def _charged(body: Mapping[str, Any], state: State, terms: Terms) -> State:
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
    """Whether no divergence was understated."""
    pairs = zip(charged, true, strict=True)
    return all(mine >= theirs - theirs * _CLOSE - 1 for mine, theirs in pairs)
