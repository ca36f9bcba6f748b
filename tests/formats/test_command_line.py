"""The same words on the command line."""

from __future__ import annotations

import json
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from dpselect import Format
from dpselect.cli import main
from dpselect.cli.asking import format_of
from dpselect.formats import WORDS
from tests.formats.reading import written

ASK = ["--unit", "unit", "--epsilon", "100"]
MEDIAN = [*ASK, "--bounds", "0", "10", "--step", "0.5"]
Captured = pytest.CaptureFixture[str]


def run(capsys: Captured, *arguments: str) -> tuple[int, str, str]:
    status = main(list(arguments))
    return status, *capsys.readouterr()


@pytest.mark.parametrize(
    ("options", "words", "cell"),
    [
        (["--delimiter", ";"], {"delimiter": ";"}, "7.5"),
        (["--delimiter", "tab"], {"delimiter": "\t"}, "7.5"),
        (["--delimiter", "semicolon", "--decimal", ","], {"delimiter": ";", "decimal": ","}, "7,5"),
        (["--encoding", "utf-16"], {"encoding": "utf-16"}, "7.5"),
        (["--thousands", ",", "--strip", "$%"], {"thousands": ",", "strip": "$%"}, "$7.5"),
    ],
)
def test_words_and_options_are_the_same(
    options: list[str], words: dict[str, Any], cell: str, tmp_path: Path, capsys: Captured
) -> None:
    path = written(tmp_path / "t.csv", [(at, cell) for at in range(60)], Format(**words))
    status, out, err = run(capsys, "quantile", str(path), "value", "0.5", *MEDIAN, *options, "--json")
    assert (status, err) == (0, "")
    certificate = json.loads(out)
    assert certificate["value"] == 7.5
    assert certificate["format"] == words


def test_every_word_is_an_option_with_the_same_default() -> None:
    assert [each.name for each in WORDS] == [each.name for each in fields(Format)]
    assert format_of({each.name: each.default for each in WORDS}) == Format()


def test_text_and_dates(tmp_path: Path, capsys: Captured) -> None:
    path = written(tmp_path / "t.csv", [(at, "RED ") for at in range(60)], Format())
    among = ["--candidates", "red,blue", "--ignore-case", "--trim", "--quiet"]
    assert run(capsys, "most-common", str(path), "value", *ASK, *among) == (0, "red\n", "")
    path = written(tmp_path / "t.csv", [(at, "24.12.2026") for at in range(60)], Format())
    among = ["--bounds", "2026-12-01", "2026-12-31", "--date-format", "%d.%m.%Y", "--quiet"]
    assert run(capsys, "best-date", str(path), "value", *ASK, *among) == (0, "2026-12-24\n", "")


def test_the_name_of_the_source(tmp_path: Path, capsys: Captured) -> None:
    path = written(tmp_path / "t.csv", [(1, "7")], Format())
    _, out, _ = run(capsys, "quantile", str(path), "value", "0.5", *MEDIAN, "--source-name", "May", "--json")
    assert json.loads(out)["source"]["name"] == "May"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (
            ["--thousands", ",", "--decimal", ","],
            "--decimal=',': expected a mark different from the one between thousands.",
        ),
        (["--encoding", "utf-7"], "--encoding='utf-7': expected one of utf-8, "),
        (["--date-format", "%d.%m"], "--date-format='%d.%m': expected one year"),
        (["--delimiter", "ab"], "--delimiter='ab': expected comma, semicolon, tab or pipe"),
        (["--source-name", ""], "--source-name=<text>: expected printable text"),
    ],
)
@pytest.mark.parametrize("dry", [[], ["--dry-run"]])
def test_one_clear_line_each(options: list[str], said: str, dry: list[str], tmp_path: Path, capsys: Captured) -> None:
    path = written(tmp_path / "t.csv", [(1, "7")], Format())
    status, out, err = run(capsys, "quantile", str(path), "value", "0.5", *MEDIAN, *options, *dry)
    if dry and options[0] == "--source-name":
        assert status == 0  # no certificate is written
        return
    assert (status, out) == (2, "")
    assert said in err
    assert err.count("\n") == 1


def test_a_file_that_needs_a_format_is_answered_by_its_options(tmp_path: Path, capsys: Captured) -> None:
    path = tmp_path / "t.csv"
    path.write_text("unit;value\n1;2,5\n")
    status, out, err = run(capsys, "quantile", str(path), "value", "0.5", *MEDIAN)
    assert (status, out) == (2, "")
    assert (
        "declare the format: --delimiter semicolon and, if decimals have commas, --thousands '.' --decimal ','." in err
    )
