"""Commands, forms and methods are made from what a question declares, and from nothing else."""

from __future__ import annotations

import inspect
import json
from pathlib import Path
from typing import Any

import pytest
from docs.questions import ALSO

from dpselect import Dataset, DryRun
from dpselect.arguments import OF_EVERY_QUESTION, REQUIRED, TYPES, Argument
from dpselect.cli import main
from dpselect.cli.asking import ASKED, GROUPS, OF_EVERY, of_question
from dpselect.questions.moments import Mean
from dpselect.questions.question import BY_NAME, QUESTIONS, Question
from dpselect.session.asking import GroupedQuestions

OF_COMMANDS = {each.name for each in (*ASKED.positional, *ASKED.options, TYPES["candidates"], *GROUPS, *OF_EVERY)}
EXAMPLES = Path(__file__).parents[2] / "examples" / "data"


def stated(about: type[Question]) -> dict[str, Any]:
    """What the command takes beside what all commands take, with its defaults."""
    command, empty = of_question(about), inspect.Parameter.empty
    own = [each for each in (*command.positional, *command.options) if each.name not in OF_COMMANDS]
    return {each.name: empty if each.default is REQUIRED else each.default for each in own}


def taken(about: type[Question]) -> dict[str, Any]:
    """The same of the method; the command line refuses a list that is left out, Python says why it is needed."""
    given = inspect.signature(getattr(Dataset, about.name)).parameters.values()
    shared = {"self", *(each.name for each in OF_EVERY_QUESTION)}
    found = {each.name: each.default for each in given if each.name not in shared}
    return found | {each.name: inspect.Parameter.empty for each in about.options() if each.is_list}


@pytest.mark.parametrize("about", BY_NAME.values(), ids=lambda about: about.name)
def test_a_command_has_the_arguments_of_the_method(about: type[Question]) -> None:
    assert stated(about) == taken(about)


def test_an_argument_that_the_command_line_forgets_is_found() -> None:
    class OfLess(Mean):
        @classmethod
        def options(cls) -> tuple[Argument, ...]:
            return super().options()[1:]

    assert stated(OfLess) != taken(Mean)


def test_every_question_of_a_table_has_a_command() -> None:
    """Features are selected from arrays, not from a table; quantiles without bounds are asked by `quantile`, and a
    top k without candidates by `top_k`."""
    without = set(QUESTIONS) - set(BY_NAME)
    assert without == {"best_features", "histogram_of_bins", "unbounded_quantile", "top_unknown"}


@pytest.mark.parametrize("family", [Dataset, DryRun, GroupedQuestions])
def test_every_question_of_a_table_is_a_method(family: type[Any]) -> None:
    without = [name for name in BY_NAME if not hasattr(family, name)]
    assert without == [], f"commands without a method of {family.__name__}: {', '.join(without)}"


@pytest.mark.sampled(6)
@pytest.mark.parametrize("about", BY_NAME.values(), ids=lambda about: about.name)
def test_the_example_runs(
    about: type[Question], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(EXAMPLES)
    for example in (" ".join(about.example), *ALSO.get(about.name, ())[1:]):
        assert main([about.name.replace("_", "-"), *example.split(), "--dry-run", "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["question"]["ask"] == about.name


ADULT = ["--unit", "person_id", "--epsilon", "1000"]


def test_a_median_of_dates_is_found_in_steps_of_days(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "visits.csv").write_text(
        "who,day\n" + "".join(f"{each},2026-02-0{each % 9 + 1}\n" for each in range(99))
    )
    asked = ["median", str(tmp_path / "visits.csv"), "day", "--unit", "who", "--epsilon", "1000", "--quiet"]
    asked += ["--bounds", "2026-01-01", "2026-12-31", "--step"]
    assert main([*asked, "1"]) == 0
    assert capsys.readouterr().out == "2026-02-05\n"
    for step in ("1.5", "0", "-1"):
        assert main([*asked, step]) == 2
        assert capsys.readouterr().err.startswith(f"dpselect: --step={float(step)}: expected")


def test_a_histogram_of_one_value_is_answered(capsys: pytest.CaptureFixture[str]) -> None:
    asked = [str(EXAMPLES / "adult.csv"), "education_num", "--candidates", "9", *ADULT]
    assert main(["histogram", *asked]) == 0
    assert "    9             10,501  10,501 to 10,501" in capsys.readouterr().out
    assert main(["most-common", *asked]) == 2
    assert "One leaves nothing to choose" in capsys.readouterr().err


def test_counts_say_what_was_counted(capsys: pytest.CaptureFixture[str]) -> None:
    """Alone and in groups: a number by itself would be of any value."""
    asked = ["histogram", str(EXAMPLES / "adult.csv"), "education_num", "--candidates", "9,10", *ADULT, "--quiet"]
    assert main(asked) == 0
    assert capsys.readouterr().out == "9  10501\n10  7291\n"
    assert main([*asked, "--by", "age", "--groups", "30,40"]) == 0
    assert capsys.readouterr().out == "30  9  293\n30  10  184\n40  9  241\n40  10  166\n"


@pytest.mark.parametrize(
    ("command", "option", "meant"),
    [
        ("sum", "--bounds", "--clip"),
        ("count", "--bounds", "--between"),
        ("count", "--values", "--candidates"),
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
        with pytest.raises(
            TypeError, match=rf"^{type(asked).__name__}\.count\(\) got an unexpected keyword argument 'over'"
        ):
            asked.count("age", over=3)  # type: ignore[call-overload]


@pytest.mark.parametrize("name", ["count", "histogram", "sum"])
def test_the_help_of_a_question_explains_each_argument(name: str) -> None:
    said = inspect.getdoc(getattr(Dataset, name)) or ""
    assert "see `" not in said.partition("Returns:")[0]


def test_the_help_begins_with_all_kinds_of_questions(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    said = capsys.readouterr().out
    assert all(f"dpselect {each} " in said for each in ("top-k", "count", "histogram", "sum", "plan"))
