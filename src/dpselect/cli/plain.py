"""Reads a question that is typed without a mistake, because the parser takes a tenth of a second to import.

Whatever is not typed in the plainest way is left to the parser: ``--help``, what is missing, unknown, repeated or not a
number, other names of commands, ``--name=value``, and values that begin with a dash. Where both read, they find the
same.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from dpselect.arguments import REQUIRED, Argument, words_of
from dpselect.arguments import read as read_value
from dpselect.cli.shared_options import options_of
from dpselect.errors import InvalidParameterError
from dpselect.questions.declared import BY_NAME, Question


class PlainQuestion(NamedTuple):
    """A question as it was typed: the arguments of `dpselect.cli.asking.ask`."""

    about: type[Question]
    source: str
    column: str | None
    options: dict[str, Any]


class _NotPlainError(Exception):
    """The parser has to read it."""


def read(arguments: Sequence[str]) -> PlainQuestion | None:
    """The question, or None if the parser has to read it.

    >>> asked = read(["count", "adult.csv", "--unit", "person_id", "--epsilon", "0.5"])
    >>> asked.about.name, asked.source, asked.options
    ('count', 'adult.csv', {'unit': 'person_id', 'epsilon': 0.5})
    >>> read(["count", "adult.csv", "--unit", "person_id"]), read(["count", "--help"])
    (None, None)
    """
    name = arguments[0].replace("-", "_") if arguments else ""
    if name not in BY_NAME or "_" in arguments[0]:
        return None
    try:
        return _read(BY_NAME[name], list(arguments[1:]))
    except _NotPlainError:
        return None


def _read(about: type[Question], rest: list[str]) -> PlainQuestion:
    options = [each for part in options_of(about).values() for each in part]
    named = {option_name(each): each for each in options}
    positional, given = list[str](), dict[str, Any]()
    while rest:
        first = rest.pop(0)
        option = named.get(first) if first == "--where" else named.pop(first, None)
        if option is not None:
            value = _value(option, rest)
            given[option.name] = [*given.get(option.name, []), value] if option.kind == "where" else value
        elif first and not first.startswith("-"):
            positional.append(first)
        else:
            raise _NotPlainError
    source, column, own = _arguments(about, positional)
    given |= own
    if any(each.default is REQUIRED and each.name not in given for each in options):
        raise _NotPlainError
    return PlainQuestion(about, source, column, given)


def option_name(option: Argument) -> str:
    """As it is typed."""
    return "--json" if option.kind == "json" else f"--{option.name.replace('_', '-')}"


def _arguments(about: type[Question], given: list[str]) -> tuple[str, str | None, dict[str, Any]]:
    if len(given) == 1 and about.argument("column").default is not REQUIRED:
        return given[0], None, {}
    if len(given) != 2 + len(about.positional):
        raise _NotPlainError
    source, column, *texts = given
    return (
        source,
        column,
        {
            each.name: _value(each, [text])
            for each, text in zip(map(about.argument, about.positional), texts, strict=True)
        },
    )


def _value(option: Argument, rest: list[str]) -> Any:
    """The value that follows an option; it is taken from `rest`."""
    count = words_of(option.kind)
    taken = [rest.pop(0) for _ in range(min(count, len(rest)))]
    if len(taken) < count or any(not each or each.startswith("-") for each in taken):
        raise _NotPlainError
    if option.kind == "levels":  # read with the question, whose errors name it
        return taken[0]
    try:
        return read_value(option.kind, option.name, *taken)
    except InvalidParameterError:
        raise _NotPlainError from None
