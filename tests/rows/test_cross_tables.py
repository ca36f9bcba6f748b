"""Groups of several columns: every engine puts a row into the same group, by its own cells alone."""

from __future__ import annotations

from datetime import date
from typing import Any

import pyarrow as pa
import pytest

import dpselect as dps
from dpselect.errors import InvalidCandidatesError, InvalidDataError, InvalidParameterError
from tests.rows import engines, model
from tests.rows.model import Rows
from tests.rows.tables import Opened

pytestmark = engines.deprecations

GROUPS: dict[str, tuple[list[str], list[tuple[Any, ...]]]] = {
    "text and booleans": (["group", "flag"], [("south", True), ("north", False), ("south", False)]),
    "whole numbers and dates": (["short", "day"], [(7, date(2026, 11, 21)), (8, date(1, 1, 1)), (7, date(1, 1, 1))]),
    "booleans and whole numbers": (["flag", "whole"], [(True, 7), (False, 7), (True, 8)]),
    "three": (["group", "flag", "short"], [("south", True, 7), ("south", True, 8), ("north", True, 7)]),
    "nobody": (["group", "flag"], [("nowhere", True), ("nowhere", False)]),
}


def with_groups(rows: Rows, columns: list[str], groups: list[tuple[Any, ...]]) -> Rows:
    """The rows with the number of their group in a column of its own."""
    listed = [[*dict.fromkeys(part)] for part in zip(*groups, strict=True)]
    found: Rows = []
    for row in rows:
        places = [model.candidate_of(row[name], each) for name, each in zip(columns, listed, strict=True)]
        known = None if None in places else tuple(each[at] for each, at in zip(listed, places, strict=True))  # type: ignore
        found.append({**row, "cross": groups.index(known) if known in groups else None})
    return found


@pytest.mark.partners(2)
@pytest.mark.parametrize("name", GROUPS)
def test_a_row_is_in_the_group_of_all_its_values(awkward: Opened, rows: Rows, name: str) -> None:
    columns, groups = GROUPS[name]
    there = with_groups(rows, columns, groups)
    in_all, in_one_only = (columns, groups, len(groups)), (columns, groups, 1)
    places = list(range(len(groups)))
    expected = model.usable_units(there, "text", group="cross", groups=places)
    assert awkward.units(unit="text", groups=in_all) == expected
    expected_counts = model.counts(there, "text", "short", [7, 8], group="cross", groups=places)
    assert awkward.counts("short", [7, 8], unit="text", groups=in_all) == expected_counts
    few = awkward.units(unit="text", groups=in_one_only)
    assert all(one <= other for one, other in zip(few, expected, strict=True))
    in_one = {row["text"] for row in there if row["cross"] is not None and model.unit_of(row["text"]) is not None}
    assert sum(few) <= len(in_one)


def test_some_group_has_units_and_some_pairs_are_no_group(awkward: Opened, rows: Rows) -> None:
    """Control: without it the numbers above could all be zeros."""
    columns, groups = GROUPS["text and booleans"]
    there = with_groups(rows, columns, groups)
    assert sum(model.usable_units(there, "text", group="cross", groups=[0, 1, 2])) > 0
    assert any(row["cross"] is None for row in there)


PEOPLE = pa.table(
    {
        "who": [f"p{at}" for at in range(600)],
        "region": ["north", "south", "North "] * 200,
        "sex": ["f", "m"] * 300,
        "joined\x1fon": ["a\x1fb", "a", "b\x1fc"] * 200,
        "age": list(range(600)),
    }
)
DATA = dps.Dataset(PEOPLE, unit="who")


def test_the_answer_is_a_dictionary_by_tuples_and_its_certificate_holds() -> None:
    view = DATA.by(["region", "sex"], groups=[("north", "f"), ("south", "m"), ("south", "x")])
    release = view.count(epsilon=1000.0)
    assert release.value == {("north", "f"): 100, ("south", "m"): 100, ("south", "x"): 0}
    assert "north  f  100" in str(release)
    assert "In each region and sex" in str(release)
    assert dps.verify(release.to_json()).release == release
    by = [release.to_pandas()[name] for name in release.question["by"]]
    assert [*zip(*by, strict=True)] == [*release.value]
    median = view.median("age", bounds=(0, 600), step=1, epsilon=1000.0)
    assert median.value[("north", "f")] == pytest.approx(300, abs=8)
    assert dps.verify(median.to_json()).error_bound


