"""Workflows agree with the project: versions of Python, doors of the Makefile, pinned tools. They are read as text."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
WORKFLOWS = {path.name: path.read_text(encoding="utf-8") for path in (ROOT / ".github" / "workflows").glob("*.yml")}
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]

REGISTRY = re.compile(r"pypi\.|pythonhosted|crates\.io|--?(?:extra-)?index[-]url|registry\+", re.IGNORECASE)


def versions(workflow: str) -> list[str]:
    """The versions of Python in a workflow's matrix."""
    (matrix,) = re.findall(r"^ +python-version: \[(.*)\]$", workflow, flags=re.MULTILINE)
    return re.findall(r'"(3\.\d+)"', matrix)


def single_versions(workflow: str) -> set[str]:
    """The versions of Python that jobs without a matrix use."""
    return set(re.findall(r'^ +python-version: "(.*)"$', workflow, flags=re.MULTILINE))


def loose_actions(workflow: str) -> list[str]:
    """Actions that are not pinned to a major version."""
    return [used for used in re.findall(r"uses: *(\S+)", workflow) if not re.fullmatch(r"[\w./-]+@v\d+", used)]


DECLARED = [found[1] for each in PROJECT["classifiers"] if (found := re.search(r":: Python :: (3\.\d+)$", each))]


@pytest.mark.parametrize("name", ["checks.yml", "wheels.yml"])
def test_every_declared_version_of_python_is_tried(name: str) -> None:
    assert versions(WORKFLOWS[name]) == DECLARED


def test_the_oldest_declared_version_is_the_one_that_is_required() -> None:
    assert PROJECT["requires-python"] == f">={DECLARED[0]}"
    assert {version for text in WORKFLOWS.values() for version in single_versions(text)} == {DECLARED[0]}


def test_actions_are_pinned_to_a_major_version() -> None:
    assert sum(text.count("uses:") for text in WORKFLOWS.values()) > 10
    assert {name: loose for name, text in WORKFLOWS.items() if (loose := loose_actions(text))} == {}


def test_one_version_of_an_action_is_used_everywhere() -> None:
    used = {each for text in WORKFLOWS.values() for each in re.findall(r"uses: *(\S+)", text)}
    assert len({each.partition("@")[0] for each in used}) == len(used)


def test_what_workflows_run_exists() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    commands = [each for text in WORKFLOWS.values() for each in re.findall(r"run: (.*)", text)]
    doors = [command.split()[1] for command in commands if command.startswith("make ")]
    assert "wheel" in doors
    assert [door for door in doors if not re.search(rf"^{door}:", makefile, flags=re.MULTILINE)] == []
    files = [word for command in commands for word in command.split() if word.startswith((".ci/", "tests/"))]
    assert "tests/packaging/installed.py" in files
    assert [file for file in files if not (ROOT / file).is_file()] == []


def test_wheels_are_built_by_the_builder_of_development() -> None:
    (pinned,) = [each for each in PROJECT["optional-dependencies"]["dev"] if each.startswith("maturin==")]
    assert f"pip install {pinned}\n" in WORKFLOWS["wheels.yml"]


def test_wheels_are_tried_on_every_system_they_are_built_for() -> None:
    built, tried = re.findall(r"^ +os: \[(.*)\]", WORKFLOWS["wheels.yml"], flags=re.MULTILINE)
    assert {*built.split(", ")} < {*tried.split(", ")}
    assert {each.partition("-")[0] for each in tried.split(", ")} == {"ubuntu", "macos", "windows"}


def test_only_what_was_tried_everywhere_is_put_on_the_release_page() -> None:
    (job,) = re.findall(r"^  release:\n(?:    .*\n)+", WORKFLOWS["wheels.yml"], flags=re.MULTILINE)
    assert "if: startsWith(github.ref, 'refs/tags/v')\n    needs: installed\n" in job
    assert "gh release create" in job
    assert sum("contents: write" in text for text in WORKFLOWS.values()) == 1


def test_no_workflow_names_a_registry() -> None:
    assert [name for name, text in WORKFLOWS.items() if REGISTRY.search(text)] == []
    assert REGISTRY.search((ROOT / "Makefile").read_text(encoding="utf-8")) is None


def test_the_checks_above_can_fail() -> None:
    wrong = """\
        python-version: ["3.11", "3.12"]
          python-version: "3.9"
      - uses: actions/checkout@v5
      - uses: actions/setup-python@main
      - uses: someone/something
"""
    assert versions(wrong) == ["3.11", "3.12"]
    assert single_versions(wrong) == {"3.9"}
    assert loose_actions(wrong) == ["actions/setup-python@main", "someone/something"]
    for text in ("https://pypi.example", "-".join(["--index", "url"]), "https://static.crates.io"):
        assert REGISTRY.search(text)
