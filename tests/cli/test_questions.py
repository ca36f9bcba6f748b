"""Commands are made from the registry of questions: they take what the methods of `Dataset` take."""

from __future__ import annotations

import inspect
import json
from pathlib import Path
from typing import Any

import pytest

from dpselect import Dataset, DryRun
from dpselect.cli.main import main
from dpselect.cli.questions import command_of
from dpselect.questions import COMMANDS, QUESTIONS
from dpselect.questions.command import REQUIRED, Command, Option
from dpselect.questions.drawn_by import DRAWN_BY

SHARED = {"self", "column", "epsilon", "usable_epsilon", "request", "by", "groups", "max_groups_per_unit"}
CHOOSING = {"candidates", "allow_many"}
EXAMPLES = Path(__file__).parents[2] / "examples" / "data"
TASKS_OF = {
    "median": ("quantile",),
    "quantile": ("unbounded_quantile",),
    "top_k": ("top_unknown", "top_k_set"),
}
"""What certificates call an answer of a command, beside the name of the command."""
REFUSED = {"best_by": {"with_gap"}}
"""Arguments that take one value, and say what to ask instead: a command line has no use for them."""


def stated(about: Command) -> dict[str, Any]:
    return {each.name: each.default for each in (*about.positional, *about.options)}


def taken(about: Command) -> dict[str, Any]:
    parameters = inspect.signature(getattr(Dataset, about.name)).parameters
    own = parameters.keys() - SHARED - (CHOOSING if about.chooses else set()) - REFUSED.get(about.name, set())
    empty = inspect.Parameter.empty
    return {name: REQUIRED if parameters[name].default is empty else parameters[name].default for name in own}


@pytest.mark.parametrize("about", COMMANDS.values(), ids=lambda about: about.name)
def test_a_command_has_the_arguments_of_the_method(about: Command) -> None:
    assert stated(about) == taken(about)


def test_an_argument_that_the_command_line_forgets_is_found() -> None:
    about = COMMANDS["mean"]
    less = Command(name="mean", asks="", does="", example=("", ""), options=about.options[1:])
    assert stated(less) != taken(about)


def test_every_question_of_a_table_has_a_command() -> None:
    """Features are selected from arrays, not from a table; quantiles without bounds are asked by `quantile`, and a
    top k without candidates, or as a set, by `top_k`."""
    without = set(QUESTIONS) - set(COMMANDS)
    assert without == {
        "best_features",
        "unbounded_quantile",
        "top_k_set",
        "top_unknown",
    }


def test_every_question_of_a_table_is_a_method() -> None:
    without = [name for name in COMMANDS if not hasattr(Dataset, name)]
    assert without == [], f"commands without a method of Dataset: {', '.join(without)}"


def test_a_command_says_what_may_draw() -> None:
    """In its own words: the mechanisms are not imported for them."""
    (method,) = (each for each in COMMANDS["most_common"].options if each.name == "method")
    assert method.kind == tuple(DRAWN_BY)


def test_a_command_without_a_method_says_where_to_add_it() -> None:
    about = Command(name="mode", asks="", does="", example=("", ""))
    with pytest.raises(NotImplementedError, match=r"'mode', but Dataset has no method .* dpselect\.session\.choices"):
        command_of(about)("t.csv", "value", unit="unit", epsilon=1.0, dry_run=True)


@pytest.mark.sampled(6)
@pytest.mark.parametrize("about", COMMANDS.values(), ids=lambda about: about.name)
def test_the_example_runs(about: Command, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(EXAMPLES)
    for positional, options in (about.example, *(example for _, example in about.also)):
        command = [about.name.replace("_", "-"), *positional.split(), *options.split()]
        assert main([*command, "--dry-run", "--json"]) == 0
        task = json.loads(capsys.readouterr().out)["task"]
        assert task in (about.name, *TASKS_OF.get(about.name, ()))


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


ADULT = ["--unit", "person_id", "--epsilon", "1000"]


def test_a_histogram_of_one_value_is_answered(capsys: pytest.CaptureFixture[str]) -> None:
    asked = [str(EXAMPLES / "adult.csv"), "education_num", "--candidates", "9", *ADULT]
    assert main(["histogram", *asked]) == 0
    assert "    9  10501" in capsys.readouterr().out
    assert main(["most-common", *asked]) == 2
    assert "One leaves nothing to choose" in capsys.readouterr().err


def test_counts_say_what_was_counted(capsys: pytest.CaptureFixture[str]) -> None:
    """Alone and in groups: a number by itself would be of any value."""
    asked = ["histogram", str(EXAMPLES / "adult.csv"), "education_num", "--candidates", "9,10", *ADULT, "--quiet"]
    assert main(asked) == 0
    assert capsys.readouterr().out == "9  10501\n10  7291\n"
    assert main([*asked, "--by", "age", "--groups", "30,40"]) == 0
    assert capsys.readouterr().out == "30  9: 293, 10: 184\n40  9: 241, 10: 166\n"


@pytest.mark.parametrize(
    ("command", "option", "meant"),
    [
        ("sum", "--bounds", "--clip"),
        ("count", "--bounds", "--between"),
        ("count", "--candidates", "--values"),
        ("histogram", "--values", "--candidates"),
        ("median", "--between", "--bounds"),
        ("median", "--clip", "--bounds"),
    ],
)
def test_an_option_of_another_question_leads_to_the_one_for_it_here(
    command: str, option: str, meant: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([command, str(EXAMPLES / "adult.csv"), "age", option, "1", "2", *ADULT]) == 2
    assert capsys.readouterr().err == f"dpselect: Unknown option: {option}. Did you mean {meant}?\n"


def test_the_cost_of_two_parts_is_stated_in_parts(capsys: pytest.CaptureFixture[str]) -> None:
    """The double that is charged is the next one above their sum, which nobody typed."""
    asked = ["median", str(EXAMPLES / "adult.csv"), "age", "--unit", "person_id", "--bounds", "0", "120"]
    asked += ["--step", "1", "--epsilon", "0.5", "--usable-epsilon", "0.1"]
    assert main(asked) == 0
    assert "Differentially private: epsilon = 0.5 + 0.1, when" in capsys.readouterr().out
    assert main([*asked, "--dry-run"]) == 0
    assert "Differentially private: epsilon = 0.5 + 0.1, when" in capsys.readouterr().out
    people = Dataset(EXAMPLES / "adult.csv", unit="person_id")
    release = people.median("age", bounds=(0, 120), step=1, epsilon=0.5, usable_epsilon=0.1)
    assert (release.epsilon, release.guarantee.epsilon) == (0.6000000000000001, 0.6000000000000001)
    short = people.median("age", bounds=(0, 120), step=1, epsilon=0.5, usable_epsilon=0.05)
    assert "epsilon = 0.55, when" in short.promise


def test_errors_of_arguments_name_the_class_that_people_know() -> None:
    for asked in (Dataset(EXAMPLES / "adult.csv", unit="person_id"), DryRun(unit="person_id")):
        with pytest.raises(TypeError, match=r"^Dataset\.count\(\) got an unexpected keyword argument 'over'"):
            asked.count("age", over=3)  # type: ignore[call-overload]


@pytest.mark.parametrize("name", ["count", "histogram", "sum"])
def test_the_help_of_a_question_explains_each_argument(name: str) -> None:
    said = inspect.getdoc(getattr(Dataset, name)) or ""
    assert "see `" not in said.partition("Returns:")[0]


def test_the_help_begins_with_all_kinds_of_questions(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    said = capsys.readouterr().out
    assert all(f"dpselect {each} " in said for each in ("top-k", "count", "histogram", "sum", "plan"))
