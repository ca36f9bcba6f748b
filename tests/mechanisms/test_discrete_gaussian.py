"""Discrete Gaussian noise: its law, how it is drawn, what it is calibrated to, and its bounds."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy import optimize

import dpselect as dps
from dpselect.errors import InvalidDataError, InvalidParameterError
from tests.laws.goodness_of_fit import NEVER, p_value
from tests.reference import discrete_gaussian

SETTINGS = [(1.0, 1e-6, 1), (1.0, 1e-6, 10), (0.1, 1e-8, 3), (0.5, 0.2, 2), (8.0, 1e-3, 1)]


def mechanism(epsilon: float, delta: float, moved: int) -> dps.DiscreteGaussianMechanism:
    return dps.DiscreteGaussianMechanism(epsilon=epsilon, delta=delta, squared_sensitivity=moved)


@pytest.mark.parametrize(("epsilon", "delta", "moved"), SETTINGS)
def test_the_variance_is_enough_and_hardly_more(epsilon: float, delta: float, moved: int) -> None:
    """At its rho the conversion proves epsilon; at one percent less noise it does not."""
    rho = moved / (2 * mechanism(epsilon, delta, moved).variance)

    def proved(rho: float) -> float:
        """The conversion of Rényi divergences at the best order."""

        def at(more: float) -> float:
            a = 1.0 + math.exp(more)
            return rho * a + math.log1p(-1 / a) - (math.log(delta) + math.log(a)) / (a - 1)

        return optimize.minimize_scalar(at, bounds=(-7.0, 40.0), method="bounded", options={"xatol": 1e-9}).fun

    assert proved(rho) <= epsilon * (1 + 1e-9)
    assert proved(rho * 1.02) > epsilon


@pytest.mark.parametrize("moved", [1, 2])
def test_epsilon_fails_with_less_than_delta(moved: int) -> None:
    """Exactly, by enumeration. Control: half the variance fails more often."""
    epsilon, delta = 1.0, 0.05
    noise = mechanism(epsilon, delta, moved)
    variance = Fraction(noise.variance)
    assert discrete_gaussian.worst_delta(variance, moves=moved, epsilon=Fraction(epsilon), reach=20) <= delta
    half = discrete_gaussian.worst_delta(variance / 4, moves=moved, epsilon=Fraction(epsilon), reach=20)
    assert half > delta


def test_rejection_has_the_law_for_every_block() -> None:
    for variance, block in ((Fraction(9, 2), 3), (Fraction(1, 3), 1), (Fraction(7), 1), (Fraction(2), 5)):
        exact = discrete_gaussian.law(variance, reach=12)
        drawn = discrete_gaussian.by_rejection(variance, block=block, reach=12)
        assert all(abs(drawn[y] - exact[y]) < Fraction(1, 10**50) for y in exact)


@pytest.mark.sampled(1)
@pytest.mark.parametrize(("epsilon", "delta", "moved"), [(1.0, 0.2, 1), (2.0, 1e-3, 1), (1.0, 1e-6, 1), (9.0, 0.1, 1)])
def test_the_draws_have_the_law(epsilon: float, delta: float, moved: int) -> None:
    """Control: a law of nine tenths of the scale."""
    noise = mechanism(epsilon, delta, moved)
    drawn = noise.draw_many(np.full(40_000, 7))
    reach = max(1, round(2.5 * noise.scale))
    counts = np.bincount(np.clip(drawn - 7, -reach, reach) + reach, minlength=2 * reach + 1)

    def law(variance: float) -> np.ndarray:
        exact = discrete_gaussian.law(Fraction(variance), reach=max(20, 12 * reach))
        cells = np.zeros(2 * reach + 1)
        for y, chance in exact.items():
            cells[min(max(y, -reach), reach) + reach] += float(chance)
        return cells

    assert p_value(counts, law(noise.variance)) > NEVER
    assert p_value(counts, law(noise.variance * 0.81)) < NEVER
    points = np.arange(7 - reach + 1, 7 + reach)
    assert noise.pmf(7, points) == pytest.approx(law(noise.variance)[1:-1], rel=1e-9)


def test_a_scale_beyond_machine_integers_of_its_squares() -> None:
    noise = mechanism(1e-9, 1e-6, 10**9)
    drawn = noise.draw_many(np.zeros(400, np.int64))
    assert noise.variance > 2**63
    assert 0.7 < float(np.std(drawn.astype(float))) / noise.scale < 1.3


@pytest.mark.parametrize("size", [1, 30])
def test_the_error_bound_holds_as_often_as_it_says(size: int) -> None:
    """Exactly: all of a vector, and its sum. Control: three quarters of the bound do not hold."""
    noise = mechanism(1.0, 1e-3, 2)
    law = discrete_gaussian.law(Fraction(noise.variance), reach=60)

    def within(bound: float) -> float:
        return float(sum(chance for y, chance in law.items() if abs(y) <= bound)) ** size

    bound = noise.error_bound(0.99, size=size)
    assert within(bound) >= 0.99 > within(0.75 * bound)
    weights = np.array([float(law[y]) for y in range(-60, 61)])
    total = np.ones(1)
    for _ in range(size):
        total = np.convolve(total, weights)
    reach = total.size // 2
    together = noise.total_error_bound(size)
    assert total[max(0, reach - together) : reach + together + 1].sum() >= 0.99


def test_no_and_the_largest_values() -> None:
    noise = mechanism(1.0, 1e-6, 10)
    assert noise.draw_many([]).tolist() == []
    assert noise.draw_many([2**63 - 1]).tolist()[0] <= 2**63 - 1


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ({"epsilon": 0.0}, "epsilon=0.0"),
        ({"epsilon": 1e-200}, "epsilon=1e-200"),
        ({"epsilon": math.nan}, "epsilon=nan"),
        ({"delta": 0.0}, "delta=0.0"),
        ({"delta": 1.0}, "delta=1.0"),
        ({"squared_sensitivity": 0}, "squared_sensitivity=0"),
        ({"squared_sensitivity": 1.5}, "squared_sensitivity=1.5"),
        ({"neighbours": "some"}, "neighbours='some'"),
    ],
)
def test_bad_arguments(arguments: dict[str, Any], named: str) -> None:
    given: dict[str, Any] = {"epsilon": 1.0, "delta": 1e-6, "squared_sensitivity": 1, **arguments}
    with pytest.raises(InvalidParameterError, match=f"^{named}"):
        dps.DiscreteGaussianMechanism(**given)


@pytest.mark.parametrize("values", [[1.0], [[1]], ["a"]])
def test_bad_values_draw_nothing(values: Any) -> None:
    with pytest.raises(InvalidDataError, match=r"^values="):
        mechanism(1.0, 1e-6, 1).draw_many(values)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("epsilon", [1e35, 1e300, 1.7e308])
def test_a_vast_epsilon_overflows_nothing(epsilon: float) -> None:
    mechanism = dps.DiscreteGaussianMechanism(epsilon=epsilon, delta=1e-6, squared_sensitivity=1)
    assert 0.0 < mechanism.variance < 1e-9
    assert mechanism.draw_many([5, 0]).tolist() == [5, 0]
