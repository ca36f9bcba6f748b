"""What a check says of files as newcomers have them, in every format; and what it refuses."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dpselect as dps
from tests.checked_files import file
from tests.rows import engines

WHOLE: dict[str, Any] = {"candidates": [5, 7]}
DAYS: dict[str, Any] = {"dates": ["2026-12-24"]}
NEWCOMERS: dict[str, tuple[str, dict[str, Any], tuple[str, ...]]] = {
    "formulas in all units": ('="1",5\n="2",7', {}, ("2 of 2 rows (100.0%) have no who, and do not count: text that",)),
    "more than 64 bits": (
        "1,5\n2,12345678901234567890",
        WHOLE,
        ("No row has 1 of 2 listed values: 7.", "1 of 2 rows (50.0%): a whole number beyond 2^63, such as '1234567890"),
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
            "No row has 1 of 2 listed values: 5.",
            "With a fraction or an exponent they only match candidates that are numbers (--candidates-as number).",
        ),
    ),
    "two currencies of whole numbers": (
        "1,$5\n2,€7\n3,5\n4,7",
        WHOLE,
        (
            "2 of 4 rows (50.0%): no whole number as it is written here, such as '$5' (line 2), '€7' (line 3).",
            "No option reads them all. Write them all in the same way first.",
        ),
    ),
    "days that there are not": (
        "1,2026-02-30\n2,2026-12-24",
        DAYS,
        ("1 of 2 rows (50.0%): a date that does not exist, such as '2026-02-30' (line 2).",),
    ),
    "dates in two forms": (
        "1,2026-12-24\n2,24.12.2026",
        DAYS,
        (
            "1 of 2 rows (50.0%): no date as it is written here, such as '24.12.2026' (line 3).",
            "No option reads them all. Write them all in the same way first.",
        ),
    ),
    "true, false and others": (
        "1,true\n2,1\n3,N",
        {"candidates": [True, False]},
        (
            "2 of 3 rows (66.7%): no true or false as it is written here, such as '1' (line 3), 'N' (line 4).",
            "No row has 1 of 2 listed values: False.",
        ),
    ),
    "values of nobody": (
        ",Rome\n1,Oslo",
        {"candidates": ["Oslo", "Rome"]},
        (
            "1 of 2 rows (50.0%) have no who, and do not count: nothing, or a word for a missing value.",
            "No row with a who has 1 of 2 listed values: 'Rome'.",
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
            "3 of 3 rows (100.0%) have a value of who that a spreadsheet may have rounded, so that several become one,"
            " such as '1.23457E+11' (line 2), '9.87654E+11' (line 4).",
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
        "1 of 4 lines are invalid: no object of JSON, or more than 1 MiB, such as line 2.",
        "1 of 3 rows (33.3%) have no who, and do not count: nothing, or an object, a list or a time, such as line 3.",
        "1 of 2 rows (50.0%): nothing, or an object, a list or a time, such as line 4.",
    )


def test_rows_of_parquet_are_named_as_those_of_a_frame(tmp_path: Path) -> None:
    who = [*range(300), *[-1] * 60, None, 7, 7]
    value = [*[each % 9 for each in range(360)], 3, None, 4]
    table, path = pa.table({"who": who, "value": value}), tmp_path / "t.parquet"
    pq.write_table(table, path)
    given: dict[str, Any] = {"unit": "who", "candidates": range(1, 11)}
    found = str(dps.check(path, "value", **given))
    assert found == str(dps.check(table, "value", **given))
    assert "321 of 363 rows count." in found
    assert "60 of 363 rows (16.5%) have a word for who that may mean nobody, such as '-1' (row 301)." in found


def test_no_release_ledger_or_certificate_reaches_a_check() -> None:
    """What is exact must not get into what is published."""
    source = Path(dps.__file__).parent
    reach = {"session/check.py", "session/advice.py", "__init__.py", "web/choosing.py"}
    words = ("session.check", "session.advice")
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
    assert "Only rows where age is at least 65 count." in str(old)
    assert "Only rows count" not in str(dps.check(people, "hours_per_week", bounds=(0, 168)))
    seen = people.where(age=(65, None)).by("age", groups=[66, 70])
    both = dps.check(seen, "education_num", candidates=range(1, 17))
    assert 0 < both.usable_rows < 1336
    with pytest.raises(dps.errors.InvalidParameterError, match="one column"):
        dps.check(people.by(["age", "education_num"], groups=[(30, 9)]), "hours_per_week", bounds=(0, 168))
    frame = pl.read_csv("examples/data/adult.csv").lazy()
    by_units = dps.check(dps.Dataset(frame, unit="person_id").where(age=(65, None)), "hours_per_week", bounds=(0, 168))
    assert by_units.units == 1336
    assert "Only rows where age" in str(by_units)
