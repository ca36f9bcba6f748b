"""Events as JSON and back, bit by bit. The format never changes: ``docs/events.md``."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, cast

from dpselect.accounting.events import FIELDS, KINDS, VERSION, Event, Run, encode
from dpselect.errors import InvalidEventError, InvalidParameterError, Shown

_EVENTS = f"one of {', '.join(name for name, kind in KINDS.items() if kind is not Run)}"
_DEEPEST = 40
"""Levels of nesting a JSON text may have; an event has at most `MOST_LEVELS`, a run one more."""


def to_json(event: Event | Run) -> str:
    """`event` as JSON text: one line, keys sorted, always the same text for equal events.

    Raises:
        InvalidParameterError: no event.

    >>> from dpselect.accounting.events import BoundedRangeEvent
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
        held = json.loads(text, object_pairs_hook=_object)
    except RecursionError:
        raise InvalidEventError("event", Shown("<nested too deep>"), "an event") from None
    except ValueError as error:
        if isinstance(error, InvalidEventError):
            raise
        raise InvalidEventError("event", Shown("<no JSON>"), "the JSON of an event") from None
    return _decode(cast(object, held))


def decode(held: object) -> Event:
    """The event that `encode` wrote.

    Raises:
        InvalidEventError: an unknown kind or version, a field missing or too many, a number out of range or not
            written as `encode` writes it.

    >>> decode({"kind": "pure", "version": 1, "epsilon": "0.1"})
    PureEvent(epsilon=0.1)
    >>> decode({"kind": "pure", "version": 2, "epsilon": "0.1"})
    Traceback (most recent call last):
    dpselect.errors.InvalidEventError: version=2: expected 1. The event was written by a later dpselect: update this
    one.
    """
    event = _decode(held)
    if isinstance(event, Run):
        raise InvalidEventError("kind", _shown("run"), _EVENTS)
    return event


def _decode(held: object, depth: int = 0) -> Event | Run:
    if depth > _DEEPEST:
        raise InvalidEventError("event", Shown("<nested too deep>"), "an event")
    fields = _fields(held)
    kind = KINDS.get(fields["kind"]) if isinstance(fields["kind"], str) else None
    if kind is None or (depth and kind is Run):
        raise InvalidEventError("kind", _shown(fields["kind"]), _EVENTS)
    _check_version(fields["version"])
    named = FIELDS[kind]
    _check_names(fields, {"kind", "version", *named})
    readers: dict[str, Callable[[Any], object]] = {
        "event": partial(_decode, depth=depth + 1),
        "events": partial(_several, depth=depth + 1),
        "count": _whole,
        **dict.fromkeys(("mechanism", "neighbours", "unit"), _as_it_is),
    }
    arguments = {name: readers.get(name, _double)(fields[name]) for name in named}
    try:
        return cast("Callable[..., Event | Run]", kind)(**arguments)
    except InvalidEventError:
        raise
    except InvalidParameterError as refused:
        raise InvalidEventError(refused.name, refused.got, refused.expected, refused.hint) from None


def _several(held: object, depth: int) -> list[Event | Run]:
    if not isinstance(held, list):
        raise InvalidEventError("events", held, "a list of events")
    return [_decode(part, depth) for part in cast("list[object]", held)]


def _as_it_is(value: object) -> object:
    """What a `Run` checks itself."""
    return value


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    if len({name for name, _ in pairs}) < len(pairs):
        raise InvalidEventError("event", Shown("<a field twice>"), "each field once")
    return dict(pairs)


def _fields(held: object) -> dict[str, object]:
    if not isinstance(held, Mapping):
        raise InvalidEventError("event", held, "an object with kind and version")
    fields = {name: value for name, value in cast("Mapping[object, object]", held).items() if isinstance(name, str)}
    if len(fields) < len(cast("Mapping[object, object]", held)) or not {"kind", "version"} <= set(fields):
        raise InvalidEventError("event", Shown("<object>"), "an object with kind and version")
    return fields


def _check_version(version: object) -> None:
    if isinstance(version, bool) or not isinstance(version, int) or version < 1:
        raise InvalidEventError("version", version, "a whole number >= 1")
    if version > VERSION:
        hint = "The event was written by a later dpselect: update this one."
        raise InvalidEventError("version", version, str(VERSION), hint)


def _check_names(fields: Mapping[str, object], expected: set[str]) -> None:
    if set(fields) != expected:
        missing, additional = len(expected - set(fields)), len(set(fields) - expected)
        got = Shown(f"<{missing} fields missing, {additional} too many>")
        raise InvalidEventError("event", got, f"exactly the fields {', '.join(sorted(expected))}")


def _double(text: object) -> float:
    expected = "a finite number as text, in the shortest form that denotes it"
    if not isinstance(text, str) or len(text) > 40:
        raise InvalidEventError("number", text, expected)
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value) or repr(value) != text:
        raise InvalidEventError("number", Shown("<text>"), expected)
    return value


def _whole(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise InvalidEventError("count", value, "a whole number")
    return value


def _shown(value: object) -> object:
    """A kind is a name in a format, so an error may quote a short one."""
    return Shown(repr(value)) if isinstance(value, str) and len(value) <= 40 else value
