"""Clipped sums against the exact model, and the laws that their sensitivity rests on."""

from __future__ import annotations

import decimal
import math
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from dpselect.errors import InvalidDataError
from tests.reference.clipped_sums import clipped_totals
from tests.rows.tables import total, write_csv, write_parquet, write_rows

CANDIDATES = ["x", "y", "z"]
KINDS = pytest.mark.parametrize("kind", ["csv", "parquet"])
TYPES = (pa.string(), pa.string(), pa.string(), pa.float64())
in_time = settings(max_examples=15)

numbers = st.one_of(st.none(), st.integers(-60, 60).map(lambda quarters: quarters / 4))
"""Quarters, so that a product with a whole scale is exact and halves, which are rounded to even, occur."""
cells = st.tuples(st.sampled_from(["x", "y", "w", None]), st.just("a"), numbers)
tables = st.lists(st.tuples(st.sampled_from(["ann", "bob", "cid", None]), cells), max_size=25)


def flat(rows: list[Any]) -> list[tuple[Any, ...]]:
    return [(unit, *rest) for unit, rest in rows]


def totals_of(rows: list[Any], *, kind: str, scale: Fraction, bounds: tuple[int, int]) -> list[int]:
    with TemporaryDirectory() as folder:
        path = write_rows(Path(folder), flat(rows), kind=kind, types=TYPES)
        return total(path, CANDIDATES, bounds=bounds, scale=scale)[0]


def expected(rows: list[Any], *, scale: Fraction, bounds: tuple[int, int]) -> list[int]:
    exact = [(unit, value, None if number is None else Fraction(number)) for unit, value, _, number in flat(rows)]
    return list(clipped_totals(exact, candidates=CANDIDATES, scale=scale, lower=bounds[0], upper=bounds[1]))


scales = st.sampled_from([Fraction(1), Fraction(2), Fraction(100), Fraction(1, 4)])
limits = st.sampled_from([(0, 10), (-7, 7), (-(2**31), 2**31), (2, 5), (-5, -2)])


@KINDS
@in_time
@given(rows=tables, scale=scales, bounds=limits)
@example(rows=[("ann", ("x", "a", 0.5)), ("bob", ("x", "a", 1.5))], scale=Fraction(1), bounds=(0, 10))
def test_totals_equal_the_exact_model(kind: str, rows: list[Any], scale: Fraction, bounds: tuple[int, int]) -> None:
    assert totals_of(rows, kind=kind, scale=scale, bounds=bounds) == expected(rows, scale=scale, bounds=bounds)


@in_time
@given(rows=tables, added=st.lists(cells, max_size=8), at=st.integers(0, 25), bounds=limits)
def test_one_more_unit_moves_each_total_within_its_own_bounds(
    rows: list[Any], added: list[Any], at: int, bounds: tuple[int, int]
) -> None:
    larger = [*rows[:at], *(("new", cell) for cell in added), *rows[at:]]
    before, after = (totals_of(each, kind="parquet", scale=Fraction(2), bounds=bounds) for each in (rows, larger))
    for candidate, first, second in zip(CANDIDATES, before, after, strict=True):
        touched = any(value == candidate and number is not None for value, _, number in added)
        assert (bounds[0] <= second - first <= bounds[1]) if touched else first == second


def test_without_the_units_own_clip_that_law_fails() -> None:
    """Control: rows that are each within the bounds add up to more than them."""
    rows = [("ann", ("x", "a", 7.0))] * 3
    assert totals_of(rows, kind="csv", scale=Fraction(1), bounds=(0, 10)) == [10, 0, 0]
    owed = [(unit, (part, group, -number)) for unit, (part, group, number) in rows]
    assert totals_of(owed, kind="csv", scale=Fraction(1), bounds=(-10, 10)) == [-10, 0, 0]
    assert totals_of(owed, kind="csv", scale=Fraction(1), bounds=(-10, 0)) == [-10, 0, 0]
    assert sum(min(10, number) for _, (_, _, number) in rows) == 21


