"""The commands that ask a question of a table, for the parser and the help: one for each of `COMMANDS`.

A command is a function that is made from what the question says of its options, so that a question with other options
needs nothing here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from inspect import Parameter, Signature
from typing import Any

from cyclopts import App

from dpselect import __version__
from dpselect.cli.asking import ask
from dpselect.cli.help_text import NEEDED, OF_GROUPS, OF_QUESTION, SHARED
from dpselect.cli.options import File, parameter_of, type_of
from dpselect.cli.shared_options import options_of
from dpselect.questions import COMMANDS
from dpselect.questions.command import Command, Option

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


def command_of(about: Command) -> Callable[..., int]:
    """The command as a function, whose signature and docstring say what the parser and the help need."""

    def command(source: str, column: str | None = None, *arguments: Any, **options: Any) -> int:
        named = dict(zip((each.name for each in about.positional), arguments, strict=True))
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


def _parameters(about: Command) -> Iterator[Parameter]:
    """What has to be given comes first, then what only this question takes."""
    yield Parameter("source", Parameter.POSITIONAL_ONLY, annotation=File)
    if about.needs_column:
        yield Parameter("column", Parameter.POSITIONAL_ONLY, annotation=str)
    else:
        yield Parameter("column", Parameter.POSITIONAL_ONLY, annotation=str | None, default=None)
    for option in about.positional:
        yield Parameter(option.name, Parameter.POSITIONAL_ONLY, annotation=type_of(option))
    for part, options in options_of(about).items():
        for option in options:
            yield parameter_of(option, _PARTS[part])


def usage_of(about: Command) -> str:
    """How the command is typed: its arguments, then the options that it requires."""
    arguments = [
        "SOURCE",
        "COLUMN" if about.needs_column else "[COLUMN]",
        *(option.name.upper() for option in about.positional),
    ]
    needed = options_of(about)["needed"]
    options = [f"--{each.name} {_WRITTEN.get(str(each.kind), 'STR')}" for each in needed]
    return " ".join(["Usage: dpselect", about.name.replace("_", "-"), *arguments, *options, "[OPTIONS]"])


def _help(about: Command) -> str:
    positional, options = about.example
    described = [Option("source", "text", _SOURCE), Option("column", "text", about.column), *about.positional]
    described += [each for part in options_of(about).values() for each in part]
    lines = [
        *(about.does, ""),
        *(f"dpselect {about.name.replace('_', '-')} {positional} \\", f"    {options}", "", "Args:"),
        *(f"    {each.name}: {each.help}" for each in described),
    ]
    return "\n".join(lines)


def __getattr__(name: str) -> App:
    """The command of a question, made when it is called."""
    if name not in COMMANDS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    about = COMMANDS[name]
    made = App(name=name.replace("_", "-"), usage=usage_of(about), version=__version__)
    made.default(command_of(about))
    return made
