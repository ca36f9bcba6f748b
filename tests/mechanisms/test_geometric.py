"""Two-sided geometric noise: draws against the closed form, privacy by exact sums, and what is refused."""

from __future__ import annotations

import math
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dpselect as dps
from dpselect.errors import InvalidDataError, InvalidParameterError
from tests.laws.goodness_of_fit import NEVER, p_value
from tests.laws.test_bad_input import SECRET, SECRET_INTEGER, assert_says_nothing
from tests.reference import geometric

SETTINGS = [(1.0, 1), (0.3, 2), (5.0, 1), (1.0, 7), (1.0, 4)]


def counted(draws: np.ndarray, reach: int) -> np.ndarray:
    return np.bincount(np.clip(draws, -reach, reach) + reach, minlength=2 * reach + 1)


@pytest.mark.parametrize(("epsilon", "sensitivity"), SETTINGS)
def test_draws_have_the_law(epsilon: float, sensitivity: int) -> None:
    mechanism = dps.GeometricMechanism(epsilon=epsilon, sensitivity=sensitivity)
    other = dps.GeometricMechanism(epsilon=epsilon * 1.15, sensitivity=sensitivity)
    reach = 12
    clamped = dps.GeometricMechanism(epsilon=epsilon, sensitivity=sensitivity, bounds=(-reach, reach))
    law = clamped.pmf(0, range(-reach, reach + 1))
    wrong = dps.GeometricMechanism(epsilon=other.epsilon, sensitivity=sensitivity, bounds=clamped.bounds)
    many = counted(mechanism.draw_many(np.zeros(60_000, dtype=np.int64)), reach)
    assert p_value(many, law) >= NEVER
    assert p_value(many, wrong.pmf(0, range(-reach, reach + 1))) < NEVER
    single = np.array([mechanism.draw(10**30) - 10**30 for _ in range(10_000)], dtype=np.int64)
    assert p_value(counted(single, reach), law) >= NEVER
    inside = clamped.draw_many(np.zeros(60_000, dtype=np.int32))
    assert p_value(counted(inside, reach), law) >= NEVER


@given(
    st.integers(-5, 25),
    st.sampled_from([None, (0, 20), (3, 4)]),
    st.sampled_from([(math.log(2.0), 1), (0.5, 3), (4.0, 1)]),
)
def test_probabilities_are_the_closed_form(value: int, bounds: tuple[int, int] | None, setting: Any) -> None:
    epsilon, sensitivity = setting
    mechanism = dps.GeometricMechanism(epsilon=epsilon, sensitivity=sensitivity, bounds=bounds)
    ratio = Fraction(math.exp(-epsilon / sensitivity))
    points = list(range(-10, 31))
    if bounds is None:
        exact = [geometric.law(ratio, point - value) for point in points]
    else:
        clamped = geometric.clamped_law(ratio, value, lower=bounds[0], upper=bounds[1])
        exact = [clamped.get(point, Fraction(0)) for point in points]
        assert mechanism.pmf(value, points).sum() == pytest.approx(1.0, abs=1e-12)
    np.testing.assert_allclose(mechanism.pmf(value, points), [float(each) for each in exact], rtol=1e-11)


@given(st.integers(-3, 12), st.integers(1, 4), st.sampled_from([0.1, 1.0, 3.0]))
def test_the_loss_is_at_most_epsilon(value: int, sensitivity: int, epsilon: float) -> None:
    for bounds in (None, (0, 9)):
        mechanism = dps.GeometricMechanism(epsilon=epsilon, sensitivity=sensitivity, bounds=bounds)
        points = np.arange(10) if bounds else np.arange(-30, 40)
        laws = [mechanism.pmf(each, points) for each in (value, value + sensitivity)]
        losses = np.abs(np.log(laws[0] / laws[1]))
        assert losses.max() <= epsilon + 1e-9
        if bounds is None and sensitivity == 1:
            np.testing.assert_allclose(losses, epsilon)  # so only a pure event is true
        beyond = mechanism.pmf(value + sensitivity + 1, points)
        assert np.abs(np.log(laws[0] / beyond)).max() > epsilon * 1.05 or bounds  # the law above can fail


