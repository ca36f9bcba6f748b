"""Processes that share files run each test once, and tell what fails, also as a file is read."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FILES = {
    "test_many.py": """
import pytest

@pytest.fixture(scope="module")
def once():
    yield

@pytest.mark.parametrize("number", range(5))
def test_number(once, number):
    assert number != 3
""",
    "test_unreadable.py": "import what_there_is_not\n",
    "test_on_two_engines.py": """
import pytest

@pytest.mark.parametrize("engine", ["duckdb", "spark"])
def test_engine(engine): pass
""",
    "test_empty.py": "",
    "page.md": "    >>> 1 + 1\n    2\n",
}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ([], {"PASSED": 7, "FAILED": 1, "ERROR": 1}),
        (["-k", "number and not 3", "--ignore=test_unreadable.py"], {"PASSED": 4}),
        (["test_many.py::test_number[3]"], {"FAILED": 1}),
    ],
)
def test_each_test_is_run_once(arguments: list[str], expected: dict[str, int], tmp_path: Path) -> None:
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    command = [sys.executable, "-m", "pytest", "-p", "tests.conftest", "--doctest-glob=*.md", "-n", "2", "-rA", "-q"]
    done = subprocess.run(
        [*command, *arguments],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path])},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert Counter(re.findall(r"^(PASSED|FAILED|ERROR) ", done.stdout, re.MULTILINE)) == expected, done.stdout
    assert done.returncode == bool({"FAILED", "ERROR"} & set(expected))
