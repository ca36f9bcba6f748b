"""Frames in memory: the same rows, whatever holds them, give the same summaries; and none is changed."""

from __future__ import annotations

import decimal
import inspect
import math
import subprocess
import sys
from datetime import date, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds
import pytest

import dpselect as dps
from dpselect.errors import InvalidDataError
from dpselect.rows import arrow
from tests.rows.placed import FRAMES, Stranger
from tests.rows.tables import count, gather, opened
from tests.rows.test_gather import TYPES as NUMBER_TYPES
from tests.rows.test_rules import NOBODY
from tests.rows.test_rules import TYPES as VALUE_TYPES

IN_PANDAS = (pa.types.is_decimal256, pa.types.is_string_view, pa.types.is_null)
"""Types that pandas or Polars has no column for."""


LIBRARIES = {"pandas", "polars", "pyspark", "ibis"}
each_frame = pytest.mark.parametrize("kind", FRAMES)
each_library = pytest.mark.parametrize("kind", ["arrow", "eager-polars", "pandas", "arrow-in-pandas"])


def framed(kind: str, columns: dict[str, Any], folder: Path) -> Any:
    table = pa.table(columns)
    if kind in ("pandas", "eager-polars") and any(matches(f.type) for f in table.schema for matches in IN_PANDAS):
        kind = "arrow-in-pandas"
    return FRAMES[kind](table, folder)


@each_library
@pytest.mark.parametrize(("type_", "cells", "candidates", "expected"), VALUE_TYPES)
def test_counts_of_every_type(
    kind: str, type_: Any, cells: list[Any], candidates: list[Any], expected: list[int], tmp_path: Path
) -> None:
    columns = {"unit": range(len(cells) + 1), "value": pa.array([*cells, None], type_)}
    assert count(framed(kind, columns, tmp_path), candidates) == expected


@each_library
@pytest.mark.parametrize(("type_", "values", "expected"), NUMBER_TYPES, ids=[str(each[0]) for each in NUMBER_TYPES])
def test_numbers_of_every_type(kind: str, type_: Any, values: list[Any], expected: list[float], tmp_path: Path) -> None:
    columns = {"unit": range(len(values)), "value": pa.array(values, type_)}
    assert gather(framed(kind, columns, tmp_path)) == expected


@each_library
def test_units_are_read_by_the_rules_for_text(kind: str, tmp_path: Path) -> None:
    units = [*NOBODY, None, "7", " 7 ", "ann"]
    assert count(framed(kind, {"unit": units, "value": [1] * len(units)}, tmp_path), [1]) == [2]


