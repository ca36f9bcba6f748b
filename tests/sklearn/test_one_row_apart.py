"""How a row is read depends on that row alone: one more, whatever is in it, changes the reading of no other."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from decimal import Decimal
from fractions import Fraction
from typing import Any
from unittest.mock import Mock
from uuid import UUID

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dpselect as dps
from dpselect.sklearn import PrivateSelectKBest
from tests.sklearn.read_rows import numbers, positions

BIG = [2**53, 2**53 + 1, 2**53 + 2]
"""No double can tell the first two apart."""


class Stream:
    """A column or a table of a library nobody has heard of."""

    def __init__(self, held: Any) -> None:
        self.held = held

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.held.__arrow_c_stream__(requested_schema)


def objects(cells: list[Any]) -> np.ndarray:
    array = np.empty(len(cells), dtype=object)
    for place, cell in enumerate(cells):
        array[place] = cell
    return array


def bad_text(cells: list[Any]) -> pa.Array:
    """Text with bytes that are not UTF-8 where a cell is null."""
    held = pa.array([b"\xff" if cell is None else cell.encode() for cell in cells], pa.large_binary())
    return pa.Array.from_buffers(pa.large_string(), len(cells), held.buffers())


Make = Callable[[list[Any]], Any]

WHOLE: dict[str, Make] = {
    "list": list,
    "tuple": tuple,
    "list of lists": lambda cells: [[cell] for cell in cells],
    "objects": objects,
    "masked": lambda cells: np.ma.array([c or 0 for c in cells], mask=[c is None for c in cells], dtype=np.int64),
    "masked objects": lambda cells: np.ma.array(objects(cells), mask=[c is None for c in cells]),
    "pandas Int64": lambda cells: pd.Series(cells, dtype="Int64"),
    "pandas UInt64": lambda cells: pd.array(cells, dtype="UInt64"),
    "pandas arrow": lambda cells: pd.Series(cells, dtype="int64[pyarrow]"),
    "pandas categories": lambda cells: pd.Series(pd.Categorical(cells, categories=BIG)),
    "pandas categories of Int64": lambda cells: pd.Series(
        pd.Categorical(pd.array(cells, "Int64"), categories=pd.array(BIG, "Int64"))
    ),
    "pandas frame": lambda cells: pd.DataFrame({"y": pd.array(cells, dtype="Int64")}),
    "polars": lambda cells: pl.Series(cells, dtype=pl.Int64),
    "polars unsigned": lambda cells: pl.Series(cells, dtype=pl.UInt64),
    "polars decimals": lambda cells: pl.Series(cells, dtype=pl.Decimal(30, 0)),
    "polars frame": lambda cells: pl.DataFrame({"y": cells}, schema={"y": pl.Int64}),
    "arrow": lambda cells: pa.array(cells, pa.int64()),
    "arrow in chunks": lambda cells: pa.chunked_array([[cell] for cell in cells], pa.int64()),
    "arrow dictionary": lambda cells: pa.array(cells, pa.uint64()).dictionary_encode(),
    "arrow decimals": lambda cells: pa.array([None if c is None else Decimal(c) for c in cells], pa.decimal128(30, 2)),
    "arrow table": lambda cells: pa.table({"y": pa.array(cells, pa.int64())}),
    "stream": lambda cells: Stream(pl.Series(cells, dtype=pl.Int64)),
    "stream of a table": lambda cells: Stream(pa.table({"y": pa.array(cells, pa.int64())})),
}

TEXT: dict[str, Make] = {
    "list": list,
    "objects": objects,
    "NumPy": lambda cells: np.ma.array([c or "" for c in cells], mask=[c is None for c in cells]),
    "pandas objects": lambda cells: pd.Series(cells, dtype=object),
    "pandas string": lambda cells: pd.Series(cells, dtype=pd.StringDtype("python")),
    "pandas arrow string": lambda cells: pd.Series(cells, dtype=pd.StringDtype("pyarrow")),
    "pandas arrow": lambda cells: pd.Series(cells, dtype="string[pyarrow]"),
    "pandas categories": lambda cells: pd.Series(pd.Categorical(cells, categories=["a", "b"])),
    "half a surrogate pair": lambda cells: pd.array(["\ud800" if c is None else c for c in cells], "string[python]"),
    "not UTF-8": bad_text,
    "not UTF-8 in pandas": lambda cells: pd.Series(pd.arrays.ArrowStringArray(bad_text(cells))),
    "polars": lambda cells: pl.Series(cells, dtype=pl.String),
    "polars categories": lambda cells: pl.Series(cells, dtype=pl.Categorical),
    "arrow": lambda cells: pa.array(cells, pa.string()),
}

BOOLEANS: dict[str, Make] = {
    "list": list,
    "objects": objects,
    "pandas boolean": lambda cells: pd.Series(cells, dtype="boolean"),
    "pandas arrow": lambda cells: pd.Series(cells, dtype="bool[pyarrow]"),
    "polars": lambda cells: pl.Series(cells, dtype=pl.Boolean),
    "arrow": lambda cells: pa.array(cells, pa.bool_()),
}


class LiesOfItsClass:
    __class__ = property(lambda self: int)  # type: ignore[assignment]


class RaisesForItsClass:
    @property
    def __class__(self) -> type:  # type: ignore[override]
        raise RuntimeError("SENTINEL")


def _raises(*_: object) -> Any:
    raise RuntimeError("SENTINEL")


class EvilInt(int):
    __float__ = __eq__ = __hash__ = __int__ = __repr__ = __index__ = _raises  # type: ignore[assignment]


class EvilText(str):
    __eq__ = __hash__ = __str__ = __repr__ = _raises  # type: ignore[assignment]


class EvilRow(list[int]):
    __iter__ = __len__ = __getitem__ = _raises  # type: ignore[assignment]


ODD: list[Any] = [
    None,
    "SENTINEL",
    [],
    [1, 2],
    ["SENTINEL"],
    (1, 2, 3),
    {"SENTINEL": 1},
    b"x",
    np.array([1, 2]),
    np.array(1),
    np.datetime64("2026-11-21"),
    np.timedelta64(7),
    date(2026, 11, 21),
    float("nan"),
    float("inf"),
    10**400,
    np.longdouble("1e4000"),
    Decimal("sNaN"),
    Decimal("-1e999999"),
    Fraction(10**400, 3),
    object.__new__(Fraction),
    object.__new__(UUID),
    object(),
    Mock(spec=str),
    Mock(spec=int),
    LiesOfItsClass(),
    RaisesForItsClass(),
    EvilInt(9),
    EvilText("SENTINEL"),
    EvilRow([1, 2]),
    pd.NA,
    pd.NaT,
]
TAKES_ANYTHING = ("list", "tuple", "objects")


@pytest.mark.sampled(16)
@pytest.mark.parametrize("kind", WHOLE)
@settings(max_examples=10)
@given(labels=st.lists(st.sampled_from(BIG), max_size=6))
def test_a_missing_label_among_whole_numbers(kind: str, labels: list[int]) -> None:
    expected = [BIG.index(label) for label in labels]
    if labels:
        assert positions(WHOLE[kind](labels), BIG, rows=len(labels)) == expected
    assert positions(WHOLE[kind]([*labels, None]), BIG, rows=len(labels) + 1) == [*expected, -1]


@pytest.mark.parametrize("kind", TEXT)
def test_a_missing_label_among_texts(kind: str) -> None:
    for cells, expected in ((["a", "b", "a"], [0, 1, 0]), (["a", "b", "a", None], [0, 1, 0, -1])):
        assert positions(TEXT[kind](cells), ("a", "b"), rows=len(cells)) == expected


@pytest.mark.parametrize("kind", BOOLEANS)
def test_a_missing_label_among_booleans(kind: str) -> None:
    for cells, expected in (([True, False], [1, 0]), ([True, False, None], [1, 0, -1])):
        assert positions(BOOLEANS[kind](cells), (0, 1), rows=len(cells)) == expected


@pytest.mark.parametrize("kind", [*(f"whole {kind}" for kind in WHOLE), *(f"text {kind}" for kind in TEXT)])
def test_whether_labels_are_refused_does_not_depend_on_one_that_is_missing(kind: str) -> None:
    family, _, container = kind.partition(" ")
    make, cells = {"whole": (WHOLE, BIG), "text": (TEXT, ["a", "b"])}[family]
    for classes in ((0, 1), ("x", "y")):
        said = set[str]()
        for given_cells in (cells, [*cells, None]):
            try:
                positions(make[container](given_cells), classes, rows=len(given_cells))
                said.add("")
            except dps.errors.InvalidDataError as refused:
                said.add(str(refused))
        assert len(said) == 1


@pytest.mark.parametrize("kind", TAKES_ANYTHING)
@pytest.mark.parametrize("odd", range(len(ODD)))
def test_no_label_decides_about_another(kind: str, odd: int) -> None:
    cells = [BIG[0], 1.0, "a", True, BIG[1], ODD[odd]]
    for classes, expected in (((*BIG, 1), [0, 3, -1, 3, 1]), (("a", "b"), [-1, -1, 0, -1, -1])):
        assert positions(WHOLE[kind](cells), classes, rows=6) == [*expected, -1]


@pytest.mark.parametrize("odd", range(len(ODD)))
def test_in_a_pandas_column_of_objects_no_label_decides_about_another(odd: int) -> None:
    cells = pd.Series([BIG[0], 1.0, "a", True, BIG[1], "1", ODD[odd]], dtype=object)
    assert positions(cells, ("a", "b", "1"), rows=7) == [-1, 2, 0, -1, -1, 2, -1]


def test_columns_of_objects_are_no_numbers_whatever_is_in_them() -> None:
    for cells in ([], [1, 2], [1, "SENTINEL"], ["1", "2"], [None]):
        held = pd.Series(cells, dtype=object, name="age")
        for series in (held, held.astype("category").cat.set_categories(pd.Index(["x"], dtype=object))):
            with pytest.raises(
                dps.errors.InvalidDataError, match=r", which counts? as text.*frame\['age'\] = pd.to_num"
            ):
                numbers(series.to_frame())
            with pytest.raises(
                dps.errors.InvalidDataError, match=r"labels like the classes.*pd\.to_numeric\(frame\['y'\]\)"
            ):
                positions(series, (1, 2), rows=len(cells))
        held = pl.Series("age", cells, dtype=pl.Object)
        with pytest.raises(dps.errors.InvalidDataError, match="of a type that no question can use"):
            numbers(held.to_frame())
        with pytest.raises(dps.errors.InvalidDataError, match="of a type that no question can use"):
            positions(held, (1, 2), rows=len(cells))


@pytest.mark.parametrize("odd", range(len(ODD)))
def test_no_row_of_a_list_decides_about_another(odd: int) -> None:
    rows: list[Any] = [[1, 2.5], (True, Decimal("1.5")), np.array([3, 4]), ODD[odd]]
    for container in (list, tuple):
        first, second = numbers(container(rows))
        assert first[:3].tolist() == [1, 1, 3]
        assert second[:3].tolist() == [2.5, 1.5, 4]
    kept = PrivateSelectKBest(1, epsilon=1.0, classes=[0, 1], bounds=(0, 4)).fit(rows, [[0], [1], [0], ODD[odd]])
    assert kept.release_.value in ([0], [1])


@pytest.mark.parametrize("odd", range(len(ODD)))
def test_no_cell_decides_about_another(odd: int) -> None:
    cells = [1, 2.5, np.float32(0.5), Decimal("1.5"), Fraction(1, 4), ODD[odd]]
    tables: list[Any] = [
        [[cell] for cell in cells],
        objects(cells).reshape(-1, 1),
        np.ma.array(objects(cells).reshape(-1, 1), mask=False),
    ]
    for table in tables:
        (read,) = numbers(table)
        assert read[:5].tolist() == [1, 2.5, 0.5, 1.5, 0.25]


NUMBERS: dict[str, Make] = {
    "pandas Int64": lambda cells: pd.DataFrame({"a": pd.array(cells, dtype="Int64")}),
    "pandas arrow": lambda cells: pd.DataFrame({"a": pd.array(cells, dtype="int64[pyarrow]")}),
    "pandas categories": lambda cells: pd.DataFrame({"a": pd.Categorical(cells, categories=[7, 0, 1, 2])}),
    "polars": lambda cells: pl.DataFrame({"a": cells}, schema={"a": pl.Int32}),
    "polars decimals": lambda cells: pl.DataFrame({"a": cells}, schema={"a": pl.Decimal(10, 2)}),
    "arrow": lambda cells: pa.table({"a": pa.array(cells, pa.uint8())}),
    "arrow half": lambda cells: pa.table({"a": pa.array(cells, pa.int8()).cast(pa.float16())}),
    "arrow in chunks": lambda cells: pa.table({"a": pa.chunked_array([[cell] for cell in cells], pa.int64())}),
    "arrow batch": lambda cells: pa.RecordBatch.from_pydict({"a": pa.array(cells, pa.int64())}),
    "stream": lambda cells: Stream(pa.table({"a": pa.array(cells, pa.int64())})),
    "structs": lambda cells: pa.array([{"a": cell} for cell in cells], pa.struct([("a", pa.int64())])),
    "masked": lambda cells: np.ma.array([[c or 0] for c in cells], mask=[[c is None] for c in cells]),
}


@pytest.mark.parametrize("kind", NUMBERS)
def test_a_missing_number_is_missing_alone(kind: str) -> None:
    assert numbers(NUMBERS[kind]([0, 1, 2]))[0].tolist() == [0, 1, 2]
    read = numbers(NUMBERS[kind]([0, 1, None, 2]))[0]
    assert read[[0, 1, 3]].tolist() == [0, 1, 2]
    assert np.isnan(read[2])


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame({"a": [1], "b": pd.array(["SENTINEL"], "string")}),
        pd.DataFrame({"a": [1], "b": pd.to_datetime(["2026-11-21"])}),
        pd.DataFrame({"a": [1], "b": pd.array(["SENTINEL"], pd.ArrowDtype(pa.string()))}),
        pl.DataFrame({"a": [1], "b": ["SENTINEL"]}),
        pl.DataFrame({"a": [1], "b": [[1]]}),
        pa.table({"a": [1], "b": [date(2026, 11, 21)]}),
        pa.table({"a": [1], "b": [b"SENTINEL"]}),
    ],
)
def test_columns_whose_type_is_of_no_numbers_are_refused(frame: Any) -> None:
    for table in (frame, frame[:0]):
        with pytest.raises(
            dps.errors.InvalidDataError, match=r"expected numbers\. Column 1, counted from 0, has a type"
        ) as refused:
            numbers(table)
        assert "SENTINEL" not in str(refused.value)


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame([[1, 2]], columns=["a", "a"]),
        pd.DataFrame([[1, 2]], columns=[0, 0]),
        pa.table([[1], [2]], names=["a", "a"]),
    ],
)
def test_two_columns_of_one_name_are_refused_by_argument(frame: Any) -> None:
    selector = PrivateSelectKBest(1, epsilon=1.0, classes=[0, 1], bounds=(0, 9))
    with pytest.raises(
        dps.errors.InvalidDataError, match=r"^X=<.*>: expected columns with different names\. Two of them"
    ):
        selector.fit(frame, [1])


def test_frames_of_libraries_that_are_not_known_are_refused() -> None:
    class Frame:
        dtype = np.dtype(float)

        def __dataframe__(self) -> None: ...
        def __array__(self) -> np.ndarray:
            raise AssertionError

    with pytest.raises(dps.errors.InvalidDataError, match="a data frame or a list"):
        numbers(Frame())
