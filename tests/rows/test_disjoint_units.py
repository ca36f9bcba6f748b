"""Two sets of units that have nobody in common: what is counted and summed of both adds up, on every engine.

That is what sensitivities rest on: a unit adds its own, whoever else is there.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from dpselect.rows.statements import Lookup
from dpselect.summaries import TotalsOf
from tests.rows import engines
from tests.rows.engines import Source
from tests.rows.laws import ModelRows
from tests.rows.tables import Opened

pytestmark = engines.deprecations

NAN, INF = float("nan"), float("inf")
UNITS = 9
PAGES, CITIES = [3, 1, 2], ["south", "north"]
AMOUNT: dict[str, Any] = {"amount": "paid", "bounds": (-3, 5), "scale": 2, "unit": "who"}


def rows_of(seed: int) -> list[dict[str, Any]]:
    """Units with anything in their rows, under names with blanks around them; and rows of nobody."""
    chance = np.random.default_rng(seed)
    cells = {
        "who": [f"p{unit}" for unit in range(UNITS)] * 2 + [f" p{unit}\t" for unit in range(UNITS)] + ["", "NA", None],
        "page": [1, 2, 3, 3, 1, 7, None],
        "paid": [0.25, 0.75, -0.0, 0.0, 1.25, -1.5, 1e300, INF, -INF, NAN, None, 2.5],
        "city": ["north", "south", "east", "north", None],
    }
    return [{name: options[chance.integers(len(options))] for name, options in cells.items()} for _ in range(6 * UNITS)]


SCHEMA = pa.schema({"who": pa.string(), "page": pa.int64(), "paid": pa.float64(), "city": pa.string()})


def halves(rows: list[dict[str, Any]], seed: int) -> list[pa.Table]:
    """All rows, those of some units, and those of all others; nobody's are dealt out."""
    chance = np.random.default_rng(seed + 1)
    first = {f"p{unit}" for unit in range(UNITS) if chance.integers(2)}
    is_first = [
        bool(chance.integers(2)) if row["who"] in ("", "NA", None) else row["who"].strip() in first for row in rows
    ]
    parts = [[row for row, own in zip(rows, is_first, strict=True) if own is wanted] for wanted in (True, False)]
    return [pa.Table.from_pylist(part, schema=SCHEMA) for part in (rows, *parts)]


def summaries(table: Opened) -> list[list[int]]:
    """Counts and sums, in all and in groups."""
    groups = ("city", CITIES, 2)
    counts = table.counts("page", PAGES, unit="who", groups=groups)
    totals = table.totals(**AMOUNT, column="page", candidates=PAGES)
    return [*counts, *totals, *table.totals(**AMOUNT, column="page", candidates=PAGES, groups=groups)]


def numbers(table: Opened) -> list[float]:
    """All numbers that are kept, of units none of which has too many."""
    (found,) = table.numbers("paid", (-1, 2), unit="who", most=10 * UNITS)
    return found


def sums_add_up(tables: list[Opened]) -> bool:
    """Whether what is found of all units is the sum of what is found of both parts, bit for bit."""
    whole, first, second = (np.array(summaries(table)) for table in tables)
    assert whole.any(axis=1).all()
    return np.array_equal(whole, first + second)


def add_up(tables: list[Opened]) -> bool:
    """The same, and of the numbers, which are put together."""
    everything, one, other = (numbers(table) for table in tables)
    return sums_add_up(tables) and sorted(everything) == sorted(one + other)


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    "engine", [engine for engine in engines.ALL if engine != "spark"], indirect=True, scope="module"
)  # Spark, which takes long to start, is asked in ``test_spark.py``
def test_disjoint_units_add_up(place: Callable[[pa.Table], Source]) -> None:
    assert add_up([place(rows).opened() for rows in halves(rows_of(1), 1)])


@pytest.mark.sampled(2)
@pytest.mark.parametrize("seed", range(2, 8))
def test_any_two_sets_of_units_add_up(seed: int) -> None:
    assert add_up([engines.opener("duckdb")(rows) for rows in halves(rows_of(seed), seed)])


class _ClipsAllTogether(ModelRows):
    def _total(self, scan: TotalsOf, asked: Lookup) -> Any:
        found = super()._total(scan, asked)
        return [replace(each, totals=np.clip(each.totals, scan.clip.lower, scan.clip.upper)) for each in found]


def test_the_law_can_fail() -> None:
    """Controls: sums that are clipped for all units together; units of both parts under one name."""
    tables = [rows.to_pylist() for rows in halves(rows_of(1), 1)]
    assert add_up([Opened(ModelRows(rows)) for rows in tables])
    assert not add_up([Opened(_ClipsAllTogether(rows)) for rows in tables])
    same = [[{**row, "who": "somebody"} for row in rows] for rows in tables]
    assert not add_up([Opened(ModelRows(rows)) for rows in same])
