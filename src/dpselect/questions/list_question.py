"""The common part of questions that choose from a public list by the number of units with each candidate."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar, cast

from dpselect.mechanisms import (
    ExponentialMechanism,
    ExponentialNoiseTopK,
    Mechanism,
    PendingSelection,
    PermuteAndFlip,
)
from dpselect.questions.question import Planned, Question, RowReader
from dpselect.questions.wording import counted
from dpselect.summaries import CandidateCounts, DistantCandidates, PublicCandidates, PublicGroups

if TYPE_CHECKING:
    from dpselect.mechanisms.top_k import TopKPlan

Summary = TypeVar("Summary")

_ROUND_PROOFS = {
    PermuteAndFlip: "proofs/permute_and_flip.md",
    ExponentialMechanism: "proofs/exponential_mechanism.md",
    ExponentialNoiseTopK: "proofs/exponential_once.md",
}
"""The proof page of one draw, for questions with several winners."""


def plan_proofs(plan: TopKPlan) -> tuple[str, ...]:
    """The proof pages of several winners."""
    page = _ROUND_PROOFS[type(plan.mechanism)]
    return (page,) if isinstance(plan.mechanism, ExponentialNoiseTopK) else ("proofs/top_k.md", page)


class ListQuestion(Question[Summary]):
    """A question that chooses from a list. Its subclasses are questions."""

    label: ClassVar[str] = "rank"

    @property
    def answers(self) -> int:
        """Number of candidates that it selects."""
        return 1

    @property
    def most_per_unit(self) -> int | None:
        """For how many candidates one unit counts; None: for any number."""
        return None

    @property
    def choices(self) -> PublicCandidates:
        """The candidates, where this process lists them."""
        return cast(Any, self).candidates

    def counts(self, rows: RowReader, groups: PublicGroups | None) -> list[CandidateCounts]:
        """How many units have each candidate, in each group."""
        return rows.count(self.choices, groups, max_values_per_unit=self.most_per_unit)

    @classmethod
    def keys(cls, release: Planned, count: int) -> Iterable[str]:
        """See `Question.keys`."""
        return [str(rank) for rank in range(1, count + 1)]

    @classmethod
    def counting(cls, release: Planned) -> str:
        """See `Question.counting`."""
        most = release.arguments.get("max_values_per_unit")
        return "" if most is None else f", counting at most {counted(most, 'value')} of each {release.unit}"

    @classmethod
    def origin(cls, release: Planned) -> str:
        """See `Question.origin`."""
        return f"out of {counted(release.candidates['count'], 'candidate')} given by the caller"

    def possible(self, values: list[Any], units: int | None, counts: list[int] | None) -> bool:
        """See `Question.possible`. The most common comes first."""
        falling = counts is None or all(one >= next_one for one, next_one in pairwise(counts))
        return falling and len(values) == self.answers and self.choices.may_hold(values)


def counts_or_draw(
    rows: RowReader,
    candidates: PublicCandidates | DistantCandidates,
    groups: PublicGroups | None,
    mechanism: Mechanism | ExponentialNoiseTopK,
) -> list[CandidateCounts | PendingSelection]:
    """How many units have each candidate (in each group), or a pending draw where they are counted."""
    if groups is not None and isinstance(candidates, PublicCandidates):
        return [*rows.count(candidates, groups)]
    return [*rows.select(candidates, mechanism)]
