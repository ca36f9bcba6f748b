"""Entries and receipts: what an entry says, and whether an account followed its entries from the opening on."""

from __future__ import annotations

import functools
import json
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from typing import Any

from dpselect.accounting.codec import from_json
from dpselect.accounting.events import Run
from dpselect.accounting.filter import Cost
from dpselect.checks import fraction_down, fraction_up
from dpselect.errors import LedgerDamagedError
from dpselect.ledger.accounts import UNREADABLE, Account, canonical, cost_from, digest, fraction_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """Proof that something was charged, before it was drawn.

    Attributes:
        sequence: number of the entry in the account; the opening is 0.
        hash: hash of this entry and all before it. Kept outside the ledger, it shows later whether they still exist.
        time: the public time: the day or hour, in UTC, in which the question was asked.
        question: hash of the certificate without its answer, if the charge was for one.
        ledger: id of the ledger, which its copies share.
        release: the stored answer of the request, if it was answered before. Nothing was charged then.
    """

    account: str
    sequence: int
    hash: str
    time: str
    question: str | None = None
    request: str | None = None
    ledger: str | None = None
    release: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """For a certificate: everything but the release."""
        return {name: value for name, value in asdict(self).items() if value is not None and name != "release"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One line of an account's history.

    Attributes:
        sequence: number of the entry. Entries are ordered by it, because clocks may jump.
        kind: ``"open"``, ``"charge"``, ``"begin"``, ``"limit"`` or ``"close"``. A ``"begin"`` costs nothing: a charge
            that was made ahead is drawn for after it.
        time: by the clock of the process that wrote it; for the ledger's holder only (``docs/sharp-edges.md``).
        epsilon: for a charge, its epsilon by basic composition, rounded up; for an opening or a limit, the limit.
        delta: for a charge, the event's own delta; for an opening, the account's.
        what: for a charge, the mechanism or the type of event.
        hash: hash of this entry and all before it.
        body: the entry itself, as it is hashed.
        release: the stored answer of its request.
        receipt: of a charge.
    """

    sequence: int
    kind: str
    time: str
    epsilon: float = 0.0
    delta: float = 0.0
    what: str = ""
    request: str | None
    note: str
    hash: str
    body: Mapping[str, Any]
    release: str | None = None
    receipt: Receipt | None = None

    def to_dict(self) -> dict[str, Any]:
        """As plain Python values for JSON."""
        names = ("sequence", "kind", "time", "epsilon", "delta", "what", "request", "note", "hash")
        return {name: getattr(self, name) for name in names}


def entry_of(row: Mapping[Any, Any], account: str, *, ledger: str) -> Entry:
    """The entry of a row; `LedgerDamagedError`, if no ledger wrote it."""
    with readable(account, row["sequence"], ledger=ledger):
        texts = isinstance(row["body"], str) and isinstance(row["hash"], str)
        others = all(isinstance(row[name], str | None) for name in ("request", "release", "release_hash"))
        if not (texts and others and isinstance(row["sequence"], int)):
            raise TypeError("not the row of an entry")
        sealed = None if row["release"] is None else digest("release", row["hash"], row["release"])
        _must(sealed == row["release_hash"], "has another release than was stored")
        body: dict[str, Any] = json.loads(row["body"])
        _must(canonical(body) == row["body"], "is not written as entries are")
        kind = "begin" if BEGINS in body else _text(body["kind"])
        said: dict[str, Any] = {name: row[name] for name in ("sequence", "request", "hash", "release")}
        if kind == "charge":
            run = _run_of(body["event"])
            event, what = (run.event, run.mechanism) if isinstance(run, Run) else (run, type(run).__name__)
            receipt = receipt_of(body, row["sequence"], row["hash"])
            said |= {"epsilon": event.epsilon, "delta": event.delta, "what": what, "receipt": receipt}
        elif kind in ("open", "limit"):
            said["epsilon"] = fraction_down(fraction_of(body["epsilon"]))
        elif kind == "begin":
            said["what"] = f"the draw for entry {int(body[BEGINS])}"
        if kind == "open":
            said["delta"] = fraction_up(fraction_of(json.loads(body["terms"])["delta"]))
        return Entry(kind=kind, time=_text(body["time"]), note=_text(body.get("note", "")), body=body, **said)


def receipt_of(body: Mapping[str, Any], sequence: int, digest: str) -> Receipt:
    said = {name: _text(body[name]) for name in ("account", "ledger", "request", "question") if name in body}
    return Receipt(**said, time=_text(body["public_time"]), sequence=sequence, hash=digest)


AHEAD, BEGINS = "ahead", "begins"
"""Fields of entries: of a charge that was made ahead, and of one that begins the draw for it, with its number."""


def charged_ahead(held: Sequence[Entry], certificate: str | None) -> tuple[Receipt | None, bool]:
    """The first charge ahead under a request, of this certificate or of any, not drawn for; and whether one was begun.

    Whoever draws first commits an entry that begins this draw and costs nothing. So a charge ahead without one was
    never drawn for, and after a crash the next attempt uses it. One that was begun may have been, and is charged again.
    """
    waiting, begun = dict[int, Receipt](), False
    for entry in held:
        if BEGINS in entry.body:
            begun |= waiting.pop(entry.body[BEGINS], None) is not None
        elif AHEAD in entry.body and entry.receipt and certificate in (None, entry.receipt.question):
            waiting[entry.sequence] = entry.receipt
    return next(iter(waiting.values()), None), begun


class WrongEntryError(ValueError):
    """What is wrong with the current entry."""


def _must(hold: bool, wrong: str) -> None:
    if not hold:
        raise WrongEntryError(wrong)


def _text(held: object) -> str:
    if not isinstance(held, str):
        raise TypeError("not text")
    return held


@contextmanager
def readable(account: str, place: object, *, ledger: str) -> Generator[None]:
    """A block that reads an entry: whatever it raises becomes damage, because no ledger wrote that."""
    try:
        yield
    except UNREADABLE as error:
        shown = place if isinstance(place, int) else "?"
        wrong = str(error) if isinstance(error, WrongEntryError) else "cannot be read"
        raise LedgerDamagedError(ledger, f"entry {shown} of account {account!r} {wrong}.") from None


_run_of = functools.lru_cache(maxsize=256)(from_json)  # the same events come again and again

_BITS = 36  # two versions or two machines may compute divergences that differ by a relative 2^-36


def followed(account: Account, entries: Iterable[Entry], *, ledger: str, own_id: str) -> int:
    """Follow the account from its opening to what it says now; the largest number that entries say was noted, or -1."""
    before, once = Account.unopened(account.terms), -1
    for entry in entries:
        with readable(account.name, before.entries, ledger=ledger):
            body, place = entry.body, before.entries
            _must(entry.sequence == place, "is missing")
            _must(digest("entry", before.head, canonical(body)) == entry.hash, "was changed, or one before it")
            where = body["ledger"], body["account"], body["sequence"], body.get("request")
            _must(where == (own_id, account.name, place, entry.request), "belongs elsewhere")
            noted = body.get("noted", -1)
            _must(type(noted) is int and -1 <= noted < place, "says what no anchor noted")
            before, once = replace(after(body, before), head=entry.hash), max(once, noted)
    with readable(account.name, before.entries, ledger=ledger):
        _must(before.entries >= account.entries, "is missing")
        _must(before == account, "does not follow from the ones before it")
    return once


def after(body: Mapping[str, Any], before: Account) -> Account:
    """The account after an entry that says this, but for its hash: for who writes it, and for who follows it."""
    if not before.entries:
        opens = body["kind"] == "open" and body["terms"] == before.terms
        _must(opens, "does not open the account on its terms")
        return before.next(epsilon=fraction_of(body["epsilon"]), unit=body["unit"])
    _must(before.is_open, "comes after the account was closed")
    match body["kind"]:
        case "charge" if BEGINS in body:  # the draw for a charge that was made ahead: nothing is spent
            begins, is_free = body[BEGINS], not {"event", "cost"} & body.keys()
            _must(type(begins) is int and 0 < begins < before.entries and is_free, "begins no draw")
            return before.next()
        case "charge":
            run = _run_of(body["event"])
            event, unit = (run.event, run.unit) if isinstance(run, Run) else (run, before.unit)
            cost, true = cost_from(body["cost"]), before.limits.cost(event)
            is_first = not before.total.pure
            is_paid = _is_at_least(cost, true) or (is_first and _is_at_least(cost, before.limits.planned_cost(event)))
            _must(is_paid, "costs less than its event")
            charged = before.next(total=before.total + cost, unit=unit)
            _must(charged.allows(charged.total), "passes the limit")
            fits = not isinstance(run, Run) or (run.neighbours is before.neighbours and before.unit in (None, unit))
            _must(fits, "is about another unit or relation")
            return charged
        case "limit":
            limited = before.next(epsilon=fraction_of(body["epsilon"]))
        case "close":
            limited = before.next(is_open=False)
        case _:
            raise WrongEntryError("is of an unknown kind")
    _must(limited.allows(limited.total), "sets a limit below what was spent")
    return limited


def _is_at_least(cost: Cost, true: Cost | None) -> bool:
    """Whether no divergence was understated by more than one unit and `_BITS`; an epsilon may be a logarithm, too."""
    if true is None:
        return False
    pairs = zip(cost.renyi, true.renyi, strict=True)
    is_close = abs(cost.pure - true.pure) * 2**_BITS <= true.pure and cost.delta == true.delta
    return is_close and all((mine + 1) << _BITS >= theirs * (2**_BITS - 1) for mine, theirs in pairs)
