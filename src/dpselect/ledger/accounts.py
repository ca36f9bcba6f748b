r"""An account: what an event costs it, whether one more charge fits, its terms and its state.

A cost is exact fractions, and Rényi divergences rounded up to whole numbers of a small unit. Whether a charge fits is
decided in exact arithmetic, and valid however the charges are chosen: an account with delta = 0 adds up epsilons as
fractions; one with delta > 0 also adds up divergences, at a few orders that are fixed when it is opened. "The best
order afterwards" would not do: which order is best may depend on earlier answers. So each order has its own share of
delta, most of it one order that suits many small charges.

Proof: ``proofs/ledger.md``. Sources: Feldman & Zrnic (2021) for filters; Canonne, Kamath & Steinke (2020) for the
conversion.
"""

from __future__ import annotations

import functools
import json
import math
import operator
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from decimal import Context, Decimal
from fractions import Fraction
from typing import Any

from dpselect.accounting.events import (
    ComposedEvent,
    Event,
    NonAdaptiveEvent,
    SequenceEvent,
    SingleEvent,
)
from dpselect.ledger.chain import canonical, fraction_of
from dpselect.ledger.records import Account
from dpselect.privacy import Neighbours

UNIT = 2**128
"""Divergences are counted in units of 1/`UNIT` nats, so that even 1e-30 keeps eight digits."""


@dataclass(frozen=True, slots=True)
class Cost:
    """The cost of an event, or a running total. Costs are added without rounding.

    Attributes:
        pure: epsilon by basic composition.
        delta: the sum of the events' own deltas.
        renyi: at each order of the account, in 1/`UNIT` nats.
    """

    pure: Fraction
    delta: Fraction
    renyi: tuple[int, ...]

    def __add__(self, other: Cost) -> Cost:
        renyi = tuple([mine + theirs for mine, theirs in zip(self.renyi, other.renyi, strict=True)])
        return Cost(self.pure + other.pure, self.delta + other.delta if other.delta else self.delta, renyi)

    def times(self, count: int) -> Cost:
        """The cost of `count` such events."""
        return Cost(self.pure * count, self.delta * count, tuple(count * units for units in self.renyi))

    def covers(self, other: Cost) -> bool:
        """Whether epsilon, delta and all divergences are at least those of `other`."""
        pairs = zip(self.renyi, other.renyi, strict=True)
        return self.pure >= other.pure and self.delta >= other.delta and all(mine >= theirs for mine, theirs in pairs)

    def to_list(self) -> list[str]:
        """The texts that the ledger stores."""
        return [str(self.pure), str(self.delta), " ".join(map(str, self.renyi))]

    @classmethod
    def from_list(cls, held: list[str]) -> Cost:
        """What `to_list` wrote."""
        pure, delta, renyi = held
        return cls(fraction_of(pure), fraction_of(delta), tuple(map(int, renyi.split())))


def nothing(orders: tuple[float, ...]) -> Cost:
    """The total of no charges."""
    return Cost(Fraction(0), Fraction(0), (0,) * len(orders))


@functools.lru_cache(maxsize=4096)
def cost_of(event: Event, orders: tuple[float, ...]) -> Cost:
    """The cost of `event` to an account with these orders.

    A group costs the sum of its parts. If only its composition needs a delta, that delta is not charged: the account's
    own delta covers it.

    Proof: ``proofs/ledger.md``.

    >>> from dpselect.accounting import PureEvent
    >>> cost_of(ComposedEvent(event=PureEvent(epsilon=0.5), count=10), ()).pure
    Fraction(5, 1)
    """
    match event:
        case ComposedEvent() | NonAdaptiveEvent():
            return cost_of(event.event, orders).times(event.count)
        case SequenceEvent():
            return functools.reduce(lambda total, part: total + cost_of(part, orders), event.events, nothing(orders))
        case _:
            return Cost(Fraction(event.epsilon), Fraction(event.delta), _divergences(event, orders))


def _divergences(event: SingleEvent, orders: tuple[float, ...]) -> tuple[int, ...]:
    if not orders:
        return ()
    import numpy as np  # not for accounts without a delta

    from dpselect.accounting.divergence import divergences_of

    return tuple(map(_units, map(float, divergences_of(event, np.asarray(orders)))))


