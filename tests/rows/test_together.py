"""Counts of a few places each, asked together: they share words of bits, and each finds what Python counts."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from dpselect.rows import statements, together
from dpselect.rows.columns import Grouping
from dpselect.rows.opening import open_table
from dpselect.rows.table import Table
from dpselect.summaries import PublicCandidates
from tests.rows.engines import MAKERS, on_server

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
        "home": [[*CITIES, "bern", None][unit % 4] for unit in units],  # one of each unit: there is nothing to choose
        **{name: [None if number == 3 else number for number in of_it] for name, of_it in numbers.items()},
    }


def opened(engine: str, request: pytest.FixtureRequest, held: dict[str, list[Any]]) -> Table:
    table = pa.table(held)
    if engine == "postgres":
        return on_server(request.getfixturevalue("postgres"), table).opened()
    return open_table(MAKERS[engine](table))


def units_with(held: dict[str, list[Any]], *needed: tuple[str, Any]) -> int:
    """How many units have a row with all of these values."""
    places = [held[name] for name, _ in needed]
    found = zip(held["who"], zip(*places, strict=True), strict=True)
    wanted = tuple(value for _, value in needed)
    return len({unit for unit, row in found if row == wanted and unit is not None})


def asked_of(table: Table, held: dict[str, list[Any]]) -> tuple[list[Any], list[Any]]:
    """Questions of about 1,100 places and all kinds, and their answers."""
    unit = table.unit("who")
    asked: list[Any] = []
    expected: list[Any] = []
    for at in range(COLUMNS):
        name, listed = f"c{at}", PublicCandidates.given(range(20 + at))
        about: dict[str, Any] = {"unit": unit, "column": table.column(name), "candidates": listed}
        asked += [partial(statements.count, **about)]
        expected += [[[units_with(held, (name, value)) for value in range(20 + at)]]]
        one = {"unit": unit, "number": table.column(name), "between": (at, at)}
        asked += [partial(statements.units, **one)]
        expected += [[units_with(held, (name, at))]]
    cities = PublicCandidates.given(CITIES[::-1])
    asked += [partial(statements.count, unit=unit, column=table.column("city"), candidates=cities)]
    expected += [[[units_with(held, ("city", city)) for city in CITIES[::-1]]]]
    home = {"unit": unit, "column": table.column("home"), "candidates": cities, "max_values_per_unit": 1}
    asked += [partial(statements.count, **home)]
    expected += [[[units_with(held, ("home", city)) for city in CITIES[::-1]]]]
    numbers, both = PublicCandidates.given([5, 1, 3, 2]), Grouping(table.column("city"), cities, 2)
    asked += [partial(statements.count, unit=unit, column=table.column("c0"), candidates=numbers, grouping=both)]
    expected += [[[units_with(held, ("city", city), ("c0", value)) for value in (5, 1, 3, 2)] for city in CITIES[::-1]]]
    asked += [partial(statements.units, unit=unit, grouping=both)]
    expected += [[units_with(held, ("city", city)) for city in CITIES[::-1]]]
    asked += [partial(statements.units, unit=unit)]
    expected += [[len({*held["who"]} - {None})]]
    return asked, expected


def plain(found: list[Any]) -> list[Any]:
    return [[each if isinstance(each, int) else each.counts.tolist() for each in of_one] for of_one in found]


@pytest.mark.parametrize("engine", ENGINES)
def test_each_finds_what_python_counts(engine: str, request: pytest.FixtureRequest) -> None:
    held = rows()
    table = opened(engine, request, held)
    asked, expected = asked_of(table, held)
    assert plain(table.answers(asked)) == expected


def test_there_are_more_places_than_one_statement_counts() -> None:
    held = rows()
    table = open_table(MAKERS["duckdb"](pa.table(held)))
    places = {at: each().places for at, each in enumerate(asked_of(table, held)[0])}
    batches = together.batches(places)
    assert len(batches) == 2
    assert [at for batch in batches for at in batch] == [*places]
    assert all(sum(places[at].number for at in batch) <= 1024 for batch in batches)


@pytest.mark.parametrize(("of", "instead"), [("_place", "0"), ("_if_read", "1")])
def test_the_comparison_can_fail(of: str, instead: str, monkeypatch: pytest.MonkeyPatch) -> None:
    held = rows()
    table = open_table(MAKERS["duckdb"](pa.table(held)))
    asked, expected = asked_of(table, held)
    monkeypatch.setattr(together, of, lambda *_: instead)
    assert plain(table.answers(asked)) != expected
