"""A question together with noisy numbers of units, at one cost for both: the common part of two kinds of them."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, Generic, Literal, TypeVar, cast

import numpy as np

from dpselect.accounting import SequenceEvent
from dpselect.accounting.rounding import fraction_up
from dpselect.errors import InvalidParameterError
from dpselect.mechanisms import GeometricMechanism, PendingSelection
from dpselect.privacy import Neighbours
from dpselect.questions.count import LARGEST_COUNT
from dpselect.questions.question import CONFIDENCE, Answered, Drawn, NoisyUnits, Priced, RowReader, Terms

Summary = TypeVar("Summary")
Numbers = TypeVar("Numbers")

_WIDEST = 2**53
"""A bound beyond this is of no use, and not every whole number beyond it is a double."""


@dataclass(frozen=True, slots=True, repr=False)
class CountedSummary(Generic[Summary, Numbers]):
    """The summary of a question, and exact numbers of units. Private: shown by no ``repr``.

    Attributes:
        summary: what the question draws from.
        numbers: the numbers of units from which noisy ones are made.
    """

    summary: Summary
    numbers: Numbers

    def __repr__(self) -> str:
        return "CountedSummary(<private>)"

    def close(self) -> None:
        """Release what an engine keeps."""
        summary = cast("PendingSelection | CountedSummary[Any, Any] | None", self.summary)
        if isinstance(summary, PendingSelection | CountedSummary):
            summary.close()


@dataclass(frozen=True, kw_only=True)
class WithNumbers(Priced[CountedSummary[Summary, Numbers]], Generic[Summary, Numbers]):
    """A question, and numbers of units with two-sided geometric noise of their own.

    Attributes:
        question: the question, of all rows or of groups.
        noise: draws the noisy numbers, at a cost of their own.
    """

    part: ClassVar[Literal["usable", "counted"]]
    """The field of `Terms` and of `Drawn` that these numbers are in."""

    page: ClassVar[str]
    """The page that proves the cost of both together."""

    question: Priced[Summary]
    noise: GeometricMechanism

    @property
    def event(self) -> SequenceEvent:
        """What the answer and the numbers cost together; to be charged before `released` is called."""
        return SequenceEvent(events=(self.question.event, self.noise.event))

    @property
    def numbers_at_once(self) -> int:
        """How many noisy numbers there are in one group."""
        return 1

    @cached_property
    def terms(self) -> Terms:
        """What the certificate will contain."""
        answer = self.question.terms
        within = self.noise.error_bound(CONFIDENCE, size=self.numbers_at_once)
        numbers = NoisyUnits(within=within, epsilon=self.noise.epsilon, answer_epsilon=answer.epsilon)
        total = fraction_up(Fraction(answer.epsilon) + Fraction(self.noise.epsilon))
        more: dict[str, Any] = {self.part: numbers}
        return replace(answer, epsilon=total, proofs=(*answer.proofs, self.page), **more)

    @property
    def nothing_drawn(self) -> Answered:
        """See `Priced.nothing_drawn`."""
        return self.question.nothing_drawn

    def read(self, rows: RowReader, /) -> CountedSummary[Summary, Numbers]:
        """The summary that the question needs, and the numbers of units."""
        summary = self.question.read(rows)
        try:
            return CountedSummary(summary, self.numbers(rows, summary))
        except BaseException:
            CountedSummary(summary, None).close()
            raise

    @abstractmethod
    def numbers(self, rows: RowReader, summary: Summary, /) -> Numbers:
        """The exact numbers of units that may be released with noise."""

    @abstractmethod
    def chosen(self, numbers: Numbers, drawn: Drawn, /) -> list[int]:
        """The exact numbers of units that belong to the answer that was drawn."""

    def count_units(self, rows: RowReader, summary: CountedSummary[Summary, Numbers], /) -> list[int]:
        """See `Priced.count_units`."""
        return self.question.count_units(rows, summary.summary)

    def draw(self, summary: CountedSummary[Summary, Numbers], /) -> Answered:
        """The answer alone."""
        return self.question.draw(summary.summary)

    def released(self, summary: CountedSummary[Summary, Numbers], /) -> Drawn:
        """The answer, and then the noisy numbers of units, with noise of their own."""
        drawn = self.question.released(summary.summary)
        exact = np.array(self.chosen(summary.numbers, drawn), np.int64)
        return drawn._replace(**{self.part: self.noise.draw_many(exact).tolist()})

    def pages(self, summary: CountedSummary[Summary, Numbers], /) -> tuple[str, ...]:
        """See `Priced.pages`."""
        more = self.question.pages(summary.summary)[len(self.question.terms.pages) :]
        return (*self.terms.pages, *more)


def noise_of(
    *, epsilon: float, sensitivity: int, neighbours: Neighbours, size: int, argument: str
) -> GeometricMechanism:
    """The noise of numbers of units that change by at most `sensitivity` in sum.

    Raises:
        InvalidParameterError: `epsilon` is too small for a number to be of use; it names `argument`.
    """
    noise = GeometricMechanism(
        epsilon=epsilon, sensitivity=sensitivity, bounds=(0, LARGEST_COUNT), neighbours=neighbours
    )
    if noise.error_bound(CONFIDENCE, size=size) > _WIDEST:
        raise InvalidParameterError(argument, epsilon, "a number large enough for a useful count")
    return noise
