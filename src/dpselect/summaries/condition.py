"""What a row needs, besides a unit, to be counted: a public condition."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dpselect.checks import whole_or_double_bounds
from dpselect.summaries.candidates import PublicCandidates


@dataclass(frozen=True, slots=True)
class PublicCondition:
    """A condition on one row. Without any part, every row of a unit meets it.

    Attributes:
        candidates: the column has one of them.
        is_number: the column has a number.
        is_date: the column has a date.
        between: the number is not below the first and not above the second of these.
        summed: name of another column that has a number.
        argument: the question's name for the candidates, for errors.
    """

    candidates: PublicCandidates | None = None
    is_number: bool = False
    is_date: bool = False
    between: tuple[int | float, int | float] | None = None
    summed: str | None = None
    argument: str = "candidates"


def ends_of(given: tuple[Any, Any]) -> tuple[int | float | None, int | float | None]:
    """The ends of an interval of numbers as they are compared; None, of which there is at most one, is no end.

    Raises:
        InvalidParameterError: they are no such ends, or the first is above the second.

    >>> ends_of((18, None)), ends_of((0, 0.5))
    ((18.0, None), (0.0, 0.5))
    """
    known = [end for end in given if end is not None]
    between = whole_or_double_bounds((known[0], known[-1]), "where")
    lower, upper = (end if at is not None else None for end, at in zip(between, given, strict=True))
    return lower, upper
