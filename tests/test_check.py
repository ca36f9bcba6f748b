"""What the holder of a table is told before a question is asked: true sentences, with the cells that do not count."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pytest

import dpselect as dps
from tests.checked_files import file, read_with, said, suggested

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
        [f"Try {advice}: with it 25 more rows can count, and the others are read as before."] if advice else []
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
    assert found.problems[-1] == "No option reads them all. Write them all in the same way first."
    assert "Format" not in str(found)


def test_blanks_that_do_not_break_a_line_are_taken_away_by_a_blank(tmp_path: Path) -> None:
    values = ["5\u00a0", "6", "\u202f7"]
    assert "Try --strip ' ': with it 2 more rows can count, and the others are read as before." in said(
        tmp_path, values
    )
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
    assert found.problems[-1] == "value: No option reads them all. Write them all in the same way first."


def test_what_the_cells_do_not_tell_is_left_open(tmp_path: Path) -> None:
    found = dps.check(file(tmp_path, ["1,234", "5,678"]), "value", unit="who")
    assert found.problems[-1].startswith("Try Format(thousands=',')")
    assert found.problems[-1].endswith("Or Format(decimal=','): the cells fit each.")
    assert "--thousands '.' --decimal ','" in said(tmp_path, ["1.234", "5.678"])[-1]
    assert said(tmp_path, ["1.234", "5.67"]) == ()


def test_dots_that_would_change_their_meaning_are_said(tmp_path: Path) -> None:
    problem = said(tmp_path, ["1.234", "1.234,5"])[-1]
    assert problem == "Try --thousands '.' --decimal ',': with it 1 more row can count, and 1.234 as 1234."


def test_every_row_is_counted_however_many_ways_there_are_to_write(tmp_path: Path) -> None:
    """Of numbers no option is suggested then, as not all ways are tried."""
    letters = "abcdefghijklmnopqrstuvwxyz"
    values = [f"{a}{b}{c}" for a in letters for b in letters for c in letters]
    found = said(tmp_path, values)
    assert found[1].startswith(
        "17,574 of 17,576 rows (100.0%): no number as it is written here, such as 'aaa' (line 2)"
    )
    assert found[2].startswith("2 of 17,576 rows (0.0%): nothing, or a word for a missing")
    assert not any("Format(" in each for each in said(tmp_path, [*(f"{each}x" for each in values), "1,5"]))
    assert len(said(tmp_path, [*values, "1,5"])) == 3


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
    assert problem.endswith("If the file was written on Windows: Format(encoding='cp1252').")
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
        (["18 ", "18"], ["18"], "Try --trim: with it 1 more row can count, and the others are read as before."),
        (["oslo"], ["Oslo"], "Try --ignore-case: with it 1 more row can count, and the others are read as before."),
        (
            ["OSLO "],
            ["Oslo"],
            "Try --trim --ignore-case: with it 1 more row can count, and the others are read as before.",
        ),
        (["18\u00a0"], ["18"], "Try --trim: with it 1 more row can count, and the others are read as before."),
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
        "No row has 1 of 2 listed values: 'Nice'.",
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
            "Try --date-format '%m/%d/%Y': with it 2 more rows can count, and the others are read as before.",
        ),
        (
            ["24/12/2026", "3/4/2026"],
            "Try --date-format '%d/%m/%Y': with it 2 more rows can count, and the others are read as before.",
        ),
        (
            ["3/4/2026"],
            "Try --date-format '%m/%d/%Y': with it 1 more row can count, and the others are read as before. Or --date",
        ),
        (["12/24/2026", "24/12/2026"], "No option reads them all."),
        (["24.12.2026"], "Try --date-format '%d.%m.%Y':"),
        (["24-Dec-2026"], "Try --date-format '%d-%b-%Y':"),
        (["24-DEC-26"], "Try --date-format '%d-%b-%y':"),
        (["Dec 24; 2026"], "Try --date-format '%b %d; %Y':"),
        (["2026. 12. 24."], "Try --date-format '%Y. %m. %d.':"),
        (["2026年12月24日"], "Try --date-format '%Y年%m月%d日':"),
        (["12/24/2026 1:45 PM"], "Try --date-format '%m/%d/%Y' --as-date:"),
        (["24%12%2026"], "No option reads them all."),
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
        "No row has 1 of 2 listed values: 2026-12-25.",
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
    assert "Only rows where age is at least 65 count." in str(found)
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
