"""Medians and quantiles of dates, with values counted by hand, in every engine."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import psycopg
import pyarrow as pa
import pytest
import sqlalchemy as sa

import dpselect as dps
from dpselect.errors import InvalidCertificateError, InvalidDataError, InvalidParameterError
from tests.rows import engines
from tests.rows.engines import Source

pytestmark = engines.deprecations

FIRST, LAST = date(1960, 1, 1), date(2020, 12, 31)
BORN = [date(1, 1, 1), date(9999, 12, 31), *(date(1969, 12, 28) + timedelta(days=each) for each in range(9)), None]
"""Eleven people with a date: in order the sixth is 1 January 1970. Two of the dates are beyond the bounds."""
PEOPLE = pa.table({"who": range(12), "sex": ["f", "m"] * 6, "born": pa.array(BORN, pa.date32())})
SURE: dict[str, Any] = {"bounds": (FIRST, LAST), "epsilon": 1000}
ALL: dict[str, Any] = {**SURE, "epsilon": 100_000, "method": "halving"}


def test_each_engine_finds_the_dates(place: Callable[[pa.Table], Source]) -> None:
    """Of the 11 dates the 6th is the median; 15% of them are not below the second, which is 1969-12-28."""
    people = place(PEOPLE).asked("who")
    assert people.median("born", **SURE).value == date(1970, 1, 1)
    release = people.quantiles("born", [0.15, 0.5, 1], **ALL, max_rows_per_unit=2, usable_epsilon=1000)
    assert release.value == [date(1969, 12, 28), date(1970, 1, 1), LAST]
    assert release.usable.count == 11
    assert dps.verify(release.to_json()).release.value == release.value
    # Women have 0001, 1969-12-28, -30, 1970-01-01, -03, -05; men 9999, 1969-12-29, -31, 1970-01-02, -04.
    by_sex = people.by("sex", groups=["f", "m"]).quantile("born", 0.5, bounds=("1970-01-01", "1970-01-31"), epsilon=1e3)
    assert by_sex.value["f"] == date(1970, 1, 1)
    assert by_sex.value["m"] == date(1970, 1, 2)


def people_of(*cells: str) -> str:
    return "who,born\n" + "".join(f"{place},{cell}\n" for place, cell in enumerate(cells))


def test_dates_as_they_are_declared(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(people_of("24.12.2001", "25.12.2001", "26.12.2001", "2001-01-01", "31.02.1900"))
    declared = dps.Dataset(tmp_path / "t.csv", unit="who", format=dps.Format(date_format="%d.%m.%Y"))
    assert declared.median("born", **SURE).value == date(2001, 12, 25)
    frame = pd.DataFrame(
        {"who": range(3), "born": pd.to_datetime(["2001-12-24 23:00", "2001-12-25 01:00", "2001-12-26 00:00"])}
    )
    stamps = dps.Dataset(frame, unit="who", format=dps.Format(as_date=True))
    assert stamps.median("born", **SURE).value == date(2001, 12, 25)
    with pytest.raises(InvalidDataError, match=r"a column of dates.*as_date"):
        dps.Dataset(frame, unit="who").median("born", **SURE)


def test_no_date_of_a_server_ends_a_question(postgres: sa.Engine) -> None:
    """Infinite dates and those before our era are beyond the bounds: the first, and the last."""
    url = postgres.url.set(drivername="postgresql").render_as_string(hide_password=False)
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("CREATE TABLE far_dates (who int, born date)")
        connection.execute(
            "INSERT INTO far_dates VALUES (1, 'infinity'), (2, '-infinity'), (3, '4000-01-01 BC'),"
            " (4, '2001-12-24'), (5, NULL)"
        )
    server = dps.Dataset(url, unit="who", table="far_dates")
    assert server.quantiles("born", [0.25, 0.6, 1], **ALL).value == [FIRST, date(2001, 12, 24), LAST]


def test_no_date_in_arrow_ends_a_question() -> None:
    days = pa.array([2**31 - 1, -(2**31), 2**31 - 2, 11_680, None], pa.int32()).cast(pa.date32())
    frame = dps.Dataset(pa.table({"who": range(5), "born": days}), unit="who")
    assert frame.quantiles("born", [0, 0.4, 1], **ALL).value == [FIRST, date(2001, 12, 24), LAST]
    relation = duckdb.sql(
        "SELECT * FROM (VALUES (1, 'infinity'::DATE), (2, '-infinity'::DATE), (3, DATE '2001-12-24'))"
    )
    found = dps.Dataset(relation.select("col0 AS who, col1 AS born"), unit="who").quantiles("born", [0, 0.5, 1], **ALL)
    assert found.value == [FIRST, date(2001, 12, 24), LAST]


def test_bounds_are_the_same_however_they_are_given() -> None:
    dry = dps.DryRun(unit="who")
    asked = [
        dry.median("born", bounds=bounds, step=7, epsilon=1).question
        for bounds in (
            (date(2024, 1, 1), date(2024, 12, 30)),
            ("2024-01-01", "2024-12-30"),
            [np.datetime64("2024-01-01"), pd.Timestamp("2024-12-30")],
            (datetime(2024, 1, 1), "2024-12-30"),
        )
    ]
    assert asked == [asked[0]] * 4
    assert asked[0]["bounds"] == ["2024-01-01", "2024-12-30"]
    assert dry.median("born", bounds=asked[0]["bounds"], step=7, epsilon=1).candidates["count"] == 53


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"bounds": ("2024-01-01", 5)}, "bounds=.*two dates"),
        ({"bounds": ("2024-01-01", "2024-02-30")}, "bounds=.*two dates"),
        ({"bounds": ("2024-01-02", "2024-01-01")}, "first must not be after the last"),
        ({"bounds": ("2024-01-01", "2024-01-01")}, "the first before the last"),
        ({"continuous": True}, "continuous=True: expected nothing, because the bounds are dates"),
        ({"step": 0.5}, "step=0.5: expected a whole number"),
        ({"step": 11}, "step=11: .*divides"),
        ({"lower": 3}, "lower=3"),
    ],
)
def test_what_is_no_range_of_dates(given: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidParameterError, match=message):
        dps.DryRun(unit="who").median("born", **{"bounds": ("2024-01-01", "2024-12-31"), "epsilon": 1, **given})


def test_other_questions_take_no_dates() -> None:
    people = dps.Dataset(PEOPLE, unit="who")
    with pytest.raises(InvalidParameterError, match="two finite numbers"):
        people.mean("born", bounds=("2024-01-01", "2024-12-31"), epsilon=1)
    with pytest.raises(InvalidParameterError, match="a release of numbers"):
        people.median("born", **SURE).plot()
    with pytest.raises(InvalidDataError, match="with the first and the last date as bounds"):
        people.median("born", epsilon=1)
    with pytest.raises(InvalidDataError, match="a column of dates"):
        people.median("sex", **SURE)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"value": "1970-01-01"', '"value": "1870-01-01"'),
        ('"value": "1970-01-01"', '"value": 0.0'),
        ('"kind": "dates", ', ""),
        ('"bounds": ["1960-01-01", "2020-12-31"]', '"bounds": [-3653, 18627]'),
        ('"bounds": ["1960-01-01", "2020-12-31"]', '"bounds": ["1960-01-01", "2020-12-30"]'),
    ],
)
def test_a_certificate_of_a_date_cannot_be_edited(old: str, new: str) -> None:
    text = dps.Dataset(PEOPLE, unit="who").median("born", **SURE).to_json()
    assert old in text
    with pytest.raises(InvalidCertificateError):
        dps.verify(text.replace(old, new))


def test_the_command_and_a_plan(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(people_of("2001-12-24", "2001-12-25", "2001-12-26"))
    plan = 'table = "t.csv"\nunit = "who"\nepsilon = 1000\n[questions.when]\nask = "median"\ncolumn = "born"\n'
    (tmp_path / "p.toml").write_text(f"{plan}bounds = [1960-01-01, 2020-12-31]\n")
    asked = ["median", "t.csv", "born", "--unit", "who", "--bounds", "1960-01-01", "2020-12-31", "--epsilon", "1000"]
    for words in (asked, ["run", "p.toml"]):
        command = [sys.executable, "-m", "dpselect", *words]
        found = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
        assert "2001-12-25" in found.stdout
    wrong = [sys.executable, "-m", "dpselect", *asked[:7], "soon", *asked[8:]]
    found = subprocess.run(wrong, cwd=tmp_path, capture_output=True, text=True)
    assert found.returncode == 2
    assert "two dates such as 2026-12-01 2026-12-31" in found.stderr
