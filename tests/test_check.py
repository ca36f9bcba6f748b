"""What the holder of a table is told before a question is asked: true sentences, with the cells that do not count."""

from __future__ import annotations

import gzip
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dpselect as dps
from dpselect.rows.duckdb.scan import Scan
from dpselect.session.check import WARNING, Check
from tests.rows import engines


def file(folder: Path, values: Sequence[object], *, units: Sequence[object] = (), encoding: str = "utf-8") -> Path:
    path = folder / "t.csv"
    rows = [f'{who},"{value}"\n' for who, value in zip(units or range(len(values)), values, strict=True)]
    path.write_text("who,value\n" + "".join(rows), encoding)
    return path


def said(folder: Path, values: Sequence[object], **given: Any) -> tuple[str, ...]:
    """As the command line says it."""
    return dps.check(file(folder, values), "value", unit="who", **given).as_options().problems


def read_with(folder: Path, values: Sequence[object], **given: Any) -> int:
    """How many values count in the format that is suggested."""
    path = file(folder, values)
    words = suggested(dps.check(path, "value", unit="who", **given))
    return dps.check(path, "value", unit="who", **given, format=dps.Format(**words)).usable_rows


def suggested(found: Check) -> Any:
    """The words of a format that a check says to try."""
    calls = [call for each in found.problems for call in re.findall(r"Try Format\((.*?)\):", each)]
    return {name: value for call in calls for name, value in eval(f"dict({call})").items()}


NUMBERS = {
    "1,234,567": "--thousands ','",
    "-12,345.5": "--thousands ','",
    "1.234,5": "--thousands '.' --decimal ','",
    "1,5": "--decimal ','",
    "1 234": "--thousands ' '",
    "1'234.50": '--thousands "\'"',
    "1\u202f234": "--thousands ' '",
    "1 234,50": "--thousands ' ' --decimal ','",
    "1_000": "--thousands '_'",
    "12,34,567": "",
    "-$5": "--strip '$'",
    "5 EUR": "--strip 'EUR'",
    "R$5": "--strip 'R$'",
    "$1,234.5": "--thousands ',' --strip '$'",
    "1.234,50 €": "--thousands '.' --decimal ',' --strip '€'",
    "5%": "--strip '%'",
    "5,5 %": "--decimal ',' --strip '%'",
    "(5)": "",
    "5-": "",
    "\u22125": "",
    "<5": "",
    "90+": "",
    "1:30": "",
    "2026-12-24": "",
    "5 kg": "",
    "x7": "",
    "lots": "",
    "": None,
    "n/a": None,
}


@pytest.mark.parametrize("value", NUMBERS)
def test_each_way_to_write_a_number_that_is_not_read_is_named_and_shown(value: str, tmp_path: Path) -> None:
    advice = NUMBERS[value]
    reason = "nothing, or a word for a missing value" if advice is None else "no number as it is written here"
    first, *others = said(tmp_path, [value] * 25)[1:]
    assert first.startswith(f"25 of 25 rows (100.0%): {reason}")
    assert not value or first.endswith(f"such as {value!r} (line 2, line 3, line 4).")
    assert [each for each in others if each.startswith("Try")] == (
        [f"Try {advice}: with it 25 more rows can count, all others as now."] if advice else []
    )
    assert not advice or read_with(tmp_path, [value] * 25) == 25


@pytest.mark.parametrize("value", ["7", "+7.50", " .5 ", "1e3", "-0", "007", "7 "])
def test_what_is_read_is_no_problem(value: str, tmp_path: Path) -> None:
    assert said(tmp_path, [value, "1.25"], bounds=(-10, 1000)) == ()
    assert "Nothing looks wrong." in str(dps.check(file(tmp_path, [value]), "value", unit="who"))


@pytest.mark.parametrize(
    "values",
    [
        *(["45%", "0.45"], ["$5", "€6"], ["$5", "5"], ["1,5", "1.5"], ["1,234,567", "1,5"]),
        *(["(1,200)", "1,200"], ["7-", "7"], ["−7", "7"]),
    ],
)
def test_an_option_is_only_suggested_if_all_cells_then_mean_the_same(values: list[str], tmp_path: Path) -> None:
    found = dps.check(file(tmp_path, values), "value", unit="who")
    assert found.problems[-1] == "No option makes all of them mean the same. Write them in one way first."
    assert "Format" not in str(found)


