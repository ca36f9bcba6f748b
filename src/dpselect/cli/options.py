"""Options and questions as the parser and the help have them: types of values, the parts of ``--help``, and for each
question a command, made from what it declares.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator, Sequence
from functools import wraps
from inspect import Parameter as Taken
from inspect import Signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar, cast

from cyclopts import App, CoercionError, Group, Parameter, Token

from dpselect import __version__
from dpselect.arguments import REQUIRED, Argument, Written, read
from dpselect.cli.asking import ask
from dpselect.cli.shared_options import option_name, options_of
from dpselect.errors import InvalidParameterError, typed
from dpselect.questions.question import BY_NAME, Question

Command = TypeVar("Command", bound=Callable[..., object])

_FOLD = re.compile(r"\n {12,}")
"""Where the description of an argument continues in the next line of a docstring."""

_SHOWN = 40
"""Characters of a word that an error quotes."""

NEEDED = Group("Required options", sort_key=1)
OF_QUESTION = Group("Options of this question", sort_key=2)
OF_GROUPS = Group("Options for some rows, or one answer per group", sort_key=3)
SHARED = Group("Options of every question", sort_key=4)
"""The parts of a question's help, in this order, after its arguments: what has to be given comes first."""

_PARTS = {"needed": NEEDED, "question": OF_QUESTION, "shared": SHARED, "groups": OF_GROUPS}
"""The same, as `options_of` calls them."""


def _reader(kind: Written | None) -> Callable[[object, Sequence[Token]], Any]:
    """Reads as `dpselect.arguments` does; the parser itself would round 2.7 to 3. Errors name the option.

    None: a fraction exactly; a decimal as the double that it is as the epsilon of a question, which so fits into a
    limit with the same epsilon.
    """

    def convert(_: object, tokens: Sequence[Token]) -> Any:
        written = kind or ("exact" if "/" in tokens[0].value else "number")
        try:
            return read(written, "", *(each.value for each in tokens))
        except InvalidParameterError as error:
            (wrong, *_) = [each for each in tokens if typed(each.value) == error.got] or tokens
            if wrong.keyword is None:  # only the parser knows the name of an argument without dashes
                raise CoercionError(token=wrong, target_type=int if kind == "whole" else float) from None
            said = f"expected {error.expected}, not {wrong.value[:_SHOWN]!r}"
            raise CoercionError(msg=said, token=wrong) from None

    return convert


def _as_typed(kind: object, tokens: Sequence[Token]) -> str:
    return tokens[0].value


if TYPE_CHECKING:
    File = str
else:
    File = Annotated[Path, Parameter(converter=_as_typed)]
"""The name of a file, a glob or a URL, as it was typed; shells complete it as the name of a file."""

_SOURCE = (
    "CSV, TSV, Parquet, Arrow, ORC, JSON lines or Excel file, text also as .gz or .zst; a quoted glob such as"
    " 'clicks/*.parquet'; the folder of a Delta table; or a PostgreSQL URL."
)
Table = Annotated[File, Parameter(help=_SOURCE)]
"""The table of a question."""

Whole = Annotated[int, Parameter(allow_leading_hyphen=True, converter=_reader("whole"))]
Text = Annotated[str, Parameter(allow_leading_hyphen=True)]
Number = Annotated[float, Parameter(allow_leading_hyphen=True, converter=_reader("number"))]
Limit = Annotated[float, Parameter(allow_leading_hyphen=True, converter=_reader(None))]
"""A decimal or a fraction, for what is compared exactly."""
Flag = Annotated[bool, Parameter(negative="", show_default=False)]
Json = Annotated[bool, Parameter(name="--json", negative="", show_default=False, help="Print JSON instead of text.")]

_TWO: dict[str, Any] = {"allow_leading_hyphen": True, "negative": "", "n_tokens": 2}
_TYPES: dict[str, Any] = {
    "text": str,
    "whole": Whole,
    "number": Number,
    "exact": Annotated[float, Parameter(allow_leading_hyphen=True, converter=_reader("exact"))],
    "flag": Flag,
    "json": Json,
    "bounds": Annotated[tuple[float, float], Parameter(converter=_reader("bounds"), **_TWO)],
    "numbers or dates": Annotated[
        tuple[float | str, float | str], Parameter(converter=_reader("numbers or dates"), **_TWO)
    ],
    "ends": Annotated[tuple[str, str], Parameter(negative="")],
    "where": Annotated[list[str], Parameter(allow_leading_hyphen=True, negative=())],
}
"""How values are typed, by `Argument.kind`; others as `Text`."""

_WRITTEN = {
    "whole": "INT",
    "number": "FLOAT",
    "exact": "FLOAT",
    "bounds": "FLOAT FLOAT",
    "ends": "STR STR",
    "numbers or dates": "FLOAT FLOAT",
}
"""What a value is called in a line about usage."""


