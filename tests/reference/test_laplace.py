"""The Laplace law: what it loses on the line, on intervals and on lattices, and the product against it."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import dpselect as dps
from dpselect.errors import InvalidDataError, InvalidParameterError
from tests.laws.goodness_of_fit import NEVER, p_value
from tests.laws.test_bad_input import SECRET, assert_says_nothing
from tests.reference.laplace import (
    loss,
    on_a_lattice,
    on_an_interval,
    on_the_line,
    worst_loss,
    worst_on_a_lattice,
    worst_on_an_interval,
)
from tests.reference.strategies import few_examples

eighths = st.fractions(-4, 4, max_denominator=8)
epsilons = [Fraction(1, 10), Fraction(1), Fraction(3)]
tiny = Fraction(1, 10**40)


@few_examples
@given(eighths, st.fractions(-1, 1, max_denominator=8), eighths, st.sampled_from(epsilons))
def test_on_the_line_the_loss_is_at_most_epsilon(m: Fraction, move: Fraction, y: Fraction, epsilon: Fraction) -> None:
    assert loss(on_the_line(epsilon), m, m + move, y, epsilon=epsilon) <= epsilon + tiny


@pytest.mark.parametrize("epsilon", epsilons)
@pytest.mark.parametrize("width", [Fraction(1), Fraction(3), Fraction(10)])
def test_on_an_interval_the_worst_loss_is_that_of_the_formula(epsilon: Fraction, width: Fraction) -> None:
    centers = [width * place / 10 for place in range(11)] + [Fraction(1)]
    found = worst_loss(on_an_interval(epsilon, width=width), centers=centers, answers=[0, width], epsilon=epsilon)
    assert abs(found - worst_on_an_interval(epsilon, width=width)) < tiny
    assert epsilon <= found < 2 * epsilon


@pytest.mark.parametrize("epsilon", epsilons)
@pytest.mark.parametrize("spacing", [Fraction(1, 4), Fraction(3, 8), Fraction(2), Fraction(9)])
def test_on_a_lattice_the_worst_loss_is_that_of_the_formula(epsilon: Fraction, spacing: Fraction) -> None:
    centers = [Fraction(place, 8) for place in range(-9, 10)]
    answers = [spacing * place for place in (-9, -1, 0, 1, 9)]
    found = worst_loss(on_a_lattice(epsilon, spacing=spacing), centers=centers, answers=answers, epsilon=epsilon)
    assert abs(found - worst_on_a_lattice(epsilon, spacing=spacing)) < tiny
    assert found < 2 * epsilon
    assert (found > epsilon) == (1 % spacing != 0)  # no loss where the spacing divides the sensitivity
    on_it = [spacing * place for place in range(-3, 4)]
    kept = worst_loss(on_a_lattice(epsilon, spacing=spacing), centers=on_it, answers=answers, epsilon=epsilon)
    assert kept <= epsilon + tiny


def test_the_numbers_on_the_proof_page() -> None:
    one = Fraction(1)
    assert float(worst_on_an_interval(one, width=Fraction(100))) == pytest.approx(1 + math.log(2 - math.exp(-1)))
    assert round(float(worst_on_an_interval(one, width=Fraction(100))), 4) == 1.4899
    assert round(float(worst_on_a_lattice(one, spacing=Fraction(2))), 4) == 1.4338
    small = Fraction(1, 1000)
    assert worst_on_an_interval(small, width=Fraction(10**6)) > Fraction(199, 100) * small


# --- the product ------------------------------------------------------------------------------------------------------


def named_mechanism(value: float, scale: float, at: np.ndarray) -> np.ndarray:
    """The Laplace mechanism's distribution function in closed form."""
    with mp.workdps(40):
        center, b = mp.mpf(value), mp.mpf(scale)
        below = [mp.exp(-abs(mp.mpf(float(x)) - center) / b) / 2 for x in at]
        return np.array([float(p if x < value else 1 - p) for p, x in zip(below, at, strict=True)])


@pytest.mark.parametrize(("epsilon", "sensitivity"), [(1.0, 1.0), (0.3, 7.0), (1e-6, 1.0), (50.0, 1e-3)])
@pytest.mark.parametrize("value", [0.0, -3.7, 1e6])
def test_the_law_is_the_named_mechanisms(value: float, epsilon: float, sensitivity: float) -> None:
    mechanism = dps.LaplaceMechanism(epsilon=epsilon, sensitivity=sensitivity)
    at = value + mechanism.scale * np.linspace(-40, 40, 161)
    closed = mechanism.cdf(value, at)
    np.testing.assert_allclose(closed, named_mechanism(value, mechanism.scale, at), rtol=1e-12, atol=0)
    np.testing.assert_allclose(closed, stats.laplace(value, mechanism.scale).cdf(at), rtol=1e-9, atol=1e-12)
    # An exponential mechanism: two lines from the value, a scale with the factor one.
    lines = dps.mechanisms.PiecewiseLinearMechanism(epsilon=epsilon, sensitivity=sensitivity, monotonic=True)
    general = lines.law([value], [0.0], left_slope=1.0, right_slope=-1.0).cdf(at)
    np.testing.assert_allclose(general, closed, rtol=1e-12, atol=1e-300)


