"""The bounds of an audit against exact fractions: they hold as often as they say, and the roots are right."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise

import pytest
from scipy.special import betainccinv, betaincinv

from dpselect.auditing.audit import _schedule, lower_bound
from tests.reference import audit as model

SIZE = 24


@pytest.mark.parametrize("count", [1, 7, SIZE])
@pytest.mark.parametrize("error", [Fraction(1, 10), Fraction(1, 10**6)])
def test_the_quantiles_of_the_beta_distribution_are_the_exact_bounds(count: int, error: Fraction) -> None:
    """Just inside the bound a probability may be, just outside it may not; the widening of 1e-9 is more than enough."""
    low = Fraction(float(betaincinv(count, SIZE - count + 1, float(error))))
    assert model.may_be(low * (1 + Fraction(1, 10**10)), count, SIZE, error, low=True)
    assert not model.may_be(low * (1 - Fraction(1, 10**10)), count, SIZE, error, low=True)
    less = SIZE - count
    high = Fraction(float(betainccinv(less + 1, SIZE - less, float(error))))
    assert model.may_be(high * (1 - Fraction(1, 10**10)), less, SIZE, error, low=False)
    assert not model.may_be(high * (1 + Fraction(1, 10**10)), less, SIZE, error, low=False)


@pytest.mark.parametrize("error", [0.2, 0.01])
@pytest.mark.parametrize("delta", [0.0, 0.1])
@pytest.mark.parametrize("q", [Fraction(1, 100), Fraction(1, 4), Fraction(1, 2)])
def test_a_bound_is_wrong_no_more_often_than_it_says(q: Fraction, delta: float, error: float) -> None:
    """The claim is met exactly: p = e^epsilon q + delta, rounded so that epsilon is a little larger than claimed."""
    ratio = Fraction(3, 2)
    p = ratio * q + Fraction(delta)
    bounds = [
        [lower_bound(more, less, SIZE, error=error, delta=delta) for less in range(SIZE + 1)]
        for more in range(SIZE + 1)
    ]
    assert model.coverage(bounds, p, q, math.log(ratio) + 1e-12) <= error


def test_bounds_without_room_for_the_other_neighbour_are_wrong_too_often() -> None:
    """Control: the estimate itself instead of bounds would be wrong in half of all audits."""
    p, q = Fraction(3, 8), Fraction(1, 4)
    naive = [[math.log((more + 0.5) / (less + 0.5)) for less in range(SIZE + 1)] for more in range(SIZE + 1)]
    assert model.coverage(naive, p, q, math.log(1.5)) > 0.4


@pytest.mark.parametrize("draws", [200, 999, 3000, 10**6])
def test_all_looks_together_have_the_error(draws: int) -> None:
    """And each takes twice the draws of the one before: what it draws anew is at least as much as it has."""
    schedule = _schedule(draws, 0.25, 0.5, 0.0)
    assert math.isclose(sum(error for _, error in schedule), 0.25)
    assert schedule[-1][0] == draws // 2
    sizes = [size for size, _ in schedule]
    assert all(2 * early <= late for early, late in pairwise(sizes))
    assert len(schedule) == 4
