"""Where chance chooses among a unit's rows or groups: on every engine alike, fairly, and of each unit by itself."""

from __future__ import annotations

import os
from collections import defaultdict
from itertools import combinations

import numpy as np
import pyarrow as pa
import pytest

from tests.laws.goodness_of_fit import NEVER, p_value
from tests.rows import engines
from tests.rows.engines import Opener
from tests.rows.tables import Groups, Opened

pytestmark = engines.deprecations
lazily = pytest.mark.parametrize("engine", engines.LAZY, indirect=True, scope="module")
UNITS, ROWS = 3000, 5


def repeated() -> pa.Table:
    """Each unit has five rows in an order of their own, each in another group; the value says whose and which it is."""
    unit, row = np.divmod(np.random.default_rng(3).permutation(UNITS * ROWS), ROWS)
    return pa.table({"unit": unit, "value": (unit * ROWS + row) * 1.0, "part": row, "one": np.ones_like(row)})


@pytest.fixture(scope="module")
def table(opened: Opener) -> Opened:
    return opened(repeated())


def kept_rows(table: Opened, most: int) -> np.ndarray:
    """Which of its rows each unit keeps, as sorted row numbers: shape ``(units, most)``."""
    (found,) = table.numbers("value", (0, UNITS * ROWS), most=most)
    kept = np.array(found).astype(int).reshape(UNITS, most)
    assert (kept // ROWS == np.arange(UNITS)[:, None]).all()
    return kept % ROWS


def in_groups(most: int) -> Groups:
    return "part", range(ROWS), most


def kept_groups(table: Opened, most: int) -> np.ndarray:
    """The same of groups, as they show in the values that are kept."""
    found = table.numbers("value", (0, UNITS * ROWS), groups=in_groups(most))
    chosen: dict[int, list[int]] = defaultdict(list)
    for part, each in enumerate(found):
        for value in each:
            assert value % ROWS == part
            chosen[int(value) // ROWS].append(part)
    return np.array([sorted(chosen[unit]) for unit in range(UNITS)])


def fit(chosen: np.ndarray, most: int) -> float:
    sets = {each: place for place, each in enumerate(combinations(range(ROWS), most))}
    counts = np.bincount([sets[tuple(each)] for each in chosen.tolist()], minlength=len(sets))
    return p_value(counts, np.full(len(sets), 1.0 / len(sets)))


@lazily
def test_each_set_of_a_units_rows_is_equally_likely_and_units_choose_for_themselves(table: Opened) -> None:
    chosen = kept_rows(table, 2)
    assert fit(chosen, 2) > NEVER
    pairs = chosen[:, 0].reshape(-1, 2)
    law = np.outer([4, 3, 2, 1], [4, 3, 2, 1]).ravel() / 100
    assert p_value(np.bincount(pairs[:, 0] * 4 + pairs[:, 1], minlength=16), law) > NEVER
    assert p_value(np.bincount(pairs[:, 0] * 5, minlength=16), law) < NEVER  # control: both choose the same
    assert fit(np.sort((chosen + (chosen == 4)) % ROWS, axis=1)[chosen[:, 1] < 4], 2) < NEVER  # control: one row less


@lazily
def test_each_set_of_a_units_groups_is_equally_likely(table: Opened) -> None:
    assert fit(kept_groups(table, 2), 2) > NEVER


@lazily
def test_another_question_chooses_anew(table: Opened) -> None:
    assert (kept_rows(table, 1) != kept_rows(table, 1)).mean() > 0.6


@lazily
def test_counts_and_totals_are_of_as_many_groups_as_are_allowed(table: Opened) -> None:
    counts = np.array(table.counts("one", [1, 2], groups=in_groups(2)))
    assert counts[:, 1].tolist() == [0] * ROWS
    assert counts[:, 0].sum() == 2 * UNITS
    assert p_value(counts[:, 0], np.full(ROWS, 1.0 / ROWS)) > NEVER
    totals = np.array(table.totals("one", (0, 5), scale=7, column="one", candidates=[1, 2], groups=in_groups(3)))
    assert totals[:, 0].sum() == 3 * 5 * UNITS


@lazily
def test_how_often_a_row_is_repeated_counts(opened: Opener) -> None:
    """Of ten rows that are alike nine and one, the one is kept by a tenth of the units."""
    units = np.arange(UNITS)
    rows = pa.table({"unit": np.repeat(units, 10), "value": np.tile([5.0] * 9 + [7.0], UNITS)})
    (found,) = opened(rows).numbers("value", (0, 10))
    counts = np.array([found.count(5.0), found.count(7.0)])
    assert counts.sum() == UNITS
    assert p_value(counts, np.array([0.9, 0.1])) > NEVER
    assert p_value(counts, np.array([0.5, 0.5])) < NEVER


def test_lots_that_are_not_random_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Control: equal lots, so that the smaller values are kept."""
    table = engines.opener("duckdb")(repeated())
    monkeypatch.setattr(os, "urandom", bytes)
    assert fit(kept_rows(table, 2), 2) < NEVER


@lazily
def test_usable_units_count_in_as_many_groups_as_they_may(table: Opened) -> None:
    """Each unit is in five groups: in all of them together it counts once, or twice, and they are equally full."""
    for most in (1, 2):
        found = table.units(number="value", groups=in_groups(most))
        assert sum(found) == most * UNITS
        assert p_value(np.array(found), np.full(ROWS, 1.0 / ROWS)) > NEVER
    assert table.units(number="value") == [UNITS]


@lazily
@pytest.mark.parametrize("most", [1, 2])
def test_each_set_of_a_units_unknown_values_is_equally_likely(table: Opened, opened: Opener, most: int) -> None:
    """Of five values, which are as many for each unit and different from those of all others."""
    (found,) = table.values("value", "numbers", most=most)
    assert {*found.values()} == {1}
    kept = np.sort(np.array([*found])).astype(int).reshape(UNITS, most)
    assert (kept // ROWS == np.arange(UNITS)[:, None]).all()
    assert fit(kept % ROWS, most) > NEVER
    if most == 1:  # anew each time, however often a value is repeated, and whatever it is
        (another,) = table.values("value", "numbers", most=most)
        assert np.isin([*another], kept).mean() < 0.4
        texts = np.tile(["five"] * 9 + ["seven"], UNITS)
        repeats = opened(pa.table({"unit": np.repeat(np.arange(UNITS), 10), "value": texts}))
        (found,) = repeats.values("value", "text", most=most)
        counts = np.array([found["five"], found["seven"]])
        assert counts.sum() == sum(found.values()) == UNITS
        assert p_value(counts, np.array([0.5, 0.5])) > NEVER
        assert p_value(counts, np.array([0.9, 0.1])) < NEVER


@lazily
def test_unknown_values_are_of_as_many_groups_as_are_allowed(table: Opened) -> None:
    found = table.values("value", "numbers", most=3, groups=in_groups(2))
    assert sum(map(len, found)) == 2 * UNITS  # each group of a unit has one of its values
    assert p_value(np.array([*map(len, found)]), np.full(ROWS, 1.0 / ROWS)) > NEVER
