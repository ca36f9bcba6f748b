"""The base of all answers: a table of two columns, a sentence on the error, and what it was drawn from."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from datetime import date
from typing import Any, ClassVar, Protocol

from dpselect.answers.text import as_text, counted

Value = int | float | str | bool | date
"""A candidate, or a number."""

Answered = Value | list[Value] | dict[Value, "Value | list[Value]"]
"""One value, several in order, or either of these for each group."""

_USELESS = 1e15
"""An error bound beyond any number of people."""


class Planned(Protocol):
    """The part of a release that is known before it is drawn; see `dpselect.Release`."""

    @property
    def column(self) -> str: ...
    @property
    def unit(self) -> str: ...
    @property
    def candidates(self) -> Mapping[str, Any]: ...
    @property
    def error_bound(self) -> float | None: ...
    @property
    def confidence(self) -> float: ...
    @property
    def arguments(self) -> Mapping[str, Any]: ...
    @property
    def groups(self) -> Mapping[str, Any] | None: ...


class Certified(Planned, Protocol):
    """The part of a release that is presented."""

    @property
    def value(self) -> Answered: ...


class Answer(ABC):
    """Answers to one task."""

    __slots__ = ()

    label: ClassVar[str]
    """Heading of the first column of the table."""

    unbounded: ClassVar[str] = "No bound on the error holds for all data"
    """The sentence if there is no error bound, and what to do about it."""

    @abstractmethod
    def keys(self, release: Certified) -> Iterable[str]:
        """The first column of the table, an entry for each value."""

    @abstractmethod
    def within(self, release: Planned, bound: float) -> str:
        """What is within `bound` of what, as part of a sentence."""

    @abstractmethod
    def origin(self, release: Planned) -> str:
        """What the value was drawn from, as part of a sentence."""

    def counting(self, release: Planned) -> str:
        """The part of each unit that the error bound covers, if not all of it: the end of the sentence."""
        del release
        return ""

    def error_unit(self, release: Planned) -> str | None:
        """The unit of the error, if it is not a count."""
        del release
        return None

    def error_bound(self, release: Planned) -> dict[str, Any] | None:
        """The error bound as in a certificate: ``within`` is None if it does not fit into a double."""
        if release.error_bound is None:
            return None
        within = release.error_bound if math.isfinite(release.error_bound) else None
        of = self.error_unit(release)
        return {"within": within, "confidence": release.confidence} | ({"unit": of} if of else {})

    def values(self, release: Certified) -> list[Value]:
        """The second column of the table: one line of text for each group, if there are groups."""
        if isinstance(release.value, dict):
            return [_on_a_line(each, self.told) for each in release.value.values()]
        return list(map(self.told, release.value)) if isinstance(release.value, list) else [self.told(release.value)]

    def told(self, value: Value) -> Value:
        """A value as shown in the table."""
        return value

    def heading(self, release: Planned) -> str:
        """Heading of the first column, or the name of the group column."""
        return self.label if release.groups is None else str(release.groups["column"])

    def rows(self, release: Certified) -> list[tuple[str, Value]]:
        """The table."""
        keys = map(as_text, release.value) if isinstance(release.value, dict) else self.keys(release)
        return list(zip(keys, self.values(release), strict=True))

    def accuracy(self, release: Planned) -> str:
        """The error bound in one sentence."""
        bound = release.error_bound
        if bound is None:
            return f"{self.unbounded}."
        if not bound < _USELESS:
            return "At this epsilon no useful bound on the error can be given."
        sure = f"{release.confidence:.0%} confidence {self.within(release, bound)}{self.counting(release)}."
        if release.groups is None:
            return f"With {sure}"
        most = counted(release.groups["max_per_unit"], "group")
        return f"In each {release.groups['column']}, counting each {release.unit} in at most {most}, with {sure}"

    def provenance(self, release: Planned) -> str:
        """The origin, and the number of groups."""
        if release.groups is None:
            return self.origin(release)
        count, most = release.groups["count"], counted(release.groups["max_per_unit"], "group")
        column, unit = release.groups["column"], release.unit
        return f"{self.origin(release)}, in each of {count:,} values of {column}, each {unit} in at most {most}"


def _on_a_line(answer: Value | list[Value], told: Callable[[Value], Value]) -> Value:
    """Several values separated by commas, in double quotes if they contain a comma, as candidates are written."""
    if not isinstance(answer, list):
        return told(answer)
    texts = [as_text(told(each)) for each in answer]
    quoted = [f'"{text.replace(chr(34), chr(34) * 2)}"' if "," in text or '"' in text else text for text in texts]
    return ", ".join(quoted)


def from_rows(release: Planned, numbers: str, *, ends: tuple[str, str] = ("lower", "upper")) -> str:
    """The origin of an answer drawn out of `numbers`, between `ends`, for a bounded number of rows per unit."""
    low, high = (as_text(release.candidates[end]) for end in ends)
    return f"out of {numbers} from {low} to {high}, from {_rows_of_each(release)}"


def counting_rows(release: Planned) -> str:
    """Rows left out are not covered by the bound: their random choice comes on top of the noise."""
    return f", counting {_rows_of_each(release)}"


def _rows_of_each(release: Planned) -> str:
    return f"at most {counted(release.arguments['max_rows_per_unit'], 'row')} of each {release.unit}"
