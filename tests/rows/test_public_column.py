"""Candidates from a public table: in their order, of one kind, and with the line of what is wrong."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
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
    path = csv(tmp_path, '\ufeffday,"a,b"\n2026-11-21,"x,""y"\n')
    assert dps.candidates_from(path, column="day", kind="dates") == [date(2026, 11, 21)]
    assert dps.candidates_from(path, column="a,b") == ['x,"y']


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pl.LazyFrame, pa.table])
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
    with pytest.raises(dps.errors.InvalidCandidatesError, match="a Parquet file that can be read"):
        dps.candidates_from(path, column="day")


@pytest.mark.parametrize(
    ("text", "arguments", "reason"),
    [
        (CODES, {"column": "cod"}, "one of the columns, of which there are 2. Did you mean 'code'"),
        ("a,a\n1,2\n", {"column": "a"}, "columns with different names"),
        ("", {"column": "a"}, "The file is empty"),
        ("a,b\n1,2\n3\n,\n", {"column": "b"}, "<line 3>: expected a value in column 'b'"),
        ("a\n1\nx\n", {"column": "a", "kind": "whole numbers"}, "<line 3>: expected whole numbers"),
        ("a\n2026-13-01\n", {"column": "a", "kind": "dates"}, "<line 2>: expected dates"),
        ("a\ntrue\nno\n", {"column": "a", "kind": "booleans"}, "<line 3>: expected booleans"),
        ('a\nx\n"x\n', {"column": "a"}, "<line 3>: expected a value in column 'a'"),
        (CODES, {"column": "code", "kind": "codes"}, "kind='codes': expected one of 'integer', 'number', 'text'"),
    ],
)
def test_refused(tmp_path: Path, text: str, arguments: dict[str, Any], reason: str) -> None:
    with pytest.raises(dps.errors.InvalidCandidatesError) as caught:
        dps.candidates_from(csv(tmp_path, text), **arguments)
    assert reason in str(caught.value)


@pytest.mark.parametrize("source", ["nowhere.csv", "nowhere.parquet", "codes.doc", 7, None])
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


def test_every_kind_of_file_is_read_as_a_table_is(tmp_path: Path) -> None:
    (tmp_path / "t.tsv").write_text("code\tname\n7\tseven\n")
    (tmp_path / "t.jsonl").write_text('{"code": 7}\n{"code": 10}\n')
    assert dps.candidates_from(tmp_path / "t.tsv", column="code") == [7]
    assert dps.candidates_from(tmp_path / "t.jsonl", column="code") == [7, 10]
    times = pa.table({"at": pa.array([0], pa.timestamp("s"))})
    with pytest.raises(dps.errors.InvalidCandidatesError, match="This one holds times"):
        dps.candidates_from(times, column="at")


def test_a_file_of_one_column_is_a_table_of_one_column(tmp_path: Path) -> None:
    """Blank lines are no rows of it, as in others."""
    path = csv(tmp_path, "code\n7\n\n10\r\n\r\n7")
    assert dps.candidates_from(path, column="code") == [7, 10]
    assert dps.Dataset(path, unit=dps.ROWS).count("code", candidates=[7], epsilon=1000.0).value == 2
    assert dps.Dataset(path, unit=dps.ROWS).count(epsilon=1000.0).value == 3


@pytest.mark.parametrize("column", [np.arange(2), ["code"], b"code", None, 5], ids=lambda column: type(column).__name__)
def test_a_column_is_named_by_a_text(tmp_path: Path, column: Any) -> None:
    with pytest.raises(dps.errors.InvalidCandidatesError, match=r"^column=.*: expected the name of one of the columns"):
        dps.candidates_from(csv(tmp_path, CODES), column=column)
