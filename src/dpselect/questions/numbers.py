"""Shared parts of the questions about columns of numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dpselect import summaries
from dpselect.errors import InvalidParameterError
from dpselect.questions.question import Question

if TYPE_CHECKING:
    from dpselect.questions.question import Planned, RowReader
    from dpselect.summaries import PublicDomain, PublicGroups, UnitValues

MOST_ROWS_PER_UNIT = 1_000_000_000
"""More rows of one unit are refused: the noise would drown any table."""


class ValuesQuestion(Question[Any]):
    """A question about numbers between public bounds. Its subclasses are questions."""

    def usable_units(self, rows: RowReader, groups: PublicGroups | None, found: list[UnitValues], /) -> list[int]:
        """How many units have a number: as many as there are values, if each unit has one."""
        if all(each.max_rows_per_unit == 1 for each in found):
            return [each.values.size for each in found]
        return rows.units(summaries.PublicCondition(is_number=True), groups)


def gathered_for(values: UnitValues, domain: PublicDomain, *, most: int) -> UnitValues:
    """`values`, or an error if they were gathered with another domain, or more than `most` of a unit."""
    if values.max_rows_per_unit > most or values.domain != domain:
        expected = "values gathered with the bounds, step and rows per unit of the question"
        raise InvalidParameterError("values", values, expected)
    return values


def numbers_between(release: Planned) -> str:
    """What an answer between public bounds is drawn from, as part of a sentence."""
    return f"the {release.candidates['count']:,} numbers" if release.candidates["source"] == "grid" else "all numbers"
