"""The k most common candidates: one plan for all rounds, one price."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from dpselect.accounting import ComposedEvent
from dpselect.mechanisms import ExponentialMechanism, PermuteAndFlip
from dpselect.mechanisms.top_k import TopKPlan, plan_top_k
from dpselect.release import CONFIDENCE, Release
from dpselect.scores import DISTINCT_UNITS, count_scores
from dpselect.summaries import CandidateCounts, PublicCandidates

_PROOFS = {
    PermuteAndFlip: "proofs/permute_and_flip.md",
    ExponentialMechanism: "proofs/exponential_mechanism.md",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class TopK:
    """Which k candidates do most units have? Planned from public arguments; sees the counts only in `release`.

    Attributes:
        candidates: the public set to choose from.
        plan: the mechanism of a round, the number of rounds, and the total cost.
    """

    candidates: PublicCandidates
    plan: TopKPlan

    @classmethod
    def planned(cls, candidates: PublicCandidates, k: int, *, epsilon: float, delta: float = 0.0) -> TopK:
        """The question at a price, for all `k` together.

        Raises:
            InvalidParameterError: `k` is not from 1 to the number of candidates, `epsilon` not a finite number > 0,
                or `delta` not from 0 to below 1.

        >>> task = TopK.planned(PublicCandidates.given(range(1000)), 10, epsilon=1.0)
        >>> round(task.plan.mechanism.epsilon, 6)  # of one round
        0.1
        """
        plan = plan_top_k(
            len(candidates),
            k,
            epsilon=epsilon,
            delta=delta,
            sensitivity=DISTINCT_UNITS.value,
            monotonic=DISTINCT_UNITS.monotonic,
            neighbours=DISTINCT_UNITS.neighbours,
        )
        return cls(candidates=candidates, plan=plan)

    @property
    def event(self) -> ComposedEvent:
        """What one release costs, for accounting; to be charged before `release` is called."""
        return self.plan.event

    def release(self, counts: CandidateCounts, *, column: str, unit: str, time: datetime) -> Release:
        """Draw, and certify what was drawn; the arguments are those of `MostCommon.release`.

        Proof: ``proofs/counting.md`` (the sensitivity), ``proofs/top_k.md`` (the rounds) and the page of the plan's
        mechanism (each draw).
        """
        scores = count_scores(counts)
        return Release(
            value=[self.candidates[position] for position in self.plan.select(scores.values)],
            task="top_k",
            column=column,
            unit=unit,
            mechanism=type(self.plan.mechanism).__name__,
            rounds=self.plan.k,
            epsilon=self.plan.epsilon,
            delta=self.plan.delta,
            sensitivity=scores.sensitivity.value,
            monotonic=scores.sensitivity.monotonic,
            neighbours=scores.sensitivity.neighbours,
            candidates=self.candidates.description(),
            error_bound=self.plan.error_bound(confidence=CONFIDENCE),
            confidence=CONFIDENCE,
            proofs=(
                scores.sensitivity.proof,
                "proofs/top_k.md",
                _PROOFS[type(self.plan.mechanism)],
                "proofs/exact_sampling.md",
            ),
            time=time,
        )
