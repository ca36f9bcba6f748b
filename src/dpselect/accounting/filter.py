r"""A limit that holds even if each event is chosen in view of earlier results: of an account, and of a `Filter`.

What counts is exact: epsilons add up as fractions, or, with a delta, divergences as whole numbers at orders fixed
beforehand, since which is best may depend on earlier answers. Proof: ``proofs/ledger.md``. Sources: Feldman & Zrnic
(2021) and Lécuyer (2021) for filters; Canonne, Kamath & Steinke (2020) for the conversion.
"""

from __future__ import annotations

import functools
import math
import operator
import os
import threading
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction
from typing import Self

from dpselect.accounting.events import ComposedEvent, Event, Run, SequenceEvent, leaves_of
from dpselect.checks import delta_below_one, fraction_down, fraction_up, positive_epsilon
from dpselect.errors import LimitExceededError

UNIT = 2**128  # divergences are counted in units of 1/`UNIT` nats, so that even 1e-30 keeps eight digits


@dataclass(frozen=True, slots=True)
class Cost:
    """The cost of an event, or a running total. Costs are added without rounding."""

    pure: Fraction
    """Epsilon by basic composition."""
    delta: Fraction
    """The sum of the events' own deltas."""
    renyi: tuple[int, ...]
    """At each order of the account, in 1/`UNIT` nats."""

    def __add__(self, other: Cost) -> Cost:
        renyi = tuple([mine + theirs for mine, theirs in zip(self.renyi, other.renyi, strict=True)])
        return Cost(self.pure + other.pure, self.delta + other.delta if other.delta else self.delta, renyi)

    def times(self, count: int) -> Cost:
        """The cost of `count` such events."""
        return Cost(self.pure * count, self.delta * count, tuple(count * units for units in self.renyi))

    def covers(self, other: Cost) -> bool:
        """Whether epsilon, delta and all divergences are at least those of `other`."""
        is_alike = self.pure >= other.pure and self.delta >= other.delta and len(self.renyi) == len(other.renyi)
        return is_alike and all(map(operator.ge, self.renyi, other.renyi))

    def to_list(self) -> list[str]:
        """The texts that the ledger stores."""
        return [str(self.pure), str(self.delta), " ".join(map(str, self.renyi))]


