"""Spark Connect: the same answers from frames whose Spark is reached over a connection, beside a classic session."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

from dpselect.errors import InvalidDataError
from dpselect.rows.spark import SparkFrame
from tests.rows import model
from tests.rows.awkward import AWKWARD, QUESTIONS
from tests.rows.engines import spark_connect
from tests.rows.tables import Opened, count, opened


@pytest.fixture(scope="module")
def awkward() -> Opened:
    return opened(spark_connect().createDataFrame(AWKWARD))


@pytest.mark.parametrize("question", [3, 25])  # a range, a long list of texts
def test_counts(awkward: Opened, question: int) -> None:
    column, candidates = QUESTIONS[question]
    expected = model.counts(AWKWARD.to_pylist(), "text", column, candidates)
    assert awkward.counts(column, candidates, unit="text") == expected


def test_totals_in_groups(awkward: Opened) -> None:
    asked: dict[str, Any] = {"unit": "bytes", "column": "short", "candidates": [6, 7, 8]}
    found = awkward.totals("number", (-50, 71), scale=10, **asked, groups=("group", ["south", "north", "west"], 2))
    assert [*map(len, found)] == [3, 3, 3]


def test_numbers(awkward: Opened) -> None:
    expected = model.numbers(AWKWARD.to_pylist(), "day", "number", bounds=(0.0, 7.2))
    kept = sorted(number for each in expected.values() for number in each)
    assert awkward.numbers("number", (0.0, 7.2), unit="day", most=12) == [kept]


def test_a_view_that_is_replaced_by_one_of_other_types_is_refused_whatever_its_rows_are() -> None:
    remote = spark_connect()
    unit, value = pa.array([1, 2, 3]), pa.array([7, 7, 8])

    def put(**columns: pa.Array) -> None:
        remote.createDataFrame(pa.table(columns)).createOrReplaceTempView("given")

    put(unit=unit, value=value)
    frame = remote.table("given").select("*")
    table = opened(frame)
    columns = {table.column(name): name for name in ("unit", "value")}
    assert count(table, [7, 8]) == [2, 1]
    put(unit=unit, value=pa.array([8, 8, 8]))
    assert count(table, [7, 8]) == [0, 3]  # a name means the rows that are there now
    begun = SparkFrame(frame)._as_opened(columns)  # pyright: ignore[reportPrivateUsage]
    for text in ("8", "secret"):
        put(unit=unit, value=pa.array(["7", "7", text]))
        with pytest.raises(InvalidDataError, match="of the same types"):
            count(table, [7, 8])
        assert begun.selectExpr("CAST(value AS INT)").toArrow().column(0).null_count == 3
    put(unit=unit)
    with pytest.raises(InvalidDataError, match="of the same types"):
        count(table, [7, 8])


def test_what_spark_says_of_a_row_is_not_passed_on(capfd: pytest.CaptureFixture[str]) -> None:
    names = spark_connect().createDataFrame(pa.table({"unit": [1, 2], "value": ["7", "secret name"]}))
    table = opened(names.selectExpr("unit", "CAST(value AS INT) AS value"))
    with pytest.raises(InvalidDataError, match="a table that can be read to its end") as caught:
        count(table, [7])
    assert "secret" not in str(caught.value) + "".join(capfd.readouterr())
