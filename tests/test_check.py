"""What the holder of a table is told before a question is asked: every row that would not count, and why."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import dpselect as dps
from dpselect.errors import InvalidParameterError
from dpselect.session.check_by_units import UnitCheck
from dpselect.session.findings import WARNING, Check
from tests.backends import engines

UNREAD = {
    "1,234": ("a comma between thousands", "--thousands ','"),
    "-12,345.5": ("a comma between thousands", "--thousands ','"),
    "1.234,5": ("a dot between thousands", "--thousands . --decimal ','"),
    "1,5": ("a decimal comma", "--decimal ','"),
    "1 234": ("a blank between thousands", "--thousands ' '"),
    "1'234.50": ("an apostrophe between thousands", '--thousands "\'"'),
    "1\u202f234": ("a blank between thousands", "--thousands ' '"),
    "1 234,50": ("a blank between thousands and a decimal comma", "--thousands ' ' --decimal ','"),
    "1.234.567": ("a dot between thousands", "--thousands . --decimal ','"),
    "12,34,567": ("groups of two digits", ""),
    "5-": ("a minus sign at the end", ""),
    "$5": ("a currency, as in", "--strip '$'"),
    "-$5": ("a currency, as in", "--strip '$'"),
    "-€5.50": ("a currency, as in", "--strip '€'"),
    "5 EUR": ("a currency, as in", "--strip EUR"),
    "$1,234": ("a currency and a comma", "--strip '$' --thousands ','"),
    "1.234,50 €": ("a currency and a decimal comma", "--strip '€' --thousands . --decimal ','"),
    "€5,00": ("a currency and a decimal comma", "--strip '€' --thousands . --decimal ','"),
    "5%": ("a percent sign", "--strip '%'"),
    "(5)": ("parentheses", ""),
    "2026-12-24": ("a date", ""),
    "5 kg": ("a unit of measurement", ""),
    "5,5 %": ("a percent sign and a decimal comma", "--strip '%' --decimal ','"),
    "": ("nothing, or a word for a missing value", ""),
    "N/A": ("nothing, or a word for a missing value", ""),
    "n/a": ("a word for a missing value, as in n/a", ""),
    "lots": ("text without a digit", ""),
    "x7": ("something else", ""),
    "1_000": ("a low line between thousands", "--thousands '_'"),
}


def written(folder: Path, values: list[str], *, units: list[Any] | None = None) -> Path:
    path = folder / "table.csv"
    whose = units or list(range(len(values)))
    quoted = ['"' + value.replace('"', '""') + '"' for value in values]
    path.write_text("who,value\n" + "".join(f"{who},{value}\n" for who, value in zip(whose, quoted, strict=True)))
    return path


def problems(folder: Path, values: list[str], **given: Any) -> tuple[str, ...]:
    return dps.check(written(folder, values), "value", unit="who", **given).problems


@pytest.mark.sampled(8)
@pytest.mark.parametrize("value", UNREAD)
def test_each_way_to_write_a_number_that_is_not_read_is_named(value: str, tmp_path: Path) -> None:
    reason, advice = UNREAD[value]
    (said,) = problems(tmp_path, ["1", "2", "3", value], bounds=(0, 10))
    assert said.startswith(f"1 of 4 rows (25.0%): {reason}")
    assert said.endswith(f"Try {advice}." if advice else ".")
    assert ("Try" in said) == bool(advice)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("value", ["7", "+7.50", " .5 ", "1e3", "-0", "007"])
def test_what_is_read_is_no_problem(value: str, tmp_path: Path) -> None:
    assert problems(tmp_path, [value, "1.25"], bounds=(-10, 1000)) == ()
    assert "Nothing looks wrong." in str(dps.check(written(tmp_path, [value]), "value", unit="who"))


def test_what_counts_is_what_the_question_reads(tmp_path: Path) -> None:
    """With so much epsilon, the median of one value that counts is that value."""
    values = ["1,234"] * 999 + ["7"]
    found = dps.check(written(tmp_path, values), "value", unit="who", bounds=(0, 9999), step=1).found
    assert (found.rows, found.usable_rows, found.usable_units) == (1000, 1, 1)
    median = dps.Dataset(written(tmp_path, values), unit="who").median("value", bounds=(0, 9999), step=1, epsilon=1e6)
    assert median.value == 7


def test_ties_call_for_a_step(tmp_path: Path) -> None:
    for values, step in ((["0"] * 9 + ["37"], "1"), (["0.5"] * 9 + ["37"], "0.5"), (["0.01"] * 9 + ["0.07"], "0.01")):
        tied, common = problems(tmp_path, values, bounds=(0, 100))
        assert tied.startswith("9 of 10 rows (90.0%) share their value with another row.")
        assert tied.endswith(f"Try --step {step}.")
        assert common == "9 of 10 rows (90.0%) have the same value."
        assert problems(tmp_path, values, bounds=(0, 100), step=float(step)) == (common,)
    (tied,) = problems(tmp_path, ["0.12345", "0.12345", "1"], bounds=(0, 100))[:1]
    assert tied.endswith("Give a --step.")
    assert problems(tmp_path, [str(number / 7) for number in range(10)], bounds=(0, 100)) == ()


def test_values_beyond_the_bounds_are_counted(tmp_path: Path) -> None:
    said = problems(tmp_path, ["-1", "-2", "5", "11"], bounds=(0, 10), step=1)
    assert said == (
        "2 of 4 rows (50.0%) are below the lower bound, and are counted as if they were equal to it.",
        "1 of 4 rows (25.0%) are above the upper bound, and are counted as if they were equal to it.",
    )


@pytest.mark.parametrize(
    ("value", "candidate", "how", "advice"),
    [
        ("oslo", "Oslo", "in other case", "--ignore-case"),
        (" Oslo ", "Oslo", "with blanks around it", "--trim"),
        ("OSLO ", "Oslo", "in other case, with blanks around it", "--trim --ignore-case"),
        ("18.0", "18", "written as another number", "give the candidate as it is written"),
        ("18", "18.0", "written as another number", "give the candidate as it is written"),
        ("007", "7", "written as another number", "give the candidate as it is written"),
    ],
)
def test_candidates_that_nearly_match_are_named(
    value: str, candidate: str, how: str, advice: str, tmp_path: Path
) -> None:
    other, near, missing = problems(tmp_path, [value, "Rome"], candidates=[candidate, "Rome"])
    assert other == "1 of 2 rows (50.0%): a value that is not listed."
    assert near.startswith(f"{candidate!r} is in 1 row {how}")
    assert near.endswith(f"Try this: {advice}.")
    assert missing == f"1 of 2 occur in no row: {candidate!r}."


def test_candidates_that_all_occur_are_no_problem(tmp_path: Path) -> None:
    assert problems(tmp_path, ["Oslo", "Rome"], candidates=["Rome", "Oslo"]) == ()
    assert problems(tmp_path, ["18.0", " 7"], candidates=[7, 18]) == ()  # whole numbers are compared as numbers


@pytest.mark.parametrize(
    ("value", "advice"),
    [
        ("2026-12-24 00:00:00", "--as-date"),
        ("2026-12-24T00:00:00Z", "--as-date"),
        ("12/24/2026", "--date-format %m/%d/%Y"),
        ("24/12/2026", "--date-format %d/%m/%Y"),
        ("24.12.2026", "--date-format %d.%m.%Y"),
        ("24-Dec-2026", "--date-format %d-%b-%Y"),
        ("20261224", "--date-format %Y%m%d"),
    ],
)
def test_dates_in_other_forms_are_named(value: str, advice: str, tmp_path: Path) -> None:
    said, missing = problems(tmp_path, [value], candidates=[date(2026, 12, 24)])
    assert said.endswith(f"Try {advice}.")
    assert missing == "1 of 1 occur in no row: 2026-12-24."


def test_units_that_are_missing_or_all_the_same_are_named(tmp_path: Path) -> None:
    path = written(tmp_path, ["1", "2", "3", "4"], units=["ann", "", "NA", "bob"])
    assert dps.check(path, "value", unit="who").problems == ("2 of 4 rows (50.0%) have no who: they do not count.",)
    (same,) = dps.check(written(tmp_path, ["1", "2"], units=["x", "x"]), "value", unit="who").problems
    assert same.startswith("All rows have the same who")
    (empty,) = dps.check(written(tmp_path, []), "value", unit="who").problems
    assert empty == "The table has no rows."


def test_few_units_and_a_step_that_is_too_wide_are_named(tmp_path: Path) -> None:
    numbers = [str(number / 70) for number in range(100)]
    path = written(tmp_path, numbers, units=["F", "M"] * 50)
    (few,) = dps.check(path, "value", unit="who", bounds=(0, 10)).problems
    assert few.startswith("There are only 2 units. An answer needs many of them.")
    noise, unread = problems(tmp_path, ["7", *(["n/k"] * 99)], bounds=(0, 10))
    assert noise == "Only 1 unit will take part: the answer would be mostly noise."
    assert unread == "99 of 100 rows (99.0%): text without a digit, as in many."
    (wide,) = dps.check(written(tmp_path, numbers), "value", unit="who", bounds=(0, 10), step=5).problems
    assert wide.startswith("All values lie within one step")
    assert dps.check(written(tmp_path, numbers), "value", unit="who", bounds=(0, 10), step=0.5).problems == ()


def test_long_lists_are_cut(tmp_path: Path) -> None:
    names = [f"name {number}" for number in range(100)]
    said = problems(tmp_path, [name.upper() for name in names], candidates=names)
    assert len(said) == 2 + 10 + 2
    assert said[-2] == "So are 90 more."
    assert said[-1].endswith("'name 9', and 90 more.")
    assert len(problems(tmp_path, ["x" * 500], candidates=["X" * 500])[1]) < 150


@pytest.mark.sampled(3)
@pytest.mark.parametrize("end", ["", "\n", "\n\n", "\r\n\r\n"])
def test_lines_that_are_no_rows_are_counted(end: str, tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    for bad in (["3,Smith, Ann,3"] * 100, ["4"], ['5,"1'], []):
        path.write_bytes("\n".join(["who,value", "1,2", *bad, "2,3.5"]).encode() + end.encode())
        said = dps.check(path, "value", unit="who", bounds=(0, 10)).problems
        found = [each for each in said if "cannot be read: they have another number of fields" in each]
        assert [each.partition(" lines")[0] for each in found] == ([f"{len(bad)} of {len(bad) + 2}"] if bad else [])


def test_a_declared_format_is_checked(tmp_path: Path) -> None:
    path = written(tmp_path, ["$1,234", "$5", "oops"])
    format = dps.Format(strip="$", thousands=",")
    (left,) = dps.check(path, "value", unit="who", bounds=(0, 9999), format=format).problems
    assert left == "1 of 3 rows (33.3%): text without a digit, as in many."
    other = tmp_path / "other.csv"
    other.write_bytes("who;value\nann;Ærø\nbob;ærø \n".encode("utf-16"))
    format = dps.Format(delimiter=";", encoding="utf-16", trim=True, ignore_case=True)
    assert dps.check(other, "value", unit="who", candidates=["ÆRØ"], format=format).problems == ()
    with pytest.raises(dps.errors.InvalidCandidatesError, match="the same after"):
        dps.check(other, "value", unit="who", candidates=["ÆRØ", "ærø"], format=format)


def test_several_rows_of_a_unit_are_counted(tmp_path: Path) -> None:
    checked = dps.check(written(tmp_path, ["1", "2", "3.5", "x"], units=["a", "a", "b", "c"]), "value", unit="who")
    assert "2 of 3 units take part, 1 of them with several rows, up to 2." in str(checked)


def test_groups_are_checked_too(tmp_path: Path) -> None:
    frame = pd.DataFrame({"who": range(4), "city": ["Oslo", "oslo", "Rome", "Bonn"], "value": [1.5, 2.25, 3.125, 4.0]})
    checked = dps.check(frame, "value", unit="who", by="city", groups=["Oslo", "Rome"])
    assert checked.problems == (
        "city: 2 of 4 rows (50.0%): a value that is not listed.",
        "city: 'Oslo' is in 1 row in other case. Try this: --ignore-case.",
    )
    assert "city, for 2 groups: 2 rows are in one." in str(checked)


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table], ids=["pandas", "polars", "arrow"])
def test_typed_columns_have_only_missing_values(make: Any) -> None:
    frame = make({"who": ["a", "b", "c"], "value": [1.5, None, 2.25]})
    checked = dps.check(frame, "value", unit="who", bounds=(0, 9))
    assert checked.problems == ("1 of 3 rows (33.3%): nothing, or a word for a missing value.",)
    assert (checked.found.usable_rows, checked.found.usable_units) == (2, 2)


def test_it_says_for_whom_it_is_and_hides_what_it_found(tmp_path: Path) -> None:
    checked = dps.check(written(tmp_path, ["1"] * 919), "value", unit="who")
    assert isinstance(checked, Check)
    assert str(checked).startswith(WARNING)
    assert "919" not in repr(checked) + repr(checked.found)


def test_bad_input_is_refused_in_a_line(tmp_path: Path) -> None:
    path = written(tmp_path, ["1"])
    with pytest.raises(dps.errors.InvalidDataError, match=r"^column="):
        dps.check(path, "values", unit="who")
    with pytest.raises(dps.errors.InvalidDataError, match=r"^by="):
        dps.check(path, "value", unit="who", by="city", groups=["Oslo"])
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


def test_a_count_between_two_numbers_is_checked(tmp_path: Path) -> None:
    path = written(tmp_path, ["1", "5", "5", "9", "x"], units=[1, 1, 2, 3, 4])
    checked = dps.check(path, "value", unit="who", between=(5, 5))
    assert (checked.usable_rows, checked.usable_units) == (2, 2)
    assert checked.problems == (
        "1 of 5 rows (20.0%): text without a digit, as in many.",
        "1 of 4 rows (25.0%) are below the first number, and do not count.",
        "1 of 4 rows (25.0%) are above the second number, and do not count.",
    )
    assert dps.Dataset(path, unit="who").count("value", between=(5, 5), epsilon=1000.0).value == 2


@pytest.mark.parametrize("values", ["b", ["b", "c"]])
def test_values_of_a_count_are_checked_as_candidates_are(values: Any, tmp_path: Path) -> None:
    path = written(tmp_path, ["a", "B", "c"])
    said = dps.check(path, "value", unit="who", values=values).problems
    assert "'b' is in 1 row in other case. Try this: --ignore-case." in said
    assert said[1:] == dps.check(path, "value", unit="who", candidates=list(values)).problems[1:]


def test_the_clip_of_a_sum_is_checked(tmp_path: Path) -> None:
    path = written(tmp_path, ["-1", "5", "5", "5"])
    assert dps.check(path, "value", unit="who", clip=(0, 4)).problems == (
        "1 of 4 rows (25.0%) are below the lower end of the clip, which is added in their place.",
        "3 of 4 rows (75.0%) are above the upper end of the clip, which is added in their place.",
    )


@pytest.mark.parametrize(
    "given",
    [
        {"values": ["a"], "candidates": ["a"]},
        {"values": ["a"], "between": (1, 2)},
        {"between": (1, 2), "bounds": (1, 2)},
        {"between": (2, 1)},
        {"clip": (0, 1), "bounds": (1, 2)},
        {"clip": (1, 0)},
    ],
)
def test_arguments_of_two_questions_are_refused(given: dict[str, Any], tmp_path: Path) -> None:
    with pytest.raises(dps.errors.InvalidParameterError):
        dps.check(written(tmp_path, ["1"]), "value", unit="who", **given)


def test_a_dataset_is_checked_as_it_is_asked(tmp_path: Path) -> None:
    path = written(tmp_path, ["1,5", "2,5", "3.5"])
    data = dps.Dataset(path, unit="who", format=dps.Format(decimal=","))
    checked = dps.check(data, "value", bounds=(0, 9))
    assert (checked.usable_rows, checked.unit) == (2, "who")
    assert dps.check(data, "value", unit="who", bounds=(0, 9)).usable_rows == 2
    for other in ({"unit": "value"}, {"format": dps.Format()}, {"memory_limit": "1GiB"}, {"table": "t"}):
        with pytest.raises(dps.errors.InvalidParameterError, match="the Dataset has its own"):
            dps.check(data, "value", **other)  # type: ignore[arg-type]


def test_words_that_a_declared_format_lacks_are_named(tmp_path: Path) -> None:
    path = written(tmp_path, ["1.234,50", "€5,5", "12,5", "7.5", ""])
    checked = dps.check(path, "value", unit="who", format=dps.Format(decimal=","))
    assert checked.problems == (
        "1 of 5 rows (20.0%): a currency and a decimal comma, as in 1.234,5 €. Try --strip '€' --thousands .",
        "1 of 5 rows (20.0%): a dot between thousands and a decimal comma, as in 1.234,5. Try --thousands .",
        "1 of 5 rows (20.0%): nothing, or a value that is not written as the format says.",
        "1 of 5 rows (20.0%): nothing, or a word for a missing value.",
        "All of these: --thousands . --decimal ',' --strip '€'.",
    )
    assert isinstance(checked, Check)
    assert checked.suggested == dps.Format(decimal=",", thousands=".", strip="€")
    fixed = dps.check(path, "value", unit="who", format=checked.suggested)
    assert (fixed.usable_rows, len(fixed.problems)) == (3, 2)


def test_a_word_of_the_format_that_contradicts_is_not_suggested(tmp_path: Path) -> None:
    path = written(tmp_path, ["1,234,567", "1,5"])
    (said,) = dps.check(path, "value", unit="who", format=dps.Format(decimal=",")).problems
    assert said.startswith("1 of 2 rows (50.0%): nothing, or a value that is not written as the format says")


@pytest.mark.parametrize(
    ("others", "advice"),
    [
        ([], "--date-format %m/%d/%Y. Or --date-format %d/%m/%Y: the table has no date that tells."),
        (["12/24/2026"], "--date-format %m/%d/%Y."),
        (["24/12/2026"], "--date-format %d/%m/%Y."),
    ],
)
def test_the_order_of_day_and_month_is_that_of_dates_that_tell(others: list[str], advice: str, tmp_path: Path) -> None:
    path = written(tmp_path, ["3/4/2026", "2/3/2026", *others])
    first = dps.check(path, "value", unit="who", dates=["2026-12-24"]).problems[0]
    assert first.startswith(f"{len(others) + 2} of {len(others) + 2} rows (100.0%): a date with slashes")
    assert first.endswith(f"Try {advice}")


def test_dates_in_both_orders_cannot_be_declared(tmp_path: Path) -> None:
    path = written(tmp_path, ["3/4/2026", "12/24/2026", "24/12/2026"])
    assert "write them in one order first" in dps.check(path, "value", unit="who", dates=["2026-12-24"]).problems[0]


def test_numbers_with_a_zero_behind_have_one_line_and_an_option(tmp_path: Path) -> None:
    path = written(tmp_path, ["18.0", "19.0", "19.0"])
    said = dps.check(path, "value", unit="who", candidates=["18", "19"]).problems
    (near,) = (each for each in said if "candidates-as" in each)
    assert near.startswith("2 candidates are in 3 rows written as another number, such as 18.0 for 18.")
    assert dps.check(path, "value", unit="who", candidates=[18, 19]).problems == ()
    how = "written as another number, such as"
    codes = dps.check(path, "value", unit="who", candidates=["018", "019"]).problems
    near = f"'018' is in 1 row {how} 018 for 18. Try this: give the candidate as it is written."
    assert near in codes
    typed = dps.check(pa.table({"who": [1], "value": ["18.0"]}), "value", unit="who", candidates=["18"]).problems
    assert not any("candidates-as" in each for each in typed)  # in a column of text, whole numbers match nothing


def test_lines_that_are_no_rows_have_a_remedy(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("who,value\n1,2,\n2,3,\n")
    said = dps.check(path, "value", unit="who").problems[0]
    assert "let the first line end in one, too" in said
    assert "line breaks inside, write the file anew: docs/files.md" in said
    path.write_text("who,value,\n1,2,\n2,3,\n")
    assert dps.check(path, "value", unit="who").problems == ()


def test_a_notebook_shows_what_was_found(tmp_path: Path) -> None:
    path = written(tmp_path, ["<b>", "1"])
    shown = dps.check(path, "value", unit="who")._repr_html_()
    assert "<td>value</td><td>1</td><td>2</td>" in shown
    assert "<td>who (units)</td><td>1</td><td>2</td>" in shown
    assert WARNING in shown
    frame = pl.LazyFrame({"who": range(50), "value": range(50)})
    shown = dps.check(frame, "value", unit="who")._repr_html_()
    assert "<td>who (units)</td><td>50</td><td>50</td>" in shown
    assert "Nothing looks wrong." in shown


ROWS = pa.table(
    {
        "who": [*range(100), 100, 100],
        "value": [*([7] * 60), *([30] * 40), None, None],
        "part": [*(["a"] * 50), *(["b"] * 50), "a", "b"],
    }
)


def engine_says(source: Any, **options: Any) -> None:
    """What the units of `ROWS` come to, whichever engine counts them."""
    of_numbers = dps.check(source, "value", unit="who", bounds=(10, 40), **options)
    assert isinstance(of_numbers, UnitCheck)
    assert (of_numbers.units, of_numbers.usable_units, of_numbers.beyond) == (101, 100, 60)
    assert dps.check(source, "value", unit="who", between=(30, 30), **options).usable_units == 40
    listed = dps.check(source, "part", unit="who", candidates=["a", "c"], sum="value", clip=(0, 9), **options)
    assert isinstance(listed, UnitCheck)
    assert (listed.usable_units, listed.missing) == (50, (1,))
    grouped = dps.check(source, "value", unit="who", bounds=(0, 40), by="part", groups=["b", "d"], **options)
    assert grouped.usable_units == 50
    assert "part: 1 of 2 occur in no row: 'd'." in grouped.problems


def test_a_lazy_frame_is_asked_for_units_alone() -> None:
    frame = pl.DataFrame(ROWS).lazy()
    engine_says(frame)
    checked = dps.check(dps.Dataset(frame, unit="who"), "value", bounds=(0, 40))
    assert str(checked).startswith(WARNING)
    assert "value, for numbers: 100 of 101 units (who) take part." in str(checked)
    assert "1 unit have no row" not in str(checked)
    assert "100" not in repr(checked)
    assert checked.suggested is None
    (said,) = checked.problems
    assert said.startswith("1 unit has no row that counts. To see why, check some of its rows in a frame")
    few = dps.check(frame.head(3), "value", unit="who", bounds=(0, 40)).problems
    assert few == (
        "There are only 3 units. An answer needs many of them. Is this the column that says whose row it is?",
    )
    assert dps.check(frame.head(0), "value", unit="who", bounds=(0, 40)).problems == (
        "The table has no rows with a unit.",
    )


def test_a_server_is_asked_for_units_alone(postgres: Any) -> None:
    source = engines.on_server(postgres, ROWS)
    engine_says(source.given, **source.options)


def test_spark_is_asked_for_units_alone() -> None:
    engine_says(engines.spark_frame(ROWS))


def test_objects_that_are_read_as_missing_are_named_by_their_kind() -> None:
    cells = [b"a", b"b", pd.Timestamp("2026-12-24"), None, float("nan"), pd.NaT, pd.NA, 5, "a"]
    frame = pd.DataFrame({"who": range(9), "value": pd.Series(cells, dtype=object)})
    (problem, *_) = dps.check(frame, "value", unit="who", candidates=["a", "5"]).problems
    assert "or an object that is read as missing (Timestamp, bytes). Make text, numbers or dates" in problem
    plain = dps.check(frame.iloc[3:], "value", unit="who", candidates=["a", "5"])
    assert "object" not in str(plain)
    assert plain.usable_rows == 2


def test_a_view_is_checked_with_its_conditions(tmp_path: Path) -> None:
    """Of rows that do not meet them nothing is counted; the other engines count units by the question's own queries."""
    people = dps.Dataset("examples/data/adult.csv", unit="person_id")
    old = dps.check(people.where(age=(65, None)), "hours_per_week", bounds=(0, 168))
    assert (old.usable_rows, old.units) == (1336, 1336)
    assert "Only rows with age of at least 65 were looked at." in str(old)
    assert "looked at" not in str(dps.check(people, "hours_per_week", bounds=(0, 168)))
    both = dps.check(people.where(age=(65, None)), "education_num", candidates=range(1, 17), by="age", groups=[66, 70])
    assert 0 < both.usable_rows < 1336
    seen = people.where(age=(65, None)).by("age", groups=[66, 70])
    assert str(dps.check(seen, "education_num", candidates=range(1, 17))) == str(both)
    with pytest.raises(InvalidParameterError, match="by='age'"):
        dps.check(seen, "education_num", candidates=range(1, 17), by="age", groups=[66, 70])
    with pytest.raises(InvalidParameterError, match="one column"):
        dps.check(people.by(["age", "education_num"], groups=[(30, 9)]), "hours_per_week", bounds=(0, 168))
    frame = pl.read_csv("examples/data/adult.csv").lazy()
    by_units = dps.check(dps.Dataset(frame, unit="person_id").where(age=(65, None)), "hours_per_week", bounds=(0, 168))
    assert by_units.units == 1336
    assert "Only rows with age" in str(by_units)
