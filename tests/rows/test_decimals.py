"""Decimals of any number of places: equal ones are one unit and one value, others are not."""

from __future__ import annotations

from decimal import Context, Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from dpselect.rows.arrow import decimal_text
from tests.rows import engines
from tests.rows.engines import LAZY, opener
from tests.rows.tables import count, gather, opened, write_parquet
from tests.slow import EXAMPLES

EXACTLY = Context(prec=200)

DIGITS = {pa.decimal128: 38, pa.decimal256: 76}
if hasattr(pa, "decimal64"):  # since Arrow 19
    DIGITS |= {pa.decimal32: 9, pa.decimal64: 18}


def column(whole: list[int], places: int, make: Any = pa.decimal128, digits: int = 38) -> Any:
    """These numbers of units of the last place; built from their bytes, as pyarrow refuses to make some."""
    width = make(digits, 0).bit_width // 8
    raw = b"".join(number.to_bytes(width, "little", signed=True) for number in whole)
    return pa.Array.from_buffers(make(digits, places), len(whole), [None, pa.py_buffer(raw)])


@st.composite
def columns(draw: st.DrawFn) -> tuple[list[int], int, Any, int]:
    make = draw(st.sampled_from(list(DIGITS)))
    digits = DIGITS[make]
    near_zero = st.integers(-12, 12).flatmap(lambda n: st.integers(0, digits - 2).map(lambda zeros: n * 10**zeros))
    number = near_zero | st.integers(1 - 10**digits, 10**digits - 1)
    numbers = draw(st.lists(number.filter(lambda n: abs(n) < 10**digits), max_size=8))
    return numbers, draw(st.integers(0, digits)), make, digits


@settings(max_examples=3 * EXAMPLES)
@given(first=columns(), second=columns())
@example(first=([0, 10], 1, pa.decimal128, 38), second=([0, 10**10], 10, pa.decimal256, 76))
@example(first=([1, -1000], 7, min(DIGITS, key=DIGITS.__getitem__), 9), second=([1000, 1], 10, pa.decimal128, 38))
def test_texts_are_equal_exactly_if_the_numbers_are(first: Any, second: Any) -> None:
    texts: dict[Decimal, str] = {}
    for whole, places, make, digits in (first, second):
        for number, text in zip(whole, decimal_text(column(whole, places, make, digits)).to_pylist(), strict=True):
            value = Decimal(number).scaleb(-places, EXACTLY)
            assert Decimal(text) == value
            assert texts.setdefault(value, text) == text  # numbers of one text are equal by the line above


def test_a_slice_with_nulls_is_read_where_it_lies() -> None:
    cells = pa.array([Decimal(5), None, Decimal(0), Decimal("-0.0000001"), Decimal("-1.5")], pa.decimal128(38, 9))
    assert decimal_text(cells.slice(1)).to_pylist() == [None, "0", "-0.0000001", "-1.5"]
    assert decimal_text(cells.slice(5)).to_pylist() == []


def test_a_unit_is_one_unit_however_many_places_its_file_has(tmp_path: Path) -> None:
    for places in (0, 2, 7, 8, 10, 18, 30, 38):
        small = [Decimal(0), Decimal("-0.0000001"), Decimal("0.0000012")] if places > 6 else [Decimal(0)]
        rows = [(number, number) for number in small]
        type_ = pa.decimal128(38, places)
        write_parquet(tmp_path / f"{places}.parquet", rows, types=(type_, type_))
    assert count(tmp_path / "*.parquet", [0, 1]) == [1, 0]
    assert count(tmp_path / "*.parquet", [0.0, -1e-7, 1.2e-6]) == [1, 1, 1]
    assert gather(tmp_path / "*.parquet", most=9) == [-1e-7] * 6 + [0.0] * 8 + [1.2e-6] * 6


@engines.deprecations
@pytest.mark.parametrize("engine", ["arrow", *LAZY[:-1]])
def test_zero_with_many_places_is_zero(engine: str) -> None:
    zeros = pa.array([Decimal(0), Decimal("0E-10"), Decimal("0.0000001000")], pa.decimal128(38, 10))
    rows = pa.table({"unit": zeros, "value": zeros, "one": [1, 1, 1]})
    table = opened(rows) if engine == "arrow" else opener(engine)(rows)
    assert count(table, [1], column="one") == [2]
    assert count(table, [0, 1]) == [1, 0]
    assert count(table, [0.0, 1e-7]) == [1, 1]
