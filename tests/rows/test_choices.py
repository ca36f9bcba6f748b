"""Where chance chooses among a unit's rows or groups: on every engine alike, fairly, and of each unit by itself."""

from __future__ import annotations

import os
from collections import defaultdict
from itertools import combinations

import numpy as np
import pyarrow as pa
import pytest

from dpselect.rows.columns import Amount, Grouping
from dpselect.rows.table import Table
from dpselect.summaries import CandidateKind, PublicCandidates, PublicDomain
from tests.laws.goodness_of_fit import NEVER, p_value
from tests.rows import engines
from tests.rows.engines import Opener
from tests.rows.tables import scanned

pytestmark = engines.deprecations
lazily = pytest.mark.parametrize("engine", engines.LAZY, indirect=True, scope="module")
UNITS, ROWS = 3000, 5


def repeated() -> pa.Table:
    """Each unit has five rows in an order of their own, each in another group; the value says whose and which it is."""
    unit, row = np.divmod(np.random.default_rng(3).permutation(UNITS * ROWS), ROWS)
    return pa.table({"unit": unit, "value": (unit * ROWS + row) * 1.0, "part": row, "one": np.ones_like(row)})


@pytest.fixture(scope="module")
def table(opened: Opener) -> Table:
    return opened(repeated())


