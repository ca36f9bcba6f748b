"""The words of a format: which there are, what they mean together, and what is refused before anything is read."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pytest

import dpselect as dps
from dpselect import Format
from dpselect.errors import InvalidDataError, InvalidParameterError
from dpselect.formats import ENCODINGS, declared, is_canonical


@pytest.mark.parametrize(
    ("words", "named", "said"),
    [
        ({"decimal": ",", "thousands": ","}, "decimal", "a mark different from the one between thousands"),
        ({"decimal": "."}, None, ""),
        ({"decimal": ";"}, "decimal", "'.' or ','"),
        ({"decimal": ""}, "decimal", "'.' or ','"),
        ({"thousands": ""}, "thousands", "expected ',' or '.'"),
        ({"thousands": ",,"}, "thousands", "expected ',' or"),
        ({"thousands": "1"}, "thousands", "expected ',' or"),
        ({"thousands": "."}, "decimal", "a mark different from the one between thousands"),
        ({"delimiter": "ab"}, "delimiter", "expected comma, semicolon, tab or"),
        ({"delimiter": '"'}, "delimiter", "expected comma, semicolon, tab or"),
        ({"delimiter": "\n"}, "delimiter", "expected comma, semicolon, tab or"),
        ({"delimiter": "a"}, "delimiter", "expected comma, semicolon, tab or"),
        ({"delimiter": 7}, "delimiter", "expected comma, semicolon, tab or"),
        ({"encoding": "utf-7"}, "encoding", "one of utf-8, "),
        ({"encoding": "utf-32"}, "encoding", "one of utf-8, "),
        ({"encoding": None}, "encoding", "one of utf-8, "),
        ({"strip": "$1"}, "strip", "none of which is part of a number"),
        ({"strip": "-"}, "strip", "none of which is part of a number"),
        ({"strip": "."}, "strip", "none of which is part of a number"),
        ({"strip": ",", "thousands": ","}, "strip", "none of which is part of a number"),
        ({"strip": "\0"}, "strip", "printable text"),
        ({"strip": "x" * 33}, "strip", "at most 32 characters"),
        ({"strip": None}, "strip", "text"),
        ({"date_format": "%d.%m"}, "date_format", "one year (%Y or %y)"),
        ({"date_format": "%d.%m.%Y %H"}, "date_format", "as_date=True leaves out a time of day"),
        ({"date_format": "%d.%m.%Y%"}, "date_format", "one year"),
        ({"date_format": "%Y-%m-%d %y"}, "date_format", "one year"),
        ({"date_format": ""}, "date_format", "one year"),
        ({"date_format": 7}, "date_format", "text"),
        ({"trim": 1}, "trim", "True or False"),
        ({"ignore_case": "yes"}, "ignore_case", "True or False"),
        ({"quoted_line_breaks": 1}, "quoted_line_breaks", "True or False"),
        ({"skip_lines": -1}, "skip_lines", "a whole number from 0 to 10,000"),
        ({"skip_lines": True}, "skip_lines", "a whole number from 0"),
        ({"header_row": 0}, "header_row", "a whole number from 1 to 1,048,576"),
        ({"header_row": 2.0}, "header_row", "a whole number from 1"),
    ],
)
def test_words_that_are_none_or_contradict(words: dict[str, Any], named: str | None, said: str) -> None:
    if named is None:
        assert Format(**words) == Format()
        return
    with pytest.raises(InvalidParameterError) as refused:
        Format(**words)
    assert refused.value.name == named
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)


def test_a_word_that_nobody_knows() -> None:
    with pytest.raises(TypeError, match="quoted_newlines"):
        Format(quoted_newlines=True)  # type: ignore[call-arg]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"delimiter": "tab"}, {"delimiter": "\t"}),
        ({"delimiter": r"\t"}, {"delimiter": "\t"}),
        ({"delimiter": "semicolon"}, {"delimiter": ";"}),
        ({"encoding": "UTF8"}, {"encoding": "utf-8-sig"}),
        ({"encoding": "Latin_1"}, {"encoding": "iso-8859-1"}),
        ({"encoding": "windows-1252"}, {"encoding": "cp1252"}),
        ({}, {"thousands": None, "decimal": ".", "strip": ""}),
    ],
)
def test_other_spellings_of_the_same(one: dict[str, Any], other: dict[str, Any]) -> None:
    assert Format(**one) == Format(**other)
    assert Format(**one).words == Format(**other).words


def test_a_format_travels() -> None:
    format = Format(delimiter=";", thousands=".", decimal=",", strip="€")
    assert pickle.loads(pickle.dumps(format)) == format
    assert Format(**format.words) == format
    assert is_canonical(format.words)


@pytest.mark.parametrize(
    "words",
    [{}, {"decimal": "."}, {"delimiter": "tab"}, {"thousands": 7}, {"no": 1}, {"decimal": ",", "thousands": ","}],
)
def test_words_that_no_certificate_holds(words: dict[str, object]) -> None:
    assert not is_canonical(words)


def test_nothing_declared_is_no_format() -> None:
    assert declared(None) is None
    assert declared(Format()) is None
    assert declared(Format(trim=True)) == Format(trim=True)
    for other in ("csv", {"thousands": ","}, Format):
        with pytest.raises(InvalidParameterError, match=r"a dpselect\.Format"):
            declared(other)


def test_encodings_can_be_read_line_by_line() -> None:
    """What a line break, a delimiter and a quote are is the same in all of them, whatever stands around."""
    for encoding in ENCODINGS:
        for text in ("é\n", 'ä"\n', "\u2019;,\t|\n" if encoding not in ("latin-1", "iso-8859-15") else "ÿ;,\t|\n"):
            if encoding == "cp1251":
                text = text.replace("é", "ж").replace("ä", "я")
            assert text.encode(encoding).decode(encoding) == text
            if not encoding.startswith("utf-16"):
                assert text.encode(encoding).count(b"\n") == 1


@pytest.mark.parametrize(
    ("name", "words", "said"),
    [
        (
            "t.jsonl",
            {"delimiter": ";"},
            "delimiter=';': expected nothing for a file of JSON lines. Words that fit: thous",
        ),
        ("t.jsonl", {"encoding": "cp1252"}, "encoding='cp1252': expected nothing for a file of JSON lines."),
        ("t.jsonl", {"decimal": ","}, "decimal=',': expected nothing for a file of JSON lines."),
        ("t.parquet", {"thousands": ","}, "expected nothing for a Parquet file. Words that fit: i"),
        ("t.parquet", {"date_format": "%d.%m.%Y"}, "date_format='%d.%m.%Y': expected nothing for a Parquet file"),
    ],
)
def test_words_that_do_not_fit_a_file(name: str, words: dict[str, Any], said: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(b"PAR1PAR1" if name.endswith("parquet") else b'{"unit": 1, "value": 2}\n')
    with pytest.raises(InvalidDataError) as refused:
        dps.Dataset(tmp_path / name, unit="unit", format=Format(**words))
    assert refused.value.name == next(iter(words))
    assert said in str(refused.value)


def test_frames_have_types_and_servers_no_format() -> None:
    frame = pl.DataFrame({"unit": [1], "value": ["a"]})
    sources: list[tuple[Any, dict[str, Any]]] = [
        (frame.lazy(), {"decimal": ","}),
        (duckdb.sql("SELECT 1 AS unit, 'a' AS value"), {"thousands": ","}),
        (frame, {"strip": "$"}),
    ]
    for source, words in sources:
        with pytest.raises(InvalidDataError, match="convert the column"):
            dps.Dataset(source, unit="unit", format=Format(**words))
    with pytest.raises(InvalidDataError, match="trim=True: expected nothing for tables on a server"):
        dps.Dataset("postgresql://nobody@nowhere/none", table="t", unit="unit", format=Format(trim=True))
