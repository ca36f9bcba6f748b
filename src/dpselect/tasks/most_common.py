"""The most common candidate: permute-and-flip on distinct units."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from dpselect.accounting import BoundedRangeEvent, LaplaceProfileEvent
from dpselect.mechanisms import CandidateSelection, PermuteAndFlip
from dpselect.release import CONFIDENCE, Release
from dpselect.scores import DISTINCT_UNITS, count_scores
from dpselect.summaries import CandidateCounts, PublicCandidates

_DRAWING = "proofs/exact_sampling.md"


@dataclass(frozen=True, slots=True, kw_only=True)
class MostCommon:
    """Which candidate do most units have? Planned from public arguments; sees the counts only in `release`.

    Attributes:
        candidates: the public set to choose from.
        mechanism: draws once, at the whole cost.
    """

    candidates: PublicCandidates
    mechanism: PermuteAndFlip

    @classmethod
    def planned(cls, candidates: PublicCandidates, *, epsilon: float) -> MostCommon:
        """The question at a price.

        Raises:
            InvalidParameterError: `epsilon` is not a finite number > 0.

        >>> MostCommon.planned(PublicCandidates.given(["red", "blue"]), epsilon=0.5).mechanism.scale  # 1/epsilon
        2.0
        """
        mechanism = PermuteAndFlip(
            epsilon=epsilon,
            sensitivity=DISTINCT_UNITS.value,
            monotonic=DISTINCT_UNITS.monotonic,
            neighbours=DISTINCT_UNITS.neighbours,
        )
        return cls(candidates=candidates, mechanism=mechanism)

    @property
    def event(self) -> BoundedRangeEvent | LaplaceProfileEvent:
        """What one release costs, for accounting; to be charged before `release` is called."""
        return self.mechanism.event

    def release(
        self, counts: CandidateCounts | CandidateSelection, *, column: str, unit: str, time: datetime
    ) -> Release:
        """Draw, and certify what was drawn.

        Args:
            counts: distinct units per candidate, in the candidates' order; or the draw from them, made where they are.
            column: name of the column they were counted in.
            unit: name of the column that names the unit.
            time: of the release, with a time zone.

        Proof: ``proofs/counting.md`` (the sensitivity) and ``proofs/permute_and_flip.md`` (the draw).
        """
        if isinstance(counts, CandidateSelection):
            value, drawing = counts.winner(), "proofs/partial_selection.md"
        else:
            value, drawing = self.candidates[self.mechanism.select(count_scores(counts).values)], _DRAWING
        return Release(
            value=value,
            task="most_common",
            column=column,
            unit=unit,
            mechanism=type(self.mechanism).__name__,
            rounds=1,
            epsilon=self.mechanism.epsilon,
            delta=0.0,
            sensitivity=DISTINCT_UNITS.value,
            monotonic=DISTINCT_UNITS.monotonic,
            neighbours=DISTINCT_UNITS.neighbours,
            candidates=self.candidates.description(),
            error_bound=self.mechanism.error_bound(len(self.candidates), confidence=CONFIDENCE),
            confidence=CONFIDENCE,
            proofs=(DISTINCT_UNITS.proof, "proofs/permute_and_flip.md", drawing),
            time=time,
        )
