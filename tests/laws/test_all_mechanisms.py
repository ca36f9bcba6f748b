"""Every mechanism is a value: one table of them all, and what holds of each.

What each one draws, costs and refuses beyond this stands in its own file.
"""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import pytest

import dpselect as dps
from dpselect import mechanisms, testing
from dpselect.accounting import ApproximateEvent, BoundedRangeEvent, LaplaceProfileEvent, PureEvent
from tests.laws.subjects import KINDS

SCORES = [0.0, 1.0, 0.5, 0.25] * 50
COUNTS = [5, 6, 7, 8] * 50
VALUES = [0.0, 1.0, 2.0, 3.0] * 5
DELTA = 0.01


class Tried(NamedTuple):
    """How a mechanism is made at a given epsilon, what it draws, and what that costs."""

    make: Callable[..., Any]
    draw: Callable[[Any], Any]
    event: Callable[..., object]


def selecting(make: Callable[..., Any], event: Callable[..., object], *, data: Any = SCORES, **arguments: Any) -> Tried:
    return Tried(partial(make, **arguments), lambda mechanism: mechanism.select(data), event)


def drawing(make: Callable[..., Any], event: Callable[..., object], *data: Any, **arguments: Any) -> Tried:
    return Tried(partial(make, **arguments), lambda mechanism: mechanism.draw(*data), event)


PURE, RANGE, PROFILE = PureEvent, BoundedRangeEvent, LaplaceProfileEvent
APPROXIMATE = partial(ApproximateEvent, delta=DELTA)
BOUNDS: dict[str, Any] = {"bounds": (0, 5), "step": 0.01}
ONE: dict[str, Any] = {"sensitivity": 1}
FALLS = mechanisms.IntegerCeiling(center=0, fall=(1, 2))


TRIED: dict[str, Tried] = {
    "concave": drawing(mechanisms.ConcaveMechanism, RANGE, [0.0, 4.0], [1.0, -1.0], **ONE),
    "counts from a threshold on": drawing(mechanisms.ThresholdCounts, APPROXIMATE, COUNTS, delta=DELTA),
    "density of histograms": drawing(mechanisms.DensityMechanism, RANGE, COUNTS[:8], k=8, base="histograms"),
    "density of points": drawing(mechanisms.DensityMechanism, RANGE, COUNTS[:8], k=8),
    "discrete Gaussian": Tried(
        partial(mechanisms.DiscreteGaussianMechanism, delta=DELTA, squared_sensitivity=10),
        lambda mechanism: mechanism.draw_many([0] * 20),
        APPROXIMATE,
    ),
    "exponential, weighted": selecting(dps.ExponentialMechanism, RANGE, weights=[1, 2, 0.5, 3] * 50, **ONE),
    "exponential noise once": selecting(dps.ExponentialNoiseTopK, PROFILE, k=3, **ONE),
    "Gaussian counts": drawing(mechanisms.GaussianThresholdCounts, APPROXIMATE, COUNTS, delta=DELTA),
    "geometric": drawing(dps.GeometricMechanism, PURE, 0, sensitivity=10**6),
    "Laplace": drawing(dps.LaplaceMechanism, PROFILE, 0, **ONE),
    "Laplace within bounds": drawing(dps.LaplaceMechanism, PROFILE, 0, bounds=(-1, 1), **ONE),
    "mean, absolute": drawing(mechanisms.MeanMechanism, PROFILE, VALUES, **BOUNDS),
    "mean, squared": drawing(mechanisms.MeanMechanism, RANGE, VALUES, score="squared", **BOUNDS),
    "own sensitivities": selecting(mechanisms.GeneralizedSelection, PROFILE, sensitivities=[1, 0.5, 4, 2] * 50),
    "partitions": selecting(mechanisms.PartitionSelection, APPROXIMATE, data=COUNTS, delta=DELTA),
    "price": drawing(mechanisms.PriceMechanism, RANGE, VALUES, bounds=(0, 5)),
    "price of a list": drawing(mechanisms.PriceListMechanism, PROFILE, VALUES, prices=[*range(1, 40)]),
    "quantile": drawing(mechanisms.QuantileMechanism, RANGE, VALUES, level=0.5, **BOUNDS),
    "quantile without bounds": drawing(mechanisms.UnboundedQuantileMechanism, PURE, VALUES, level=0.5, step=0.01),
    "quantiles": drawing(mechanisms.QuantilesMechanism, RANGE, VALUES, levels=(0.25, 0.75), **BOUNDS),
    "randomized response": drawing(dps.RandomizedResponse, PURE, [True] * 50),
    "scores in lines": drawing(mechanisms.PiecewiseLinearMechanism, RANGE, [0.0, 4.0], [0.0, 1.0], **ONE),
    "set of the best": selecting(dps.TopKSet, RANGE, k=3, **ONE),
    "stop candidate": selecting(mechanisms.StopCandidate, APPROXIMATE, data=[*range(200)], k=3, delta=DELTA),
    "whole numbers": drawing(mechanisms.IntegerMechanism, RANGE, lambda y: -abs(y) / 10**3, FALLS, **ONE),
} | {
    name: selecting(kind, RANGE if name in ("exponential mechanism", "Gumbel noise") else PROFILE, **ONE)
    for name, kind in KINDS.items()
}

