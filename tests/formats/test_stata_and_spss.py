"""Stata and SPSS files: values as they are stored, columns as the file describes them, and each cell by itself."""

from __future__ import annotations

import sys
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyreadstat
import pytest

from dpselect import Format
from dpselect.errors import InvalidDataError, MissingExtraError
from dpselect.rows import library_files
from tests.formats.reading import counts, numbers
from tests.rows.tables import opened

DAYS = pd.to_datetime(["2024-01-05", "2024-01-06", None, "1900-02-28"])
FRAME = pd.DataFrame(
    {
        "unit": [1, 2, 3, 4],
        "name": ["åsa", "böb", "", "åsa"],
        "value": [1.5, np.nan, 3.0, 3.0],
        "answer": np.array([1, 2, 1, 1], np.int8),
        "day": DAYS,
        "stamp": DAYS + pd.Timedelta("23h59min"),
    }
)
LABELS = {"answer": {1: "Yes", 2: "No"}}


def stata(folder: Path, version: int = 118) -> Path:
    dates = {"day": "td", "stamp": "tc"}
    FRAME.to_stata(folder / "t.dta", write_index=False, version=version, convert_dates=dates, value_labels=LABELS)  # type: ignore[call-overload]
    return folder / "t.dta"


def old_stata(folder: Path) -> Path:
    return stata(folder, 114)


def spss(folder: Path, name: str = "t.sav", **how: Any) -> Path:
    days = [None if pd.isna(each) else each.date() for each in FRAME["day"]]
    pyreadstat.write_sav(FRAME.assign(day=days), folder / name, variable_value_labels=LABELS, **how)
    return folder / name


def short_spss(folder: Path) -> Path:
    return spss(folder, "t.zsav", compress=True)


each_way = pytest.mark.parametrize("way", [stata, old_stata, spss, short_spss])


@each_way
@pytest.mark.parametrize("batch", [1, 2, 1 << 17])
def test_every_kind_of_column(
    way: Callable[[Path], Path], batch: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(library_files, "BATCH_ROWS", batch)
    path = way(tmp_path)
    assert counts(path, ["åsa", "böb", "x"], column="name") == [2, 1, 0]
    assert numbers(path, None) == [1.5, 3.0, 3.0]
    assert counts(path, [1, 2, 3], column="answer") == [3, 1, 0]  # as stored, without labels
    days = [date(2024, 1, 5), date(2024, 1, 6), date(1900, 2, 28)]
    assert counts(path, days, column="day") == [1, 1, 1]
    assert counts(path, days, Format(as_date=True), column="stamp") == [1, 1, 1]
    assert counts(path, [3], unit="name") == [1]
    with pytest.raises(InvalidDataError, match="holds times"):
        counts(path, days, column="stamp")


@pytest.mark.parametrize("way", [stata, old_stata, spss])
def test_no_text_stops_the_reading(way: Callable[[Path], Path], tmp_path: Path) -> None:
    """One that is not in the encoding of the file is missing; the library alone would fail."""
    path = way(tmp_path)
    if way is old_stata:
        path.write_bytes(path.read_bytes().replace("åsa".encode("cp1252"), b"\x81sa", 1))
    else:
        path.write_bytes(path.read_bytes().replace("åsa".encode(), b"\xff\xfesa", 1))
    assert counts(path, ["åsa", "böb"], column="name") == [1, 1]
    assert numbers(path, None) == [1.5, 3.0, 3.0]


def test_types_depend_on_no_row(tmp_path: Path) -> None:
    """Whole numbers are read as doubles, with a missing one among them or not."""
    for cells in ([1, 2], [1, None]):
        pd.DataFrame({"unit": [1, 2], "value": pd.array(cells, "Int8")}).to_stata(tmp_path / "t.dta", write_index=False)
        assert opened(tmp_path / "t.dta").holds("value") == "floating-point numbers"


def test_what_cannot_be_read_is_refused_in_a_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for path, whole in ((each, each.read_bytes()) for each in (stata(tmp_path), spss(tmp_path))):
        for content in (whole[:200], b"unit,value\n1,2\n", whole[: len(whole) // 3]):
            path.write_bytes(content)
            with pytest.raises(InvalidDataError, match=r"^source=[^\n]*a(n SPSS| Stata) file that can be read"):
                counts(path, [1])
        path.write_bytes(whole)
        with pytest.raises(InvalidDataError, match=r"expected nothing for an? S.* file"):
            counts(path, [1], Format(thousands=","))
    monkeypatch.setitem(sys.modules, "pyreadstat", None)
    with pytest.raises(MissingExtraError, match="Stata and SPSS files: this needs the extra 'stata'"):
        counts(stata(tmp_path), [1])
