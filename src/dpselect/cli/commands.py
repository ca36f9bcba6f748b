"""The commands as data: what each takes, and what runs it. What reads them and what shows them are apart.

The command of a question follows from what the question declares. Any other one is a function: each of its arguments
has a type, or an `Argument` as annotation, and its explanation there or in the docstring.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from importlib import import_module
from inspect import cleandoc, signature
from typing import Annotated, Any, get_args, get_origin, get_type_hints

from dpselect.arguments import REQUIRED, Argument, WrittenAs
from dpselect.privacy import Neighbours, Times
from dpselect.questions.question import BY_NAME

Run = Callable[..., int | None]

_WORDS = {Neighbours: Neighbours, Times: Times}
_KINDS: dict[object, WrittenAs] = {str: "any text", int: "whole", float: "number", bool: "flag", **_WORDS}
"""How the arguments of functions are written."""

Table = Annotated[
    str,
    Argument(
        "any text",
        "CSV, TSV, Parquet, Arrow, ORC, JSON lines or Excel file, text also as .gz or .zst; a quoted glob such as"
        " 'clicks/*.parquet'; the folder of a Delta table; or a PostgreSQL URL.",
        "source",
    ),
]
"""The table of a question."""


class Part(StrEnum):
    """The parts of a help, in this order, after the arguments: what has to be given comes first."""

    NEEDED = "Required options"
    OPTIONS = "Options"
    OF_QUESTION = "Options of this question"
    OF_GROUPS = "Options for some rows, or one answer per group"
    OF_ALL = "Options of every question"
    UNSHOWN = ""


Parts = Mapping[Part, Sequence[Argument]]


@dataclass(frozen=True, slots=True)
class Command:
    """A command: what its name is, what its help says of it, what is typed without names, and its options, by parts.

    `run` takes all of them by name; its result is the exit status, None for 0.
    """

    name: str
    about: str
    positional: Sequence[Argument]
    parts: Parts
    run: Run

    @property
    def options(self) -> list[Argument]:
        """All of them."""
        return [each for part in self.parts.values() for each in part]


def option_name(option: Argument) -> str:
    """As it is typed."""
    return "--json" if option.kind == "json" else f"--{option.name.replace('_', '-')}"


def with_options(parts: Parts) -> Callable[[Run], Run]:
    """Give a command more options, which it takes as keywords: by the parts above."""

    def decorated(run: Run) -> Run:
        vars(run)["parts"] = parts
        return run

    return decorated


def _declared(hint: Any) -> Argument:
    """What a function says of an argument: by an `Argument`, or by its type alone; perhaps beside None."""
    parts = (hint, *get_args(hint))
    said = [get_args(each)[1] for each in parts if get_origin(each) is Annotated]
    return said[0] if said else Argument(next(_KINDS[each] for each in parts if each in _KINDS), "")


def of_function(name: str, run: Run) -> Command:
    """The command that a function declares."""
    about, _, described = cleandoc(run.__doc__ or "").partition("\nArgs:\n")
    found = re.findall(r"^    (\w+): (.*(?:\n     .*)*)", described, re.MULTILINE)
    explained = {of: " ".join(text.split()) for of, text in found}
    hints, positional = get_type_hints(run, include_extras=True), list[Argument]()
    parts: dict[Part, list[Argument]] = {Part.NEEDED: [], Part.OPTIONS: []}
    for each in signature(run).parameters.values():
        if each.kind in (each.POSITIONAL_ONLY, each.VAR_KEYWORD):  # which nobody types
            continue
        is_json = each.name == "as_json"
        said = Argument("json", "Print JSON instead of text.") if is_json else _declared(hints[each.name])
        default = REQUIRED if each.default is each.empty else each.default
        found = replace(said, name=each.name, help=explained.get(each.name, said.help), default=default)
        part = Part.NEEDED if default is REQUIRED else Part.OPTIONS
        (parts[part] if each.kind is each.KEYWORD_ONLY else positional).append(found)
    more: Parts = vars(run).get("parts", {})
    return Command(name, about.partition("\nReturns:\n")[0].rstrip(), positional, {**parts, **more}, run)


QUESTIONS = tuple(name.replace("_", "-") for name in BY_NAME)
"""The commands that ask a question of a table."""

_MODULES = {
    "check": "check columns",
    "claims": "audit verify",
    "plan": "plan",
    "asking": "run serve",
    "ledger": "open show history limit close verify anchor backup",
    "doctor": "doctor",
    "help": "completion",
}
"""The other commands, by the module of their functions, which is imported when one is called or listed."""

_PLACES = {
    f"ledger {each}" if module == "ledger" else each: (module, each)
    for module, functions in _MODULES.items()
    for each in functions.split()
}

NAMES = (*QUESTIONS, *_PLACES)


def command(name: str) -> Command:
    """The command of this name."""
    if name in QUESTIONS:
        return _found("asking", "of_question")(BY_NAME[name.replace("-", "_")])
    return of_function(name, _found(*_PLACES[name]))


def _found(module: str, function: str) -> Any:
    return getattr(import_module(f"dpselect.cli.{module}"), function)
