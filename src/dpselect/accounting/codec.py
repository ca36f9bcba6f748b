"""Events as JSON and back, bit by bit, and as events of the package dp-accounting (the extra ``pld``), never cheaper.

The JSON format never changes. Both are described in ``docs/events.md``.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any, cast

from dpselect.accounting import events as ours
from dpselect.accounting.events import FIELDS, KINDS, VERSION, Event, Run, encode, expected_runs, gammas_beside
from dpselect.checks import fraction_up
from dpselect.errors import InvalidEventError, InvalidParameterError, Shown, import_extra

_EVENTS = f"one of {', '.join(name for name, kind in KINDS.items() if kind is not Run)}"


def to_json(event: Event | Run) -> str:
    """`event` as JSON text: one line, keys sorted, always the same text for equal events.

    Raises:
        InvalidParameterError: no event.

    >>> from dpselect.accounting import BoundedRangeEvent
    >>> to_json(BoundedRangeEvent(epsilon=0.1))
    '{"epsilon":"0.1","kind":"bounded_range","version":1}'
    """
    return json.dumps(encode(event), sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def from_json(text: str) -> Event | Run:
    """The event or run that `to_json` wrote.

    Raises:
        InvalidEventError: no JSON, an unknown kind or version, a field missing or too many, a number that is not
            written as `to_json` writes it.

    >>> from_json('{"kind": "bounded_range", "version": 1, "epsilon": "0.1"}')
    BoundedRangeEvent(epsilon=0.1)
    """
    if not isinstance(cast(object, text), str):
        raise InvalidEventError("event", text, "JSON text")
    try:
        return decode(json.loads(text, object_pairs_hook=_object))
    except InvalidEventError:
        raise
    except (ValueError, RecursionError):
        raise InvalidEventError("event", Shown("<no JSON>"), "the JSON of an event") from None


def decode(held: object) -> Event | Run:
    """The event or run that `encode` wrote as exactly these values; raises as `from_json` does."""
    try:
        event: Any = _decoded(held)
    except RecursionError:
        raise InvalidEventError("event", Shown("<nested too deep>"), "an event") from None
    if not isinstance(event, Event | Run):
        raise InvalidEventError("event", held, "an object with kind and version")
    if encode(event) != held:
        raise InvalidEventError("number", Shown("<text>"), "numbers as text, each in the shortest form that denotes it")
    return event


def _decoded(held: object) -> object:
    if isinstance(held, list):
        return [_decoded(part) for part in cast("list[object]", held)]
    if isinstance(held, str):
        try:
            return float(held)
        except ValueError:
            raise InvalidEventError("number", Shown("<text>"), "a finite number as text") from None
    if not isinstance(held, Mapping):
        return held
    fields = cast("Mapping[object, object]", held)
    name, version = fields.get("kind"), fields.get("version")
    kind = KINDS.get(str(name))
    if kind is None:
        is_short = isinstance(name, str) and len(name) <= 40  # a name in a format, so an error may quote it
        raise InvalidEventError("kind", Shown(repr(name)) if is_short else name, _EVENTS)
    if type(version) is not int or version != VERSION:
        is_later = type(version) is int and version > VERSION
        hint = "The event was written by a later dpselect: update this one." if is_later else ""
        raise InvalidEventError("version", version, str(VERSION), hint)
    named = FIELDS[kind]
    if set(fields) != {"kind", "version", *named}:
        raise InvalidEventError("event", Shown("<other fields>"), f"kind, version and exactly {', '.join(named)}")
    texts = ("mechanism", "neighbours", "unit")  # all other texts denote numbers
    values: dict[str, Any] = {name: fields[name] if name in texts else _decoded(fields[name]) for name in named}
    try:
        return kind(**values)
    except InvalidParameterError as refused:
        raise InvalidEventError(refused.name, refused.got, refused.expected, refused.hint) from None


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    if len({name for name, _ in pairs}) < len(pairs):
        raise InvalidEventError("event", Shown("<a field twice>"), "each field once")
    return dict(pairs)


_UP, _DOWN = 1.0 + 2.0**-46, 1.0 - 2.0**-46


def to_dp_accounting(event: Event | Run) -> Any:
    """`event` as a ``dp_accounting.DpEvent``.

    Raises:
        MissingExtraError: the extra ``pld`` is not installed.
        InvalidEventError: it has a delta of its own.

    >>> from_dp_accounting(to_dp_accounting(ours.PureEvent(epsilon=0.1)))
    PureEvent(epsilon=0.1)
    """
    if not isinstance(cast(object, event), Event | Run):
        raise InvalidEventError("event", event, "an event, such as mechanism.event, or a run")
    theirs = import_extra("dp_accounting.dp_event", "dp-accounting", "pld")
    mechanism, event = (event.mechanism, event.event) if isinstance(event, Run) else ("", event)
    match event:
        case ours.SequenceEvent():
            return theirs.ComposedDpEvent([to_dp_accounting(each) for each in event.events])
        case ours.ComposedEvent():
            return theirs.SelfComposedDpEvent(to_dp_accounting(event.event), event.count)
        case ours.PrivateCandidatesEvent():
            small = math.exp(-event.run_epsilon)
            run = theirs.RandomizedResponseDpEvent(2.0 * small / (1.0 + small) * _DOWN, 2)
            return theirs.RepeatAndSelectDpEvent(run, expected_runs(event.eta, event.gamma) * _UP, event.eta)
        case ours.BoundedRangeEvent() if hasattr(theirs, "ExponentialMechanismDpEvent"):
            return theirs.ExponentialMechanismDpEvent(event.epsilon)
        case ours.LaplaceProfileEvent() if mechanism == "PermuteAndFlip" and hasattr(theirs, f"{mechanism}DpEvent"):
            return theirs.PermuteAndFlipDpEvent(event.epsilon)
        case ours.LaplaceProfileEvent():
            return theirs.LaplaceDpEvent(_DOWN / event.epsilon)
        case _ if event.delta:
            raise InvalidEventError("event", Shown("one with a delta"), "an event that dp-accounting knows")
        case _:
            return theirs.DiscreteLaplaceDpEvent(event.epsilon, 1)  # costs as much as anything pure


def from_dp_accounting(event: Any) -> Event:
    """A ``dp_accounting.DpEvent`` as an event; `InvalidEventError` if it is not known to be pure, as Gaussian noise.

    >>> from_dp_accounting(to_dp_accounting(ours.LaplaceProfileEvent(epsilon=0.5))).epsilon >= 0.5
    True
    """
    match type(event).__name__:
        case "ComposedDpEvent":
            return ours.SequenceEvent(events=tuple(map(from_dp_accounting, event.events)))
        case "SelfComposedDpEvent":
            return ours.ComposedEvent(event=from_dp_accounting(event.event), count=event.count)
        case "RepeatAndSelectDpEvent" if (run := from_dp_accounting(event.event)).delta == 0.0:
            gamma, _ = gammas_beside(event.mean * _UP, event.shape)
            if not expected_runs(event.shape, gamma) > event.mean * _UP:
                raise InvalidEventError("event", Shown("<too many runs>"), "a mean of at most 2^50 runs, about")
            return ours.PrivateCandidatesEvent(epsilon=run.epsilon, eta=event.shape, gamma=gamma)
        case "ExponentialMechanismDpEvent" | "PermuteAndFlipDpEvent" as name:
            kind = ours.BoundedRangeEvent if name == "ExponentialMechanismDpEvent" else ours.LaplaceProfileEvent
            return kind(epsilon=event.epsilon)
        case "LaplaceDpEvent":
            return ours.LaplaceProfileEvent(epsilon=_UP / max(event.noise_multiplier, 5e-324))
        case "DiscreteLaplaceDpEvent":
            return ours.PureEvent(epsilon=fraction_up(Fraction(event.noise_parameter) * event.sensitivity))
        case "RandomizedResponseDpEvent" if 0.0 < event.noise_parameter < 1.0:
            odds = (1.0 - event.noise_parameter) * event.num_buckets / event.noise_parameter
            return ours.PureEvent(epsilon=math.log1p(odds * _UP) * _UP)
        case name:
            raise InvalidEventError("event", Shown(name), "an event of dp-accounting that is known to be pure")
