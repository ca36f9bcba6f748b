"""Summaries of public groups: what lands in which, of how many a unit is part, and that chance chooses them."""

from __future__ import annotations

import os
from collections import Counter
from itertools import combinations
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from dpselect.errors import InvalidDataError
from dpselect.rows.duckdb import DuckDB
from tests.laws.goodness_of_fit import NEVER, p_value
from tests.reference.clipped_sums import clipped_totals
from tests.reference.counting import distinct_unit_counts
from tests.reference.groups import taking_part
from tests.rows.tables import count_groups, gather_groups, opened, total, usable_units, write_rows

CANDIDATES, GROUPS = ["x", "y"], ["a", "b", "c"]
KINDS = pytest.mark.parametrize("kind", ["csv", "parquet"])
in_time = settings(max_examples=15)

units = st.sampled_from(["ann", "bob", "cid", None])
values = st.sampled_from(["x", "y", "w", None])
parts = st.sampled_from(["a", "b", "c", "d", None])
amounts = st.one_of(st.none(), st.integers(-9, 9))
rests = st.tuples(values, parts, amounts)
tables = st.lists(st.tuples(units, rests), max_size=14)
TYPES = (pa.string(), pa.string(), pa.string(), pa.int64())
IN_ALL = [("x", part, 1) for part in GROUPS]  # of one unit, which few tables of chance have
everywhere = example(rows=[("ann", each) for each in IN_ALL], most=1)


def written(folder: str, rows: list[Any], *, kind: str = "parquet") -> Path:
    return write_rows(Path(folder), [(unit, *rest) for unit, rest in rows], kind=kind, types=TYPES)


def possible_counts(rows: list[Any], most: int) -> set[str]:
    usable = [(unit, part, value) for unit, (value, part, _) in rows if value in CANDIDATES]
    outcomes = taking_part(usable, groups=GROUPS, most=most)
    return {str([list(distinct_unit_counts(each, candidates=CANDIDATES)) for each in kept]) for _, kept in outcomes}


def possible_totals(rows: list[Any], most: int) -> set[str]:
    usable = [
        (unit, part, (value, number))
        for unit, (value, part, number) in rows
        if value in CANDIDATES and number is not None
    ]
    found = set()
    for _, kept in taking_part(usable, groups=GROUPS, most=most):
        flat = [[(unit, value, number) for unit, (value, number) in each] for each in kept]
        found.add(str([list(clipped_totals(each, candidates=CANDIDATES, lower=-7, upper=10)) for each in flat]))
    return found


def possible_units(rows: list[Any], most: int) -> set[str]:
    usable = [(unit, part, None) for unit, (value, part, number) in rows if value in CANDIDATES and number is not None]
    outcomes = taking_part(usable, groups=GROUPS, most=most)
    return {str([len({unit for unit, _ in each}) for each in kept]) for _, kept in outcomes}


@in_time
@everywhere
@given(rows=tables, most=st.integers(1, 3))
def test_usable_units_are_an_outcome_of_the_exact_model(rows: list[Any], most: int) -> None:
    with TemporaryDirectory() as folder:
        found = usable_units(written(folder, rows), CANDIDATES, number="amount", groups=GROUPS, most=most)
    assert str(found) in possible_units(rows, most)


@KINDS
@in_time
@everywhere
@given(rows=tables, most=st.integers(1, 3))
def test_counts_and_totals_are_outcomes_of_the_exact_model(kind: str, rows: list[Any], most: int) -> None:
    with TemporaryDirectory() as folder:
        path = written(folder, rows, kind=kind)
        assert str(count_groups(path, CANDIDATES, GROUPS, most=most)) in possible_counts(rows, most)
        found = total(path, CANDIDATES, bounds=(-7, 10), groups=GROUPS, most=most)
        assert str(found) in possible_totals(rows, most)


@in_time
@given(rows=tables, most=st.integers(1, 3), limit=st.integers(1, 3))
def test_values_are_an_outcome_of_the_exact_model(rows: list[Any], most: int, limit: int) -> None:
    """Each group has so many values of each unit that takes part in it, all of them its own in that group."""
    labelled = [(unit, (value, part, 10 * i)) for i, (unit, (value, part, _)) in enumerate(rows)]
    usable = [(unit, part, number) for unit, (_, part, number) in labelled]
    with TemporaryDirectory() as folder:
        names = ("unit", "amount", "part")
        found = gather_groups(written(folder, labelled), GROUPS, most=most, rows=limit, names=names)
    owner = {number: unit for unit, (_, _, number) in labelled}
    sizes = [Counter(owner[int(value)] for value in each) for each in found]
    own = [{(unit, float(number)) for unit, part, number in usable if part == group} for group in GROUPS]
    assert all((owner[int(v)], v) in mine for each, mine in zip(found, own, strict=True) for v in each)
    possible = [
        [Counter({u: min(limit, n) for u, n in Counter(unit for unit, _ in each).items()}) for each in kept]
        for _, kept in taking_part(usable, groups=GROUPS, most=most)
    ]
    assert sizes in possible


