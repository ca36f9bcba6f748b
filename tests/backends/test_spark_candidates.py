"""Candidates in a Spark frame: checked there before anything is charged, and never listed here if they are many."""

from __future__ import annotations

from datetime import date
from itertools import product
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dpselect as dps
from dpselect import verify as check
from dpselect.backends.lazy import spark_frame as spark_frames
from dpselect.errors import InvalidCandidatesError, InvalidDataError
from tests.backends.engines import spark, spark_connect, spark_frame
from tests.slow import SLOW
from tests.views import ask

NAMES = [f"page {number}" for number in range(30)]
ROWS = pa.table({"who": list(range(50)), "page": ["page 7"] * 40 + ["other"] * 10, "n": [3] * 50})


def catalogue(values: Any, type_: pa.DataType | None = None) -> Any:
    return spark().createDataFrame(pa.table({"a.`b": pa.array(values, type_)}))


@pytest.fixture(scope="module")
def clicks() -> dps.Dataset:
    return dps.Dataset(spark_frame(ROWS), unit="who")


def test_a_short_list_is_fetched(clicks: dps.Dataset) -> None:
    fetched = clicks.most_common("page", candidates=catalogue(NAMES), epsilon=4.0)
    assert fetched.value == "page 7"
    assert fetched.proofs == clicks.most_common("page", candidates=NAMES, epsilon=4.0).proofs


