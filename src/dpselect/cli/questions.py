"""The commands that ask a question of a table: one for each `dpselect.questions.command.Command` of the registry.

A command is a function that is made from what the question says of its options, so that a question with other options
needs nothing here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from inspect import Parameter, Signature
from typing import Annotated, Any, Literal

from cyclopts import App
from cyclopts import Parameter as OptionFormat

from dpselect import __version__
from dpselect.cli.help_text import NEEDED, OF_QUESTION, grouped
from dpselect.cli.options import Bounds, BoundsOrPrivate, File, Flag, Number, Step, Text, Whole
from dpselect.cli.question_options import CandidateOptions, GroupOptions, OptionalCandidateOptions, QuestionOptions
from dpselect.errors import InvalidParameterError, typed
from dpselect.plans import written_lists as public
from dpselect.questions import COMMANDS
from dpselect.questions.command import REQUIRED, Command, Option

_SOURCE = (
    "CSV, TSV, Parquet, Arrow, ORC, JSON lines or Excel file, text also as .gz or .zst; a quoted glob such as"
    " 'clicks/*.parquet'; the folder of a Delta table; or a PostgreSQL URL."
)
_TYPES: dict[object, Any] = {
    "text": str,
    "whole": Whole,
    "number": Number,
    "exact": Step,
    "flag": Flag,
    "bounds": Bounds,
    "bounds or private": BoundsOrPrivate,
    "ends": Annotated[tuple[str, str], OptionFormat(negative="")],
    "levels": Text,
    "prices": Text,
    "dates": Text,
    "values": Text,
}
"""How the values of an option are typed, by `Option.kind`."""

_WRITTEN = {
    "whole": "INT",
    "number": "FLOAT",
    "exact": "FLOAT",
    "bounds": "FLOAT FLOAT",
    "bounds or private": "FLOAT FLOAT",
    "ends": "STR STR",
}
"""What a value is called in a line about usage."""


def numbers_read(text: str, name: str, private: str) -> list[Any]:
    """Numbers separated by commas, or those of a public file, which is not the `private` one.

    Raises:
        InvalidParameterError: they are no numbers, or the file is the private one.
    """
    if text.startswith("@"):
        return list(public.parsed_prices(text, private=private, argument=name))
    try:
        return [float(level) for level in text.split(",")]
    except ValueError:
        raise InvalidParameterError(name, typed(text), "numbers separated by commas, such as 0.25,0.5") from None


def _read(option: Option, given: Any, source: str) -> Any:
    """The value of an option as the question takes it."""
    if given is None:
        return None
    match option.kind:
        case "levels":
            return numbers_read(given, option.name, source)
        case "prices":
            return public.parsed_prices(given, private=source)
        case "dates":
            return public.parsed_dates(given, private=source)
        case _:
            return given


def command_of(about: Command) -> Callable[..., int]:
    """The command as a function, whose signature and docstring say what the parser and the help need."""
    own = (*about.positional, *about.options)

    def command(source: str, column: str | None = None, *arguments: Any, **options: Any) -> int:
        shared: QuestionOptions = options["shared"]
        groups: GroupOptions = options.get("groups", GroupOptions())
        options |= dict(zip((each.name for each in about.positional), arguments, strict=True))
        values = {each.name: _read(each, options[each.name], source) for each in own if each.name in options}

        def ask(data: Any) -> Any:
            for each in own:
                given = values.get(each.name)
                if each.kind == "values" and given is not None:
                    kinds = () if column is None else data.candidate_kinds(column)
                    values[each.name] = public.parsed(given, fitting=kinds, private=source, argument=each.name)
            if about.chooses:
                may_be_one = not about.needs_several
                listed = options.get("candidates", OptionalCandidateOptions())
                values.update(listed.among(data, column, source, may_be_one=may_be_one))
            values.update(groups.among(data, source))
            values.update(epsilon=shared.epsilon, usable_epsilon=shared.usable_epsilon, request=shared.request)
            return _method(data, about)(column, **values)

        return shared.answer(source, ask)

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


def _method(data: Any, about: Command) -> Callable[..., Any]:
    found = getattr(data, about.name, None)
    if found is None:
        raise NotImplementedError(
            f"The registry dpselect.questions.QUESTIONS has the command {about.name!r}, but Dataset has no method of "
            "this name. Add it to dpselect.session.choices or dpselect.session.numbers."
        )
    return found


def _parameters(about: Command) -> Iterator[Parameter]:
    """What has to be given comes first, then what only this question takes."""
    yield Parameter("source", Parameter.POSITIONAL_ONLY, annotation=File)
    if about.needs_column:
        yield Parameter("column", Parameter.POSITIONAL_ONLY, annotation=str)
    else:
        yield Parameter("column", Parameter.POSITIONAL_ONLY, annotation=str | None, default=None)
    for option in about.positional:
        yield Parameter(option.name, Parameter.POSITIONAL_ONLY, annotation=_TYPES[option.kind])
    if about.chooses:
        if about.needs_list:
            yield Parameter("candidates", Parameter.KEYWORD_ONLY, annotation=CandidateOptions)
        else:
            kind = OptionalCandidateOptions
            yield Parameter("candidates", Parameter.KEYWORD_ONLY, annotation=kind, default=kind())
    for option in about.options:
        if option.default is REQUIRED:
            yield Parameter(option.name, Parameter.KEYWORD_ONLY, annotation=grouped(_type_of(option), NEEDED))
    yield Parameter("shared", Parameter.KEYWORD_ONLY, annotation=QuestionOptions)
    for option in about.options:
        if option.default is not REQUIRED:
            type_ = _type_of(option) | None if option.default is None else _type_of(option)
            of_question = grouped(type_, OF_QUESTION)
            yield Parameter(option.name, Parameter.KEYWORD_ONLY, annotation=of_question, default=option.default)
    yield Parameter("groups", Parameter.KEYWORD_ONLY, annotation=GroupOptions, default=GroupOptions())


def _type_of(option: Option) -> Any:
    return Literal[option.kind] if isinstance(option.kind, tuple) else _TYPES[option.kind]


def usage_of(about: Command) -> str:
    """How the command is typed: its arguments, then the options that it requires."""
    arguments = [
        "SOURCE",
        "COLUMN" if about.needs_column else "[COLUMN]",
        *(option.name.upper() for option in about.positional),
    ]
    listed = [Option("candidates", "text", "")] if about.chooses and about.needs_list else []
    needed = [*listed, *about.options, Option("unit", "text", ""), Option("epsilon", "number", "")]
    options = [f"--{each.name} {_WRITTEN.get(str(each.kind), 'STR')}" for each in needed if each.default is REQUIRED]
    return " ".join(["Usage: dpselect", about.name.replace("_", "-"), *arguments, *options, "[OPTIONS]"])


def _help(about: Command) -> str:
    positional, options = about.example
    described = [Option("source", "text", _SOURCE), Option("column", "text", about.column)]
    described += [*about.positional, *about.options]
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
