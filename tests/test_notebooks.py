"""The notebooks of ``examples/notebooks`` run from their first cell to their last, and say what their text announces.

Cells run here as a kernel would run them, without a kernel; ``make docs`` runs them in one. What is looked for below
comes out otherwise with a probability below 1e-9.
"""

from __future__ import annotations

import ast
import contextlib
import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "examples" / "notebooks"

SAYS = {
    "first_answer": [
        "age, for numbers: 32,561 of 32,561 rows count.",
        "Try Format(thousands='.', decimal=',')",
        "income, for numbers: 500 of 500 rows count.",
        "37.0\nDifferentially private: epsilon = 0.5,",
        "(0.5, True)",
    ],
    "planning": ["at most 14.5 visitors fewer", "0.727", "(0.052, 0.399)", "PermuteAndFlip\nExponentialMechanism\n"],
    "ledger_in_a_team": [
        "[6, 3, 11]",
        "(True, 0.25)",
        "has epsilon=0.25 left of 1.0; this would cost 0.5",
        "(6, 0.0)",
        "(True, True, True)",
        "['clicks']",
    ],
    "feature_selection": ["['age' 'hours_per_week']", "True", "epsilon = 1, when one person is added or removed."],
    "pictures": ["alt.LayerChart(...)"],
}
"""What each notebook has to print, in this order."""

SPARK_SAYS = ["[6, 3, 11]\nDifferentially private: epsilon = 1,", "218"]


def run(cells: list[str]) -> str:
    """What the cells print, and the value of each last line, as below a cell."""
    names: dict[str, Any] = {"__name__": "__main__"}
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        for cell in cells:
            body = ast.parse(cell).body
            last = body.pop() if isinstance(body[-1], ast.Expr) else None
            exec(compile(ast.Module(body, []), "<cell>", "exec"), names)
            if isinstance(last, ast.Expr):
                value = eval(compile(ast.Expression(last.value), "<cell>", "eval"), names)
                if value is not None:
                    print(repr(value))
    return said.getvalue()


def code(name: str) -> list[str]:
    """The code of each cell."""
    held = json.loads((FOLDER / f"{name}.ipynb").read_text(encoding="utf-8"))
    return ["".join(cell["source"]) for cell in held["cells"] if cell["cell_type"] == "code"]


def missing(output: str, expected: list[str]) -> list[str]:
    """What `output` does not have after all that is expected before it."""
    lacking: list[str] = []
    for words in expected:
        _, found, after = output.partition(words)
        if found:
            output = after
        else:
            lacking.append(words)
    return lacking


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(SAYS))
def test_a_notebook_says_what_it_announces(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(FOLDER)
    assert missing(run(code(name)), SAYS[name]) == []


@pytest.mark.slow  # starts a Spark of its own, because it also stops it
def test_the_notebook_of_spark_says_what_it_announces() -> None:
    program = "from tests.test_notebooks import code, run; print(run(code('spark')))"
    paths = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=FOLDER,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT / "src"), paths])},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    assert missing(done.stdout, SPARK_SAYS) == []


def test_every_notebook_is_run() -> None:
    assert {path.stem for path in FOLDER.glob("*.ipynb")} == {*SAYS, "spark"}


def test_what_is_not_said_is_missed() -> None:
    output = run(["x = 1\nprint('first')\nx + 1", "print('last')"])
    assert output == "first\n2\nlast\n"
    assert missing(output, ["first", "2", "last"]) == []
    assert missing(output, ["last", "first"]) == ["first"]


def test_a_failing_cell_fails() -> None:
    with pytest.raises(ZeroDivisionError):
        run(["1 / 0"])


@pytest.mark.parametrize("name", sorted([*SAYS, "spark"]))
def test_notebooks_are_kept_without_outputs(name: str) -> None:
    held = json.loads((FOLDER / f"{name}.ipynb").read_text(encoding="utf-8"))
    assert [cell for cell in held["cells"] if cell.get("outputs") or cell.get("execution_count")] == []
