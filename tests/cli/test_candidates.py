"""``--candidates``: ranges, lists and files."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dpselect.arguments import OF_VIEWS
from dpselect.errors import InvalidCandidatesError
from dpselect.public import listed, value_of
from dpselect.questions.question import BY_NAME
from dpselect.summaries import CandidateKind

PRIVATE = "people.csv"


@pytest.mark.parametrize(
    ("text", "kind", "expected"),
    [
        ("1..3", None, range(1, 4)),
        (" -5 .. +5 ", None, range(-5, 6)),
        ("7..8", CandidateKind.INTEGER, range(7, 9)),
        ("1..3", CandidateKind.TEXT, ["1", "2", "3"]),
        ("1..3", CandidateKind.NUMBER, [1.0, 2.0, 3.0]),
        ("3,1, 2", None, [3, 1, 2]),
        ("-3,+1,0", None, [-3, 1, 0]),
        ("01067,80331", None, ["01067", "80331"]),
        ("3,1", CandidateKind.TEXT, ["3", "1"]),
        ("3,x", None, ["3", "x"]),
        ("a,'b'", None, ["a", "'b'"]),
        ("a..b,c", None, ["a..b", "c"]),
        ("[a,b]", CandidateKind.TEXT, ["[a", "b]"]),
        ("true,1.5", None, ["true", "1.5"]),
        ("a1..a5,..", None, ["a1..a5", ".."]),
        ("1.5..2,1...5", CandidateKind.TEXT, ["1.5..2", "1...5"]),
        ("1.5,2026-01-01,1-5,+7", None, ["1.5", "2026-01-01", "1-5", "+7"]),
        ("0.5,1", CandidateKind.NUMBER, [0.5, 1.0]),
        ('"Paris, Texas", Rome', None, ["Paris, Texas", "Rome"]),
        ('"say ""hi""",b', None, ['say "hi"', "b"]),
        ("2026-11-21, 2026-11-22", CandidateKind.DATE, [date(2026, 11, 21), date(2026, 11, 22)]),
        ("true, FALSE", CandidateKind.BOOLEAN, [True, False]),
    ],
)
def test_read(text: str, kind: CandidateKind | None, expected: Any) -> None:
    assert listed(text, kind=kind, private=PRIVATE) == expected


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("", None),
        (" ", None),
        ("1,,2", None),
        ("a,", None),
        ('"open,b', None),
        ("3..1", None),
        ("a,b", CandidateKind.INTEGER),
        ("1.5", CandidateKind.INTEGER),
        ("x", CandidateKind.NUMBER),
        ("21.11.2026", CandidateKind.DATE),
        ("yes", CandidateKind.BOOLEAN),
        ("0..999999999999", CandidateKind.TEXT),
        ("@", None),
        ("@no such file", None),
        ("@a\0b", None),
    ],
)
def test_refused(text: str, kind: CandidateKind | None) -> None:
    with pytest.raises(InvalidCandidatesError, match=r"^candidates="):
        listed(text, kind=kind, private=PRIVATE)


ALMOST = [
    "2026-01-01..2026-01-05",
    "2026-01-01 .. 2026-01-05",
    "01/02/2026..01/05/2026",
    "1...5",
    "1 ... 5",
    "1\u20265",
    "1.0..5",
    "1...5.5",
    "1..1e6",
    "1..5,7",
    "a,1..5",
    "1,000..2,000",
    "1..",
    "..5",
    f"1..{10**20}",
]


@pytest.mark.parametrize("text", ALMOST)
def test_what_is_almost_a_range_is_no_text(text: str, tmp_path: Path) -> None:
    for kinds in ((), (CandidateKind.TEXT,), (CandidateKind.DATE,), (CandidateKind.NUMBER,)):
        with pytest.raises(InvalidCandidatesError, match=r"^candidates=.*--candidates-as text"):
            listed(text, fitting=kinds, private=PRIVATE)
    with pytest.raises(InvalidCandidatesError, match=r"^groups=.*--groups-as text"):
        listed(text, private=PRIVATE, argument="groups")
    path = tmp_path / "names.txt"
    path.write_text(text + "\nb\n", encoding="utf-8")
    if "," not in text:
        with pytest.raises(InvalidCandidatesError, match="--candidates-as text"):
            listed(f"@{path}", private=PRIVATE)
    assert listed(f"@{path}", kind=CandidateKind.TEXT, private=PRIVATE) == [text, "b"]


