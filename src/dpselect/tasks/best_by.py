"""The candidate with the largest sum of clipped amounts: permute-and-flip on whole numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from dpselect.accounting import BoundedRangeEvent, LaplaceProfileEvent
from dpselect.answers import Value
from dpselect.mechanisms import PermuteAndFlip
from dpselect.privacy import Neighbours, Sensitivity
from dpselect.release import CONFIDENCE
from dpselect.scores import sum_range, sum_scores, sum_sensitivity
from dpselect.summaries import CandidateTotals, PublicCandidates, PublicClip
from dpselect.tasks.task import Task, Terms


@dataclass(frozen=True, slots=True, kw_only=True)
class BestBy(Task[CandidateTotals]):
    """Which candidate has the largest sum of the units' amounts? Planned from public arguments.

    Attributes:
        candidates: the public set to choose from.
        clip: the column to sum, and how much one unit may add.
        mechanism: draws once, at the whole cost, and at the scale of the sums' range.
        neighbours: which data sets the guarantee compares.
    """

    name: ClassVar[str] = "best_by"

    candidates: PublicCandidates
    clip: PublicClip
    mechanism: PermuteAndFlip
    neighbours: Neighbours

    @classmethod
    def planned(
        cls,
        candidates: PublicCandidates,
        clip: PublicClip,
        *,
        epsilon: float,
        neighbours: Neighbours = Neighbours.ADD_REMOVE,
    ) -> BestBy:
        """The question, planned for a cost of `epsilon`.

        Raises:
            InvalidParameterError: `epsilon` is not a finite number > 0.

        >>> pages, clip = PublicCandidates.given(["/a", "/b"]), PublicClip.given("seconds", (-60, 600))
        >>> BestBy.planned(pages, clip, epsilon=0.5).mechanism.scale  # (600 + 60) / epsilon
        1320.0
        """
        # At the scale sum_range / epsilon, which is all that its proof asks for: the factor is in the range already.
        mechanism = PermuteAndFlip(epsilon=epsilon, sensitivity=sum_range(clip, neighbours), monotonic=True)
        return cls(candidates=candidates, clip=clip, mechanism=mechanism, neighbours=neighbours)

    @property
    def event(self) -> BoundedRangeEvent | LaplaceProfileEvent:
        """What one release costs, for accounting; to be charged before `release` is called."""
        return self.mechanism.event

    @property
    def terms(self) -> Terms:
        """What the certificate will say; sensitivity and error bound are in the unit of the column that is summed.

        Proof: ``proofs/clipped_sums.md`` (the sensitivity) and ``proofs/permute_and_flip.md`` (the draw).
        """
        moved = sum_sensitivity(self.clip, self.neighbours)
        whole = self.mechanism.error_bound(len(self.candidates), confidence=CONFIDENCE)
        return Terms(
            task=self.name,
            mechanism=type(self.mechanism).__name__,
            epsilon=self.mechanism.epsilon,
            sensitivity=Sensitivity(
                self.clip.in_units(moved.value),
                monotonic=moved.monotonic,
                neighbours=moved.neighbours,
                proof=moved.proof,
            ),
            candidates=self.candidates.description(),
            error_bound=self.clip.error_in_units(whole),
            proofs=("proofs/permute_and_flip.md",),
            arguments=self.clip.description(),
        )

    @property
    def question(self) -> dict[str, Any]:
        """The public arguments that distinguish this question from others about the same column."""
        return {"candidates": self.candidates.values, "clip": self.clip}

    def draw(self, summary: CandidateTotals, /) -> Value:
        """One of the candidates, by what the units' amounts add up to, in the candidates' order."""
        return self.candidates[self.mechanism.select(sum_scores(summary, self.clip, self.neighbours).values)]
