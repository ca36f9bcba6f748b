"""What the columns are called is shown to the holder, before any of them is known."""

from __future__ import annotations

import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.cli.test_commands import ADULT, run

Captured = pytest.CaptureFixture[str]
PIPE = "dpselect: the output is not a terminal. Its first line may be somebody's row: keep it to yourself.\n"


@pytest.fixture
def people(tmp_path: Path) -> str:
    path = tmp_path / "people.csv"
    path.write_text("Ann,Bern,1981\n2,3,4\n", encoding="utf-8")  # no header: the first line is a row
    return str(path)


def test_a_terminal_needs_no_warning(people: str, capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    assert run(capsys, "columns", people) == (0, "Ann\nBern\n1981\n", PIPE)
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    assert run(capsys, "columns", people) == (0, "Ann\nBern\n1981\n", "")
    Path(people).write_text("id , amt,a b\n")
    assert run(capsys, "columns", people)[1] == "'id '\n' amt'\na b\n"  # or a blank would not be seen


def test_a_format_with_types_says_them(tmp_path: Path, capsys: Captured) -> None:
    path = tmp_path / "typed.parquet"
    pq.write_table(pa.table({"who": [1], "a longer name": ["x"], "odd\x1b[2J": [0.5]}), path)
    status, out, _ = run(capsys, "columns", str(path))
    assert status == 0
    lines = [line.rsplit("  ", 1) for line in out.splitlines()]
    assert [[part.strip() for part in line] for line in lines] == [
        ["who", "whole numbers"],
        ["a longer name", "text"],
        ["odd\\x1b[2J", "floating-point numbers"],
    ]
    assert len({line.rindex("  ") for line in out.splitlines()}) == 1


@pytest.mark.parametrize("wrong", [["1981", "--unit", "Anne"], ["2026", "--unit", "Ann"]])
def test_an_error_about_a_column_says_how_to_see_them(wrong: list[str], people: str, capsys: Captured) -> None:
    status, out, err = run(capsys, "median", people, *wrong, "--epsilon", "1", "--bounds", "0", "9", "--step", "1")
    assert (status, out) == (2, "")
    assert "it is not shown, as it might be somebody's row; dpselect columns shows it." in err
    of_units = "If each row is a different person: --unit rows, in Python dpselect.ROWS."
    assert (of_units in err) is ("--unit='Anne'" in err)
    assert "Bern" not in err


def test_an_error_about_a_missing_column_says_how_to_see_them(capsys: Captured) -> None:
    status, out, err = run(capsys, "median", ADULT)
    assert (status, out) == (2, "")
    assert "COLUMN is required. To see the names of the columns: dpselect columns." in err