@pytest.mark.parametrize("text", ["[a,b]", "(1, 2)", "{a}", "range(1,9)", " range(9)", "'a','b'", "'a', 'b c'"])
def test_what_is_almost_a_list_is_no_text(text: str) -> None:
    with pytest.raises(InvalidCandidatesError, match=r"^candidates=.*no brackets or single quotes"):
        listed(text, private=PRIVATE)
    assert listed(text + ",x", kind=CandidateKind.TEXT, private=PRIVATE)[-1] == "x"


@pytest.mark.parametrize(
    "text", ["codes.txt", "codes.csv:code", "Bern;Ulm", "90-18", "18-90-95", "18:90", "7..7", "@{}"]
)
def test_there_is_something_to_choose(text: str, tmp_path: Path) -> None:
    path = tmp_path / "one.txt"
    path.write_text("Bern\n", encoding="utf-8")
    text = text.format(path)
    for name in ("most_common", "top_k", "best_by"):
        for kinds in ((), (CandidateKind.TEXT, CandidateKind.INTEGER)):
            with pytest.raises(InvalidCandidatesError, match=r"^candidates=.*at least two candidates.*write @ before"):
                value(name, "candidates", text, kinds)
    for name in ("histogram", "count"):
        assert len(value(name, "candidates", text)) == 1
    (groups,) = [each for each in OF_VIEWS if each.name == "groups"]
    assert len(value_of(groups, [text], {"by": "city"}, lambda column: (), private=PRIVATE)) == 1
    with pytest.raises(InvalidCandidatesError, match=r"^prices='5': expected at least two prices"):
        value("best_price", "prices", "5")
    with pytest.raises(InvalidCandidatesError, match=r"^dates='2026-12-01': expected at least two dates"):
        value("best_date", "dates", "2026-12-01")


def value(question: str, argument: str, text: str, kinds: tuple[CandidateKind, ...] = ()) -> Any:
    return value_of(
        BY_NAME[question].argument(argument), [text], {"column": "city"}, lambda column: kinds, private=PRIVATE
    )


@pytest.mark.parametrize(
    ("text", "meant"),
    [("1-16", "1..16"), (" 18 - 90", "18..90"), ("-5-5", "-5..5"), ("-9--2", "-9..-2"), ("1\u201316", "1..16")],
)
def test_a_range_with_a_dash_is_answered_with_the_one_that_is_meant(text: str, meant: str) -> None:
    for kinds in ((), (CandidateKind.INTEGER,), (CandidateKind.TEXT, CandidateKind.INTEGER)):
        for argument in ("candidates", "groups"):
            with pytest.raises(InvalidCandidatesError, match=rf"^{argument}=") as refused:
                listed(text, fitting=kinds, private=PRIVATE, argument=argument)
            as_text = " If it is one text: --groups-as text." if argument == "groups" else ""
            assert str(refused.value).endswith(f"Did you mean {meant}?{as_text}")
    with pytest.raises(InvalidCandidatesError, match=r"^prices=") as refused:
        listed(text, "prices", private=PRIVATE)
    assert str(refused.value).endswith(f"Did you mean {meant}?")
    assert len(listed(meant, private=PRIVATE)) > 1  # what is proposed is accepted


@pytest.mark.parametrize("text", ["1-16", "25-34"])
def test_a_dash_is_part_of_a_text_where_text_is_meant(text: str) -> None:
    assert listed(text, kind=CandidateKind.TEXT, private=PRIVATE, may_be_one=True) == [text]
    assert listed(text, fitting=(CandidateKind.TEXT,), private=PRIVATE, may_be_one=True) == [text]
    for kinds in ((), (CandidateKind.TEXT,)):
        assert listed(f"{text},35-44", fitting=kinds, private=PRIVATE) == [text, "35-44"]
    for other in ("16-1", "1-1", "a-b", "2026-11-21", "1-16-20", "1.5-3"):
        assert listed(other, private=PRIVATE, may_be_one=True) == [other]


