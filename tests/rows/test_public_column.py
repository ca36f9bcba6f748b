"""Candidates from a public table: in their order, of one kind, and with the line of what is wrong."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dpselect as dps

CODES = "code,name\n7,seven\n3,three\n\n7,again\n10,ten\n"


def csv(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "codes.csv"
    path.write_text(text, encoding="utf-8")
    return path


def test_values_come_once_and_in_order(tmp_path: Path) -> None:
    path = csv(tmp_path, CODES)
    assert dps.candidates_from(path, column="code") == [7, 3, 10]
    assert dps.candidates_from(str(path), column="code", kind="text") == ["7", "3", "10"]
    assert dps.candidates_from(path, column="code", kind="numbers") == [7.0, 3.0, 10.0]
    assert dps.candidates_from(path, column="code", kind="number") == [7.0, 3.0, 10.0]
    assert dps.candidates_from(path, column="code", kind="integer") == [7, 3, 10]
    assert dps.candidates_from(path, column="name") == ["seven", "three", "again", "ten"]


def test_a_byte_order_mark_and_quotes(tmp_path: Path) -> None:
    path = csv(tmp_path, '\ufeffday,"a,b"\n2026-11-21,"x\ny"\n')
    assert dps.candidates_from(path, column="day", kind="dates") == [date(2026, 11, 21)]
    assert dps.candidates_from(path, column="a,b") == ["x\ny"]


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
def test_frames(make: Any) -> None:
    frame = make({"code": ["b", "a", "b"], "other": [1, 2, 3]})
    assert dps.candidates_from(frame, column="code") == ["b", "a"]
    assert dps.candidates_from(frame, column="other") == [1, 2, 3]


def test_parquet(tmp_path: Path) -> None:
    path = tmp_path / "codes.parquet"
    pq.write_table(pa.table({"day": [date(2026, 1, 2), date(2026, 1, 1)], "hole": ["a", None]}), path)
    assert dps.candidates_from(path, column="day") == [date(2026, 1, 2), date(2026, 1, 1)]
    with pytest.raises(dps.errors.InvalidCandidatesError, match="<row 2>: expected a value in column 'hole'"):
        dps.candidates_from(path, column="hole")
    with pytest.raises(dps.errors.InvalidCandidatesError, match=r"^kind='text'"):
        dps.candidates_from(path, column="day", kind="text")
    path.write_bytes(b"PAR1")
    with pytest.raises(dps.errors.InvalidCandidatesError, match="a readable file"):
        dps.candidates_from(path, column="day")


@pytest.mark.parametrize(
    ("text", "arguments", "reason"),
    [
        (CODES, {"column": "cod"}, "one of the columns, of which there are 2. Did you mean 'code'"),
        ("a,a\n1,2\n", {"column": "a"}, "one of the columns"),
        ("", {"column": "a"}, "one of the columns"),
        ("a,b\n1,2\n3\n,\n", {"column": "b"}, "<line 3>: expected a value in column 'b'"),
        ("a\n1\nx\n", {"column": "a", "kind": "whole numbers"}, "<line 3>: expected whole numbers"),
        ("a\n2026-13-01\n", {"column": "a", "kind": "dates"}, "<line 2>: expected dates"),
        ("a\ntrue\nno\n", {"column": "a", "kind": "booleans"}, "<line 3>: expected booleans"),
        ('a\n"x\n', {"column": "a"}, "a readable file"),
        (CODES, {"column": "code", "kind": "codes"}, "kind='codes': expected one of 'integer', 'number', 'text'"),
    ],
)
def test_refused(tmp_path: Path, text: str, arguments: dict[str, Any], reason: str) -> None:
    with pytest.raises(dps.errors.InvalidCandidatesError) as caught:
        dps.candidates_from(csv(tmp_path, text), **arguments)
    assert reason in str(caught.value)


@pytest.mark.parametrize("source", ["nowhere.csv", "nowhere.parquet", "codes.txt", 7, None, pl.LazyFrame({"a": [1]})])
def test_no_such_source(source: Any) -> None:
    with pytest.raises(dps.errors.InvalidCandidatesError, match=r"^source="):
        dps.candidates_from(source, column="a")


def test_what_was_read_can_be_asked(tmp_path: Path) -> None:
    days = dps.candidates_from(csv(tmp_path, "day\n2026-12-18\n2026-12-04\n"), column="day")
    friends = dps.Dataset("examples/data/free_days.csv", unit="person")
    assert friends.most_common("free_on", candidates=days, epsilon=2.0).value == "2026-12-18"


def test_decimals_of_a_public_file_are_candidates(tmp_path: Path) -> None:
    prices = pa.array([Decimal("1.50"), Decimal("2.25")], pa.decimal128(10, 2))
    pq.write_table(pa.table({"price": prices}), tmp_path / "prices.parquet")
    listed = dps.candidates_from(tmp_path / "prices.parquet", column="price")
    rows = pa.table({"who": [1, 2, 3], "price": prices.take([0, 1, 1])})
    assert dps.Dataset(rows, unit="who").most_common("price", candidates=listed, epsilon=1000.0).value == 2.25
