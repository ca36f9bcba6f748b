"""The list itself: every entry still fits the code, so that ``make mutants`` breaks what it says it breaks."""

from __future__ import annotations

import ast
from functools import cache
from itertools import takewhile

import pytest

from tests.mutants.mutation import Command, Mutation, WrongMutationError, read_list
from tests.mutants.workshop import COPIED, ROOT

MUTATIONS = read_list()


@cache
def text_of(file: str) -> str:
    return (ROOT / file).read_text(encoding="utf-8")


def test_each_old_text_stands_once_in_the_code() -> None:
    assert MUTATIONS
    for mutation in MUTATIONS:
        mutated = mutation.mutated(text_of(mutation.file))  # an error names the mutation
        if mutation.file.endswith(".py"):
            compile(mutated, mutation.name, "exec", ast.PyCF_ONLY_AST)


def test_each_names_tests_that_exist() -> None:
    rust = "".join(file.read_text(encoding="utf-8") for file in (ROOT / "rust" / "src").rglob("*.rs"))
    for mutation in MUTATIONS:
        for command in mutation.killed_by:
            assert command.arguments, f"{mutation.name}: running everything hides which test it is that notices"
            if command.tool == "pytest":
                paths = list(takewhile(lambda argument: not argument.startswith("-"), command.arguments))
                assert paths, mutation.name
                missing = [path for path in paths if not (ROOT / path.partition("::")[0]).exists()]
            else:
                missing = [argument for argument in command.arguments if f"fn {argument}" not in rust]
            assert missing == [], mutation.name


def test_names_and_files_are_sound() -> None:
    names = [mutation.name for mutation in MUTATIONS]
    assert len(set(names)) == len(names)
    assert all(mutation.file.partition("/")[0] in COPIED for mutation in MUTATIONS)


@pytest.mark.parametrize("source", ["no such line", "x = 1\nx = 1\n"])
def test_an_entry_that_does_not_fit_is_refused(source: str) -> None:
    mutation = Mutation("name", "file.py", "x = 1", "x = 2", (Command("pytest", ("tests",)),))
    with pytest.raises(WrongMutationError, match="not once"):
        mutation.mutated(source)
