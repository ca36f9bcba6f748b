"""Reads a question that is typed without a mistake, because the parser takes a tenth of a second to import.

Whatever is not typed in the plainest way is left to the parser: ``--help``, what is missing, unknown, repeated or not a
number, other names of commands, ``--name=value``, and values that begin with a dash. Where both read, they find the
same.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import Any, NamedTuple

from dpselect.arguments import REQUIRED, Argument
from dpselect.cli.shared_options import options_of
from dpselect.questions.declared import BY_NAME, Question
from dpselect.written_numbers import decimal, whole


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
    named = {option_name(each): each for each in options if each.name != "show_columns"}
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
    kind = option.kind
    if isinstance(kind, str):
        count, convert = _KINDS[kind]
        taken = [rest.pop(0) for _ in range(min(count, len(rest)))]
        if len(taken) < count or any(not each or each.startswith("-") for each in taken):
            raise _NotPlainError
        return convert(*taken)
    words: dict[str, Any] = {each: each for each in kind} if isinstance(kind, tuple) else _words(kind)
    word = rest.pop(0) if rest else ""
    if word not in words:
        raise _NotPlainError
    return words[word]


def _words(kind: type[StrEnum]) -> dict[str, StrEnum]:
    return {each.name.lower().replace("_", "-"): each for each in kind}


def _text(text: str) -> str:
    return text


def _whole(text: str) -> int:
    number = whole(text)
    if number is None:
        raise _NotPlainError
    return number


def _number(text: str) -> float:
    try:
        if "_" not in text:
            return float(text)
    except ValueError:
        pass
    raise _NotPlainError


def _exact(text: str) -> Any:
    try:
        return decimal(text)
    except ValueError:
        raise _NotPlainError from None


def _both(lower: str, upper: str) -> tuple[Any, Any]:
    return _exact(lower), _exact(upper)


def _ends(first: str, last: str) -> tuple[str, str]:
    return first, last


def _flag() -> bool:
    return True


_KINDS: dict[str, tuple[int, Callable[..., Any]]] = {
    **dict.fromkeys(("text", "any text", "levels", "prices", "dates", "values", "list", "where"), (1, _text)),
    **dict.fromkeys(("flag", "json"), (0, _flag)),
    "whole": (1, _whole),
    "number": (1, _number),
    "exact": (1, _exact),
    "bounds": (2, _both),
    "ends": (2, _ends),
}
"""How many values follow, and what they are read as, by `Argument.kind`."""
