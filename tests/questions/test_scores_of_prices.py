"""The revenue score's sensitivity: exact, rounded up, monotone when a unit is added or removed."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpselect import Neighbours
from dpselect.questions.prices import price_range_sensitivity, price_sensitivity

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("highest", "rows", "expected"), [(100, 1, 100.0), (9.5, 1, 9.5), (0.25, 4, 1.0), (3, 10**9, 3e9)]
)
def test_values(highest: Any, rows: int, expected: float) -> None:
    assert price_sensitivity(highest, max_rows_per_unit=rows).value == expected


@given(st.floats(1e-300, 1e290) | st.fractions(min_value=Fraction(1, 999)), st.integers(1, 10**9))
def test_never_less_than_the_truth_and_hardly_more(highest: Any, rows: int) -> None:
    truth = rows * (Fraction(repr(highest)) if isinstance(highest, float) else highest)
    assert (
        truth <= Fraction(price_sensitivity(highest, max_rows_per_unit=rows).value) <= truth * (1 + Fraction(1, 2**51))
    )


def test_what_is_claimed_besides() -> None:
    sensitivity = price_sensitivity(5, max_rows_per_unit=1)
    assert sensitivity.monotonic is True
    assert sensitivity.neighbours is Neighbours.ADD_REMOVE
    assert (ROOT / sensitivity.proof).is_file()


@pytest.mark.parametrize(("upper", "rows", "expected"), [(100.0, 1, 100.0), (9.5, 4, 38.0), (1.5, 10**9, 1.5e9)])
def test_of_any_price_up_to(upper: float, rows: int, expected: float) -> None:
    sensitivity = price_range_sensitivity(upper, max_rows_per_unit=rows)
    assert sensitivity.value == expected
    assert sensitivity.monotonic is True
    assert sensitivity.neighbours is Neighbours.ADD_REMOVE
    assert (ROOT / sensitivity.proof).is_file()


@given(st.floats(5e-324, 1e290), st.integers(1, 10**9))
def test_of_any_price_never_less_than_the_double_times_the_rows(upper: float, rows: int) -> None:
    """Of the double itself: the decimal it is written as may be smaller."""
    assert Fraction(price_range_sensitivity(upper, max_rows_per_unit=rows).value) >= rows * Fraction(upper)
    assert price_range_sensitivity(0.1, max_rows_per_unit=10).value > 1.0