@pytest.mark.slow
def test_a_long_list_stays_in_spark(clicks: dps.Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger = dps.Ledger(tmp_path / "budget.db")
    ledger.open_account("clicks", epsilon=10, unit="who")
    paid = dps.Dataset(spark_frame(ROWS), unit="who", ledger=ledger, account="clicks")
    monkeypatch.setattr(spark_frames, "MOST_ON_THE_DRIVER", 5)
    listed = dps.Dataset(ROWS, unit="who").most_common("page", candidates=NAMES, epsilon=4.0)
    first = paid.most_common("page", candidates=catalogue(NAMES), epsilon=4.0, request="november")
    assert first.value == listed.value == "page 7"
    assert first.candidates == listed.candidates
    assert first.error_bound == listed.error_bound
    assert paid.most_common("page", candidates=catalogue(NAMES[::-1]), epsilon=4.0, request="november") == first
    several = clicks.top_k("page", 2, candidates=catalogue([*NAMES, "other"]), epsilon=40.0)
    assert several.value == ["page 7", "other"]
    listed_units = dps.Dataset(ROWS, unit="who").most_common(
        "page", candidates=NAMES, epsilon=4.0, usable_epsilon=1000.0
    )
    units = clicks.most_common("page", candidates=catalogue(NAMES), epsilon=4.0, usable_epsilon=1000.0)
    assert units.usable == listed_units.usable
    assert "proofs/partial_selection.md" in units.proofs
    assert check(units.to_json()).epsilon <= 1004.0
    with pytest.raises(InvalidCandidatesError, match="a local list"):
        clicks.by("n", groups=[3]).top_k("page", 2, candidates=catalogue(NAMES), epsilon=4.0)
    with pytest.raises(dps.SelectionError, match="november"):
        paid.most_common("page", candidates=catalogue(["x", *NAMES]), epsilon=4.0, request="november")
    no_counts: list[dict[str, Any]] = [{"with_counts": True}, {"max_values_per_unit": 1}]
    for refused in ({"by": "n", "groups": [3]}, {"column": "n"}, *no_counts):
        with pytest.raises((InvalidCandidatesError, InvalidDataError)):
            ask(paid, "most_common", **{"column": "page", "candidates": catalogue(NAMES), "epsilon": 4.0} | refused)
    assert ledger.remaining("clicks") == 6


@pytest.mark.parametrize(
    ("values", "type_", "why"),
    [
        (["a", None], None, "missing values"),
        ([1.5, float("inf")], None, "missing values"),
        (["a", "b", "a"], None, "duplicates"),
        ([0.0, -0.0], None, "duplicates"),
        ([[1]], pa.list_(pa.int64()), "nested values"),
        ([], pa.int64(), "at least one"),
    ],
)
def test_lists_that_are_refused(clicks: dps.Dataset, values: Any, type_: Any, why: str) -> None:
    with pytest.raises(InvalidCandidatesError, match=why):
        clicks.most_common("page", candidates=catalogue(values, type_), epsilon=4.0)


def test_long_lists_that_are_refused(clicks: dps.Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spark_frames, "MOST_ON_THE_DRIVER", 1)
    for values, why in ((["a", "b", "a"], "duplicates"), (["a", "b", ""], "empty text")):
        with pytest.raises(InvalidCandidatesError, match=why):
            clicks.most_common("page", candidates=catalogue(values), epsilon=4.0)


@pytest.mark.slow
def test_days_that_python_does_not_have_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ledger = dps.Ledger(tmp_path / "budget.db")
    ledger.open_account("days", epsilon=10, unit="who")
    rows = spark_frame(pa.table({"who": [1], "day": [date(2026, 11, 22)]}))
    days = dps.Dataset(rows, unit="who", ledger=ledger, account="days")
    first, last = spark().sql("SELECT explode(sequence(-719162, -719161)) AS d"), spark().range(2_932_895, 2_932_897)
    cases = list(product((1, 4), (-719_163, 2_932_897)))
    for most_on_the_driver, beyond in cases if SLOW else (cases[0], cases[-1]):
        monkeypatch.setattr(spark_frames, "MOST_ON_THE_DRIVER", most_on_the_driver)
        numbers = first.union(last).union(spark().range(beyond, beyond + 1))
        with pytest.raises(InvalidCandidatesError, match="outside the years 1 to 9999"):
            days.most_common("day", candidates=numbers.selectExpr("date_from_unix_date(int(d))"), epsilon=1.0)
    assert ledger.remaining("days") == 10
    all_days = first.union(last).selectExpr("date_from_unix_date(int(d))")
    monkeypatch.setattr(spark_frames, "MOST_ON_THE_DRIVER", 1)
    found = days.top_k("day", 4, candidates=all_days, epsilon=1.0).value
    assert sorted(found) == [date.min, date(1, 1, 2), date(9999, 12, 30), date.max]


def test_frames_that_are_no_public_list(clicks: dps.Dataset, tmp_path: Path) -> None:
    with pytest.raises(InvalidCandidatesError, match="one column"):
        clicks.most_common("page", candidates=spark_frame(ROWS), epsilon=4.0)
    pq.write_table(ROWS, tmp_path / "rows.parquet")
    rows = spark().read.parquet(str(tmp_path))
    with pytest.raises(InvalidCandidatesError, match="not from the files of the table"):
        dps.Dataset(rows, unit="who").most_common("page", candidates=rows.select("page").distinct(), epsilon=4.0)
    remote = spark_connect().createDataFrame(ROWS.select(["page"]))
    with pytest.raises(InvalidCandidatesError, match="the same Spark"):
        clicks.most_common("page", candidates=remote, epsilon=4.0)


def test_others_are_told_to_list_it(clicks: dps.Dataset) -> None:
    days = catalogue([date(2026, 11, 22), date(2026, 11, 21), date(2026, 11, 22)]).coalesce(1)
    here = dps.Dataset(ROWS, unit="who")
    for rarest_or_not in (here.most_common, clicks.least_common):
        with pytest.raises(InvalidCandidatesError, match="candidates_from"):
            rarest_or_not("page", candidates=days, epsilon=1.0)
    assert dps.candidates_from(days, column="a.`b") == [date(2026, 11, 22), date(2026, 11, 21)]
    with pytest.raises(InvalidCandidatesError, match="one of the columns"):
        dps.candidates_from(days, column="day")