@pytest.mark.sampled(3)
@each_frame
def test_more_rows_than_a_batch(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dpselect.rows.frame.BATCH_ROWS", 7)
    columns = {"unit": np.arange(100) // 2, "value": [f"v{i % 3}" for i in range(100)]}
    whole = count(framed(kind, columns, tmp_path), ["v0", "v1", "v2"])
    assert sum(whole) == 100
    monkeypatch.setattr(arrow, "BATCH_ROWS", 1000)
    assert count(framed("arrow", columns, tmp_path), ["v0", "v1", "v2"]) == whole


@pytest.mark.sampled(4)
@each_frame
def test_a_frame_is_read_anew_for_each_question_and_not_changed(kind: str, tmp_path: Path) -> None:
    columns = {"unit": ["ann", " bob "], "value": ["x", "y"], "number": [1.5, None]}
    frame, untouched = (framed(kind, columns, tmp_path) for _ in range(2))
    for _ in range(2):
        assert count(frame, ["x", "y"]) == [1, 1]
        assert gather(frame, column="number") == [1.5]
    if kind in ("arrow", "batch", "eager-polars", "pandas", "arrow-in-pandas"):
        assert frame.equals(untouched)


STRINGS = [object, "string", pd.StringDtype("pyarrow"), "category"]


@pytest.mark.parametrize("dtype", STRINGS)
def test_strings_in_pandas(dtype: Any) -> None:
    cells = ["x", "y", None, "x", "é"]
    frame = pd.DataFrame(
        {"unit": pd.Series(["a", "b", "c", "d", " a "], dtype=dtype), "value": pd.Series(cells, dtype=dtype)}
    )
    assert count(frame, ["x", "y", "é", "z"]) == [2, 1, 1, 0]


def test_half_a_surrogate_pair_is_left_out_alone() -> None:
    cells = pd.array(["x", "\ud800", "y"], dtype=pd.StringDtype("python"))
    frame = pd.DataFrame({"unit": range(3), "value": cells})
    assert count(frame, ["x", "y"]) == [1, 1]
    assert count(frame.astype({"value": "category"}), ["x", "y"]) == [1, 1]


_NANS_IN_TEXT = "na_value" in inspect.signature(pd.StringDtype).parameters
"""Whether pandas has text in which NaN is what is missing: from 2.3."""


def text_with_other_bytes() -> pa.Array:
    held = pa.array([b"x", b"\xffz", b"y"], pa.large_binary())
    return pa.Array.from_buffers(pa.large_string(), 3, held.buffers())


@pytest.mark.parametrize(
    "dtype",
    [
        pd.StringDtype("pyarrow"),
        *([pd.StringDtype("pyarrow", na_value=np.nan)] if _NANS_IN_TEXT else []),
        pd.ArrowDtype(pa.large_string()),
    ],
    ids=str,
)
def test_bytes_that_are_not_utf_8_are_left_out_alone(dtype: Any) -> None:
    cells = dtype.construct_array_type()(text_with_other_bytes()).astype(dtype)
    frame = pd.DataFrame({"unit": range(4), "value": cells.take([0, 1, 2, 0])})
    assert count(frame, ["x", "y"]) == [2, 1]
    swapped = frame.rename(columns={"unit": "value", "value": "unit"})
    assert count(swapped, range(4), unit="unit") == [1, 0, 1, 1]


NULLABLE = ["Int64", "UInt8", "Float32", "Float64", "int64[pyarrow]", "category", ">i4"]


@pytest.mark.parametrize("dtype", NULLABLE)
def test_numbers_in_pandas(dtype: str) -> None:
    cells = pd.Series([3, 5, 3, 4 if dtype == ">i4" else math.nan]).astype(dtype)
    frame = pd.DataFrame({"unit": range(4), "value": cells})
    assert count(frame, [3, 5, 6]) == [2, 1, 0]
    assert gather(frame)[:3] == [3.0, 3.0, 4.0 if dtype == ">i4" else 5.0]


def test_long_doubles_are_no_numbers() -> None:
    cells = np.array(["1", "-1e4000", "1e4000"], dtype=np.longdouble)
    with pytest.raises(InvalidDataError, match="a type that no question can use"):
        gather(pd.DataFrame({"unit": range(3), "value": cells}), bounds=(0, 10))
    objects = pd.Series(cells, dtype=object)
    assert count(pd.DataFrame({"unit": range(3), "value": objects}), ["1"]) == [0]


@pytest.mark.parametrize(
    "cells",
    [
        pd.date_range("2026-11-21", periods=2),
        pd.date_range("2026-11-21", periods=2, tz="UTC"),
        pd.period_range("2026-11-21", periods=2),
        pd.to_timedelta([1, 2]),
        pd.Series(pd.date_range("2026-11-21", periods=2)).astype("timestamp[ns][pyarrow]"),
    ],
)
def test_timestamps_are_not_dates(cells: Any) -> None:
    frame = pd.DataFrame({"unit": cells, "value": cells})
    table = opened(frame)
    with pytest.raises(InvalidDataError, match="This one holds times"):
        count(frame.assign(unit=[1, 2]), [date(2026, 11, 21)])
    with pytest.raises(InvalidDataError, match="a column of identifiers"):
        table.units()


@pytest.mark.parametrize(
    ("frame", "reason"),
    [
        (pd.DataFrame({"unit": [1], "value": [1j]}), "values of a type that no question can use"),
        (pd.DataFrame({"unit": [1], "value": pd.array([pd.Interval(0, 1)])}), "values of a type that no question can"),
        (pl.DataFrame({"unit": [1], "value": [object()]}), "values of a type that no question can use"),
        (pl.DataFrame({"unit": [1], "value": [[1]]}), "nested values"),
        (pl.DataFrame({"unit": [1], "value": [2**100]}, schema_overrides={"value": pl.Int128}), "values of a type"),
        (pl.DataFrame({"unit": [1], "value": [datetime(2026, 1, 1)]}), "times"),
    ],
)
def test_columns_that_hold_something_else(frame: Any, reason: str) -> None:
    with pytest.raises(InvalidDataError, match=f"This one holds {reason}"):
        count(frame, [1])


SOURCES: list[tuple[Any, str]] = [
    (pd.DataFrame([[1, 2]], columns=["unit", "unit"]), "columns with different names"),
    (pd.DataFrame([[1, 2]], columns=["unit", 1]), "columns whose names are text"),
    (pd.DataFrame([[1, 2]], columns=pd.MultiIndex.from_tuples([("a", "b"), ("a", "c")])), "names are text"),
    (pd.DataFrame(), "a table with columns"),
    (pd.DataFrame(index=[1, 2]), "a table with columns"),
    (pl.DataFrame(), "a table with columns"),
    (pa.table({}), "a table with columns"),
    (pa.table([pa.array([1]), pa.array([2])], names=["unit", "unit"]), "columns with different names"),
    (pa.table({"unit": [1]}).to_reader(), "files or a table"),
    (Stranger(None), "a table that can be read to its end"),  # type: ignore[arg-type]
    (ds.dataset(pa.table({"unit": [1]})), r"files or a table\. Give the table itself, by read_all"),
    (pd.Series([1, 2]), "a glob, a frame, a lazy frame"),
    ([{"unit": 1}], "a glob, a frame, a lazy frame"),
    ([(1, 2)], "a glob, a frame, a lazy frame"),
    (np.zeros((2, 2)), "a glob, a frame, a lazy frame"),
    (None, "a glob, a frame, a lazy frame"),
]


@pytest.mark.parametrize(("source", "reason"), SOURCES)
def test_what_is_no_table(source: Any, reason: str) -> None:
    with pytest.raises(InvalidDataError, match=reason) as caught:
        opened(source)
    assert caught.value.name == "source"
    assert caught.value.__context__ is None


class Failing(Stranger):
    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        def batches() -> Any:
            raise ValueError("SENTINEL")
            yield

        return pa.RecordBatchReader.from_batches(self.table.schema, batches()).__arrow_c_stream__()


def test_a_frame_that_fails_says_nothing() -> None:
    with pytest.raises(InvalidDataError) as caught:
        count(Failing(pa.table({"unit": [1], "value": [1]})), [1])
    assert str(caught.value) == "source=<Failing>: expected a table that can be read to its end."
    assert caught.value.__context__ is None


REFUSED_BY_ARROW_TYPE = [
    pa.array([decimal.Decimal("700")]).cast(pa.decimal128(9, -2)),
    pa.DictionaryArray.from_arrays(pa.array([0]), pa.array(["a"]).dictionary_encode()),
    pa.DictionaryArray.from_arrays(pa.array([0]), pa.ExtensionArray.from_storage(pa.json_(), pa.array(["a"]))),
    pa.DictionaryArray.from_arrays(pa.array([0]), pa.array([[1]])),
    pa.RunEndEncodedArray.from_arrays(pa.array([1], pa.int32()), pa.array([1])),
]


@pytest.mark.parametrize("column", REFUSED_BY_ARROW_TYPE, ids=lambda column: str(column.type))
def test_odd_arrow_types_are_refused_by_type(column: Any) -> None:
    for values in (column, column[:0]):
        frame = pa.table({"unit": range(len(values)), "value": values})
        for candidate in (7, 0.5, "a"):
            with pytest.raises(InvalidDataError, match="Convert it first, for example to numbers or text"):
                count(frame, [candidate])
        with pytest.raises(InvalidDataError, match="a column of numbers"):
            gather(frame)
        with pytest.raises(InvalidDataError, match=r"a column of identifiers.*Convert it first"):
            count(frame.rename_columns(["value", "unit"]), [1])
        assert count(frame.append_column("other", pa.array([1] * len(values))), [1], column="other") == [len(values)]


def test_names_with_dots_are_names() -> None:
    table = pa.table({"unit": [1, 2], "a": [{"b": 5}, {"b": 5}], "a.b": [6, 6]})
    for frame in (table, pl.from_arrow(table), table.to_pandas(), Stranger(table)):
        assert count(frame, [5, 6], column="a.b") == [0, 2]


@pytest.mark.parametrize(("name", "text"), [("t.csv", "unit,value\n1,2\n"), ("t.jsonl", '{"unit": 1, "value": 2}\n')])
def test_libraries_that_are_not_in_use_are_not_imported(name: str, text: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(text)
    asked = f"dpselect.Dataset({str(tmp_path / name)!r}, unit='unit').count('value', candidates=[2], epsilon=1.0)"
    program = f"import sys, dpselect; {asked}; print({LIBRARIES} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"


@pytest.mark.parametrize(("dtype", "fill"), [("uint64", 0), ("int64", 0), ("bool", np.nan), ("float32", np.nan)])
@pytest.mark.filterwarnings("ignore:Allowing arbitrary scalar fill_value:FutureWarning")
def test_sparse_columns_are_refused_as_rows_may_decide_their_type(dtype: str, fill: Any) -> None:
    """Control: large numbers beside the zero that is left out become floats, and many units a few."""
    units = np.array([2**63 + 1 + i for i in range(20)] + [0], np.uint64)
    sparse = pd.arrays.SparseArray(units, dtype=pd.SparseDtype("uint64", 0))
    assert len(np.unique(np.asarray(sparse).astype(np.float64))) == 2
    assert count(pd.DataFrame({"unit": pd.Series(sparse).sparse.to_dense(), "value": 5}), [5]) == [21]
    for rows in (2, 0):
        held = pd.arrays.SparseArray(np.array([1, 0][:rows], dtype), dtype=pd.SparseDtype(dtype, fill))
        frame = pd.DataFrame({"unit": held, "value": 5})
        with pytest.raises(InvalidDataError, match=r"a column of identifiers.*frame\['unit'\]\.sparse\.to_dense\(\)\."):
            count(frame, [5])
        with pytest.raises(InvalidDataError, match=r"of numbers.*frame\['unit'\]\.sparse\.to_dense\(\)\."):
            gather(frame, unit="value", column="unit")


@pytest.mark.parametrize("unit", ["who", "kind"])
def test_a_batch_of_categories_that_are_all_missing_is_read(unit: str) -> None:
    """Its dictionary is empty, and of views, whose lengths Arrow cannot tell."""
    known = pa.DictionaryArray.from_arrays(pa.array([0, 0], pa.uint32()), pa.array(["a"], pa.string_view()))
    missing = pa.DictionaryArray.from_arrays(pa.array([None], pa.uint32()), pa.array([], pa.string_view()))
    table = pa.table({"who": [1, 2, 3], "kind": pa.chunked_array([known, missing])})
    assert dps.Dataset(table, unit=unit).count(epsilon=1000.0).value == (3 if unit == "who" else 1)
