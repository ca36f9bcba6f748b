"""Columns of Python objects: which text each is read as, what is missing, and which are equal."""

from __future__ import annotations

import decimal
import enum
import fractions
import math
import uuid
from collections.abc import Callable
from datetime import date, datetime
from typing import Any
from unittest.mock import Mock

import numpy as np
import pandas as pd
import pytest

from dpselect.errors import InvalidDataError
from tests.rows.tables import count, gather

OBJECTS = [
    ("7", "7"),
    (7, "7"),
    (np.int8(7), "7"),
    (7.0, "7"),
    (np.float32(0.5), "0.5"),
    (decimal.Decimal("7.50"), "7.5"),
    (decimal.Decimal("0E-30"), "0"),
    (decimal.Decimal("7E+2"), "700"),
    (fractions.Fraction(7, 1), "7"),
    (True, "true"),
    (np.False_, "false"),
    (date(2026, 11, 21), "2026-11-21"),
    (uuid.UUID(int=7), str(uuid.UUID(int=7))),
    (np.str_("x"), "x"),
    (enum.StrEnum("E", {"X": "x"}).X, "x"),
]


@pytest.mark.parametrize(("value", "text"), OBJECTS)
def test_python_objects_are_read_as_text(value: Any, text: str) -> None:
    cells = [value, None, [1], b"x", datetime(2026, 11, 21), pd.NA, pd.NaT, math.nan, object(), "\ud800", 10**5000]
    frame = pd.DataFrame({"unit": range(len(cells)), "value": pd.Series(cells, dtype=object)})
    assert count(frame, [text]) == [1]


CONVERTED: dict[str, tuple[list[Any], list[Any], Callable[[pd.Series], pd.Series]]] = {
    "whole numbers": (["7", None, "8"], [7], pd.to_numeric),
    "numbers": ([0.5, None, decimal.Decimal("8")], [0.5], pd.to_numeric),
    "dates": (["2026-11-21", None], [date(2026, 11, 21)], lambda series: series.astype("date32[pyarrow]")),
    "date objects": ([date(2026, 11, 21), None], [date(2026, 11, 21)], lambda series: series.astype("date32[pyarrow]")),
    "booleans": ([True, None, False], [True], lambda series: series.astype("boolean")),
}


@pytest.mark.parametrize("kind", CONVERTED)
@pytest.mark.parametrize(
    ("dtype", "what"),
    [
        (object, "Its dtype is object, which counts"),
        (pd.CategoricalDtype(pd.Index(["x"], dtype=object)), "It is a category over objects, which count"),
    ],
    ids=["object", "category"],
)
def test_python_objects_are_text_and_nothing_else(kind: str, dtype: Any, what: str) -> None:
    """By their type, whatever is in them; what the error says to do makes the question possible."""
    cells, candidates, convert = CONVERTED[kind]
    said = set[str]()
    for held in (cells, cells[:1], [], ["SENTINEL"]):
        frame = pd.DataFrame({"unit": range(len(held)), "value": pd.Series(held, dtype=dtype)})
        with pytest.raises(InvalidDataError, match=rf"give text\. {what} as text\. Convert it first"):
            count(frame, candidates)
        with pytest.raises(InvalidDataError, match=r"of numbers.*frame\['value'\] = pd\.to_numeric") as caught:
            gather(frame)
        said.add(str(caught.value))
    assert len(said) == 1
    objects = pd.Series(cells, dtype=object)
    for given in (objects, objects.astype("category").cat.set_categories(pd.Index(objects.dropna(), dtype=object))):
        typed = pd.DataFrame({"unit": range(len(cells)), "value": convert(given)})
        assert count(typed, candidates) == [1]


class Evil(str):
    def __str__(self) -> str:
        raise ValueError("SENTINEL")

    __repr__ = __hash__ = encode = __eq__ = __str__  # type: ignore[assignment]


class EvilInt(int):
    def __str__(self) -> str:
        raise ValueError("SENTINEL")

    __repr__ = __int__ = bit_length = __str__  # type: ignore[assignment]


def test_no_object_can_stop_the_reading() -> None:
    frame = pd.DataFrame({"unit": range(4), "value": pd.Series([Evil("x"), EvilInt(7), "x", "7"], dtype=object)})
    assert count(frame, ["x", "7"]) == [2, 2]


class Lying:
    __class__ = property(lambda self: str)  # type: ignore[assignment]


class Raising:
    @property
    def __class__(self) -> type:  # type: ignore[override]
        raise RuntimeError("SENTINEL")


