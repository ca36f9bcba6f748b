"""Units of rows: which rows have none, in every kind of list and column, and how the others are divided."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import dpselect as dps
from dpselect.sklearn.parts import divided, unit_of_rows
from tests.laws.goodness_of_fit import NEVER, p_value
from tests.sklearn.test_one_row_apart import Stream, bad_text, objects

DAYS = [datetime(2020, 1, 1), None, datetime(2020, 1, 2), datetime(2020, 1, 1), None]

COLUMNS: dict[str, Any] = {
    "list": [7, None, 8, 7.0, float("nan")],
    "tuple of text": ("ann", "", "bob", " ann ", "N/A"),
    "list of decimals": [Decimal("7"), Decimal("NaN"), Decimal("8"), 7, Decimal("sNaN")],
    "list of pairs": [("a", 1), ("a", None), ("b", 1), ("a", 1), (float("nan"), 1)],
    "list of times": [pd.Timestamp(0), pd.NaT, pd.Timestamp(1), pd.Timestamp(0), np.datetime64("NaT")],
    "list of what is no unit": [b"a", [1], b"b", b"a", {}],
    "objects": objects([7, None, "7", True + 6, pd.NA]),
    "masked objects": np.ma.array(objects([7, 1, 8, 7, 1]), mask=[0, 1, 0, 0, 1]),
    "floats": np.array([7.0, np.nan, 8.0, 7.0, np.nan]),
    "zeros": np.array([0.0, np.nan, 8.0, -0.0, np.nan], np.float32),
    "masked": np.ma.array([7, 1, 8, 7, 1], mask=[0, 1, 0, 0, 1]),
    "text with nan": np.array(["ann", np.nan, "bob", "ann", np.nan]),
    "bytes": pa.array([b"a", None, b"b", b"a", None]),
    "pandas": pd.Series([7, np.nan, 8, 7, np.nan]),
    "a frame of one column": pd.DataFrame({"a": [7, np.nan, 8, 7, np.nan]}),
    "an array of one column": np.array([[7.0], [np.nan], [8.0], [7.0], [np.nan]]),
    "objects of one column": objects([7, None, "7", 7, None]).reshape(5, 1),
    "pandas Int64": pd.Series([7, None, 8, 7, None], dtype="Int64"),
    "pandas objects": pd.Series([7, None, "7", 7, pd.NaT], dtype=object),
    "pandas index": pd.Index(["ann", None, "bob", "ann", None]),
    "pandas string": pd.array(["ann", pd.NA, "bob", "ann", pd.NA], dtype="string"),
    "pandas categories": pd.Series(pd.Categorical(["ann", None, "bob", "ann", None])),
    "polars": pl.Series([7, None, 8, 7, None]),
    "polars floats": pl.Series([7.0, None, 8.0, 7.0, float("nan")]),
    "polars categories": pl.Series(["ann", None, "bob", "ann", None], dtype=pl.Categorical),
    "arrow": pa.array([7, None, 8, 7, None]),
    "arrow in chunks": pa.chunked_array([[7, None], [8, 7, None]]),
    "arrow decimals": pa.array([Decimal(7), None, Decimal(8), Decimal(7), None], pa.decimal128(30, 2)),
    "arrow dictionary": pa.array(["ann", None, "bob", "ann", None]).dictionary_encode(),
    "not UTF-8": bad_text(["ann", None, "bob", "ann", None]),
    "stream": Stream(pl.Series([7, None, 8, 7, None])),
}


@pytest.mark.parametrize("kind", COLUMNS)
def test_rows_without_a_unit_are_nobodys(kind: str) -> None:
    """Whatever the column: neither one unit together nor one each."""
    assert unit_of_rows(COLUMNS[kind], 5).tolist() == [0, -1, 1, 0, -1]


@pytest.mark.parametrize("missing", [None, float("nan"), pd.NaT, pd.NA, np.datetime64("NaT"), np.ma.masked, "", "nan"])
def test_a_missing_unit_alone(missing: Any) -> None:
    assert unit_of_rows([missing] * 3, 3).tolist() == [-1] * 3
    assert unit_of_rows(["a", missing, missing], 3).tolist() == [0, -1, -1]


@pytest.mark.parametrize(
    "empty",
    [
        np.full(3, np.nan),
        pd.Series([None] * 3),
        pd.Series([pd.NA] * 3, dtype="Int64"),
        pl.Series([None] * 3),
        pa.nulls(3),
        [None] * 3,
    ],
)
def test_a_column_without_any_unit(empty: Any) -> None:
    assert unit_of_rows(empty, 3).tolist() == [-1] * 3
    fitting, scoring = divided(unit_of_rows(empty, 3), share=0.3, most=1)
    assert fitting.size == scoring.size == 0


TIMES: dict[str, Any] = {
    "NumPy times": np.array(["2020-01-01", "NaT", "2020-01-02", "2020-01-01", "NaT"], "M8[h]"),
    "pandas times": pd.Series(pd.to_datetime(DAYS)),
    "polars durations": pl.Series([timedelta(1), None, timedelta(2), timedelta(1), None]),
    "polars dates": pl.Series([date(2020, 1, 1), None, date(2020, 1, 2), date(2020, 1, 1), None]),
    "arrow times in a dictionary": pa.array(DAYS, pa.timestamp("us")).dictionary_encode(),
    "arrow times of a day": pa.array([7, None, 8, 7, None], pa.time32("s")),
}


@pytest.mark.parametrize("kind", TIMES)
def test_times_are_no_units(kind: str) -> None:
    with pytest.raises(dps.errors.InvalidDataError, match=r"groups=<.*>: expected identifiers: numbers, text or bytes"):
        unit_of_rows(TIMES[kind], 5)


class Rude:
    """No unit can be told from it."""

    def __eq__(self, other: object) -> bool:
        raise RuntimeError("SENTINEL")

    def __hash__(self) -> int:
        return hash("a")


def test_no_object_makes_reading_fail() -> None:
    assert unit_of_rows(["a", Rude(), "a", np.array([1, 2]), ([1], 2)], 5).tolist() == [0, -1, 0, -1, -1]


@pytest.mark.parametrize(
    ("groups", "said"),
    [
        (5, "groups=5: expected the unit of each row of X, in one dimension"),
        (np.float64(5), "groups=<0 dimensions>"),
        ("abc", "groups=<str>"),
        ({"a": 1, "b": 2, "c": 3}, "groups=<dict>"),
        ({1, 2, 3}, "groups=<set>"),
        ([[1]] * 3, "groups=<2 dimensions>"),
        ([{"a": 1}] * 3, "groups=<2 dimensions>"),
        (np.zeros((3, 2)), "groups=<2 dimensions>"),
        (np.zeros((3, 2), object), "groups=<2 dimensions>"),
        (pd.DataFrame({"a": [1, 2, 3], "b": 1}), "groups=<2 columns>: expected the unit of each row of X"),
        (pl.DataFrame({"a": [1, 2, 3], "b": 1}), "groups=<2 columns>"),
        (pa.table({"a": [1, 2, 3], "b": [1, 2, 3]}), "groups=<2 columns>"),
        (pa.array([[1]] * 3), "groups=<nested values>"),
        (np.zeros(3, complex), "groups=<values of a type that no question can use>"),
        ([1, 2], "groups=<another length>"),
        (np.array([1, 2]), "groups=<another length>"),
        (pl.Series([1, 2]), "groups=<another length>"),
    ],
)
def test_what_holds_no_units_is_refused_by_type_and_shape(groups: Any, said: str) -> None:
    with pytest.raises(dps.errors.InvalidDataError, match=f"^{said}"):
        unit_of_rows(groups, 3)


def test_without_groups_each_row_is_a_unit() -> None:
    assert unit_of_rows(None, 3).tolist() == [0, 1, 2]


def test_units_stay_in_one_part() -> None:
    """By a coin of each, and no more than so many rows of each, the first ones."""
    groups = np.repeat(np.arange(3000), 3)
    fitting, scoring = divided(unit_of_rows(groups, groups.size), share=0.25, most=2)
    assert not set(groups[fitting]) & set(groups[scoring])
    assert set((fitting % 3).tolist()) | set((scoring % 3).tolist()) == {0, 1}
    tally = np.array([np.unique(groups[part]).size for part in (fitting, scoring)])
    assert tally.sum() == 3000
    assert p_value(tally, np.array([0.75, 0.25])) > NEVER
    assert p_value(tally, np.array([0.6, 0.4])) < NEVER
    again, _ = divided(unit_of_rows(groups, groups.size), share=0.25, most=2)
    assert again.tolist() != fitting.tolist()
    assert unit_of_rows(["b", "a", "b"], 3).tolist() == [0, 1, 0]


def test_rows_without_a_unit_are_in_neither_part() -> None:
    """And take no place of another row."""
    units = np.array([-1, 0, -1, 1, 0, 1])
    for _ in range(20):
        fitting, scoring = divided(units, share=0.5, most=2)
        assert sorted([*fitting.tolist(), *scoring.tolist()]) == [1, 3, 4, 5]
        assert all(units[fitting] >= 0)
        assert all(units[scoring] >= 0)


def test_the_law_above_can_fail() -> None:
    """A dictionary of the values takes each NaN for a unit, and None for one."""
    for groups, naive in (([float(text) for text in ("nan", "nan")], [0, 1]), ([None, None], [0, 0])):
        known: dict[Any, int] = {}
        assert [known.setdefault(name, len(known)) for name in groups] == naive
        assert unit_of_rows(groups, 2).tolist() == [-1, -1]
