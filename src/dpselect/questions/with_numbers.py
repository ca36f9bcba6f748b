"""A question together with noisy numbers of units, at one cost for both: of all it could use, or of each answer."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Literal, TypeVar, cast

import numpy as np

from dpselect.accounting import SequenceEvent
from dpselect.accounting.rounding import fraction_up
from dpselect.checks import positive_epsilon
from dpselect.errors import InvalidParameterError
from dpselect.mechanisms import GeometricMechanism
from dpselect.privacy import Neighbours
from dpselect.questions.declared import Question
from dpselect.questions.grouped import Grouped
from dpselect.questions.question import CONFIDENCE, LARGEST_COUNT, Answered, Drawn, NoisyUnits, Priced, RowReader, Terms
from dpselect.summaries import CandidateCounts

if TYPE_CHECKING:
    from dpselect.questions.list_question import ListQuestion

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
    def of_one(self) -> Question:
        """See `Priced.of_one`."""
        return self.question.of_one

    @property
    def nothing_drawn(self) -> Answered:
        """See `Priced.nothing_drawn`."""
        return self.question.nothing_drawn

    def read(self, rows: RowReader, /) -> CountedSummary[Summary, Numbers]:
        """The summary that the question needs, and the numbers of units."""
        summary = self.question.read(rows)
        return CountedSummary(summary, self.numbers(rows, summary))

    @abstractmethod
    def numbers(self, rows: RowReader, summary: Summary, /) -> Numbers:
        """The exact numbers of units that may be released with noise."""

    @abstractmethod
    def chosen(self, numbers: Numbers, drawn: Drawn, /) -> list[int]:
        """The exact numbers of units that belong to the answer that was drawn."""

    def count_units(self, rows: RowReader, summary: CountedSummary[Summary, Numbers], /) -> list[int]:
        """See `Priced.count_units`."""
        return self.question.count_units(rows, summary.summary)

    def released(self, summary: CountedSummary[Summary, Numbers], /) -> Drawn:
        """The answer, and then the noisy numbers of units, with noise of their own."""
        drawn = self.question.released(summary.summary)
        exact = np.array(self.chosen(summary.numbers, drawn), np.int64)
        return drawn._replace(**{self.part: self.noise.draw_many(exact).tolist()})


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


@dataclass(frozen=True, kw_only=True)
class WithUsable(WithNumbers[Summary, list[int]], Generic[Summary]):
    """A question, and the number of units it could use with two-sided geometric noise.

    One unit changes the number by 1, or with groups the numbers of all groups by the number of groups it is in. So the
    noise has the scale ``max_groups_per_unit / usable_epsilon``.

    Proof: ``proofs/usable_units.md``.
    """

    part: ClassVar[Literal["usable"]] = "usable"
    page: ClassVar[str] = "proofs/usable_units.md"

    @classmethod
    def planned(cls, question: Priced[Summary], *, usable_epsilon: float) -> WithUsable[Summary]:
        """`question`, and the count for `usable_epsilon` more.

        Raises:
            InvalidParameterError: `usable_epsilon` is not a finite number > 0, or too small for a count to be of use;
                or the answer contains the number of units anyway.
        """
        epsilon = positive_epsilon(usable_epsilon, "usable_epsilon")
        terms = question.terms
        if not math.isfinite(fraction_up(Fraction(terms.epsilon) + Fraction(epsilon))):
            raise InvalidParameterError("usable_epsilon", epsilon, "a number whose sum with epsilon is finite")
        if terms.usable is not None:
            hint = "The answer comes with the number of units at no cost."
            raise InvalidParameterError("usable_epsilon", usable_epsilon, "None, for this question and method", hint)
        noise = noise_of(
            epsilon=epsilon,
            sensitivity=1 if terms.groups is None else terms.groups["max_per_unit"],
            neighbours=terms.sensitivity.neighbours,
            size=1,
            argument="usable_epsilon",
        )
        return cls(question=question, noise=noise)

    def numbers(self, rows: RowReader, summary: Summary, /) -> list[int]:
        """The number of units that the question could use, in each group."""
        return self.question.count_units(rows, summary)

    def chosen(self, numbers: list[int], drawn: Drawn, /) -> list[int]:
        """All of them: they do not depend on the answer."""
        del drawn
        return numbers


@dataclass(frozen=True, kw_only=True)
class WithCounts(WithNumbers[Summary, list[CandidateCounts]], Generic[Summary]):
    """A question of candidates, and the number of units with each selected candidate, with noise of their own.

    The candidates are selected first, and then the units of these candidates are counted. In each of its groups one
    unit changes each count by at most 1, and at most as many counts as it counts for.

    Proof: ``proofs/noisy_order.md``, claim 5.
    """

    part: ClassVar[Literal["counted"]] = "counted"
    page: ClassVar[str] = "proofs/noisy_order.md"

    @classmethod
    def planned(cls, question: Priced[Summary], *, epsilon: float) -> WithCounts[Summary]:
        """`question`, and the counts for `epsilon` more.

        Raises:
            InvalidParameterError: `epsilon` is too small for a count to be of use.
        """
        of_one, terms = _one(question), question.terms
        answers, groups, neighbours = of_one.answers, terms.groups, terms.sensitivity.neighbours
        of_a_unit = min(answers, of_one.most_per_unit or answers)
        moved = of_a_unit if neighbours is Neighbours.ADD_REMOVE else min(2 * of_a_unit, answers)
        noise = noise_of(
            epsilon=epsilon,
            sensitivity=moved * (1 if groups is None else groups["max_per_unit"]),
            neighbours=neighbours,
            size=answers,
            argument="epsilon",
        )
        return cls(question=question, noise=noise)

    @property
    def numbers_at_once(self) -> int:
        """See `WithNumbers`."""
        return _one(self.question).answers

    def numbers(self, rows: RowReader, summary: Summary, /) -> list[CandidateCounts]:
        """The counts of all candidates, in each group: those the answer is drawn from, where they are counts."""
        question: object = self.question
        groups = question.groups if isinstance(question, Grouped) else None
        parts = cast("list[CandidateCounts]", [summary] if groups is None else summary)
        is_counted = all(isinstance(cast(object, each), CandidateCounts) for each in parts)
        return parts if is_counted else _one(self.question).counts(rows, groups)

    def chosen(self, numbers: list[CandidateCounts], drawn: Drawn, /) -> list[int]:
        """The counts of the candidates in the answer, of all groups one after another."""
        candidates = _one(self.question).choices
        answers = drawn.answer.values() if isinstance(drawn.answer, dict) else [drawn.answer]
        found: list[int] = []
        for counts, answer in zip(numbers, answers, strict=True):
            values = answer if isinstance(answer, list) else [answer]
            found += [int(counts.counts[candidates.position(value)]) for value in values]
        return found


def _one(question: Priced[Any]) -> ListQuestion:
    """The question of one group."""
    return cast("ListQuestion", question.of_one)
