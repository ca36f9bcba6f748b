"""The terms that an account was opened with and the state that it is in, and the texts of both in a ledger.

What events cost an account, and whether one more charge fits, `dpselect.accounting.filter` decides.
"""

from __future__ import annotations

import functools
import json
import math
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

from dpselect.accounting.filter import Cost, Limits, Order
from dpselect.ledger.chain import canonical, fraction_of
from dpselect.ledger.records import Account
from dpselect.privacy import Neighbours


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
    _texts: list[str] = field(default_factory=list[str], init=False, repr=False, compare=False)

    def to_text(self) -> str:
        """The text that the ledger stores: exact, and the same for equal terms."""
        if self._texts:
            return self._texts[0]
        text = canonical(
            {
                "number": self.number,
                "name": self.name,
                "neighbours": str(self.neighbours),
                "delta": str(self.delta),
                "set_aside": str(self.set_aside),
                "orders": [[repr(each.order), str(each.share)] for each in self.orders],
            }
        )
        self._texts.append(text)
        return text

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
        return State(
            epsilon=self.epsilon,
            unit=self.unit or unit,
            is_open=self.is_open,
            entries=self.entries + 1,
            total=total,
        )

    def limited(self, epsilon: Fraction) -> State:
        """The state after a change of the limit."""
        return replace(self, epsilon=epsilon, entries=self.entries + 1)

    def closed(self) -> State:
        """The state after the account is closed."""
        return replace(self, is_open=False, entries=self.entries + 1)

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


def described(terms: AccountTerms, state: State, head: str) -> Account:
    """The account as callers see it."""
    return Account(
        name=terms.name,
        unit=state.unit,
        neighbours=terms.neighbours,
        epsilon=state.epsilon,
        delta=terms.delta,
        set_aside=terms.set_aside,
        spent=terms.spent(state.total),
        set_aside_spent=state.total.delta,
        is_open=state.is_open,
        entries=state.entries,
        head=head,
    )
