"""Events: what ran, and nothing about the data it ran on.

A mechanism emits an event; accountants interpret it. An event names a *privacy property* that was proved, not a
mechanism, so that two mechanisms with the same property are accounted for in the same way. Frozen and comparable by
value: an event can be stored, sent to another process, and counted.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import cast

from dpselect.accounting.rounding import product_up
from dpselect.arguments import positive_count, positive_epsilon
from dpselect.errors import InvalidParameterError


@dataclass(frozen=True, slots=True, kw_only=True)
class BoundedRangeEvent:
    """One run of something `epsilon`-bounded-range: its privacy losses lie in an interval of length `epsilon`.

    Held by the exponential mechanism and by report-noisy-max with Gumbel noise. Implies `epsilon`-DP, and composes
    better than that: see `dpselect.accounting.bounded_range`. Proof: ``proofs/exponential_mechanism.md``.

    >>> BoundedRangeEvent(epsilon=0.5)
    BoundedRangeEvent(epsilon=0.5)
    """

    epsilon: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", positive_epsilon(self.epsilon))


@dataclass(frozen=True, slots=True, kw_only=True)
class LaplaceProfileEvent:
    """One run of something whose privacy profile lies below that of the Laplace mechanism at `epsilon`.

    Held by permute-and-flip and by report-noisy-max with exponential or Laplace noise. Implies `epsilon`-DP. *Not*
    bounded-range: its losses range over more than `epsilon`. Proofs: ``proofs/permute_and_flip.md``,
    ``proofs/noisy_max.md``.

    >>> LaplaceProfileEvent(epsilon=1).epsilon
    1.0
    """

    epsilon: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", positive_epsilon(self.epsilon))


@dataclass(frozen=True, slots=True, kw_only=True)
class PureEvent:
    """One run of something `epsilon`-DP, of which nothing better is true or proved.

    Held by randomised response and by the two-sided geometric mechanism at sensitivity 1, whose losses are `epsilon`
    or its negative: no tighter profile holds for them.

    >>> PureEvent(epsilon=1).epsilon
    1.0
    """

    epsilon: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", positive_epsilon(self.epsilon))


@dataclass(frozen=True, slots=True, kw_only=True)
class ComposedEvent:
    """`count` runs of `event`, one after another, each free to depend on what the earlier ones released.

    >>> ComposedEvent(event=BoundedRangeEvent(epsilon=0.5), count=10).epsilon
    5.0
    """

    event: Event
    count: int

    def __post_init__(self) -> None:
        if not isinstance(cast(object, self.event), Event):
            raise InvalidParameterError("event", self.event, "an event of dpselect.accounting")
        object.__setattr__(self, "count", positive_count(self.count, "count", at_most=sys.maxsize))

    @property
    def epsilon(self) -> float:
        """The pure-DP total, by basic composition, rounded up."""
        return product_up(self.event.epsilon, self.count)


Event = BoundedRangeEvent | LaplaceProfileEvent | PureEvent | ComposedEvent
