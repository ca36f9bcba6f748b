"""Composition below the Laplace profile: fifty digits, an integral over the profile, and bounds that hold exactly."""

from __future__ import annotations

from typing import Any

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpselect.accounting import LaplaceProfileEvent, compose
from dpselect.accounting.divergence import Divergences
from tests.accounting.worlds import bounded_range_epsilon

ORDERS = [1.0 + 2.0**-20, 1.001, 1.5, 2.0, 3.7, 16.0, 1e3, 1e6]
EPSILONS = [1e-7, 1e-5, 1e-3, 0.1, 1.0, 3.0, 20.0, 1000.0]


def exact_renyi(epsilon: float, order: float) -> Any:
    """Mironov's closed form, in enough digits for its cancellation."""
    with mp.workdps(120):
        e, a = mp.mpf(epsilon), mp.mpf(order)
        return mp.log(a / (2 * a - 1) * mp.exp((a - 1) * e) + (a - 1) / (2 * a - 1) * mp.exp(-a * e)) / (a - 1)


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("order", ORDERS)
def test_renyi_is_the_closed_form_rounded_up(epsilon: float, order: float) -> None:
    exact = exact_renyi(epsilon, order)
    computed = float(Divergences({LaplaceProfileEvent(epsilon=epsilon): 1})(np.array([order]))[0])
    assert mp.mpf(computed) >= exact
    assert computed <= min(order * epsilon**2 / 2, epsilon) * (1 + 1e-12)
    if epsilon >= 1e-3:
        assert computed <= float(exact) * (1 + 1e-9)


@pytest.mark.parametrize("order", [1.5, 2.0, 7.0])
def test_the_closed_form_is_the_integral_over_both_densities(order: float) -> None:
    """The divergence of a Laplace density and the same moved by epsilon, from nothing but the definition."""
    epsilon = mp.mpf(3) / 4
    ends = [-mp.inf, 0, epsilon, mp.inf]
    moment = mp.quad(lambda z: mp.exp(-order * abs(z) - (1 - order) * abs(z - epsilon)) / 2, ends)
    assert float(mp.log(moment) / (order - 1)) == pytest.approx(float(exact_renyi(0.75, order)), rel=1e-12)


@given(epsilon=st.floats(1e-3, 3.0), count=st.integers(1, 300), delta=st.sampled_from([0.0, 1e-12, 1e-6, 1e-3]))
def test_between_bounded_range_and_basic_composition(epsilon: float, count: int, delta: float) -> None:
    total = compose([LaplaceProfileEvent(epsilon=epsilon)] * count).epsilon(delta)
    assert bounded_range_epsilon(epsilon, count=count, delta=delta) <= total * (1 + 1e-9)
    assert total <= epsilon * count * (1 + 1e-12)


def test_a_delta_buys_much_when_there_are_many_runs() -> None:
    total = compose([LaplaceProfileEvent(epsilon=0.1)] * 100).epsilon(1e-6)
    assert total < 5.0 < 10.0
    # the numerically convolved privacy loss of the Laplace mechanism gives 4.69: this bound is not far above
    assert total > 4.69
