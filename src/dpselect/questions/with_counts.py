"""A question that selects candidates, and how many units have each of the selected ones, at one cost for both."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Generic, Literal, TypeVar, cast

from dpselect.errors import InvalidParameterError
from dpselect.privacy import Neighbours
from dpselect.questions.grouped import Grouped
from dpselect.questions.list_question import ListQuestion
from dpselect.questions.question import Drawn, Priced, RowReader
from dpselect.questions.with_numbers import WithNumbers, noise_of
from dpselect.summaries import CandidateCounts

Summary = TypeVar("Summary")


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
        relation, answers = terms.sensitivity.neighbours, of_one.answers
        of_a_unit = min(answers, of_one.most_per_unit or answers)
        moved = of_a_unit if relation is Neighbours.ADD_REMOVE else min(2 * of_a_unit, answers)
        noise = noise_of(
            epsilon=epsilon,
            sensitivity=moved * (1 if terms.groups is None else terms.groups["max_per_unit"]),
            neighbours=relation,
            size=answers,
            argument="epsilon",
        )
        return cls(question=question, noise=noise)

    @property
    def numbers_at_once(self) -> int:
        """See `WithNumbers`."""
        return _one(self.question).answers

    @property
    def identity(self) -> dict[str, Any]:
        """The public arguments that distinguish this question from others about the same column."""
        return {**self.question.identity, "with_counts": True}

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


def _one(question: Priced[Any]) -> ListQuestion[Any]:
    """The question of one group."""
    of_one: object = cast("Grouped[Any]", question).question if isinstance(question, Grouped) else question
    return cast("ListQuestion[Any]", of_one)


def checked_with_counts(with_counts: object) -> bool:
    """The argument, if it is one or the other.

    Raises:
        InvalidParameterError: it is not True or False.
    """
    if type(with_counts) is not bool:
        raise InvalidParameterError("with_counts", with_counts, "True or False")
    return with_counts
