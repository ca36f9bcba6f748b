"""What a row needs, besides a unit, to be counted: a public condition."""

from __future__ import annotations

from dataclasses import dataclass

from dpselect.summaries.candidates import DistantCandidates, PublicCandidates


@dataclass(frozen=True, slots=True)
class PublicCondition:
    """A condition on one row. Without any part, every row of a unit meets it.

    Attributes:
        candidates: the column has one of them.
        is_number: the column has a number.
        between: the number is not below the first and not above the second of these.
        summed: name of another column that has a number.
        argument: the question's name for the candidates, for errors.
    """

    candidates: PublicCandidates | DistantCandidates | None = None
    is_number: bool = False
    between: tuple[int | float, int | float] | None = None
    summed: str | None = None
    argument: str = "candidates"
