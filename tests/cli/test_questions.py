"""Commands are made from the registry of questions: they take what the methods of `Dataset` take."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import pytest

from dpselect import Dataset
from dpselect.cli.main import main
from dpselect.cli.question_options import QuestionOptions
from dpselect.cli.questions import COMMANDS, command_of
from dpselect.questions import QUESTIONS
from dpselect.questions.command import REQUIRED, Command, Option

SHARED = {"self", "column", "epsilon", "usable_epsilon", "request", "by", "groups", "max_groups_per_unit"}
CHOOSING = {"candidates", "allow_many"}
EXAMPLES = Path(__file__).parents[2] / "examples" / "data"


def stated(about: Command) -> dict[str, Any]:
    return {each.name: each.default for each in (*about.positional, *about.options)}


def taken(about: Command) -> dict[str, Any]:
    parameters = inspect.signature(getattr(Dataset, about.name)).parameters
    own = parameters.keys() - SHARED - (CHOOSING if about.chooses else set())
    empty = inspect.Parameter.empty
    return {name: REQUIRED if parameters[name].default is empty else parameters[name].default for name in own}


@pytest.mark.parametrize("about", COMMANDS, ids=lambda about: about.name)
def test_a_command_has_the_arguments_of_the_method(about: Command) -> None:
    assert stated(about) == taken(about)


def test_an_argument_that_the_command_line_forgets_is_found() -> None:
    (about,) = (each for each in COMMANDS if each.name == "mean")
    less = Command(name="mean", asks="", does="", example=("", ""), options=about.options[1:])
    assert stated(less) != taken(about)


def test_every_question_of_a_table_has_a_command() -> None:
    """Features are selected from arrays, not from a table; a quantile without bounds is asked by `quantile`."""
    without = {name for name, question in QUESTIONS.items() if not question.commands}
    assert without == {"best_features", "unbounded_quantile"}


def test_every_question_of_a_table_is_a_method() -> None:
    without = [name for name, question in QUESTIONS.items() if question.commands and not hasattr(Dataset, name)]
    assert without == [], f"questions in the registry without a method of Dataset: {', '.join(without)}"


def test_a_command_without_a_method_says_where_to_add_it() -> None:
    about = Command(name="mode", asks="", does="", example=("", ""))
    shared = QuestionOptions(unit="unit", epsilon=1.0, dry_run=True)
    with pytest.raises(NotImplementedError, match=r"'mode', but Dataset has no method .* dpselect\.session\.choices"):
        command_of(about)("t.csv", "value", shared=shared)


@pytest.mark.parametrize("about", COMMANDS, ids=lambda about: about.name)
def test_the_example_runs(about: Command, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(EXAMPLES)
    positional, options = about.example
    command = [about.name.replace("_", "-"), *positional.split(), *options.split()]
    assert main([*command, "--dry-run", "--json"]) == 0
    assert f'"task": "{about.name.replace("median", "quantile")}"' in capsys.readouterr().out


def test_a_question_of_another_shape_needs_no_code_of_its_own() -> None:
    about = Command(
        name="median",
        asks="Which?",
        does="Find it.",
        example=("people.csv age", "--how well"),
        options=(Option("how", ("well", "badly"), "In which way.", default="well"),),
    )
    made = inspect.signature(command_of(about)).parameters
    assert made["how"].default == "well"
    assert "candidates" not in made
    assert "how: In which way." in str(command_of(about).__doc__)
