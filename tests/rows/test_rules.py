"""Which rows count for which unit and candidate, in every type a column can have."""

from __future__ import annotations

import decimal
import math
import re
from collections import Counter
from datetime import date
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.rows.tables import count, write_csv, write_parquet

NOBODY = ["", " ", "\t", "NA", "N/A", "NaN", "nan", "NULL", "Null", "null", "None", "<NA>", " nan "]


def values_in_csv(tmp_path: Path, cells: list[str], candidates: object) -> list[int]:
    lines = [f'{i},"{cell}"'.encode() for i, cell in enumerate(cells)]
    return count(write_csv(tmp_path / "t.csv", lines), candidates)


@pytest.mark.sampled(5)
@pytest.mark.parametrize("cell", ["7", "07", "+7", " 7", "7 ", "7.", "7.0", "007.000", "\t7"])
def test_spellings_of_a_whole_number(tmp_path: Path, cell: str) -> None:
    assert values_in_csv(tmp_path, [cell], [6, 7, 8]) == [0, 1, 0]
    assert values_in_csv(tmp_path, [cell], range(6, 9)) == [0, 1, 0]


@pytest.mark.sampled(8)
@pytest.mark.parametrize(
    "cell",
    ["1.5", "1.4999", "2.5", "1e0", "2e", "0x1", "0b1", "1_0", "1,0", "1 2", "--1", "", "x", "9" * 30, "１", "1\0"],
)
def test_what_is_not_a_whole_number_counts_nowhere(tmp_path: Path, cell: str) -> None:
    assert values_in_csv(tmp_path, [cell], range(20)) == [0] * 20


def test_long_whole_numbers_are_exact(tmp_path: Path) -> None:
    big = 2**53 + 1
    assert values_in_csv(tmp_path, [f"{big}.0", str(big - 1)], [big - 1, big, big + 1]) == [1, 1, 0]
    assert values_in_csv(tmp_path, [str(2**63 - 1), str(-(2**63)), str(2**63)], [2**63 - 1, -(2**63)]) == [1, 1]


def test_numbers_in_csv(tmp_path: Path) -> None:
    cells = ["0.1", ".1", "1e-1", " 0.10 ", "0.1x", "nan", "inf", "1_0.5", "10.5"]
    assert values_in_csv(tmp_path, cells, [0.1, 10.5]) == [4, 1]


PATTERNS = {
    int: r"[ \t]*[+-]?[0-9]+(\.0*)?[ \t]*",
    float: r"[ \t]*[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?[ \t]*",
}
"""How numbers may be written in text: whole ones, and any."""


@pytest.mark.parametrize(
    ("kind", "alphabet", "longest"),
    [
        (int, "01- ", 6),
        (int, "01.-", 6),
        (int, "01eE-", 5),
        (float, "01.-e", 5),
        (float, "01.+-E", 4),
        (float, "01. _", 5),
    ],
)
def test_every_short_text_is_the_number_that_the_pattern_says(
    tmp_path: Path, kind: type[float], alphabet: str, longest: int
) -> None:
    cells = ["".join(each) for length in range(longest + 1) for each in product(alphabet, repeat=length)]
    numbers = Counter(float(cell) + 0.0 for cell in cells if re.fullmatch(PATTERNS[kind], cell))
    listed = [each for each in numbers if math.isfinite(each)]
    as_kind = [kind(each) for each in listed]
    assert len(listed) > 20
    assert values_in_csv(tmp_path, cells, as_kind) == [numbers[each] for each in listed]


def test_dates_and_booleans_in_csv(tmp_path: Path) -> None:
    cells = ["2026-11-21", " 2026-11-21 ", "2026-11-31", "20261121", "2026-11-21 00:00", "21.11.2026"]
    assert values_in_csv(tmp_path, cells, [date(2026, 11, 21), date(2026, 12, 1)]) == [2, 0]
    assert values_in_csv(tmp_path, ["true", "TRUE", " False ", "1", "yes", "t"], [True, False]) == [2, 1]


def test_text_in_csv_is_compared_letter_by_letter(tmp_path: Path) -> None:
    cells = ["a", "A", " a", "á", "a\0"]
    assert values_in_csv(tmp_path, cells, ["a", "A", " a", "á", "a\0"]) == [1, 1, 1, 1, 1]


def test_whoever_has_no_unit_is_nobody(tmp_path: Path) -> None:
    lines = [f'"{cell}",1'.encode() for cell in [*NOBODY, "7", "ann"]]
    assert count(write_csv(tmp_path / "t.csv", lines), [1]) == [2]
    rows = [(cell, 1) for cell in [*NOBODY, None, "7", "ann"]]
    assert count(write_parquet(tmp_path / "t.parquet", rows), [1]) == [2]
    floats = [(float("nan"), 1), (None, 1), (7.0, 1), (7.5, 1)]
    assert count(write_parquet(tmp_path / "f.parquet", floats), [1]) == [2]


def test_blanks_around_a_unit_do_not_make_another_one(tmp_path: Path) -> None:
    lines = [b"ann,1", b" ann,1", b"ann\t,1", b"Ann,1", b"07,1", b"7,1"]
    assert count(write_csv(tmp_path / "t.csv", lines), [1]) == [4]


