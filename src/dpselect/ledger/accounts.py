"""An account of a ledger, its texts, and how much is left, in words. `dpselect.accounting.filter` says what fits.

Each hash covers an entry's exact text and the hash before it, so that no entry can be changed, left out or moved. A
whole chain can be rewritten, or replaced by an older copy: only a hash kept elsewhere shows that.
"""

from __future__ import annotations

import functools
import hashlib
import json
import math
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from fractions import Fraction
from typing import Any, Self

from dpselect.accounting.events import ComposedEvent, Event, SequenceEvent
from dpselect.accounting.filter import Cost, Limits, Order
from dpselect.checks import exact_number, fraction_down, fraction_up, in_digits
from dpselect.errors import ChargeRefusedError, InvalidAccountError, InvalidParameterError, SelectionError, Shown
from dpselect.privacy import Neighbours

canonical = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False).encode
"""JSON that is the same text for equal objects: one line, keys sorted."""

UNREADABLE = (SelectionError, ValueError, TypeError, KeyError, AttributeError, ArithmeticError, RecursionError)
"""What reading a text leads to, if no ledger wrote it."""

OPTIONS = " (set_aside, --set-aside)"  # of a refusal, for who writes Python or commands
_FRACTION = re.compile(r"-?[0-9]+(/[0-9]+)?")
_DECIMAL = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?")
"""A decimal that every reader understands alike: no underscores, no blanks, no digits of other scripts."""


def exact_fraction(value: object, name: str, *, is_delta: bool = False) -> Fraction:
    """A limit as an exact fraction. Floats, decimals and fractions keep their exact values; text is read as a decimal.

    So the float 0.3 is a little below three tenths, and three charges of 0.1, each a little above a tenth, exceed it.
    """
    expected = "a number from 0 to below 1" if is_delta else "a finite number > 0"
    is_decimal = isinstance(value, str) and len(value) <= 100 and _DECIMAL.fullmatch(value)
    exact = exact_number(Decimal(str(value)) if is_decimal else value, name, expected=expected)
    # So that it can be read back; a sum of doubles has fewer bits.
    is_long = max(exact.numerator.bit_length(), exact.denominator.bit_length()) >= 4000
    # A limit above the doubles promises nothing, and could not be shown as a number.
    if is_long or not (0 <= exact < 1 if is_delta else 0 < exact <= Fraction(sys.float_info.max)):
        raise InvalidParameterError(name, Shown(repr(value)) if isinstance(value, Decimal) else value, expected)
    return exact


def fraction_of(text: object) -> Fraction:
    """The fraction that ``str`` wrote. Exponents are refused: ``1e99999999`` would take very long."""
    if not isinstance(text, str) or len(text) > 8000 or not _FRACTION.fullmatch(text):
        raise ValueError("not a fraction of a ledger")
    return Fraction(text)


def digest(of: str, *parts: str) -> str:
    """The hash of something that a ledger keeps; the length before each part keeps any two lists apart."""
    joined = b"".join([b"%d:%b" % (len(each), each) for each in map(str.encode, (of, *parts))])
    return hashlib.sha256(b"dpselect ledger 1" + joined).hexdigest()


