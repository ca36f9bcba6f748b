"""A question is data: a frozen class whose fields are its public arguments. All else follows from them.

To add a question, declare a class in one of the files that `FAMILIES` names, and name it there. Its method of
`dpselect.Dataset`, its command, form, certificate, row in the documents and keys of a plan are derived.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections import UserDict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib import import_module
from itertools import pairwise
from typing import Any, ClassVar, Self, cast, dataclass_transform

from dpselect import arguments, mechanisms, summaries
from dpselect.arguments import Argument, arguments_of
from dpselect.checks import positive_count
from dpselect.errors import InvalidParameterError, wrong
from dpselect.privacy import Neighbours, as_text
from dpselect.questions.records import CONFIDENCE, LARGEST_COUNT, Drawn, Planned, Value, counted

FAMILIES = {  # the questions, in the order in which people meet them, and the modules that declare them
    "count histogram": "counts",
    "values": "values",
    "most_common least_common best_date top_k": "selection",
    "sum best_by best_price": "sums",
    "median quantile quantiles upper_bound": "quantiles",
    "mean variance std": "moments",
    "density": "counts",
}


@dataclass(frozen=True, slots=True)
class Columns:
    """What a question may know before rows are read: public facts about columns, which `facts` has once they are asked.

    They are those of a `table`, or without one what a certificate has `stated`.
    """

    table: Any
    stated: Mapping[str, Any]
    facts: dict[str, Any] = field(default_factory=dict[str, Any])

    def are_whole(self, column: str, *ends: Any) -> bool:
        """Whether a column's type and the ends are of whole numbers, which doubles distinguish from the next ones."""
        found: object = self.stated.get("is_whole") if self.table is None else self.table.is_whole(column)
        if not isinstance(found, bool):
            raise wrong("facts.is_whole", "whether the column's type is one of whole numbers")
        self.facts["is_whole"] = found
        return found and all(end.denominator == 1 and abs(end) < 2**52 for end in ends)

    def name_kind(self, column: str, /) -> summaries.CandidateKind:
        """The kind in which unknown values of a column are read, if the caller names none."""
        found = self.stated.get("kind") if self.table is None else self.table.name_kind(column)
        if found not in [*summaries.CandidateKind]:
            raise wrong("facts.kind", f"one of {', '.join(summaries.CandidateKind)}")
        self.facts["kind"] = str(found)
        return summaries.CandidateKind(found)