def test_a_sign_that_might_stand_between_the_parts_is_text_like_any_other() -> None:
    view = DATA.by(["joined\x1fon", "sex"], groups=[("a\x1fb", "f"), ("a", "f"), ("a", "b\x1ff")])
    assert [*view.count(epsilon=1000.0).value.values()] == [100, 100, 0]


def test_cells_are_read_in_the_declared_format(tmp_path: Any) -> None:
    path = tmp_path / "t.csv"
    path.write_text("who,region,sex\n" + "".join(f"{at},{' North' if at % 2 else 'north'},F\n" for at in range(100)))
    lower = dps.Dataset(path, unit="who", format=dps.Format(ignore_case=True, trim=True))
    groups = [("North", "f"), ("south", "f")]
    assert lower.by(["region", "sex"], groups=groups).count(epsilon=1000.0).value == {groups[0]: 100, groups[1]: 0}
    plain = dps.Dataset(path, unit="who").by(["region", "sex"], groups=[("north", "F"), ("south", "F")])
    assert plain.count(epsilon=1000.0).value == {("north", "F"): 50, ("south", "F"): 0}


def test_one_cost_for_all_groups_and_a_share_for_those_of_a_unit() -> None:
    groups = [("north", "f"), ("south", "m")]
    once = DATA.by(["region", "sex"], groups=groups).count(epsilon=1.0)
    twice = DATA.by(["region", "sex"], groups=groups, max_groups_per_unit=2).count(epsilon=1.0)
    assert once.groups is not None
    assert twice.groups is not None
    assert (once.epsilon, once.groups["epsilon"]) == (1.0, 1.0)
    assert (twice.epsilon, twice.groups["epsilon"]) == (1.0, 0.5)


def test_a_plan_and_a_dry_run_take_them() -> None:
    asked = {"ask": "count", "by": ["region", "sex"], "groups": [["north", "f"], ["south", "m"]], "epsilon": 1000.0}
    (release,) = DATA.ask([asked])
    assert release.value == {("north", "f"): 100, ("south", "m"): 100}
    forecast = dps.DryRun(unit="who").by(["region", "sex"], groups=[("north", "f")]).count(epsilon=1.0)
    assert forecast.error_bound is not None


@pytest.mark.parametrize(
    ("by", "groups", "said"),
    [
        (["region", "sex"], None, "groups=None: expected a public list of tuples"),
        (["region", "sex"], [], "groups="),
        (["region", "sex"], ["nf"], "groups="),
        (["region", "sex"], [("n",)], "groups="),
        (["region", "sex"], [("n", "f"), ("n", "f")], "without duplicates"),
        (["region", "sex"], [("n", "f"), ("n", 1)], "groups="),
        (["region", "sex"], [("n", 0.5)], "groups=<numbers>: expected whole numbers"),
        (["region", "sex"], [(["n"], "f")], "groups="),
        (["region", "sex"], [((), "f")], "groups="),
        (["region"], [("n",)], "by="),
        (["region", ["sex"]], [("n", "f")], "by="),
        (["region", "region"], [("n", "f")], "by="),
        (["region", 3], [("n", "f")], "by="),
        (["region", "nothing"], [("n", "f")], "by="),
        (["region", "who"], [("n", "f")], "by="),
        (["region", "age"], [("n", "f")], "groups="),
    ],
)
def test_bad_groups_are_refused_in_one_line(by: Any, groups: Any, said: str) -> None:
    with pytest.raises((InvalidCandidatesError, InvalidParameterError, InvalidDataError)) as refused:
        DATA.by(by, groups=groups).count(epsilon=1.0)
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)
