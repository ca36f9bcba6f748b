"""A question is declared once: its method, its command, its form and its explanations follow from the class."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, get_args, get_origin

import pytest
from docs import stubs

import dpselect as dps
from dpselect import DryRun, arguments
from dpselect.arguments import OF_EVERY_QUESTION, OF_VIEWS, Argument, arguments_of
from dpselect.cli.asking import of_question
from dpselect.cli.commands import help_of, read
from dpselect.questions.quantiles import Median
from dpselect.questions.question import BY_NAME, Columns
from dpselect.session.asking import in_python, method_of
from dpselect.web import Site
from dpselect.web.forms import Form, fields_of

SOURCE = Path(dps.__file__).parent
ADULT = Path(__file__).parents[2] / "examples" / "data" / "adult.csv"


def test_the_types_of_methods_are_current() -> None:
    assert stubs.PLACE.read_text(encoding="utf-8") == stubs.text(), "run python docs/stubs.py"


def test_the_types_have_every_question_with_its_arguments() -> None:
    """By the parser of Python, and for both views of a table."""
    tree = ast.parse(stubs.text())
    for family in ("PlainQuestions", "GroupedQuestions"):
        (held,) = [each for each in tree.body if isinstance(each, ast.ClassDef) and each.name == family]
        methods = {each.name: each.args for each in held.body if isinstance(each, ast.FunctionDef)}
        assert ("by" in methods) == (family == "PlainQuestions")
        methods.pop("by", None)
        assert [*methods] == [*BY_NAME]
        for name, args in methods.items():
            parameters = inspect.signature(getattr(dps.Dataset, name)).parameters
            assert [each.arg for each in (*args.args, *args.kwonlyargs)] == [*parameters]
            assert [each.arg for each in args.kwonlyargs] == [
                each.name for each in parameters.values() if each.kind is each.KEYWORD_ONLY
            ]


def plain(text: str) -> str:
    return " ".join(text.split())


def texts_of(module: str) -> Iterator[str]:
    """Every text in it; parts that stand side by side are one."""
    yield from (
        plain(each.value)
        for each in ast.walk(ast.parse(module))
        if isinstance(each, ast.Constant) and isinstance(each.value, str)
    )


def repeated(explanations: set[str], modules: Mapping[str, str]) -> list[tuple[str, str]]:
    """The explanations that are written in one of the modules, as typed or in the words of Python."""
    wanted = {form: each for each in explanations for form in (each, in_python(each))}
    texts = [(name, text) for name, module in modules.items() for text in texts_of(module)]
    return [(name, wanted[form]) for name, text in texts for form in wanted if form in text]


def explanations() -> set[str]:
    """Of all arguments; those that everybody would write alike are too short to be copies."""
    told = [each for about in BY_NAME.values() for each in arguments_of(about)]
    return {each.help for each in (*told, *OF_EVERY_QUESTION, *OF_VIEWS) if len(each.help) > 30}


def test_each_explanation_stands_once() -> None:
    files = [each for pattern in ("*.py", "*.pyi") for each in SOURCE.rglob(pattern)]
    modules = {str(each.relative_to(SOURCE)): each.read_text(encoding="utf-8") for each in files}
    del modules["arguments.py"]
    last = [get_args(each)[-1] for each in vars(arguments).values() if get_origin(each) is Annotated]
    told = [each.help if isinstance(each, Argument) else each for each in last]
    assert len(set(told)) == len(told) > 40
    assert explanations() <= set(told)
    assert repeated(explanations(), modules) == []
    pages = " ".join(plain(each.read_text(encoding="utf-8")) for each in SOURCE.rglob("*.html"))
    assert pages
    assert [each for each in explanations() if each in pages] == []


def test_an_explanation_that_is_written_again_is_found() -> None:
    said = BY_NAME["median"].argument("continuous").help
    first, middle, last = in_python(said).partition(" Only ")
    again = f'def f():\n    """Args:\n    continuous: {first}\n       {middle}\n        {last}\n    """\n'
    assert repeated({said}, {"a": again, "b": "x = 'Instead of --step.'\n"}) == [("a", said)]


Sharpness = Annotated[int, "whole", "How sharp the median is, in --step."]


class SharpMedian(Median, name="sharp_median"):
    """The median, sharply.

    Returns:
        A number.

    Proof: ``proofs/exponential_mechanism.md``.
    """

    sharpness: Sharpness = 3

    def known(self, columns: Columns, /) -> Any:
        ASKED.append(self.sharpness)
        return super().known(columns)


ASKED: list[int] = []
ARGUMENTS: dict[str, Any] = {"bounds": (0, 120), "step": 1, "epsilon": 0.5}


def test_a_declared_question_has_a_method() -> None:
    method = method_of(SharpMedian, of="People", returns="Forecast")
    asked = DryRun(unit="person_id")
    found = method(asked, "age", **ARGUMENTS, sharpness=7)
    assert ASKED.pop() == 7
    assert str(found) == str(asked.median("age", **ARGUMENTS))
    method(asked, "age", **ARGUMENTS)
    assert ASKED.pop() == 3
    parameters = inspect.signature(method).parameters
    assert parameters.keys() == inspect.signature(DryRun.median).parameters.keys() | {"sharpness"}
    assert (parameters["sharpness"].default, parameters["sharpness"].annotation) == (3, "int")
    said = inspect.getdoc(method) or ""
    assert said.startswith("The median, sharply.\n")
    assert "\n    sharpness: How sharp the median is, in `step`.\n" in said
    assert "\n    A release; its value: a number.\n" in said
    with pytest.raises(TypeError, match=r"^People\.sharp_median\(\) got an unexpected keyword argument 'sharpnes'"):
        method(asked, "age", **ARGUMENTS, sharpnes=7)


def test_a_declared_question_has_a_command_with_its_help(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setattr(DryRun, "sharp_median", method_of(SharpMedian, of="DryRun", returns="Forecast"), raising=False)
    command = of_question(SharpMedian)
    typed = [str(ADULT), "age", "--unit", "person_id", "--bounds", "0", "120", "--step", "1", "--epsilon", "0.5"]
    assert command.run(**read(command, [*typed, "--sharpness", "8", "--dry-run"])) == 0
    assert ASKED.pop() == 8
    assert "epsilon = 0.5" in capsys.readouterr().out
    assert command.run(**read(command, [*typed, "--dry-run"])) == 0
    assert ASKED.pop() == 3
    said = plain(help_of(command, brief=False))
    assert "The median, sharply." in said
    assert "--sharpness INTEGER How sharp the median is, in --step. Default: 3." in said


def test_a_declared_question_has_a_form() -> None:
    site = Site(source=str(ADULT), unit="person_id")
    more = [each for each in fields_of(SharpMedian, site) if each not in fields_of(Median, site)]
    assert [(each.name, each.kind, each.help[0], each.default) for each in more] == [
        ("sharpness", "whole", "How sharp the median is, in step.", "3")
    ]
    form = Form.read(SharpMedian, site, {"column": "age", "epsilon": "0.5", "sharpness": "9"})
    assert (form.errors, form.arguments) == ({}, {"column": "age", "sharpness": 9})
    assert Form.read(SharpMedian, site, {"column": "age", "epsilon": "0.5", "sharpness": "2.5"}).errors.keys() == {
        "sharpness"
    }


def test_what_is_declared_elsewhere_is_no_question_of_the_package() -> None:
    assert "sharp_median" not in BY_NAME
    assert not hasattr(dps.Dataset, "sharp_median")


def test_groups_are_not_divided_again() -> None:
    by_city = DryRun(unit="person_id").by("city", groups=["Oslo", "Rome"])
    with pytest.raises(
        dps.errors.InvalidParameterError, match=r"^by='sex': expected a table that is not asked by groups"
    ):
        by_city.by("sex", groups=["f", "m"])
