"""Bounds for people: three digits, never rounded down."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpselect.questions.wording import rounded_up


@given(st.floats(min_value=5e-324, max_value=1e308))
def test_upwards_is_never_below_and_hardly_above(value: float) -> None:
    true = Decimal(repr(value))
    assert true <= Decimal(rounded_up(value).replace(",", "")) <= true * Decimal("1.01")


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.0, "0"), (12.0, "12"), (99.96, "100"), (999.7, "1,000"), (9.999e-4, "0.001"), (1e9, "1.00e+9")],
)
def test_figures_at_the_edges(value: float, text: str) -> None:
    assert rounded_up(value) == text
