"""One question of a plan: its method, its arguments, and which part of the budget it gets."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from dpselect import public
from dpselect.checks import positive_epsilon
from dpselect.errors import InvalidParameterError, Shown, typed
from dpselect.plans.toml_file import in_folder
from dpselect.session.described import ASK, Planner, arguments_of, check_described, planned_by
from dpselect.session.paying import TableQuestion

BUDGET_KEYS = ("share", "epsilon", "within")
"""At most one of them says which part of the budget a question gets."""

GIVEN_BY_PLAN = frozenset({"epsilon", "request"})
"""Arguments of a method that are no keys: the plan divides epsilon, and names the requests."""

LISTS = ("candidates", "values", "groups", "prices", "dates")
"""Arguments that may also be written as text: a range ``"1..100"``, or ``"@file"``."""

_NAME = re.compile(r"[\w-]{1,60}")
_IS_LIST = re.compile(r"\s*[+-]?[0-9]+\s*\.\.\s*[+-]?[0-9]+\s*")


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
    def words(self) -> str:
        """What is asked, in a few words."""
        column = self.arguments.get("column")
        return self.method.replace("_", " ") + (f" of {column}" if isinstance(column, str) else "")

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
        if not isinstance(described, Mapping):
            hint = f"It begins with [{place}], and the lines below say what is asked."
            raise InvalidParameterError(place, described, "a table of keys", hint)
        held = cast("Mapping[str, Any]", described)
        method = check_described(held, place, other=BUDGET_KEYS, elsewhere=GIVEN_BY_PLAN)
        stated = {key: _budget(held[key], key, place) for key in BUDGET_KEYS if key in held}
        if len(stated) > 1:
            got = Shown(" and ".join(stated))
            raise InvalidParameterError(place, got, f"at most one of {', '.join(BUDGET_KEYS)}")
        arguments = {key: value for key, value in held.items() if key in arguments_of(method) and key != "epsilon"}
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
        for key in LISTS:
            text = held.get(key)
            if isinstance(text, str):
                held[key] = self._listed(key, text, table, source, folder)
        return PlannedQuestion(
            name=self.name,
            method=self.method,
            arguments=held,
            share=self.share,
            epsilon=self.epsilon,
            within=self.within,
        )

    def _listed(self, key: str, text: str, table: Planner, source: object, folder: Path) -> Any:
        if not text.startswith("@") and not _IS_LIST.fullmatch(text):
            name, expected = f"{self.place}.{key}", 'a list such as [1, 2, 3], a range "1..100" or the file "@list.txt"'
            raise InvalidParameterError(name, typed(text), expected)
        private = source if isinstance(source, str) else ""
        written = "@" + in_folder(text[1:], folder) if text.startswith("@") else text
        try:
            column = self.arguments.get("by" if key == "groups" else "column")
            untyped = key in ("prices", "dates") or not isinstance(column, str)
            kinds = () if untyped else table.candidate_kinds(str(column))
            return public.listed(written, key, fitting=kinds, private=private)
        except InvalidParameterError as error:
            if error.name != key:
                raise
            hint = "" if "--" in error.hint else error.hint  # which would name an option of the command line
            hint = hint or 'Or list them: [1, 2] are numbers, and ["1", "2"] are texts.'
            raise type(error)(f"{self.place}.{key}", typed(text), error.expected, hint) from None

    def planned(self, table: Planner, epsilon: float) -> TableQuestion[Any]:
        """What would be asked with this epsilon; errors name the key."""
        return planned_by(table, self.method, self.described(epsilon), self.place)

    def described(self, epsilon: float, request: str | None = None) -> dict[str, Any]:
        """Its arguments, with this epsilon and, if it has one, this id of the request."""
        return {**self.arguments, "epsilon": epsilon, **({} if request is None else {"request": request})}


def _budget(value: object, key: str, place: str) -> float:
    name = f"{place}.{key}"
    if key == "epsilon":
        return positive_epsilon(value, name)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < math.inf:
        what = "a part of the plan's epsilon above 0, such as 0.25" if key == "share" else "an error bound, at least 0"
        raise InvalidParameterError(name, value, what)
    if key == "share" and not 0 < value <= 1:
        hint = "Shares are parts of the plan's epsilon, and add up to at most 1."
        raise InvalidParameterError(name, value, "a share above 0 and at most 1", hint)
    return float(value)


def ask_of(question: PlannedQuestion, epsilon: float, request: str | None) -> dict[str, Any]:
    """The question as `Dataset.ask` takes it."""
    return {ASK: question.method, **question.described(epsilon, request)}