@settings(max_examples=8)
@example(rows=[], added=IN_ALL, most=1)
@given(rows=tables, added=st.lists(rests, max_size=8), most=st.integers(1, 3))
def test_one_more_unit_moves_at_most_so_many_groups(rows: list[Any], added: list[Any], most: int) -> None:
    """With the same lots for everybody else: one key for each question, one lot for each row."""
    lots = np.random.default_rng(5).bytes(8 * 100)
    larger = [*rows, *(("new", rest) for rest in added)]
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "urandom", lambda size: lots[:size])
        first = written(folder, rows, kind="csv")
        counts = [count_groups(first, CANDIDATES, GROUPS, most=most)]
        usable = [usable_units(first, CANDIDATES, groups=GROUPS, most=most)]
        sums = [total(first, CANDIDATES, bounds=(-7, 10), groups=GROUPS, most=most)]
        kept = [gather_groups(first, GROUPS, most=most, names=("unit", "amount", "part"))]
        second = written(folder, larger, kind="csv")
        counts.append(count_groups(second, CANDIDATES, GROUPS, most=most))
        usable.append(usable_units(second, CANDIDATES, groups=GROUPS, most=most))
        sums.append(total(second, CANDIDATES, bounds=(-7, 10), groups=GROUPS, most=most))
        kept.append(gather_groups(second, GROUPS, most=most, names=("unit", "amount", "part")))
    moved = np.array(counts[1]) - np.array(counts[0])
    assert set(moved.ravel().tolist()) <= {0, 1}
    assert np.any(moved, axis=1).sum() <= most
    more_units = np.array(usable[1]) - np.array(usable[0])
    assert set(more_units.tolist()) <= {0, 1}
    assert more_units.sum() <= most
    moved = np.array(sums[1]) - np.array(sums[0])
    assert moved.min() >= -7
    assert moved.max() <= 10
    assert np.any(moved, axis=1).sum() <= most
    more = [Counter(after) - Counter(before) for before, after in zip(*kept, strict=True)]
    assert not any(Counter(before) - Counter(after) for before, after in zip(*kept, strict=True))
    assert sum(bool(each) for each in more) <= most
    assert all(each.total() <= 1 for each in more)


def test_without_a_bound_on_groups_that_law_fails(tmp_path: Path) -> None:
    """Control: whoever has a row in each of three groups counts in three."""
    path = written(str(tmp_path), [("ann", ("x", part, 1)) for part in GROUPS])
    assert count_groups(path, CANDIDATES, GROUPS, most=3) == [[1, 0]] * 3
    assert sum(map(sum, count_groups(path, CANDIDATES, GROUPS, most=1))) == 1


UNITS = 12_000


@pytest.fixture
def crowded(tmp_path: Path) -> Path:
    """Each unit is in four of five groups: with one row, two, three and four rows, in an order of its own."""
    one = [(value, part) for part in range(4) for value in range(part + 1)]
    unit, row = np.divmod(np.random.default_rng(3).permutation(UNITS * len(one)), len(one))
    own = np.array(one)[row]
    table = {"unit": unit, "value": unit, "part": own[:, 1], "amount": unit * 10.0 + own[:, 1]}
    pq.write_table(pa.table(table), tmp_path / "t.parquet")
    return tmp_path / "t.parquet"


def chosen_by_counts(path: Path, most: int) -> np.ndarray:
    """Which groups each unit counts in: shape ``(units, groups)``."""
    return np.array(count_groups(path, range(UNITS), range(5), most=most)).T


def chosen_by_totals(path: Path, most: int) -> np.ndarray:
    sums = total(path, range(UNITS), bounds=(1, 10**9), groups=range(5), most=most)
    return (np.array(sums).T > 0).astype(int)


def chosen_by_values(path: Path, most: int) -> np.ndarray:
    found = gather_groups(path, range(5), most=most, rows=9, names=("unit", "amount", "part"))
    chosen = np.zeros((UNITS, 5), int)
    for part, values_kept in enumerate(found):
        of, position = np.divmod(np.array(values_kept, int), 10)
        assert (position == part).all()
        assert (np.bincount(of, minlength=UNITS) % (part + 1) == 0).all()  # all of its rows there, or none
        chosen[of, part] = 1
    return chosen


