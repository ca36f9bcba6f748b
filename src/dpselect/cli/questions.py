"""The commands that ask a question of a table, for the parser and the help: one for each of `BY_NAME`.

A command is a function that is made from what the question says of its options, so that a question with other options
needs nothing here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from inspect import Parameter, Signature
from typing import Annotated, Any

import cyclopts
from cyclopts import App

from dpselect import __version__
from dpselect.arguments import REQUIRED
from dpselect.cli.asking import ask
from dpselect.cli.options import NEEDED, OF_GROUPS, OF_QUESTION, SHARED, SOURCE, File, parameter_of, type_of
from dpselect.cli.shared_options import options_of
from dpselect.questions.declared import BY_NAME, Question

_WRITTEN = {
    "whole": "INT",
    "number": "FLOAT",
    "exact": "FLOAT",
    "bounds": "FLOAT FLOAT",
    "ends": "STR STR",
    "numbers or dates": "FLOAT FLOAT",
}
"""What a value is called in a line about usage."""

_PARTS = {"needed": NEEDED, "question": OF_QUESTION, "shared": SHARED, "groups": OF_GROUPS}
"""The parts of the help, as `options_of` calls them."""


def command_of(about: type[Question], *, brief: bool = False) -> Callable[..., int]:
    """The command as a function, whose signature and docstring say what the parser and the help need.

    Args:
        about: the question.
        brief: for a help of one screen: what the question needs and takes itself, each in one sentence.
    """

    def command(source: str, column: str | None = None, *arguments: Any, **options: Any) -> int:
        named = dict(zip(about.positional, arguments, strict=True))
        return ask(about, source, column, options | named)

    parameters = list(_parameters(about, brief))
    name = about.name.replace("_", "-")
    positional, options = about.example
    named: dict[str, Any] = {
        "__name__": about.name,
        "__doc__": f"{about.does}\n\ndpselect {name} {positional} \\\n    {options}",
        "__signature__": Signature(parameters, return_annotation=int),
        "__annotations__": {each.name: each.annotation for each in parameters},
    }
    for attribute, value in named.items():
        setattr(command, attribute, value)
    return command


def _parameters(about: type[Question], brief: bool) -> Iterator[Parameter]:
    """What has to be given comes first, then what only this question takes."""

    def said(help: str) -> str:
        return help.partition(". ")[0].removesuffix(".") + "." if brief else help

    def positional(name: str, type_: object, help: str, default: object = Parameter.empty) -> Parameter:
        annotation = Annotated[type_, cyclopts.Parameter(help=said(help))]
        return Parameter(name, Parameter.POSITIONAL_ONLY, annotation=annotation, default=default)

    column = about.argument("column")
    yield positional("source", File, "A file such as people.csv, or a table on a server." if brief else SOURCE)
    if column.default is REQUIRED:
        yield positional("column", str, column.help)
    else:
        yield positional("column", str | None, column.help, None)
    for name in about.positional:
        yield positional(name, type_of(about.argument(name)), about.argument(name).help)
    for part, options in options_of(about).items():
        if not (brief and part in ("shared", "groups")):
            yield from (parameter_of(option, _PARTS[part], help=said(option.help)) for option in options)


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


def __getattr__(name: str) -> App:
    """The command of a question, made when it is called."""
    if name not in BY_NAME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return app_of(BY_NAME[name])


def app_of(about: type[Question], *, brief: bool = False) -> App:
    """The command of a question for the parser."""
    name = about.name.replace("_", "-")
    more = f"--where, --by, --ledger, --json and others: dpselect {name} --help-all"
    made = App(name=name, usage=usage_of(about), version=__version__, help_epilogue=more if brief else "")
    made.default(command_of(about, brief=brief))
    return made
