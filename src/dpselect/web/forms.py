"""The form of a question, what was typed into it and what that would be worth, in no word of a command or of Python.

A plan says how accurate an answer would be, what it costs, and what an account has left, from public arguments alone:
no row is read for it.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from importlib.resources import files
from typing import Any

from dpselect import arguments, public
from dpselect.arguments import OF_EVERY_QUESTION, OF_VIEWS, REQUIRED, TYPES, Argument, arguments_of, words_of
from dpselect.checks import fraction_down, positive_count, positive_epsilon
from dpselect.errors import InvalidParameterError, LedgerError, SelectionError, typed
from dpselect.ledger import Account
from dpselect.ledger.accounts import OPTIONS, as_written, left_shown
from dpselect.privacy import EACH_ROW, as_text
from dpselect.questions.question import QUESTIONS, Question
from dpselect.questions.records import counted
from dpselect.questions.wording import bound_shown, rounded_up
from dpselect.rows.columns import Holds
from dpselect.session.answering import Forecast
from dpselect.session.asking import rows_of
from dpselect.session.dataset import reply
from dpselect.summaries import CandidateKind
from dpselect.web.site import Site

_MOST_EPSILON, _MOST_PEOPLE, _LONGEST = 1000.0, 10**12, 200_000
"""More epsilon is a slip of the hand, with factors above 10^400; and characters of one field."""

_PEOPLE = Argument("whole", "A public guess, never counted in the table: the accuracy depends on it.", "people", None)

_ABOUT_PEOPLE = frozenset({"mean", "std", "variance", "median", "quantile", "upper_bound", "density"})
"""Questions that are the more accurate, the more people there are."""


@dataclass(frozen=True, slots=True)
class Field:
    """One field of a form: what is typed into it, and what it shows at first."""

    argument: Argument
    default: str = ""
    choices: Sequence[tuple[str, str]] = ()  # each with a label; empty: typed freely
    part: str = "main"  # where it stands; or "epsilon", "plan", "more", "groups"

    @property
    def name(self) -> str:
        return self.argument.name

    @property
    def help(self) -> tuple[str, str]:
        """The first sentences of the argument's help, in the words of a page, and the others."""
        return in_two(helped(self.argument.help))

    @property
    def is_needed(self) -> bool:
        return self.argument.default is REQUIRED

    @property
    def kind(self) -> str:
        """How it is typed; see `Argument.kind`. Also "list", which conditions are, too, and "choice"."""
        if self.choices or not isinstance(self.argument.kind, str):
            return "choice"
        return "list" if self.argument.names_members or self.name == "where" else self.argument.kind

    @property
    def parts(self) -> tuple[str, ...]:
        is_pair = words_of(self.argument.kind) == 2
        return (f"{self.name}.lower-end", f"{self.name}.upper-end") if is_pair else (self.name,)


