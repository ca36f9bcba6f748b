"""An account in a ledger: its terms, its state, their texts, and the chain of hashes that shows what was changed.

What events cost an account, and whether one more charge fits, `dpselect.accounting.filter` decides.

Each hash covers an entry's exact text and the hash before it, so that no entry can be changed, left out or moved
without changing every later hash. The account's seal covers its running total and the last hash.

Whoever can write the database can also rewrite a whole chain, or put back an older copy of it: no file can prove its
own age. A hash kept elsewhere can, and every receipt contains one.
"""

from __future__ import annotations

import functools
import hashlib
import json
import math
import re
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from dpselect.accounting.filter import Cost, Limits, Order
from dpselect.privacy import Neighbours

FIRST = "0" * 64
"""The hash before an account's first entry."""

_ENCODER = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)


def canonical(held: dict[str, Any]) -> str:
    """JSON that is the same text for equal objects: one line, keys sorted."""
    return _ENCODER.encode(held)


_FRACTION = re.compile(r"-?[0-9]+(/[0-9]+)?")
_LONGEST = 8000
"""Characters. A limit has at most 4000 bits above and below the bar, a sum of doubles fewer."""


def fraction_of(text: object) -> Fraction:
    """The fraction that ``str`` wrote. Exponents are refused: ``1e99999999`` would take very long.

    >>> fraction_of("-3/10")
    Fraction(-3, 10)
    """
    if not isinstance(text, str) or len(text) > _LONGEST or not _FRACTION.fullmatch(text):
        raise ValueError("not a fraction of a ledger")
    return Fraction(text)


def entry_hash(previous: str, body: str) -> str:
    """The hash of an entry, given the hash before it."""
    return _digest("entry", previous, body)


def release_hash(entry: str, body: str) -> str:
    """The hash of a stored release, given the hash of its charge."""
    return _digest("release", entry, body)


def account_seal(number: int, name: str, terms: str, state: str, head: str) -> str:
    """The hash of everything in an account's row."""
    return _digest("account", str(number), name, terms, state, head)


def anchor_check(held: str) -> str:
    """The checksum of a line of an anchor."""
    return _digest("anchor", held)


def question_digest(*parts: str) -> str:
    """The hash of a question, stored in place of its words."""
    return _digest("question", *parts)


def _digest(*parts: str) -> str:
    """Each part is preceded by its length, so that different lists never give the same bytes."""
    encoded = [part.encode() for part in parts]
    joined = b"".join([b"%d:%b" % (len(each), each) for each in encoded])
    return hashlib.sha256(b"dpselect ledger 1" + joined).hexdigest()


def cost_from(held: list[str]) -> Cost:
    """What `Cost.to_list` wrote."""
    pure, delta, renyi = held
    return Cost(fraction_of(pure), fraction_of(delta), tuple(map(int, renyi.split())))


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountTerms(Limits):
    """The fixed terms that an account was opened with. Fields with the same names as in `Account` mean the same."""

    number: int
    name: str
    neighbours: Neighbours

    def to_text(self) -> str:
        """The text that the ledger stores: exact, and the same for equal terms."""
        return canonical(
            {
                "number": self.number,
                "name": self.name,
                "neighbours": str(self.neighbours),
                "delta": str(self.delta),
                "set_aside": str(self.set_aside),
                "orders": [[repr(each.order), str(each.share)] for each in self.orders],
            }
        )

    @staticmethod
    @functools.lru_cache(maxsize=256)
    def from_text(text: str) -> AccountTerms:
        """What `to_text` wrote."""
        held = json.loads(text)
        terms = AccountTerms(
            number=held["number"],
            name=held["name"],
            neighbours=Neighbours(held["neighbours"]),
            delta=fraction_of(held["delta"]),
            set_aside=fraction_of(held["set_aside"]),
            orders=tuple(Order(float(order), fraction_of(share)) for order, share in held["orders"]),
        )
        terms._check()
        return terms

    def _check(self) -> None:
        """Shares of delta add up to at most 1, and each order is > 1: ``proofs/ledger.md`` assumes this."""
        shares = [each.share for each in self.orders]
        fits = all(share > 0 for share in shares) and sum(shares) <= 1
        orders = all(1.0 < each.order < math.inf for each in self.orders)
        deltas = 0 <= self.set_aside <= self.delta < 1 and not (self.orders and self.delta == self.set_aside)
        known = (type(self.number), type(self.name)) == (int, str)
        if not (fits and orders and deltas and known):
            raise ValueError("not the terms of an account")


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """The state of an account after its last entry."""

    epsilon: Fraction
    unit: str | None
    is_open: bool
    entries: int
    total: Cost

    @classmethod
    def opened(cls, terms: AccountTerms, *, epsilon: Fraction, unit: str | None) -> State:
        """The state after the opening."""
        return cls(epsilon=epsilon, unit=unit, is_open=True, entries=1, total=terms.nothing)

    def charged(self, total: Cost, *, unit: str | None) -> State:
        """The state after a charge that brings the total to `total`."""
        return self.next(total=total, unit=self.unit or unit)

    def next(self, **changes: Any) -> State:
        """The state after one more entry, which changes these fields."""
        return replace(self, entries=self.entries + 1, **changes)

    def to_text(self) -> str:
        """The text that the ledger stores: exact, and the same for equal states."""
        return canonical(
            {
                "epsilon": str(self.epsilon),
                "unit": self.unit,
                "open": self.is_open,
                "entries": self.entries,
                "total": self.total.to_list(),
            }
        )

    @classmethod
    def from_text(cls, text: str) -> State:
        """What `to_text` wrote."""
        held: dict[str, Any] = json.loads(text)
        count, unit = held["entries"], held["unit"]
        is_count = isinstance(count, int) and not isinstance(count, bool)
        if not (is_count and isinstance(held["open"], bool) and (unit is None or isinstance(unit, str))):
            raise ValueError("not the state of an account")
        return cls(
            epsilon=fraction_of(held["epsilon"]),
            unit=held["unit"],
            is_open=held["open"],
            entries=held["entries"],
            total=cost_from(held["total"]),
        )
