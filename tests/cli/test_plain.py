"""What is typed without a mistake is read without the parser, and means the same as to the parser."""

from __future__ import annotations

import subprocess
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from dpselect.arguments import REQUIRED, Argument
from dpselect.cli import asking
from dpselect.cli.app import run
from dpselect.cli.shared_options import filled, option_name, options_of
from dpselect.questions.question import BY_NAME, Question
from tests.slow import SLOW

ROOT = Path(__file__).parents[2]
WRITTEN: dict[str, list[list[str]]] = {
    "text": [["who"], ["None"], ["a b"], ["1"]],
    "any text": [["1..4"], ["red,blue"], ["none"], ["$%"]],
    "whole": [["3"], ["1e3"], ["007"], ["2.0"]],
    "number": [["0.5"], ["1e-6"], [".25"], ["nan"], ["1"], ["inf"]],
    "exact": [["1/3"], ["0.1"], ["12345678901234567890.5"], ["5"]],
    "flag": [[]],
    "json": [[]],
    "bounds": [["0", "120"], ["1/3", "0.5"]],
    "ends": [["2026-12-01", "2026-12-31"]],
    "numbers or dates": [["0", "120"], ["2026-12-01", "2026-12-31"]],
    "levels": [["0.25,0.5"], ["@levels.txt"]],
    "prices": [["1..4"], ["1,2.5"]],
    "dates": [["2026-12-01,2026-12-02"]],
    "values": [["Oslo,Rome"], ["1..5"]],
    "list": [["1..4"], ["red,blue"], ["@codes.csv:column"]],
    "where": [["age=18.."], ["region=north,south"]],
}
"""Ways to write a value of each kind."""

STRANGE: list[tuple[str, str]] = [
    ("", ""),
    ("--unit", "-x"),
    ("--epsilon", "1_0"),
    ("--epsilon", "half"),
    ("--epsilon", "1/2"),
    ("--epsilon", ""),
    ("--max-groups-per-unit", "2.7"),
    ("--neighbours", "add_remove"),
    ("--neighbours", "ADD-REMOVE"),
    ("--eps", "1"),
    ("--quiet=true", ""),
    ("--unit=other", ""),
    ("--no-quiet", ""),
    ("--unit", "twice"),
    ("--", "more"),
    ("-h", ""),
    ("--help", ""),
    ("--version", ""),
    ("--table", "--quiet"),
]


def words_of(option: Argument, turn: int) -> list[str]:
    if isinstance(option.kind, str):
        ways = WRITTEN[option.kind]
        return ways[turn % len(ways)]
    words = option.kind if isinstance(option.kind, tuple) else [each.name.lower() for each in option.kind]
    return [list(words)[turn % len(words)].replace("_", "-")]


def typed(about: type[Question], turn: int) -> list[str]:
    """A command with its required options and every second or third other one, in another order at each turn."""
    options = [each for part in options_of(about).values() for each in part]
    chosen = [each for at, each in enumerate(options) if each.default is REQUIRED or (at + turn) % (2 + turn % 2) == 0]
    chosen = chosen[turn % len(chosen) :] + chosen[: turn % len(chosen)]
    named = [[option_name(each), *words_of(each, turn)] for each in chosen]
    place, needs_column = turn % (len(named) + 1), about.argument("column").default is REQUIRED
    free = [["adult.csv", "column"][: 2 if needs_column or turn % 2 else 1]]
    free += [words_of(about.argument(name), turn) for name in about.positional]
    return [about.name.replace("_", "-"), *(word for part in [*named[:place], *free, *named[place:]] for word in part)]


def to_the_parser(arguments: list[str]) -> tuple[str, str, str | None, dict[str, Any]]:
    """What the parser makes of it: the arguments of `asking.ask`."""
    seen: list[Any] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("dpselect.cli.options.ask", lambda *given: seen.append(given) or 0)
        run(arguments)
    (found,) = seen
    about, source, column, options = found
    return about.name, source, column, options


