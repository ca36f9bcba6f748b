"""Shared parts of the questions about columns of numbers: the steps between answers, and the values they are from."""

from __future__ import annotations

import math
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, cast

from dpselect import summaries
from dpselect.checks import decimal_fraction, finite_bounds, positive_count
from dpselect.errors import InvalidParameterError
from dpselect.questions.question import Columns, Question
from dpselect.questions.words import Planned, as_text, counted

if TYPE_CHECKING:
    from dpselect.summaries import PublicCondition, PublicDomain, Scan, UnitValues

MOST_ROWS_PER_UNIT = 1_000_000_000
"""More rows of one unit are refused: the noise would drown any table."""


class NumbersQuestion(Question):
    """A question about at most so many numbers of each unit, between public bounds. Its subclasses are questions."""

    may_be_dates: ClassVar[bool] = False
    """Whether the bounds, and the values, may be dates."""

    @cached_property
    def domain(self) -> PublicDomain:
        """The public bounds, and the grid between them if there is a step."""
        asked = cast(Any, self)
        return summaries.PublicDomain.given(asked.bounds, step=asked.step, may_be_dates=self.may_be_dates)

    @cached_property
    def most(self) -> int:
        """The most values of one unit."""
        return positive_count(getattr(self, "max_rows_per_unit", 1), "max_rows_per_unit", at_most=MOST_ROWS_PER_UNIT)

    @property
    def scan(self) -> Scan:
        return summaries.ValuesIn(self.domain, self.most)

    @property
    def usable_units(self) -> PublicCondition | None:
        """Those with a number, or a date: as many as there are values, if each unit has one."""
        dated = self.domain.dated
        return None if self.most == 1 else summaries.PublicCondition(is_number=not dated, is_date=dated)

    def values(self, summary: UnitValues, /) -> Any:
        """The values, or an error if they were gathered with another domain, or more than `most` of a unit."""
        if summary.max_rows_per_unit > self.most or summary.domain != self.domain:
            expected = "values gathered with the bounds, step and rows per unit of the question"
            raise InvalidParameterError("values", summary, expected)
        return summary.values

    @classmethod
    def counting(cls, release: Planned) -> str:
        """Rows left out are not covered by the bound: their random choice comes on top of the noise."""
        return f", counting {_rows_of_each(release)}"


def near_quantile(release: Planned, bound: float) -> str:
    """The part of a sentence about how far an answer may be from the true quantile."""
    level = release.arguments["level"]
    truth = "median" if level == 0.5 else f"{as_text(level)}-quantile"
    return f"the released {release.column} is within {counted(math.ceil(bound), 'rank')} of the true {truth}"


_WHOLE = 2**52
"""Below it, a step of 1 is one that doubles distinguish."""

_STEP = (
    "It is 1 for ages in years, 0.01 for amounts in cents. With `continuous=True` the answer is any number between the"
    " bounds; it can be far off if values repeat."
)
_SMALLEST_STEP = "It is 1 for ages in years, 0.01 for amounts in cents."


def step_between(columns: Columns, column: str, bounds: object, step: Any, *, continuous: bool) -> Any:
    """The distance between possible answers; None if the caller asked for all numbers between the bounds.

    Neither is the default, except where a type says it: of repeated values, a draw among all numbers is most often in
    the widest gap between them, which says nothing about the rows.
    """
    if continuous and step is not None:
        raise InvalidParameterError("continuous", True, "nothing, because a `step` is given")
    if step is not None or continuous:
        return step
    try:
        if are_whole(columns, column, bounds):
            return 1
    except InvalidParameterError:
        if summaries.are_dates(bounds):  # refused later where they may not be
            return 1
        raise
    raise InvalidParameterError("step", None, "the distance between possible answers, or `continuous=True`", _STEP)


def smallest_step(columns: Columns, column: str, lower: object, step: Any) -> Any:
    """The smallest distance between possible answers without an upper bound: 1 where the type says so."""
    if step is not None:
        return step
    first = decimal_fraction(lower, "lower", expected="a finite number")
    if columns.is_whole(column) and first.denominator == 1 and abs(first) < _WHOLE:
        return 1
    raise InvalidParameterError("step", None, "the smallest distance between possible answers", _SMALLEST_STEP)


def are_whole(columns: Columns, column: str, bounds: object) -> bool:
    """Whether the column's type and the bounds are of whole numbers."""
    ends = finite_bounds(bounds)  # also of dates, before the type of a column is refused
    return columns.is_whole(column) and all(end.denominator == 1 and abs(end) < _WHOLE for end in ends)


def from_rows(release: Planned, numbers: str, *, ends: tuple[str, str] = ("lower", "upper")) -> str:
    """The origin of an answer drawn out of `numbers`, between `ends`, for a bounded number of rows per unit."""
    low, high = (as_text(release.candidates[end]) for end in ends)
    return f"out of {numbers} from {low} to {high}, from {_rows_of_each(release)}"


def _rows_of_each(release: Planned) -> str:
    return f"at most {counted(release.arguments['max_rows_per_unit'], 'row')} of each {release.unit}"
