"""Counting against brute force, and the law that the sensitivity rests on."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyarrow import csv

from tests.rows.tables import Row, brute_force, count, write_csv, write_parquet
from tests.slow import EXAMPLES

CANDIDATES = [3, 1, 2, 70]
units = st.one_of(st.none(), st.integers(0, 5))
values = st.one_of(st.none(), st.integers(0, 4))
tables = st.lists(st.tuples(units, values), max_size=30)
in_time = settings(max_examples=EXAMPLES // 2)  # each reads several files


def as_lines(rows: list[Row]) -> list[bytes]:
    return [",".join("" if cell is None else str(cell) for cell in row).encode() for row in rows]


def counts_of(rows: list[Row], *, kind: str, candidates: object = CANDIDATES) -> list[int]:
    with TemporaryDirectory() as folder:
        if kind == "csv":
            return count(write_csv(Path(folder) / "t.csv", as_lines(rows)), candidates)
        return count(write_parquet(Path(folder) / "t.parquet", rows, types=(pa.int64(), pa.int32())), candidates)


KINDS = pytest.mark.parametrize("kind", ["csv", "parquet"])


@KINDS
@in_time
@given(rows=tables)
def test_counts_equal_brute_force(kind: str, rows: list[Row]) -> None:
    assert counts_of(rows, kind=kind) == brute_force(rows, CANDIDATES)


@KINDS
@in_time
@given(rows=tables, seed=st.randoms(use_true_random=False))
def test_order_and_repetition_of_rows_do_not_matter(kind: str, rows: list[Row], seed: Any) -> None:
    shuffled = [*rows, *rows]
    seed.shuffle(shuffled)
    assert counts_of(shuffled, kind=kind) == counts_of(rows, kind=kind)


@KINDS
@in_time
@given(rows=tables, added=st.lists(values, max_size=10), at=st.integers(0, 30))
def test_one_more_unit_raises_each_count_by_at_most_one(kind: str, rows: list[Row], added: list[Any], at: int) -> None:
    before = np.array(counts_of(rows, kind=kind))
    after = np.array(counts_of([*rows[:at], *((99, value) for value in added), *rows[at:]], kind=kind))
    assert set((after - before).tolist()) <= {0, 1}
    assert (after - before).tolist() == [int(candidate in added) for candidate in CANDIDATES]


def test_a_row_count_would_break_that_law() -> None:
    rows = [(1, 3), (1, 3)]
    assert counts_of(rows, kind="csv")[0] == 1 < sum(value == 3 for _, value in rows)


@in_time
@given(rows=tables, first=st.integers(-2, 3), size=st.integers(1, 6), step=st.sampled_from([1, 2, -1, -3]))
def test_a_range_counts_like_its_list(rows: list[Row], first: int, size: int, step: int) -> None:
    candidates = range(first, first + size * step, step)
    assert counts_of(rows, kind="parquet", candidates=candidates) == brute_force(rows, candidates)


def test_extreme_ranges_do_not_overflow(tmp_path: Path) -> None:
    smallest, largest = -(2**63), 2**63 - 1
    path = write_parquet(tmp_path / "t.parquet", [("a", smallest), ("b", largest), ("c", largest)])
    assert count(path, range(smallest, smallest + 2)) == [1, 0]
    assert count(path, range(largest - 1, largest + 1)) == [0, 2]
    assert count(path, range(smallest, largest + 1, largest)) == [1, 0, 0]
    assert count(path, [largest, smallest]) == [2, 1]


@pytest.mark.parametrize("rows", [[], [(None, 1), (None, 3)], [(1, None)], [(1, 8)]])
@KINDS
def test_no_countable_row_counts_zero(kind: str, rows: list[Row]) -> None:
    assert counts_of(rows, kind=kind) == [0, 0, 0, 0]


def test_units_are_counted_across_files(tmp_path: Path) -> None:
    write_csv(tmp_path / "a.csv", [b"1,3", b"2,3"])
    write_csv(tmp_path / "b.csv", [b"2,3", b"3,3", b"3,1"], header=b"\xef\xbb\xbfunit,value\r\n")
    assert count(tmp_path / "*.csv", CANDIDATES) == [3, 1, 0, 0]


def test_more_rows_than_a_batch(tmp_path: Path) -> None:
    generator = np.random.default_rng(7)
    rows = np.stack([generator.integers(0, 5000, 400_000), generator.integers(0, 50, 400_000)])
    distinct = np.unique(rows[0] * 50 + rows[1])
    expected = np.bincount(distinct % 50, minlength=50).tolist()
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table([*rows], names=["unit", "value"]), path, row_group_size=200_000)
    assert count(path, range(50)) == expected
    assert count(path, list(range(50))) == expected
    lines = tmp_path / "t.csv"
    csv.write_csv(pa.table([*rows], names=["unit", "value"]), lines, csv.WriteOptions(quoting_style="none"))
    assert count(lines, range(50)) == expected


def test_a_unit_with_several_equal_rows_counts_once_among_many_candidates(tmp_path: Path) -> None:
    path = write_parquet(tmp_path / "t.parquet", [(1, 5), (1, 5), (2, 5), (2, 7), (2, 7)])
    assert count(path, range(100))[5:8] == [2, 0, 1]
