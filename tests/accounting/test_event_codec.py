"""Events as JSON: back bit by bit, the same text for equal events, and nothing unknown is read."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpselect.accounting import (
    ApproximateEvent,
    BoundedRangeEvent,
    ComposedEvent,
    Event,
    LaplaceProfileEvent,
    LogisticProfileEvent,
    PureEvent,
    Run,
    SequenceEvent,
    from_json,
    to_json,
)
from dpselect.errors import InvalidEventError, InvalidParameterError

doubles = st.floats(min_value=5e-324, max_value=1.7976931348623157e308)
deltas = st.floats(min_value=5e-324, max_value=1.0, exclude_max=True)
counts = st.integers(1, 2**63 - 1)
singles = st.one_of(
    [st.builds(kind, epsilon=doubles) for kind in (BoundedRangeEvent, LogisticProfileEvent, LaplaceProfileEvent)]
    + [st.builds(PureEvent, epsilon=doubles), st.builds(ApproximateEvent, epsilon=doubles, delta=deltas)]
)
any_event: st.SearchStrategy[Event] = st.recursive(
    singles,
    lambda inner: (
        st.builds(ComposedEvent, event=inner, count=counts)
        | st.builds(SequenceEvent, events=st.lists(inner, min_size=1, max_size=3))
    ),
    max_leaves=6,
)
texts = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=20)
runs = st.builds(
    Run, event=any_event, mechanism=texts, neighbours=st.sampled_from(["add_remove", "replace_one"]), unit=texts
)


@given(event=any_event | runs)
def test_there_and_back(event: Event | Run) -> None:
    text = to_json(event)
    assert from_json(text) == event
    assert to_json(from_json(text)) == text
    spaced = json.dumps(json.loads(text), indent=2, sort_keys=False)
    assert from_json(spaced) == event


@given(epsilon=doubles)
def test_every_bit_of_a_number_survives(epsilon: float) -> None:
    again = from_json(to_json(PureEvent(epsilon=epsilon)))
    assert isinstance(again, PureEvent)
    assert again.epsilon.hex() == epsilon.hex()


WRITTEN_BY_VERSION_ONE: dict[str, Event | Run] = {
    '{"epsilon":"0.1","kind":"bounded_range","version":1}': BoundedRangeEvent(epsilon=0.1),
    '{"epsilon":"5e-324","kind":"logistic_profile","version":1}': LogisticProfileEvent(epsilon=5e-324),
    '{"epsilon":"0.30000000000000004","kind":"laplace_profile","version":1}': LaplaceProfileEvent(epsilon=0.1 + 0.2),
    '{"epsilon":"1e+308","kind":"pure","version":1}': PureEvent(epsilon=1e308),
    '{"delta":"1e-06","epsilon":"1.0","kind":"approximate","version":1}': ApproximateEvent(epsilon=1.0, delta=1e-6),
    '{"count":9007199254740993,"event":{"epsilon":"2.0","kind":"pure","version":1},"kind":"composed","version":1}': (
        ComposedEvent(event=PureEvent(epsilon=2.0), count=2**53 + 1)
    ),
    '{"events":[{"epsilon":"2.0","kind":"pure","version":1}],"kind":"sequence","version":1}': SequenceEvent(
        events=(PureEvent(epsilon=2.0),)
    ),
    '{"event":{"epsilon":"2.0","kind":"pure","version":1},"kind":"run","mechanism":"é","neighbours":"replace_one",'
    '"unit":"person","version":1}': Run(
        event=PureEvent(epsilon=2.0),
        mechanism="é",
        neighbours="replace_one",
        unit="person",  # type: ignore[arg-type]
    ),
}


@pytest.mark.parametrize("text", WRITTEN_BY_VERSION_ONE)
def test_what_version_one_wrote_is_read_and_written_for_ever(text: str) -> None:
    """These texts never change: docs/events.md, the law."""
    assert from_json(text) == WRITTEN_BY_VERSION_ONE[text]
    assert to_json(WRITTEN_BY_VERSION_ONE[text]) == text


PURE: dict[str, Any] = {"kind": "pure", "version": 1, "epsilon": "0.1"}


@pytest.mark.parametrize(
    "held",
    [
        None,
        [],
        "pure",
        {},
        {"kind": "pure"},
        PURE | {"kind": "gaussian"},
        PURE | {"kind": 1},
        PURE | {"version": 2},
        PURE | {"version": 0},
        PURE | {"version": True},
        PURE | {"version": "1"},
        PURE | {"version": 1.0},
        PURE | {"delta": "0.0"},
        {"kind": "pure", "version": 1},
        PURE | {"epsilon": 0.1},
        PURE | {"epsilon": "0.10"},
        PURE | {"epsilon": " 0.1"},
        PURE | {"epsilon": "1_0.0"},
        PURE | {"epsilon": "1"},
        PURE | {"epsilon": "nan"},
        PURE | {"epsilon": "inf"},
        PURE | {"epsilon": "-0.1"},
        PURE | {"epsilon": "0.0"},
        PURE | {"epsilon": "0.1" * 1000},
        {"kind": "approximate", "version": 1, "epsilon": "0.1", "delta": "1.0"},
        {"kind": "approximate", "version": 1, "epsilon": "0.1", "delta": "0.0"},
        {"kind": "composed", "version": 1, "event": PURE, "count": 0},
        {"kind": "composed", "version": 1, "event": PURE, "count": 2**63},
        {"kind": "composed", "version": 1, "event": PURE, "count": 2.0},
        {"kind": "composed", "version": 1, "event": PURE, "count": True},
        {"kind": "composed", "version": 1, "event": None, "count": 1},
        {"kind": "sequence", "version": 1, "events": []},
        {"kind": "sequence", "version": 1, "events": PURE},
        {"kind": "run", "version": 1, "event": PURE, "mechanism": "", "neighbours": "add_remove", "unit": "u"},
        {"kind": "run", "version": 1, "event": PURE, "mechanism": "m", "neighbours": "near", "unit": "u"},
        {"kind": "run", "version": 1, "event": PURE, "mechanism": "m", "neighbours": "add_remove", "unit": 3},
        {"kind": "run", "version": 2, "event": PURE, "mechanism": "m", "neighbours": "add_remove", "unit": "u"},
    ],
)
def test_what_is_not_known_is_refused(held: Any) -> None:
    with pytest.raises(InvalidEventError):
        from_json(json.dumps(held))


@pytest.mark.parametrize(
    "text",
    ["", "{", "NaN", '{"kind":"pure","kind":"pure","version":1,"epsilon":"0.1"}', "[" * 100_000, "\ud800", "1" * 5000],
)
def test_what_is_no_json_is_refused(text: str) -> None:
    with pytest.raises(InvalidEventError):
        from_json(text)


def test_deep_nesting_is_refused_and_never_crashes() -> None:
    held: Any = PURE
    for _ in range(17):
        held = {"kind": "composed", "version": 1, "event": held, "count": 1}
    with pytest.raises(InvalidEventError, match="nested"):
        from_json(json.dumps(held))
    event: Event = PureEvent(epsilon=1.0)
    for _ in range(15):
        event = SequenceEvent(events=(event, event))
    assert event.epsilon == 2.0**15
    with pytest.raises(InvalidParameterError, match="nested"):
        ComposedEvent(event=SequenceEvent(events=(event,)), count=1)


def test_an_error_names_no_foreign_text() -> None:
    with pytest.raises(InvalidEventError) as caught:
        from_json(json.dumps(PURE | {"ann": "secret"}))
    assert "ann" not in str(caught.value)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("bad", [None, 1.0, "pure", PureEvent])
def test_only_events_are_written(bad: Any) -> None:
    with pytest.raises(InvalidParameterError):
        to_json(bad)


def test_a_run_is_no_event_and_the_other_way_round() -> None:
    run = Run(event=PureEvent(epsilon=1), mechanism="m", neighbours="add_remove", unit="u")  # type: ignore[arg-type]
    assert from_json(to_json(run)) == run
    with pytest.raises(InvalidEventError):
        from_json(to_json(ComposedEvent(event=run.event, count=1)).replace(to_json(run.event), to_json(run)))
    with pytest.raises(InvalidParameterError):
        ComposedEvent(event=run, count=1)  # type: ignore[arg-type]