TYPES: list[tuple[Any, list[Any], list[Any], list[int]]] = [
    (pa.int8(), [7, -1], [7, 300, -1], [1, 0, 1]),
    (pa.uint64(), [2**64 - 1, 7], [7, 2**63 - 1], [1, 0]),
    (pa.float64(), [7.0, 7.5, float("nan"), float("inf"), 1e300, 2.0**63], [7, 8], [1, 0]),
    (pa.float32(), [7.0, 7.5], [7, 8], [1, 0]),
    (pa.float16(), [np.float16(7.0), np.float16(7.5)], [7, 8], [1, 0]),
    (pa.float64(), [0.1, -0.0, float("nan")], [0.1, 0.0], [1, 1]),
    (pa.decimal128(5, 2), [decimal.Decimal("7.00"), decimal.Decimal("7.50")], [7, 8], [1, 0]),
    (pa.decimal256(60, 2), [decimal.Decimal("7.00"), decimal.Decimal(10) ** 50], [7, 8], [1, 0]),
    (pa.decimal128(5, 2), [decimal.Decimal("7.25")], [7.25, 7.0], [1, 0]),
    (pa.string(), ["a", "b", "a "], ["a", "b"], [1, 1]),
    (pa.large_string(), ["a", "b"], ["b", "a"], [1, 1]),
    (pa.string_view(), ["a", "a string of more than twelve bytes"], ["a", "b"], [1, 0]),
    (pa.dictionary(pa.int32(), pa.string()), ["a", "b", "a"], ["a", "b"], [2, 1]),
    (pa.date32(), [date(2026, 11, 21), date(1, 1, 1), date(9999, 12, 31)], [date(2026, 11, 21)], [1]),
    (pa.bool_(), [True, False, True], [False, True], [1, 2]),
    (pa.null(), [None, None], [1, 2], [0, 0]),
    (pa.null(), [None, None], ["a"], [0]),
]


@pytest.mark.parametrize(("type_", "cells", "candidates", "expected"), TYPES)
def test_typed_values(tmp_path: Path, type_: Any, cells: list[Any], candidates: list[Any], expected: list[int]) -> None:
    rows = [*enumerate(cells), (99, None)]
    assert count(write_parquet(tmp_path / "t.parquet", rows, types=(pa.int16(), type_)), candidates) == expected


@pytest.mark.parametrize(
    ("type_", "cells", "expected"),
    [
        (pa.uint64(), [2**64 - 1, 2**64 - 2, 2**64 - 1], 2),
        (pa.decimal128(5, 2), [decimal.Decimal("7.00"), decimal.Decimal("7.50"), decimal.Decimal("7.00")], 2),
        (pa.binary(), [b"\xff", b"\xfe", b"\xff", b""], 3),
        (pa.binary(16), [b"1" * 16, b"2" * 16, b"2" * 16], 2),
        (pa.date32(), [date(2026, 11, 21), date(2026, 11, 21)], 1),
        (pa.bool_(), [True, False, True], 2),
        (pa.null(), [None, None], 0),
        (pa.dictionary(pa.int8(), pa.string()), ["x", "y", "x", "nan"], 2),
    ],
)
def test_typed_units(tmp_path: Path, type_: Any, cells: list[Any], expected: int) -> None:
    rows = [(cell, 1) for cell in [*cells, None]]
    assert count(write_parquet(tmp_path / "t.parquet", rows, types=(type_, pa.int64())), [1]) == [expected]


def test_a_unit_is_one_unit_in_files_of_different_precision(tmp_path: Path) -> None:
    for places in (0, 2, 4):
        cell = decimal.Decimal(70).quantize(decimal.Decimal(10) ** -places)
        write_parquet(tmp_path / f"{places}.parquet", [(cell, 1)], types=(pa.decimal128(9, places), None))
    assert count(tmp_path / "*.parquet", [1]) == [1]
    for places, number in ((0, "0"), (2, "0"), (9, "0"), (8, "2e-8"), (30, "2e-8"), (0, "70"), (9, "70")):
        cells = pa.array([decimal.Decimal(number)]).cast(pa.decimal128(38, places))
        pq.write_table(pa.table({"unit": cells, "value": cells}), tmp_path / f"short{places}{number}.parquet")
    assert count(tmp_path / "short*.parquet", [0, 70]) == [1, 1]
    assert count(tmp_path / "short*.parquet", [0.0, 2e-8, 70.0]) == [1, 1, 1]
    for i, type_ in enumerate((pa.int8(), pa.int64(), pa.uint32())):
        write_parquet(tmp_path / f"whole{i}.parquet", [(7, 1)], types=(type_, None))
    assert count(tmp_path / "whole*.parquet", [1]) == [1]


def test_dates_beyond_every_calendar_disturb_nobody(tmp_path: Path) -> None:
    days = pa.array([-(2**31), 2**31 - 1, 0], pa.int32()).cast(pa.date32())
    pq.write_table(pa.table({"unit": days, "value": days}), tmp_path / "t.parquet")
    assert count(tmp_path / "t.parquet", [date(1970, 1, 1), date(9999, 12, 31)]) == [1, 0]