def cost_from(held: list[str]) -> Cost:
    pure, delta, renyi = held
    return Cost(fraction_of(pure), fraction_of(delta), tuple(map(int, renyi.split())))


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """How far an account had come: its last entry, the hash of it and all before, and what was spent by then."""

    ledger: str
    account: str
    sequence: int
    hash: str
    state: str  # as the ledger writes it


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """An account at one moment.

    Attributes:
        number: the accounts of a ledger are numbered from 1.
        neighbours: which data sets the guarantee compares.
        limits: what decides, beside `epsilon`, whether a charge fits; fixed when the account was opened.
        epsilon: the limit, exactly.
        unit: who is protected; None until the first charge that names a unit.
        entries: number of entries, including the opening.
        total: what all charges so far cost together, exactly.
        head: hash of the last entry.
        terms: the text that the ledger stores of what is fixed.
    """

    name: str
    number: int
    neighbours: Neighbours
    limits: Limits
    epsilon: Fraction
    unit: str | None
    is_open: bool
    entries: int
    total: Cost
    head: str
    terms: str = field(repr=False)

    @classmethod
    def unopened(cls, terms: str) -> Self:
        """The account of no entries yet on these terms."""
        fixed, none = _terms_of(terms), Fraction(0)
        total = fixed["limits"].nothing
        return cls(**fixed, epsilon=none, unit=None, is_open=True, entries=0, total=total, head="0" * 64)

    @classmethod
    def of_texts(cls, terms: str, state: str, head: str) -> Self:
        """The account of these texts; an error of `UNREADABLE`, if no ledger wrote them."""
        held: dict[str, Any] = json.loads(state)
        unit, is_open, entries = held["unit"], held["open"], held["entries"]
        if (type(is_open), type(entries)) != (bool, int) or not isinstance(unit, str | None):
            raise ValueError("not the state of an account")
        spent: dict[str, Any] = {"epsilon": fraction_of(held["epsilon"]), "total": cost_from(held["total"])}
        return cls(**_terms_of(terms), **spent, unit=unit, is_open=is_open, entries=entries, head=head)

    def refuse_closed(self) -> None:
        """Refuse that anything is added after the end."""
        if not self.is_open:
            raise InvalidAccountError("account", Shown(repr(self.name)), "an open account; this one is closed")

    def next(self, **changes: Any) -> Self:
        """The account after one more entry, which changes these fields."""
        return replace(self, **{"entries": self.entries + 1, **changes})

    def allows(self, total: Cost) -> bool:
        """Whether the limits allow this total."""
        return self.limits.allow(self.epsilon, total)

    @property
    def state(self) -> str:
        """The text that the ledger stores of what changes."""
        held = {"epsilon": str(self.epsilon), "unit": self.unit, "open": self.is_open, "entries": self.entries}
        return canonical({**held, "total": self.total.to_list()})

    def to_head(self, ledger: str) -> Head:
        """How far the account has come, in the ledger of this id."""
        return Head(ledger=ledger, account=self.name, sequence=self.entries - 1, hash=self.head, state=self.state)

    @property
    def moving(self) -> dict[str, str]:
        """The columns of the ledger that change with each entry; the seal is of the whole row."""
        state = self.state
        seal = digest("account", str(self.number), self.name, self.terms, state, self.head)
        return {"state": state, "head": self.head, "seal": seal}

    @property
    def delta(self) -> Fraction:
        """The limit of the probability with which epsilon may fail, exactly."""
        return self.limits.delta

    @property
    def set_aside(self) -> Fraction:
        """How much of `delta` is reserved for mechanisms that have a delta of their own."""
        return self.limits.set_aside

    @property
    def spent(self) -> Fraction:
        """The smallest epsilon that is proved, at `delta`, for all charges so far, exactly."""
        return self.limits.spent(self.total)

    @property
    def left(self) -> float:
        """The largest sum of epsilons of all rounds that is certainly accepted, rounded down; 0 for a closed account.

        An account with a delta may accept more: see ``docs/ledger.md``.
        """
        return fraction_down(self.epsilon - self.spent) if self.is_open else 0.0

    @property
    def set_aside_left(self) -> float:
        """The largest delta of a question that the account still accepts, rounded down; 0 for a closed account."""
        return fraction_down(self.set_aside - self.total.delta) if self.is_open else 0.0

    def to_dict(self) -> dict[str, Any]:
        """As plain Python values for JSON, with numbers rounded to doubles on the safe side."""
        return {
            "account": self.name,
            "unit": self.unit,
            "neighbours": str(self.neighbours),
            "epsilon": as_written(self.epsilon),
            "delta": as_written(self.delta),
            "spent": fraction_up(self.spent),
            "left": self.left,
            "set_aside": as_written(self.set_aside),
            "set_aside_spent": fraction_up(self.total.delta),
            "set_aside_left": self.set_aside_left,
            "open": self.is_open,
            "entries": self.entries,
            "head": self.head,
        }


