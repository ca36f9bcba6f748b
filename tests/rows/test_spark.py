"""Spark: tasks that run twice, what it prints, and frames that it alone can make."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import ibis
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.errors import PySparkException

import dpselect as dps
from dpselect.errors import InvalidDataError
from dpselect.rows.spark import Spark, _unlogged  # pyright: ignore[reportPrivateUsage]
from tests.rows.engines import spark, spark_frame
from tests.rows.tables import count, gather, opened
from tests.rows.test_damage import overwrite
from tests.rows.test_disjoint_units import halves, rows_of, sums_add_up

UNITS = 400
ROWS = pa.table({"unit": np.arange(UNITS).repeat(4), "value": np.arange(4 * UNITS) * 1.0})


def failing_once(folder: Path, frame: Any) -> Any:
    """`frame`, read by tasks of which each fails at its first attempt, after it has handed on some rows."""

    def rows(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        from pyspark import TaskContext

        context = TaskContext.get()
        for batch in batches:
            yield batch
            if context.attemptNumber() == 0:
                (folder / f"{context.partitionId()}").touch()
                raise RuntimeError("a task dies")

    return frame.mapInArrow(rows, frame.schema)


def test_a_task_that_runs_twice_gives_each_unit_its_rows_once(tmp_path: Path) -> None:
    frame = failing_once(tmp_path, spark_frame(ROWS))
    found = gather(frame, bounds=(0, 4 * UNITS), most=2)
    assert os.listdir(tmp_path)  # tasks did die
    whose = np.array(found).astype(int) // 4
    assert np.bincount(whose, minlength=UNITS).tolist() == [2] * UNITS
    assert len(set(found)) == 2 * UNITS


def test_repeated_rows_of_a_unit_count_once() -> None:
    rows = pa.table({"unit": [1, 1, 2, 1, None, 3], "value": ["a", "a", "a", "b", "a", "c"]})
    assert count(spark_frame(rows), ["a", "b"]) == [2, 1]


def test_a_public_list_is_fetched() -> None:
    codes = spark_frame(pa.table({"a.b": ["x", "y", "x"], "n": [3, 1, 2]}))
    assert sorted(dps.candidates_from(codes, column="a.b")) == ["x", "y"]
    assert sorted(dps.candidates_from(codes, column="n")) == [1, 2, 3]
    with pytest.raises(
        dps.SelectionError, match="column='m': expected the name of one of the columns, of which there are 2"
    ):
        dps.candidates_from(codes, column="m")
    unread = spark().sql("SELECT raise_error('SENTINEL') AS code")
    with pytest.raises(dps.SelectionError, match="a frame that can be read to its end") as refused:
        dps.candidates_from(unread, column="code")
    assert "SENTINEL" not in str(refused.value)


@pytest.mark.slow
def test_disjoint_units_add_up() -> None:
    assert sums_add_up([opened(spark_frame(rows).coalesce(1)) for rows in halves(rows_of(1), 1)])


def test_what_spark_says_of_a_row_is_not_passed_on(capfd: pytest.CaptureFixture[str]) -> None:
    names = pa.table({"unit": [1, 2], "value": ["7", "secret name"]})
    table = opened(spark_frame(names).selectExpr("unit", "CAST(value AS INT) AS value"))
    with pytest.raises(InvalidDataError, match="a table that can be read to its end") as caught:
        count(table, [7])
    printed = "".join(capfd.readouterr())
    assert "secret" not in str(caught.value) + printed
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None


def test_a_question_that_ends_leaves_the_others_unlogged(caplog: pytest.LogCaptureFixture) -> None:
    logger = logging.getLogger("SQLQueryContextLogger")
    first, second = _unlogged(), _unlogged()
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    logger.error("secret")
    second.__exit__(None, None, None)
    assert caplog.messages == []
    logger.error("mine")
    assert caplog.messages == ["mine"]


def test_the_session_can_still_say_what_fails_of_its_own() -> None:
    """In a process where PySpark has not logged anything yet: a logger that was made plain would stay so."""
    for name in ("SQLQueryContextLogger", "DataFrameQueryContextLogger"):
        logging.root.manager.loggerDict.pop(name, None)
    assert count(spark_frame(ROWS), [0.0]) == [1]
    with pytest.raises(PySparkException, match="CAST_INVALID_INPUT"):
        spark().sql("SELECT CAST('mine' AS INT)").collect()
    assert logging.Logger.manager.loggerDict["SQLQueryContextLogger"].filters == []


@pytest.mark.slow
def test_units_are_told_apart_letter_by_letter() -> None:
    rows = pa.table({"unit": ["ann", "Ann", "ANN", "ann"], "value": ["x", "x", "X", "x"]})
    collated = spark_frame(rows).selectExpr("unit COLLATE UTF8_LCASE AS unit", "value COLLATE UTF8_LCASE AS value")
    assert collated.distinct().count() == 1
    assert count(collated, ["x", "X"]) == [2, 1]


def test_lots_of_different_rows_differ() -> None:
    pairs = [("a", "b\x1fc"), ("a\x1fb", "c"), ("1:a", "b"), ("1:a1", ":b"), ("", None), (None, ""), ("-", "")]
    frame = spark().createDataFrame(pairs, "who string, part string")
    drawn = frame.selectExpr(f"{Spark().lot(['who', 'part'])} AS lot")
    assert len({row.lot for row in drawn.collect()}) == len(pairs)


def test_frames_that_are_refused() -> None:
    frame = spark_frame(ROWS)
    for columns in ([], ["unit", "unit"], ["unit", "UNIT"]):
        twice = frame.select(*(frame["unit"].alias(each) for each in columns))
        with pytest.raises(InvalidDataError, match="columns"):
            opened(twice)


def test_a_view_that_is_replaced_changes_no_frame() -> None:
    spark_frame(ROWS).createOrReplaceTempView("given")
    frame = spark().table("given")
    spark_frame(pa.table({"unit": [1], "value": ["text"]})).createOrReplaceTempView("given")
    assert count(frame, [0.0, 4.0]) == [1, 1]


def test_ibis_on_spark() -> None:
    spark_frame(ROWS).createOrReplaceTempView("given")
    table = ibis.pyspark.connect(spark()).table("given").filter(ibis._.unit < 2)
    assert count(table, [0.0, 4.0, 9.0]) == [1, 1, 0]


def test_a_damaged_file_is_refused_in_our_own_words(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "t.parquet"
    names = pa.table({"unit": range(9000), "value": [("a", "z", f"secret {each}")[each % 3] for each in range(9000)]})
    pq.write_table(names, path, row_group_size=3000, compression="zstd")
    overwrite(path)
    ledger = dps.Ledger(tmp_path / "budget.db")
    ledger.open_account("people", epsilon=9, unit="unit")
    spark()
    people = dps.Dataset(spark().read.parquet(str(path)), unit="unit", ledger=ledger, account="people")
    with pytest.raises(InvalidDataError, match="a table that can be read to its end") as caught:
        people.most_common("value", candidates=["m"], epsilon=1.0)
    assert "secret" not in str(caught.value) + "".join(capfd.readouterr())
    assert (caught.value.__cause__, caught.value.__context__) == (None, None)
    assert ledger.account("people").entries == 1
