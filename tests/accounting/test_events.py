"""Events: frozen, comparable, without data, and never less expensive than what ran."""

from __future__ import annotations

import dataclasses
import math
import pickle
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpselect.accounting import BoundedRangeEvent, ComposedEvent, LaplaceProfileEvent
from dpselect.errors import InvalidParameterError

SINGLE = pytest.mark.parametrize("kind", [BoundedRangeEvent, LaplaceProfileEvent])
doubles = st.floats(min_value=5e-324, max_value=1e308)
counts = st.integers(1, 10**12)


@SINGLE
def test_single_events_are_values(kind: Any) -> None:
    event = kind(epsilon=1)
    assert event == kind(epsilon=1.0) == pickle.loads(pickle.dumps(event))
    assert hash(event) == hash(kind(epsilon=1.0))
    assert event != kind(epsilon=2.0)
    with pytest.raises(dataclasses.FrozenInstanceError):
        event.epsilon = 2.0


def test_the_same_epsilon_does_not_make_two_properties_equal() -> None:
    assert BoundedRangeEvent(epsilon=1.0) != LaplaceProfileEvent(epsilon=1.0)


@SINGLE
@pytest.mark.parametrize("epsilon", [0.0, -1.0, float("nan"), float("inf"), None, "1", True])
def test_bad_epsilon(kind: Any, epsilon: Any) -> None:
    with pytest.raises(InvalidParameterError, match="epsilon"):
        kind(epsilon=epsilon)


@given(epsilon=doubles, count=counts)
def test_composed_epsilon_is_the_smallest_double_that_is_enough(epsilon: float, count: int) -> None:
    total = ComposedEvent(event=BoundedRangeEvent(epsilon=epsilon), count=count).epsilon
    exact = Fraction(epsilon) * count
    if total == float("inf"):
        assert exact > Fraction(1.7e308)
    else:
        assert Fraction(total) >= exact
        assert total == 0.0 or Fraction(math.nextafter(total, 0.0)) < exact


def test_compositions_nest() -> None:
    inner = ComposedEvent(event=LaplaceProfileEvent(epsilon=0.25), count=4)
    assert ComposedEvent(event=inner, count=3).epsilon == 3.0
    assert ComposedEvent(event=inner, count=3).event == inner


@pytest.mark.parametrize("count", [0, -1, 1.0, True, None])
def test_bad_count(count: Any) -> None:
    with pytest.raises(InvalidParameterError, match="count"):
        ComposedEvent(event=BoundedRangeEvent(epsilon=1.0), count=count)


@pytest.mark.parametrize("event", [None, 1.0, "BoundedRangeEvent", BoundedRangeEvent])
def test_only_events_compose(event: Any) -> None:
    with pytest.raises(InvalidParameterError, match="event"):
        ComposedEvent(event=event, count=2)