def completed(about: type[Question], options: dict[str, Any]) -> dict[str, Any]:
    given = filled([each for part in options_of(about).values() for each in part], options)
    return {name: (type(value), repr(value)) for name, value in given.items()}


@pytest.mark.parametrize("name", BY_NAME)
def test_both_read_the_same(name: str) -> None:
    about = BY_NAME[name]
    first, step = (0, 1) if SLOW else ([*BY_NAME].index(name) % 2, 2)  # by day the next command has the other turns
    for turn in range(first, 12, step):
        arguments = typed(about, turn)
        asked = asking.read(arguments)
        assert asked is not None, arguments
        called, source, column, options = to_the_parser(arguments)
        assert (asked[0].name, *asked[1:3]) == (called, source, column), arguments
        assert completed(about, asked[3]) == completed(about, options), arguments


@pytest.mark.parametrize("added", STRANGE, ids="{0[0]} {0[1]}".format)
def test_what_is_typed_in_another_way_is_left_to_the_parser(added: tuple[str, str]) -> None:
    assert asking.read(["count", "adult.csv", "--unit", "who", "--epsilon", "1"]) is not None
    without = ["count", "adult.csv", *(["--unit", "who"] if added[0] != "--unit" or added[1] == "twice" else [])]
    without += ["--epsilon", "1"] if added[0] != "--epsilon" else []
    option, value = added
    assert asking.read([*without, *([option] if option else ["first", "second"]), *([value] if value else [])]) is None


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["--help"],
        ["median"],
        ["best_price", "adult.csv", "gain", "--unit", "who", "--epsilon", "1"],
        ["top_k", "adult.csv", "gain", "3", "--unit", "who", "--epsilon", "1"],
        ["top-k", "adult.csv", "gain", "2.7", "--unit", "who", "--epsilon", "1"],
        ["ledger", "show", "sqlite:///budget.db"],
        ["count", "adult.csv", "--unit", "who"],
        ["count", "adult.csv", "--unit"],
        ["sum", "adult.csv", "gain", "--clip", "none", "0", "--unit", "who", "--epsilon", "1"],
        ["sum", "adult.csv", "gain", "--clip", "0", "--unit", "who", "--epsilon", "1"],
        ["count", "", "--unit", "who", "--epsilon", "1"],
    ],
    ids=" ".join,
)
def test_other_commands_and_mistakes_are_left_to_the_parser(arguments: list[str]) -> None:
    assert asking.read(arguments) is None


def test_numbers_are_taken_exactly() -> None:
    asked = asking.read(["median", "t.csv", "x", "--bounds", "1/3", "0.5", "--unit", "who", "--epsilon", "1"])
    assert asked is not None
    assert asked[3]["bounds"] == (Fraction(1, 3), 0.5)


def test_an_answer_needs_no_parser_no_ledger_and_no_other_engine() -> None:
    program = (
        "import sys; from dpselect.cli import main; status = main(sys.argv[1:]); "
        "print(status, [each for each in ('cyclopts', 'rich', 'sqlalchemy', 'scipy', 'narwhals', 'pandas', "
        "'pyarrow.compute', 'pyarrow.parquet') if each in sys.modules])"
    )
    question = ["count", "examples/data/adult.csv", "--unit", "person_id", "--epsilon", "0.5", "--quiet"]
    run = [sys.executable, "-c", program, *question]
    shown = subprocess.run(run, cwd=ROOT, check=True, capture_output=True, text=True, timeout=120).stdout
    assert shown.splitlines()[1] == "0 []"


def test_a_question_is_asked_where_its_module_says(monkeypatch: pytest.MonkeyPatch) -> None:
    """`main` calls `asking.ask` with what was read; the other test replaces what the parser calls."""
    from dpselect.cli import main

    seen: list[Any] = []
    monkeypatch.setattr(asking, "ask", lambda *given: seen.append(given) or 0)
    assert main(["count", "t.csv", "--unit", "who", "--epsilon", "1"]) == 0
    assert [(about.name, source, column, options) for about, source, column, options in seen] == [
        ("count", "t.csv", None, {"unit": "who", "epsilon": 1.0})
    ]
