"""What a cell in a declared format is read as: what a few lines of Python make of it, and null where it is not so."""

from __future__ import annotations

import re
from datetime import date
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpselect import Format
from dpselect.errors import InvalidCandidatesError
from dpselect.rows.columns import Column, Holds
from dpselect.rows.row_rules import PATTERNS
from dpselect.rows.scan import as_read, compared
from dpselect.summaries import CandidateKind, PublicCandidates
from tests.formats.reading import date_in, number_in

VALUE = Column("value", Holds.ANYTHING)

NUMBER_FORMATS = [
    Format(),
    Format(thousands=","),
    Format(thousands=".", decimal=","),
    Format(decimal=","),
    Format(thousands="'"),
    Format(thousands=" ", decimal=","),
    Format(thousands="_"),
    Format(strip="$%"),
    Format(strip="€ "),
    Format(strip="$", thousands=",", decimal="."),
    Format(strip="EUR", thousands=".", decimal=","),
]
DATE_FORMATS = ["%d.%m.%Y", "%m/%d/%y", "%Y%m%d", "%d %b %Y", "%b-%d-%y", "%Y-%m-%d 00:00:00", "%d%b%y", "[%y]%m(%d)"]


def read(cells: list[str | None], kind: CandidateKind, format: Format) -> list[str | None]:
    return as_read(pa.array(cells, pa.large_string()), VALUE, kind, format).to_pylist()


def as_number(text: str | None) -> float | None:
    """What the row rules make of it."""
    is_number = text is not None and re.fullmatch(PATTERNS[CandidateKind.NUMBER], text)
    return float(text) if is_number and text is not None else None


def as_date(text: str | None) -> date | None:
    if text is None or not re.fullmatch(PATTERNS[CandidateKind.DATE], text):
        return None
    try:
        return date.fromisoformat(text.strip(" \t"))
    except ValueError:
        return None


@given(
    cells=st.lists(st.text("0123456789.,'’_ \u00a0\u202f\t+-eE$%€EURx", max_size=12)),
    format=st.sampled_from(NUMBER_FORMATS),
)
def test_numbers_are_those_of_the_model(cells: list[str], format: Format) -> None:
    expected = [number_in(cell, format) for cell in cells]
    assert [as_number(text) for text in read([*cells, None], CandidateKind.NUMBER, format)] == [*expected, None]


@given(
    number=st.floats(-1e12, 1e12).map(lambda number: f"{number:,.3f}"),
    format=st.sampled_from([each for each in NUMBER_FORMATS if each.thousands]),
    ends=st.sampled_from(["", " ", "\t"]),
)
def test_every_number_that_is_well_written_is_read(number: str, format: Format, ends: str) -> None:
    """Or a reader of nothing would pass the test above."""
    mark = format.thousands or ""
    cell = number.replace(",", "T").replace(".", format.decimal).replace("T", mark)
    (found,) = read([f"{format.strip[:1]}{ends}{cell}{ends}"], CandidateKind.NUMBER, format)
    assert as_number(found) == float(number.replace(",", ""))


@pytest.mark.parametrize(
    ("format", "cell", "expected"),
    [
        (Format(thousands=","), "1,234", "1234"),
        (Format(thousands=","), "1,234,567.5", "1234567.5"),
        (Format(thousands=","), "12,34", None),
        (Format(thousands=","), "1234,567", None),
        (Format(thousands=","), ",123", None),
        (Format(thousands=","), "1,234,", None),
        (Format(thousands=","), "1,5", None),
        (Format(thousands=",", strip="$"), "$1,234", "1234"),
        (Format(thousands=",", strip="$"), "-$1,234", "-1234"),
        (Format(strip="%"), "+% 5", "5"),
        (Format(strip="%"), "%-5", "-5"),
        (Format(strip="%"), "--%5", None),
        (Format(strip="%"), "5 %", "5"),
        (Format(strip="%"), " 5%\t", "5"),
        (Format(strip="€", thousands=" ", decimal=","), "1\u202f234,5\u00a0€", "1234.5"),
        (Format(decimal=","), "1,5", "1.5"),
        (Format(decimal=","), "1.5", None),
        (Format(decimal=",", thousands="."), "1.234,5", "1234.5"),
        (Format(decimal=",", thousands="."), "1.234", "1234"),
        (Format(decimal=",", thousands="."), "1.23", None),
        (Format(decimal=",", thousands=" "), "1\u202f234,5", "1234.5"),
        (Format(decimal=",", thousands=" "), "1\u202f234\u00a0567", None),
        (Format(thousands="'"), "1’234", "1234"),
    ],
)
def test_numbers_one_by_one(format: Format, cell: str, expected: str | None) -> None:
    (found,) = read([cell], CandidateKind.NUMBER, format)
    assert as_number(found) == as_number(expected)


@given(
    cells=st.lists(st.text("0123456789./- []():JjAaNnMmOoVvDdEeCc", max_size=20)),
    day=st.dates(),
    date_format=st.sampled_from(DATE_FORMATS),
)
def test_dates_are_those_of_the_model(cells: list[str], day: date, date_format: str) -> None:
    short = f"{day:{date_format}}".replace(f"{day:%b}", f"{day:%b}".upper())
    cells = [*cells, f"{day:{date_format}}", f"  {short}\t", f"{day:{date_format}}x", day.isoformat()]
    expected = [date_in(cell, date_format) for cell in cells]
    found = read([*cells, None], CandidateKind.DATE, Format(date_format=date_format))
    assert [as_date(text) for text in found] == [*expected, None]
    if "%y" not in date_format and day.year >= 1000:
        assert expected[-4] == expected[-3] == day


