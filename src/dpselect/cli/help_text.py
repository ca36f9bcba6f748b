"""The text of ``--help``: the docstrings of the commands, each description in one line."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TypeVar

from cyclopts import Group

Command = TypeVar("Command", bound=Callable[..., object])

_FOLD = re.compile(r"\n {12,}")
"""Where the description of an argument continues in the next line of a docstring."""

NEEDED = Group("Required options", sort_key=1)
OF_QUESTION = Group("Options of this question", sort_key=2)
OF_GROUPS = Group("Options for some rows, or one answer per group", sort_key=3)
SHARED = Group("Options of every question", sort_key=4)
"""The parts of a question's help, in this order, after its arguments: what has to be given comes first."""


def in_one_piece(command: Command) -> Command:
    """`command`, with each argument's description in one line, so that it wraps at the width of the window."""
    summary, arguments, described = (command.__doc__ or "").partition("    Args:\n")
    command.__doc__ = summary + arguments + _FOLD.sub(" ", described)
    return command