def fields_of(about: type[Question], site: Site) -> list[Field]:
    """The fields of a question, in the order in which they are filled in: first those that its example has."""
    free, options = about.example
    named: list[tuple[str, str]] = re.findall(r"--([a-z-]+)(?: ([^ -]\S*))?", options)
    shown = {name.replace("-", "_"): value or "on" for name, value in named}
    starts = {"people": site.people, "epsilon": "0.5"}  # somewhere it has to stand first
    starts |= dict(zip(about.positional, free.split()[2:], strict=True))  # after table and column
    # All others are about the example's own column.
    starts |= {name: shown[name] for name in ("step", "with_counts", "delta", "bins") if name in shown}
    order = ["column", *about.positional, *shown]
    own = [each for each in arguments_of(about) if each.name != "epsilon"]
    own.sort(key=lambda each: order.index(each.name) if each.name in order else len(order))
    main = [each for each in own if each.default is REQUIRED or each.name in order[1:]]
    types = [TYPES["candidates"]] if about.chooses() else []
    where, by, groups, most = OF_VIEWS
    rest = (*own, *types, *OF_EVERY_QUESTION, where)
    listed: dict[str, Sequence[Argument]] = {
        "main": main,
        "epsilon": [about.argument("epsilon")],
        "more": [each for each in rest if each not in main and each.name != "request"],
        "plan": [_PEOPLE] if about.name in _ABOUT_PEOPLE else [],
        "groups": [by, groups, TYPES["groups"], most],
    }
    is_typed = any(each.holds is not Holds.ANYTHING for each in site.columns)
    columns = [(each.name, f"{each.name} ({each.holds})" if is_typed else each.name) for each in site.columns]

    def field_of(argument: Argument, part: str) -> Field:
        is_empty, choices = argument.default in (REQUIRED, None, False), list[tuple[str, str]]()
        start = starts.get(argument.name) or ("" if is_empty else str(argument.default).removesuffix(".0"))
        if argument.kind == "text":  # every one of them names a column
            start, choices = "", [each for each in columns if argument.name != "column" or each[0] != site.unit]
        elif not isinstance(argument.kind, str):
            choices = [(word, str(each)) for word, each in arguments.words_for(argument.kind).items()]
        return Field(argument, start, choices, part)

    return [field_of(each, part) for part, held in listed.items() for each in held]


@dataclass(slots=True, kw_only=True)
class Filled:
    """Fields that were filled in, and what was read: arguments, or why there are none. All is by names of fields."""

    site: Site
    fields: Sequence[Field]
    typed: Mapping[str, str]  # by the names of the inputs
    arguments: dict[str, Any] = field(default_factory=dict[str, Any])
    errors: dict[str, str] = field(default_factory=dict[str, str])  # "" for the whole
    missing: list[str] = field(default_factory=list[str])  # what is still needed
    understood: dict[str, str] = field(default_factory=dict[str, str])  # how each list was read

    def text(self, name: str) -> str:
        return self.typed.get(name, "")

    @contextmanager
    def noting(self, otherwise: str = "") -> Generator[None]:
        """Keep the sentence of an error beside the field that it is about, or beside another."""
        try:
            yield
        except SelectionError as error:
            said = getattr(error, "name", "")
            name = said if any(each.name == said for each in self.fields) else otherwise
            if name and str(error).startswith(f"{name}=None:") and not self.text(name):
                if name not in self.missing:  # the library has a default for it, which does not fit this table
                    self.missing.append(name)
            elif name or not self.missing:  # what is wrong with the whole may be that something is missing
                self.errors.setdefault(name, error_in_words(error))

    def read_each(self, fields: Sequence[Field]) -> None:
        """Read some of the fields, each by itself: into the arguments, or note what is wrong with it."""
        for each in fields:
            texts = [self.text(part) for part in each.parts]
            if any(len(text) > _LONGEST for text in texts):
                self.errors[each.name] = f"Expected at most {_LONGEST:,} characters."
            elif all(texts):
                with self.noting(each.name):
                    self.arguments[each.name] = value = self._value(each, texts)
                    if each.argument.names_members:
                        self.understood[each.name] = said_back(each.name, value)
            elif each.is_needed or any(texts):
                self.missing.append(each.name)

    def _value(self, each: Field, texts: list[str]) -> Any:
        """What was typed into a field, as the question takes it."""
        if each.kind == "flag":
            return texts[0] == "on"
        if each.name == "people":
            people = arguments.read("whole", "people", texts[0].replace(",", ""))
            return positive_count(people, "people", at_most=_MOST_PEOPLE)
        if each.name == "epsilon":
            epsilon = positive_epsilon(arguments.read("number", "epsilon", *texts))
            if epsilon > _MOST_EPSILON:
                hint = "With so much of it nobody is protected."
                raise InvalidParameterError("epsilon", epsilon, f"a number up to {_MOST_EPSILON:g}", hint)
            return epsilon
        if each.name == "where":
            texts = [line.strip() for line in texts[0].splitlines() if line.strip()]
        elif each.argument.names_members and texts[0].startswith("@"):  # a page could be made to show what is in a file
            hint = "Paste the list instead: one on each line, or separated by commas."
            raise InvalidParameterError(each.name, typed(texts[0]), "a list, not the name of a file", hint)
        stated, kind = dict[str, Any](self.typed), f"{each.name}_as"
        if stated.get(kind):
            stated[kind] = arguments.read(CandidateKind, kind, stated[kind])
        return public.value_of(
            each.argument, texts, stated, lambda column: rows_of(self.site.dry()).candidate_kinds(column), private=""
        )


