"""Events made of events: one many times, different ones in a row, many drawn at once."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import cast, get_args

from dpselect.accounting.events.properties import (
    ApproximateEvent,
    BoundedRangeEvent,
    LaplaceProfileEvent,
    LogisticProfileEvent,
    PureEvent,
)
from dpselect.accounting.rounding import fraction_up, product_up
from dpselect.arguments import positive_count
from dpselect.errors import InvalidParameterError, Shown

MOST_LEVELS = 16
"""How deep groups may nest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ComposedEvent:
    """`count` runs of `event`, one after another, each free to depend on what the earlier ones released.

    >>> ComposedEvent(event=BoundedRangeEvent(epsilon=0.5), count=10).epsilon
    5.0
    """

    event: Event
    count: int

    def __post_init__(self) -> None:
        checked_event(self.event)
        object.__setattr__(self, "count", positive_count(self.count, "count", at_most=sys.maxsize))
        _refuse_too_deep(self)

    @property
    def epsilon(self) -> float:
        """The total by basic composition, rounded up."""
        return product_up(self.event.epsilon, self.count)

    @property
    def delta(self) -> float:
        """The total by basic composition, rounded up; 0 where no part has one. May reach 1 and more."""
        return product_up(self.event.delta, self.count)


@dataclass(frozen=True, slots=True, kw_only=True)
class SequenceEvent:
    """Different `events`, one after another, each free to depend on what the earlier ones released.

    >>> SequenceEvent(events=[PureEvent(epsilon=0.5), BoundedRangeEvent(epsilon=0.25)]).epsilon
    0.75
    """

    events: tuple[Event, ...]

    def __post_init__(self) -> None:
        parts = cast(object, self.events)
        if not isinstance(parts, (tuple, list)):
            raise InvalidParameterError("events", parts, "a list of events of dpselect.accounting")
        listed = tuple(cast("Sequence[object]", parts))
        if not listed:
            raise InvalidParameterError("events", Shown("<none>"), "at least one event")
        object.__setattr__(self, "events", tuple(checked_event(part, "events") for part in listed))
        _refuse_too_deep(self)

    @property
    def epsilon(self) -> float:
        """The total by basic composition, rounded up."""
        return fraction_up(sum((Fraction(part.epsilon) for part in self.events), Fraction(0)))

    @property
    def delta(self) -> float:
        """The total by basic composition, rounded up; 0 where no part has one. May reach 1 and more."""
        return fraction_up(sum((Fraction(part.delta) for part in self.events), Fraction(0)))


@dataclass(frozen=True, slots=True, kw_only=True)
class NonAdaptiveEvent:
    """`count` draws of *one* bounded-range mechanism from the *same* scores, `count` fixed before the first draw.

    What one call of ``select_many`` does, and ``event_of_many`` of the mechanism says. Nothing in it can depend on a
    result, so the formula of Dong, Durfee & Rogers (2020) holds, which is smaller than any that lets the draws depend
    on each other. Selections asked for one by one, peeling and trees are a `ComposedEvent` instead, whatever their
    number.

    >>> NonAdaptiveEvent(event=BoundedRangeEvent(epsilon=0.5), count=10).epsilon
    5.0
    """

    event: BoundedRangeEvent
    count: int

    def __post_init__(self) -> None:
        if not isinstance(cast(object, self.event), BoundedRangeEvent):
            raise InvalidParameterError("event", self.event, "a BoundedRangeEvent")
        object.__setattr__(self, "count", positive_count(self.count, "count", at_most=sys.maxsize))

    @property
    def epsilon(self) -> float:
        """The total by basic composition, rounded up."""
        return product_up(self.event.epsilon, self.count)

    @property
    def delta(self) -> float:
        """Always 0: no part has one."""
        return 0.0


Event = (
    BoundedRangeEvent
    | LogisticProfileEvent
    | LaplaceProfileEvent
    | PureEvent
    | ApproximateEvent
    | ComposedEvent
    | SequenceEvent
    | NonAdaptiveEvent
)
_KINDS = frozenset(get_args(Event))


def checked_event(value: object, name: str = "event") -> Event:
    """`value`, or an error if it is not an event, or of a derived class, which may mean anything."""
    if not isinstance(value, Event) or type(value) not in _KINDS:
        raise InvalidParameterError(name, value, "an event of dpselect.accounting")
    return value


def _refuse_too_deep(event: Event) -> None:
    level: list[Event] = [event]
    for _ in range(MOST_LEVELS):
        level = list({id(part): part for each in level for part in parts_of(each)}.values())
        if not level:
            return
    raise InvalidParameterError("event", Shown("<nested too deep>"), f"at most {MOST_LEVELS} levels of groups")


def parts_of(event: Event) -> tuple[Event, ...]:
    """The events that a group is made of, each once; none for a single event."""
    match event:
        case ComposedEvent() | NonAdaptiveEvent():
            return (event.event,)
        case SequenceEvent():
            return event.events
        case _:
            return ()
