"""Public dates: lists and ranges, and what is refused."""

from __future__ import annotations

from datetime import UTC, date, datetime
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from dpselect.errors import InvalidCandidatesError, InvalidParameterError
from tests.drawn_answers import planned

FIRST, LAST = date(2026, 2, 27), date(2026, 3, 2)


@pytest.mark.parametrize(
    ("dates", "bounds", "step", "expected"),
    [
        ([FIRST, LAST], None, 1, ["2026-02-27", "2026-03-02"]),
        (["2026-03-02", FIRST], None, 1, ["2026-03-02", "2026-02-27"]),
        (iter(["2026-03-02"]), None, 1, ["2026-03-02"]),
        (None, (FIRST, LAST), 1, ["2026-02-27", "2026-02-28", "2026-03-01", "2026-03-02"]),
        (None, ["2026-02-27", LAST], 2, ["2026-02-27", "2026-03-01"]),
        (None, (FIRST, FIRST), 7, ["2026-02-27"]),
        (None, ("9999-12-30", "9999-12-31"), 1, ["9999-12-30", "9999-12-31"]),
        (None, (pd.Timestamp("2026-03-01"), datetime(2026, 3, 2)), 1, ["2026-03-01", "2026-03-02"]),
        (None, [np.datetime64("2026-03-01"), np.datetime64("2026-03-02T00:00")], 1, ["2026-03-01", "2026-03-02"]),
        (pd.date_range("2026-03-01", periods=2), None, 1, ["2026-03-01", "2026-03-02"]),
        (pd.Series(pd.date_range("2026-03-01", periods=2)), None, 1, ["2026-03-01", "2026-03-02"]),
        (pd.date_range("2026-03-01", periods=2).to_numpy(), None, 1, ["2026-03-01", "2026-03-02"]),
        (list(pd.date_range("2026-03-01", periods=2)), None, 1, ["2026-03-01", "2026-03-02"]),
        (pl.Series([FIRST, LAST]), None, 1, ["2026-02-27", "2026-03-02"]),
        (pl.Series(["2026-02-27"]), None, 1, ["2026-02-27"]),
        (pl.Series([datetime(2026, 3, 1)]), None, 1, ["2026-03-01"]),
        (pa.array([datetime(2026, 3, 1)]), None, 1, ["2026-03-01"]),
        (pa.array([FIRST]), None, 1, ["2026-02-27"]),
        (pd.DataFrame({"day": ["2026-02-27"]}), None, 1, ["2026-02-27"]),
    ],
)
def test_dates(dates: Any, bounds: Any, step: int, expected: list[str]) -> None:
    public = planned("best_date", dates=dates, bounds=bounds, step=step, epsilon=1.0).choices
    assert public.kind == "dates"
    assert [str(public[place]) for place in range(len(public))] == expected


@pytest.mark.parametrize(
    ("dates", "bounds", "step", "reason"),
    [
        (None, None, 1, "dates=None"),
        ([FIRST], (FIRST, LAST), 1, "given together with bounds"),
        (["2026-2-27"], None, 1, "dates="),
        (["20260227"], None, 1, "dates="),
        (["2026-02-30"], None, 1, "dates="),
        (["2026-02-27", "x"], None, 1, "dates=<2 values, not all of them dates>"),
        ([datetime(2026, 2, 27, 1)], None, 1, "timestamps at midnight"),
        ([datetime(2026, 2, 27, tzinfo=UTC)], None, 1, "without a time zone"),
        ([pd.Timestamp("2026-02-27") + pd.Timedelta(1, "ns")], None, 1, "timestamps at midnight"),
        ([FIRST, pd.NaT], None, 1, "dates="),
        (np.array(["2026-02-27T01", "NaT"], dtype="datetime64[ns]"), None, 1, "timestamps at midnight"),
        ([FIRST, datetime(2026, 2, 27)], None, 1, "without duplicates"),
        (None, (FIRST, pd.NaT), 1, "bounds="),
        (None, (FIRST, datetime(2026, 2, 28, 1)), 1, "bounds="),
        ([FIRST, FIRST], None, 1, "without duplicates"),
        ([FIRST, "2026-02-27"], None, 1, "without duplicates"),
        ([], None, 1, "dates="),
        ("2026-02-27", None, 1, "dates="),
        ([1, 2], None, 1, "dates"),
        ([FIRST], None, 2, "A step is for bounds"),
        (None, (LAST, FIRST), 1, "The first must not be after the last"),
        (None, (FIRST,), 1, "bounds="),
        (None, "2026-02-27", 1, "bounds="),
        (None, (FIRST, None), 1, "bounds="),
        (None, (FIRST, LAST), 0, "step=0"),
        (None, (FIRST, LAST), 1.5, "step=1.5"),
    ],
)
def test_refused(dates: Any, bounds: Any, step: Any, reason: str) -> None:
    with pytest.raises((InvalidCandidatesError, InvalidParameterError)) as caught:
        planned("best_date", dates=dates, bounds=bounds, step=step, epsilon=1.0)
    assert reason in str(caught.value)
