"""The description of a question and its options, for the command line and wherever else options are shown."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

REQUIRED = object()
"""In place of a default."""

OptionKind = Literal[
    "text",
    "whole",
    "number",
    "exact",
    "flag",
    "bounds",
    "bounds or private",
    "ends",
    "levels",
    "prices",
    "dates",
    "values",
]
"""How a value is written: a whole number, a number, one that is taken exactly, nothing (a flag), two numbers, these or
the word "private", two dates as text, several shares, public prices or dates, or values of the column. A tuple instead:
one of these words."""


@dataclass(frozen=True, slots=True)
class Option:
    """One public argument of a question.

    Attributes:
        name: its name in the method of `dpselect.Dataset`.
        kind: how a value is written.
        help: one or two sentences.
        default: the default, or `REQUIRED`.
    """

    name: str
    kind: OptionKind | tuple[str, ...]
    help: str
    default: object = REQUIRED


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """One way to ask a question.

    Attributes:
        name: name of the method of `dpselect.Dataset`.
        asks: the question in everyday words.
        does: what the command does, in one or two sentences.
        example: arguments that work with the files of the examples: those without a name, then the options.
        also: other questions that the command answers, each in everyday words and with an example.
        column: what the column holds.
        needs_column: whether there has to be a column.
        positional: arguments without a name, after the column.
        options: arguments with a name, besides those of every question.
        chooses: whether it has a public list of candidates.
        needs_several: whether a list of one candidate leaves nothing to ask.
        needs_list: whether it needs this list.
        page: name of its page in ``docs/tasks``; by default the name of the command.
    """

    name: str
    asks: str
    does: str
    example: tuple[str, str]
    column: str = "Column of numbers."
    needs_column: bool = True
    positional: tuple[Option, ...] = ()
    options: tuple[Option, ...] = ()
    chooses: bool = False
    needs_several: bool = True
    needs_list: bool = True
    page: str = ""
    also: tuple[tuple[str, tuple[str, str]], ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "page", self.page or self.name)


BOUNDS = Option(
    "bounds",
    "bounds",
    "Smallest and largest possible answer. Public, never taken from the column; values beyond a bound count as that"
    " bound.",
)

MAX_ROWS_PER_UNIT = Option(
    "max_rows_per_unit",
    "whole",
    "Number of rows used per unit. If a unit has more, this many are chosen at random. The error grows with it.",
    default=1,
)


STEP = Option(
    "step",
    "exact",
    "Distance between possible answers, starting at the lower bound, such as 1 for ages in years; it has to divide the"
    " distance between the bounds. Default: 1 if the column's type is an integer type (CSV has no types).",
    default=None,
)

MOMENT_STEP = Option(
    "step",
    "exact",
    "Values are rounded to multiples of this above the lower bound; it has to divide the distance between the bounds."
    " Default: 1 if the column's type is an integer type (CSV has no types), else a millionth of the distance. With"
    " --bounds private, the distance of the smallest possible upper bound, 1/1024 if the type is another.",
    default=None,
)

CONTINUOUS = Option(
    "continuous",
    "flag",
    "Instead of --step: the answer is any number between the bounds. Only for values of which hardly any two are equal;"
    " there is no error bound.",
    default=False,
)

BOUNDS_IF_KNOWN = Option(
    "bounds",
    "bounds or private",
    "Smallest and largest possible answer. Public, never taken from the column; values beyond a bound count as that"
    " bound. Without them, --lower is the smallest, and the answers are found with more noise; --bounds private"
    " spends a quarter of --epsilon on an upper bound at any level.",
    default=None,
)

BOUNDS_OR_PRIVATE = Option(
    "bounds",
    "bounds or private",
    "Smallest and largest value. Public, never taken from the column; values beyond a bound count as that bound. With"
    " --bounds private an upper one is found first, with half of --epsilon.",
)

LOWER_IF_PRIVATE = Option(
    "lower",
    "exact",
    "With --bounds private, the smallest value; public. Default: 0.",
    default=None,
)

LOWER_IF_UNBOUNDED = Option(
    "lower",
    "exact",
    "Smallest possible answer where there are no --bounds. Public; smaller values count as this. Default: 0.",
    default=None,
)