def _units(divergence: float) -> int:
    return math.ceil(Fraction(divergence) * UNIT)  # never infinite: each is at most its epsilon


_CONTEXT = Context(prec=60)
_MARGIN = Fraction(1, 10**40)
"""Relative error allowed for; the error of logarithms with sixty digits is far smaller."""

_STEPS = (-3, -2, -1, 1, 2, 3, 4)
_MAIN_SHARE = Fraction(9, 10)
_OTHER_SHARE = (1 - _MAIN_SHARE) / len(_STEPS)
_FINEST = 2.0**-10


@dataclass(frozen=True, slots=True)
class Order:
    """An order > 1 and its share of delta; the shares of an account sum to 1."""

    order: float
    share: Fraction


@functools.lru_cache(maxsize=256)
def orders_for(epsilon: Fraction, delta: Fraction) -> tuple[Order, ...]:
    """The orders of a new account; empty if there is no delta for them.

    Any choice is valid. This one allows the most small charges at the main order. It adds higher orders, by powers of
    two, for large charges, and lower ones for limits that are raised later.

    >>> [each.order for each in orders_for(Fraction(1), Fraction(1, 10**6))][:3]
    [21.5, 3.5625, 6.125]
    """
    if not delta:
        return ()
    share = _MAIN_SHARE * delta  # may be below the smallest double, its logarithm is not
    limit, cost = float(min(epsilon, 10**6)), math.log(share.numerator) - math.log(share.denominator)

    def small_charges(above_one: float) -> float:
        order = 1.0 + above_one
        allowance = limit + (cost + math.log(order)) / above_one + math.log(order / above_one)
        return allowance / order

    grid = [_FINEST * 2.0 ** (step / 8.0) for step in range(8 * 40)]
    best = max(grid, key=small_charges)
    main = max(_FINEST, round(best / (unit := 2.0 ** (math.floor(math.log2(best)) - 5))) * unit)
    others = [Order(1.0 + main * 2.0**step, _OTHER_SHARE) for step in _STEPS]
    return (Order(1.0 + main, _MAIN_SHARE), *others)


@functools.lru_cache(maxsize=4096)
def conversion(order: Order, delta: Fraction) -> Fraction:
    r"""The difference between epsilon and the Rényi divergence at `order`, for its share of `delta`; rounded up.

    :math:`-\frac{\ln(w\delta) + \ln a}{a - 1} - \ln\frac{a}{a-1}`. Computed in decimals of sixty digits, which
    every machine rounds alike, so that all agree on whether a charge fits.
    """
    above_one = Fraction(order.order) - 1
    logs = (_ln(order.share * delta) + _ln(Fraction(order.order))) / above_one
    gain = _ln(1 + 1 / above_one)
    return -logs - gain + _MARGIN * (1 + abs(logs) + abs(gain))


def _ln(value: Fraction) -> Fraction:
    ratio = _CONTEXT.divide(Decimal(value.numerator), Decimal(value.denominator))
    return Fraction(ratio.ln(_CONTEXT))


def spent_epsilon(total: Cost, orders: tuple[Order, ...], delta: Fraction) -> Fraction:
    """The smallest epsilon for which the account's charges so far are within its limit, at `delta`; at least 0."""
    by_order = (
        Fraction(units, UNIT) + conversion(order, delta) for order, units in zip(orders, total.renyi, strict=True)
    )
    return max(Fraction(0), min(total.pure, *by_order)) if orders else total.pure


def allowances(orders: tuple[Order, ...], delta: Fraction, epsilon: Fraction) -> tuple[int, ...]:
    """The largest divergence at each order that keeps `spent_epsilon` at most `epsilon`; negative if none does."""
    return tuple(math.floor((epsilon - conversion(order, delta)) * UNIT) for order in orders)