def test_draws_follow_the_law() -> None:
    mechanism = dps.LaplaceMechanism(epsilon=0.5, sensitivity=3)
    assert mechanism.scale == 6.0
    value = Fraction(1, 3)
    draws = np.array([mechanism.draw(value) for _ in range(10_000)])
    cuts = np.concatenate([[-np.inf], np.linspace(-20, 20, 31), [np.inf]])
    counts = np.histogram(draws, bins=cuts)[0]
    assert p_value(counts, np.diff(mechanism.cdf(value, cuts))) >= NEVER
    for wrong in (dps.LaplaceMechanism(epsilon=0.4, sensitivity=3), dps.LaplaceMechanism(epsilon=0.5, sensitivity=2.4)):
        assert p_value(counts, np.diff(wrong.cdf(value, cuts))) < NEVER
    assert p_value(counts, np.diff(mechanism.cdf(value + 2, cuts))) < NEVER


def test_bounds_move_the_answer_and_not_the_law() -> None:
    mechanism = dps.LaplaceMechanism(epsilon=1, sensitivity=1, bounds=(0, 1))
    draws = np.array([mechanism.draw(0.25) for _ in range(10_000)])
    counts = np.array([(draws == 0.0).sum(), ((draws > 0.0) & (draws < 1.0)).sum(), (draws == 1.0).sum()])
    assert counts.sum() == draws.size
    inside = stats.laplace(0.25, 1.0).cdf([0.0, 1.0])
    assert p_value(counts, np.diff([0.0, *inside, 1.0])) >= NEVER
    restricted = np.array([0.0, 1.0, 0.0])
    assert p_value(counts, restricted) < NEVER
    np.testing.assert_allclose(mechanism.cdf(0.25, [-1e-9, 0.0, 0.999, 1.0]), [0, inside[0], 0.76359, 1], atol=1e-4)


def test_extreme_scales() -> None:
    assert dps.LaplaceMechanism(epsilon=1e300, sensitivity=1e-300).draw(0.1) == 0.1
    assert dps.LaplaceMechanism(epsilon=1e300, sensitivity=1e-300).draw(Fraction(1, 3)) == 1 / 3
    assert abs(dps.LaplaceMechanism(epsilon=1e-300, sensitivity=1e300).draw(0)) == np.finfo(float).max
    wide = [dps.LaplaceMechanism(epsilon=1e-6, sensitivity=1e290).draw(0) for _ in range(100)]
    assert np.isfinite(wide).all()
    assert 1e295 < np.median(np.abs(wide)) < 1e297
    assert dps.LaplaceMechanism(epsilon=1e-6, sensitivity=1e300).cdf(0, [-1.7e308, 0.0]).tolist() == pytest.approx(
        [math.exp(-170) / 2, 0.5]
    )


def test_whatever_is_a_number_is_taken_exactly() -> None:
    mechanism = dps.LaplaceMechanism(epsilon=1e300, sensitivity=1e-300)
    for value in (3, np.int64(3), np.float32(3), Decimal(3), Fraction(3), 2**60 + 1):
        assert mechanism.draw(value) == float(value)


@pytest.mark.parametrize("value", [math.nan, math.inf, "7919", None, [SECRET], np.array([SECRET]), True, 1j, 10**400])
def test_bad_values(value: Any) -> None:
    mechanism = dps.LaplaceMechanism(epsilon=1.0, sensitivity=1.0)
    for call in (mechanism.draw, lambda bad: mechanism.cdf(bad, [0.0])):
        with pytest.raises(InvalidDataError, match="value") as caught:
            call(value)
        assert_says_nothing(caught.value)


@pytest.mark.parametrize(
    ("name", "bad"),
    [
        ("epsilon", {"epsilon": 0}),
        ("sensitivity", {"sensitivity": math.nan}),
        ("bounds", {"bounds": (1, 0)}),
        ("bounds", {"bounds": (0, math.inf)}),
        ("neighbours", {"neighbours": "swap"}),
    ],
)
def test_bad_arguments(name: str, bad: dict[str, Any]) -> None:
    with pytest.raises(InvalidParameterError) as caught:
        dps.LaplaceMechanism(**{"epsilon": 1.0, "sensitivity": 1.0, **bad})
    assert caught.value.name == name
