"""Mechanisms are values: compared by their arguments, frozen, and copied without any random state."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import dpselect as dps
from dpselect import Neighbours
from dpselect.errors import InvalidParameterError
from tests.laws.subjects import every_kind

Kind = Callable[..., Any]
COPIES: dict[str, Callable[[Any], Any]] = {
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "pickle": lambda mechanism: pickle.loads(pickle.dumps(mechanism)),
    "replace": dataclasses.replace,
}


@every_kind
@pytest.mark.parametrize("duplicate", COPIES.values(), ids=COPIES)
def test_copies_are_equal_and_draw_on_their_own(kind: Kind, duplicate: Callable[[Any], Any]) -> None:
    original = kind(epsilon=0.5, sensitivity=2.0, monotonic=True)
    twin = duplicate(original)
    assert twin == original
    assert hash(twin) == hash(original)
    assert type(twin) is type(original)
    scores = np.zeros(1000)
    assert not np.array_equal(twin.select_many(scores, 200), original.select_many(scores, 200))


@every_kind
def test_a_pickle_holds_the_arguments_and_nothing_else(kind: Kind) -> None:
    mechanism = kind(epsilon=0.5, sensitivity=2.0)
    mechanism.select_many(np.zeros(100), 100)
    _, (type_of, arguments) = mechanism.__reduce__()
    assert type_of is type(mechanism)
    assert arguments.get("weights") is None
    assert set(arguments) - {"noise", "weights"} == {"epsilon", "sensitivity", "monotonic", "neighbours"}
    assert pickle.dumps(mechanism) == pickle.dumps(kind(epsilon=0.5, sensitivity=2.0))


@every_kind
def test_drawing_leaves_no_trace_in_the_value(kind: Kind) -> None:
    mechanism = kind(epsilon=0.5, sensitivity=2.0)
    before = repr(mechanism)
    mechanism.select(np.array([1.0, 2.0]))
    assert repr(mechanism) == before
    assert mechanism == kind(epsilon=0.5, sensitivity=2.0)
    assert "Sampler" not in before


@every_kind
def test_different_arguments_are_different_values(kind: Kind) -> None:
    mechanism = kind(epsilon=1.0, sensitivity=1.0)
    assert mechanism != kind(epsilon=2.0, sensitivity=1.0)
    assert mechanism != kind(epsilon=1.0, sensitivity=2.0)
    assert mechanism != kind(epsilon=1.0, sensitivity=1.0, monotonic=True)
    assert mechanism != kind(epsilon=1.0, sensitivity=1.0, neighbours="replace_one")
    assert dps.ExponentialMechanism(epsilon=1.0, sensitivity=1.0) != dps.PermuteAndFlip(epsilon=1.0, sensitivity=1.0)


@every_kind
def test_arguments_cannot_be_changed_or_given_by_position(kind: Kind) -> None:
    mechanism = kind(epsilon=1.0, sensitivity=1.0)
    with pytest.raises(dataclasses.FrozenInstanceError):
        mechanism.epsilon = 2.0
    with pytest.raises((AttributeError, TypeError)):
        mechanism.seed = 1
    with pytest.raises(TypeError):
        kind(1.0, 1.0)
    with pytest.raises(TypeError):
        kind(epsilon=1.0)
    with pytest.raises(TypeError):
        kind(sensitivity=1.0)


@every_kind
def test_numbers_of_any_type_are_rounded_to_the_safe_side(kind: Kind) -> None:
    mechanism = kind(epsilon=Fraction(1, 10), sensitivity=Fraction(1, 10))
    assert Fraction(mechanism.epsilon) <= Fraction(1, 10) <= Fraction(mechanism.sensitivity)
    assert kind(epsilon=1, sensitivity=np.float32(0.5)) == kind(epsilon=1.0, sensitivity=0.5)


@every_kind
@pytest.mark.parametrize("name", ["epsilon", "sensitivity"])
@pytest.mark.parametrize("value", [0, 0.0, -1.0, float("nan"), float("inf"), -float("inf"), True, "1", None, [1.0], 1j])
def test_bad_numbers(kind: Kind, name: str, value: object) -> None:
    arguments = {"epsilon": 1.0, "sensitivity": 1.0, name: value}
    with pytest.raises(InvalidParameterError) as caught:
        kind(**arguments)
    assert caught.value.name == name


@every_kind
def test_monotonic_goes_with_add_remove_only(kind: Kind) -> None:
    with pytest.raises(InvalidParameterError, match="replace_one"):
        kind(epsilon=1.0, sensitivity=1.0, monotonic=True, neighbours="replace_one")
    with pytest.raises(InvalidParameterError, match="neighbours"):
        kind(epsilon=1.0, sensitivity=1.0, neighbours="swap")
    with pytest.raises(InvalidParameterError, match="monotonic"):
        kind(epsilon=1.0, sensitivity=1.0, monotonic=1)
    assert kind(epsilon=1.0, sensitivity=1.0, neighbours="replace_one").neighbours is Neighbours.REPLACE_ONE


@pytest.mark.parametrize("noise", ["gauss", "Laplace", None, 3, ["laplace"]])
def test_unknown_noise(noise: Any) -> None:
    with pytest.raises(InvalidParameterError, match="noise"):
        dps.ReportNoisyMax(epsilon=1.0, sensitivity=1.0, noise=noise)


@every_kind
def test_scale_and_event_follow_from_the_arguments(kind: Kind) -> None:
    mechanism = kind(epsilon=0.5, sensitivity=3.0)
    assert mechanism.scale == 12.0
    assert kind(epsilon=0.5, sensitivity=3.0, monotonic=True).scale == 6.0
    assert mechanism.event.epsilon == 0.5
    assert kind(epsilon=1e-300, sensitivity=1e300).scale == np.inf
    assert kind(epsilon=1e300, sensitivity=1e-300).scale == 0.0
    assert kind(epsilon=1e300, sensitivity=1.7e308).scale == pytest.approx(3.4e8)


def test_events_name_the_proved_property() -> None:
    arguments = {"epsilon": 1.0, "sensitivity": 1.0}
    bounded_range, laplace_profile = (
        kind(epsilon=1.0) for kind in (dps.accounting.BoundedRangeEvent, dps.accounting.LaplaceProfileEvent)
    )
    assert dps.ExponentialMechanism(**arguments).event == bounded_range
    assert dps.ReportNoisyMax(**arguments, noise="gumbel").event == bounded_range
    assert dps.PermuteAndFlip(**arguments).event == laplace_profile
    assert dps.ReportNoisyMax(**arguments, noise="laplace").event == laplace_profile
    assert dps.ReportNoisyMax(**arguments, noise="exponential").event == laplace_profile
