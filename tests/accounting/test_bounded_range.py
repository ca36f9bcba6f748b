"""Composition of bounded-range mechanisms: the known table, fifty digits, and bounds that hold exactly."""

from __future__ import annotations

import math
from typing import Any

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special

from dpselect.accounting import BoundedRangeEvent, calibrate_rounds
from dpselect.accounting.divergence import Divergences
from tests.accounting.worlds import bounded_range_epsilon, closed_form_rounds

ORDERS = [1.001, 1.5, 2.0, 3.7, 16.0, 1e3, 1e6]


def exact_renyi(epsilon: float, order: float) -> Any:
    """The published closed form, in enough digits for its cancellation."""
    with mp.workdps(120):
        e, a = mp.mpf(epsilon), mp.mpf(order)
        top = (a - 1) * (1 - mp.exp(-a * e))
        x = top / (a * (mp.exp(-e) - mp.exp(-a * e)))
        return mp.log(x) + mp.log((1 - mp.exp(-a * e)) / (a * (1 - mp.exp(-e)))) / (a - 1)


@pytest.mark.parametrize("epsilon", [1e-7, 1e-5, 1e-3, 0.1, 1.0, 3.0, 20.0, 1000.0])
@pytest.mark.parametrize("order", ORDERS)
def test_renyi_is_the_closed_form_rounded_up(epsilon: float, order: float) -> None:
    exact = exact_renyi(epsilon, order)
    computed = Divergences({BoundedRangeEvent(epsilon=epsilon): 1})(np.array([order]))[0]
    assert mp.mpf(float(computed)) >= exact
    assert computed <= float(exact) * (1 + 1e-9) * (1 + 1e-14 * order)  # cancellation grows with the order
    assert computed <= min(order * epsilon**2 / 8, epsilon) * (1 + 1e-12)


def worst_two_point_renyi(epsilon: float, order: float) -> float:
    """Largest divergence of two-point laws with losses t and t - epsilon: the worst there are."""
    t = np.linspace(0.0, epsilon, 20_001)[1:-1]
    p = np.expm1(t - epsilon) / np.expm1(-epsilon)
    return float(
        np.max(np.log(p * np.exp((order - 1) * t) + (1 - p) * np.exp((order - 1) * (t - epsilon)))) / (order - 1)
    )


@pytest.mark.parametrize("epsilon", [0.1, 0.5, 1.0, 3.0])
@pytest.mark.parametrize("order", [1.5, 2.0, 5.0, 30.0])
def test_renyi_is_the_maximum_over_the_worst_pairs(epsilon: float, order: float) -> None:
    worst = worst_two_point_renyi(epsilon, order)
    computed = float(Divergences({BoundedRangeEvent(epsilon=epsilon): 1})(np.array([order]))[0])
    assert worst <= computed <= worst * (1 + 1e-6)


@pytest.mark.parametrize(
    ("epsilon", "count", "total"), [(0.1, 10, 0.652), (0.1, 100, 2.40), (0.5, 10, 3.63), (0.5, 50, 9.84), (1, 10, 7.77)]
)
def test_known_totals(epsilon: float, count: int, total: float) -> None:
    assert bounded_range_epsilon(epsilon, count=count, delta=1e-6) == pytest.approx(total, abs=6e-3)


@pytest.mark.parametrize(("epsilon", "count", "tight"), [(0.1, 10, 0.635), (0.1, 100, 2.26), (0.5, 50, 9.39)])
def test_no_less_than_the_tight_adaptive_total(epsilon: float, count: int, tight: float) -> None:
    assert bounded_range_epsilon(epsilon, count=count, delta=1e-6) >= tight - epsilon / 40


def exact_delta(epsilon: float, count: int, total: float) -> float:
    """Largest delta at `total` of `count` equal two-point laws with losses t and t - epsilon: a binomial sum."""
    k = np.arange(count + 1)
    log_binomial = math.lgamma(count + 1) - special.gammaln(k + 1) - special.gammaln(count - k + 1)
    t = np.linspace(0.0, epsilon, 400)[1:-1, np.newaxis]
    p = np.expm1(t - epsilon) / np.expm1(-epsilon)
    chances = np.exp(log_binomial + k * np.log(p) + (count - k) * np.log1p(-p))
    losses = count * t - (count - k) * epsilon
    return float((chances * np.maximum(-np.expm1(total - losses), 0.0)).sum(axis=1).max())


@pytest.mark.parametrize(("epsilon", "count"), [(0.1, 10), (0.5, 10), (0.5, 50), (1.0, 10), (0.01, 1000)])
@pytest.mark.parametrize("delta", [1e-9, 1e-6, 1e-2])
def test_the_total_covers_mechanisms_whose_delta_is_known_exactly(epsilon: float, count: int, delta: float) -> None:
    total = bounded_range_epsilon(epsilon, count=count, delta=delta)
    assert exact_delta(epsilon, count, total) <= delta
    assert exact_delta(epsilon, count, total * 0.7) > delta, "a bound, but no idle one"


@given(epsilon=st.floats(1e-9, 50.0), count=st.integers(1, 10_000), delta=st.floats(1e-300, 0.5))
def test_totals_are_monotone_and_never_worse_than_basic_composition(epsilon: float, count: int, delta: float) -> None:
    total = bounded_range_epsilon(epsilon, count=count, delta=delta)
    assert 0.0 <= total <= epsilon * count * (1 + 1e-15)
    assert bounded_range_epsilon(epsilon * 1.1, count=count, delta=delta) >= total
    assert bounded_range_epsilon(epsilon, count=count + 1, delta=delta) >= total
    assert bounded_range_epsilon(epsilon, count=count, delta=delta / 2) >= total


def test_without_delta_basic_composition() -> None:
    assert bounded_range_epsilon(0.1, count=3, delta=0.0) >= 3 * 0.1
    assert calibrate_rounds(epsilon=1.0, delta=0.0, count=3) <= 1 / 3


@given(epsilon=st.floats(1e-6, 20.0), count=st.integers(101, 500), delta=st.floats(1e-12, 0.1))
def test_calibration_spends_the_total_and_not_more(epsilon: float, count: int, delta: float) -> None:
    each = calibrate_rounds(epsilon=epsilon, delta=delta, count=count)
    assert each >= epsilon / count * (1 - 1e-15)
    assert bounded_range_epsilon(each, count=count, delta=delta) <= epsilon
    assert bounded_range_epsilon(each * (1 + 1e-6), count=count, delta=delta) > epsilon


@pytest.mark.parametrize(("k", "ratio"), [(5, 1.16), (10, 1.50), (20, 2.04), (50, 3.16)])
def test_known_calibrations(k: int, ratio: float) -> None:
    assert closed_form_rounds(epsilon=1.0, delta=1e-6, count=k) * k == pytest.approx(ratio, abs=5e-3)
