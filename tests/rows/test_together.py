"""Counts of a few places each, asked together: they share words of bits, and each finds what Python counts."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from math import prod
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from dpselect.rows import statements
from dpselect.rows.row_rules import Dialect
from dpselect.rows.statements import Statement
from tests.rows.engines import on_server, opener
from tests.rows.tables import Opened

COLUMNS, SIZE, UNITS = 30, 400, 60
CITIES = ["oslo", "rome"]
ENGINES = ["duckdb", "spark", "postgres"]


def rows() -> dict[str, list[Any]]:
    generator = np.random.default_rng(3)
    numbers = {f"c{at}": generator.integers(0, 12 + at, SIZE).tolist() for at in range(COLUMNS)}
    units = generator.integers(0, UNITS, SIZE).tolist()
    return {
        "who": [None if unit == 7 else unit for unit in units],
        "city": generator.choice([*CITIES, "bern"], SIZE).tolist(),
        # One of each unit, in some of its rows: there is nothing to choose.
        "home": [[*CITIES, "bern", None][unit % 4] if at % 3 else None for at, unit in enumerate(units)],
        **{name: [None if number == 3 else number for number in of_it] for name, of_it in numbers.items()},
    }


def opened(engine: str, request: pytest.FixtureRequest, held: dict[str, list[Any]]) -> Opened:
    table = pa.table(held)
    if engine == "postgres":
        return on_server(request.getfixturevalue("postgres"), table).opened()
    return opener(engine)(table)


def units_with(held: dict[str, list[Any]], *needed: tuple[str, Any]) -> int:
    """How many units have a row with all of these values."""
    places = [held[name] for name, _ in needed]
    found = zip(held["who"], zip(*places, strict=True), strict=True)
    wanted = tuple(value for _, value in needed)
    return len({unit for unit, row in found if row == wanted and unit is not None})


def asked_of(table: Opened, held: dict[str, list[Any]]) -> tuple[list[Any], list[Any]]:
    """Questions of about 1,100 places and all kinds, and their answers."""
    asked: list[Any] = []
    expected: list[Any] = []
    for at in range(COLUMNS):
        name = f"c{at}"
        asked += [table.asked("count", unit="who", column=name, candidates=range(20 + at))]
        expected += [[[units_with(held, (name, value)) for value in range(20 + at)]]]
        asked += [table.asked("units", unit="who", number=name, between=(at, at))]
        expected += [[units_with(held, (name, at))]]
    asked += [table.asked("count", unit="who", column="city", candidates=CITIES[::-1])]
    expected += [[[units_with(held, ("city", city)) for city in CITIES[::-1]]]]
    asked += [table.asked("count", unit="who", column="home", candidates=CITIES[::-1], max_values_per_unit=1)]
    expected += [[[units_with(held, ("home", city)) for city in CITIES[::-1]]]]
    both = ("city", CITIES[::-1], 2)
    asked += [table.asked("count", unit="who", column="c0", candidates=[5, 1, 3, 2], groups=both)]
    expected += [[[units_with(held, ("city", city), ("c0", value)) for value in (5, 1, 3, 2)] for city in CITIES[::-1]]]
    asked += [table.asked("units", unit="who", groups=both)]
    expected += [[units_with(held, ("city", city)) for city in CITIES[::-1]]]
    # Cross tables, whose columns are looked up together: with pairs that are no group, and one that nobody has.
    pairs = [("rome", "oslo"), ("oslo", "rome"), ("oslo", "oslo"), ("rome", "nowhere")]
    cross = (["city", "home"], pairs, len(pairs))
    named = [(("city", city), ("home", home)) for city, home in pairs]
    asked += [table.asked("count", unit="who", column="c1", candidates=[4, 2, 0], groups=cross)]
    expected += [[[units_with(held, *both, ("c1", value)) for value in (4, 2, 0)] for both in named]]
    asked[:0] = [table.asked("units", unit="who", groups=cross)]
    expected[:0] = [[units_with(held, *both) for both in named]]
    asked += [table.asked("units", unit="who")]
    expected += [[len({*held["who"]} - {None})]]
    return asked, expected


def plain(found: list[Any]) -> list[Any]:
    return [[each if isinstance(each, int) else each.totals.tolist() for each in of_one] for of_one in found]


@pytest.mark.parametrize("engine", ENGINES)
def test_each_finds_what_python_counts(engine: str, request: pytest.FixtureRequest) -> None:
    held = rows()
    table = opened(engine, request, held)
    asked, expected = asked_of(table, held)
    assert plain(table.found(asked)) == expected


def test_there_are_more_places_than_one_statement_counts() -> None:
    held = rows()
    table = opener("duckdb")(pa.table(held))
    asked = [statements.statement_of(each) for each in asked_of(table, held)[0]]
    batches = [batch for batch, _ in statements.batched(asked)]
    assert len(batches) == 2
    assert sorted(at for batch in batches for at in batch) == [*range(len(asked))]
    assert all(sum(prod(asked[at].places) for at in batch) <= 1024 for batch in batches)


@pytest.mark.parametrize(("written", "instead"), [(r"\bwhat\d+(?! IS)", "0"), (r"\w+ IS NOT NULL", "1 = 1")])
def test_the_comparison_can_fail(written: str, instead: str, monkeypatch: pytest.MonkeyPatch) -> None:
    held = rows()
    table = opener("duckdb")(pa.table(held))
    asked, expected = asked_of(table, held)
    together = statements.together

    def broken(asked: Sequence[Statement]) -> Statement:
        found = together(asked)

        def body(dialect: Dialect, rows: str) -> str:
            return re.sub(written, instead, found.body(dialect, "@")).replace("@", rows)

        return replace(found, body=body)

    monkeypatch.setattr(statements, "together", broken)
    assert plain(table.found(asked)) != expected
