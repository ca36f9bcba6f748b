"""The rank score's sensitivity: exact, rounded up, and monotone at the extremes only."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpselect import Neighbours
from dpselect.mechanisms.quantiles import rank_sensitivity

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("level", "rows", "expected"),
    [(0.5, 1, 0.5), (0.0, 1, 1.0), (1.0, 1, 1.0), (0.25, 1, 0.75), (0.75, 4, 3.0), (0.5, 10**9, 5e8)],
)
def test_values(level: float, rows: int, expected: float) -> None:
    assert rank_sensitivity(level, values_per_unit=rows).value == expected


@given(st.floats(0.0, 1.0), st.integers(1, 10**9))
def test_never_less_than_the_truth_and_hardly_more(level: float, rows: int) -> None:
    truth = rows * max(Fraction(level), 1 - Fraction(level))
    assert truth <= Fraction(rank_sensitivity(level, values_per_unit=rows).value) <= truth * (1 + Fraction(1, 2**52))


def test_what_is_claimed_besides() -> None:
    sensitivity = rank_sensitivity(0.5, values_per_unit=1)
    assert sensitivity.monotonic is False
    for level, one_way in ((0.0, True), (1.0, True), (5e-324, False)):
        assert rank_sensitivity(level, values_per_unit=3).monotonic is one_way
    assert not rank_sensitivity(1.0, values_per_unit=1, neighbours=Neighbours.REPLACE_ONE).monotonic
    assert sensitivity.neighbours is Neighbours.ADD_REMOVE
    assert (ROOT / sensitivity.proof).is_file()