def test_the_longest_ranges_are_read() -> None:
    text = f"-{9 * 10**18}..{9 * 10**18}"
    meant = range(-9 * 10**18, 9 * 10**18 + 1)
    assert listed(text, private=PRIVATE) == meant  # refused as too many with the question
    assert listed(text, "prices", private=PRIVATE) == meant


def test_booleans_are_read_as_such_and_decimals_are_asked_about_where_no_type_says_it() -> None:
    for argument in ("candidates", "groups"):
        assert listed("true, False", private=PRIVATE, argument=argument) == [True, False]
        assert listed("true,False,x", private=PRIVATE, argument=argument) == ["true", "False", "x"]
        assert listed("true,x", fitting=(CandidateKind.TEXT,), private=PRIVATE, argument=argument) == ["true", "x"]
        with pytest.raises(InvalidCandidatesError, match=rf"^{argument}=.*--{argument}-as text .*, or number"):
            listed("0.5,1", private=PRIVATE, argument=argument)
        for kind in (CandidateKind.TEXT, CandidateKind.NUMBER):
            assert len(listed("0.5,1", kind=kind, private=PRIVATE, argument=argument)) == 2
            assert len(listed("0.5,1", fitting=(kind,), private=PRIVATE, argument=argument)) == 2


def test_a_range_of_a_column_of_text_says_how_to_mean_it() -> None:
    with pytest.raises(InvalidCandidatesError, match=r"^candidates='1\.\.2'.*--candidates-as text"):
        listed("1..2", fitting=(CandidateKind.TEXT,), private=PRIVATE)
    assert listed("1..2", fitting=(CandidateKind.TEXT,), kind=CandidateKind.TEXT, private=PRIVATE) == ["1", "2"]


def test_long_arguments_are_not_repeated() -> None:
    with pytest.raises(InvalidCandidatesError, match=r"^candidates=<2001 characters>"):
        listed("a," * 1000 + ",", kind=None, private=PRIVATE)


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_files(tmp_path: Path, end: str) -> None:
    path = tmp_path / "pages.txt"
    path.write_bytes(end.join(["\ufeff3", "", "1", "  ", "2"]).encode())
    assert listed(f"@{path}", kind=None, private=PRIVATE) == [3, 1, 2]
    path.write_bytes(end.join(["Paris, Texas", "naïve ", "3"]).encode())
    assert listed(f"@{path}", kind=None, private=PRIVATE) == ["Paris, Texas", "naïve ", "3"]
    path.write_bytes(b"caf\xe9\n")
    with pytest.raises(InvalidCandidatesError, match="UTF-8"):
        listed(f"@{path}", kind=None, private=PRIVATE)
    path.write_bytes(b"\n\n")
    assert listed(f"@{path}", kind=None, private=PRIVATE) == []  # refused as empty with the question


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1..3", range(1, 4)),
        ("5,10, 15", [5, 10, 15]),
        ("4.99, +9.5,.5,7.,1e3", [4.99, 9.5, 0.5, 7.0, 1000.0]),
        ("-1,0", [-1, 0]),  # refused where all prices are
    ],
)
def test_prices(text: str, expected: Any) -> None:
    found = listed(text, "prices", private=PRIVATE)
    assert found == expected
    assert list(map(type, found)) == list(map(type, expected))


def test_prices_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "prices.txt"
    path.write_text("4.99\n\n10\n")
    assert listed(f"@{path}", "prices", private=PRIVATE) == [4.99, 10]


@pytest.mark.parametrize("text", ["", "3..1", "5,,6", "5,x", "1_000", "nan", "inf", "0x10", "$5", "1.5..2", "@gone"])
def test_bad_prices(text: str) -> None:
    with pytest.raises(InvalidCandidatesError, match=r"^prices="):
        listed(text, "prices", private=PRIVATE)


def test_a_column_of_a_public_table(tmp_path: Path) -> None:
    codes = tmp_path / "codes.csv"
    codes.write_text("code,name\n3,c\n1,a\n3,c\n")
    assert listed(f"@{codes}:code", kind=None, private=PRIVATE) == [3, 1]
    assert listed(f"@{codes}:code", kind=CandidateKind.TEXT, private=PRIVATE) == ["3", "1"]
    with pytest.raises(InvalidCandidatesError, match="column"):
        listed(f"@{codes}:nothing", kind=None, private=PRIVATE)
    with pytest.raises(InvalidCandidatesError):
        listed(f"@{tmp_path}/missing.csv:code", kind=None, private=PRIVATE)
    odd = tmp_path / "list.csv:x"  # a file of this name is a list, one a line
    odd.write_text("red\nblue\n")
    assert listed(f"@{odd}", kind=None, private=PRIVATE) == ["red", "blue"]