@dataclass(frozen=True, slots=True, kw_only=True)
class AccountTerms:
    """The fixed terms that an account was opened with. Fields with the same names as in `Account` mean the same."""

    number: int
    name: str
    neighbours: Neighbours
    delta: Fraction
    set_aside: Fraction
    orders: tuple[Order, ...]
    _allowances: dict[Fraction, tuple[int, ...]] = field(
        default_factory=dict[Fraction, tuple[int, ...]], init=False, repr=False, compare=False
    )
    _costs: dict[Event, Cost] = field(default_factory=dict[Event, Cost], init=False, repr=False, compare=False)
    _texts: list[str] = field(default_factory=list[str], init=False, repr=False, compare=False)

    @classmethod
    def new(
        cls, number: int, name: str, *, neighbours: Neighbours, epsilon: Fraction, delta: Fraction, set_aside: Fraction
    ) -> AccountTerms:
        """The terms of a new account, with the orders that suit its limit."""
        orders = orders_for(epsilon, delta - set_aside)
        return cls(number=number, name=name, neighbours=neighbours, delta=delta, set_aside=set_aside, orders=orders)

    def cost(self, event: Event) -> Cost:
        """What `event` costs here."""
        cost = self._costs.get(event)
        if cost is None:
            if len(self._costs) >= 1024:
                self._costs.clear()
            cost = self._costs[event] = cost_of(event, tuple(each.order for each in self.orders))
        return cost

    def spent(self, total: Cost) -> Fraction:
        """The smallest epsilon proved for `total`, at this account's delta."""
        return spent_epsilon(total, self.orders, self.delta - self.set_aside)

    def allow(self, epsilon: Fraction, total: Cost) -> bool:
        """Whether an account with limit `epsilon` may have been charged `total`.

        Proof: ``proofs/ledger.md``.
        """
        if total.delta > self.set_aside:
            return False
        if total.pure <= epsilon:
            return True
        # The same as `spent(total) <= epsilon`, but in whole numbers, because it is checked for every charge.
        most = self._allowances.get(epsilon)
        if most is None:
            most = self._allowances[epsilon] = allowances(self.orders, self.delta - self.set_aside, epsilon)
        return any(units <= allowed for units, allowed in zip(total.renyi, most, strict=True))

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
        """What `to_text` wrote.

        Raises:
            ValueError: the proof of the account's limit does not allow such terms.
        """
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
        start = nothing(tuple(each.order for each in terms.orders))
        return cls(epsilon=epsilon, unit=unit, is_open=True, entries=1, total=start)

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
        """What `to_text` wrote.

        Raises:
            ValueError: `text` is not what `to_text` writes.
        """
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
            total=Cost.from_list(held["total"]),
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


class NewAccount:
    """What an account would accept that is opened with these limits, and not charged yet.

    Args:
        epsilon: its limit.
        delta: the probability with which epsilon may fail.
        set_aside: the part of delta for mechanisms that have a delta of their own.

    Proof: ``proofs/ledger.md``.

    >>> from dpselect.accounting import BoundedRangeEvent
    >>> account = NewAccount(epsilon=Fraction(1), delta=Fraction(1, 10**6))
    >>> small = BoundedRangeEvent(epsilon=0.08)
    >>> account.allows([small] * 20), account.allows([small] * 60), NewAccount(epsilon=Fraction(1)).allows([small] * 20)
    (True, False, False)
    """

    __slots__ = ("_epsilon", "_terms")

    def __init__(self, *, epsilon: Fraction, delta: Fraction = Fraction(0), set_aside: Fraction = Fraction(0)) -> None:
        relation = Neighbours.ADD_REMOVE  # costs are those of the events, whatever the relation
        self._epsilon = epsilon
        self._terms = AccountTerms.new(1, "", neighbours=relation, epsilon=epsilon, delta=delta, set_aside=set_aside)

    def allows(self, events: Sequence[Event]) -> bool:
        """Whether all of them fit together."""
        return self._terms.allow(self._epsilon, self._total(events))

    def spent(self, events: Sequence[Event]) -> Fraction:
        """The smallest epsilon that is proved for all of them together."""
        return self._terms.spent(self._total(events))

    def _total(self, events: Sequence[Event]) -> Cost:
        return functools.reduce(operator.add, [self._terms.cost(each) for each in events])
