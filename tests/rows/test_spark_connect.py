"""Spark Connect: the same answers from frames whose Spark is reached over a connection, beside a classic session."""

from __future__ import annotations

from fractions import Fraction

import pyarrow as pa
import pytest

from dpselect.errors import InvalidDataError
from dpselect.rows.columns import Amount, Grouping
from dpselect.rows.opening import open_table
from dpselect.rows.spark import SparkFrame
from dpselect.rows.table import Table
from dpselect.summaries import PublicCandidates, PublicDomain
from tests.rows import model
from tests.rows.awkward import AWKWARD, QUESTIONS
from tests.rows.engines import spark_connect
from tests.rows.tables import scanned


@pytest.fixture(scope="module")
def awkward() -> Table:
    return open_table(spark_connect().createDataFrame(AWKWARD))


@pytest.mark.parametrize("question", [3, 25])  # a range, a long list of texts
def test_counts(awkward: Table, question: int) -> None:
    column, candidates = QUESTIONS[question]
    (found,) = scanned(
        awkward,
        "count",
        unit=awkward.unit("text"),
        column=awkward.column(column),
        candidates=PublicCandidates.given(candidates),
    )
    assert [found.counts.tolist()] == model.counts(AWKWARD.to_pylist(), "text", column, candidates)


def test_totals_in_groups(awkward: Table) -> None:
    groups = ["south", "north", "west"]
    found = scanned(
        awkward,
        "total",
        unit=awkward.unit("bytes"),
        column=awkward.column("short"),
        candidates=PublicCandidates.given([6, 7, 8]),
        amount=Amount(awkward.column("number"), Fraction(10), -50, 71),
        grouping=Grouping(awkward.column("group"), PublicCandidates.given(groups), 2),
    )
    assert [len(each.totals) for each in found] == [3, 3, 3]


def test_numbers(awkward: Table) -> None:
    domain = PublicDomain.given((0.0, 7.2))
    (found,) = scanned(
        awkward,
        "gather",
        unit=awkward.unit("day"),
        column=awkward.column("number"),
        domain=domain,
        max_rows_per_unit=12,
    )
    expected = model.numbers(AWKWARD.to_pylist(), "day", "number", bounds=(0.0, 7.2))
    assert sorted(found.values.tolist()) == sorted(number for each in expected.values() for number in each)


def test_a_view_that_is_replaced_by_one_of_other_types_is_refused_whatever_its_rows_are() -> None:
    remote = spark_connect()
    unit, value = pa.array([1, 2, 3]), pa.array([7, 7, 8])

    def put(**columns: pa.Array) -> None:
        remote.createDataFrame(pa.table(columns)).createOrReplaceTempView("given")

    put(unit=unit, value=value)
    frame = remote.table("given").select("*")
    table = open_table(frame)
    columns = (table.unit("unit"), table.column("value"))

    def counted() -> list[int]:
        (found,) = scanned(
            table, "count", unit=columns[0], column=columns[1], candidates=PublicCandidates.given([7, 8])
        )
        return found.counts.tolist()

    assert counted() == [2, 1]
    put(unit=unit, value=pa.array([8, 8, 8]))
    assert counted() == [0, 3]  # a name means the rows that are there now
    begun = SparkFrame.of(frame)._as_opened(columns)  # pyright: ignore[reportPrivateUsage]
    for text in ("8", "secret"):
        put(unit=unit, value=pa.array(["7", "7", text]))
        with pytest.raises(InvalidDataError, match="of the same types"):
            counted()
        assert begun.selectExpr("CAST(value AS INT)").toArrow().column(0).null_count == 3
    put(unit=unit)
    with pytest.raises(InvalidDataError, match="of the same types"):
        counted()


def test_what_spark_says_of_a_row_is_not_passed_on(capfd: pytest.CaptureFixture[str]) -> None:
    names = spark_connect().createDataFrame(pa.table({"unit": [1, 2], "value": ["7", "secret name"]}))
    table = open_table(names.selectExpr("unit", "CAST(value AS INT) AS value"))
    with pytest.raises(InvalidDataError, match="a table that can be read to its end") as caught:
        scanned(
            table,
            "count",
            unit=table.unit("unit"),
            column=table.column("value"),
            candidates=PublicCandidates.given([7]),
        )
    assert "secret" not in str(caught.value) + "".join(capfd.readouterr())