@functools.lru_cache(maxsize=4096)
def cost_of(event: Event, orders: tuple[float, ...]) -> Cost:
    """The cost of `event` to an account with these orders.

    A group costs the sum of its parts. If only its composition needs a delta, that delta is not charged: the account's
    own delta covers it. Proof: ``proofs/ledger.md``.
    """
    match event:
        case ComposedEvent() | SequenceEvent():
            costs = (cost_of(part, orders).times(count) for part, count in event.parts)
            return functools.reduce(Cost.__add__, costs)
        case _:
            units: tuple[int, ...] = ()
            if orders:  # without a delta there are none, and NumPy is not loaded
                import numpy as np

                from dpselect.accounting.divergence import Divergences

                found = np.minimum(Divergences({event: 1})(np.asarray(orders)), event.epsilon)  # never infinite
                units = tuple(math.ceil(Fraction(each) * UNIT) for each in found.tolist())
            return Cost(Fraction(event.epsilon), Fraction(event.delta), units)


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
    """
    if not delta:
        return ()
    main_share, steps, finest = Fraction(9, 10), (-3, -2, -1, 1, 2, 3, 4), 2.0**-10
    share = main_share * delta  # may be below the smallest double, its logarithm is not
    limit, cost = float(min(epsilon, 10**6)), math.log(share.numerator) - math.log(share.denominator)

    def small_charges(above_one: float) -> float:
        order = 1.0 + above_one
        allowance = limit + (cost + math.log(order)) / above_one + math.log(order / above_one)
        return allowance / order

    grid = [finest * 2.0 ** (step / 8.0) for step in range(8 * 40)]
    best = max(grid, key=small_charges)
    main = max(finest, round(best / (unit := 2.0 ** (math.floor(math.log2(best)) - 5))) * unit)
    others = [Order(1.0 + main * 2.0**step, (1 - main_share) / len(steps)) for step in steps]
    return (Order(1.0 + main, main_share), *others)


@functools.lru_cache(maxsize=4096)
def conversion(order: Order, delta: Fraction) -> Fraction:
    r"""The difference between epsilon and the Rényi divergence at `order`, for its share of `delta`; rounded up.

    :math:`-\frac{\ln(w\delta) + \ln a}{a - 1} - \ln\frac{a}{a-1}`. Computed in decimals of sixty digits, which
    every machine rounds alike, so that all agree on whether a charge fits.
    """
    context = Context(prec=60)

    def ln(value: Fraction) -> Fraction:
        return Fraction(context.ln(context.divide(Decimal(value.numerator), Decimal(value.denominator))))

    above_one = Fraction(order.order) - 1
    logs = (ln(order.share * delta) + ln(Fraction(order.order))) / above_one
    gain = ln(1 + 1 / above_one)
    # The error of logarithms with sixty digits is far smaller.
    return -logs - gain + Fraction(1, 10**40) * (1 + abs(logs) + abs(gain))


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What decides whether costs fit, apart from the limit of epsilon, which an account may change."""

    delta: Fraction
    set_aside: Fraction
    """The part of it for events that have a delta of their own."""
    orders: tuple[Order, ...]
    """Empty if nothing is left of delta beside that part."""

    @classmethod
    def new(cls, *, epsilon: Fraction, delta: Fraction, set_aside: Fraction) -> Self:
        """With the orders that suit this epsilon."""
        return cls(delta=delta, set_aside=set_aside, orders=orders_for(epsilon, delta - set_aside))

    @property
    def nothing(self) -> Cost:
        """The total of no events."""
        return Cost(Fraction(0), Fraction(0), (0,) * len(self.orders))

    def cost(self, event: Event) -> Cost:
        """What `event` costs, whatever came before."""
        return cost_of(event, tuple(each.order for each in self.orders))

    def planned_cost(self, event: Event) -> Cost | None:
        """What rounds cost by the recursion that plans them, if nothing came before; None if `event` is none."""
        from dpselect.accounting.composition import planned_epsilon  # brings NumPy with it

        planned = planned_epsilon(event, delta=fraction_down(self.delta - self.set_aside)) if self.orders else None
        # No order has room for such a divergence: a limit is at most the largest double, 2^1024.
        return None if planned is None else Cost(Fraction(planned), Fraction(0), (2**1160,) * len(self.orders))

    def charged(self, epsilon: Fraction, total: Cost, events: Iterable[Event]) -> tuple[list[Cost], Cost]:
        """What `events` cost, one after another, after costs of `total` and within the limit `epsilon`; the new total.

        What comes first is chosen before there is any answer. So if it is rounds that were planned together, by the
        exact recursion, and no order has room for them, they cost what they were planned at.
        Proof: ``proofs/ledger.md``.
        """
        prices: list[Cost] = []
        for event in events:
            price = self.cost(event)
            if not total.pure and self.orders and not self.allow(epsilon, price):
                planned = self.planned_cost(event)
                price = planned if planned is not None and self.allow(epsilon, planned) else price
            prices.append(price)
            total += price
        return prices, total

    def _proved(self, total: Cost) -> Iterator[Fraction]:
        """Epsilons that are proved for `total`: their sum, and one by each order, that of most of delta first."""
        yield total.pure
        for order, units in zip(self.orders, total.renyi, strict=True):
            yield Fraction(units, UNIT) + conversion(order, self.delta - self.set_aside)

    def spent(self, total: Cost) -> Fraction:
        """The smallest epsilon proved for `total`; at least 0."""
        return max(Fraction(0), min(self._proved(total)))

    def allow(self, epsilon: Fraction, total: Cost) -> bool:
        """Whether `total` is within the limit `epsilon`, and events' delta set aside. Proof: ``proofs/ledger.md``."""
        return total.delta <= self.set_aside and any(each <= epsilon for each in self._proved(total))