def test_blanks_that_do_not_break_a_line_are_taken_away_by_a_blank(tmp_path: Path) -> None:
    values = ["5\u00a0", "6", "\u202f7"]
    assert "Try --strip ' ': with it 2 more rows can count, all others as now." in said(tmp_path, values)
    assert read_with(tmp_path, values) == 3


def test_of_conditions_that_no_row_meets_it_is_said(tmp_path: Path) -> None:
    data = dps.Dataset(file(tmp_path, [5, 6, 7]), unit="who")
    assert dps.check(data.where(value=(100, None)), "value").problems == ("No row meets the conditions.",)


def test_a_word_that_may_be_meant_as_true_is_shown(tmp_path: Path) -> None:
    problems = said(tmp_path, ["\u00a0true", "false"], candidates=[True, False])
    assert problems[:1] == (
        "1 of 2 rows (50.0%): no true or false as it is written here, such as '\\xa0true' (line 2).",
    )


def test_an_option_for_one_column_may_not_change_another(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text('who,city,value\n1,Oslo,"1,5"\n2,Rome,"2,5"\n')
    given: dict[str, Any] = {"unit": "who", "candidates": ["Oslo", "Rome"], "sum": "value", "clip": (0, 9)}
    assert any("value: Try Format(decimal=',')" in each for each in dps.check(path, "city", **given).problems)
    path.write_text('who,city,value\n1,1.5,"1,5"\n2,2.5,"2,5"\n')
    found = dps.check(path, "city", **{**given, "candidates": [1.5, 2.5]})
    assert found.problems[-1] == "value: No option makes all of them mean the same. Write them in one way first."


def test_what_the_cells_do_not_tell_is_left_open(tmp_path: Path) -> None:
    found = dps.check(file(tmp_path, ["1,234", "5,678"]), "value", unit="who")
    assert found.problems[-1].startswith("Try Format(thousands=',')")
    assert found.problems[-1].endswith("Or Format(decimal=','): the cells do not tell.")
    assert "--thousands '.' --decimal ','" in said(tmp_path, ["1.234", "5.678"])[-1]
    assert said(tmp_path, ["1.234", "5.67"]) == ()


def test_dots_that_would_change_their_meaning_are_said(tmp_path: Path) -> None:
    problem = said(tmp_path, ["1.234", "1.234,5"])[-1]
    assert problem == "Try --thousands '.' --decimal ',': with it 1 more row can count, and 1.234 as 1234."


def test_more_ways_to_write_than_are_told_apart_are_counted(tmp_path: Path) -> None:
    letters = "abcdefghijklmnopqrstuvwxyz"
    values = [f"{a}{b}{c}" for a in letters for b in letters for c in letters]
    found = said(tmp_path, values)
    assert found[1].startswith("9,998 of 17,576 rows (56.9%): no number as it is written here, such as 'aaa' (line 2)")
    assert found[2].startswith("2 of 17,576 rows (0.0%): nothing, or a word for a missing")
    assert found[3] == "7,576 of 17,576 rows (43.1%) are written in still other ways, which are too many to tell apart."


def test_words_that_a_declared_format_lacks_are_named(tmp_path: Path) -> None:
    path = file(tmp_path, ["1.234,50", "12,5", ""])
    found = dps.check(path, "value", unit="who", format=dps.Format(decimal=","))
    assert suggested(found) == {"thousands": "."}
    format = dps.Format(decimal=",", thousands=".")
    assert dps.check(path, "value", unit="who", format=format).usable_rows == 2


def test_an_encoding_is_only_suggested_where_bytes_are_no_text(tmp_path: Path) -> None:
    path = file(tmp_path, ["Örebro", "Oslo"], encoding="latin-1")
    problem = dps.check(path, "value", unit="who", candidates=["Oslo"]).problems[0]
    assert problem.startswith("1 of 2 rows (50.0%): text that cannot be read, or quotes inside a cell, such as line 2:")
    assert problem.endswith("If they are text of Windows: Format(encoding='cp1252').")
    path.write_text('who,value\n1,a""b\n2,Oslo\n')
    problem = dps.check(path, "value", unit="who", candidates=["Oslo"]).problems[0]
    assert "line 2: '1,a\"\"b'." in problem
    assert "--encoding" not in problem


def test_formulas_of_spreadsheets_are_named(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("who,value\n" + "".join(f'="{who:05}",7\n' for who in range(400)))
    problem = dps.check(path, "value", unit="who").problems[0]
    assert problem.startswith(
        "400 of 400 rows (100.0%) have no who, and do not count: text that cannot be read, or quotes inside a cell"
    )
    assert problem.endswith('="..." is a formula for spreadsheets: write the text alone.')


def test_a_file_that_is_cut_off_is_refused_as_such(tmp_path: Path) -> None:
    path = tmp_path / "t.csv.gz"
    path.write_bytes(gzip.compress(file(tmp_path, range(4000)).read_bytes())[:-400])
    with pytest.raises(dps.errors.InvalidDataError, match="cut off, damaged"):
        dps.check(path, "value", unit="who")


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le"])
def test_utf_16_is_read_if_it_is_declared(encoding: str, tmp_path: Path) -> None:
    path = file(tmp_path, ["1", "2"], encoding=encoding)
    assert dps.check(path, "value", unit="who", format=dps.Format(encoding=encoding)).problems == ()


@pytest.mark.parametrize(
    ("values", "candidates", "problem"),
    [
        (["18 ", "18"], ["18"], "Try --trim: with it 1 more row can count, all others as now."),
        (["oslo"], ["Oslo"], "Try --ignore-case: with it 1 more row can count, all others as now."),
        (["OSLO "], ["Oslo"], "Try --trim --ignore-case: with it 1 more row can count, all others as now."),
        (["18\u00a0"], ["18"], "Try --trim: with it 1 more row can count, all others as now."),
        (
            ["18\u200b"],
            ["18"],
            "Candidates are written in another way, such as '18\\u200b' for '18': give them as they are",
        ),
        (
            ["Jose\u0301"],
            ["José"],
            "Candidates are written in another way, such as 'Jose\\u0301' for 'José': give them",
        ),
        (
            ["18.0"],
            ["18"],
            "Candidates are written as another number, such as '18.0' for '18'. Both are read alike if candidates",
        ),
        (
            ["007"],
            ["07"],
            "Candidates are written in another way, such as '007' for '07': give them as they are written.",
        ),
    ],
)
def test_candidates_that_nearly_match_are_named(
    values: list[str], candidates: list[str], problem: str, tmp_path: Path
) -> None:
    assert said(tmp_path, values, candidates=candidates)[-1].startswith(problem)
    assert said(tmp_path, ["18.0", " 7"], candidates=[7, 18]) == ()  # whole numbers are compared as numbers


def test_values_that_are_not_listed_are_shown(tmp_path: Path) -> None:
    assert said(tmp_path, ["Oslo", "Bonn", "Rome"], candidates=["Oslo", "Nice"]) == (
        "2 of 3 rows (66.7%): a value that is not listed, such as 'Bonn' (line 3), 'Rome' (line 4).",
        "1 of 2 occur in no row: 'Nice'.",
    )
    names = [f"name {number}" for number in range(100)]
    assert said(tmp_path, ["x" * 500], candidates=names)[-1].endswith("'name 9', and 90 more.")
    assert max(map(len, said(tmp_path, ["x" * 500], candidates=names))) < 250


@pytest.mark.parametrize(
    ("values", "advice"),
    [
        (["2026-12-24 00:00:00"], "Try --as-date:"),
        (
            ["12/24/2026", "3/4/2026"],
            "Try --date-format '%m/%d/%Y': with it 2 more rows can count, all others as now.",
        ),
        (
            ["24/12/2026", "3/4/2026"],
            "Try --date-format '%d/%m/%Y': with it 2 more rows can count, all others as now.",
        ),
        (["3/4/2026"], "Try --date-format '%m/%d/%Y': with it 1 more row can count, all others as now. Or --date"),
        (["12/24/2026", "24/12/2026"], "No option makes all of them mean the same."),
        (["24.12.2026"], "Try --date-format '%d.%m.%Y':"),
        (["24-Dec-2026"], "Try --date-format '%d-%b-%Y':"),
        (["24-DEC-26"], "Try --date-format '%d-%b-%y':"),
        (["Dec 24; 2026"], "Try --date-format '%b %d; %Y':"),
        (["2026. 12. 24."], "Try --date-format '%Y. %m. %d.':"),
        (["2026年12月24日"], "Try --date-format '%Y年%m月%d日':"),
        (["12/24/2026 1:45 PM"], "Try --date-format '%m/%d/%Y' --as-date:"),
        (["24%12%2026"], "No option makes all of them mean the same."),
        (["20261224"], "Try --date-format '%Y%m%d':"),
        (["46380"], "They look like a spreadsheet's numbers for dates."),
        (["2026-12-24 13:45"], "Try --as-date:"),
        (["2026-12-25 13:45", "2026-12-24"], "Try --as-date: with it 1 more row can count"),
    ],
)
def test_dates_in_other_forms_are_named(values: list[str], advice: str, tmp_path: Path) -> None:
    problems = said(tmp_path, values, dates=["2026-12-24"])
    assert any(each.startswith(advice) for each in problems)


def test_of_dates_between_two_not_each_has_to_occur(tmp_path: Path) -> None:
    """A list of dates is another thing: who gives it names each."""
    (problem,) = said(tmp_path, ["2026-12-24", "2027-01-02"], bounds=("2026-01-01", "2026-12-31"))
    assert problem == "1 of 2 rows (50.0%): a value that is not listed, such as '2027-01-02' (line 3)."
    assert said(tmp_path, ["2026-12-24"], dates=["2026-12-24", "2026-12-25"]) == (
        "1 of 2 occur in no row: 2026-12-25.",
    )


def test_other_words_for_true_and_false_are_shown(tmp_path: Path) -> None:
    path = file(tmp_path, ["yes", "no", "no"])
    found = dps.check(path, "value", unit="who", candidates=[True, False])
    shown = "no true or false as it is written here, such as 'yes' (line 2), 'no' (line 3, line 4)."
    assert found.problems[0] == f"3 of 3 rows (100.0%): {shown}"
    assert dps.check(path, "value", unit="who", candidates=["no", "yes"]).problems == ()
    assert dps.check(file(tmp_path, ["TRUE", "false"]), "value", unit="who", candidates=[True, False]).problems == ()


def test_conditions_can_be_given(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("who,age,value\n1,20,x\n2,70,5\n3,71,y\n")
    found = dps.check(dps.Dataset(path, unit="who").where(age=(65, None)), "value")
    assert (found.rows, found.problems) == (
        2,
        ("1 of 2 rows (50.0%): no number as it is written here, such as 'y' (line 4).",),
    )
    assert "Only rows with age of at least 65 count." in str(found)
    for condition in ((65, 18), ("2026-12-24", 5), (1, 2, 3), "18", ["a", "a"]):
        with pytest.raises(dps.errors.InvalidParameterError, match=r"where=.*for age: "):
            dps.check(dps.Dataset(path, unit="who").where({"age": condition}), "value")


def test_line_breaks_inside_quotes_are_named(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text('who,value\n1,"a\nb"\n2,c\n')
    problems = dps.check(path, "value", unit="who", candidates=["c", "d"]).problems
    assert any(
        each.endswith("If line breaks stand inside quotes: Format(quoted_line_breaks=True).") for each in problems
    )


def units(folder: Path, names: Sequence[object]) -> tuple[str, ...]:
    return dps.check(file(folder, range(len(names)), units=names), "value", unit="who").problems


def test_one_id_for_many_people_is_noticed(tmp_path: Path) -> None:
    assert units(tmp_path, [0 if each % 20 == 0 else each for each in range(1000)]) == ()
    (problem,) = units(tmp_path, [0 if each % 2 else each for each in range(400)])
    said = "have a who that very many rows have, and that counts as one person, such as '0' (line 2)."
    assert problem == f"201 of 400 rows (50.2%) {said}"
    (problem,) = units(tmp_path, [0 if each % 18 == 0 else each for each in range(1000)])
    assert problem == f"56 of 1,000 rows (5.6%) {said}"
    assert units(tmp_path, ["x"] * 20)[0] == "There is only 1 unit. Does who say whose a row is?"


def test_units_that_are_no_people_are_noticed(tmp_path: Path) -> None:
    (problem,) = units(tmp_path, ["ann", "bob", "TOTAL"])
    assert problem == "1 of 3 rows (33.3%) have a word for who that may mean nobody, such as 'TOTAL' (line 4)."
    (problem,) = units(tmp_path, ["Respondent", *range(400)])
    said = "have a who that is written unlike nearly all others, such as 'Respondent' (line 2)."
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
    may = "have a who that may be another one in another spelling, and counts beside it"
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
        lines = [each for each in found if "lines are no rows" in each]
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
    assert checked.problems == ("3 of 4 rows (75.0%) are not between the two numbers, and do not count.",)


def test_groups_are_checked_too() -> None:
    frame = pd.DataFrame({"who": range(4), "city": ["Oslo", "oslo", "Rome", "oslo"], "value": [1.5, 2.25, 3.125, 4.0]})
    checked = dps.check(dps.Dataset(frame, unit="who").by("city", groups=["Oslo", "Rome"]), "value")
    assert checked.problems == (
        "city: 2 of 4 rows (50.0%): a value that is not listed, such as 'oslo' (row 2, row 4).",
        "city: Try Format(ignore_case=True): with it 2 more rows can count, all others as now.",
    )
    assert checked.usable_rows == 2


def test_it_says_for_whom_it_is_and_hides_what_it_found(tmp_path: Path) -> None:
    checked = dps.check(file(tmp_path, ["<b>"] * 919), "value", unit="who")
    assert str(checked).startswith(WARNING)
    assert "cells are shown as they stand in the table" in WARNING
    assert "919" not in repr(checked)


WHOLE: dict[str, Any] = {"candidates": [5, 7]}
DAYS: dict[str, Any] = {"dates": ["2026-12-24"]}
NEWCOMERS: dict[str, tuple[str, dict[str, Any], tuple[str, ...]]] = {
    "formulas in all units": ('="1",5\n="2",7', {}, ("2 of 2 rows (100.0%) have no who, and do not count: text that",)),
    "more than 64 bits": (
        "1,5\n2,12345678901234567890",
        WHOLE,
        ("1 of 2 occur in no row: 7.", "1 of 2 rows (50.0%): a whole number beyond 2^63, such as '1234567890"),
    ),
    "a number that goes on": (
        f"1,{'1' * 100}x\n2,5\n3,7",
        WHOLE,
        ("1 of 3 rows (33.3%): no whole number as it is written here, such as '1111111111",),
    ),
    "exponents of whole numbers": (
        "1,5e0\n2,7",
        WHOLE,
        (
            "1 of 2 rows (50.0%): no whole number as it is written here, such as '5e0' (line 2).",
            "1 of 2 occur in no row: 5.",
            "With a fraction or an exponent they only match candidates that are numbers (--candidates-as number).",
        ),
    ),
    "two currencies of whole numbers": (
        "1,$5\n2,€7\n3,5\n4,7",
        WHOLE,
        (
            "2 of 4 rows (50.0%): no whole number as it is written here, such as '$5' (line 2), '€7' (line 3).",
            "No option makes all of them mean the same. Write them in one way first.",
        ),
    ),
    "days that there are not": (
        "1,2026-02-30\n2,2026-12-24",
        DAYS,
        ("1 of 2 rows (50.0%): a day that is in no calendar, such as '2026-02-30' (line 2).",),
    ),
    "dates in two forms": (
        "1,2026-12-24\n2,24.12.2026",
        DAYS,
        (
            "1 of 2 rows (50.0%): no date as it is written here, such as '24.12.2026' (line 3).",
            "No option makes all of them mean the same. Write them in one way first.",
        ),
    ),
    "true, false and others": (
        "1,true\n2,1\n3,N",
        {"candidates": [True, False]},
        (
            "2 of 3 rows (66.7%): no true or false as it is written here, such as '1' (line 3), 'N' (line 4).",
            "1 of 2 occur in no row: False.",
        ),
    ),
    "values of nobody": (
        ",Rome\n1,Oslo",
        {"candidates": ["Oslo", "Rome"]},
        (
            "1 of 2 rows (50.0%) have no who, and do not count: nothing, or a word for a missing value.",
            "1 of 2 occur in no row with a who: 'Rome'.",
        ),
    ),
    "characters that cannot be seen": (
        "1,Osl\u043e\n2,Oslo\u200b\n3,Oslo",
        {"candidates": ["Oslo"]},
        (
            "2 of 3 rows (66.7%): a value that is not listed, such as 'Osl\\u043e' (line 2), 'Oslo\\u200b' (line 3).",
            "Candidates are written in another way, such as 'Oslo\\u200b' for 'Oslo': give them as they are written.",
        ),
    ),
    "the header once more": (
        "1,5\nwho,value",
        {},
        (
            "1 of 2 rows (50.0%) have a word for who that may mean nobody, such as 'who' (line 3).",
            "1 of 2 rows (50.0%): no number as it is written here, such as 'value' (line 3).",
        ),
    ),
    "ids that a spreadsheet rounded": (
        "1.23457E+11,5\n1.23457E+11,7\n9.87654E+11,7",
        {},
        (
            "3 of 3 rows (100.0%) have a who that a spreadsheet may have rounded, so that several become one, such as"
            " '1.23457E+11' (line 2), '9.87654E+11' (line 4).",
        ),
    ),
    "words of spreadsheets and other tools": (
        "none,5\n#REF!,7\n#12,5\n-99,5",
        {},
        ("3 of 4 rows (75.0%) have a word for who that may mean nobody, such as 'none' (line 2), '#REF!' (line 3),",),
    ),
}


@pytest.mark.parametrize("case", NEWCOMERS)
def test_nothing_false_is_said_of_a_newcomers_file(case: str, tmp_path: Path) -> None:
    text, given, sentences = NEWCOMERS[case]
    path = tmp_path / "t.csv"
    path.write_text(f"who,value\n{text}\n")
    problems = dps.check(path, "value", unit="who", **given).problems
    assert len(problems) == len(sentences)
    for each in sentences:
        assert any(problem.startswith(each) for problem in problems), (each, problems)


def test_lines_of_json_are_shown_by_their_numbers(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text('{"who": 1, "value": 5}\nwho\n{"who": [1], "value": 2}\n{"who": 2}\n')
    assert dps.check(path, "value", unit="who").problems == (
        "1 of 4 lines are no rows: no object of JSON, or more than 1 MiB, such as line 2.",
        "1 of 3 rows (33.3%) have no who, and do not count: nothing, or an object, a list or a time, such as line 3.",
        "1 of 2 rows (50.0%): nothing, or an object, a list or a time, such as line 4.",
    )


def test_parquet_is_scanned_by_the_engine_and_says_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """But for the numbers of rows, which such files do not have."""
    who = [*range(300), *[-1] * 60, None, 7, 7]
    value = [*[each % 9 for each in range(360)], 3, None, 4]
    table, path = pa.table({"who": who, "value": value}), tmp_path / "t.parquet"
    pq.write_table(table, path)
    given: dict[str, Any] = {"unit": "who", "candidates": range(1, 11)}
    streamed = str(dps.check(table, "value", **given))
    monkeypatch.setattr(Scan, "reader", None)
    direct = str(dps.check(path, "value", **given))
    assert re.sub(r" \(row [^)]*\)", "", streamed) == direct
    assert "321 of 363 rows count." in direct
    assert "60 of 363 rows (16.5%) have a word for who that may mean nobody, such as '-1'." in direct


def test_no_release_ledger_or_certificate_reaches_a_check() -> None:
    """What is exact must not get into what is published."""
    source = Path(dps.__file__).parent
    reach = {"session/check.py", "session/advice.py", "rows/inspect.py"}
    reach |= {"__init__.py", "cli/check.py", "web/choosing.py"}
    words = ("session.check", "session.advice", "rows.inspect", ".inspect(unit")
    found = {path for path in source.rglob("*.py") if any(word in path.read_text("utf-8") for word in words)}
    assert {path.relative_to(source).as_posix() for path in found} <= reach


def test_bad_input_is_refused_in_a_line(tmp_path: Path) -> None:
    path = file(tmp_path, ["1"])
    with pytest.raises(dps.errors.InvalidDataError, match=r"^column="):
        dps.check(path, "values", unit="who")
    with pytest.raises(dps.errors.InvalidDataError, match=r"^by="):
        dps.check(dps.Dataset(path, unit="who").by("city", groups=["Oslo"]), "value")
    with pytest.raises(dps.errors.InvalidParameterError, match=r"^unit=None"):
        dps.check(path, "value")
    with pytest.raises(dps.errors.InvalidDataError, match="a column of numbers"):
        dps.check(pl.LazyFrame({"who": [1], "value": ["x"]}), "value", unit="who")
    with pytest.raises(dps.errors.InvalidParameterError, match=r"^bounds="):
        dps.check(path, "value", unit="who", bounds=(1, 0))
    for step in (7, "x", 0):
        with pytest.raises(dps.errors.InvalidParameterError, match=r"^step="):
            dps.check(path, "value", unit="who", bounds=(0, 10), step=step)  # type: ignore[arg-type]
    with pytest.raises(dps.errors.InvalidDataError, match="a column of numbers"):
        dps.check(pa.table({"who": [1], "value": ["x"]}), "value", unit="who")
    format = dps.Format(ignore_case=True)
    with pytest.raises(dps.errors.InvalidCandidatesError, match="the same after"):
        dps.check(path, "value", unit="who", candidates=["a", "A"], format=format)


@pytest.mark.parametrize(
    "given",
    [
        {"candidates": ["a"], "between": (1, 2)},
        {"candidates": ["a"], "dates": ["2026-12-24"]},
        {"candidates": ["a"], "clip": (0, 1)},
        {"between": (1, 2), "bounds": (1, 2)},
        {"between": (2, 1)},
        {"clip": (0, 1), "bounds": (1, 2)},
        {"clip": (1, 0)},
    ],
)
def test_arguments_of_two_questions_are_refused(given: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(dps.errors.InvalidParameterError):
        dps.check(file(tmp_path, ["1"]), "value", unit="who", **given)


def test_a_dataset_is_checked_as_it_is_asked(tmp_path: Path) -> None:
    data = dps.Dataset(file(tmp_path, ["1,5", "2,5", "3.5"]), unit="who", format=dps.Format(decimal=","))
    checked = dps.check(data, "value", bounds=(0, 9))
    assert (checked.usable_rows, checked.unit) == (2, "who")
    for other in ({"unit": "value"}, {"format": dps.Format()}):
        with pytest.raises(dps.errors.InvalidParameterError, match="the Dataset has its own"):
            dps.check(data, "value", **other)  # type: ignore[arg-type]


def test_rows_in_spark_are_not_looked_at() -> None:
    frame = engines.spark_frame(pa.table({"who": [1], "value": [1]}))
    for source, unit in ((frame, "who"), (dps.Dataset(frame, unit="who"), None)):
        with pytest.raises(dps.errors.InvalidDataError, match=r"rows that are in files.*limit.*toPandas"):
            dps.check(source, "value", unit=unit)


def test_each_row_may_be_another_person(tmp_path: Path) -> None:
    found = dps.check(file(tmp_path, ["1"] * 50, units=["x"] * 50), "value", unit=dps.ROWS)
    assert (found.units, found.problems) == (50, ())


def test_the_lines_of_a_view_are_those_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("who,age,value\n1,20,x\n2,70,5\n3,71,y\n")
    found = dps.check(dps.Dataset(path, unit="who").where(age=(65, None)), "value")
    assert (found.rows, found.problems) == (
        2,
        ("1 of 2 rows (50.0%): no number as it is written here, such as 'y' (line 4).",),
    )


def test_a_view_is_checked_with_its_conditions() -> None:
    """Of rows that do not meet them nothing is counted."""
    people = dps.Dataset("examples/data/adult.csv", unit="person_id")
    old = dps.check(people.where(age=(65, None)), "hours_per_week", bounds=(0, 168))
    assert (old.usable_rows, old.units) == (1336, 1336)
    assert "Only rows with age of at least 65 count." in str(old)
    assert "Only rows with" not in str(dps.check(people, "hours_per_week", bounds=(0, 168)))
    seen = people.where(age=(65, None)).by("age", groups=[66, 70])
    both = dps.check(seen, "education_num", candidates=range(1, 17))
    assert 0 < both.usable_rows < 1336
    with pytest.raises(dps.errors.InvalidParameterError, match="one column"):
        dps.check(people.by(["age", "education_num"], groups=[(30, 9)]), "hours_per_week", bounds=(0, 168))
    frame = pl.read_csv("examples/data/adult.csv").lazy()
    by_units = dps.check(dps.Dataset(frame, unit="person_id").where(age=(65, None)), "hours_per_week", bounds=(0, 168))
    assert by_units.units == 1336
    assert "Only rows with age" in str(by_units)
