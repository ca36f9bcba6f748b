"""The list itself: every entry still fits the code, so that ``make mutants`` breaks what it says it breaks."""

from __future__ import annotations

import ast
from itertools import takewhile

import pytest

from tests.mutants.mutation import Command, Mutation, WrongMutationError, read_list
from tests.mutants.workshop import COPIED, ROOT

MUTATIONS = read_list()


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda mutation: mutation.name)
def test_each_old_text_stands_once_in_the_code(mutation: Mutation) -> None:
    mutated = mutation.mutated((ROOT / mutation.file).read_text(encoding="utf-8"))
    if mutation.file.endswith(".py"):
        ast.parse(mutated)


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda mutation: mutation.name)
def test_each_names_tests_that_exist(mutation: Mutation) -> None:
    for command in mutation.killed_by:
        assert command.arguments, "running everything hides which test it is that notices"
        if command.tool == "pytest":
            paths = list(takewhile(lambda argument: not argument.startswith("-"), command.arguments))
            assert paths
            assert all((ROOT / path.partition("::")[0]).exists() for path in paths)
        else:
            rust = "".join(file.read_text(encoding="utf-8") for file in (ROOT / "rust" / "src").rglob("*.rs"))
            assert all(f"fn {argument}" in rust for argument in command.arguments)


def test_names_and_files_are_sound() -> None:
    names = [mutation.name for mutation in MUTATIONS]
    assert len(set(names)) == len(names)
    assert all(mutation.file.partition("/")[0] in COPIED for mutation in MUTATIONS)


@pytest.mark.parametrize("source", ["no such line", "x = 1\nx = 1\n"])
def test_an_entry_that_does_not_fit_is_refused(source: str) -> None:
    mutation = Mutation("name", "file.py", "x = 1", "x = 2", (Command("pytest", ("tests",)),))
    with pytest.raises(WrongMutationError, match="not once"):
        mutation.mutated(source)
