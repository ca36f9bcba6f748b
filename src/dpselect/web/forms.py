"""The form of a question, from the arguments that it declares, and what was typed into it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from dpselect import arguments, public
from dpselect.arguments import OF_EVERY_QUESTION, OF_VIEWS, REQUIRED, Argument, arguments_of, words_of
from dpselect.checks import positive_epsilon
from dpselect.errors import InvalidCandidatesError, InvalidDataError, InvalidParameterError, SelectionError, typed
from dpselect.questions.question import Question
from dpselect.questions.words import as_text, counted
from dpselect.session.described import seen
from dpselect.session.forecast import Forecast
from dpselect.summaries import CandidateKind
from dpselect.web.site import NOBODY, Site

START = "0.5"
"""Where the slider of epsilon stands first: somewhere it has to."""

_MOST_EPSILON = 1000.0
"""More is a slip of the hand: probabilities may then change by a factor of more than 10^400."""

_LONGEST = 200_000
"""Characters of one field."""

_MORE = frozenset({"lower", "units", "method", "scale", "kind", "max_rows_per_unit", "where"})
"""Arguments that few need."""

_AT_FILE = re.compile(r"(or )?@file(( with one per line,)? or @codes\.csv:column)?(?=\.)")
_OPTION = re.compile(r"--([a-z]+(?:-[a-z]+)*)")

_ASKS = {"top_k": "What are the most common values?"}
"""Questions whose example asks for more than the question has to."""

_WORDS = {
    "count": "number of people",
    "histogram": "counts of values",
    "most_common": "most common value",
    "top_k": "most common values",
    "values": "names of values",
    "least_common": "rarest value",
    "sum": "sum",
    "mean": "average",
    "variance": "spread",
    "median": "middle value",
    "quantile": "percentile",
    "quantiles": "percentiles",
    "upper_bound": "upper bound",
    "density": "distribution",
    "best_by": "largest sum",
    "best_date": "date to meet on",
    "best_price": "price to ask",
}
"""What a question is called in few words."""

_QUARTILES = [0.25, 0.5, 0.75]

_UNIT = Argument("text", "Column that identifies whom a row belongs to: who is protected.", "unit")


@dataclass(frozen=True, slots=True)
class Field:
    """One field of a form.

    Attributes:
        argument: what is typed into it.
        default: what it shows at first.
        choices: what can be chosen, each with a label; empty: typed freely.
        part: where it stands: "main", "more" or "groups".
    """

    argument: Argument
    default: str = ""
    choices: tuple[tuple[str, str], ...] = ()
    part: str = "main"

    @property
    def name(self) -> str:
        """Of the argument."""
        return self.argument.name

    @property
    def label(self) -> str:
        """Its name in words."""
        return self.name.replace("_", " ")

    @property
    def help(self) -> str:
        """The help of the argument in the words of a page."""
        said = _AT_FILE.sub("or one on each line", self.argument.help)
        return _OPTION.sub(lambda found: found[1].replace("-", " "), said)

    @property
    def is_needed(self) -> bool:
        """Whether it may not stay empty."""
        return self.argument.default is REQUIRED

    @property
    def is_list(self) -> bool:
        """Whether it is a public list, or conditions: one on each line."""
        return self.argument.names_members or self.name == "where"

    @property
    def kind(self) -> str:
        """How it is typed; see `Argument.kind`. Also "list" and "choice"."""
        if self.choices or not isinstance(self.argument.kind, str):
            return "choice"
        return "list" if self.is_list else self.argument.kind

    @property
    def parts(self) -> tuple[str, ...]:
        """The names of its inputs."""
        is_pair = words_of(self.argument.kind) == 2
        return (f"{self.name}.lower-end", f"{self.name}.upper-end") if is_pair else (self.name,)


def fields_of(about: type[Question], site: Site) -> list[Field]:
    """The fields of a question, in the order in which they are filled in."""
    columns = [(each.name, f"{each.name} ({each.holds})" if site.is_typed else each.name) for each in site.columns]
    examples = dict(zip(about.positional, about.example[0].split()[2:], strict=True))  # after table and column
    own = [each for each in arguments_of(about) if each.name != "epsilon"]
    own.sort(key=lambda each: (each.name != "column", each.name not in examples, each.default is not REQUIRED))
    main = [*([_UNIT] if site.unit is None else []), *(each for each in own if each.name not in _MORE)]
    more = [each for each in own if each.name in _MORE]
    more += [_kind_of("candidates")] if about.chooses() else []
    more += [each for each in OF_EVERY_QUESTION if each.name != "request"]
    views = [each for each in OF_VIEWS if each.name != "where"]
    listed = [(each, "main") for each in main] + [(each, "more") for each in more]
    listed += [(each, "more") for each in OF_VIEWS if each.name == "where"]
    for each in views:
        listed += [(each, "groups"), *([(_kind_of("groups"), "groups")] if each.name == "groups" else [])]
    return [_field(each, part, columns, site, examples.get(each.name, "")) for each, part in listed]


def _kind_of(listed: str) -> Argument:
    help = f"Type of the {listed}. Default: the column's type; for CSV, integers if all look like it (007 does not)."
    return Argument(CandidateKind, help, f"{listed}_as", None)


def _field(argument: Argument, part: str, columns: Sequence[tuple[str, str]], site: Site, example: str) -> Field:
    needed, kind = argument.default is REQUIRED, argument.kind
    default = example if needed or argument.default in (None, False) else str(argument.default).removesuffix(".0")
    choices: list[tuple[str, str]] = []
    if kind == "text":  # every one of them names a column
        without = {"unit": NOBODY, "column": "value"}  # of a plan without a table
        default = without.get(argument.name, "") if site.source is None and needed else ""
        choices = [each for each in columns if argument.name != "column" or each[0] != site.unit]
    elif not isinstance(kind, str):
        choices = [(word, str(each)) for word, each in arguments.words_for(kind).items()]
    return Field(argument, default, tuple(choices), part)


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
        form = cls(about, site, fields, texts, unit=site.unit or texts.get("unit", ""))
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
        try:
            epsilon = positive_epsilon(arguments.read("number", "epsilon", self.typed["epsilon"]), "epsilon")
            if epsilon > _MOST_EPSILON:
                hint = "With so much of it nobody is protected."
                raise InvalidParameterError("epsilon", epsilon, f"a number up to {_MOST_EPSILON:g}", hint)
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
        given = dict(self.arguments)
        view = {each.name: given.pop(each.name) for each in OF_VIEWS if each.name in given}
        return getattr(seen(data, **view), self.about.name)(given.pop("column", None), **given, epsilon=epsilon, **more)

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
        elif not all(texts):
            if each.is_needed or any(texts):
                self.missing.append(each.name)
        else:
            try:
                value = self._value(each, texts)
            except SelectionError as error:
                self.errors[each.name] = str(error)
                return
            if each.is_list and each.name != "where":
                self.understood[each.name] = said_back(each.name, value)
            if value != each.argument.default and each.name not in ("unit", "candidates_as", "groups_as"):
                self.arguments[each.name] = value

    def _value(self, each: Field, texts: list[str]) -> Any:
        """What was typed into a field, as the question takes it.

        Files are not named here: a page could be made to show what is in them.
        """
        if each.kind == "flag":
            return texts[0] == "on"
        if each.name == "where":
            return public.value_of(each.argument, conditions(texts[0]), self._kinds, None, private="")
        if each.is_list:
            texts = [public.on_a_line(texts[0], each.name)]
            if texts[0].startswith("@"):
                hint = "Paste the list instead: one on each line, or separated by commas."
                raise InvalidCandidatesError(each.name, typed(texts[0]), "a list, not the name of a file", hint)
        chosen = self.typed.get(f"{each.name}_as", "")
        kind = arguments.read(CandidateKind, f"{each.name}_as", chosen) if chosen else None
        column = self.typed.get("by" if each.name == "groups" else "column") or None
        return public.value_of(each.argument, texts, self._kinds_if_any, column, kind=kind, private="")

    def _kinds(self, column: str) -> Sequence[CandidateKind]:
        return self.site.dry(self.unit).candidate_kinds(column)

    def _kinds_if_any(self, column: str) -> Sequence[CandidateKind]:
        """The types that the members of a list can match; the question says what is wrong with its column."""
        try:
            return self._kinds(column) if self.unit else ()
        except InvalidDataError:
            return ()


def conditions(text: str) -> list[str]:
    """The conditions on rows that were typed, one on each line."""
    return [line.strip() for line in text.splitlines() if line.strip()]


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


def in_few_words(about: type[Question]) -> str:
    """What a question is called in few words, beside its title.

    >>> from dpselect.questions.question import BY_NAME
    >>> [in_few_words(BY_NAME[name]) for name in ("mean", "quantile")]
    ['average', 'percentile']
    """
    return _WORDS.get(about.name, about.name.replace("_", " "))


def title(about: type[Question], arguments: Mapping[str, Any] | None = None) -> str:
    """The question as a heading; with the arguments as far as they are known.

    >>> from dpselect.questions.question import BY_NAME
    >>> title(BY_NAME["top_k"])
    'What are the most common values?'
    >>> title(BY_NAME["top_k"], {"k": 5, "with_counts": True})
    'What are the 5 most common values, and how many have each?'
    >>> title(BY_NAME["quantile"], {"level": 0.75}), title(BY_NAME["median"])
    ('Below which number do 75% of the values lie?', 'What is the median?')
    >>> title(BY_NAME["quantiles"]), title(BY_NAME["quantiles"], {"levels": [0.1, 0.5]})
    ('What are the quartiles?', 'What are the quantiles?')
    """
    given = arguments or {}
    if about.name == "top_k" and isinstance(k := given.get("k"), int):
        asked = "What is the most common value" if k == 1 else f"What are the {k:,} most common values"
        counts = "how many have it" if k == 1 else "how many have each"
        return f"{asked}, and {counts}?" if given.get("with_counts") else f"{asked}?"
    if about.name == "quantiles" and given.get("levels", _QUARTILES) != _QUARTILES:
        return "What are the quantiles?"
    if about.name == "quantile" and isinstance(level := given.get("level"), float):
        return f"Below which number do {as_text(round(100 * level, 6))}% of the values lie?"
    return _ASKS.get(about.name, about.asks)
