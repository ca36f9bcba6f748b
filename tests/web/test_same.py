"""The printed command asks the page's own question, whatever columns and values are called."""

from __future__ import annotations

import contextlib
import io
import json
import shlex
from datetime import date
from pathlib import Path
from typing import Any

import pytest

import dpselect as dps
from dpselect.cli.main import main
from dpselect.questions import BY_NAME
from dpselect.web import Site
from dpselect.web.answering import on_the_command_line
from dpselect.web.forms import Form
from dpselect.web.releasing import PageRequest

LISTS = {
    "-a,b": ["-a", "b"],
    "--epsilon,b": ["--epsilon", "b"],
    '"  a", b ': ["  a", "b"],
    '"@home",b': ["@home", "b"],
    '"a,b","say ""yes"""': ["a,b", 'say "yes"'],
    "it's,$HOME,`x`,a\\b": ["it's", "$HOME", "`x`", "a\\b"],
    "\"'a'\",\"'b'\"": ["'a'", "'b'"],
    "-5..4": range(-5, 5),
    "-1,-2": [-1, -2],
    "007,08": ["007", "08"],
}
COLUMNS = ("-age", "--epsilon", "--bounds", "a b", "it's", "-", "@x", "private", "--k=3")


def _asked(folder: Path, column: str, listed: str, **more: str) -> PageRequest:
    table = folder / "people.csv"
    rows = [["who", column], *([str(each), str(each % 3)] for each in range(30))]
    table.write_text("".join(",".join(row) + "\n" for row in rows), encoding="utf-8")
    site = Site(source=str(table), unit="who")
    form = Form.read(BY_NAME["most_common"], site, {"column": column, "candidates": listed, "epsilon": "1", **more})
    assert form.is_complete, form.errors
    return PageRequest("x", form, 1.0, "")


def _printed(command: str) -> Any:
    """What the command says that it would ask."""
    said = io.StringIO()
    _, question, *words = shlex.split(command)
    with contextlib.redirect_stdout(said):
        assert main([question, "--json", *words]) == 0
    return json.loads(said.getvalue())


@pytest.mark.sampled(5)
@pytest.mark.parametrize("listed", LISTS)
def test_awkward_lists_come_back_from_the_command_line(
    listed: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = _asked(tmp_path, "-kind", listed)
    assert asked.form.arguments["candidates"] == LISTS[listed]
    given: list[Any] = []
    most_common = dps.Dataset.most_common

    def heard(self: dps.Dataset, column: Any = None, **more: Any) -> Any:
        given.append((column, more["candidates"], more["epsilon"]))
        return most_common(self, column, **more)

    monkeypatch.setattr(dps.Dataset, "most_common", heard)
    _printed(on_the_command_line(asked))
    assert given == [("-kind", LISTS[listed], 1.0)]


@pytest.mark.sampled(5)
@pytest.mark.parametrize("column", COLUMNS)
def test_awkward_columns_come_back_from_the_command_line(column: str, tmp_path: Path) -> None:
    asked = _asked(tmp_path, column, "0..2")
    assert _printed(on_the_command_line(asked))["question"]["column"] == column


@pytest.mark.parametrize("column", ["--help", "--help-all"])
def test_what_no_command_says_is_left_out(column: str, tmp_path: Path) -> None:
    asked = _asked(tmp_path, column, "0..2")
    assert on_the_command_line(asked) == ""


@pytest.mark.parametrize(
    ("kind", "listed", "expected"),
    [
        ("date", "2026-01-01,2026-01-02", [date(2026, 1, 1), date(2026, 1, 2)]),
        ("text", "1..3", ["1", "2", "3"]),
        ("number", "0.1,1e-7,3", [0.1, 1e-7, 3.0]),
        ("integer", "007,8", [7, 8]),
        ("boolean", "true,false", [True, False]),
    ],
)
def test_typed_lists_come_back(kind: str, listed: str, expected: list[Any], tmp_path: Path) -> None:
    asked = _asked(tmp_path, "day", listed, candidates_as=kind)
    assert asked.form.arguments["candidates"] == expected
    said = on_the_command_line(asked)
    assert _printed(said)["question"] == json.loads(asked.form.forecast(1.0).to_json())["question"]
