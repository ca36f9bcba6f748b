"""Files as people have them, the same question to each, and what comes of it. Nobody is answered about nothing.

Each file holds 400 people. They paid 1000, 1010, ... 4990, so the median is 2990 or 3000; 300 are in Oslo and 100 in
Rome; 300 came on 24 December 2026. With so much epsilon the answer is the truth, if the rows are read. Each file is

- *answered* as it is;
- *refused* in one line, with the option to use, where a declared format has one; or
- *flagged*: the question is answered, as no row may decide otherwise, but few or no units take part in it, and
  ``dpselect check`` says so, with the option to use, where there is one.

Wherever there is an option, the same question with exactly this option is answered right.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import date
from io import BytesIO
from typing import Literal

import openpyxl
from openpyxl.cell import WriteOnlyCell

PEOPLE = range(400)
PAID = [1000 + 10 * each for each in PEOPLE]
CITY = ["Rome" if each % 4 == 0 else "Oslo" for each in PEOPLE]
DAY = [23 if each % 4 == 0 else 24 for each in PEOPLE]

MEDIAN = ("median", "value", "--bounds", "0", "10000", "--step", "10")
CITIES = ("most-common", "value", "--candidates", "Rome,Oslo")
DATES = ("best-date", "value", "--bounds", "2026-12-01", "2026-12-31")
BY_CITY = ("best-by", "city", "value", "--clip", "0", "5000", "--candidates", "Rome,Oslo")
IN_OSLO = (*MEDIAN, "--by", "city", "--groups", "Oslo,Paris")
ANSWERS = {MEDIAN: ("2990", "3000"), CITIES: ("Oslo",), DATES: ("2026-12-24",), BY_CITY: ("Oslo",)}


@dataclass(frozen=True)
class Case:
    """A file and what comes of a question to it.

    Attributes:
        name: of the case.
        outcome: without an option.
        file: name of the file; the end of it says what it is.
        content: of the file.
        asked: the question.
        said: what the refusal, or else the check, says.
        option: what helps, exactly as it is said; "": nothing does.
        taking_part: units that take part without the option, which a noisy count of them tells everybody.
        answers: the right ones; by default those of the question.
        after: what the check still says with the option.
    """

    name: str
    outcome: Literal["answered", "refused", "flagged"]
    content: bytes
    asked: tuple[str, ...] = MEDIAN
    said: str = ""
    option: str = ""
    taking_part: int | None = None
    file: str = "table.csv"
    answers: tuple[str, ...] = ()
    after: str = "Nothing looks wrong."


def lines(
    values: Iterable[object], *, header: str = "who,value", delimiter: str = ",", end: str = "", who: object = None
) -> str:
    names = PEOPLE if who is None else [who] * len(PEOPLE)
    rows = [f"{name}{delimiter}{value}{end}" for name, value in zip(names, values, strict=True)]
    return "\n".join([header, *rows, ""])


def text(values: Iterable[object], encoding: str = "utf-8", **how: object) -> bytes:
    return lines(values, **how).encode(encoding)  # type: ignore[arg-type]


def paid(write: Callable[[int], str], **how: object) -> bytes:
    return text(map(write, PAID), **how)  # type: ignore[arg-type]


def on(write: Callable[[int], str]) -> bytes:
    return text(map(write, DAY))


def with_city(cities: Iterable[str], write: Callable[[int], str] = str) -> bytes:
    return text((f"{city},{write(each)}" for city, each in zip(cities, PAID, strict=True)), header="who,city,value")


def excel(values: Iterable[object], *, display: str = "", more: str = "", title: str = "") -> bytes:
    """A workbook with the sheet ``Sheet1``."""
    made = openpyxl.Workbook(write_only=True)
    sheet = made.create_sheet("Sheet1")
    if title:
        sheet.append([title])
    sheet.append(["who", "value"])
    for who, value in enumerate(values):
        cell = WriteOnlyCell(sheet, value)
        cell.number_format = display or cell.number_format
        sheet.append([who, cell])
    if more:
        made.create_sheet(more)
    made.save(content := BytesIO())
    return content.getvalue()


def in_german(each: int) -> str:
    return f"{each // 1000}.{each % 1000:03}"


def serial(day: int) -> str:
    return str(46380 - 24 + day)


OSLO_UPPER = [city.upper() for city in CITY]
MISSING = "nothing, or a word for a missing value"
UNREAD_LINES = "lines are invalid"

CASES = [
    Case("as expected", "answered", paid(str)),
    Case("byte order mark", "answered", paid(str, encoding="utf-8-sig")),
    Case("carriage returns", "answered", paid(str, end="\r", header="who,value\r")),
    Case("blanks around numbers", "answered", paid(lambda each: f"  {each} ")),
    Case("quotes around everything", "answered", paid(lambda each: f'"{each}"', header='"who","value"')),
    Case("exponents", "answered", paid(lambda each: f"{each / 1000}e3")),
    Case("whole numbers with .0", "answered", paid(lambda each: f"{each}.0")),
    Case(
        "candidates 18 as 18.0",
        "answered",
        text(f"{day}.0" for day in DAY),
        ("most-common", "value", "--candidates", "23,24"),
        answers=("24",),
    ),
    Case("a comma at the end of all lines", "answered", paid(str, end=",", header="who,value,")),
    Case("tabs in .tsv", "answered", paid(str, delimiter="\t", header="who\tvalue"), file="table.tsv"),
    Case("commas in .txt", "answered", paid(str), file="table.txt"),
    Case("compressed", "answered", gzip.compress(paid(str)), file="table.csv.gz"),
    Case(
        "JSON lines",
        "answered",
        "\n".join(json.dumps({"who": who, "value": each}) for who, each in enumerate(PAID)).encode(),
        file="table.jsonl",
    ),
    Case("an Excel file", "answered", excel(PAID, display='"$"#,##0.00'), file="table.xlsx"),
    Case("dates in an Excel file", "answered", excel(date(2026, 12, day) for day in DAY), DATES, file="table.xlsx"),
    # Refused
    Case(
        "an Excel file of two sheets",
        "refused",
        excel(PAID, more="Notes"),
        said="It has 2 sheets that are visible.",
        option="--sheet Sheet1",
        file="table.xlsx",
    ),
    Case(
        "semicolons",
        "refused",
        paid(str, delimiter=";", header="who;value"),
        said="It looks separated by semicolons.",
        option="--delimiter semicolon",
    ),
    Case(
        "tabs in .csv",
        "refused",
        paid(str, delimiter="\t", header="who\tvalue"),
        said="It looks separated by tabs.",
        option="--delimiter tab",
    ),
    Case(
        "pipes",
        "refused",
        paid(str, delimiter="|", header="who|value"),
        said="It looks separated by pipes.",
        option="--delimiter pipe",
    ),
    Case(
        "decimal commas and semicolons",
        "refused",
        paid(lambda each: f"{each},00", delimiter=";", header="who;value"),
        said="if decimals have commas",
        option="--delimiter semicolon --decimal ,",
    ),
    Case("UTF-16", "refused", paid(str, encoding="utf-16"), said="Its content is UTF-16.", option="--encoding utf-16"),
    Case(
        "Latin-1 in the header",
        "refused",
        lines((f"{each},x" for each in PAID), header="who,value,größe").encode("latin-1"),
        said="in UTF-8",
        option="--encoding cp1252",
    ),
    Case("no header", "refused", text(PAID, header="x,1000"), said="The first line has to hold the names"),
    Case(
        "a title above the header",
        "refused",
        b"Sales of May\n" + paid(str),
        said="If a title stands above",
        option="--skip-lines 1",
    ),
    Case(
        "an Excel file with a title above the header",
        "refused",
        excel(PAID, title="Sales of May"),
        said="names of at least two columns",
        option="--header-row 2",
        file="table.xlsx",
    ),
    Case(
        "UTF-16 without a mark",
        "refused",
        paid(str, encoding="utf-16-be"),
        said="without a byte order mark",
        option="--encoding utf-16-be",
    ),
    Case(
        "tabs in .txt",
        "refused",
        paid(str, delimiter="\t", header="who\tvalue"),
        said="It looks separated by tabs.",
        option="--delimiter tab",
        file="table.txt",
    ),
    Case(
        "the same name twice",
        "refused",
        paid(lambda each: f"{each},1", header="who,value,value"),
        said="Columns 2 and 3 have the same name",
    ),
    Case("line breaks of old", "refused", paid(str).replace(b"\n", b"\r"), said="line breaks of the form"),
    Case("empty", "refused", b"", said="The file is empty"),
    Case("a spreadsheet named .csv", "refused", b"PK\x03\x04" + b"\0" * 99, said="a zip archive"),
    Case("a JSON list", "refused", b'[{"who": 1, "value": 2}]', said="name it .jsonl", file="table.json"),
    Case("no step for repeated values", "refused", paid(str), MEDIAN[:-2], said="--step is missing"),
    # Flagged
    Case(
        "thousands",
        "flagged",
        paid(lambda each: f'"{each:,}"'),
        said="no number as it is written here",
        option="--thousands ','",
        taking_part=0,
    ),
    Case(
        "dollars",
        "flagged",
        paid(lambda each: f"${each}"),
        said="no number as it is written here",
        option="--strip '$'",
        taking_part=0,
    ),
    Case(
        "dollars and thousands",
        "flagged",
        paid(lambda each: f'"${each:,}"'),
        said="no number as it is written here",
        option="--strip '$' --thousands ','",
        taking_part=0,
    ),
    Case(
        "some dollars, some thousands",
        "flagged",
        paid(lambda each: f'"${each:,}"' if each % 20 else f"${each}"),
        said="no number as it is written here",
        option="--strip '$' --thousands ','",
        taking_part=0,
    ),
    Case(
        "negative dollars",
        "flagged",
        paid(lambda each: f"-${each}"),
        ("median", "value", "--bounds", "-10000", "0", "--step", "10"),
        said="no number as it is written here",
        option="--strip '$'",
        taking_part=0,
        answers=("-2990", "-3000"),
    ),
    Case(
        "euros",
        "flagged",
        paid(lambda each: f'"{in_german(each)},00 €"'),
        said="no number as it is written here",
        option="--strip '€' --thousands '.' --decimal ','",
        taking_part=0,
    ),
    Case(
        "percent",
        "flagged",
        paid(lambda each: f"{each}%"),
        said="no number as it is written here",
        option="--strip '%'",
        taking_part=0,
    ),
    Case(
        "thousands in French",
        "flagged",
        paid(lambda each: f'"{each:,}.00"'.replace(",", "\u202f").replace(".", ",")),
        said="no number as it is written here",
        option="--thousands ' ' --decimal ','",
        taking_part=0,
    ),
    Case(
        "blanks that do not break a line",
        "flagged",
        paid(lambda each: f"{each}\u00a0"),
        said="no number as it is written here",
        option="--strip ' '",
        taking_part=0,
    ),
    Case(
        "thousands in Swiss",
        "flagged",
        paid(lambda each: f"{each:,}".replace(",", "'")),
        said="no number as it is written here",
        option='--thousands "\'"',
        taking_part=0,
    ),
    Case(
        "thousands in German",
        "flagged",
        paid(in_german),
        said="All dots stand before three digits.",
        option="--thousands '.' --decimal ','",
        taking_part=400,
    ),
    Case(
        "decimal commas",
        "flagged",
        paid(lambda each: f'"{each},5"'),
        said="no number as it is written here",
        option="--decimal ','",
        taking_part=0,
    ),
    Case(
        "decimal commas declared, thousands not",
        "flagged",
        paid(lambda each: f"{in_german(each)}", delimiter=";", header="who;value"),
        (*MEDIAN, "--delimiter", "semicolon", "--decimal", ","),
        said="no number as it is written here",
        option="--thousands '.'",
        answers=ANSWERS[MEDIAN],
    ),
    Case(
        "parentheses for a minus",
        "flagged",
        paid(lambda each: f"({each})"),
        said="No option reads them all.",
        taking_part=0,
    ),
    Case(
        "a unit of measurement",
        "flagged",
        paid(lambda each: f"{each} kg"),
        said="no number as it is written here",
        taking_part=0,
    ),
    Case(
        "missing values", "flagged", paid(lambda each: "NA" if each < 4900 else str(each)), said=MISSING, taking_part=10
    ),
    Case(
        "numbers in JSON texts",
        "flagged",
        "\n".join(json.dumps({"who": who, "value": f"{each:,}"}) for who, each in enumerate(PAID)).encode(),
        said="no number as it is written here",
        option="--thousands ','",
        taking_part=0,
        file="table.jsonl",
    ),
    Case(
        "other case",
        "flagged",
        text(OSLO_UPPER),
        CITIES,
        said="a value that is not listed",
        option="--ignore-case",
        taking_part=0,
    ),
    Case(
        "blanks around words",
        "flagged",
        text(f" {city} " for city in CITY),
        CITIES,
        said="a value that is not listed",
        option="--trim",
        taking_part=0,
    ),
    Case(
        "blanks around words that do not break a line",
        "flagged",
        text(f"{city}\u00a0" for city in CITY),
        CITIES,
        said="a value that is not listed",
        option="--trim",
        taking_part=0,
    ),
    Case(
        "other case and blanks",
        "flagged",
        text(f"{city} " for city in OSLO_UPPER),
        CITIES,
        said="a value that is not listed",
        option="--trim --ignore-case",
        taking_part=0,
    ),
    Case(
        "zeros before codes",
        "flagged",
        text(f"0{day}" for day in DAY),
        ("most-common", "value", "--candidates", "23,24", "--candidates-as", "text"),
        said="whole numbers, not text (--candidates-as integer)",
        taking_part=0,
    ),
    Case(
        "exponents for whole numbers",
        "flagged",
        text(f"{day}e0" for day in DAY),
        ("most-common", "value", "--candidates", "23,24"),
        said="no whole number as it is written here",
        option="--candidates-as number",
        taking_part=0,
        answers=("24",),
    ),
    Case(
        "yes and no",
        "flagged",
        text("no" if city == "Rome" else "yes" for city in CITY),
        ("most-common", "value", "--candidates", "true,false", "--candidates-as", "boolean"),
        said="no true or false as it is written here",
        taking_part=0,
    ),
    Case(
        "Latin-1",
        "flagged",
        text((city.replace("Oslo", "Örebro") for city in CITY), encoding="latin-1"),
        ("most-common", "value", "--candidates", "Rome,Örebro"),
        said="text that cannot be read",
        option="--encoding 'cp1252'",
        taking_part=100,
        answers=("Örebro",),
    ),
    Case(
        "midnight",
        "flagged",
        on(lambda day: f"2026-12-{day} 00:00:00"),
        DATES,
        said="no date as it is written here",
        option="--as-date",
        taking_part=0,
    ),
    Case(
        "times of day",
        "flagged",
        on(lambda day: f"2026-12-{day} 13:45"),
        DATES,
        said="no date as it is written here",
        option="--as-date",
        taking_part=0,
    ),
    Case(
        "American dates",
        "flagged",
        on(lambda day: f"12/{day}/2026"),
        DATES,
        said="no date as it is written here",
        option="--date-format '%m/%d/%Y'",
        taking_part=0,
    ),
    Case(
        "British dates",
        "flagged",
        on(lambda day: f"{day}/12/2026"),
        DATES,
        said="no date as it is written here",
        option="--date-format '%d/%m/%Y'",
        taking_part=0,
    ),
    Case(
        "German dates",
        "flagged",
        on(lambda day: f"{day}.12.2026"),
        DATES,
        said="no date as it is written here",
        option="--date-format '%d.%m.%Y'",
        taking_part=0,
    ),
    Case(
        "dates of a database",
        "flagged",
        on(lambda day: f"{day}-DEC-26"),
        DATES,
        said="no date as it is written here",
        option="--date-format '%d-%b-%y'",
        taking_part=0,
    ),
    Case(
        "American dates in words",
        "flagged",
        on(lambda day: f'"Dec {day}, 2026"'),
        DATES,
        said="no date as it is written here",
        option="--date-format '%b %d, %Y'",
        taking_part=0,
    ),
    Case(
        "dates of a spreadsheet",
        "flagged",
        on(serial),
        DATES,
        said="They look like a spreadsheet's numbers for dates",
        taking_part=0,
    ),
    Case(
        "groups in other case",
        "flagged",
        with_city(OSLO_UPPER),
        IN_OSLO,
        said="city: 400 of 400 rows (100.0%): a value that is not listed",
        option="--ignore-case",
        taking_part=0,
        answers=("Oslo  29", "Oslo  30"),
        after="'Paris'",
    ),
    Case(
        "amounts in dollars",
        "flagged",
        with_city(CITY, lambda each: f"${each}"),
        BY_CITY,
        said="value: 400 of 400 rows (100.0%): no number as it is written here",
        option="--strip '$'",
        taking_part=0,
    ),
    Case(
        "line breaks in quotes",
        "flagged",
        with_city(f'"{city}\n"' for city in CITY),
        BY_CITY,
        said=UNREAD_LINES,
        taking_part=0,
    ),
    Case("a comma at the end of rows alone", "flagged", paid(str, end=","), said=UNREAD_LINES, taking_part=0),
    Case("header only", "flagged", b"who,value\n", said="The table has no rows.", taking_part=0),
    Case("one unit", "flagged", paid(str, who="shop"), said="Does who say whose a row is?", taking_part=1),
    Case(
        "nearly one unit",
        "flagged",
        paid(str) + b"guest,1\n" * 500,
        said="have a value of who that very many rows have",
        taking_part=401,
    ),
    Case(
        "a word for no unit",
        "flagged",
        paid(str) + b"Unknown,1\n" * 40,
        said="have a word for who that may mean nobody",
        taking_part=401,
    ),
    Case(
        "one unit in two cases",
        "flagged",
        b"who,value\n" + b"".join(f"{name}{each},{each}\n".encode() for each in PAID for name in "aA"),
        said="have a value of who that may be another spelling of one already counted",
        taking_part=800,
    ),
]