def type_of(option: Argument) -> Any:
    """How the value of an option is typed."""
    kind: Any = option.kind
    type_: Any = _TYPES.get(kind, Text) if isinstance(kind, str) else Literal[kind] if isinstance(kind, tuple) else kind
    return type_ | None if option.default is None else type_


def parameter_of(option: Argument, group: Group | None, *, help: str | None = None) -> Taken:
    """The option as a parameter of a command, in this part of the help; None: not shown."""
    default = Taken.empty if option.default is REQUIRED else option.default
    type_ = Annotated[type_of(option), Parameter(group=group, show=group is not None, help=help or option.help)]
    return Taken(option.name, Taken.KEYWORD_ONLY, annotation=type_, default=default)


def with_options(*parts: tuple[Group | None, Sequence[Argument]]) -> Callable[[Command], Command]:
    """Give a command more options, which it takes as keywords."""

    def decorated(command: Command) -> Command:
        signature = inspect.signature(command, eval_str=True)
        own = [each for each in signature.parameters.values() if each.kind is not each.VAR_KEYWORD]
        more = [parameter_of(option, group) for group, options in parts for option in options]

        @wraps(command)
        def called(*words: Any, **given: Any) -> object:
            return command(*words, **{each.name: each.default for each in more} | given)

        _takes(called, [*own, *more])
        return cast(Command, called)

    return decorated


def _takes(command: Callable[..., Any], parameters: Sequence[Taken]) -> None:
    """Make these its parameters, for the parser and the help."""
    vars(command)["__signature__"] = Signature(parameters, return_annotation=int)
    command.__annotations__ = {each.name: each.annotation for each in parameters}


def in_one_piece(command: Command) -> Command:
    """`command`, with each argument's description in one line, so that it wraps at the width of the window."""
    summary, arguments, described = (command.__doc__ or "").partition("    Args:\n")
    command.__doc__ = summary + arguments + _FOLD.sub(" ", described)
    return command


def __getattr__(name: str) -> App:
    """The command of a question, made when it is called."""
    if name not in BY_NAME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return app_of(BY_NAME[name])


def app_of(about: type[Question], *, brief: bool = False) -> App:
    """The command of a question for the parser; `brief` for a help of one screen."""
    name = about.name.replace("_", "-")
    column = "COLUMN" if about.argument("column").default is REQUIRED else "[COLUMN]"
    needed = [f"{option_name(each)} {_WRITTEN.get(str(each.kind), 'STR')}" for each in options_of(about)["needed"]]
    words = ["Usage: dpselect", name, "SOURCE", column, *map(str.upper, about.positional), *needed, "[OPTIONS]"]
    more = f"--where, --by, --ledger, --json and others: dpselect {name} --help-all"
    made = App(name=name, usage=" ".join(words), version=__version__, help_epilogue=more if brief else "")
    made.default(command_of(about, brief=brief))
    return made


def command_of(about: type[Question], *, brief: bool = False) -> Callable[..., int]:
    """The command as a function, whose signature and docstring say what the parser and the help need.

    Args:
        about: the question.
        brief: for a help of one screen: what the question needs and takes itself, each in one sentence.
    """

    def command(source: str, column: str | None = None, *arguments: Any, **options: Any) -> int:
        named = dict(zip(about.positional, arguments, strict=True))
        return ask(about, source, column, options | named)

    positional, options = about.example
    command.__name__ = about.name
    command.__doc__ = f"{about.does}\n\ndpselect {about.name.replace('_', '-')} {positional} \\\n    {options}"
    _takes(command, [*_parameters(about, brief)])
    return command


def _parameters(about: type[Question], brief: bool) -> Iterator[Taken]:
    """What has to be given comes first, then what only this question takes."""

    def said(help: str) -> str:
        return help.partition(". ")[0].removesuffix(".") + "." if brief else help

    def positional(name: str, type_: object, help: str, default: object = Taken.empty) -> Taken:
        return Taken(
            name, Taken.POSITIONAL_ONLY, annotation=Annotated[type_, Parameter(help=said(help))], default=default
        )

    column = about.argument("column")
    yield positional("source", File, "A file such as people.csv, or a table on a server." if brief else _SOURCE)
    if column.default is REQUIRED:
        yield positional("column", str, column.help)
    else:
        yield positional("column", str | None, column.help, None)
    for name in about.positional:
        yield positional(name, type_of(about.argument(name)), about.argument(name).help)
    for part, options in options_of(about).items():
        if not (brief and part in ("shared", "groups")):
            yield from (parameter_of(option, _PARTS[part], help=said(option.help)) for option in options)
