"""The k features that predict a class best, each by itself: one plan and one cost for all rounds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from dpselect.accounting import ComposedEvent
from dpselect.answers import Value
from dpselect.arguments import positive_count
from dpselect.mechanisms import ExponentialMechanism, PermuteAndFlip
from dpselect.mechanisms.top_k import TopKPlan, plan_top_k
from dpselect.privacy import Neighbours
from dpselect.release import CONFIDENCE
from dpselect.scores import rule_scores, rule_sensitivity
from dpselect.summaries import PublicFeatures, RuleCounts
from dpselect.tasks.task import Task, Terms

_PROOFS = {
    PermuteAndFlip: "proofs/permute_and_flip.md",
    ExponentialMechanism: "proofs/exponential_mechanism.md",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class BestFeatures(Task[RuleCounts]):
    """Which k features classify the most rows correctly? Planned from public arguments; sees counts only in `release`.

    Attributes:
        features: to choose from, and how their values are cut.
        neighbours: which data sets the guarantee compares.
        plan: the mechanism of a round, the number of rounds, and the total cost.
    """

    name: ClassVar[str] = "best_features"

    features: PublicFeatures
    neighbours: Neighbours
    plan: TopKPlan

    @classmethod
    def planned(
        cls, features: PublicFeatures, k: int, *, epsilon: float, delta: float, neighbours: Neighbours
    ) -> BestFeatures:
        """The question, planned for a cost of `epsilon` for all `k` together.

        Raises:
            InvalidParameterError: `k` is not from 1 to the number of features, `epsilon` not a finite number > 0, or
                `delta` not from 0 to below 1.
        """
        k = positive_count(k, "k", at_most=len(features.names), at_most_what="the number of features")
        sensitivity = rule_sensitivity(max(features.weights), neighbours=neighbours)
        plan = plan_top_k(
            len(features.names),
            k,
            epsilon=epsilon,
            delta=delta,
            sensitivity=sensitivity.value,
            monotonic=sensitivity.monotonic,
            neighbours=sensitivity.neighbours,
        )
        return cls(features=features, neighbours=neighbours, plan=plan)

    @property
    def event(self) -> ComposedEvent:
        """What one release costs, for accounting; to be charged before `release` is called."""
        return self.plan.event

    @property
    def terms(self) -> Terms:
        """What the certificate will contain.

        Proof: ``proofs/feature_scores.md`` (the sensitivity), ``proofs/top_k.md`` (the rounds) and the page of the
        plan's mechanism (each draw).
        """
        return Terms(
            task=self.name,
            mechanism=type(self.plan.mechanism).__name__,
            rounds=self.plan.rounds,
            epsilon=self.plan.epsilon,
            delta=self.plan.delta,
            sensitivity=rule_sensitivity(max(self.features.weights), neighbours=self.neighbours),
            candidates=self.features.names.description(),
            error_bound=self.plan.error_bound(confidence=CONFIDENCE),
            proofs=("proofs/top_k.md", _PROOFS[type(self.plan.mechanism)]),
            arguments={"classes": len(self.features.weights)},
        )

    @property
    def question(self) -> dict[str, Any]:
        """The public arguments that tell this question from others; the labels of the classes are not known here."""
        features = self.features
        return {
            "k": self.plan.k,
            "delta": self.plan.delta,
            "names": features.names.values,
            "bins": features.bins,
            "weights": features.weights,
        }

    def draw(self, summary: RuleCounts, /) -> list[Value]:
        """The names of the features, best first."""
        scores = rule_scores(summary, self.features, neighbours=self.neighbours)
        return [self.features.names[position] for position in self.plan.select(scores.values)]
