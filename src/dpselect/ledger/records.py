"""What a ledger answers with: accounts, entries and receipts, as frozen values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from dpselect.accounting.rounding import fraction_down, fraction_up
from dpselect.privacy import Neighbours


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """Proof that something was charged, before it was drawn.

    Attributes:
        account: its name.
        sequence: which entry of the account it is; the opening is 0.
        hash: of this entry and all before it. Kept outside of the ledger, it shows later whether they are still there.
        time: what everybody may know of when: the day or the hour in which it was asked for, in UTC. The time of the
            charge, which depends on how long reading took, is only in the ledger.
        question: hash of all that the certificate says but the answer, if the charge was for one, or None.
        request: the request id it was charged under, or None.
        release: the stored answer of that request, if it was answered before. Nothing was charged then.
        ledger: id of the ledger that it was charged to, which copies of it share; None of a charge from before ledgers
            had one.
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


_HARDLY_ANYTHING = 1e-9


def epsilon_left(left: float, *, equals: str = " = ") -> str:
    """What is left, for a sentence. An epsilon that answers nothing may be: of parts that were rounded down.

    Charges are compared exactly, whatever is shown.

    >>> epsilon_left(0.25), epsilon_left(0.0, equals="="), epsilon_left(2.498001805406602e-16)
    ('epsilon = 0.25', 'epsilon=0.0', 'hardly any epsilon (below 1e-09)')
    """
    if 0.0 < left < _HARDLY_ANYTHING:
        return f"hardly any epsilon (below {_HARDLY_ANYTHING!r})"
    return f"epsilon{equals}{left!r}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """An account at one moment.

    Attributes:
        name: of the account.
        unit: who is protected; None until the first charge that says so.
        neighbours: which data sets the guarantee compares.
        epsilon: the limit, exactly.
        delta: the limit of the probability with which epsilon may fail, exactly.
        set_aside: how much of `delta` is reserved for mechanisms that have a delta of their own.
        spent: the smallest epsilon that is proved, at `delta`, for all charges so far; exactly.
        set_aside_spent: the sum of those mechanisms' deltas.
        is_open: whether more can be charged.
        entries: how many there are, the opening included.
        head: hash of the last one.
    """

    name: str
    unit: str | None
    neighbours: Neighbours
    epsilon: Fraction
    delta: Fraction
    set_aside: Fraction
    spent: Fraction
    set_aside_spent: Fraction
    is_open: bool
    entries: int
    head: str

    @property
    def left(self) -> float:
        """The largest epsilon of a question that is sure to be accepted, rounded down; 0 of a closed account.

        What counts is the sum of the epsilons of all rounds, which for a question planned with a delta (``top_k``) is
        more than the epsilon it asks for. An account with a delta may accept more: see ``docs/ledger.md``.
        """
        return fraction_down(self.epsilon - self.spent) if self.is_open else 0.0

    def to_dict(self) -> dict[str, Any]:
        """As plain Python values for JSON; numbers as doubles on the safe side."""
        return {
            "account": self.name,
            "unit": self.unit,
            "neighbours": str(self.neighbours),
            "epsilon": as_written(self.epsilon),
            "delta": as_written(self.delta),
            "spent": fraction_up(self.spent),
            "left": self.left,
            "set_aside": as_written(self.set_aside),
            "set_aside_spent": fraction_up(self.set_aside_spent),
            "open": self.is_open,
            "entries": self.entries,
            "head": self.head,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One line of an account's history.

    Attributes:
        sequence: its place; what orders entries, as clocks may jump.
        kind: ``"open"``, ``"charge"``, ``"limit"`` or ``"close"``.
        time: by the clock of the process that wrote it; for the ledger's holder only (``docs/sharp-edges.md``).
        epsilon: of a charge, by basic composition, rounded up; of an opening or a limit, that limit.
        delta: of a charge, the event's own; of an opening, the limit.
        what: of a charge, what ran: the mechanism, or the kind of event.
        request: the request id, or None.
        note: what the caller wrote beside it.
        hash: of this entry and all before it.
        body: the entry itself, as it is hashed.
        release: the stored answer of its request, or None.
        receipt: of a charge, what it was answered with; else None.
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
        return {
            "sequence": self.sequence,
            "kind": self.kind,
            "time": self.time,
            "epsilon": self.epsilon,
            "delta": self.delta,
            "what": self.what,
            "request": self.request,
            "note": self.note,
            "hash": self.hash,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Verified:
    """An account whose entries were all found to be those once written.

    Attributes:
        account: its name.
        entries: how many there are, the opening included.
        head: hash of the last one. Note it elsewhere: only that shows later that no entry was cut off the end.
    """

    account: str
    entries: int
    head: str

    def to_dict(self) -> dict[str, Any]:
        """As plain Python values for JSON."""
        return {"account": self.account, "entries": self.entries, "head": self.head}


def as_written(exact: Fraction) -> float:
    """A limit as the number whose decimals are the limit, if there is one; else rounded down."""
    try:
        nearest = exact.numerator / exact.denominator
    except OverflowError:
        return fraction_down(exact)
    return nearest if Fraction(repr(nearest)) == exact else fraction_down(exact)