_spending = threading.Lock()  # of all filters: a copy of one goes on from the same state, without a lock of its own
if hasattr(os, "register_at_fork"):  # not on Windows; in a child the thread that holds it is not there
    os.register_at_fork(after_in_child=lambda: globals().update(_spending=threading.Lock()))


class Filter:
    r"""Admits events one by one as long as their total stays within (`epsilon`, `delta`), however they are chosen.

    The mechanisms, their epsilons and when to stop may all depend on earlier results: everything admitted is
    (`epsilon`, `delta`)-DP together. It decides as an account of a `dpselect.Ledger` with these limits does. It holds
    for all threads of one process; a copy, a pickle or a fork counts separately: for these use `dpselect.Ledger`.

    Args:
        epsilon: limit, > 0.
        delta: limit, from 0 to below 1. With 0 the filter compares only exact sums of epsilons.
        set_aside: the part of `delta` reserved for events with their own delta; the filter uses the rest.

    Raises:
        InvalidParameterError: an argument is out of range.

    Proof: ``proofs/ledger.md``; ``proofs/composition.md``, claim 10.

    >>> from dpselect.accounting import BoundedRangeEvent
    >>> limit, count = Filter(epsilon=1.0, delta=1e-6), 0
    >>> while limit.admits(BoundedRangeEvent(epsilon=0.05)):
    ...     limit.spend(BoundedRangeEvent(epsilon=0.05))
    ...     count += 1
    >>> count > 20                                       # 20 would reach 1.0 in sum
    True
    """

    def __init__(self, *, epsilon: float, delta: float, set_aside: float = 0.0) -> None:
        self.epsilon = positive_epsilon(epsilon)
        self.delta = delta_below_one(delta)
        self.set_aside = min(delta_below_one(set_aside, "set_aside"), self.delta)
        self._limit = Fraction(self.epsilon)
        self._limits = Limits.new(epsilon=self._limit, delta=Fraction(self.delta), set_aside=Fraction(self.set_aside))
        self._spent: tuple[Cost, Run | None] = self._limits.nothing, None

    def admits(self, event: Event | Run) -> bool:
        """Whether `event` may run next; spends nothing. With several threads only `spend` decides: see what it raises.

        Raises:
            InvalidParameterError: `event` is not an event, or is a run for another unit or relation than the earlier
                ones.
        """
        return self._limits.allow(self._limit, self._after(event)[0])

    def spend(self, event: Event | Run) -> None:
        """Add `event`, before it runs.

        Raises:
            LimitExceededError: it does not fit; nothing was added.
            InvalidParameterError: as for `admits`.
        """
        with _spending:
            after = self._after(event)
            if not self._limits.allow(self._limit, after[0]):
                raise LimitExceededError(self.epsilon, self.delta, self.basic)
            self._spent = after

    @property
    def basic(self) -> float:
        """The sum of all epsilons so far, rounded up; rounds planned together count as they were planned."""
        return fraction_up(self._spent[0].pure)

    @property
    def share(self) -> float:
        """The part of the limit that is used, from 0 to 1, by the bound that has the most left."""
        total, limits = self._spent[0], self._limits
        left = [self._limit - conversion(each, limits.delta - limits.set_aside) for each in limits.orders]
        by_order = (Fraction(used, UNIT) / most for used, most in zip(total.renyi, left, strict=True) if most > 0)
        return float(min(total.pure / self._limit, *by_order, Fraction(1)))

    def _after(self, event: Event | Run) -> tuple[Cost, Run | None]:
        total, run = self._spent  # one state, even if other threads add events meanwhile
        leaves_of([event] if run is None else [event, run])  # refuses what is no event, and runs that do not add up
        one = event.event if isinstance(event, Run) else event
        return self._limits.charged(self._limit, total, [one])[1], event if isinstance(event, Run) else run
