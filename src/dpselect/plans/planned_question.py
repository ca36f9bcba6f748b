"""What a plan says: the file, and of each question its method, its arguments and its part of the budget."""

from __future__ import annotations

import math
import os
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

from dpselect import public
from dpselect.checks import positive_epsilon, text_of
from dpselect.errors import InvalidParameterError, Shown, typed
from dpselect.session.asking import rows_of
from dpselect.session.described import ASK, Planner, arguments_of, check_described, planned_by
from dpselect.session.paying import TableQuestion

BUDGET_KEYS = ("share", "epsilon", "within")
"""At most one of them says which part of the budget a question gets."""

GIVEN_BY_PLAN = frozenset({"epsilon", "request"})
"""Arguments of a method that are no keys: the plan divides epsilon, and names the requests."""

_NAME = re.compile(r"[\w-]{1,60}")
_IS_RANGE = re.compile(r"\s*[+-]?[0-9]+\s*\.\.\s*[+-]?[0-9]+\s*")


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedQuestion:
    """One question of a plan.

    Attributes:
        name: of the question.
        method: the method of `dpselect.Dataset`.
        arguments: its arguments, without those of `GIVEN_BY_PLAN`.
        share: the part of the plan's epsilon that it gets, or None.
        epsilon: its epsilon, or None.
        within: the wanted error bound, or None.
    """

    name: str
    method: str
    arguments: Mapping[str, Any]
    share: float | None = None
    epsilon: float | None = None
    within: float | None = None

    @property
    def place(self) -> str:
        """Where errors find it."""
        return f"questions.{self.name}"

    @property
    def is_fixed(self) -> bool:
        """Whether it says its epsilon, or what it has to reach."""
        return self.epsilon is not None or self.within is not None

    @classmethod
    def of(cls, name: object, described: object) -> PlannedQuestion:
        """The question that a table of the file describes.

        Raises:
            InvalidParameterError: a key is unknown, missing, or not of its type; the error names it.
        """
        if not isinstance(name, str) or not _NAME.fullmatch(name):
            got = typed(name)
            raise InvalidParameterError("questions", got, "names of letters, digits, - and _, of at most 60 characters")
        place = f"questions.{name}"
        method = check_described(described, place, other=BUDGET_KEYS, elsewhere=GIVEN_BY_PLAN)
        held = cast("Mapping[str, Any]", described)
        stated = {key: _budget(held[key], key, f"{place}.{key}") for key in BUDGET_KEYS if key in held}
        if len(stated) > 1:
            raise InvalidParameterError(place, Shown(" and ".join(stated)), f"at most one of {', '.join(BUDGET_KEYS)}")
        arguments = {key: value for key, value in held.items() if key not in (ASK, *BUDGET_KEYS)}
        return cls(name=name, method=method, arguments=arguments, **stated)

    def with_lists(self, table: Planner, source: object, folder: Path) -> PlannedQuestion:
        """The question with lists in place of the texts that name them.

        Args:
            table: the table, whose columns may say of which type they are.
            source: the table as the plan names it, whose rows no list may come from.
            folder: where the paths of files start.

        Raises:
            InvalidCandidatesError: a text is no such list, or there is no such file.
        """
        held = dict(self.arguments)
        for key, each in arguments_of(self.method).items():
            text: object = held.get(key)
            if not each.names_members or not isinstance(text, str):
                continue
            if not text.startswith("@") and not _IS_RANGE.fullmatch(text):
                expected = 'a list such as [1, 2, 3], a range "1..100" or the file "@list.txt"'
                raise InvalidParameterError(f"{self.place}.{key}", typed(text), expected)
            written = "@" + in_folder(text[1:], folder) if text.startswith("@") else text
            private = source if isinstance(source, str) else ""
            try:
                held[key] = public.value_of(each, [written], held, rows_of(table).candidate_kinds, private=private)
            except InvalidParameterError as error:
                if error.name != key:
                    raise
                hint = "" if "--" in error.hint else error.hint  # which would name an option of the command line
                hint = hint or 'Or list them: [1, 2] are numbers, and ["1", "2"] are texts.'
                raise type(error)(f"{self.place}.{key}", typed(text), error.expected, hint) from None
        return replace(self, arguments=held)

    def planned(self, table: Planner, epsilon: float, request: str | None) -> TableQuestion:
        """What would be asked with this epsilon; errors name the key."""
        return planned_by(table, self.method, {**self.arguments, "epsilon": epsilon, "request": request}, self.place)


def _budget(value: object, key: str, name: str) -> float:
    if key == "epsilon":
        return positive_epsilon(value, name)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < math.inf:
        what = "a part of the plan's epsilon above 0, such as 0.25" if key == "share" else "an error bound, at least 0"
        raise InvalidParameterError(name, value, what)
    if key == "share" and not 0 < value <= 1:
        hint = "Shares are parts of the plan's epsilon, and add up to at most 1."
        raise InvalidParameterError(name, value, "a share above 0 and at most 1", hint)
    return float(value)


def read_toml(path: str | os.PathLike[str]) -> tuple[dict[str, Any], Path]:
    """The content of the file, and the folder that paths in it start from.

    Raises:
        InvalidParameterError: there is no such file, or it is not TOML; the error says in which line.
    """
    text = text_of(path, "plan", "a file in TOML", most=10)
    try:
        return tomllib.loads(text), Path(path).absolute().parent
    except (ValueError, RecursionError) as error:  # also of too many digits, or brackets in brackets
        found = f"{error}. " if isinstance(error, tomllib.TOMLDecodeError) and len(str(error)) < 200 else ""
        hint = f"{found}Texts are in double quotes, and each question begins with [questions.its_name]."
        raise InvalidParameterError("plan", Shown(repr(str(path))), "a file in TOML", hint) from None


def in_folder(path: str, folder: Path) -> str:
    """A path that is not absolute, from `folder`. A URL of a server stays as it is, and so does an absolute path.

    >>> in_folder("people.csv", Path("/plans")), in_folder("sqlite:///budget.db", Path("/plans"))
    ('/plans/people.csv', 'sqlite:////plans/budget.db')
    >>> in_folder("postgresql://ann@db/shop", Path("/plans"))
    'postgresql://ann@db/shop'
    """
    scheme, separator, rest = path.partition("sqlite:///")
    if separator and not scheme:
        return separator + (rest if os.path.isabs(rest) else str(folder / rest))
    return path if "://" in path else str(folder / path)
