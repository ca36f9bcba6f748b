"""A question together with a noisy count of the units that it could use, at one cost for both."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, Generic, TypeVar

import numpy as np

from dpselect.accounting import SequenceEvent
from dpselect.accounting.rounding import fraction_up
from dpselect.arguments import positive_epsilon
from dpselect.errors import InvalidParameterError
from dpselect.mechanisms import GeometricMechanism, PendingSelection
from dpselect.questions.count import LARGEST_COUNT
from dpselect.questions.question import CONFIDENCE, Answered, Priced, RowReader, Terms, UsableUnits

Summary = TypeVar("Summary")

_WIDEST = 2**53
"""A bound beyond this is of no use, and not every whole number beyond it is a double."""


@dataclass(frozen=True, slots=True, repr=False)
class CountedSummary(Generic[Summary]):
    """The summary of a question, and how many units it is about, in each group. Private: shown by no ``repr``.

    Attributes:
        summary: what the question draws from.
        units: the number of units, for each group; one without groups.
    """

    summary: Summary
    units: list[int]

    def __repr__(self) -> str:
        return "CountedSummary(<private>)"

    def close(self) -> None:
        """Release what an engine keeps."""
        if isinstance(self.summary, PendingSelection):
            self.summary.close()


@dataclass(frozen=True, kw_only=True)
class WithUsable(Priced[CountedSummary[Summary]], Generic[Summary]):
    """A question, and the number of units it could use with two-sided geometric noise.

    One unit changes the number by 1, or with groups the numbers of all groups by the number of groups it is in. So the
    noise has the scale ``max_groups_per_unit / usable_epsilon``.

    Attributes:
        question: the question, of all rows or of groups.
        noise: draws the noisy number of each group.

    Proof: ``proofs/usable_units.md``.
    """

    question: Priced[Summary]
    noise: GeometricMechanism

    @classmethod
    def planned(cls, question: Priced[Summary], *, usable_epsilon: float) -> WithUsable[Summary]:
        """`question`, and the count for `usable_epsilon` more.

        Raises:
            InvalidParameterError: `usable_epsilon` is not a finite number > 0, or too small for a count to be of use;
                or the answer contains the number of units anyway.
        """
        epsilon = positive_epsilon(usable_epsilon, "usable_epsilon")
        if question.terms.usable is not None:
            hint = "The answer comes with the number of units at no cost."
            raise InvalidParameterError("usable_epsilon", usable_epsilon, "None, for this question and method", hint)
        groups = question.terms.groups
        noise = GeometricMechanism(
            epsilon=epsilon,
            sensitivity=1 if groups is None else groups["max_per_unit"],
            bounds=(0, LARGEST_COUNT),
            neighbours=question.terms.sensitivity.neighbours,
        )
        if noise.error_bound(CONFIDENCE) > _WIDEST:
            raise InvalidParameterError("usable_epsilon", usable_epsilon, "a number large enough for a useful count")
        return cls(question=question, noise=noise)

    @property
    def event(self) -> SequenceEvent:
        """What the answer and the count cost together; to be charged before `released` is called."""
        return SequenceEvent(events=(self.question.event, self.noise.event))

    @cached_property
    def terms(self) -> Terms:
        """What the certificate will contain."""
        answer = self.question.terms
        usable = UsableUnits(
            within=self.noise.error_bound(CONFIDENCE), epsilon=self.noise.epsilon, answer_epsilon=answer.epsilon
        )
        total = fraction_up(Fraction(answer.epsilon) + Fraction(self.noise.epsilon))
        return replace(answer, epsilon=total, proofs=(*answer.proofs, "proofs/usable_units.md"), usable=usable)

    @property
    def identity(self) -> dict[str, Any]:
        """The public arguments that distinguish this question from others about the same column."""
        return {**self.question.identity, "usable_epsilon": self.noise.epsilon}

    @property
    def nothing_drawn(self) -> Answered:
        """See `Priced.nothing_drawn`."""
        return self.question.nothing_drawn

    def read(self, rows: RowReader, /) -> CountedSummary[Summary]:
        """The summary that the question needs, and the number of units."""
        summary = self.question.read(rows)
        try:
            return CountedSummary(summary, self.question.count_units(rows, summary))
        except BaseException:
            CountedSummary(summary, []).close()
            raise

    def count_units(self, rows: RowReader, summary: CountedSummary[Summary], /) -> list[int]:
        """See `Priced.count_units`."""
        del rows
        return summary.units

    def draw(self, summary: CountedSummary[Summary], /) -> Answered:
        """The answer alone."""
        return self.question.draw(summary.summary)

    def released(self, summary: CountedSummary[Summary], /) -> tuple[Answered, list[int]]:
        """The answer, and the noisy number of units in each group."""
        noisy = self.noise.draw_many(np.array(summary.units, np.int64))
        return self.question.draw(summary.summary), noisy.tolist()

    def pages(self, summary: CountedSummary[Summary], /) -> tuple[str, ...]:
        """See `Priced.pages`."""
        more = self.question.pages(summary.summary)[len(self.question.terms.pages) :]
        return (*self.terms.pages, *more)


def with_usable(question: Priced[Any], usable_epsilon: float | None) -> Priced[Any]:
    """`question`, with a noisy number of units if an epsilon is given for it.

    Raises:
        InvalidParameterError: see `WithUsable.planned`.
    """
    return question if usable_epsilon is None else WithUsable[Any].planned(question, usable_epsilon=usable_epsilon)
