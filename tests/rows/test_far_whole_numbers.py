"""Whole numbers that doubles skip: from 2^53 on, a question tells a number from its neighbours, or is refused."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dpselect as dps
from dpselect import verify as check
from dpselect.errors import InvalidDataError, InvalidParameterError
from tests.rows import engines
from tests.rows.engines import Source
from tests.slow import SLOW
from tests.views import ask as asked

pytestmark = engines.deprecations

FIRST = 2**53
"""Doubles skip the whole number after it."""
STAMP = 1_790_000_000_000_000_000
"""Nanoseconds since 1970."""
LAST = 2**63 - 1
NEAR = [FIRST - 1] + [FIRST] * 2 + [FIRST + 1] * 3 + [FIRST + 2] * 4
FAR = [LAST] * 5 + [LAST - 1] * 3 + [-LAST] * 2
WIDE = [2**63 + 1] * 4 + [2**63] * 3 + [-(2**63) - 1] * 2 + [10**20]

ROWS = pa.table(
    {
        "who": pa.array(range(10)),
        "near": pa.array(NEAR, pa.int64()),
        "far": pa.array(FAR, pa.int64()),
        "stamp": pa.array([STAMP + each - FIRST for each in NEAR], pa.int64()),
        "exact": pa.array(list(map(Decimal, NEAR)), pa.decimal128(20, 2)),
        "wide": pa.array(list(map(Decimal, WIDE)), pa.decimal128(38, 0)),
        "double": pa.array([float(each) for each in (FIRST - 1, FIRST, FIRST, *[FIRST + 2] * 7)]),
    }
)

BETWEEN: list[tuple[str, Any, Any, int]] = [
    ("near", FIRST + 1, FIRST + 1, 3),
    ("near", FIRST, FIRST, 2),
    ("near", float(FIRST), float(FIRST), 2),
    ("near", 0, FIRST + 1, 6),
    ("near", FIRST + 1, 1e300, 7),
    ("near", -1e300, 0.5, 0),
    ("near", 0.5, 2**63, 10),
    ("stamp", STAMP + 1, STAMP + 1, 3),
    ("stamp", STAMP - 1, STAMP, 3),
    ("far", LAST, LAST, 5),
    ("far", LAST - 1, LAST - 1, 3),
    ("far", LAST, 10**30, 5),
    ("far", -(2**63), -LAST, 2),
    ("far", LAST + 1, 10**30, 0),
    ("exact", FIRST + 1, FIRST + 1, 3),
    ("exact", Decimal(FIRST + 1), FIRST + 2, 7),
    ("exact", 0.5, float(FIRST), 3),
    ("wide", 2**63 + 1, 2**63 + 1, 4),
    ("wide", 2**63, 2**63, 3),
    ("wide", -(2**63) - 1, -(2**63) - 1, 2),
    ("wide", 10**20, 1e300, 1),
    ("double", FIRST + 1, FIRST + 1, 0),
    ("double", FIRST + 1, FIRST + 2, 7),
    ("double", FIRST - 1, FIRST + 1, 3),
]
"""Column, bounds, and how many of the ten people have a number between them, counted by hand."""

SURE = 60.0
"""An epsilon with which noise on a count, or a second best, comes less often than once in 10^20 tests."""


def test_counts_between_whole_numbers_and_of_them(engine: str, place: Callable[[pa.Table], Source]) -> None:
    """Spark, which starts a job for each question, is asked the narrowest ones.

    By day each way that rows are read is asked all, and each source that joins one of these ways a third.
    """
    asked = [each for each in BETWEEN if engine != "spark" or each[1] == each[2]]
    if not SLOW and engine not in (*engines.ASKED_EVERYTHING, "spark"):
        asked = asked[engines.ALL.index(engine) % 3 :: 3]
    questions: list[tuple[dict[str, Any], Any]] = [
        ({"ask": "count", "column": column, "between": (lower, upper)}, truth) for column, lower, upper, truth in asked
    ]
    questions += [
        ({"ask": "histogram", "column": "exact", "candidates": [FIRST + 1, FIRST]}, [3, 2]),
        ({"ask": "histogram", "column": "double", "candidates": [FIRST + 1, FIRST]}, [0, 2]),
        ({"ask": "most_common", "column": "far", "candidates": range(LAST - 2, LAST + 1)}, LAST),
    ]
    if engine != "spark":
        questions += [
            ({"ask": "count", "column": "near", "candidates": [FIRST + 1, 5]}, 3),
            ({"ask": "histogram", "column": "near", "candidates": range(FIRST - 1, FIRST + 3)}, [1, 2, 3, 4]),
            ({"ask": "top_k", "column": "stamp", "k": 2, "candidates": [STAMP, STAMP + 1]}, [STAMP + 1, STAMP]),
            ({"ask": "count", "by": "near", "groups": [FIRST, FIRST + 1]}, {FIRST: 2, FIRST + 1: 3}),
        ]
    data = place(ROWS).asked("who")
    found = data.ask([{**question, "epsilon": SURE} for question, _ in questions])
    assert [release.value for release in found] == [truth for _, truth in questions]


REFUSED: list[tuple[str, dict[str, Any]]] = [
    ("median", {"column": "near", "bounds": (0, FIRST), "step": 4}),
    ("median", {"column": "stamp", "bounds": (0, 2 * STAMP), "continuous": True}),
    ("quantiles", {"column": "exact", "levels": [0.5, 0.9], "bounds": (-FIRST, 0), "continuous": True}),
    ("mean", {"column": "far", "bounds": (0, 2**60)}),
    ("variance", {"column": "near", "bounds": (FIRST, FIRST + 2**20), "step": 4}),
    ("sum", {"column": "near", "clip": (0, 10**16), "scale": 1e-7}),
    ("best_price", {"column": "near", "prices": [FIRST, 2 * FIRST]}),
    ("best_by", {"column": "near", "candidates": [1, 2], "sum": "far", "clip": (0, 10**16), "scale": 1e-7}),
    ("histogram", {"column": "exact", "candidates": [0.5, float(FIRST)]}),
    ("count", {"column": "wide", "candidates": [-float(2**63)]}),
    ("count", {"column": "near", "between": (1, 2), "by": "exact", "groups": [0.5, float(FIRST)]}),
]


@pytest.mark.parametrize(("ask", "arguments"), REFUSED, ids=[f"{ask}-{each['column']}" for ask, each in REFUSED])
def test_questions_that_compare_doubles_refuse_what_they_would_confuse(ask: str, arguments: dict[str, Any]) -> None:
    data = dps.Dataset(ROWS, unit="who")
    with pytest.raises(InvalidDataError, match=r"expected a column of doubles, or bounds, .* below 2\^53"):
        asked(data, ask, **arguments, epsilon=SURE)


@pytest.mark.parametrize(
    ("ask", "arguments"),
    [
        ("median", {"bounds": (0, FIRST + 1), "continuous": True}),
        ("mean", {"bounds": (FIRST + 1, 2 * FIRST)}),
        ("best_price", {"prices": [FIRST + 1, 2 * FIRST + 2]}),
        ("count", {"between": (Fraction(2 * FIRST + 1, 2), 2 * FIRST)}),
        ("count", {"between": (0, 10**40 + 1)}),
    ],
)
def test_bounds_that_no_double_holds_are_refused_for_doubles_too(ask: str, arguments: dict[str, Any]) -> None:
    data = dps.Dataset(ROWS, unit="who")
    with pytest.raises(dps.SelectionError, match=r"doubles? hold|whole numbers|37 digits"):
        getattr(data, ask)("double", **arguments, epsilon=1.0)


def test_bounds_of_doubles_beyond_are_answered_for_a_column_of_doubles() -> None:
    data = dps.Dataset(ROWS, unit="who")
    assert data.median("double", bounds=(0, 2 * FIRST), step=8, epsilon=SURE).value == FIRST
    assert data.best_price("double", prices=[FIRST, 2 * FIRST], epsilon=SURE).value == FIRST


def test_text_is_compared_digit_by_digit(tmp_path: Path) -> None:
    """Also with an exponent, with zeros in front that make the text long, and with a fraction."""
    big = FIRST + 1
    cells = [f"{big}", f"+{big}.0", f" {'0' * 900}{big}", "9007199254740993e0", "9.007199254740993E15", f"{FIRST}"]
    cells += [f"{FIRST}.9", f"{big}.1", f"{10**30}", "1e400", "-1e400", "x"]
    path = tmp_path / "t.csv"
    path.write_text("who,v\n" + "".join(f'{i},"{cell}"\n' for i, cell in enumerate(cells)))
    data = dps.Dataset(path, unit="who")
    for bounds, truth in [
        ((big, big), 5),
        ((FIRST, big), 7),
        ((big, 1e300), 7),
        ((-1e300, FIRST), 1),
        ((0, 10**30), 9),
    ]:
        assert data.count("v", between=bounds, epsilon=SURE).value == truth, bounds


def test_unsigned_numbers_of_64_bits(tmp_path: Path) -> None:
    last = 2**64 - 1
    cells = [last] * 4 + [last - 1] * 3 + [2**63] * 2 + [7]
    rows = pa.table({"who": pa.array(range(10)), "v": pa.array(cells, pa.uint64())})
    pq.write_table(rows, tmp_path / "t.parquet")
    for source in (str(tmp_path / "t.parquet"), rows):
        data = dps.Dataset(source, unit="who")
        for bounds, truth in [
            ((last, last), 4),
            ((last - 1, last - 1), 3),
            ((2**63, 2**63), 2),
            ((2**63 + 1, 1e300), 7),
            ((-1, 7), 1),
            ((-9, -1), 0),
            ((0, last), 10),
        ]:
            assert data.count("v", between=bounds, epsilon=SURE).value == truth, bounds


def test_names_are_whole_or_left_out() -> None:
    """Values that nobody listed: as whole numbers each for itself; as numbers those that may be rounded not at all."""
    rows = pa.table(
        {
            "who": pa.array(range(1000)),
            "v": pa.array([Decimal(each) for each in (FIRST, FIRST + 1, FIRST - 1, 5) for _ in range(250)]),
        }
    )
    data = dps.Dataset(rows, unit="who")
    for kind, expected in (("integer", {FIRST, FIRST + 1, FIRST - 1, 5}), ("number", {FIRST - 1.0, 5.0})):
        release = data.values("v", kind=kind, epsilon=SURE, delta=1e-6)
        assert {*release.value} == expected


def test_certificates_keep_every_digit_and_are_checked() -> None:
    release = dps.Dataset(ROWS, unit="who").count("near", between=(FIRST + 1, FIRST + 1), epsilon=SURE)
    assert json.loads(release.to_json())["arguments"] == {"between": [FIRST + 1, FIRST + 1]}
    assert "between 9007199254740993 and 9007199254740993" in release.accuracy
    assert check(release.to_json()).release == release


def test_the_rows_are_what_the_table_says() -> None:
    assert Counter(NEAR) == {FIRST - 1: 1, FIRST: 2, FIRST + 1: 3, FIRST + 2: 4}
    assert float(FIRST + 1) == FIRST  # so a comparison of doubles would count both


def test_between_is_two_numbers_in_order() -> None:
    data = dps.Dataset(ROWS, unit="who")
    with pytest.raises(InvalidParameterError, match=r"between=\(9007199254740993, 9007199254740992.0\): expected two"):
        data.count("near", between=(FIRST + 1, FIRST), epsilon=1.0)
