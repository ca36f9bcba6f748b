"""Calibration spends the total and not more."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import dpselect as dps
from dpselect.accounting import ApproximateEvent, calibrate, compose
from dpselect.errors import InvalidParameterError
from tests.accounting.worlds import closed_form_rounds


@given(
    kind=st.sampled_from([dps.ExponentialMechanism, dps.PermuteAndFlip, dps.ReportNoisyMax]),
    count=st.integers(1, 200),
    epsilon=st.floats(1e-3, 20.0),
    delta=st.sampled_from([0.0, 1e-12, 1e-6, 1e-2]),
)
def test_composing_it_again_stays_within(kind: Any, count: int, epsilon: float, delta: float) -> None:
    mechanism = calibrate(kind, count=count, epsilon=epsilon, delta=delta, sensitivity=1.0)
    assert isinstance(mechanism, kind)
    assert compose([mechanism.event] * count).epsilon(delta) <= epsilon
    assert mechanism.epsilon >= math.nextafter(epsilon / count, 0.0)
    if delta:
        more = kind(epsilon=mechanism.epsilon * (1 + 1e-6), sensitivity=1.0)
        assert compose([more.event] * count, work=0).epsilon(delta) > epsilon


def test_arguments_of_the_mechanism() -> None:
    mechanism = calibrate(dps.PermuteAndFlip, count=30, epsilon=1.0, delta=1e-6, sensitivity=2.0, monotonic=True)
    assert (mechanism.sensitivity, mechanism.monotonic) == (2.0, True)


def test_the_exact_recursion_affords_more() -> None:
    closed = closed_form_rounds(epsilon=1.0, delta=1e-6, count=12)
    few = calibrate(dps.ExponentialMechanism, count=12, epsilon=1.0, delta=1e-6, sensitivity=1.0)
    tight = calibrate(dps.ExponentialMechanism, count=12, epsilon=1.0, delta=1e-6, sensitivity=1.0, tight=True)
    assert 1.02 * closed < few.epsilon < tight.epsilon < 1.1 * closed
    assert compose([few.event] * 12).epsilon(1e-6) <= 1.0
    assert compose([tight.event] * 12, tight=True).epsilon(1e-6) <= 1.0
    assert compose([tight.event] * 12).epsilon(1e-6) > 1.0


def test_mechanisms_of_several_runs() -> None:
    mechanism = calibrate(
        dps.mechanisms.QuantilesMechanism, count=4, epsilon=1.0, delta=1e-6, levels=(0.25, 0.5, 0.75), bounds=(0, 1)
    )
    assert compose([mechanism.event] * 4).epsilon(1e-6) <= 1.0
    assert mechanism.epsilon > 0.25


class Failing:
    def __init__(self, epsilon: float) -> None:
        self.event = ApproximateEvent(epsilon=epsilon, delta=1e-7)


def test_deltas_of_the_mechanism_itself() -> None:
    assert calibrate(Failing, count=5, epsilon=1.0, delta=1e-6).event.epsilon >= 0.2
    with pytest.raises(InvalidParameterError, match="delta"):
        calibrate(Failing, count=11, epsilon=1.0, delta=1e-6)


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("count", {"count": 0}),
        ("count", {"count": 2.0}),
        ("epsilon", {"epsilon": 0.0}),
        ("epsilon", {"epsilon": math.nan}),
        ("epsilon", {"epsilon": 5e-324}),
        ("delta", {"delta": 1.0}),
        ("delta", {"delta": math.nan}),
        ("sensitivity", {"sensitivity": 0.0}),
        ("mechanism", {"mechanism": lambda **_: 3}),
    ],
)
def test_bad_arguments(name: str, arguments: dict[str, Any]) -> None:
    with pytest.raises(InvalidParameterError, match=name):
        calibrate(
            **{
                "mechanism": dps.ExponentialMechanism,
                "count": 3,
                "epsilon": 1.0,
                "delta": 1e-6,
                "sensitivity": 1.0,
                **arguments,
            }
        )
