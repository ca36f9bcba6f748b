"""A dictionary of arrays is a table: its columns are read as those of an Arrow table, and errors quote no value."""

from __future__ import annotations

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


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "make", [list, tuple, np.array, pa.array, pd.Series, pl.Series], ids=lambda make: make.__name__
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
    assert named["schema"] == (table.median("age", **ask).source or {})["schema"]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ({}, "a table with columns"),
        ({1: ["secret"]}, "whose names are text"),
        ({"a": ["secret"], "b": ["secret", "x"]}, "same length"),
        ({"a": 5}, "column 'a'"),
        ({"a": "secret"}, "column 'a'"),
        ({"a": [1, "secret"]}, "column 'a'"),
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
