"""Errors in the words of the command line: the one place where names of arguments become names of options."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from cyclopts import App, CycloptsError, MissingArgumentError

from dpselect.errors import InvalidParameterError, SelectionError

Names = Mapping[str, str]
"""What the arguments of a command are called where it is typed, by their names in Python."""

_ELSEWHERE = {"allow_many": "--yes", "kind": "--candidates-as"}
_HINTS = {
    "--candidates": "They are public values, never read from the column.",
    "--bounds": "It takes two public numbers, the smallest and the largest answer.",
    "--clip": "It takes two public numbers, the least and the most that one unit adds.",
    "--unit": "It is the column that says whose row it is; where each row is somebody else's, number the rows "
    "(docs/choosing.md).",
}
_PAIRS = ("--bounds", "--clip")
_GIVEN = re.compile(r"\b([a-z_]+)=(True\b|range\([0-9, ]+\)|\[[0-9., ]+\]|'[^']*'|-?[0-9.]+[0-9])")
_RANGE = re.compile(r"range\((\d+), (\d+)\)")
_FRACTION = re.compile(r"\bFraction\((\d+), (\d+)\)")
_NOTHING = re.compile(r"\bNone\b")
_IN_PYTHON = ", datetime.date, or timestamps at midnight without a time zone"
_UNDERSCORED = re.compile(r"\b[a-z]+(?:_[a-z]+)+\b")


def names_of(app: App, arguments: Sequence[str]) -> Names:
    """The names of the command that `arguments` call."""
    _, apps, _ = app.parse_commands(list(arguments))
    try:
        found = apps[-1].assemble_argument_collection()
    except (CycloptsError, ValueError):  # no command at all
        return _ELSEWHERE
    named = {argument.field_info.name: argument.name for argument in found}
    named |= {name: typed for name, typed in _ELSEWHERE.items() if typed in named.values()}
    return named


def in_words(error: SelectionError, names: Names) -> str:
    """What `error` says, of options instead of arguments."""
    if not isinstance(error, InvalidParameterError):
        return str(error)
    name = names.get(error.name.replace("-", "_"), error.name)
    came = f"{name} is missing" if error.got == "None" else f"{name}={error.got}"
    return f"{came}: expected {_translated(f'{error.expected}. {error.hint}', names)}".rstrip()


def missing(error: CycloptsError, arguments: Sequence[str]) -> str:
    """What is wrong with `arguments`, where the parser's own text would mislead."""
    for option in _PAIRS:
        if (given := _after(option, arguments)) is not None and len(given) < 2:
            return f"{option} takes two values, not {_counted(given)}. {_HINTS[option]} See --help."
    if not isinstance(error, MissingArgumentError):
        return str(error)
    argument = error.argument
    name = argument.name if argument is not None else ""
    if argument is None or not name or list(argument.tokens):
        return str(error)
    if not argument.required:
        return f"{name} needs a value. See --help."
    hint = f" {_HINTS[name]}" if name in _HINTS else ""
    return f"{name} is required.{hint} See --help."


def _after(option: str, arguments: Sequence[str]) -> list[str] | None:
    """The values that were typed behind `option`, two at most; None if it was not typed."""
    for place, each in enumerate(arguments):
        if each == option or each.startswith(option + "="):
            inline = [each.partition("=")[2]] if "=" in each else []
            following: list[str] = []
            for value in arguments[place + 1 : place + 3]:
                if value.startswith("--"):
                    break
                following.append(value)
            return [*inline, *following][:2]
    return None


def _counted(given: Sequence[str]) -> str:
    return "one" if given else "none"


def _translated(text: str, names: Names) -> str:
    def option(found: re.Match[str]) -> str:
        name, value = found.groups()
        if name not in names:
            return found[0]
        return names[name] if value == "True" else f"{names[name]} {_typed(value, name)}"

    text = text.replace(_IN_PYTHON, "")
    text = _FRACTION.sub(r"\1/\2", _GIVEN.sub(option, text))
    text = _NOTHING.sub("nothing", text)
    return _UNDERSCORED.sub(lambda found: names.get(found[0], found[0]), text)


def _typed(value: str, name: str) -> str:
    """A value of Python, as it is typed behind an option."""
    if (ends := _RANGE.fullmatch(value)) is not None:
        return f"{ends[1]}..{int(ends[2]) - 1}"
    plain = value.strip("[]'").replace(", ", ",")
    return plain.replace("_", "-") if name == "neighbours" else plain