def test_a_vector_shares_epsilon_by_its_l1_sensitivity() -> None:
    mechanism = dps.GeometricMechanism(epsilon=1.0, sensitivity=2, neighbours="replace_one")  # type: ignore[arg-type]
    # A unit moves from one bin to another: two entries move by one.
    losses = [abs(math.log(mechanism.pmf(f, y) / mechanism.pmf(f + 1, y))) for f, y in ((3, 0), (3, 9))]
    assert sum(losses) == pytest.approx(1.0)
    half = dps.GeometricMechanism(epsilon=1.0, sensitivity=1)
    assert 2 * abs(math.log(half.pmf(3, 0) / half.pmf(4, 0))) == pytest.approx(2.0)


@pytest.mark.parametrize("bounds", [None, (-(2**70), 2**70), (0, 2**62)])
@pytest.mark.parametrize(("epsilon", "sensitivity"), [(1e-6, 10**15), (1e6, 1), (1.0, 10**15), (1e-300, 1)])
def test_extreme_scales_and_values(epsilon: float, sensitivity: int, bounds: Any) -> None:
    mechanism = dps.GeometricMechanism(epsilon=epsilon, sensitivity=sensitivity, bounds=bounds)
    values = np.array([2**63 - 1, -(2**63), 0, 2**62], dtype=np.int64)
    for _ in range(50):
        noisy = mechanism.draw_many(values)
        assert noisy.dtype == np.int64
        if mechanism.scale < 1e17 and bounds is None:
            assert np.all(np.abs(noisy.astype(np.float64) - values) < 100 * mechanism.scale + 1e4)
        if bounds is not None:
            assert all(bounds[0] <= each <= bounds[1] for each in noisy.tolist())
            assert bounds[0] <= mechanism.draw(2**80) <= bounds[1]
    assert type(mechanism.draw(10**40)) is int
    if epsilon == 1e6:
        assert mechanism.draw(5) == 5
        assert mechanism.pmf(5, [4, 5]).tolist() == [0.0, 1.0]
    assert 0.0 <= float(mechanism.pmf(2**63, 2**63)) <= 1.0


def test_values_of_every_integer_type() -> None:
    mechanism = dps.GeometricMechanism(epsilon=1e6, sensitivity=1)
    for kind in (np.int8, np.uint8, np.int16, np.uint32, np.int64, np.uint64):
        assert mechanism.draw_many(np.array([3, 100, 7], dtype=kind)[::2]).tolist() == [3, 7]
        assert mechanism.draw(kind(3)) == 3
    assert mechanism.draw_many([]).tolist() == []
    assert mechanism.draw_many([1, 2**64, -(2**70)]).tolist() == [1, 2**63 - 1, -(2**63)]
    assert mechanism.draw_many(np.array([2**64 - 1], dtype=np.uint64)).tolist() == [2**63 - 1]


def test_noise_is_independent_between_entries() -> None:
    draws = dps.GeometricMechanism(epsilon=0.1, sensitivity=1).draw_many(np.zeros(40_000, dtype=np.int64))
    correlation = np.corrcoef(draws[:-1], draws[1:])[0, 1]
    assert abs(correlation) < 6.5 / math.sqrt(40_000)


@pytest.mark.parametrize(("epsilon", "sensitivity"), [*SETTINGS, (1e-5, 3), (40.0, 1)])
@pytest.mark.parametrize("confidence", [0.01, 0.5, 0.99, 1 - 1e-12])
@pytest.mark.parametrize("size", [1, 1000])
def test_the_error_bound_is_the_least(epsilon: float, sensitivity: int, confidence: float, size: int) -> None:
    bound = dps.GeometricMechanism(epsilon=epsilon, sensitivity=sensitivity).error_bound(confidence, size=size)

    def within(distance: int) -> Decimal:
        ratio = (-Decimal(epsilon) / sensitivity).exp()
        return (1 - 2 * ratio ** (distance + 1) / (1 + ratio)) ** size

    with localcontext(prec=60):
        assert within(bound) >= Decimal(confidence)
        assert bound == 0 or within(bound - 1) < Decimal(confidence)


