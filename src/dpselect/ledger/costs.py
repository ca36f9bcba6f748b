"""The cost of an event: exact fractions, and Rényi divergences rounded up to whole numbers of a small unit."""

from __future__ import annotations

import functools
import math
import re
from dataclasses import dataclass
from fractions import Fraction

from dpselect.accounting.events import (
    ComposedEvent,
    Event,
    NonAdaptiveEvent,
    SequenceEvent,
    SingleEvent,
)

_FRACTION = re.compile(r"-?[0-9]+(/[0-9]+)?")
_LONGEST = 8000
"""Characters. A limit has at most 4000 bits above and below the bar, a sum of doubles fewer."""


def fraction_of(text: object) -> Fraction:
    """The fraction that ``str`` wrote. Exponents are refused: ``1e99999999`` would take very long.

    Raises:
        ValueError: `text` is not what ``str`` writes for a fraction.

    >>> fraction_of("-3/10")
    Fraction(-3, 10)
    """
    if not isinstance(text, str) or len(text) > _LONGEST or not _FRACTION.fullmatch(text):
        raise ValueError("not a fraction of a ledger")
    return Fraction(text)


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
