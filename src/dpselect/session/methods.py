"""The methods of a data set, one for each question, made from what the question declares.

`methods.pyi` states them for type checkers and editors; ``make readme`` writes it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from inspect import Parameter, Signature, cleandoc
from textwrap import fill
from typing import Any

from dpselect.arguments import IN_PYTHON, OF_EVERY_QUESTION, OF_VIEWS, REQUIRED, Argument, arguments_of
from dpselect.errors import OTHER_WORDS, did_you_mean, words_meant
from dpselect.questions.question import BY_NAME, Question
from dpselect.session.asking import Asking, GroupedQuestions

_RAISES = """\
Raises:
    InvalidCandidatesError: a public list is missing or invalid.
    InvalidDataError: there is no such column, or its type does not fit.
    InvalidParameterError: another argument is invalid. Nothing is read, charged or drawn then.
"""


def method_of(question: type[Question], *, of: str, returns: object) -> Callable[..., Any]:
    """The method that asks a question: it makes the question of its arguments, and has it answered.

    Args:
        question: its class.
        of: the class that people call it by, in errors.
        returns: the type that it returns; as text, with ``{value}`` for the type of the question's value.
    """
    signature = signature_of(question, returns=returns)
    checks = [(each.name, each.check) for each in arguments_of(question) if each.check is not None]
    lists: dict[str, Any] = {each.name: None for each in arguments_of(question) if each.is_list}

    def method(self: Asking, *args: Any, **given: Any) -> Any:
        try:
            arguments = signature.bind(self, *args, **lists | given).arguments
        except TypeError as error:
            said = _unexpected(question, given, signature) or str(error)
            start = "" if said.startswith(("got", "missing")) else "got "
            raise TypeError(f"{of}.{question.name}() {start}{said}") from None
        del arguments["self"]
        for name, check in checks:
            if name in arguments:
                arguments[name] = check(arguments[name], name)
        besides = arguments.pop("usable_epsilon", None), arguments.pop("request", None)
        return self._answer(question(**arguments), *besides)  # pyright: ignore[reportPrivateUsage] - of its own class

    method.__name__, method.__qualname__, method.__doc__ = question.name, f"{of}.{question.name}", doc_of(question)
    vars(method)["__signature__"] = signature
    return method


def _unexpected(question: type[Question], given: Mapping[str, Any], signature: Signature) -> str:
    """What is wrong with the first argument that the question does not have, and what may be meant; empty if none."""
    unknown = next((name for name in given if name not in signature.parameters), None)
    if unknown is None:
        return ""
    views, of_others = [each.name for each in OF_VIEWS], ("max_rows_per_unit", "max_values_per_unit")
    if unknown in views or (unknown not in of_others and words_meant(unknown, views, said=OTHER_WORDS)):
        hint = f"Say it first: data.by('city', groups=[...]) or data.where(age=(18, None)), then .{question.name}(...)"
    else:
        hint = did_you_mean(unknown, [*signature.parameters][1:], said=OTHER_WORDS)
    return f"got an unexpected keyword argument {unknown!r}{'. ' * bool(hint)}{hint}"


def signature_of(question: type[Question], *, returns: object = None) -> Signature:
    """What the method takes: first what may be given without its name."""
    first = ("column", *question.positional)
    listed = (*_in_order(question), *OF_EVERY_QUESTION)
    parameters = [Parameter("self", Parameter.POSITIONAL_OR_KEYWORD)]
    for each in listed:
        kind = Parameter.POSITIONAL_OR_KEYWORD if each.name in first else Parameter.KEYWORD_ONLY
        default = Parameter.empty if each.default is REQUIRED else each.default
        parameters.append(Parameter(each.name, kind, default=default, annotation=each.type))
    if isinstance(returns, str):
        returns = returns.format(value=question.value)
    return Signature(parameters, return_annotation=returns)


def _in_order(question: type[Question]) -> list[Argument]:
    """Its arguments, first those that may be given without their names."""
    first = ("column", *question.positional)
    return sorted(arguments_of(question), key=lambda each: first.index(each.name) if each.name in first else len(first))


def doc_of(question: type[Question]) -> str:
    """Its docstring, with its arguments before what is returned."""
    asked, _, rest = cleandoc(question.__doc__ or "").partition("Returns:\n")
    returned, _, proof = rest.partition("Proof:")
    listed = "".join(map(_explained, (*_in_order(question), *OF_EVERY_QUESTION)))
    value = " ".join(returned.split())
    value = _filled(f"A release; its value: {value[:1].lower()}{value[1:]}" if value else "A release.", " " * 4)
    return f"{asked}Args:\n{listed}\nReturns:\n{value}\n{_RAISES}\nProof:{proof}"


def _explained(each: Argument) -> str:
    return _filled(f"{each.name}: {in_python(each.help)}", " " * 8)


def _filled(text: str, indent: str) -> str:
    return fill(text, 116, initial_indent=" " * 4, subsequent_indent=indent) + "\n"


_OPTION, _PLACEHOLDER = re.compile(r"--([a-z]+(?:-[a-z]+)*)"), re.compile(r"\b(COLUMN|SUM|LEVEL|K)\b")


def in_python(help: str) -> str:
    """An explanation with the names of arguments and the lists as Python has them.

    >>> in_python("No --max-rows-per-unit; of COLUMN: 1..100, red,green,blue, @file or @codes.csv:column.")
    'No `max_rows_per_unit`; of `column`: a range, a list, an array or a frame of one column.'
    """
    for typed, taken in IN_PYTHON.items():
        help = help.replace(typed, taken)
    named = _OPTION.sub(lambda found: f"`{found[1].replace('-', '_')}`", help)
    return _PLACEHOLDER.sub(lambda found: f"`{found[1].lower()}`", named)


def with_questions(family: type[Any], *, of: str = "Dataset", returns: object = "Release[{value}]") -> type[Any]:
    """The class with a method for each question; see `method_of`."""
    for name in BY_NAME:
        setattr(family, name, _MethodOnUse(family, name, of=of, returns=returns))
    return family


class _MethodOnUse:
    """In place of a method, which is made when it is first looked up: most programs ask few of the questions."""

    def __init__(self, family: type[Any], name: str, **how: Any) -> None:
        self._family, self._name, self._how = family, name, how

    def __get__(self, asked: Asking | None, owner: type[Any]) -> Any:
        method: Any = method_of(BY_NAME[self._name], **self._how)
        setattr(self._family, self._name, method)
        return method.__get__(asked, owner)


class PlainQuestions(Asking):
    """The questions of a table."""

    __slots__ = ()


with_questions(PlainQuestions)
with_questions(GroupedQuestions, returns="Release[dict[Any, {value}]]")