@dataclass_transform(kw_only_default=True, frozen_default=True)
@dataclass(frozen=True, kw_only=True)
class Question(ABC):
    """A question. Its docstring says what it asks, what is returned, and where that is proved."""

    column: Any  # each declares of what
    epsilon: arguments.Epsilon
    neighbours: Neighbours = Neighbours.ADD_REMOVE
    """Which tables the guarantee compares: no argument of a question, but of the table."""

    # What it declares of itself.

    name: ClassVar[str]  # as a method, a command and in plans
    asks: ClassVar[str]  # it in everyday words
    example: ClassVar[tuple[str, str]]
    """Arguments that work with the files of the examples: those without a name, then the options, first the unit.

    The example in its docstring asks the same table, `data`.
    """
    positional: ClassVar[tuple[str, ...]] = ()  # arguments that may be given without their names, after the column
    value: ClassVar[str] = "Any"  # the type of its value, as a stub writes it
    gives_list: ClassVar[bool] = False  # an answer is a list of values: where `value` is

    # What sentences, tables and pictures say of a value.

    label: ClassVar[str] = "answer"  # heading of the first column of the table
    called: ClassVar[str] = ""  # the answer, if not like the question
    digits: ClassVar[str] = ""  # of a number in the table, as a format; the certificate has all
    measure: ClassVar[str] = ""
    """What a value measures, with ``{unit}`` and ``{column}``; empty if it is one of the candidates."""
    is_amount: ClassVar[bool] = False  # a value is drawn as a bar from zero, and is no place on a scale
    is_count: ClassVar[bool] = False
    """A value is a number of units, and so not below 0. A certificate names all of what is counted, however many."""
    tells_units: ClassVar[bool | None] = None
    """Whether ``usable_epsilon`` tells more than any answer and its counts; None: it depends on these."""
    error_unit: ClassVar[str | None] = None  # the unit of the error, if it is not a count
    bounds_value: ClassVar[bool] = False  # the error bound is of a value, rather than of its rank or score
    near: ClassVar[str] = ""
    """The sentence of `within` with ``{bound}``, ``{column}``, ``{unit}`` and arguments, where they are all of it."""
    unbounded: ClassVar[str] = "No bound on the error holds for all data"
    """The sentence if there is no error bound, and what to do about it."""

    def __init_subclass__(cls, *, name: str = "", **options: Any) -> None:
        super().__init_subclass__(**options)
        dataclass(frozen=True, kw_only=True)(cls)
        cls.gives_list = cls.value.startswith("list")
        if name:
            cls.name = name
            _DECLARED[name] = cls

    @classmethod
    def does(cls) -> str:
        """What it finds: the first sentence of its docstring, in which arguments are between backquotes."""
        return " ".join((cls.__doc__ or "").partition("\n\n")[0].split())

    @classmethod
    def argument(cls, name: str) -> Argument:
        """The argument of this name."""
        return next(each for each in arguments_of(cls) if each.name == name)

    @classmethod
    def options(cls) -> tuple[Argument, ...]:
        """The arguments that a command takes with their names."""
        return tuple(each for each in arguments_of(cls) if each.name not in ("column", *cls.positional))

    @classmethod
    def chooses(cls) -> bool:
        """Whether there may be a public list of candidates."""
        return any(each.kind == "list" for each in arguments_of(cls))

    def known(self, columns: Columns, /) -> Question:
        """The question with all that decides its cost: its lists read, and what the table tells of its columns.

        An argument that is invalid, or does not fit the column, is refused. No row is read.
        """
        return self

    # What follows holds for the question that is `known`.

    def check_usable(self, usable_epsilon: float, /) -> None:  # noqa: B027 - most have nothing to refuse
        """Refuse an epsilon for the number of usable units where that number says nothing more."""

    @cached_property
    @abstractmethod
    def mechanism(self) -> Any:
        """What draws, once, at the whole cost of one release."""

    @cached_property
    @abstractmethod
    def terms(self) -> Planned:
        """What the certificate will contain, except the answer."""

    def stated(self, moved: float, *proofs: str, error_bound: float | None, **more: Any) -> Planned:
        """The same, of what draws once, where one unit can change any one number that is drawn from by `moved`.

        Other fields of `Planned` are given by name. `proofs` are the page that proves this change, and those of the
        draw. One more unit changes all numbers in one direction, unless `monotonic` is given.
        """
        draws, relation = self.mechanism, self.neighbours
        about: dict[str, Any] = {"sensitivity": moved, "monotonic": relation.one_way, "neighbours": relation}
        about |= {"mechanism": type(draws).__name__, "epsilon": draws.epsilon, "delta": getattr(draws, "delta", 0.0)}
        about |= {"task": self.name, "event": draws.event, "error_unit": self.error_unit, "proofs": proofs}
        return Planned(error_bound=error_bound, **about | more)

    @property
    @abstractmethod
    def scan(self) -> summaries.Scan:
        """What is read of the rows; it draws from the summary."""

    @abstractmethod
    def released(self, summary: Any, /) -> Drawn:
        """The answer, at the cost of `mechanism`, with the noisy numbers of units that `terms` says come with it.

        The `summary` is that of `scan`, in one group or of all rows; of one made for another question nothing is drawn.
        """

    @abstractmethod
    def possible(self, values: list[Any], units: int | None, counts: list[int] | None) -> bool:
        """Whether one answer can have these values: in a certificate, whose text may have been edited.

        Args:
            values: those of the answer, in a list also if it is a single one; of any type that JSON has, or dates.
            units: the number of units that came with it at no cost, if one did. It is read from the same noise.
            counts: likewise the noisy counts of the values.
        """

    # Sentences about an answer, from its certificate or its forecast alone.

    @classmethod
    def keys(cls, release: Planned, count: int) -> Iterable[Any]:
        """The first column of the table, an entry for each of the `count` values: numbers and dates as such."""
        if cls.label == "answer":
            return [cls.called or cls.name.replace("_", " ")]
        if cls.label == "level":
            return release.arguments.get("levels") or [release.arguments["level"]]
        places = range(1, count + 1)
        return map(str, places) if cls.label == "number" else places  # of lines, which say nothing of an order

    @classmethod
    def within(cls, release: Planned, bound: float) -> str:
        """The part of a sentence that says what differs from what by at most `bound`: numbers of units are whole."""
        shown = f"{bound if cls.error_unit else math.floor(bound):,}".removesuffix(".0")
        return cls.near.format(bound=shown, column=release.column, unit=release.unit, **release.arguments)

    @classmethod
    @abstractmethod
    def origin(cls, release: Planned) -> str:
        """The part of a sentence that says what the value was drawn from."""

    @classmethod
    def counting(cls, release: Planned) -> str:
        """The end of the sentence: which values or rows of a unit the error bound covers, if not all."""
        most = release.arguments.get("max_values_per_unit")
        return "" if most is None else f", counting at most {counted(most, 'value')} of each {release.unit}"

    @classmethod
    def counts_within(cls, release: Planned, within: int) -> str:
        """The part of a sentence that says how far the counts of selected candidates may be from the truth."""
        which = f"the number of units ({release.unit}) with the released {release.column}"
        return f"each count is within {within:,} of {which}"

    @classmethod
    def beyond(cls, release: Planned, answer: Value | list[Value]) -> str:
        """Why the error bound does not hold for this answer, in a sentence; empty if it does."""
        return ""

    @classmethod
    def ending(cls, release: Planned, count: int) -> str:
        """A sentence about why there are only `count` values; empty if there are as many as were asked for."""
        return ""

    @classmethod
    def value_bound(cls, release: Planned, units: int | None, value: Any) -> float | None:
        """How far this value may be from the truth, by the released number of `units` where there is one.

        None if the error bound is about something else, or there is none.
        """
        return release.error_bound if cls.bounds_value else None

    @classmethod
    def possible_values(cls, release: Planned) -> tuple[float, float]:
        """The least and the largest true value, by public arguments alone; an interval need not go further."""
        return (0 if cls.is_count else -math.inf), math.inf

    @classmethod
    def accepts_usable_epsilon(cls, release: Planned) -> bool:
        """Whether ``usable_epsilon`` can be given, and would tell more than the answer and its counts do.

        Of numbers between two others none may be there, or none be read; other counts are such numbers themselves.
        """
        if cls.tells_units is not None:
            return cls.tells_units
        return release.counted is None and (not cls.is_count or "between" in release.arguments)


