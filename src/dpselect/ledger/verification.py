"""Whether a ledger is what it was: compared with what is known of it elsewhere, and followed entry by entry."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from dpselect.accounting.codec import from_json
from dpselect.accounting.events import Run
from dpselect.accounting.filter import Cost
from dpselect.errors import LedgerDamagedError, LedgerForkedError, LedgerRolledBackError, LedgerUnavailableError
from dpselect.ledger.accounts import (
    FIRST,
    Account,
    Head,
    canonical,
    cost_from,
    digest,
    fraction_of,
)
from dpselect.ledger.records import body_of
from dpselect.ledger.sqlite import Transaction
from dpselect.ledger.store import Book, readable

_BITS = 36
"""Two versions or two machines may compute divergences that differ by a relative 2^-36."""

_WITHOUT_ACCOUNT = "SELECT 1 FROM dpselect_entries WHERE account NOT IN (SELECT number FROM dpselect_accounts) LIMIT 1"
_WITHOUT_CHARGE = """\
SELECT 1 FROM dpselect_releases AS r
 LEFT JOIN dpselect_entries AS e ON e.account = r.account AND e.sequence = r.sequence
 WHERE e.sequence IS NULL LIMIT 1"""

_SURPLUS = """\
SELECT sequence FROM dpselect_entries WHERE account = :account AND (sequence < 0 OR sequence >= :end) LIMIT 1"""

_BEHIND = "an older copy was put in its place, or entries were cut off. Nothing was drawn. Find the complete ledger."
_BESIDE = (
    "two copies of the ledger were used, or its history was rewritten. Nothing was drawn. Use only the copy that its"
    " anchor and receipts belong to."
)


def refuse_behind(book: Book, account: Account, noted: Head | None) -> None:
    """Compare an account with the head that was noted of it."""
    if noted is None:
        return
    name = account.name
    if noted.sequence == account.entries - 1 and noted.hash == account.head:
        if noted.state != account.state:
            raise LedgerForkedError(book.ledger, f"account {name!r} differs from its anchor: {_BESIDE}")
        return  # nearly always: no entry has to be read
    once, last = noted.sequence, account.entries - 1
    if once > last:
        text = f"account {name!r} ends at entry {last}, and once had entry {once}: {_BEHIND}"
        raise LedgerRolledBackError(book.ledger, text)
    if not book.has(account, once, noted.hash):
        raise LedgerForkedError(book.ledger, f"entry {once} of account {name!r} is a different one: {_BESIDE}")
    with readable(name, once, ledger=book.ledger):
        known = Account.of_texts(account.terms, noted.state, noted.hash)
        has_spent_less = not account.total.covers(known.total)
    if has_spent_less:
        raise LedgerRolledBackError(book.ledger, f"account {name!r} has spent less than its anchor says: {_BEHIND}")


def refuse_missing_accounts(book: Book, held: Iterable[str], noted: Iterable[str]) -> None:
    """Accounts that are known from elsewhere have to be there."""
    missing = sorted({*noted} - {*held})
    if missing:
        raise LedgerRolledBackError(book.ledger, f"account {missing[0]!r} is missing: {_BEHIND}")


class _WrongEntryError(Exception):
    """The message says what is wrong with the current entry."""


def refuse_unsound(book: Book) -> None:
    """Check the whole ledger: its pages and indexes, and that no account and no charge of a release is missing."""
    if not book.connection.lock:  # a file; a server looks after its own
        refuse_unsound_file(book.connection, ledger=book.ledger)
    if book.connection.execute(_WITHOUT_ACCOUNT):
        raise LedgerDamagedError(book.ledger, "an account is missing: its entries are there.")
    if book.connection.execute(_WITHOUT_CHARGE):
        raise LedgerDamagedError(book.ledger, "an entry is missing: the release stored for it is there.")


def account_names(book: Book, noted: Iterable[str]) -> list[str]:
    """The names of all accounts, after a look that none is missing, also of those that the anchor has `noted`."""
    names = book.names()
    if not names:
        raise LedgerDamagedError(book.ledger, "there is no account in it, and so nothing to verify.")
    numbers = book.connection.execute("SELECT number FROM dpselect_accounts ORDER BY number")
    if [row["number"] for row in numbers] != list(range(1, len(names) + 1)):
        raise LedgerDamagedError(book.ledger, "an account is missing.")
    refuse_missing_accounts(book, names, noted)
    return names


def refuse_unsound_file(connection: Transaction, *, ledger: str) -> None:
    """Let SQLite check every page and index: with a damaged index a request is not found, and is charged again."""
    found = str(connection.scalar("PRAGMA integrity_check(1)"))
    unread = re.search(r"error code=([0-9]+)", found)  # of a page: SQLite reports it like damage, and goes on
    if unread is not None and int(unread[1]) & 0xFF == sqlite3.SQLITE_IOERR:
        raise LedgerUnavailableError(ledger, "the disk failed while its file was read. Try again.")
    if found != "ok":
        text = "its file is damaged: a page or an index is not as SQLite writes it (PRAGMA integrity_check)."
        raise LedgerDamagedError(ledger, f"{text} Restore it and verify it.")


def refuse_surplus(book: Book, account: Account) -> None:
    """Refuse entries that the account does not count."""
    place = book.connection.scalar(_SURPLUS, account=account.number, end=account.entries)
    if place is not None:
        text = f"account {account.name!r} has an entry {place}, which it does not count."
        raise LedgerDamagedError(book.ledger, text)


def followed(account: Account, rows: Iterable[Mapping[Any, Any]], *, ledger: str, own_id: str) -> int:
    """Follow the account from its opening to what it says now.

    Returns the largest number that an anchor had noted, as the entries say; -1 if they say nothing of one.
    """
    name, place, once = account.name, 0, -1
    before: Account | None = None
    try:
        for row in rows:
            with readable(name, place, ledger=ledger):
                before, known = _followed(row, before, account, place=place, own_id=own_id)
            place, once = place + 1, max(once, known)
        if place < account.entries:
            raise _WrongEntryError("is missing")
        if before != account:
            raise _WrongEntryError("does not follow from the ones before it")
    except _WrongEntryError as wrong:
        raise LedgerDamagedError(ledger, f"entry {place} of account {name!r} {wrong}.") from None
    return once


def _followed(
    row: Mapping[Any, Any], before: Account | None, account: Account, *, place: int, own_id: str
) -> tuple[Account, int]:
    """The account after the entry at `place`, which is checked completely, and the number that it says was noted."""
    if row["sequence"] != place:
        raise _WrongEntryError("is missing")
    if digest("entry", FIRST if before is None else before.head, row["body"]) != row["hash"]:
        raise _WrongEntryError("was changed, or one before it")
    body = body_of(row)
    if canonical(body) != row["body"]:
        raise _WrongEntryError("is not written as entries are")
    if (body["account"], body["sequence"], body.get("request")) != (account.name, place, row["request"]):
        raise _WrongEntryError("belongs elsewhere")
    if body["ledger"] != own_id:
        raise _WrongEntryError("belongs to another ledger")
    noted = body.get("noted", -1)
    if type(noted) is not int or not -1 <= noted < max(place, 0):
        raise _WrongEntryError("says what no anchor noted")
    if before is not None:
        return replace(_after(body, before), head=row["hash"]), noted
    if body["kind"] != "open" or body["terms"] != account.terms:
        raise _WrongEntryError("does not open the account on its terms")
    opened = Account.opened(account.terms, epsilon=fraction_of(body["epsilon"]), unit=body["unit"])
    return replace(opened, head=row["hash"]), noted


def _after(body: Mapping[str, Any], before: Account) -> Account:
    if not before.is_open:
        raise _WrongEntryError("comes after the account was closed")
    match body["kind"]:
        case "charge" if "begins" in body:  # the draw for a charge that was made ahead: nothing is spent
            begins = body["begins"]
            if type(begins) is not int or not 0 < begins < before.entries or {"event", "cost"} & body.keys():
                raise _WrongEntryError("begins no draw")
            return before.next()
        case "charge":
            return _charged(body, before)
        case "limit":
            limited = before.next(epsilon=fraction_of(body["epsilon"]))
        case "close":
            limited = before.next(is_open=False)
        case _:
            raise _WrongEntryError("is of an unknown kind")
    if not limited.allows(limited.total):
        raise _WrongEntryError("sets a limit below what was spent")
    return limited


def _charged(body: Mapping[str, Any], before: Account) -> Account:
    run = from_json(body["event"])
    event = run.event if isinstance(run, Run) else run
    cost, true = cost_from(body["cost"]), before.limits.cost(event)
    is_first = not before.total.pure
    if not (_is_at_least(cost, true) or (is_first and _is_planned(cost, before.limits.planned_cost(event)))):
        raise _WrongEntryError("costs less than its event")
    if not before.allows(before.total + cost):
        raise _WrongEntryError("passes the limit")
    if not isinstance(run, Run):
        return before.charged(cost, unit=None)
    if run.neighbours is not before.neighbours or before.unit not in (None, run.unit):
        raise _WrongEntryError("is about another unit or relation")
    return before.charged(cost, unit=run.unit)


def _is_at_least(cost: Cost, true: Cost) -> bool:
    """Whether no divergence was understated by more than one unit and `_BITS`; in whole numbers, for speed.

    An epsilon may itself be computed by logarithms (`PrivateCandidatesEvent`): it agrees to `_BITS`, too.
    """
    pairs = zip(cost.renyi, true.renyi, strict=True)
    is_close = abs(cost.pure - true.pure) * 2**_BITS <= true.pure and cost.delta == true.delta
    return is_close and all((mine + 1) << _BITS >= theirs * (2**_BITS - 1) for mine, theirs in pairs)


def _is_planned(cost: Cost, planned: Cost | None) -> bool:
    """Whether an account's first charge costs what it was planned at, to `_BITS`, and closes the orders."""
    if planned is None or (cost.delta, cost.renyi) != (planned.delta, planned.renyi):
        return False
    return cost.pure * 2**_BITS >= planned.pure * (2**_BITS - 1)
