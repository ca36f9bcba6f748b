"""The cost of many draws from the same scores, against the formula in very many digits: never below it."""

from __future__ import annotations

from fractions import Fraction

import mpmath
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpselect.accounting import BoundedRangeEvent, NonAdaptiveEvent, compose
from dpselect.accounting.non_adaptive import non_adaptive_delta, non_adaptive_epsilon


def exact_delta(each: float, k: int, epsilon: float, *, digits: int = 100) -> mpmath.mpf:
    """Claim 8 of ``proofs/composition.md``, as it is written there."""
    with mpmath.workdps(digits):
        one, asked = mpmath.mpf(each), mpmath.mpf(epsilon)
        largest = mpmath.mpf(0)
        for last in range(k + 1):
            t = min(max((asked + (last + 1) * one) / (k + 1), mpmath.mpf(0)), one)
            p = (1 - mpmath.exp(t - one)) / (1 - mpmath.exp(-one))
            terms = [
                mpmath.binomial(k, i) * p ** (k - i) * (1 - p) ** i * (1 - mpmath.exp(asked - k * t + i * one))
                for i in range(last + 1)
            ]
            largest = max(largest, mpmath.fsum(terms))
        return largest


def group(each: float, k: int) -> NonAdaptiveEvent:
    return NonAdaptiveEvent(event=BoundedRangeEvent(epsilon=each), count=k)


def below_top(each: float, k: int, share: float) -> float:
    """A double about `share` of the whole below the sum of all epsilons."""
    return float(Fraction(each) * k * (1 - Fraction(share)))


@pytest.mark.parametrize("each", [1e-300, 1e-8, 0.1, 3.0, 40.0, 700.0])
@pytest.mark.parametrize("k", [1, 2, 7])
@pytest.mark.parametrize("share", [1e-15, 3e-13, 1e-8, 1e-3, 0.5, 1.0])
def test_it_is_an_upper_bound_up_to_the_top(each: float, k: int, share: float) -> None:
    epsilon = below_top(each, k, share)
    exact = exact_delta(each, k, epsilon, digits=1000 if each < 1e-100 else 100)
    found = non_adaptive_delta(group(each, k), epsilon)
    assert exact <= found
    assert found <= exact * (1 + mpmath.mpf(2) ** -32) + mpmath.mpf("2e-300")


@given(st.floats(1e-12, 50), st.integers(1, 12), st.floats(0, 1) | st.floats(1e-16, 1e-12))
def test_it_is_an_upper_bound_anywhere(each: float, k: int, share: float) -> None:
    epsilon = max(0.0, below_top(each, k, share))
    exact = exact_delta(each, k, epsilon)
    found = non_adaptive_delta(group(each, k), epsilon)
    assert exact <= found <= exact * (1 + mpmath.mpf(2) ** -32) + mpmath.mpf("2e-300")


def test_the_cancellation_that_is_avoided_would_be_seen() -> None:
    """The control: the difference of epsilon and a loss, in doubles, is wrong by far more than the margin."""
    each, k = 3.0, 1
    epsilon = below_top(each, k, 1e-15)
    t = (epsilon + each) / 2
    gain, exact = t - epsilon, (Fraction(each) - Fraction(epsilon)) / 2
    assert abs(Fraction(gain) - exact) > exact / 100
    assert exact_delta(each, k, epsilon) > mpmath.mpf("2.5e-30")


def test_many_draws_are_counted_within_the_margin() -> None:
    epsilon = 1.0
    exact = exact_delta(0.02, 60, epsilon)
    found = non_adaptive_delta(group(0.02, 60), epsilon)
    assert exact <= found <= exact * (1 + mpmath.mpf(2) ** -32)


@pytest.mark.parametrize("delta", [1e-30, 1e-12, 1e-3])
def test_the_epsilon_that_is_told_keeps_the_delta(delta: float) -> None:
    epsilon = non_adaptive_epsilon(group(3.0, 2), delta)
    assert exact_delta(3.0, 2, epsilon) <= delta
    assert compose([group(3.0, 2)]).delta(below_top(3.0, 2, 1e-15)) >= exact_delta(3.0, 2, below_top(3.0, 2, 1e-15))
