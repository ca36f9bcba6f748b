"""Columns of timestamps where a date is asked for: the date in their own zone, if that was declared."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, datetime
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import feather, orc
from pyarrow import parquet as pq

import dpselect as dps
from dpselect import Format
from dpselect.errors import InvalidDataError
from tests.formats.reading import counts

DAYS = [date(2024, 1, 4), date(2024, 1, 5), date(2024, 1, 6)]
STAMPS = [datetime(2024, 1, 5, 23, 30), datetime(2024, 1, 5), datetime(2024, 1, 6, 4), None]
"""On the 5th, the 5th and the 6th; in New York, five hours before UTC, on the 5th, the 4th and the 5th."""
AS_DATE = Format(as_date=True)
ZONES = [(None, [0, 2, 1]), ("UTC", [0, 2, 1]), ("America/New_York", [1, 2, 0]), ("-05:00", [1, 2, 0])]


def table(unit: str, zone: str | None) -> pa.Table:
    stamps = pa.array(STAMPS, pa.timestamp(unit)).cast(pa.int64()).cast(pa.timestamp(unit, zone))
    return pa.table({"unit": [1, 2, 3, 4], "value": stamps})


def parquet(made: pa.Table, folder: Path) -> Path:
    pq.write_table(made, folder / "t.parquet")
    return folder / "t.parquet"


def arrow(made: pa.Table, folder: Path) -> Path:
    feather.write_feather(made, str(folder / "t.arrow"))
    return folder / "t.arrow"


def categories(made: pa.Table, folder: Path) -> pd.DataFrame:
    return made.to_pandas().astype({"value": "category"})


WAYS: list[Callable[[pa.Table, Path], Any]] = [
    lambda made, folder: made,
    lambda made, folder: made.to_pandas(),
    lambda made, folder: made.to_pandas(types_mapper=pd.ArrowDtype),
    categories,
    parquet,
    arrow,
]


@pytest.mark.sampled(4)
@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
@pytest.mark.parametrize(("zone", "expected"), ZONES)
@pytest.mark.parametrize("way", WAYS, ids=["arrow", "pandas", "pandas of arrow", "categories", "parquet", "feather"])
def test_the_date_is_that_in_the_column_s_zone(
    way: Callable[[pa.Table, Path], Any], zone: str | None, expected: list[int], unit: str, tmp_path: Path
) -> None:
    source = way(table(unit, zone), tmp_path)
    assert counts(source, DAYS, AS_DATE) == expected
    with pytest.raises(InvalidDataError, match=r"holds times\. If they are timestamps, .*: as_date=True"):
        counts(source, DAYS, None)


def test_orc_and_polars(tmp_path: Path) -> None:
    made = table("us", None)
    orc.write_table(made, str(tmp_path / "t.orc"))  # type: ignore[no-untyped-call]
    frame: Any = pl.from_arrow(made)
    there = frame.with_columns(pl.col("value").dt.replace_time_zone("UTC").dt.convert_time_zone("America/New_York"))
    assert counts(tmp_path / "t.orc", DAYS, AS_DATE) == counts(frame, DAYS, AS_DATE) == [0, 2, 1]
    assert counts(there, DAYS, AS_DATE) == [1, 2, 0]


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
@pytest.mark.parametrize("zone", [None, "Asia/Tokyo", "America/New_York"])
def test_no_timestamp_is_too_far(unit: str, zone: str | None) -> None:
    """It has no date, or one that is not asked for."""
    far = [2**63 - 1, -(2**63), 2**62, -(2**62), 0]
    made = pa.table({"unit": range(5), "value": pa.array(far, pa.int64()).cast(pa.timestamp(unit, zone))})
    epoch = date(1969, 12, 31) if zone == "America/New_York" else date(1970, 1, 1)
    assert counts(made, [epoch, date(1677, 9, 21), date(2262, 4, 11)], AS_DATE)[0] == 1


def test_groups_conditions_and_the_certificate() -> None:
    made = table("us", None)
    data = dps.Dataset(made, unit="unit", format=AS_DATE)
    release = data.by("value", groups=DAYS).count(epsilon=1000.0)
    assert list(release.value.values()) == [0, 2, 1]
    assert data.where(value=[date(2024, 1, 5)]).count(epsilon=1000.0).value == 2
    assert release.to_dict()["format"] == {"as_date": True}
    assert dps.verify(release.to_json()).release == release


def test_times_of_day_and_units_are_refused() -> None:
    made = pa.table({"unit": [1], "value": pa.array([1], pa.time64("us")), "stamp": pa.array([1], pa.timestamp("us"))})
    with pytest.raises(InvalidDataError, match="holds times"):
        counts(made, DAYS, AS_DATE)
    with pytest.raises(InvalidDataError, match="a column of identifiers"):
        counts(made, DAYS, AS_DATE, unit="stamp")


def test_lazy_frames() -> None:
    made = pa.table({"unit": [1, 2], "value": pa.array([datetime(2024, 1, 5, 10), datetime(2024, 1, 6)])})
    for lazy in (pl.from_arrow(made).lazy(), duckdb.sql("SELECT * FROM made")):  # type: ignore[union-attr]
        assert counts(lazy, [date(2024, 1, 5), date(2024, 1, 7)], AS_DATE) == [1, 0]
