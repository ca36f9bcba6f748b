"""The commands that ask a question of a table, for the parser and the help: one for each of `BY_NAME`.

A command is a function that is made from what the question says of its options, so that a question with other options
needs nothing here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from inspect import Parameter, Signature
from typing import Any

from cyclopts import App

from dpselect import __version__
from dpselect.arguments import REQUIRED, Argument
from dpselect.cli.asking import ask
from dpselect.cli.options import NEEDED, OF_GROUPS, OF_QUESTION, SHARED, File, parameter_of, type_of
from dpselect.cli.shared_options import options_of
from dpselect.questions.question import BY_NAME, Question

_SOURCE = (
    "CSV, TSV, Parquet, Arrow, ORC, JSON lines or Excel file, text also as .gz or .zst; a quoted glob such as"
    " 'clicks/*.parquet'; the folder of a Delta table; or a PostgreSQL URL."
)
_WRITTEN = {
    "whole": "INT",
    "number": "FLOAT",
    "exact": "FLOAT",
    "bounds": "FLOAT FLOAT",
    "ends": "STR STR",
}
"""What a value is called in a line about usage."""

_PARTS = {"needed": NEEDED, "question": OF_QUESTION, "shared": SHARED, "groups": OF_GROUPS}
"""The parts of the help, as `options_of` calls them."""


def command_of(about: type[Question]) -> Callable[..., int]:
    """The command as a function, whose signature and docstring say what the parser and the help need."""

    def command(source: str, column: str | None = None, *arguments: Any, **options: Any) -> int:
        named = dict(zip(about.positional, arguments, strict=True))
        return ask(about, source, column, options | named)

    parameters = list(_parameters(about))
    signature = Signature(parameters, return_annotation=int)
    named: dict[str, Any] = {
        "__name__": about.name,
        "__doc__": _help(about),
        "__signature__": signature,
        "__annotations__": {each.name: each.annotation for each in parameters},
    }
    for name, value in named.items():
        setattr(command, name, value)
    return command


def _parameters(about: type[Question]) -> Iterator[Parameter]:
    """What has to be given comes first, then what only this question takes."""
    yield Parameter("source", Parameter.POSITIONAL_ONLY, annotation=File)
    if about.argument("column").default is REQUIRED:
        yield Parameter("column", Parameter.POSITIONAL_ONLY, annotation=str)
    else:
        yield Parameter("column", Parameter.POSITIONAL_ONLY, annotation=str | None, default=None)
    for name in about.positional:
        yield Parameter(name, Parameter.POSITIONAL_ONLY, annotation=type_of(about.argument(name)))
    for part, options in options_of(about).items():
        for option in options:
            yield parameter_of(option, _PARTS[part])


def usage_of(about: type[Question]) -> str:
    """How the command is typed: its arguments, then the options that it requires."""
    arguments = [
        "SOURCE",
        "COLUMN" if about.argument("column").default is REQUIRED else "[COLUMN]",
        *map(str.upper, about.positional),
    ]
    needed = options_of(about)["needed"]
    options = [f"--{each.name} {_WRITTEN.get(str(each.kind), 'STR')}" for each in needed]
    return " ".join(["Usage: dpselect", about.name.replace("_", "-"), *arguments, *options, "[OPTIONS]"])


def _help(about: type[Question]) -> str:
    positional, options = about.example
    described = [Argument("text", _SOURCE, "source"), *map(about.argument, ("column", *about.positional))]
    described += [each for part in options_of(about).values() for each in part]
    lines = [
        *(about.does, ""),
        *(f"dpselect {about.name.replace('_', '-')} {positional} \\", f"    {options}", "", "Args:"),
        *(f"    {each.name}: {each.help}" for each in described),
    ]
    return "\n".join(lines)


def __getattr__(name: str) -> App:
    """The command of a question, made when it is called."""
    if name not in BY_NAME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    about = BY_NAME[name]
    made = App(name=name.replace("_", "-"), usage=usage_of(about), version=__version__)
    made.default(command_of(about))
    return made
