"""Questions can be asked in a notebook without ipywidgets, which DuckDB wants there for a progress bar."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

# A kernel without widgets, as DuckDB recognises it.
_KERNEL = """
import sys, types
ipython = types.ModuleType("IPython")
ipython.get_ipython = lambda: types.SimpleNamespace(config={"IPKernelApp": {}})
sys.modules["IPython"], sys.modules["ipywidgets"] = ipython, None
"""

_ASK = """
import dpselect as dps
people = dps.Dataset("examples/data/adult.csv", unit="person_id")
print(people.median("age", bounds=(0, 120), step=1, epsilon=0.5).value)
"""

_SET = """
import duckdb
duckdb.connect().execute("SET enable_progress_bar = true")
"""


def _run(program: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    return subprocess.run(
        [sys.executable, "-c", _KERNEL + program],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
    )


@pytest.mark.slow
def test_a_question_is_answered_in_a_kernel_without_widgets() -> None:
    done = _run(_ASK)
    assert (done.returncode, done.stdout) == (0, "37.0\n"), done.stderr


def test_that_kernel_refuses_a_progress_bar() -> None:
    done = _run(_SET)
    assert done.returncode != 0
    assert "ipywidgets" in done.stderr