def test_a_table_needs_the_name_of_a_column(tmp_path: Path) -> None:
    codes = tmp_path / "codes.csv"
    codes.write_text("code,name\n3,c\n1,a\n")
    typed = tmp_path / "codes.parquet"
    pq.write_table(pa.table({"code": [3, 1]}), typed)
    lines = tmp_path / "codes.jsonl"
    lines.write_text('{"code": 3}\n')
    for path, columns in (
        (codes, "the name of a column after it"),
        (typed, "the name of a column after it"),
        (lines, "per line"),
    ):
        for argument in ("prices", "dates", "candidates"):
            with pytest.raises(InvalidCandidatesError, match=columns):
                listed(f"@{path}", argument, private=PRIVATE)
    codes.write_text("code;name\n3;c\n1;a\n")
    with pytest.raises(InvalidCandidatesError, match=r"separated by commas\. A list needs commas and UTF-8") as refused:
        listed(f"@{codes}:code", private=PRIVATE)
    assert "delimiter" not in str(refused.value)  # which is that of the table


@pytest.mark.parametrize("column", ["", ":code"])
def test_a_table_without_a_header_shows_no_row(tmp_path: Path, column: str) -> None:
    secret = tmp_path / "secret.csv"
    secret.write_text("SECRETROW1,5\nSECRETROW2,6\n")
    for argument in ("prices", "dates", "candidates"):
        with pytest.raises(
            InvalidCandidatesError, match=r"of a column|of one of the columns, of which there are 2"
        ) as refused:
            listed(f"@{secret}{column}", argument, private=PRIVATE)
        assert "SECRETROW" not in str(refused.value)


def test_prices_and_dates_of_a_column(tmp_path: Path) -> None:
    codes = tmp_path / "codes.csv"
    codes.write_text("price,day\n4.99,2026-12-01\n10,2026-12-08\n")
    assert listed(f"@{codes}:price", "prices", private=PRIVATE) == [4.99, 10]
    assert listed(f"@{codes}:day", "dates", private=PRIVATE) == ["2026-12-01", "2026-12-08"]
    with pytest.raises(InvalidCandidatesError, match=r"^prices=<2 texts>: expected numbers"):
        listed(f"@{codes}:day", "prices", private=PRIVATE)
    with pytest.raises(InvalidCandidatesError, match=r"^dates=.*there are 2.*mean 'day'"):
        listed(f"@{codes}:days", "dates", private=PRIVATE)
    typed = tmp_path / "codes.parquet"
    pq.write_table(pa.table({"price": [4.99, 10.0], "day": [date(2026, 12, 1), date(2026, 12, 8)]}), typed)
    assert listed(f"@{typed}:price", "prices", private=PRIVATE) == [4.99, 10.0]
    assert listed(f"@{typed}:day", "dates", private=PRIVATE) == [date(2026, 12, 1), date(2026, 12, 8)]


@pytest.mark.parametrize("private", ["{}/visits.csv", "{}/visi*.csv", "{}/**/*.csv", "{}/linked.csv"])
def test_the_private_table_lists_no_candidates(private: str, tmp_path: Path) -> None:
    table = tmp_path / "visits.csv"
    table.write_text("unit,page\n1,3\n")
    (tmp_path / "linked.csv").symlink_to(table)
    asked = private.format(tmp_path)
    for text in (f"@{table}:page", f"@{tmp_path}/linked.csv:page", f"@{tmp_path}/./visits.csv"):
        with pytest.raises(InvalidCandidatesError, match="a public file, not the table of the question"):
            listed(text, kind=None, private=asked)
    for text in (f"@{table}", f"@{table}:page"):
        for argument in ("prices", "dates"):
            with pytest.raises(InvalidCandidatesError, match="a public file"):
                listed(text, argument, private=asked)
    public = tmp_path / "codes.txt"
    public.write_text("3\n1\n")
    assert listed(f"@{public}", kind=None, private=asked) == [3, 1]  # another file is none of it