@pytest.mark.parametrize("role", ["unit", "value"])
def test_what_an_object_says_of_its_class_is_not_believed(role: str) -> None:
    """What is of another type than it says is missing; a lazy proxy, for example."""
    liars = [Lying(), Raising(), Mock(spec=str), Mock(spec=int), object.__new__(uuid.UUID), np.longdouble("1e4000")]
    cells = np.empty(len(liars) + 2, dtype=object)
    cells[:] = ["1", 1, *liars]
    others = pd.Series(range(len(cells)) if role == "value" else [1] * len(cells))
    roles = {role: pd.Series(cells, dtype=object), "value" if role == "unit" else "unit": others}
    assert count(pd.DataFrame(roles), ["1"] if role == "value" else [1]) == [2 if role == "value" else 1]


class Third(fractions.Fraction):
    @property
    def numerator(self) -> int:
        seen.append("numerator")
        return 7


class Known(uuid.UUID):
    def __getattribute__(self, name: str) -> Any:
        seen.append(name)
        return super().__getattribute__(name)


seen: list[str] = []


def test_no_attribute_of_an_object_is_asked_for() -> None:
    """Fractions and UUIDs read themselves by attributes, of which a subclass may make anything."""
    cells = pd.Series([Third(1, 3), Known(int=7), "x"], dtype=object)
    seen.clear()
    assert count(pd.DataFrame({"unit": range(3), "value": cells}), ["x", str(uuid.UUID(int=7))]) == [1, 0]
    assert not seen


SEVENS = [7, 7.0, np.int8(7), np.float16(7), decimal.Decimal("7.00"), decimal.Decimal("0.7E1"), "7"]
HALVES = [0.5, np.float32(0.5), decimal.Decimal("0.5"), decimal.Decimal("0.500"), decimal.Decimal("5e-1"), "0.5"]
TENTHS = [0.1, decimal.Decimal.from_float(0.1), decimal.Decimal("0.1"), "0.1"]
LARGE = [10**20, 1e20, decimal.Decimal("1e20"), "1" + "0" * 20]
TINY = [decimal.Decimal("1e-400"), decimal.Decimal("10e-401")]
ZEROS = [0, 0.0, -0.0, decimal.Decimal("-0.00"), "0"]


@pytest.mark.parametrize(
    ("equal", "text"),
    [(SEVENS, "7"), (HALVES, "0.5"), (TENTHS, "0.1"), (LARGE, "1" + "0" * 20), (TINY, "0.0"), (ZEROS, "0")],
)
def test_equal_numbers_are_one_unit_and_one_value(equal: list[Any], text: str) -> None:
    cells = pd.Series(equal, dtype=object)
    assert count(pd.DataFrame({"unit": cells, "value": 1}), [1]) == [1]
    assert count(pd.DataFrame({"unit": range(len(equal)), "value": cells}), [text]) == [len(equal)]
    with decimal.localcontext(decimal.Context(prec=1, traps=[decimal.Inexact, decimal.Rounded])):
        assert count(pd.DataFrame({"unit": cells, "value": 1}), [1]) == [1]


def test_numbers_that_are_not_equal_are_different_units() -> None:
    """Control, and among them those that a double could not tell apart."""
    different = [
        2**53,
        2**53 + 1,
        2**53 + 3,
        2**53 + 5,
        2**200,
        2**200 + 1,
        0.5,
        0.25,
        0,
        decimal.Decimal("1e-300"),
        "7",
        "07",
    ]
    assert count(pd.DataFrame({"unit": pd.Series(different, dtype=object), "value": 1}), [1]) == [len(different)]


def test_what_is_no_number_is_nobody() -> None:
    nobody = [math.nan, np.float32("nan"), *map(decimal.Decimal, ("NaN", "-NaN", "sNaN", "NaN1")), 10**400, 1j]
    nobody += [decimal.Decimal("1e400"), decimal.Decimal("1e999999"), np.timedelta64(7), np.datetime64("2026-11-21")]
    frame = pd.DataFrame({"unit": pd.Series([*nobody, "ann"], dtype=object), "value": 1})
    assert count(frame, [1]) == [1]
    assert count(pd.DataFrame({"unit": range(len(nobody)), "value": pd.Series(nobody, dtype=object)}), ["nan"]) == [0]


def test_bytes_are_no_text_whatever_else_is_in_the_column() -> None:
    """Arrow takes bytes for text if all else is text, and not otherwise: one value would decide about another."""
    for others in (["y"], ["y", 7], [7]):
        cells = [b"x", *others]
        frame = pd.DataFrame({"unit": range(len(cells)), "value": pd.Series(cells, dtype=object)})
        assert count(frame, ["x"]) == [0]
