"""Gaps and scaled gaps: exact differences of any scores, and quotients that overflow only where they have to."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpselect.mechanisms.scores import Gaps

doubles = st.floats(allow_nan=False, allow_infinity=False)
positive = st.floats(min_value=5e-324, allow_nan=False, allow_infinity=False)


def is_nearest(computed: float, exact: Fraction, *, ulps: int) -> bool:
    """Within a few units in the last place, or on the right side of a double's range."""
    largest = Fraction(np.finfo(np.float64).max)
    if np.isinf(computed):
        return exact > largest * (1 - Fraction(ulps, 2**52))
    slack = max(abs(exact) * ulps / 2**52, Fraction(ulps * 5e-324))
    return abs(Fraction(computed) - exact) <= slack


@given(st.lists(doubles, min_size=1, max_size=6))
def test_gaps_of_doubles(scores: list[float]) -> None:
    gaps = Gaps.below_best(np.array(scores))
    for score, mantissa in zip(scores, gaps.mantissa, strict=True):
        assert is_nearest(mantissa, (Fraction(max(scores)) - Fraction(score)) / 2**gaps.exponent, ulps=1)


@pytest.mark.parametrize("integers", [np.int64, np.uint64])
@given(data=st.data())
def test_gaps_of_integers_are_exact_before_they_are_rounded(integers: type[np.int64], data: st.DataObject) -> None:
    info = np.iinfo(integers)
    scores = data.draw(st.lists(st.integers(int(info.min), int(info.max)), min_size=1, max_size=6))
    gaps = Gaps.below_best(np.array(scores, dtype=integers))
    assert gaps.exponent == 0
    assert gaps.mantissa.tolist() == [float(max(scores) - score) for score in scores]


def test_neighbouring_integers_beyond_doubles_are_told_apart() -> None:
    scores = np.array([2**60, 2**60 - 1], dtype=np.int64)
    assert float(scores[0]) == float(scores[1])
    assert Gaps.below_best(scores).mantissa.tolist() == [0.0, 1.0]


@given(st.lists(doubles, min_size=1, max_size=4), positive, positive, st.sampled_from([1, 2]))
def test_scaled_gaps(scores: list[float], epsilon: float, sensitivity: float, factor: int) -> None:
    gaps = Gaps.below_best(np.array(scores))
    scaled = gaps.scaled(epsilon=epsilon, sensitivity=sensitivity, factor=factor)
    for score, x in zip(scores, scaled, strict=True):
        exact = (Fraction(max(scores)) - Fraction(score)) * Fraction(epsilon) / (factor * Fraction(sensitivity))
        assert is_nearest(x, exact, ulps=4)


@pytest.mark.parametrize(
    ("gap", "epsilon", "sensitivity", "expected"),
    [
        (1.7e308, 1e-300, 1e300, 1.7e308 * 1e-300 / 1e300),  # the quotient alone underflows
        (1e-300, 1e300, 1e-8, 1e8),
        (1e-300, 1e300, 1e-300, 1e300),  # the quotient alone overflows
        (1.0, 5e-324, 5e-324, 1.0),
        (1.0, 1e300, 5e-324, np.inf),
        (1.0, 5e-324, 1e300, 0.0),
    ],
)
def test_extreme_arguments(gap: float, epsilon: float, sensitivity: float, expected: float) -> None:
    scaled = Gaps.below_best(np.array([gap, 0.0])).scaled(epsilon=epsilon, sensitivity=sensitivity, factor=1)
    assert scaled[0] == 0.0
    assert scaled[1] == pytest.approx(expected, rel=1e-12)


def test_a_difference_beyond_doubles() -> None:
    gaps = Gaps.below_best(np.array([1.7e308, -1.7e308, 0.0]))
    assert (gaps.mantissa.tolist(), gaps.exponent) == ([0.0, 1.7e308, 0.85e308], 1)
    assert gaps.scaled(epsilon=1e-308, sensitivity=1.0, factor=1)[1] == pytest.approx(3.4)
    assert gaps.mean(np.array([0.5, 0.0, 0.5])) == pytest.approx(0.85e308)