class ListQuestion(Question):
    """A question that chooses from a public list. Its subclasses are questions."""

    column: arguments.Values

    label: ClassVar[str] = "rank"
    listed: ClassVar[str] = "candidates"  # the argument with the list
    max_values_per_unit = cast("Any", None)  # an argument of most

    def known(self, columns: Columns, /) -> Self:
        given = summaries.PublicCandidates.given(getattr(self, self.listed), argument=self.listed)
        return replace(self, **cast(Any, {self.listed: given}))

    @property
    def answers(self) -> int:
        """Number of candidates that it selects."""
        if not hasattr(self, "k"):
            return 1
        what = f"the number of {self.listed}"
        return positive_count(cast(Any, self).k, "k", at_most=len(self.choices), at_most_what=what)

    @cached_property
    def choices(self) -> summaries.PublicCandidates:
        """The candidates."""
        return getattr(self, self.listed)

    @property
    def described(self) -> dict[str, Any]:
        """The candidates in a certificate: their origin, number and kind."""
        return {"origin": "caller", "count": len(self.choices.values), "kind": str(self.choices.kind)}

    @property
    def counts(self) -> summaries.CountsOf:
        """How many units have each candidate."""
        return summaries.CountsOf(self.choices, self.max_values_per_unit, self.listed)

    scan = counts  # pyright: ignore[reportIncompatibleMethodOverride] - of a narrower type

    @classmethod
    def origin(cls, release: Planned) -> str:
        return f"out of {counted(release.candidates['count'], cls.listed.removesuffix('s'))} given by the caller"

    def possible(self, values: list[Any], units: int | None, counts: list[int] | None) -> bool:
        """The most common comes first."""
        falling = counts is None or all(one >= next_one for one, next_one in pairwise(counts))
        return falling and len(values) == self.answers and self.choices.may_hold(values)


