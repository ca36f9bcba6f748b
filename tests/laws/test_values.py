"""Mechanisms that select are values: what a pickle holds, and which arguments are refused."""

from __future__ import annotations

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


@every_kind
def test_a_pickle_holds_the_arguments_and_nothing_else(kind: Kind) -> None:
    mechanism = kind(epsilon=0.5, sensitivity=2.0)
    mechanism.select_many(np.zeros(100), 100)
    make, given = mechanism.__reduce__()
    arguments = make.keywords
    assert make.func is type(mechanism)
    assert given == make.args == ()
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
def test_no_argument_is_left_out(kind: Kind) -> None:
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
