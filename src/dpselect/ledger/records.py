"""The frozen values that a ledger returns: accounts, entries, receipts; and the one reader of entries."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from dpselect.accounting.codec import from_json
from dpselect.accounting.events import Run
from dpselect.accounting.rounding import fraction_down, fraction_up
from dpselect.ledger.accounts import fraction_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """Proof that something was charged, before it was drawn.

    Attributes:
        account: name of the account.
        sequence: number of the entry in the account; the opening is 0.
        hash: hash of this entry and all before it. Kept outside the ledger, it shows later whether they still exist.
        time: the public time: the day or hour, in UTC, in which the question was asked. The time of the charge, which
            depends on how long reading took, is only in the ledger.
        question: hash of the certificate without its answer, if the charge was for one, or None.
        request: the request id of the charge, or None.
        release: the stored answer of the request, if it was answered before. Nothing was charged then.
        ledger: id of the ledger, which its copies share.
    """

    account: str
    sequence: int
    hash: str
    time: str
    request: str | None = None
    release: str | None = None
    question: str | None = None
    ledger: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """For a certificate: everything but the release."""
        held = {"account": self.account, "sequence": self.sequence, "hash": self.hash, "time": self.time}
        optional = {"question": self.question, "request": self.request, "ledger": self.ledger}
        return held | {name: value for name, value in optional.items() if value is not None}


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One line of an account's history.

    Attributes:
        sequence: number of the entry. Entries are ordered by it, because clocks may jump.
        kind: ``"open"``, ``"charge"``, ``"begin"``, ``"limit"`` or ``"close"``. A ``"begin"`` costs
            nothing: a charge that was made ahead is drawn for after it.
        time: the time by the clock of the process that wrote it; for the ledger's holder only
            (``docs/sharp-edges.md``).
        epsilon: for a charge, its epsilon by basic composition, rounded up; for an opening or a limit, the limit.
        delta: for a charge, the event's own delta; for an opening, the account's.
        what: for a charge, the mechanism or the type of event.
        request: the request id, or None.
        note: the caller's note.
        hash: hash of this entry and all before it.
        body: the entry itself, as it is hashed.
        release: the stored answer of its request, or None.
        receipt: for a charge, its receipt; else None.
    """

    sequence: int
    kind: str
    time: str
    epsilon: float
    delta: float
    what: str
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


def entry_of(row: Mapping[Any, Any]) -> Entry:
    """The entry of a row; raises whatever its text leads to, if no ledger wrote it."""
    body = body_of(row)
    epsilon, delta, what, receipt = 0.0, 0.0, "", None
    kind = "begin" if BEGINS in body else _text(body["kind"])
    if kind == "charge":
        run = from_json(body["event"])
        event = run.event if isinstance(run, Run) else run
        epsilon, delta = event.epsilon, event.delta
        what = run.mechanism if isinstance(run, Run) else type(event).__name__
        receipt = receipt_of(body, row["sequence"], row["hash"])
    elif kind in ("open", "limit"):
        epsilon = fraction_down(fraction_of(body["epsilon"]))
    elif kind == "begin":
        what = f"the draw for entry {int(body[BEGINS])}"
    if kind == "open":
        delta = fraction_up(fraction_of(json.loads(body["terms"])["delta"]))
    return Entry(
        sequence=row["sequence"],
        kind=kind,
        time=_text(body["time"]),
        epsilon=epsilon,
        delta=delta,
        what=what,
        request=row["request"],
        note=_text(body.get("note", "")),
        hash=row["hash"],
        body=body,
        release=row["release"],
        receipt=receipt,
    )


def receipt_of(body: Mapping[str, Any], sequence: int, digest: str) -> Receipt:
    """The receipt of a charge whose entry says this, with this number and hash."""
    question, request = body.get("question"), body.get("request")
    return Receipt(
        account=_text(body["account"]),
        sequence=sequence,
        hash=digest,
        time=_text(body["public_time"]),
        request=None if request is None else _text(request),
        question=None if question is None else _text(question),
        ledger=_text(body["ledger"]),
    )


AHEAD, BEGINS = "ahead", "begins"
"""Fields of entries: of a charge that was made ahead, and of one that begins the draw for it, with its number."""


def charged_ahead(held: Sequence[Entry], certificate: str | None) -> tuple[list[Receipt], list[Receipt]]:
    """The receipts of charges ahead among the entries of a request: those not drawn for, and those begun.

    The hash of a certificate is not compared if it is None.
    """
    waiting: dict[int, Receipt] = {}
    begun: list[Receipt] = []
    for entry in held:
        if BEGINS in entry.body:
            found = waiting.pop(entry.body[BEGINS], None)
            begun += [] if found is None else [found]
        elif AHEAD in entry.body and entry.receipt and certificate in (None, entry.receipt.question):
            waiting[entry.sequence] = entry.receipt
    return list(waiting.values()), begun


def body_of(row: Mapping[Any, Any]) -> dict[str, Any]:
    """What an entry says."""
    body = json.loads(row["body"])
    if not isinstance(body, dict):
        raise TypeError("not an entry")
    return cast(dict[str, Any], body)


def _text(held: object) -> str:
    if not isinstance(held, str):
        raise TypeError("not text")
    return held
