"""The types of a data set's methods, from what questions declare: ``python docs/stubs.py`` writes them.

``src/dpselect/session/asking.pyi`` is kept up to date by ``make readme``; a test compares the two.
"""

from __future__ import annotations

from collections.abc import Callable
from inspect import Parameter
from pathlib import Path

from dpselect.arguments import arguments_of
from dpselect.questions.question import BY_NAME, Question
from dpselect.session.asking import signature_of

PLACE = Path(__file__).parent.parent / "src" / "dpselect" / "session" / "asking.pyi"

_WIDTH = 120

_BEGINNING = '''\
"""The methods of a data set, for type checkers and editors: written by ``make readme``, from what questions declare."""

from collections.abc import Callable, Mapping, Sequence
from datetime import date
from fractions import Fraction
from inspect import Signature
from typing import Any, Literal, Self, overload

from dpselect.certificates.release import Release
from dpselect.privacy import Neighbours
from dpselect.questions.question import Question
from dpselect.rows.table import Rows
from dpselect.session.answering import TableQuestion
from dpselect.summaries import PublicGroups

class Asking:
    _groups: PublicGroups | None
    _neighbours: Neighbours
    _reply: Callable[[list[TableQuestion]], list[Any]]
    _rows: Rows
    def __init_subclass__(cls, *, of: str = "Dataset", returns: str = "Release[{value}]") -> None: ...
    def by(self, by: str | Sequence[str], *, groups: object = None, max_groups_per_unit: int = 1) -> Any: ...
    def where(self, conditions: Mapping[str, Any] | None = None, /, **named: Any) -> Self: ...

def rows_of(asked: Asking) -> Rows: ...
def groups_of(asked: Asking) -> PublicGroups | None: ...
def planner(asked: Asking) -> PlainQuestions: ...
def method_of(question: type[Question], *, of: str, returns: str) -> Callable[..., Any]: ...
def signature_of(question: type[Question], *, returns: str = "") -> Signature: ...
def doc_of(question: type[Question]) -> str: ...
def table_of_example(question: type[Question]) -> str: ...
def in_python(help: str) -> str: ...
'''

_BY = """\
    def by(
        self, by: str | Sequence[str], *, groups: object = None, max_groups_per_unit: int = 1
    ) -> GroupedQuestions: ...
"""
"""A table that is seen by groups has no smaller ones."""


def text() -> str:
    """The stub as it is stored."""
    plain = _class("PlainQuestions", lambda value: f"Release[{value}]")
    grouped = _class("GroupedQuestions", lambda value: f"Release[dict[Any, {value}]]")
    return "\n".join([_BEGINNING, plain + _BY, grouped])


def _class(name: str, returns: Callable[[str], str]) -> str:
    methods = "".join(_methods(each, returns) for each in BY_NAME.values())
    return f"class {name}(Asking):\n{methods}"


def _methods(question: type[Question], returns: Callable[[str], str]) -> str:
    """The method; twice if its bounds are numbers or dates, because the answer then is as they are."""
    if not any(each.kind == "numbers or dates" for each in arguments_of(question)):
        return _method(question, returns(question.value))
    of_numbers = _method(question, returns(question.value)).replace(OF_DATES, "")
    of_dates = _method(question, returns(question.value.replace("float", "date")))
    of_dates = of_dates.replace(f"{OF_NUMBERS}", "").replace(f"{OF_DATES[3:]} | None = None", OF_DATES[3:])
    return f"    @overload\n{of_numbers}    @overload\n{of_dates}"


OF_NUMBERS, OF_DATES = "tuple[float, float] | ", " | tuple[date | str, date | str]"


def _method(question: type[Question], returns: str) -> str:
    """A method, on as few lines as the formatter leaves it."""
    listed, is_named = ["self"], False
    for each in [*signature_of(question).parameters.values()][1:]:
        if each.kind is Parameter.KEYWORD_ONLY and not is_named:
            listed.append("*")
            is_named = True
        default = "" if each.default is Parameter.empty else f" = {each.default!r}"
        listed.append(f"{each.name}: {each.annotation}{default}".replace("'", '"'))
    first, last = f"    def {question.name}(", f") -> {returns}: ..."
    joined = ", ".join(listed)
    if len(first + joined + last) <= _WIDTH:
        return f"{first}{joined}{last}\n"
    if len(joined) + 8 <= _WIDTH:
        return f"{first}\n        {joined}\n    {last}\n"
    lines = "".join(f"        {each},\n" for each in listed)
    return f"{first}\n{lines}    {last}\n"


if __name__ == "__main__":
    PLACE.write_text(text(), encoding="utf-8")