def as_written(exact: Fraction) -> float:
    """A limit as the double that prints as exactly this limit, if there is one; else rounded down."""
    written = (each for each in (fraction_down(exact), fraction_up(exact)) if math.isfinite(each))
    return next((each for each in written if Fraction(repr(each)) == exact), fraction_down(exact))


def terms_of_new(name: str, number: int, *, neighbours: Neighbours, limits: Limits) -> str:
    """The text of what is fixed in an account."""
    orders = [[repr(each.order), str(each.share)] for each in limits.orders]
    held = {"number": number, "name": name, "neighbours": str(neighbours), "orders": orders}
    return canonical({**held, "delta": str(limits.delta), "set_aside": str(limits.set_aside)})


@functools.lru_cache(maxsize=256)
def _terms_of(text: str) -> Mapping[str, Any]:
    """The fixed fields of an account. Shares add up to at most 1, orders are > 1: ``proofs/ledger.md`` assumes it."""
    held = json.loads(text)
    delta, set_aside = fraction_of(held["delta"]), fraction_of(held["set_aside"])
    orders = tuple(Order(float(order), fraction_of(share)) for order, share in held["orders"])
    valid = all(each.share > 0 and 1.0 < each.order < math.inf for each in orders)
    fits = valid and sum(each.share for each in orders) <= 1
    deltas = 0 <= set_aside <= delta < 1 and not (orders and delta == set_aside)
    if not (fits and deltas and (type(held["number"]), type(held["name"])) == (int, str)):
        raise ValueError("not the terms of an account")
    return {
        "terms": text,
        "number": held["number"],
        "name": held["name"],
        "neighbours": Neighbours(held["neighbours"]),
        "limits": Limits(delta=delta, set_aside=set_aside, orders=orders),
    }


def epsilon_left(left: float, *, equals: str = " = ") -> str:
    """The epsilon left, for a sentence, with six digits, rounded down. It may be too little for any question."""
    if 0.0 < left < 1e-9:
        return "hardly any epsilon (below 1e-09)"
    return f"epsilon{equals}{in_digits(left, 6)!r}"


def left_shown(left: float) -> str:
    """An epsilon that is left, with six digits, never rounded up: a question that costs what is shown fits."""
    return repr(in_digits(left, 6)).removesuffix(".0")


def refusal(event: Event, cost: Cost, account: Account, *, ledger: str) -> ChargeRefusedError:
    """The error for `event`, which costs `cost` and does not fit."""
    limits, total = account.limits, account.total + cost
    if event.delta and total.delta > limits.set_aside:
        text = _no_delta(event.delta, account)
    else:
        left, is_group = epsilon_left(account.left, equals="="), isinstance(event, ComposedEvent | SequenceEvent)
        text = f"account {account.name!r} has {left} left of {as_written(account.epsilon)!r}; "
        is_composed = is_group and limits.orders
        price = fraction_up(limits.spent(total) if is_composed else cost.pure)
        shown = repr(in_digits(price, 6, up=True)) if price < math.inf else f"more than {sys.float_info.max!r}"
        parts = f", the sum of its {'parts' if isinstance(event, SequenceEvent) else 'rounds'}" if is_group else ""
        text += f"with this, {shown} would be spent" if is_composed else f"this would cost {shown}{parts}"
    return ChargeRefusedError(ledger, f"{text}. Nothing was charged or drawn.", account.left)


def _no_delta(delta: float, account: Account) -> str:
    name, left = account.name, account.set_aside_left
    if not account.set_aside:
        return f"account {name!r} has no delta set aside for this question: open an account with a delta{OPTIONS}"
    aside = f"{as_written(account.set_aside)!r} that it sets aside for questions that have a delta of their own"
    text = f"account {name!r} has {left!r} left of the delta of {aside}; this needs {delta!r}. "
    if left > 0:
        text += "Ask with a smaller delta. "
    return f"{text}To set more aside, open another account{OPTIONS}; what both accounts spend adds up"
