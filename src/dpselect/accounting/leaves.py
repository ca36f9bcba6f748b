"""A list of events reduced to how often each single event ran."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from fractions import Fraction
from typing import cast

from dpselect.accounting.events import (
    ApproximateEvent,
    ComposedEvent,
    Event,
    PrivateCandidatesEvent,
    PureEvent,
    Run,
    SequenceEvent,
    SingleEvent,
)
from dpselect.checks import members_in_order
from dpselect.errors import InvalidParameterError, Shown

EXPECTED = "events of dpselect.accounting"

_BLOCK = 4096
"""Number of events compared at once, so that they stay in the processor's cache."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Leaves:
    """How often each single event ran, whatever the order.

    Attributes:
        counts: of single events; an `ApproximateEvent` or `PrivateCandidatesEvent` counts as a
            `PureEvent` here.
        delta: the sum of the deltas of all approximate events, exactly.
    """

    counts: dict[SingleEvent, int]
    delta: Fraction

    @property
    def basic(self) -> Fraction:
        """The sum of all epsilons, exactly."""
        return basic_of(self.counts)


def basic_of(counts: Mapping[SingleEvent, int]) -> Fraction:
    """The sum of all epsilons, exactly."""
    return sum((Fraction(event.epsilon) * count for event, count in counts.items()), Fraction(0))


def leaves_of(events: Iterable[Event | Run]) -> Leaves:
    """Split groups into single events and count these."""
    counts: Counter[SingleEvent] = Counter()
    failing = Fraction(0)
    left = _plain(_counted(events))
    while left:  # level by level: equal parts of different groups are counted together
        level, left = left, Counter[Event]()
        for event, count in level.items():
            match event:
                case ComposedEvent():
                    left[event.event] += count * event.count
                case SequenceEvent():
                    for part in event.events:
                        left[part] += count
                case ApproximateEvent():
                    failing += Fraction(event.delta) * count
                    counts[PureEvent(epsilon=event.epsilon)] += count
                case PrivateCandidatesEvent():
                    counts[PureEvent(epsilon=event.epsilon)] += count
                case _:
                    counts[event] += count
    return Leaves(counts=dict(counts), delta=failing)


def _counted(events: Iterable[Event | Run]) -> Counter[object]:
    """How often each is in the list; the same object a million times is counted at the speed of a comparison."""
    if isinstance(events, (Event, Run)):
        hint = "One event goes into a list as well."
        raise InvalidParameterError("events", Shown("<a single event>"), f"a list of {EXPECTED}", hint)
    given = list(events) if isinstance(events, Set) else events
    is_listed = isinstance(given, (list, tuple))  # of a million events no copy is made
    listed = given if is_listed else members_in_order(given, "events", expected=f"a list of {EXPECTED}")
    if not listed:
        return Counter()
    first = listed[0]
    if not isinstance(first, (Event, Run)):
        raise InvalidParameterError("events", first, EXPECTED)
    if _all_alike(listed, first):
        return Counter({first: len(listed)})
    by_identity = Counter(map(id, listed))
    objects = {id(each): each for each in listed}
    counts: Counter[object] = Counter()
    for identity, count in by_identity.items():
        each = objects[identity]
        if not isinstance(each, (Event, Run)):
            raise InvalidParameterError("events", each, EXPECTED)
        counts[each] += count
    return counts


def _all_alike(listed: Sequence[object], first: object) -> bool:
    """Comparing sequences checks identity first and stops at the first difference: one or two nanoseconds each."""
    alike = type(listed)([first] * min(len(listed), _BLOCK))  # type: ignore[call-arg]
    return all(
        listed[start : start + _BLOCK] == alike[: min(_BLOCK, len(listed) - start)]
        for start in range(0, len(listed), _BLOCK)
    )


def _plain(counts: Counter[object]) -> Counter[Event]:
    """The events, for runs their events; refused unless all runs protect the same unit under the same relation."""
    runs = [each for each in counts if isinstance(each, Run)]
    for name in ("neighbours", "unit"):
        if len({getattr(run, name) for run in runs}) > 1:
            hint = "Costs add up only for one unit under one neighbouring relation."
            raise InvalidParameterError("events", Shown("<runs that differ>"), f"runs of one {name}", hint)
    plain: Counter[Event] = Counter()
    for each, count in counts.items():
        plain[each.event if isinstance(each, Run) else cast(Event, each)] += count
    return plain