@dataclass(slots=True, kw_only=True)
class Form(Filled):
    """The form of a question; what is not asked with it is no argument."""

    about: type[Question]
    epsilon: float | None = None  # None: it is missing or wrong
    people: int | None = None  # how many are supposed to be in the table

    @classmethod
    def read(cls, about: type[Question], site: Site, typed: Mapping[str, str] | None = None) -> Form:
        """The form with what was typed into it; by default as it is shown first."""
        fields = fields_of(about, site)
        typed = {each.name: each.default for each in fields} if typed is None else typed
        names = ["site", *(part for each in fields for part in each.parts)]
        read = {name: typed.get(name, "").strip() for name in names}
        form = cls(about=about, site=site, fields=fields, typed=read)
        form.read_each(fields)
        besides = "epsilon", "people", "candidates_as", "groups_as"
        form.epsilon, form.people, *_ = (form.arguments.pop(name, None) for name in besides)
        if read["site"] not in ("", site.id):
            form.errors[""] = "Another table was chosen meanwhile, in another window. Choose this one again."
        return form

    def plan(self, *, if_missing: bool = False) -> Forecast | None:
        """What an answer would cost and how accurate it would be; None, perhaps with errors, if none can be planned.

        With `if_missing` it is tried although something is missing, to find what else is wrong.
        """
        if self.epsilon is not None and not self.errors and (if_missing or not self.missing):
            with self.noting():
                return self.reply(self.site.dry())
        return None

    def reply(self, data: Any, **more: Any) -> Any:
        given = {"column": None, **dict.fromkeys(self.missing), **self.arguments, "epsilon": self.epsilon, **more}
        return reply(data, self.about.name, given)


def accuracy_of(form: Form, forecast: Forecast) -> tuple[str, str]:
    """How far an answer may be from the truth, as a number in its own unit, and in a sentence.

    The number is empty where the bound is about something else, such as ranks. It is for as many people as were
    guessed, if it depends on that; of a standard deviation it is that of a value of 0, which is the largest.
    """
    kind, people, unit = QUESTIONS[forecast.task], form.people, forecast.unit
    bound = kind.value_bound(forecast, people, 0.0) if kind.bounds_value else forecast.error_bound
    within = bound_shown(bound, kind.error_unit)
    many = "" if people is None else f"If {people:,} {'rows' if unit == EACH_ROW else f'units ({unit})'} are counted"
    many += "" if forecast.groups is None else f" in each {forecast.groups['column']}"
    if kind.bounds_value and forecast.error_bound is not None and kind.value_bound(forecast, None, 0.0) is None:
        name = kind.measure.partition(" of ")[0]
        if people is None:
            return "", f"How close the {name} comes depends on how many people have a value: guess their number."
        sure = f"with {forecast.confidence:.0%} confidence the {name} is within {within} of the true one"
        return within, f"{many}, {sure}."
    said, counts = forecast.accuracy, within and kind.error_unit in (None, "ranks")
    if people is not None and bound is not None and counts and forecast.arguments.get("max_rows_per_unit", 1) == 1:
        whole = math.ceil(bound) if kind.error_unit == "ranks" else math.floor(bound)
        said += f" {many}, that is {rounded_up(min(100.0, 100 * whole / people))}% of them."
    return within if kind.bounds_value else "", said