@pytest.mark.parametrize(
    ("date_format", "cell", "expected"),
    [
        ("%d.%m.%Y", "3.4.2026", "2026-04-03"),
        ("%d.%m.%Y", "03.04.26", None),
        ("%m/%d/%y", "1/2/68", "2068-01-02"),
        ("%m/%d/%y", "1/2/69", "1969-01-02"),
        ("%Y%m%d", "20261121", "2026-11-21"),
        ("%Y%m%d", "2026112", None),
        ("%d %b %Y", "1 nOv 2026", "2026-11-01"),
        ("%d %b %Y", "1 Nob 2026", None),
        ("%d.%m.%Y", "3x4x2026", None),
    ],
)
def test_dates_one_by_one(date_format: str, cell: str, expected: str | None) -> None:
    assert read([cell], CandidateKind.DATE, Format(date_format=date_format)) == [expected]


def test_text_is_changed_only_as_declared() -> None:
    cells = [" Röt ", "$1,234", None, "É"]
    assert read(cells, CandidateKind.TEXT, Format(strip="$", thousands=",")) == cells
    assert read(cells, CandidateKind.TEXT, Format(trim=True)) == ["Röt", "$1,234", None, "É"]
    assert read(["\u202f a\u00a0b\u2007"], CandidateKind.TEXT, Format(trim=True)) == ["a\u00a0b"]
    assert read(cells, CandidateKind.TEXT, Format(ignore_case=True)) == [" röt ", "$1,234", None, "é"]


def test_typed_columns_are_no_text_to_be_read() -> None:
    cells = pa.array(["1,234"], pa.large_string())
    for holds in (Holds.TEXT, Holds.DECIMALS):
        column = Column("value", holds)
        assert as_read(cells, column, CandidateKind.NUMBER, Format(thousands=",")).to_pylist() == ["1,234"]


@pytest.mark.parametrize("word", ["ignore_case", "trim"])
@pytest.mark.parametrize("argument", ["candidates", "groups"])
def test_candidates_that_become_the_same_are_refused(word: str, argument: str) -> None:
    both: dict[str, Any] = {"ignore_case": ["Pink", "pink", "blue"], "trim": ["pink", "pink ", "blue"]}
    format = Format(**{word: True})  # type: ignore[arg-type]
    with pytest.raises(InvalidCandidatesError, match=f"Two of them are the same after {word}") as refused:
        compared(PublicCandidates.given(both[word]), format, argument=argument)
    assert refused.value.name == argument
    assert "pink" not in str(refused.value)
    other = Format(**{"ignore_case" if word == "trim" else "trim": True})  # type: ignore[arg-type]
    assert len(compared(PublicCandidates.given(both[word]), other)) == 3


def test_a_candidate_that_is_only_blanks_is_refused() -> None:
    with pytest.raises(InvalidCandidatesError, match="not blank"):
        compared(PublicCandidates.given(["red", " "]), Format(trim=True))


def test_candidates_that_are_no_text_stay() -> None:
    for candidates in (PublicCandidates.given(range(3)), PublicCandidates.given([1.5])):
        assert compared(candidates, Format(trim=True, ignore_case=True)) is candidates


@pytest.mark.parametrize(
    ("cell", "day"),
    [
        ("2024-01-05T10:00:00Z", "2024-01-05"),
        ("2024-01-05 23:59:59.999999", "2024-01-05"),
        ("2024-01-05T00:30:00+02:00", "2024-01-05"),  # as it is written, not in another zone
        ("2024-01-05 23:30:00-0800", "2024-01-05"),
        ("2024-01-05 10:00 UTC", "2024-01-05"),
        (" 2024-01-05 ", "2024-01-05"),
        ("2024-01-05 1:45 PM", "2024-01-05"),
        ("2024-01-05T", None),
        ("2024-01-05x10:00", None),
        ("2024-01-05 10", None),
        ("2024-01-05 10:00 and more", None),
        ("2024-1-5 10:00", None),
        ("10:00", None),
        (None, None),
    ],
)
def test_the_date_of_a_timestamp_is_the_one_that_is_written(cell: str | None, day: str | None) -> None:
    assert read([cell], CandidateKind.DATE, Format(as_date=True)) == [day]
    assert as_date(read([cell], CandidateKind.DATE, Format())[0]) == (
        None if cell != " 2024-01-05 " else date(2024, 1, 5)
    )
    assert read([cell], CandidateKind.TEXT, Format(as_date=True)) == [cell]


def test_a_date_format_and_a_time_behind_it() -> None:
    declared = Format(date_format="%m/%d/%Y", as_date=True)
    cells = ["1/5/2024 1:45 PM", "01/05/2024", "13/5/2024 1:45", "2024-01-05 10:00"]
    assert read(cells, CandidateKind.DATE, declared)[:2] == ["2024-01-05"] * 2
    assert [as_date(each) for each in read(cells, CandidateKind.DATE, declared)[2:]] == [None, None]
