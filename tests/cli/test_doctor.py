"""What works here, told from what is installed; and completion that a shell can load."""

from __future__ import annotations

import importlib
import json
import re
import tomllib
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import dpselect as dps
from dpselect.cli import main

Captured = pytest.CaptureFixture[str]


def findings(capsys: Captured) -> tuple[int, dict[str, dict[str, Any]]]:
    status = main(["doctor", "--json"])
    return status, {each["what"]: each for each in json.loads(capsys.readouterr().out)}


def test_all_is_well_where_everything_is_installed(capsys: Captured) -> None:
    status, found = findings(capsys)
    assert status == 0
    assert all(each["works"] for what, each in found.items() if "Spark" not in what)  # which needs a Java


def test_for_people_each_extra_is_a_line(capsys: Captured) -> None:
    assert main(["doctor"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert sum(line.startswith("ok  ") for line in lines) >= 7
    assert any("tables and ledgers on PostgreSQL" in line for line in lines)


def last_line(capsys: Captured) -> str:
    main(["doctor"])
    return capsys.readouterr().out.splitlines()[-1]


def test_the_last_line_is_the_one_command_to_run_next(
    capsys: Captured, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The page; without it, the columns of a table of this folder; and before all, what mends a fault."""
    monkeypatch.chdir(tmp_path)
    assert last_line(capsys) == "Next: dpselect serve"
    without(monkeypatch, "jinja2")
    assert last_line(capsys).startswith("Next: dpselect columns people.csv, or another")
    for name in ("our people.csv", "visits.parquet", "a.txt"):
        (tmp_path / name).write_text("")
    assert last_line(capsys) == "Next: dpselect columns 'our people.csv'"
    without(monkeypatch, "jinja2", "duckdb")
    assert last_line(capsys).endswith("-m pip install .")


def without(monkeypatch: pytest.MonkeyPatch, *modules: str) -> None:
    """Importing these fails from here on, though they are installed."""
    imported = importlib.import_module

    def broken(name: str) -> ModuleType:
        if name in modules:
            raise ModuleNotFoundError(name)
        if name == "pyiceberg":
            print("could not import some external libraries")
            raise OSError(name)
        return imported(name)

    monkeypatch.setattr(importlib, "import_module", broken)


def test_what_is_missing_names_its_extra(capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    extras = {
        "psycopg": ("tables and ledgers on PostgreSQL", "postgres"),
        "polars": ("tables of Polars", "polars"),
        "openpyxl": ("Excel files", "excel"),
    }
    without(monkeypatch, *extras, "pandas")
    status, found = findings(capsys)
    assert status == 0  # an extra that nobody asked for is no fault
    for module, (what, extra) in extras.items():
        assert (found[what]["works"], found[what]["found"]) == (False, f"not installed: {module}")
        assert f"'.[{extra}]'" in found[what]["remedy"]
    assert found["frames and files"]["works"]  # pandas is needed for its own frames alone
    assert not found["Iceberg tables"]["works"]  # a library that talks as it fails does not spoil the JSON


def test_every_extra_is_looked_at(capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    def nothing_else(name: str) -> ModuleType:
        if name.startswith("dpselect"):
            return imported(name)
        raise ModuleNotFoundError(name)

    imported = importlib.import_module
    monkeypatch.setattr(importlib, "import_module", nothing_else)
    _, found = findings(capsys)
    named = {extra for each in found.values() for extra in re.findall(r"\[(\w+)\]", each["remedy"])}
    project = Path(__file__).parents[2] / "pyproject.toml"
    extras = tomllib.loads(project.read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    assert named == set(extras) - {"all", "dev", "docs"}


def test_a_library_that_is_needed_for_files_is_imported(capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    without(monkeypatch, "duckdb")
    status, found = findings(capsys)
    assert (status, found["frames and files"]["works"]) == (1, False)
    assert "duckdb" in found["frames and files"]["found"]


def test_spark_wants_a_java(tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert findings(capsys)[1]["tables on Spark"]["found"].startswith("no Java: install")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    assert "pyspark" in findings(capsys)[1]["tables on Spark"]["found"]


def test_a_core_that_draws_wrongly_is_a_fault(capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dps.PermuteAndFlip, "select", lambda *_: 0)
    status, found = findings(capsys)
    assert status == 1
    assert not found["drawing, from the operating system's randomness"]["works"]
