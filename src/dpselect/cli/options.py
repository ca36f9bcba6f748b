"""The types of options, as all commands spell them, and the parts of the text of ``--help``."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from fractions import Fraction
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar, cast

from cyclopts import CoercionError, Group, Parameter, Token

from dpselect.arguments import REQUIRED, Argument, Written, read
from dpselect.errors import InvalidParameterError, Shown, typed

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


def _reader(kind: Written) -> Callable[[object, Sequence[Token]], Any]:
    """Reads as `dpselect.arguments` does; the parser itself would round 2.7 to 3. Errors name the option."""

    def convert(_: object, tokens: Sequence[Token]) -> Any:
        try:
            return read(kind, "", *(each.value for each in tokens))
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

SOURCE = (
    "CSV, TSV, Parquet, Arrow, ORC, JSON lines or Excel file, text also as .gz or .zst; a quoted glob such as"
    " 'clicks/*.parquet'; the folder of a Delta table; or a PostgreSQL URL."
)
Table = Annotated[File, Parameter(help=SOURCE)]
"""The table of a question."""

Whole = Annotated[int, Parameter(allow_leading_hyphen=True, converter=_reader("whole"))]
Text = Annotated[str, Parameter(allow_leading_hyphen=True)]
Number = Annotated[float, Parameter(allow_leading_hyphen=True, converter=_reader("number"))]
Step = Annotated[float, Parameter(allow_leading_hyphen=True, converter=_reader("exact"))]
"""A decimal or a fraction such as 1/3, taken exactly."""
Exact = Annotated[str, Parameter(allow_leading_hyphen=True)]
"""A decimal or a fraction, for what is compared exactly; `exact` reads it."""
Flag = Annotated[bool, Parameter(negative="", show_default=False)]
Json = Annotated[bool, Parameter(name="--json", negative="", show_default=False, help="Print JSON instead of text.")]


def exact(text: str, name: str) -> Fraction | float:
    """A fraction such as 3/10, exactly; a decimal as the double that it is as the epsilon of a question.

    So a question fits into a limit with the same epsilon, however both are written.

    Raises:
        InvalidParameterError: neither.
    """
    with suppress(InvalidParameterError):
        return read("exact" if "/" in text else "number", name, text)
    raise InvalidParameterError(name, Shown("<text>"), "a decimal such as 0.3, or a fraction such as 3/10")


_TYPES: dict[str, Any] = {
    "text": str,
    "any text": Text,
    "whole": Whole,
    "number": Number,
    "exact": Step,
    "flag": Flag,
    "json": Json,
    "bounds": Annotated[
        tuple[float, float], Parameter(allow_leading_hyphen=True, negative="", converter=_reader("bounds"), n_tokens=2)
    ],
    "numbers or dates": Annotated[
        tuple[float | str, float | str],
        Parameter(allow_leading_hyphen=True, negative="", converter=_reader("numbers or dates"), n_tokens=2),
    ],
    "ends": Annotated[tuple[str, str], Parameter(negative="")],
    "levels": Text,
    "prices": Text,
    "dates": Text,
    "values": Text,
    "list": Text,
    "where": Annotated[list[str], Parameter(allow_leading_hyphen=True, negative=())],
}
"""How values are typed, by `Argument.kind`."""


def type_of(option: Argument) -> Any:
    """How the value of an option is typed."""
    kind: Any = option.kind
    type_: Any = _TYPES[kind] if isinstance(kind, str) else Literal[kind] if isinstance(kind, tuple) else kind
    return type_ | None if option.default is None else type_


def parameter_of(option: Argument, group: Group | None, *, help: str | None = None) -> inspect.Parameter:
    """The option as a parameter of a command, in this part of the help; None: not shown."""
    default = inspect.Parameter.empty if option.default is REQUIRED else option.default
    type_ = Annotated[type_of(option), Parameter(group=group, show=group is not None, help=help or option.help)]
    return inspect.Parameter(option.name, inspect.Parameter.KEYWORD_ONLY, annotation=type_, default=default)


def with_options(*parts: tuple[Group | None, Sequence[Argument]]) -> Callable[[Command], Command]:
    """Give a command more options, which it takes as keywords."""

    def decorated(command: Command) -> Command:
        signature = inspect.signature(command, eval_str=True)
        own = [each for each in signature.parameters.values() if each.kind is not each.VAR_KEYWORD]
        more = [parameter_of(option, group) for group, options in parts for option in options]

        @wraps(command)
        def called(*words: Any, **given: Any) -> object:
            return command(*words, **{each.name: each.default for each in more} | given)

        vars(called)["__signature__"] = signature.replace(parameters=[*own, *more])
        called.__annotations__ = {each.name: each.annotation for each in (*own, *more)}
        return cast(Command, called)

    return decorated


def in_one_piece(command: Command) -> Command:
    """`command`, with each argument's description in one line, so that it wraps at the width of the window."""
    summary, arguments, described = (command.__doc__ or "").partition("    Args:\n")
    command.__doc__ = summary + arguments + _FOLD.sub(" ", described)
    return command
