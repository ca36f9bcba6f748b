"""Shared parts of the questions about columns of numbers: the steps between answers, and the values they are from."""

from __future__ import annotations

import math
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, cast

from dpselect import summaries
from dpselect.checks import decimal_fraction, finite_bounds, positive_count
from dpselect.errors import InvalidParameterError
from dpselect.questions.declared import Columns, Question
from dpselect.questions.question import as_text, counted, counting_rows

if TYPE_CHECKING:
    from dpselect.questions.question import Planned, RowReader
    from dpselect.summaries import PublicDomain, PublicGroups, UnitValues

MOST_ROWS_PER_UNIT = 1_000_000_000
"""More rows of one unit are refused: the noise would drown any table."""


class ValuesQuestion(Question):
    """A question about numbers between public bounds. Its subclasses are questions."""

    def usable_units(self, rows: RowReader, groups: PublicGroups | None, found: list[UnitValues], /) -> list[int]:
        """How many units have a number, or a date: as many as there are values, if each unit has one."""
        if all(each.max_rows_per_unit == 1 for each in found):
            return [each.values.size for each in found]
        dated = found[0].domain.dated
        return rows.units(summaries.PublicCondition(is_number=not dated, is_date=dated), groups)


class NumbersQuestion(ValuesQuestion):
    """A declared question about at most so many numbers of each unit. Its subclasses have a `mechanism`."""

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

    def summaries(self, rows: RowReader, groups: PublicGroups | None, /) -> list[UnitValues]:
        """Values between the bounds, at most so many of each unit."""
        return rows.gather(self.domain, groups, max_rows_per_unit=self.most)

    def values(self, summary: UnitValues, /) -> Any:
        """The values, if they were gathered for this question."""
        return gathered_for(summary, self.domain, most=self.most).values

    @classmethod
    def counting(cls, release: Planned) -> str:
        """See `Question.counting`."""
        return counting_rows(release)


def gathered_for(values: UnitValues, domain: PublicDomain, *, most: int) -> UnitValues:
    """`values`, or an error if they were gathered with another domain, or more than `most` of a unit."""
    if values.max_rows_per_unit > most or values.domain != domain:
        expected = "values gathered with the bounds, step and rows per unit of the question"
        raise InvalidParameterError("values", values, expected)
    return values


def near_quantile(release: Planned, bound: float) -> str:
    """The part of a sentence about how far an answer may be from the true quantile."""
    level = release.arguments["level"]
    truth = "median" if level == 0.5 else f"{as_text(level)}-quantile"
    return f"the released {release.column} is within {counted(math.ceil(bound), 'rank')} of the true {truth}"


_WHOLE = 2**52
"""Below it, a step of 1 is one that doubles distinguish."""

_STEP = (
    "It is 1 for ages in years, 0.01 for amounts in cents. With continuous=True the answer is any number between the"
    " bounds; it can be far off if values repeat."
)
_SMALLEST_STEP = "It is 1 for ages in years, 0.01 for amounts in cents."


def step_between(columns: Columns, column: str, bounds: object, step: Any, *, continuous: bool) -> Any:
    """The distance between possible answers; None if the caller asked for all numbers between the bounds.

    Neither is the default, except where a type says it: of repeated values, a draw among all numbers is most often in
    the widest gap between them, which says nothing about the rows.
    """
    if continuous and step is not None:
        raise InvalidParameterError("continuous", True, "False, because a step is given")
    if summaries.are_dates(bounds):  # refused later where they may not be
        if continuous:
            raise InvalidParameterError("continuous", True, "False, because the bounds are dates")
        return 1 if step is None else step
    if step is not None or continuous:
        return step
    if are_whole(columns, column, bounds):
        return 1
    raise InvalidParameterError("step", None, "the distance between possible answers, or continuous=True", _STEP)


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
    ends = finite_bounds(bounds)
    return columns.is_whole(column) and all(end.denominator == 1 and abs(end) < _WHOLE for end in ends)
