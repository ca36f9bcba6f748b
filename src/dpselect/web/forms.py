"""The form of a question, from what the registry says of its options, and what was typed into it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from dpselect import public
from dpselect.arguments import OF_EVERY_QUESTION, OF_VIEWS, REQUIRED, arguments_of
from dpselect.checks import positive_epsilon
from dpselect.errors import (
    InvalidCandidatesError,
    InvalidDataError,
    InvalidParameterError,
    SelectionError,
    typed,
)
from dpselect.questions.declared import Question
from dpselect.questions.question import as_text, counted
from dpselect.session import Forecast
from dpselect.session.described import seen
from dpselect.summaries import CandidateKind
from dpselect.web.fields import KINDS, Field, fields_of
from dpselect.web.site import Site
from dpselect.web.titles import title
from dpselect.written_numbers import decimal, whole

START = "0.5"
"""Where the slider of epsilon stands first: somewhere it has to."""

MOST_EPSILON = 1000.0
"""More is a slip of the hand: probabilities may then change by a factor of more than 10^400."""
NOBODY = "With so much of it nobody is protected."

_LONGEST = 200_000
"""Characters of one field."""


@dataclass(slots=True)
class Form:
    """What was typed, read: the arguments of a question, or why there are none.

    Attributes:
        about: the question.
        site: what all pages are about.
        fields: of the form.
        typed: the texts, by the names of the inputs.
        arguments: of the question's method, without epsilon; those that have their defaults are left out.
        errors: a sentence for each field that is wrong, by its name; "" for the whole question.
        missing: names of fields that are still needed.
        unit: the unit's column.
        understood: how each list was read, by the name of its field.
    """

    about: type[Question]
    site: Site
    fields: list[Field]
    typed: dict[str, str]
    arguments: dict[str, Any] = field(default_factory=dict[str, Any])
    errors: dict[str, str] = field(default_factory=dict[str, str])
    missing: list[str] = field(default_factory=list[str])
    unit: str = ""
    understood: dict[str, str] = field(default_factory=dict[str, str])

    @classmethod
    def read(cls, about: type[Question], site: Site, typed: Mapping[str, str]) -> Form:
        """The form with what was typed into it, every field read by itself."""
        fields = fields_of(about, site)
        names = [part for each in fields for part in each.parts]
        texts = {name: typed.get(name, "").strip() for name in [*names, "epsilon"]}
        form = cls(about, site, fields, texts)
        form.unit = site.unit or texts.get("unit", "")
        if not form.unit:
            form.missing.append("unit")
        for each in fields:
            form._read(each)
        return form

    @classmethod
    def empty(cls, about: type[Question], site: Site) -> Form:
        """The form as it is shown first."""
        fields = fields_of(about, site)
        return cls.read(about, site, {**{each.name: each.default for each in fields}, "epsilon": START})

    @property
    def is_complete(self) -> bool:
        """Whether it can be planned."""
        return not self.missing and not self.errors

    def text(self, name: str) -> str:
        """What an input shows."""
        return self.typed.get(name, "")

    @property
    def epsilon(self) -> float | None:
        """What was typed for epsilon; None, with an error, if it is no such number."""
        text = self.typed["epsilon"]
        try:
            epsilon = positive_epsilon(_number(text, "epsilon"), "epsilon")
            if epsilon > MOST_EPSILON:
                raise InvalidParameterError("epsilon", epsilon, f"a number up to {MOST_EPSILON:g}", NOBODY)
            return epsilon
        except SelectionError as error:
            self.fail(error)
            return None

    @property
    def title(self) -> str:
        """What it asks, in everyday words."""
        return title(self.about, self.arguments)

    @property
    def key(self) -> tuple[Any, ...]:
        """What a curve depends on."""
        texts = {name: text for name, text in self.typed.items() if name != "epsilon"}
        return self.about.name, self.site.stamp, tuple(sorted(texts.items()))

    def forecast(self, epsilon: float, *, paying: bool = False) -> Forecast | None:
        """What an answer would cost and how accurate it would be; None, with an error, if the question is refused."""
        try:
            return self.reply(self.site.dry(self.unit, paying=paying), epsilon)
        except SelectionError as error:
            self.fail(error)
            return None

    def reply(self, data: Any, epsilon: float, **more: Any) -> Any:
        """The reply of a `Dataset` or `DryRun`."""
        arguments = dict(self.arguments)
        view = {each.name: arguments.pop(each.name) for each in OF_VIEWS if each.name in arguments}
        column = arguments.pop("column", None)
        return getattr(seen(data, **view), self.about.name)(column, **arguments, epsilon=epsilon, **more)

    def fail(self, error: SelectionError) -> None:
        """Keep the sentence of an error beside the field that it is about."""
        name = getattr(error, "name", "")
        known = {each.name for each in self.fields} | {"epsilon"}
        if str(error).startswith(f"{name}=None:") and name in known and not self.typed.get(name):
            if name not in self.missing:  # the library has a default for it, which does not fit this table
                self.missing.append(name)
            return
        self.errors.setdefault(name if name in known else "", str(error))

    def _read(self, each: Field) -> None:
        """Read one field into the arguments, or note what is wrong with it."""
        texts = [self.typed[part] for part in each.parts]
        if any(len(text) > _LONGEST for text in texts):
            self.errors[each.name] = f"{each.name}: expected at most {_LONGEST:,} characters."
            return
        if each.name in ("unit", "candidates_as", "groups_as"):
            return
        if not any(texts):
            if each.is_needed:
                self.missing.append(each.name)
            return
        if not all(texts):
            self.missing.append(each.name)
            return
        try:
            value = self._value(each, texts)
        except SelectionError as error:
            self.errors[each.name] = str(error)
            return
        if each.kind == "list" and each.name != "where":
            self.understood[each.name] = said_back(each.name, value)
        if value != _default(self.about, each.name):
            self.arguments[each.name] = value

    def _value(self, each: Field, texts: list[str]) -> Any:
        text = texts[0]
        match each.kind:
            case "whole":
                number = whole(text)
                if number is None:
                    raise InvalidParameterError(each.name, typed(text), "a whole number")
                return number
            case "number":
                return _number(text, each.name)
            case "exact":
                return _exact(text, each.name)
            case "flag":
                return text == "on"
            case "bounds":
                return _exact(text, each.name), _exact(texts[1], each.name)
            case "ends":
                return text, texts[1]
            case "levels":
                return [_number(level.strip(), each.name) for level in text.split(",")]
            case "list" if each.name == "where":
                lines = [line.strip() for line in text.splitlines() if line.strip()]
                return self._conditions(lines)
            case "list":
                return self._listed(each.name, text)
            case "choice":
                return self._chosen(each, text)
            case _:
                return text

    def _conditions(self, lines: list[str]) -> Any:
        return public.conditions(lines, self.site.dry(self.unit).candidate_kinds, private="")

    def condition(self, column: str, text: str) -> Any:
        """A condition on a column as the command line reads it."""
        return self._conditions([f"{column}={text}"])[column.strip()]

    def _chosen(self, each: Field, text: str) -> str:
        if text not in dict(each.choices):
            raise InvalidParameterError(each.name, typed(text), f"one of {', '.join(dict(each.choices))}")
        return text

    def _listed(self, name: str, text: str) -> Any:
        """A public list. Files are not named here: a page could be made to show what is in them."""
        text = public.on_a_line(text, name)
        if text.startswith("@"):
            hint = "Paste the list instead: one on each line, or separated by commas."
            raise InvalidCandidatesError(name, typed(text), "a list, not the name of a file", hint)
        return self.listed(name, text)

    def listed(self, name: str, text: str) -> Any:
        """A public list as the command line reads it, for the type that was chosen or that the column has.

        Raises:
            InvalidCandidatesError: it is no such list.
        """
        chosen = self.typed.get(f"{name}_as", "")
        kind = CandidateKind(chosen) if chosen in KINDS else None
        column = self.typed.get("by" if name == "groups" else "column", "")
        kinds: Sequence[CandidateKind] = ()
        if column and self.unit:
            try:
                kinds = self.site.dry(self.unit).candidate_kinds(column)
            except InvalidDataError:
                kinds = ()  # the question says it, beside the field of the column
        alone = name != "candidates" or not self.about.needs_several
        return public.listed(text, name, kind=kind, fitting=kinds, private="", may_be_one=alone)


def _default(about: type[Question], name: str) -> Any:
    known = (*arguments_of(about), *OF_EVERY_QUESTION, *OF_VIEWS)
    return next((each.default for each in known if each.name == name), REQUIRED)


def _number(text: str, name: str) -> float:
    """A decimal, as the command line reads it: no fraction, which would be rounded."""
    try:
        if "_" not in text:
            return float(text)
    except ValueError:
        pass
    raise InvalidParameterError(name, typed(text), "a decimal number such as 0.5")


def _exact(text: str, name: str) -> Any:
    try:
        return decimal(text)
    except ValueError:
        raise InvalidParameterError(name, typed(text), "a number such as 5, 0.25 or 1/3") from None


_SHOWN_LETTERS = 40
"""Of one value of a list that is said back."""


def said_back(name: str, listed: Sequence[Any]) -> str:
    """How a list was understood, in few words: how many, the first ones and the last.

    >>> said_back("candidates", ["Paris", "Lyon", "Nice", "Rome"]), said_back("groups", ["a"])
    ('4 candidates: Paris, Lyon, ..., Rome', '1 group: a')
    >>> said_back("candidates", range(1, 17))
    '16 candidates: 1, 2, ..., 16'
    """
    length = listed[-1] - listed[0] + 1 if isinstance(listed, range) else len(listed)  # may be too long for len()
    ends = listed if length < 4 else (listed[0], listed[1], ..., listed[-1])
    shown = ("..." if each is ... else _shortened(as_text(each)) for each in ends)
    return f"{counted(length, name.removesuffix('s'))}: {', '.join(shown)}"


def _shortened(text: str) -> str:
    return text if len(text) <= _SHOWN_LETTERS else text[: _SHOWN_LETTERS - 3] + "..."
