"""Public conditions on rows: every engine keeps the same rows, each by itself. Proof: ``proofs/row_conditions.md``."""

from __future__ import annotations

from datetime import date
from typing import Any

import pyarrow as pa
import pytest

import dpselect as dps
from dpselect import verify as check
from tests.rows import engines, model
from tests.rows.model import Rows
from tests.rows.tables import Opened
from tests.watched import statements

pytestmark = engines.deprecations

INF = float("inf")
BIG = 2**53 + 1
CONDITIONS: dict[str, list[tuple[str, Any]]] = {
    "numbers from": [("number", (0, None))],
    "numbers up to": [("number", (None, 7.25))],
    "numbers between": [("single", (0, 7))],
    "far whole numbers": [("whole", (BIG, BIG))],
    "decimals": [("exact", (7, 8))],
    "a list of text": [("group", ["south", "north"])],
    "a range": [("short", range(7, 9))],
    "a range with steps": [("whole", range(1, 30, 2))],
    "a long list": [("whole", [*range(7, 3000)])],
    "dates": [("day", [date(2026, 11, 21), date(1, 1, 1)])],
    "booleans": [("flag", [True])],
    "nothing meets it": [("group", ["nowhere"])],
    "two": [("group", ["south", "north", "east"]), ("short", (None, 7))],
    "twice the same column": [("number", (0, None)), ("number", (None, 8))],
}


def met(row: dict[str, Any], conditions: list[tuple[str, Any]]) -> bool:
    for column, given in conditions:
        if not isinstance(given, tuple):
            if model.candidate_of(row[column], given) is None:
                return False
            continue
        cell = row[column]
        number = model.number_of(cell)
        if number is None:
            return False
        exact = cell if isinstance(cell, int) else number
        if not (given[0] is None or exact >= given[0]) or not (given[1] is None or exact <= given[1]):
            return False
    return True


@pytest.mark.partners(2)
@pytest.mark.parametrize("name", CONDITIONS)
def test_the_rows_that_meet_them_are_looked_at(awkward: Opened, rows: Rows, name: str) -> None:
    conditions = CONDITIONS[name]
    left, table = [row for row in rows if met(row, conditions)], awkward.where(conditions)
    assert table.counts("short", [7, 8], unit="text") == model.counts(left, "text", "short", [7, 8])
    assert table.units(unit="text") == model.usable_units(left, "text")
    expected = model.totals(left, "text", "", (None,), amount="short")
    assert table.totals("short", (-100, 100), unit="text") == expected
    expected = model.counts(left, "text", "short", [7, 8], group="group", groups=["south", "north"])
    assert table.counts("short", [7, 8], unit="text", groups=("group", ["south", "north"], 2)) == expected
    listed = model.numbers(left, "text", "short", bounds=(-9.0, 9.0)).values()
    kept = sorted(number for each in listed for number in each)
    assert table.numbers("short", (-9.0, 9.0), unit="text", most=99) == [kept]


def test_a_condition_that_no_row_is_asked_of_is_found_out(awkward: Opened, rows: Rows) -> None:
    """Control: the expected numbers are others without the condition."""
    some = [row for row in rows if met(row, CONDITIONS["two"])]
    assert model.usable_units(some, "text") != model.usable_units(rows, "text")
    assert awkward.units(unit="text") == model.usable_units(rows, "text")


PEOPLE = pa.table(
    {
        "who": [f"p{at // 2}" for at in range(400)],
        "age": pa.array([at % 80 for at in range(400)], pa.int64()),
        "city": [["north", "south"][at % 2] for at in range(400)],
    }
)


def test_one_unit_moves_a_count_by_one_whatever_is_asked_of_rows() -> None:
    """Neighbours: the rows of one unit more, some of which meet the condition, or none."""
    for more in ([("n", 30, "north"), ("n", 70, "south")], [("n", 70, "south")], [("n", 30, "north")] * 9):
        added = pa.table(dict(zip(PEOPLE.column_names, zip(*more, strict=True), strict=True)), schema=PEOPLE.schema)
        tables = [dps.Dataset(rows, unit="who") for rows in (PEOPLE, pa.concat_tables([PEOPLE, added]))]
        counts = [table.where(age=(18, 65)).count(epsilon=1e9).value for table in tables]
        assert counts[1] - counts[0] == any(18 <= age <= 65 for _, age, _ in more)


