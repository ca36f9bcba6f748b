"""What the columns are called is shown to the holder, on a terminal, before any of them is known."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dpselect.cli.app import QUESTIONS
from dpselect.cli.main import main
from tests.cli.test_commands import ADULT, run

Captured = pytest.CaptureFixture[str]
REFUSED = (
    "dpselect: the output is no terminal, and a first line may be somebody's row. If only you read it: "
    "--to-file-i-keep-private.\n"
)


Shown = Callable[..., tuple[int, str, str]]


@pytest.fixture
def terminal(capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> Shown:
    """What a command says on a terminal."""

    def call(*arguments: str) -> tuple[int, str, str]:
        with monkeypatch.context() as patch:
            patch.setattr(sys.stdout, "isatty", lambda: True)
            return run(capsys, *arguments)

    return call


@pytest.fixture
def people(tmp_path: Path) -> str:
    path = tmp_path / "people.csv"
    path.write_text("Ann,Bern,1981\n2,3,4\n", encoding="utf-8")  # no header: the first line is a row
    return str(path)


def test_a_terminal_shows_the_names(people: str, terminal: Shown) -> None:
    assert terminal("columns", people) == (0, "Ann\nBern\n1981\n", "")


def test_a_format_with_types_says_them(tmp_path: Path, terminal: Shown) -> None:
    path = tmp_path / "typed.parquet"
    pq.write_table(pa.table({"who": [1], "a longer name": ["x"], "odd\x1b[2J": [0.5]}), path)
    status, out, err = terminal("columns", str(path))
    assert (status, err) == (0, "")
    lines = [line.rsplit("  ", 1) for line in out.splitlines()]
    assert [[part.strip() for part in line] for line in lines] == [
        ["who", "whole numbers"],
        ["a longer name", "text"],
        ["'odd\\x1b[2J'", "floating-point numbers"],
    ]
    assert len({line.rindex("  ") for line in out.splitlines()}) == 1


@pytest.mark.parametrize("arguments", [["columns"], ["median", "--show-columns"]])
def test_nothing_goes_where_others_may_read_it(arguments: list[str], people: str, capsys: Captured) -> None:
    assert run(capsys, *arguments, people) == (2, "", REFUSED)
    assert run(capsys, *arguments, "nowhere.csv") == (2, "", REFUSED)  # nor does it look at the file
    allowed = run(capsys, *arguments, people, "--to-file-i-keep-private")
    assert allowed == (0, "Ann\nBern\n1981\n", "")


@pytest.mark.sampled(4)
@pytest.mark.parametrize("name", [*QUESTIONS, "price"])
def test_every_question_shows_them_without_its_other_arguments(name: str, people: str, terminal: Shown) -> None:
    shown = (0, "Ann\nBern\n1981\n", "")
    assert terminal(name, people, "--show-columns") == shown
    assert terminal(name, "--show-columns", people) == shown
    assert terminal(name, "--unit", "who", "--quiet", people, "age", "--epsilon=1", "--show-columns") == shown


def test_what_is_left_out_is_only_what_the_question_takes(people: str, terminal: Shown) -> None:
    bounds = ["median", "--bounds", "-5", "5", people, "--show-columns"]  # two values, one like an option
    assert terminal(*bounds)[0] == 0
    status, out, err = terminal("median", people, "--show-columns", "--table", "t")
    assert (status, out) == (2, "")
    assert "--table='t': expected nothing" in err
    status, out, err = terminal("median", people, "--show-columns", "--bogus")
    assert (status, out) == (2, "")
    assert "--bogus" in err
    status, out, err = terminal("median", "--show-columns")
    assert (status, out) == (2, "")
    assert "SOURCE is required" in err
    assert terminal("plan", "--candidates-count", "3", "--show-columns")[0] == 2


def test_a_flag_with_a_value_is_the_same(people: str, terminal: Shown) -> None:
    question = ["median", people, "1981", "--unit", "Ann", "--epsilon", "1", "--bounds", "0", "9"]
    assert terminal(*question, "--show-columns=true") == (0, "Ann\nBern\n1981\n", "")


def test_help_of_a_question_is_that_of_the_question(capsys: Captured) -> None:
    assert main(["median", "--show-columns", "--help"]) == 0
    assert "Usage: dpselect median" in capsys.readouterr().out


@pytest.mark.parametrize("wrong", [["1981", "--unit", "Anne"], ["2026", "--unit", "Ann"]])
def test_an_error_about_a_column_says_how_to_see_them(wrong: list[str], people: str, capsys: Captured) -> None:
    status, out, err = run(capsys, "median", people, *wrong, "--epsilon", "1", "--bounds", "0", "9", "--step", "1")
    assert (status, out) == (2, "")
    assert "it is not shown, as it might be somebody's row; --show-columns shows it on your own terminal." in err
    assert "Bern" not in err


def test_an_error_about_a_missing_column_says_how_to_see_them(capsys: Captured) -> None:
    status, out, err = run(capsys, "median", ADULT)
    assert (status, out) == (2, "")
    assert "COLUMN is required. To see the names of the columns: --show-columns." in err