def budget_of(account: Account | None, forecast: Forecast | None = None) -> dict[str, Any] | None:
    """What an answer would leave of an account, as text; what is spent, and its cost, in hundredths for a bar.

    `refused` says why the account would refuse the answer, if it would.
    """
    if account is None:
        return None
    cost = Fraction(0 if forecast is None or forecast.is_answered else forecast.guarantee.epsilon)
    spent, part = (round(float(100 * each / account.epsilon), 2) for each in (account.spent, cost))
    refused = "" if forecast is None or forecast.fits else in_two(forecast.charge.replace(OPTIONS, ""))[0]
    return {
        "account": account,
        "limit": as_text(as_written(account.epsilon)),
        "after": left_shown(fraction_down(max(account.epsilon - account.spent - cost, Fraction(0)))),
        "spent": spent,
        "cost": min(part, round(100 - spent, 2)),
        "refused": re.sub(r"(?<=[0-9])\.0(?= )", "", refused),  # as in 0.0
    }


_LABELS: dict[str, str] = json.loads(files("dpselect.web").joinpath("labels.json").read_text(encoding="utf-8"))


def label(name: str) -> str:
    return _LABELS.get(name, name.replace("_", " "))


def said_back(name: str, listed: Sequence[Any]) -> str:
    """How a list was understood, in few words: how many, the first ones and the last."""
    length = listed[-1] - listed[0] + 1 if isinstance(listed, range) else len(listed)  # may be too long for len()
    ends = listed if length < 4 else (listed[0], listed[1], ..., listed[-1])
    texts = ("..." if each is ... else as_text(each) for each in ends)
    shown = (text if len(text) <= 40 else f"{text[:37]}..." for text in texts)
    return f"{counted(length, 'value' if name == 'candidates' else name.removesuffix('s'))}: {', '.join(shown)}"


_FOREIGN = re.compile(  # what only those understand who write commands or Python; `age=18..65` is for all
    r"--|@|[a-z]_[a-z]|\w\(|(?<!ag)\w=|[\[\]{}`]|docs/|\bdpselect [a-z]|\b(dps|data)\.[a-z]|"
    r"\b(None|True|False|COLUMN|ROWS|Fraction|Dataset|Python)\b"
)

_SENTENCES = re.compile(r"(?<=[.?!]) (?=[A-Z\"'])")


def helped(text: str) -> str:
    """The help of an argument, in the words of a page."""
    file = r"(,? or)?,? ?@file( with one per line)?(,? or @codes\.csv:column)?"
    said = re.sub(file, ", or one on each line", text).replace(" of COLUMN", "").replace("in COLUMN", "there")
    return options_in_words(said)


def options_in_words(text: str) -> str:
    """A text with the labels of fields in place of options of a command."""
    return re.sub("--([a-z]+(?:-[a-z]+)*)", lambda found: label(found[1].replace("-", "_")), text)


def in_two(text: str) -> tuple[str, str]:
    """The first sentences of a help, which are shown at once, and the rest."""
    first, *rest = _SENTENCES.split(text)
    while rest and len(first) < 60:
        first = f"{first} {rest.pop(0)}"
    return first, " ".join(rest)


def error_in_words(error: SelectionError) -> str:
    """What is wrong, beside the field that it is about: what is expected, and what to do.

    A sentence of the hint that only makes sense to who writes commands or Python is left out.
    """
    if isinstance(error, InvalidParameterError):
        said = error.remedy(lambda key, to: label(key) if to in ("", "True") else f"set '{label(key)}' to {to}")
        begin, end = ("The table cannot be read: e", ["Nothing was charged."]) if error.name == "source" else ("E", [])
        first, *more = _SENTENCES.split(helped(f"{begin}xpected {said}"))
        if _FOREIGN.search(first):
            first = "This cannot be used here."
        return " ".join((first, *(each for each in more if not _FOREIGN.search(each)), *end))
    said = (error.what if isinstance(error, LedgerError) else str(error)).replace(OPTIONS, "")
    return re.sub(r"\b([a-z_]+)=([-.\w/]+)", r"\1 \2", f"{said[:1].upper()}{said[1:]}".rstrip(".") + ".")