def test_a_condition_on_other_rows_of_the_unit_is_found_out() -> None:
    """Control: leaving out rows by what others have, as a window does, moves the count of others by more than one."""
    rows = [(who, age) for who, age in zip(PEOPLE["who"].to_pylist(), PEOPLE["age"].to_pylist(), strict=True)]

    def youngest_half(given: list[tuple[str, int]]) -> int:
        ages = sorted(age for _, age in given)
        return len({who for who, age in given if age < ages[len(ages) // 2]})

    assert abs(youngest_half([*rows, *[("n", 0)] * 50]) - youngest_half(rows)) > 1


def test_views_nest_and_are_certified() -> None:
    people = dps.Dataset(PEOPLE, unit="who")
    old = people.where(age=(60, None)).where(city=["north"])
    release = old.by("city", groups=["north", "south"]).count(epsilon=1e9)
    expected = {
        who for who, age, city in zip(*PEOPLE.to_pydict().values(), strict=True) if age >= 60 and city == "north"
    }
    assert release.value == {"north": len(expected), "south": 0}
    assert release.where == [{"column": "age", "between": [60.0, None]}, {"column": "city", "values": ["north"]}]
    assert "Only rows where age is at least 60 and city is north count." in str(release)
    assert release.proofs[-1] == "proofs/row_conditions.md"
    assert check(release.to_json()).error_bound
    forged = release.to_json().replace('"between": [60.0, null]', '"between": [10.0, null]')
    with pytest.raises(dps.errors.InvalidCertificateError, match="digest"):
        check(forged)
    assert people.by("city", groups=["south"]).where(age=(0, 1)).count(epsilon=1e9).value == {"south": 5}


def test_the_same_words_ask_the_same() -> None:
    people = dps.Dataset(PEOPLE, unit="who")
    words: dict[str, Any] = {"ask": "count", "epsilon": 1e9, "where": {"age": "18..65", "city": ["south"]}}
    (release,) = people.ask([words])
    assert release.value == people.where(age=(18, 65), city=["south"]).count(epsilon=1e9).value
    assert release.where == people.where(age=(18, 65), city=["south"]).count(epsilon=1.0).where
    forecast = dps.DryRun(unit="who").where(age=(18, None)).count(epsilon=1.0)
    assert "Only rows where age is at least 18 count." in str(forecast)


def test_a_ledger_tells_conditions_apart(tmp_path: Any) -> None:
    ledger = dps.Ledger(tmp_path / "budget.db")
    ledger.open_account("people", epsilon=10, unit="who")
    path = tmp_path / "people.csv"
    path.write_text("who,age\n" + "".join(f"p{at},{at}\n" for at in range(90)))
    people = dps.Dataset(path, unit="who", ledger=ledger, account="people")
    first = people.where(age=(18, None)).count(epsilon=1.0, request="a")
    assert people.where(age=(18, None)).count(epsilon=1.0, request="a") == first
    for other in (people, people.where(age=(19, None)), people.where(age=(18, 99))):
        with pytest.raises(dps.errors.RequestReusedError):
            other.count(epsilon=1.0, request="a")
    assert check(first.to_json(), ledger=ledger).value


REFUSED: list[tuple[dict[str, Any], type[dps.SelectionError], str]] = [
    ({}, dps.errors.InvalidParameterError, r"^where=<dict>: expected a condition"),
    ({"age": "18.."}, dps.errors.InvalidParameterError, r"^where='18\.\.'"),
    ({"age": 18}, dps.errors.InvalidCandidatesError, r"^where=18"),
    ({"age": (None, None)}, dps.errors.InvalidParameterError, r"^where=<2 ends>"),
    ({"age": (1, 2, 3)}, dps.errors.InvalidParameterError, r"^where=<3 ends>"),
    ({"age": (9, 1)}, dps.errors.InvalidParameterError, r"^where=\(9\.0, 1\.0\)"),
    ({"age": []}, dps.errors.InvalidCandidatesError, r"^where=<list>"),
    ({"age": ["x"]}, dps.errors.InvalidDataError, r"^where=<text>"),
    ({"city": (1, 2)}, dps.errors.InvalidDataError, r"^where='city'"),
    ({"who": ["p1"]}, dps.errors.InvalidDataError, r"^where='who': expected another column than the unit"),
    ({"aeg": (1, 2)}, dps.errors.InvalidDataError, r"^where='aeg'.*'age'"),
]


@pytest.mark.parametrize(("given", "error", "said"), REFUSED)
def test_what_is_no_condition_is_refused(given: dict[str, Any], error: type[dps.SelectionError], said: str) -> None:
    with pytest.raises(error, match=said):
        dps.Dataset(PEOPLE, unit="who").where(given)


@pytest.mark.partners(2)
def test_each_row_can_be_a_unit(awkward: Opened, rows: Rows, engine: str) -> None:
    numbered: list[dict[str, Any]] = [{**row, "number of the row": at} for at, row in enumerate(rows)]
    without_values = {"json": 1, "json-glob": 3}.get(engine, 0)  # the first line of each file, which names the columns
    assert awkward.units(unit=dps.ROWS) == [len(rows) + without_values]
    expected = model.counts(numbered, "number of the row", "short", [7, 8])
    assert awkward.counts("short", [7, 8], unit=dps.ROWS) == expected
    about: dict[str, Any] = {"group": "group", "groups": ["south", "north"]}
    expected = model.counts(numbered, "number of the row", "short", [7, 8], **about)
    assert awkward.counts("short", [7, 8], unit=dps.ROWS, groups=("group", ["south", "north"], 1)) == expected
    sums = model.totals(numbered, "number of the row", "", (None,), amount="short", lower=-5, upper=5)
    assert awkward.totals("short", (-5, 5), unit=dps.ROWS) == sums
    listed = model.numbers(numbered, "number of the row", "short", bounds=(-9.0, 9.0)).values()
    kept = sorted(number for each in listed for number in each)
    assert awkward.numbers("short", (-9.0, 9.0), unit=dps.ROWS) == [kept]


def test_who_is_protected_is_said_of_rows(tmp_path: Any) -> None:
    rows = dps.Dataset(PEOPLE, unit=dps.ROWS)
    release = rows.count(epsilon=1e9)
    assert release.value == 400
    assert (release.unit, release.column) == ("table row", "table row")
    assert "when one table row is added or removed: each row is another person." in str(release)
    assert check(release.to_json()).error_bound
    assert rows.where(age=(0, 9)).by("city", groups=["north"]).count(epsilon=1e9).value == {"north": 25}
    ages = rows.mean("age", bounds=(0, 80), step=1, epsilon=1e9)
    assert abs(ages.value - 39.5) < 0.01
    ledger = dps.Ledger(tmp_path / "budget.db")
    ledger.open_account("people", epsilon=10, unit="who")
    with pytest.raises(dps.errors.InvalidAccountError):
        dps.Dataset(PEOPLE, unit=dps.ROWS, ledger=ledger, account="people").count(epsilon=1.0)


@pytest.mark.parametrize("unit", ["who", dps.ROWS])
def test_nothing_is_chosen_of_a_row(unit: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """It has one value in one group; control: of people who have several rows, engines choose."""
    asked = statements(monkeypatch)
    cities = dps.Dataset(PEOPLE, unit=unit).by("city", groups=["north", "south", "west"])
    release = cities.histogram("age", candidates=range(80), epsilon=1e9)
    (given,) = asked
    bounds = given["max_groups_per_unit"], given["max_values_per_unit"]
    assert bounds == ((3, None) if unit is dps.ROWS else (1, 1))
    total = sum(sum(each) for each in release.value.values())
    assert total == 400 if unit is dps.ROWS else total < 400


def test_a_column_called_rows_is_that_column() -> None:
    renamed = PEOPLE.rename_columns(["rows", "age", "city"])
    assert dps.Dataset(renamed, unit="rows").count(epsilon=1e9).value == 200
    assert dps.Dataset(PEOPLE, unit="rows").count(epsilon=1e9).value == 400
    assert dps.DryRun(unit="rows").count(epsilon=1.0).unit == "table row"
