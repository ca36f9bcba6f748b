"""The list itself: every entry still fits the code, so that ``make mutants`` breaks what it says it breaks."""

from __future__ import annotations

import ast
import os
from functools import cache
from itertools import takewhile
from pathlib import Path

import pytest

from tests.mutants import workshop
from tests.mutants.__main__ import chosen, whole_files
from tests.mutants.mutation import Command, Mutation, WrongMutationError, read_list
from tests.mutants.workshop import COPIED, ROOT, Verdict, Workshop

MUTATIONS = read_list()


@cache
def text_of(file: str) -> str:
    return (ROOT / file).read_text(encoding="utf-8")


def test_each_old_text_stands_once_in_the_code() -> None:
    assert MUTATIONS
    together: dict[str, str] = {}
    for mutation in MUTATIONS:
        mutated = mutation.mutated(text_of(mutation.file))  # an error names the mutation
        if not mutation.file.endswith(".py"):
            continue
        # What can be in a file together is compiled together.
        if (so_far := together.get(mutation.file, text_of(mutation.file))).count(mutation.old) == 1:
            together[mutation.file] = so_far.replace(mutation.old, mutation.new)
        else:
            compile(mutated, mutation.name, "exec", ast.PyCF_ONLY_AST)
    for file, mutated in together.items():
        compile(mutated, file, "exec", ast.PyCF_ONLY_AST)


def test_each_names_tests_that_exist() -> None:
    rust = "".join(file.read_text(encoding="utf-8") for file in (ROOT / "rust" / "src").rglob("*.rs"))
    for mutation in MUTATIONS:
        command = mutation.killed_by
        assert command.arguments, f"{mutation.name}: running everything hides which test it is that notices"
        if command.tool == "pytest":
            paths = list(takewhile(lambda argument: not argument.startswith("-"), command.arguments))
            assert paths, mutation.name
            missing = [path for path in paths if not (ROOT / path.partition("::")[0]).exists()]
        else:
            missing = [argument for argument in command.arguments if f"fn {argument}" not in rust]
        assert missing == [], mutation.name


def test_there_are_few() -> None:
    """Each is pinned to the text of a line: whoever adds one beyond these takes out one that matters less."""
    assert len(MUTATIONS) <= 250


def test_names_and_files_are_sound() -> None:
    names = [mutation.name for mutation in MUTATIONS]
    assert len(set(names)) == len(names)
    assert all(mutation.file.partition("/")[0] in COPIED for mutation in MUTATIONS)


@pytest.mark.parametrize("source", ["no such line", "x = 1\nx = 1\n"])
def test_an_entry_that_does_not_fit_is_refused(source: str) -> None:
    mutation = Mutation("name", "file.py", "x = 1", "x = 2", Command("pytest", ("tests",)))
    with pytest.raises(WrongMutationError, match="not once"):
        mutation.mutated(source)


@pytest.mark.parametrize("parts", [1, 3, len(MUTATIONS) + 1])
def test_each_mutation_is_in_one_part(parts: int) -> None:
    shares = [chosen(MUTATIONS, part=part, parts=parts) for part in range(1, parts + 1)]
    assert sorted(each.name for share in shares for each in share) == sorted(each.name for each in MUTATIONS)
    assert max(map(len, shares)) - min(map(len, shares)) <= 1


def test_words_and_files_are_both_looked_at() -> None:
    first, second, third = (
        Mutation(name, file, "x", "y", Command("pytest", ("tests",)))
        for name, file in [
            ("half of it", "src/dpselect/errors.py"),
            ("half of it", "rust/src/lib.rs"),
            ("all of it", "src/dpselect/errors.py"),
        ]
    )
    every = [first, second, third]
    assert chosen(every) == every
    assert chosen(every, ["half"]) == [first, second]
    assert chosen(every, [], ["src/dpselect"]) == [first, third]
    assert chosen(every, ["half", "no such"], ["src/dpselect/e", "docs"]) == [first]


def test_what_can_be_run_at_once_is_whole_files() -> None:
    assert whole_files(Command("pytest", ("tests/test_errors.py", "src/dpselect/errors.py"))) == (
        "tests/test_errors.py",
        "src/dpselect/errors.py",
    )
    for some in (("tests/test_errors.py", "-k", "b"), ("tests/test_errors.py::test_b",)):
        assert whole_files(Command("pytest", some)) == ()
    assert whole_files(Command("cargo", ("a_name",))) == ()


@pytest.mark.slow
def test_an_error_of_the_same_size_is_run_though_the_code_was_compiled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Python compares size and date of the source: an error put in within the same second would not be seen."""
    monkeypatch.setattr(workshop, "COPIED", ())
    monkeypatch.setattr(Workshop, "_build_extension", lambda _: True)
    monkeypatch.delenv("PYTHONPYCACHEPREFIX", raising=False)
    copy, command = Workshop(tmp_path), Command("pytest", ("test_number.py",))
    (tmp_path / "number.py").write_text("NUMBER = 1\n")
    (tmp_path / "test_number.py").write_text("from number import NUMBER\n\n\ndef test_it():\n    assert NUMBER == 1\n")
    assert copy.run(command) is Verdict.PASSED
    assert list((tmp_path / "__pycache__").glob("number.*"))
    dated = (tmp_path / "number.py").stat()
    mutation = Mutation("two", "number.py", "1", "2", command)
    original = copy.put_in(mutation)
    os.utime(tmp_path / "number.py", ns=(dated.st_atime_ns, dated.st_mtime_ns))
    assert copy.run(command) is Verdict.FAILED
    copy.put_back(mutation, original)
    assert copy.run(command) is Verdict.PASSED
