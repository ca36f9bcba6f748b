"""The most common or the rarest candidate: permute-and-flip on counts of distinct units."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, ClassVar

from dpselect.accounting import BoundedRangeEvent, LaplaceProfileEvent
from dpselect.answers import Value
from dpselect.mechanisms import PendingSelection, PermuteAndFlip
from dpselect.privacy import Neighbours
from dpselect.release import CONFIDENCE, Release
from dpselect.scores import Scores, count_scores, count_sensitivity, rarity_scores
from dpselect.summaries import CandidateCounts, DistantCandidates, PublicCandidates
from dpselect.tasks.in_parts import asked_of, in_parts
from dpselect.tasks.task import Task, Terms


@dataclass(frozen=True, slots=True, kw_only=True)
class MostCommon(Task[CandidateCounts | PendingSelection]):
    """Which candidate do the most units have? Planned from public arguments; sees the counts only in `release`.

    Attributes:
        candidates: the public set to choose from.
        mechanism: draws once, at the whole cost.
    """

    name: ClassVar[str] = "most_common"

    candidates: PublicCandidates | DistantCandidates
    mechanism: PermuteAndFlip

    @classmethod
    def planned(
        cls,
        candidates: PublicCandidates | DistantCandidates,
        *,
        epsilon: float,
        neighbours: Neighbours = Neighbours.ADD_REMOVE,
    ) -> MostCommon:
        """The question, planned for a cost of `epsilon`.

        Raises:
            InvalidParameterError: `epsilon` is not a finite number > 0.

        >>> MostCommon.planned(PublicCandidates.given(["red", "blue"]), epsilon=0.5).mechanism.scale  # 1/epsilon
        2.0
        """
        moved = count_sensitivity(neighbours)
        mechanism = PermuteAndFlip(
            epsilon=epsilon, sensitivity=moved.value, monotonic=moved.monotonic, neighbours=moved.neighbours
        )
        return cls(candidates=candidates, mechanism=mechanism)

    @property
    def event(self) -> BoundedRangeEvent | LaplaceProfileEvent:
        """What one release costs, for accounting; to be charged before `release` is called."""
        return self.mechanism.event

    @property
    def terms(self) -> Terms:
        """What the certificate will contain.

        Proof: ``proofs/counting.md`` (the sensitivity) and ``proofs/permute_and_flip.md`` (the draw).
        """
        return Terms(
            task=self.name,
            mechanism=type(self.mechanism).__name__,
            epsilon=self.mechanism.epsilon,
            sensitivity=count_sensitivity(self.mechanism.neighbours),
            candidates=self.candidates.description(),
            error_bound=self.mechanism.error_bound(len(self.candidates), confidence=CONFIDENCE),
            proofs=("proofs/permute_and_flip.md",),
        )

    @property
    def question(self) -> dict[str, Any]:
        """The public arguments that distinguish this question from others about the same column."""
        return {"candidates": asked_of(self.candidates)}

    def draw(self, summary: CandidateCounts | PendingSelection, /) -> Value:
        """One of the candidates, by distinct units per candidate, in the candidates' order.

        Very many candidates are counted and drawn where the rows are; the draw begins here, after the charge.
        """
        if isinstance(summary, PendingSelection):
            return summary.winner()
        assert isinstance(self.candidates, PublicCandidates)
        return self.candidates[self.mechanism.select(self.scores(summary).values)]

    def draft(
        self, summary: CandidateCounts | PendingSelection, /, *, column: str, unit: str, time: datetime
    ) -> Release:
        """See `Task.draft`."""
        draft = Task[CandidateCounts | PendingSelection].draft(self, summary, column=column, unit=unit, time=time)
        return in_parts(draft) if isinstance(summary, PendingSelection) else draft

    def scores(self, summary: CandidateCounts) -> Scores:
        """How good each candidate is."""
        return count_scores(summary, self.mechanism.neighbours)


@dataclass(frozen=True, slots=True, kw_only=True)
class LeastCommon(MostCommon):
    """Which candidate do the fewest units have? One that nobody has is best; of several such, any may be the answer.

    >>> LeastCommon.planned(PublicCandidates.given(["red", "blue"]), epsilon=0.5).mechanism.scale  # 1/epsilon
    2.0
    """

    name: ClassVar[str] = "least_common"

    def scores(self, summary: CandidateCounts) -> Scores:
        """How rare each candidate is."""
        return rarity_scores(summary, self.mechanism.neighbours)


@dataclass(frozen=True, slots=True, kw_only=True)
class BestDate(MostCommon):
    """On which date are the most units free? Each row states that its unit is free on a date.

    >>> from datetime import date
    >>> days = PublicCandidates.given([date(2026, 11, 21), date(2026, 11, 22)])
    >>> BestDate.planned(days, epsilon=0.5).mechanism.scale  # 1/epsilon
    2.0
    """

    name: ClassVar[str] = "best_date"