def test_error_bounds_of_bounded_numbers_and_of_any_scale() -> None:
    assert dps.GeometricMechanism(epsilon=1e-3, sensitivity=1, bounds=(0, 10)).error_bound() == 10
    assert dps.GeometricMechanism(epsilon=1e-320, sensitivity=1).error_bound() > 10**300


def test_scale_and_arguments() -> None:
    mechanism = dps.GeometricMechanism(epsilon=0.5, sensitivity=3, bounds=[0, 9])  # type: ignore[arg-type]
    assert (mechanism.scale, mechanism.sensitivity, mechanism.bounds) == (6.0, 3, (0, 9))
    assert dps.GeometricMechanism(epsilon=1, sensitivity=2.0).sensitivity == 2  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("epsilon", {"epsilon": 0}),
        ("epsilon", {"epsilon": math.nan}),
        ("epsilon", {"epsilon": True}),
        ("sensitivity", {"sensitivity": 0}),
        ("sensitivity", {"sensitivity": 0.5}),
        ("sensitivity", {"sensitivity": 1.5}),
        ("sensitivity", {"sensitivity": math.inf}),
        ("sensitivity", {"sensitivity": True}),
        ("bounds", {"bounds": (5, 5)}),
        ("bounds", {"bounds": (9, 0)}),
        ("bounds", {"bounds": (0, 9.5)}),
        ("bounds", {"bounds": (False, 9)}),
        ("bounds", {"bounds": (0, 9, 10)}),
        ("bounds", {"bounds": 9}),
        ("neighbours", {"neighbours": "friends"}),
    ],
)
def test_bad_arguments(name: str, arguments: dict[str, Any]) -> None:
    with pytest.raises(InvalidParameterError) as caught:
        dps.GeometricMechanism(**{"epsilon": 1.0, "sensitivity": 1, **arguments})
    assert caught.value.name == name


@pytest.mark.parametrize("value", [SECRET, 7919.0, np.float64(7919), True, None, "7919", Fraction(7919, 2), [7919]])
def test_numbers_are_refused_by_their_type(value: Any) -> None:
    mechanism = dps.GeometricMechanism(epsilon=1.0, sensitivity=1)
    for call in (mechanism.draw, lambda each: mechanism.pmf(each, [0])):
        with pytest.raises(InvalidDataError, match="Round first") as caught:
            call(value)
        assert_says_nothing(caught.value)


@pytest.mark.parametrize(
    "values",
    [[SECRET], np.array([7919.0]), np.array([[7919]]), [True], np.array([True]), "7919", None, [7919, None], 7919],
)
def test_bad_vectors(values: Any) -> None:
    with pytest.raises(InvalidDataError) as caught:
        dps.GeometricMechanism(epsilon=1.0, sensitivity=1).draw_many(values)
    assert caught.value.name == "values"
    assert_says_nothing(caught.value)


def test_bad_points_confidence_and_bounds_beyond_a_vector() -> None:
    mechanism = dps.GeometricMechanism(epsilon=1.0, sensitivity=1, bounds=(2**70, 2**71))
    assert 2**70 <= mechanism.draw(0) <= 2**71
    for name, call in {
        "bounds": lambda: mechanism.draw_many([SECRET_INTEGER]),
        "points": lambda: mechanism.pmf(0, [0.5]),
        "confidence": lambda: mechanism.error_bound(1.0),
        "size": lambda: mechanism.error_bound(size=0),
    }.items():
        with pytest.raises(InvalidParameterError) as caught:
            call()
        assert caught.value.name == name
        assert_says_nothing(caught.value)


def test_bounds_on_sums_hold_at_the_largest_scales() -> None:
    mechanism = dps.GeometricMechanism(epsilon=5e-324, sensitivity=2**53)
    assert mechanism.total_error_bound(1) == mechanism.error_bound()
    assert mechanism.total_error_bound(2) > mechanism.error_bound()