def units_noise(
    epsilon: float, moved: int, neighbours: Neighbours, *, size: int = 1, argument: str = "epsilon"
) -> mechanisms.GeometricMechanism:
    """The noise of numbers of units that change by at most `moved` in sum."""
    bounds = 0, LARGEST_COUNT
    noise = mechanisms.GeometricMechanism(epsilon=epsilon, sensitivity=moved, bounds=bounds, neighbours=neighbours)
    if noise.error_bound(CONFIDENCE, size=size) > 2**53:  # not every whole number beyond is a double
        raise InvalidParameterError(argument, epsilon, "a number large enough for a useful count")
    return noise


def check_useful(mechanism: mechanisms.GeometricMechanism | mechanisms.DiscreteGaussianMechanism, counts: int) -> None:
    """Refuse an epsilon at which noise would drown any number of units."""
    if mechanism.error_bound(CONFIDENCE, size=counts) * counts >= LARGEST_COUNT:
        raise InvalidParameterError("epsilon", mechanism.epsilon, "a number large enough for a useful count")


class NumbersQuestion(Question):
    """A question about at most so many numbers of each unit, between public bounds. Its subclasses are questions."""

    column: arguments.Numbers

    may_be_dates: ClassVar[bool] = False  # the bounds, and the values
    ends: ClassVar[tuple[str, str]] = "lower", "upper"  # of what it is drawn out of, as a certificate names them
    max_rows_per_unit = cast("Any", 1)  # an argument of most

    @cached_property
    def domain(self) -> summaries.PublicDomain:
        """The public bounds, and the grid between them if there is a step."""
        asked = cast(Any, self)
        return summaries.PublicDomain.given(asked.bounds, step=asked.step, may_be_dates=self.may_be_dates)

    @property
    def priced(self) -> dict[str, Any]:
        """What its mechanism is told of the cost and of the units."""
        return {"epsilon": self.epsilon, "neighbours": self.neighbours, "values_per_unit": self.max_rows_per_unit}

    @property
    def scan(self) -> summaries.Scan:
        return summaries.ValuesIn(self.domain, self.max_rows_per_unit)

    def values(self, summary: summaries.UnitValues, /) -> Any:
        """The values, or an error if they were gathered with another domain, or more than there may be of a unit."""
        if summary.max_rows_per_unit > self.max_rows_per_unit or summary.domain != self.domain:
            expected = "values gathered with the bounds, step and rows per unit of the question"
            raise InvalidParameterError("values", summary, expected)
        return summary.values

    def released(self, summary: summaries.UnitValues, /) -> Drawn:
        drawn = self.mechanism.draw(self.values(summary))
        return Drawn([*map(self.domain.shown, drawn)] if self.gives_list else self.domain.shown(drawn))

    def possible(self, values: list[Any], units: int | None, counts: list[int] | None) -> bool:
        return all(map(self.domain.may_hold, values))

    @classmethod
    def counting(cls, release: Planned) -> str:
        """Rows left out are not covered by the bound: their random choice comes on top of the noise."""
        return f", counting {_rows_of_each(release)}"

    @classmethod
    def among(cls, release: Planned) -> str:
        """What the answer was drawn out of."""
        return "all numbers"

    @classmethod
    def origin(cls, release: Planned) -> str:
        low, high = (as_text(release.candidates[end]) for end in cls.ends)
        return f"out of {cls.among(release)} from {low} to {high}, from {_rows_of_each(release)}"


def _rows_of_each(release: Planned) -> str:
    return f"at most {counted(release.arguments['max_rows_per_unit'], 'row')} of each {release.unit}"


_DECLARED: dict[str, type[Question]] = {}  # those whose files are imported, by name


class _Questions(UserDict[str, Any]):
    """Questions by name; the file that is named for each is imported when it is first looked up."""

    def __getitem__(self, name: str) -> type[Question]:
        if name not in _DECLARED:
            import_module(f"dpselect.questions.{self.data[name]}")
        return _DECLARED[name]


BY_NAME: Mapping[str, type[Question]] = _Questions(  # the questions of a table, by the name of their method
    {name: module for names, module in FAMILIES.items() for name in names.split()}
)

QUESTIONS: Mapping[str, type[Question]] = _Questions(
    {
        **BY_NAME.data,
        "unbounded_quantile": "quantiles",
        "top_unknown": "values",
        "histogram_of_bins": "counts",
        "best_features": "selection",
    }
)
"""All that a release may answer: also those without bounds or a list, and the one about arrays."""