WAYS = pytest.mark.parametrize("way", [chosen_by_counts, chosen_by_totals, chosen_by_values])


def fit(chosen: np.ndarray, most: int) -> float:
    sets = {each: i for i, each in enumerate(combinations(range(4), most))}
    numbers = Counter(tuple(np.flatnonzero(each).tolist()) for each in chosen)
    counts = np.array([numbers.pop(each, 0) for each in sets])
    assert not numbers  # nothing but sets of so many groups that the unit is in
    return p_value(counts, np.full(len(sets), 1.0 / len(sets)))


@WAYS
@pytest.mark.parametrize("most", [1, 2])
def test_each_set_of_a_units_groups_is_equally_likely(crowded: Path, way: Any, most: int) -> None:
    assert fit(way(crowded, most), most) > NEVER


def test_the_smallest_lot_of_a_row_would_favour_groups_with_many_rows(
    crowded: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Control: why all rows of a group have one lot."""
    monkeypatch.setattr(DuckDB, "lot", lambda *_: "hash(random())")
    assert fit(chosen_by_values(crowded, 1), 1) < NEVER


def test_units_choose_independently_and_anew(crowded: Path) -> None:
    first, second = (chosen_by_counts(crowded, 1).argmax(axis=1) for _ in range(2))
    uniform = np.full(16, 1.0 / 16)
    pairs = first.reshape(-1, 2)
    assert p_value(np.bincount(pairs[:, 0] * 4 + pairs[:, 1], minlength=16), uniform) > NEVER
    assert p_value(np.bincount(first * 4 + second, minlength=16), uniform) > NEVER
    assert p_value(np.bincount(first * 5, minlength=16), uniform) < NEVER  # control: both the same


def test_rows_are_chosen_independently_of_groups(tmp_path: Path) -> None:
    """Two groups of two rows each: which group and which row, all four equally likely."""
    unit, row = np.divmod(np.random.default_rng(4).permutation(UNITS * 4), 4)
    table = {"unit": unit, "value": unit * 4.0 + row, "part": row // 2, "amount": row}
    pq.write_table(pa.table(table), tmp_path / "t.parquet")
    kept = np.concatenate(gather_groups(tmp_path / "t.parquet", range(2), bounds=(0, 4 * UNITS)))
    assert kept.size == UNITS
    counts = np.bincount(kept.astype(int) % 4, minlength=4)
    assert p_value(counts, np.full(4, 0.25)) > NEVER


def test_only_a_row_that_counts_puts_its_unit_into_a_group(tmp_path: Path) -> None:
    rows = [("ann", ("x", "a", 1)), *[("ann", ("w", part, None)) for part in ("b", "c") for _ in range(20)]]
    path = written(str(tmp_path), rows)
    assert count_groups(path, CANDIDATES, GROUPS) == [[1, 0], [0, 0], [0, 0]]
    assert total(path, CANDIDATES, bounds=(0, 9), groups=GROUPS) == [[1, 0], [0, 0], [0, 0]]
    assert gather_groups(path, GROUPS, names=("unit", "amount", "part")) == [[1.0], [], []]


@KINDS
def test_groups_are_read_by_the_rules_for_candidates(tmp_path: Path, kind: str) -> None:
    rows = [(1, 5, part, 0) for part in (1, 2, 2, 7, None)]
    path = write_rows(tmp_path, rows, kind=kind)
    for groups in ([2, 1], range(2, 0, -1)):
        assert count_groups(path, [5, 6], groups, most=2) == [[1, 0], [1, 0]]
    assert count_groups(path, [5, 6], range(7, 9)) == [[1, 0], [0, 0]]
    if kind == "parquet":
        with pytest.raises(InvalidDataError, match="Column 'part' holds whole numbers"):
            count_groups(path, [5], ["a"])


def test_the_groups_may_be_the_column_of_candidates(tmp_path: Path) -> None:
    path = write_rows(tmp_path, [(1, 5), (2, 6), (2, 5)], kind="parquet")
    assert count_groups(path, [5, 6], [6, 5], most=2, names=("unit", "value", "value")) == [[0, 1], [2, 0]]


def test_without_groups_there_is_one_summary(tmp_path: Path) -> None:
    table = opened(write_rows(tmp_path, [(1, 5, "a", 1)], kind="parquet"))
    assert table.counts("value", [5]) == [[1]]
    assert table.counts("value", [5], groups=("part", GROUPS, 1)) == [[1], [0], [0]]
