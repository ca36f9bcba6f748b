"""A dictionary of arrays is a table: what has a type is read by it, lists as in CSV; errors quote no value."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import dpselect as dps
from dpselect.errors import InvalidDataError
from tests.rows.tables import gather

UNITS = ["a", "b", "b", "c", None]
AGES = [3.0, 5.0, 5.0, 8.0, 90.0]


def as_objects(values: Any) -> Any:
    held = np.empty(len(values), object)
    held[:] = values
    return held


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "make", [list, tuple, np.array, pa.array, pd.Series, pl.Series, as_objects], ids=lambda make: make.__name__
)
def test_each_kind_of_array_is_read_as_the_same_column(make: Any) -> None:
    source = {"unit": pa.array(UNITS), "age": make(AGES)}
    assert sorted(gather(source, column="age", bounds=(0, 100))) == [3.0, 5.0, 8.0]
    table = dps.Dataset(pa.table({"unit": UNITS, "age": AGES}), unit="unit")
    given = dps.Dataset(source, unit="unit")
    assert repr(given) == "Dataset(<dict of arrays>, unit='unit')"
    ask: dict[str, Any] = {"bounds": (0, 100), "step": 1, "epsilon": 1.0}
    named = given.median("age", **ask).source
    assert named is not None
    assert named["frame"] == "dict of arrays"
    has_a_type = make not in (list, tuple, as_objects)
    assert (named["schema"] == (table.median("age", **ask).source or {})["schema"]) is has_a_type


@pytest.mark.parametrize(
    "cell", [40.5, 2**63, 2**70, "x", True, None, Decimal("1.5"), [1], date(2026, 1, 1), b"x", "\ud800"], ids=repr
)
@pytest.mark.parametrize("make", [list, as_objects], ids=lambda make: make.__name__)
def test_no_row_decides_how_a_list_is_read(make: Any, cell: object) -> None:
    def asked(rows: list[Any]) -> dps.Release:
        table = dps.Dataset({"unit": make([*map(str, range(len(rows)))]), "age": make(rows)}, unit="unit")
        return table.median("age", bounds=(0, 100), step=1, epsilon=1000.0)

    alone, beside = asked([30, 30, 30]), asked([30, 30, 30, cell])
    assert alone.source == beside.source
    assert (alone.value, beside.value) == (30, 30)


def test_dates_booleans_and_text_in_lists_are_read_as_in_csv() -> None:
    source = {"unit": ["a", "b", "c"], "day": [date(2026, 1, 2)] * 3, "is_new": [True] * 3, "where": ["pool"] * 3}
    table = dps.Dataset(source, unit="unit")
    assert table.most_common("is_new", candidates=[False, True], epsilon=1000.0).value is True
    assert table.most_common("where", candidates=["park", "pool"], epsilon=1000.0).value == "pool"
    assert table.best_date("day", bounds=("2026-01-01", "2026-01-03"), epsilon=1000.0).value == date(2026, 1, 2)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ({}, "a table with columns"),
        ({1: ["secret"]}, "whose names are text"),
        ({"a": ["secret"], "b": ["secret", "x"]}, "same length"),
        ({"a": 5}, "column 'a'"),
        ({"a": "secret"}, "column 'a'"),
        ({"a": np.array([["secret"]], object)}, "column 'a'"),
        ({"a": np.ones((2, 2))}, "column 'a'"),
        ({"a": {"secret": 1}}, "column 'a'"),
        ({"a": iter("secret")}, "column 'a'"),
    ],
)
def test_what_is_no_table_is_refused_without_a_value(source: Any, expected: str) -> None:
    with pytest.raises(InvalidDataError, match=expected) as caught:
        dps.Dataset(source, unit="a")
    error = caught.value
    assert "secret" not in str(error)
    assert error.__context__ is None
    assert error.__cause__ is None