every_mechanism = pytest.mark.parametrize("tried", TRIED.values(), ids=TRIED)

UNTRIED = {
    "AboveThreshold",  # of one run: it is used up, and not copied
    "BestOfRuns",  # runs what it is given
    "Mechanism",  # what others are made from
    "NoisyOrder",  # of one run
    "TopKPlan",  # what a mechanism is bought for
}
COPIES: dict[str, Callable[[Any], Any]] = {
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "pickle": lambda mechanism: pickle.loads(pickle.dumps(mechanism)),
    "replace": dataclasses.replace,
}


def drawn(tried: Tried, mechanism: Any, *, times: int = 20) -> str:
    return "\n".join(str(tried.draw(mechanism)) for _ in range(times))


def test_all_mechanisms_are_tried() -> None:
    known = {
        name
        for name in mechanisms.__all__
        if inspect.isclass(of := getattr(mechanisms, name)) and hasattr(of, "event") and name not in UNTRIED
    }
    assert {type(each.make(epsilon=1.0)).__name__ for each in TRIED.values()} == known


@every_mechanism
@pytest.mark.parametrize("duplicate", COPIES.values(), ids=COPIES)
def test_a_copy_is_equal_and_draws_on_its_own(tried: Tried, duplicate: Callable[[Any], Any]) -> None:
    original = tried.make(epsilon=1.0)
    drawn(tried, original)
    twin = duplicate(original)
    assert type(twin) is type(original)
    assert twin == original == tried.make(epsilon=1.0)
    assert hash(twin) == hash(original)
    assert repr(twin) == repr(original)
    assert drawn(tried, twin) != drawn(tried, original)


@every_mechanism
def test_a_seed_repeats_the_draws(tried: Tried) -> None:
    mechanism = tried.make(epsilon=1.0)
    with testing.seeded(7):
        first = drawn(tried, mechanism)
    with testing.seeded(7):
        assert drawn(tried, mechanism) == first
    with testing.seeded(8):
        assert drawn(tried, mechanism) != first


@every_mechanism
def test_another_argument_is_another_value_and_none_can_be_changed(tried: Tried) -> None:
    mechanism = tried.make(epsilon=1.0)
    assert mechanism != tried.make(epsilon=2.0)
    assert all(field.compare for field in dataclasses.fields(mechanism) if field.init)
    with pytest.raises(dataclasses.FrozenInstanceError):
        mechanism.epsilon = 2.0
    with pytest.raises((AttributeError, TypeError)):
        mechanism.seed = 1
    with pytest.raises(TypeError):
        tried.make(1.0)


@every_mechanism
def test_it_costs_what_its_theory_proves(tried: Tried) -> None:
    for epsilon in (0.25, 1.0, 2.0):
        assert tried.make(epsilon=epsilon).event == tried.event(epsilon=epsilon)