def kept_rows(table: Table, most: int) -> np.ndarray:
    """Which of its rows each unit keeps, as sorted row numbers: shape ``(units, most)``."""
    domain = PublicDomain.given((0, UNITS * ROWS))
    (found,) = scanned(
        table, "gather", unit=table.unit("unit"), column=table.column("value"), domain=domain, max_rows_per_unit=most
    )
    kept = np.sort(found.values).astype(int).reshape(UNITS, most)
    assert (kept // ROWS == np.arange(UNITS)[:, None]).all()
    return kept % ROWS


def groups_of(table: Table, most: int) -> Grouping:
    return Grouping(table.column("part"), PublicCandidates.given(range(ROWS)), most)


def kept_groups(table: Table, most: int) -> np.ndarray:
    """The same of groups, as they show in the values that are kept."""
    found = scanned(
        table,
        "gather",
        unit=table.unit("unit"),
        column=table.column("value"),
        domain=PublicDomain.given((0, UNITS * ROWS)),
        max_rows_per_unit=1,
        grouping=groups_of(table, most),
    )
    chosen: dict[int, list[int]] = defaultdict(list)
    for part, each in enumerate(found):
        assert (each.values % ROWS == part).all()
        for value in each.values.astype(int).tolist():
            chosen[value // ROWS].append(part)
    return np.array([sorted(chosen[unit]) for unit in range(UNITS)])


def fit(chosen: np.ndarray, most: int) -> float:
    sets = {each: place for place, each in enumerate(combinations(range(ROWS), most))}
    counts = np.bincount([sets[tuple(each)] for each in chosen.tolist()], minlength=len(sets))
    return p_value(counts, np.full(len(sets), 1.0 / len(sets)))


@lazily
def test_each_set_of_a_units_rows_is_equally_likely_and_units_choose_for_themselves(table: Table) -> None:
    chosen = kept_rows(table, 2)
    assert fit(chosen, 2) > NEVER
    pairs = chosen[:, 0].reshape(-1, 2)
    law = np.outer([4, 3, 2, 1], [4, 3, 2, 1]).ravel() / 100
    assert p_value(np.bincount(pairs[:, 0] * 4 + pairs[:, 1], minlength=16), law) > NEVER
    assert p_value(np.bincount(pairs[:, 0] * 5, minlength=16), law) < NEVER  # control: both choose the same
    assert fit(np.sort((chosen + (chosen == 4)) % ROWS, axis=1)[chosen[:, 1] < 4], 2) < NEVER  # control: one row less


@lazily
def test_each_set_of_a_units_groups_is_equally_likely(table: Table) -> None:
    assert fit(kept_groups(table, 2), 2) > NEVER


@lazily
def test_another_question_chooses_anew(table: Table) -> None:
    assert (kept_rows(table, 1) != kept_rows(table, 1)).mean() > 0.6


@lazily
def test_counts_and_totals_are_of_as_many_groups_as_are_allowed(table: Table) -> None:
    asked = {"unit": table.unit("unit"), "column": table.column("one"), "candidates": PublicCandidates.given([1, 2])}
    counts = np.array([each.counts for each in scanned(table, "count", **asked, grouping=groups_of(table, 2))])
    assert counts[:, 1].tolist() == [0] * ROWS
    assert counts[:, 0].sum() == 2 * UNITS
    assert p_value(counts[:, 0], np.full(ROWS, 1.0 / ROWS)) > NEVER
    amount = Amount(table.column("one"), 7, 0, 5)
    totals = np.array(
        [each.totals for each in scanned(table, "total", **asked, amount=amount, grouping=groups_of(table, 3))]
    )
    assert totals[:, 0].sum() == 3 * 5 * UNITS


@lazily
def test_how_often_a_row_is_repeated_counts(opened: Opener) -> None:
    """Of ten rows that are alike nine and one, the one is kept by a tenth of the units."""
    units = np.arange(UNITS)
    rows = pa.table({"unit": np.repeat(units, 10), "value": np.tile([5.0] * 9 + [7.0], UNITS)})
    table = opened(rows)
    (found,) = scanned(
        table,
        "gather",
        unit=table.unit("unit"),
        column=table.column("value"),
        domain=PublicDomain.given((0, 10)),
        max_rows_per_unit=1,
    )
    counts = np.array([(found.values == 5.0).sum(), (found.values == 7.0).sum()])
    assert counts.sum() == UNITS
    assert p_value(counts, np.array([0.9, 0.1])) > NEVER
    assert p_value(counts, np.array([0.5, 0.5])) < NEVER


def test_lots_that_are_not_random_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Control: equal lots, so that the smaller values are kept."""
    table = engines.opener("duckdb")(repeated())
    monkeypatch.setattr(os, "urandom", bytes)
    assert fit(kept_rows(table, 2), 2) < NEVER


@lazily
def test_usable_units_count_in_as_many_groups_as_they_may(table: Table) -> None:
    """Each unit is in five groups: in all of them together it counts once, or twice, and they are equally full."""
    for most in (1, 2):
        needed = {"number": table.column("value")}
        found = scanned(table, "units", unit=table.unit("unit"), **needed, grouping=groups_of(table, most))
        assert sum(found) == most * UNITS
        assert p_value(np.array(found), np.full(ROWS, 1.0 / ROWS)) > NEVER
    assert scanned(table, "units", unit=table.unit("unit"), **needed) == [UNITS]


@lazily
@pytest.mark.parametrize("most", [1, 2])
def test_each_set_of_a_units_unknown_values_is_equally_likely(table: Table, opened: Opener, most: int) -> None:
    """Of five values, which are as many for each unit and different from those of all others."""
    asked = {"kind": CandidateKind.NUMBER, "max_values_per_unit": most}
    (found,) = scanned(table, "names", unit=table.unit("unit"), column=table.column("value"), **asked)
    assert (found.counts == 1).all()
    kept = np.sort(np.array(found.names.to_pylist())).astype(int).reshape(UNITS, most)
    assert (kept // ROWS == np.arange(UNITS)[:, None]).all()
    assert fit(kept % ROWS, most) > NEVER
    if most == 1:  # anew each time, however often a value is repeated, and whatever it is
        (another,) = scanned(table, "names", unit=table.unit("unit"), column=table.column("value"), **asked)
        assert np.isin(another.names.to_pylist(), kept).mean() < 0.4
        texts = np.tile(["five"] * 9 + ["seven"], UNITS)
        repeats = opened(pa.table({"unit": np.repeat(np.arange(UNITS), 10), "value": texts}))
        asked = {"kind": CandidateKind.TEXT, "max_values_per_unit": most}
        (found,) = scanned(repeats, "names", unit=repeats.unit("unit"), column=repeats.column("value"), **asked)
        assert found.counts.sum() == UNITS
        assert p_value(found.counts, np.array([0.5, 0.5])) > NEVER
        assert p_value(found.counts, np.array([0.9, 0.1])) < NEVER


@lazily
def test_unknown_values_are_of_as_many_groups_as_are_allowed(table: Table) -> None:
    asked = {"kind": CandidateKind.NUMBER, "max_values_per_unit": 3, "grouping": groups_of(table, 2)}
    found = scanned(table, "names", unit=table.unit("unit"), column=table.column("value"), **asked)
    assert sum(each.counts.size for each in found) == 2 * UNITS  # each group of a unit has one of its values
    assert p_value(np.array([each.counts.size for each in found]), np.full(ROWS, 1.0 / ROWS)) > NEVER
