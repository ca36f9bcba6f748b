"""Numbers for people: three digits, bounds never rounded down."""

from __future__ import annotations

import math
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpselect.cli.plan import figure, percent

POSITIVE = st.floats(min_value=5e-324, max_value=1e308)


def read(text: str) -> Decimal:
    return Decimal(text.replace(",", ""))


@given(POSITIVE)
def test_three_digits_are_kept(value: float) -> None:
    true = Decimal(repr(value))
    assert abs(read(figure(value)) - true) <= true * Decimal("0.005")


@given(POSITIVE)
def test_upwards_is_never_below_and_hardly_above(value: float) -> None:
    true = Decimal(repr(value))
    assert true <= read(figure(value, up=True)) <= true * Decimal("1.01")


def test_to_the_nearest_may_be_below() -> None:
    assert read(figure(4.264)) < Decimal("4.264")


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.0, "0"), (12.0, "12"), (99.96, "100"), (999.7, "1,000"), (9.999e-4, "0.001"), (1e9, "1.00e+9")],
)
def test_figures_at_the_edges(value: float, text: str) -> None:
    assert figure(value) == text
    assert figure(math.inf) == "inf"


@given(st.floats(min_value=1e-300, max_value=math.nextafter(1.0, 0.0)))
def test_percentages_lose_no_digit(share: float) -> None:
    assert Decimal(percent(share).removesuffix(" %")) == Decimal(repr(share)) * 100
    assert percent(share) != "100 %"
