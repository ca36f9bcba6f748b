"""The k features that predict a class best, each by itself: one plan and one cost for all rounds."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, Self

from dpselect.arguments import positive_count
from dpselect.mechanisms.top_k import TopKPlan, plan_top_k
from dpselect.questions.list_question import ListQuestion, plan_proofs
from dpselect.questions.question import CONFIDENCE, Planned, Terms, Value
from dpselect.questions.scores import rule_scores, rule_sensitivity
from dpselect.questions.wording import counted
from dpselect.summaries import PublicCandidates, PublicFeatures, RuleCounts

if TYPE_CHECKING:
    from dpselect.accounting import ComposedEvent, LaplaceProfileEvent
    from dpselect.privacy import Neighbours


@dataclass(frozen=True, kw_only=True)
class BestFeatures(ListQuestion[RuleCounts]):
    """Which k features classify the most rows correctly? Planned from public arguments; sees counts only in `draw`.

    Attributes:
        features: to choose from, and how their values are cut.
        neighbours: which data sets the guarantee compares.
        plan: the mechanism of a round, the number of rounds, and the total cost.
    """

    name: ClassVar[str] = "best_features"
    gives_list: ClassVar[bool] = True
    can_be_grouped: ClassVar[bool] = False
    error_units: ClassVar[tuple[str, ...]] = ("weighted rows",)

    features: PublicFeatures
    neighbours: Neighbours
    plan: TopKPlan

    @classmethod
    def planned(cls, features: PublicFeatures, k: int, *, epsilon: float, delta: float, neighbours: Neighbours) -> Self:
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
    def event(self) -> ComposedEvent | LaplaceProfileEvent:
        """What one release costs, for accounting; to be charged before `draw` is called."""
        return self.plan.event

    @cached_property
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
            proofs=plan_proofs(self.plan),
            arguments={"classes": len(self.features.weights)} | ({"k": self.plan.k} if self.plan.is_at_once else {}),
        )

    @property
    def answers(self) -> int:
        """How many features are selected."""
        return self.plan.k

    @property
    def choices(self) -> PublicCandidates:
        """The names of the features."""
        return self.features.names

    def draw(self, summary: RuleCounts, /) -> list[Value]:
        """The names of the features, best first."""
        scores = rule_scores(summary, self.features, neighbours=self.neighbours)
        return [self.features.names[position] for position in self.plan.select(scores.values)]

    @classmethod
    def accepts_usable_epsilon(cls, release: Planned) -> bool:
        """See `Question.accepts_usable_epsilon`. Features are arrays of numbers, of which each row counts."""
        return False

    @classmethod
    def within(cls, release: Planned, bound: float) -> str:
        """See `Question.within`."""
        fewer = f"is right about at most {counted(math.floor(bound), f'fewer {release.unit}')} (weighted)"
        return f"the best rule on each selected feature {fewer} than on the best one left when it was selected"

    @classmethod
    def origin(cls, release: Planned) -> str:
        """See `Question.origin`."""
        return f"out of {counted(release.candidates['count'], 'feature')}"
