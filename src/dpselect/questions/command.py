"""The description of a question and its options, for the command line and wherever else options are shown."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

REQUIRED = object()
"""In place of a default."""

OptionKind = Literal[
    "text",
    "any text",
    "whole",
    "number",
    "exact",
    "flag",
    "bounds",
    "ends",
    "levels",
    "prices",
    "dates",
    "values",
    "json",
]
"""How a value is written: text, text that may begin with a dash, a whole number, a number, one that is taken exactly,
nothing (a flag), two numbers, two dates as text, several shares, public prices or dates, or values of the column;
"json" is the flag of that name. A tuple or an enumeration instead: one of these words."""


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
    kind: OptionKind | tuple[str, ...] | type[StrEnum]
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
