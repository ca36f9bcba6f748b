"""The benchmark's own arithmetic: a ratio that is the ratio, a verdict that can be negative, tables from the file."""

from __future__ import annotations

import ast
import json
import re
import sys
import tomllib
from dataclasses import replace
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest
from benchmarks import lines_losses, report, results, timing
from benchmarks.line import Line
from docs.blocks import held, replaced

from dpselect import PermuteAndFlip

ROOT = Path(__file__).parents[1]
LINE = Line(what="select / argmax", case="PF, Zipf", n=10**6, dtype="float64", value=0.5, unit="x", at_most=1.0)


class Clock:
    """A clock that only the calls it hands out move."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now

    def taking(self, seconds: float) -> timing.Call:
        def call() -> None:
            self.now += seconds

        return call


def test_a_ratio_is_that_of_one_call_each_whatever_the_block_sizes(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock()
    monkeypatch.setattr(timing.time, "perf_counter", clock)
    sample = timing.ratio(clock.taking(3e-4), clock.taking(1e-6), pairs=5)
    assert sample.median == pytest.approx(300.0)
    assert len(sample.values) == 5


def test_a_call_too_slow_to_repeat_is_run_once(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock()
    monkeypatch.setattr(timing.time, "perf_counter", clock)
    sample = timing.ratio(clock.taking(30.0), clock.taking(1e-3))
    assert sample.values == (pytest.approx(30_000.0),)
    assert clock.now < 60.0


def test_seconds_are_those_of_one_call(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock()
    monkeypatch.setattr(timing.time, "perf_counter", clock)
    assert timing.seconds(clock.taking(2e-6)).median == pytest.approx(2e-6)


@pytest.mark.parametrize(
    ("line", "reached"),
    [
        (LINE, True),
        (replace(LINE, value=1.01), False),
        (replace(LINE, value=float("nan")), False),
        (replace(LINE, at_most=None, at_least=0.4), True),
        (replace(LINE, at_most=None, at_least=0.6), False),
        (replace(LINE, at_most=None), None),
    ],
)
def test_a_line_says_whether_it_reached_what_it_had_to(line: Line, reached: bool | None) -> None:
    assert line.reached is reached


def test_results_are_read_back_and_verdicts_computed_anew(tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    results.write([LINE], {"day": "2026-01-01"}, path)
    held_text = json.loads(path.read_text(encoding="utf-8"))
    assert held_text["lines"][0]["reached"] is True
    held_text["lines"][0]["value"] = 2.0
    path.write_text(json.dumps(held_text), encoding="utf-8")
    lines, machine = results.read(path)
    assert lines == [replace(LINE, value=2.0)]
    assert lines[0].reached is False
    assert machine == {"day": "2026-01-01"}


def test_the_summary_shows_the_worst_case_and_counts_what_falls_short() -> None:
    machine = {"day": "d", "processor": "p", "cores": "2", "system": "s"}
    worst = replace(LINE, value=1.25, case="EM, uniform")
    shown = [replace(line, what=report.SUMMARY[0]) for line in (LINE, worst, replace(LINE, value=0.25))]
    table = report.summary([*shown, replace(LINE, what="another")], machine)
    assert "another" not in table
    assert "1.25x (EM, uniform, n = 10^6, float64)" in table
    assert "**short** in 1 of 3" in table


@pytest.mark.parametrize(
    "document", ["no block", "<!-- x:end --><!-- x:start -->", 2 * "<!-- x:start --><!-- x:end -->"]
)
def test_a_document_without_exactly_one_block_is_refused(document: str) -> None:
    with pytest.raises(ValueError, match="exactly one"):
        replaced(document, "x", "new")


def test_what_is_measured_anew_takes_the_place_of_its_table() -> None:
    old = [replace(LINE, what=what, value=value) for what, value in (("a", 1.0), ("b", 2.0), ("a", 3.0), ("c", 4.0))]
    new = [replace(LINE, what=what, value=value) for what, value in (("a", 5.0), ("d", 6.0))]
    found = [(line.what, line.value) for line in results.renewed(old, new)]
    assert found == [("a", 5.0), ("b", 2.0), ("c", 4.0), ("d", 6.0)]


def test_the_documents_show_what_was_measured() -> None:
    lines, machine = results.read()
    assert {*report.SUMMARY} <= {line.what for line in lines if line.reached is not None}
    assert len(report.SUMMARY) == 8
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    full = (ROOT / "docs" / "benchmarks.md").read_text(encoding="utf-8")
    assert held(readme, "bench") == report.summary(lines, machine)
    assert held(full, "bench") == report.every_line(lines, machine)


def test_what_the_benchmarks_import_of_the_product_exists() -> None:
    """They run in an environment of their own, with the peers, where no other test would notice."""
    imported = [
        (node.module, alias.name)
        for path in Path("benchmarks").glob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom) and node.module and node.module.partition(".")[0] == "dpselect"
        for alias in node.names
    ]
    assert len(imported) >= 10
    missing = [pair for pair in imported if not hasattr(import_module(pair[0]), pair[1])]
    assert [pair for pair in missing if find_spec(".".join(pair)) is None] == []


def test_what_it_imports_is_installed_for_it() -> None:
    brought_by = {"sklearn": "scikit_learn", "threadpoolctl": "scikit_learn", "polars": "opendp"}
    product = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["dependencies"]
    peers = (ROOT / "benchmarks" / "requirements.txt").read_text(encoding="utf-8").splitlines()
    installed = {line.replace("-", "_") for each in (*product, *peers) for line in re.findall(r"^[\w-]+", each)}
    ours = {"benchmarks", "dpselect", "examples", "tests", "__future__"}
    imported = {
        name.partition(".")[0]
        for path in (ROOT / "benchmarks").glob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in ([node.module or ""] if isinstance(node, ast.ImportFrom) else [each.name for each in node.names])
    }
    others = imported - ours - sys.stdlib_module_names
    assert {"numpy", "diffprivlib"} <= others
    assert {brought_by.get(each, each) for each in others} - installed == set()


def test_losses_are_those_of_the_law_and_can_be_too_large() -> None:
    pairs = list(lines_losses.scores((-1.0, 1.0)))
    claimed, broken = (
        lines_losses.largest_loss(lines_losses.of(PermuteAndFlip(epsilon=epsilon, sensitivity=1.0)), pairs)
        for epsilon in (1.0, 2.0)
    )
    assert claimed == pytest.approx(1.0)
    assert broken == pytest.approx(2.0)
    assert lines_losses.largest_loss(lambda data: [data[0], 1.0 - data[0]], lines_losses.flipped()) == float("inf")
