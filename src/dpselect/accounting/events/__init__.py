"""Events: what ran, and nothing about the data it ran on.

A mechanism emits an event; accountants interpret it. An event names a *privacy property* that was proved, not a
mechanism, so that two mechanisms with the same property are accounted for in the same way. What ran, for people, is a
`Run`: an event with the mechanism's name, the neighbouring relation and the unit. Both are frozen, comparable by value,
and written as JSON and back without losing a bit.

Kinds are never removed and never change meaning: ``docs/events.md``.
"""

from dpselect.accounting.events.codec import decode, decode_run, encode, encode_run, from_json, to_json
from dpselect.accounting.events.kinds import (
    ApproximateEvent,
    BoundedRangeEvent,
    ComposedEvent,
    Event,
    LaplaceProfileEvent,
    LogisticProfileEvent,
    LossIntervalEvent,
    NonAdaptiveEvent,
    PrivateCandidatesEvent,
    PureEvent,
    Run,
    SequenceEvent,
    SingleEvent,
)

__all__ = [
    "ApproximateEvent",
    "BoundedRangeEvent",
    "ComposedEvent",
    "Event",
    "LaplaceProfileEvent",
    "LogisticProfileEvent",
    "LossIntervalEvent",
    "NonAdaptiveEvent",
    "PrivateCandidatesEvent",
    "PureEvent",
    "Run",
    "SequenceEvent",
    "SingleEvent",
    "decode",
    "decode_run",
    "encode",
    "encode_run",
    "from_json",
    "to_json",
]
