"""Randomised response: draws against enumerated laws, the estimate, and what is refused."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dpselect as dps
from dpselect.errors import InvalidDataError, InvalidParameterError
from tests.laws.goodness_of_fit import NEVER, p_value
from tests.laws.test_bad_input import SECRET_INTEGER, assert_says_nothing
from tests.reference.randomized_response import exponential_law


@pytest.mark.parametrize(("epsilon", "bits_per_unit"), [(1.0, 1), (3.0, 1), (1.0, 4)])
def test_draws_have_the_law(epsilon: float, bits_per_unit: int) -> None:
    mechanism = dps.RandomizedResponse(epsilon=epsilon, bits_per_unit=bits_per_unit)
    bits = np.tile([True, False, True], 20_000)
    answers = mechanism.draw(bits).reshape(-1, 3) @ np.array([4, 2, 1])
    counts = np.bincount(answers, minlength=8)
    assert p_value(counts, mechanism.pmf([1, 0, 1])) >= NEVER
    other = dps.RandomizedResponse(epsilon=epsilon * 2.0, bits_per_unit=bits_per_unit)
    assert p_value(counts, other.pmf([1, 0, 1])) < NEVER
    single = np.bincount([mechanism.draw([1, 0, 1]) @ np.array([4, 2, 1]) for _ in range(2000)], minlength=8)
    assert p_value(single, mechanism.pmf([1, 0, 1])) >= NEVER


@given(st.lists(st.booleans(), max_size=6), st.sampled_from([(math.log(3), 1), (0.7, 1), (2.0, 3)]))
def test_probabilities_are_the_exponential_mechanisms(bits: list[bool], setting: tuple[float, int]) -> None:
    epsilon, bits_per_unit = setting
    mechanism = dps.RandomizedResponse(epsilon=epsilon, bits_per_unit=bits_per_unit)
    law = exponential_law(bits, odds=Fraction(math.exp(epsilon / bits_per_unit)))
    exact = [float(law[answer]) for answer in product([False, True], repeat=len(bits))]
    np.testing.assert_allclose(mechanism.pmf(bits), exact, rtol=1e-12)
    if bits:
        agreements = [sum(a == b for a, b in zip(answer, bits, strict=True)) for answer in law]
        same = dps.ExponentialMechanism(epsilon=epsilon, sensitivity=bits_per_unit, monotonic=True)
        np.testing.assert_allclose(same.pmf(agreements), exact, rtol=1e-12)  # b without the factor 2


@given(st.lists(st.booleans(), min_size=4, max_size=6), st.integers(1, 4), st.data())
def test_the_loss_of_a_unit_is_at_most_epsilon(bits: list[bool], held: int, data: st.DataObject) -> None:
    mechanism = dps.RandomizedResponse(epsilon=1.0, bits_per_unit=held)
    other = list(bits)
    for place in data.draw(st.lists(st.integers(0, 3), unique=True, max_size=held)):
        other[place] = not other[place]
    losses = np.log(mechanism.pmf(bits) / mechanism.pmf(other))
    assert np.abs(losses).max() <= 1.0 + 1e-12


def test_the_law_above_can_fail() -> None:
    mechanism = dps.RandomizedResponse(epsilon=1.0)
    losses = np.log(mechanism.pmf([0, 0]) / mechanism.pmf([1, 1]))  # a unit with two bits, said to hold one
    assert losses.max() == pytest.approx(2.0)
    np.testing.assert_allclose(np.abs(np.log(mechanism.pmf([0, 0]) / mechanism.pmf([0, 1]))), 1.0)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 4.0])
def test_the_estimate_is_as_exact_as_it_says(epsilon: float) -> None:
    mechanism = dps.RandomizedResponse(epsilon=epsilon)
    bits = np.arange(100_000) % 10 < 3
    errors = []
    for _ in range(12):
        estimate = mechanism.estimate(mechanism.draw(bits))
        errors.append((estimate.count - 30_000) / estimate.standard_error)
    assert estimate.standard_error == pytest.approx(math.sqrt(1e5) / (2 * math.sinh(epsilon / 2)))
    assert abs(sum(errors)) < 6.5 * math.sqrt(12)
    assert 0.5 < sum(error**2 for error in errors) < 70.0  # chi-square with 12 degrees, p below 1e-9 outside
    biased = np.count_nonzero(mechanism.draw(bits))
    assert abs(biased - 30_000) / estimate.standard_error > 1.0 or epsilon > 3.0


def test_a_million_bits_and_extreme_scales() -> None:
    bits = np.random.default_rng(0).random(1_000_000) < 0.5
    assert np.count_nonzero(dps.RandomizedResponse(epsilon=1e-6).draw(bits) ^ bits) == pytest.approx(5e5, abs=3300)
    for mechanism in (dps.RandomizedResponse(epsilon=1e6), dps.RandomizedResponse(epsilon=1.7e308)):
        assert np.array_equal(mechanism.draw(bits), bits)
        assert mechanism.estimate(bits) == dps.mechanisms.CountEstimate(np.count_nonzero(bits), pytest.approx(0.0))
    faint = dps.RandomizedResponse(epsilon=5e-324, bits_per_unit=2**53)
    assert 0 < np.count_nonzero(faint.draw(bits)) < 1_000_000
    assert faint.estimate([1, 1]).standard_error == math.inf
    assert faint.estimate([1, 0]).count == 1.0


def test_bits_of_every_kind() -> None:
    mechanism = dps.RandomizedResponse(epsilon=1e6)
    expected = [True, False, True]
    for bits in (
        [1, 0, 1],
        (True, False, True),
        np.array([1, 0, 1], dtype=np.uint8),
        np.array([True, True, False, False, True])[::2],
        np.array([7, 0, 255], dtype=np.uint8).view(np.bool_),
        pd.Series([True, False, True]),
        pl.Series([True, False, True]),
        pa.array([True, False, True]),
        pa.array([1, 0, 1]),
    ):
        answers = mechanism.draw(bits)
        assert answers.dtype == np.bool_
        assert answers.tolist() == expected
    assert mechanism.draw([]).tolist() == []
    assert mechanism.pmf([]).tolist() == [1.0]
    assert mechanism.estimate([]).count == 0.0


def test_bits_of_a_unit_share_epsilon() -> None:
    mechanism = dps.RandomizedResponse(epsilon=0.5, bits_per_unit=2)
    assert mechanism.pmf([True])[1] == pytest.approx(1 / (1 + math.exp(-0.25)))


@pytest.mark.parametrize(
    "bits",
    [[7919, 1], [-1, 0], np.array([0.0, 1.0]), [[True]], "7919", None, [True, None], [True, 7919], {"Ann": 1},
     np.array([SECRET_INTEGER]), pa.array([True, None]), pl.Series([True, None]), pd.Series([True, None]), ["Ann"]],
)  # fmt: skip
def test_what_is_not_bits(bits: Any) -> None:
    mechanism = dps.RandomizedResponse(epsilon=1.0)
    for name, call in {"bits": mechanism.draw, "responses": mechanism.estimate}.items():
        with pytest.raises(InvalidDataError) as caught:
            call(bits)
        assert caught.value.name == name
        assert_says_nothing(caught.value)


@pytest.mark.parametrize("arguments", [{"epsilon": 0}, {"epsilon": math.nan}, {"bits_per_unit": 0},
                                       {"bits_per_unit": 1.5}, {"bits_per_unit": True}])  # fmt: skip
def test_bad_arguments(arguments: dict[str, Any]) -> None:
    with pytest.raises(InvalidParameterError) as caught:
        dps.RandomizedResponse(**{"epsilon": 1.0, **arguments})
    assert caught.value.name in arguments


def test_too_many_bits_to_enumerate() -> None:
    with pytest.raises(InvalidDataError, match="at most 20"):
        dps.RandomizedResponse(epsilon=1.0).pmf([0] * 21)
