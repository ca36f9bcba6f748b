"""What ``--help`` says: the docstrings of the commands, each description in one piece."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TypeVar

Command = TypeVar("Command", bound=Callable[..., object])

_FOLD = re.compile(r"\n {12,}")
"""Where the description of an argument goes on in the next line of a docstring."""


def in_one_piece(command: Command) -> Command:
    """`command`, no description of an argument in its docstring folded: each window folds it where it ends itself."""
    summary, arguments, described = (command.__doc__ or "").partition("    Args:\n")
    command.__doc__ = summary + arguments + _FOLD.sub(" ", described)
    return command
