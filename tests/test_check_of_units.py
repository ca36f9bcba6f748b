"""What a check says of whose the rows are, and of lines that are none; and for whom it is."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import dpselect as dps
from tests.checked_files import file, said


def units(folder: Path, names: Sequence[object]) -> tuple[str, ...]:
    return dps.check(file(folder, range(len(names)), units=names), "value", unit="who").problems


def test_one_id_for_many_people_is_noticed(tmp_path: Path) -> None:
    assert units(tmp_path, [0 if each % 20 == 0 else each for each in range(1000)]) == ()
    (problem,) = units(tmp_path, [0 if each % 2 else each for each in range(400)])
    said = "have a value of who that very many rows have, and that counts as one person, such as '0' (line 2)."
    assert problem == f"201 of 400 rows (50.2%) {said}"
    (problem,) = units(tmp_path, [0 if each % 18 == 0 else each for each in range(1000)])
    assert problem == f"56 of 1,000 rows (5.6%) {said}"
    few = "Only 1 unit will take part: the answer may be mostly noise. Does who say whose a row is?"
    assert units(tmp_path, ["x"] * 20)[0] == few


def test_units_that_are_no_people_are_noticed(tmp_path: Path) -> None:
    (problem,) = units(tmp_path, ["ann", "bob", "TOTAL"])
    assert problem == "1 of 3 rows (33.3%) have a word for who that may mean nobody, such as 'TOTAL' (line 4)."
    (problem,) = units(tmp_path, ["Respondent", *range(400)])
    said = "have a value of who that is written unlike nearly all others, such as 'Respondent' (line 2)."
    assert problem == f"1 of 401 rows (0.2%) {said}"
    assert units(tmp_path, [f"{'ab'[each % 2]}{each}" for each in range(400)]) == ()
    assert units(tmp_path, ["ann", "", "NA", "bob"]) == (
        "2 of 4 rows (50.0%) have no who, and do not count: nothing, or a word for a missing value, such as 'NA'"
        " (line 4).",
    )


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("7", "7e0"),
        ("7", "007"),
        ("100000", "1e+05"),
        ("Ann", "ANN"),
        ("+49 170 1234567", "0170-1234567"),
        ("01701234567", "+491701234567"),
        ("0000123456", "123456"),
        ("123456789", "0123456789"),
        ("Ann Lee", "Ann  Lee"),
    ],
)
def test_one_unit_in_two_spellings_is_noticed(one: str, other: str, tmp_path: Path) -> None:
    (problem,) = units(tmp_path, [one, other, "bob"])
    may = "have a value of who that may be another spelling of one already counted, so that it counts twice"
    assert problem == f"2 of 3 rows (66.7%) {may}, such as {one!r} (line 2), {other!r} (line 3)."
    assert units(tmp_path, [one, one, "bob"]) == ()


def test_long_numbers_that_end_alike_are_no_telephone_numbers(tmp_path: Path) -> None:
    assert units(tmp_path, ["1123456789", "2123456789", "2025-000123456", "2026-000123456"]) == ()


@pytest.mark.parametrize("other", ["7.0", "Jose\u0301", "Ann\u00a0Lee"])
def test_spellings_that_are_one_unit_are_no_problem(other: str, tmp_path: Path) -> None:
    assert units(tmp_path, ["7", "Jos\u00e9", "Ann Lee", other, "bob"]) == ()


@pytest.mark.parametrize("end", ["", "\n\n", "\r\n\r\n"])
def test_lines_that_are_no_rows_are_counted_and_shown(end: str, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    for bad in (["3,Smith, Ann,3"] * 100, ["4"], ['5,"1'], []):
        path.write_bytes("\n".join(["who,value", "1,2", "", *bad, "2,x"]).encode() + end.encode())
        found = dps.check(path, "value", unit="who", bounds=(0, 10)).problems
        lines = [each for each in found if "lines are invalid" in each]
        assert [each.partition(" lines")[0] for each in lines] == ([f"{len(bad)} of {len(bad) + 2}"] if bad else [])
        assert all(f"such as line 4: {bad[0]!r}" in each for each in lines)
        assert f"no number as it is written here, such as 'x' (line {4 + len(bad)})." in found[-1]


def test_places_are_those_of_the_file_that_a_cell_is_in(tmp_path: Path) -> None:
    for name in "ab":
        (tmp_path / f"{name}.csv").write_text(f"who,value\n1,2\n3,{name}\n")
    one, other = str(tmp_path / "a.csv"), str(tmp_path / "b.csv")
    found = dps.check([one, other], "value", unit="who").problems[0]
    assert found.endswith(f"such as 'a' (line 3 of {one!r}), 'b' (line 3 of {other!r}).")
    frame = pd.DataFrame({"who": [1, 2, 3], "value": pd.Series(["7", "x", b"y"], dtype=object)})
    assert dps.check(frame, "value", unit="who", candidates=["7"]).problems == (
        "1 of 3 rows (33.3%): a value that is not listed, such as 'x' (row 2).",
        "1 of 3 rows (33.3%): nothing, or an object, a list or a time.",
    )
    (tmp_path / "t.jsonl").write_text('{"who": 1, "value": "x"}\n{"who": 2, "value": 7}\n')
    assert dps.check(tmp_path / "t.jsonl", "value", unit="who").problems == (
        "1 of 2 rows (50.0%): no number as it is written here, such as 'x' (line 1).",
    )


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table], ids=["pandas", "polars", "arrow"])
def test_typed_columns_have_only_missing_values(make: Any) -> None:
    checked = dps.check(make({"who": ["a", "b", "c"], "value": [1.5, None, 2.25]}), "value", unit="who", bounds=(0, 9))
    assert checked.problems in (
        ("1 of 3 rows (33.3%): nothing.",),
        ("1 of 3 rows (33.3%): nothing, or a word for a missing value, such as 'nan' (row 2).",),  # of pandas
    )
    assert (checked.usable_rows, checked.usable_units) == (2, 2)


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table], ids=["pandas", "polars", "arrow"])
@pytest.mark.parametrize(
    ("column", "given", "counts", "shown"),
    [
        ("number", {"candidates": [1.5, 7.5]}, 1, "'2.5' (row 2)"),
        ("number", {"between": (2, 4)}, 1, "'1.5' (row 1)"),
        ("whole", {"candidates": [5, 99]}, 1, "'7' (row 2)"),
        ("whole", {"candidates": range(6, 8)}, 1, "'5' (row 1)"),
        ("day", {"dates": ["2026-12-24"]}, 1, "'2026-12-25' (row 2)"),
        ("flag", {"candidates": [True]}, 1, "'false' (row 2)"),
        ("word", {"candidates": ["a"]}, 1, "'b' (row 2)"),
    ],
)
def test_typed_values_that_are_not_listed_are_shown(
    make: Any, column: str, given: dict[str, Any], counts: int, shown: str
) -> None:
    typed = {"number": [1.5, 2.5], "whole": [5, 7], "day": [date(2026, 12, 24), date(2026, 12, 25)]}
    frame = make({"who": ["x", "y"], "flag": [True, False], "word": ["a", "b"], **typed})
    if column == "day" and make is pd.DataFrame:
        frame["day"] = pd.to_datetime(frame["day"])
        given = {**given, "format": dps.Format(as_date=True)}
    found = dps.check(frame, column, unit="who", **given)
    assert (found.usable_rows, found.rows) == (counts, 2)
    assert f"such as {shown}." in found.problems[0]


def test_the_sentence_about_units_is_that_of_the_question(tmp_path: Path) -> None:
    path = file(tmp_path, ["a", "b", "a", "a", "x"], units=[1, 1, 2, 2, 3])
    by_value = str(dps.check(path, "value", unit="who", candidates=["a", "b"]))
    assert "who: 2 of 3 units take part, 1 of them with several of the values." in by_value
    assert "who: 2 of 3 units take part." in str(dps.check(path, "value", unit="who", candidates="a"))
    path = file(tmp_path, [1, 2, 3.5, "x"], units=["a", "a", "b", "c"])
    assert "2 of 3 units take part, 1 of them with several rows, up to 2." in str(dps.check(path, "value", unit="who"))


def test_what_counts_is_what_the_question_reads(tmp_path: Path) -> None:
    """With so much epsilon, the median of one value that counts is that value."""
    path = file(tmp_path, ["1,234"] * 999 + ["7"])
    found = dps.check(path, "value", unit="who", bounds=(0, 9999), step=1)
    assert (found.rows, found.usable_rows, found.usable_units) == (1000, 1, 1)
    assert dps.Dataset(path, unit="who").median("value", bounds=(0, 9999), step=1, epsilon=1e6).value == 7


def test_numbers_beyond_those_of_the_question_are_counted(tmp_path: Path) -> None:
    values = ["-1", "-2", "5", "11"]
    equal = "and are counted as if they were equal to it"
    assert said(tmp_path, values, bounds=(0, 10), step=1) == (
        f"2 of 4 rows (50.0%) are below the lower bound, {equal}.",
        f"1 of 4 rows (25.0%) are above the upper bound, {equal}.",
    )
    assert said(tmp_path, values, clip=(0, 20)) == (
        "2 of 4 rows (50.0%) are below the lower end of the clip, which is added in their place.",
    )
    checked = dps.check(file(tmp_path, values), "value", unit="who", between=(5, 5))
    assert (checked.usable_rows, checked.usable_units) == (1, 1)
    shown = "'-1' (line 2), '-2' (line 3), '11' (line 5)"
    assert checked.problems == (f"3 of 4 rows (75.0%): a number that is not between the two, such as {shown}.",)


def test_groups_are_checked_too() -> None:
    frame = pd.DataFrame({"who": range(4), "city": ["Oslo", "oslo", "Rome", "oslo"], "value": [1.5, 2.25, 3.125, 4.0]})
    checked = dps.check(dps.Dataset(frame, unit="who").by("city", groups=["Oslo", "Rome"]), "value")
    assert checked.problems == (
        "city: 2 of 4 rows (50.0%): a value that is not listed, such as 'oslo' (row 2, row 4).",
        "city: Try Format(ignore_case=True): with it 2 more rows can count, and the others are read as before.",
    )
    assert checked.usable_rows == 2


def test_it_says_for_whom_it_is_and_hides_what_it_found(tmp_path: Path) -> None:
    checked = dps.check(file(tmp_path, ["<b>"] * 919), "value", unit="who")
    said = "For the holder of the data only: these numbers are exact, and cells are shown as they stand in the table."
    assert str(checked).startswith(said)
    assert "919" not in repr(checked)