def test_the_order_of_rows_does_not_matter(tmp_path: Path) -> None:
    generator = np.random.default_rng(3)
    amounts = generator.normal(0, 1e6, 50_000)
    table = pa.table({"unit": np.arange(50_000) % 9_000, "value": np.arange(50_000) % 3, "amount": amounts})
    order = generator.permutation(50_000)
    found = []
    for shuffled in (table, table.take(order)):
        pq.write_table(shuffled, tmp_path / "t.parquet")
        found.append(total(tmp_path / "t.parquet", range(3), bounds=(-(10**6), 10**6), scale=Fraction(1, 3)))
    assert found[0] == found[1]
    sums = [np.float64(sum(each)) for each in (amounts.tolist(), amounts[order].tolist())]
    assert sums[0] != sums[1]  # control: a sum of floats in the order of the rows gives the order away


AMOUNTS: list[tuple[Any, list[Any], list[int]]] = [
    (pa.int8(), [7, -1, None], [7, -1]),
    (pa.int64(), [2**63 - 1, -(2**63)], [2**31, -(2**31)]),
    (pa.uint64(), [2**64 - 1], [2**31]),
    (pa.float64(), [0.5, 1.5, 2.5, -0.5, math.nan], [0, 2, 2, 0]),
    (pa.float64(), [math.inf, -math.inf, 1e308], [2**31, -(2**31), 2**31]),
    (pa.float32(), [0.5, 1.5], [0, 2]),
    (pa.decimal128(5, 2), [decimal.Decimal("7.25"), decimal.Decimal("7.50")], [7, 8]),
    (pa.null(), [None], []),
]


@pytest.mark.parametrize(("type_", "cells", "amounts"), AMOUNTS)
def test_amounts_of_every_type(tmp_path: Path, type_: Any, cells: list[Any], amounts: list[int]) -> None:
    """One unit and one candidate for each row, so that each total is what the row adds."""
    rows = [(i, i, "a", cell) for i, cell in enumerate(cells)]
    path = write_rows(tmp_path, rows, kind="parquet", types=(pa.int64(), pa.int64(), pa.string(), type_))
    found = total(path, range(len(cells)), bounds=(-(2**31), 2**31))[0]
    assert found == amounts + [0] * (len(cells) - len(amounts))


def test_an_overflow_of_doubles_is_a_large_amount(tmp_path: Path) -> None:
    path = write_rows(tmp_path, [(1, 0, "a", 1e308), (2, 1, "a", -1e308)], kind="parquet")
    assert total(path, range(2), bounds=(-5, 5), scale=10**300) == [[5, -5]]


def test_amounts_in_text(tmp_path: Path) -> None:
    lines = [f"{i},{i},{cell}".encode() for i, cell in enumerate(["0.29", " 7 ", "1e1", "x", "", "1_0", "1e999"])]
    path = write_csv(tmp_path / "t.csv", lines, header=b"unit,value,amount\n")
    assert total(path, range(7), bounds=(-10_000, 10_000), scale=100) == [[29, 700, 1000, 0, 0, 0, 10_000]]


def test_scaling_is_in_double_precision(tmp_path: Path) -> None:
    """1.015 is a little below that as a double; so every engine finds 101, not the 102 of decimal arithmetic."""
    path = write_rows(tmp_path, [(1, 0, "a", "1.015")], kind="csv")
    assert total(path, [0], bounds=(0, 1000), scale=100) == [[101]]
    assert round(Fraction("1.015") * 100) == 102


def test_the_amount_may_be_the_column_of_candidates(tmp_path: Path) -> None:
    path = write_parquet(tmp_path / "t.parquet", [(1, 3), (2, 3), (2, 4)])
    found = total(path, [3, 4], bounds=(0, 10), names=("unit", "value", "part", "value"))
    assert found == [[6, 4]]


def test_an_amount_that_is_no_number_is_refused(tmp_path: Path) -> None:
    path = write_rows(tmp_path, [(1, 0, "a", "7")], kind="parquet")
    with pytest.raises(InvalidDataError, match=r"column='amount': expected a column of numbers"):
        total(path, [0], bounds=(0, 9))
    with pytest.raises(InvalidDataError, match="give text"):
        total(path, [0], bounds=(0, 9), groups=[1], names=("unit", "value", "part", "value"))
