"""Which features predict a class best: the question of `dpselect.sklearn.PrivateSelectKBest`, about arrays."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Self, cast

from dpselect import summaries
from dpselect.arguments import Argument, DeltaIfLess, Epsilon, K
from dpselect.checks import positive_count, positive_sensitivity
from dpselect.privacy import Neighbours, Sensitivity
from dpselect.questions.question import Columns, ListQuestion
from dpselect.questions.selection import terms_of_plan, top_k_plan
from dpselect.questions.words import Drawn, Planned, Terms, counted

if TYPE_CHECKING:
    from dpselect.mechanisms.top_k import TopKPlan
    from dpselect.summaries import PublicCandidates, PublicGroups, RuleCounts

Features = Annotated[object, Argument("list", "Names of the features.")]
Weights = Annotated[Sequence[int], Argument("levels", "What a row of each class counts for.")]
Settings = Annotated[str, Argument("text", "Hash of the bins and of the labels of the classes.")]


class BestFeatures(ListQuestion, name="best_features"):
    """The `k` features that predict the class of a row best, each by itself. It is asked by an estimator, of arrays."""

    column: Annotated[str, Argument("text", "What the candidates are.")] = "features"
    features: Features
    k: K
    weights: Weights
    settings: Settings
    epsilon: Epsilon
    delta: DeltaIfLess = 0.0

    gives_list: ClassVar[bool] = True
    measured_in = "weighted rows"

    def known(self, columns: Columns, neighbours: Neighbours, /) -> Self:
        """Rows are tallied by who has them."""
        names = summaries.PublicCandidates.given(self.features, argument="features")
        return replace(self, features=names, weights=tuple(map(int, self.weights)), neighbours=neighbours)

    @cached_property
    def choices(self) -> PublicCandidates:
        """The names of the features."""
        return cast("PublicCandidates", self.features)

    @property
    def answers(self) -> int:
        """How many features are selected."""
        return positive_count(self.k, "k", at_most=len(self.choices), at_most_what="the number of features")

    @property
    def moved(self) -> Sensitivity:
        """How much one row can change the score of any feature: the highest weight, in weighted rows.

        Proof: ``proofs/feature_scores.md``.
        """
        return Sensitivity.one_way(
            positive_sensitivity(max(self.weights)), self.neighbours, proof="proofs/feature_scores.md"
        )

    @cached_property
    def plan(self) -> TopKPlan:
        """The mechanism of a round, the number of rounds, and the total cost."""
        return top_k_plan(self, self.epsilon, self.moved)

    @property
    def mechanism(self) -> TopKPlan:
        """What draws, at the whole cost."""
        return self.plan

    @cached_property
    def terms(self) -> Terms:
        """What the certificate will contain.

        Proof: ``proofs/feature_scores.md`` (the sensitivity), ``proofs/top_k.md`` (the rounds) and the page of the
        plan's mechanism (each draw).
        """
        at_once = {"k": self.plan.k} if self.plan.is_at_once else {}
        return terms_of_plan(self, self.moved, {"classes": len(self.weights), **at_once})

    def summaries(self, rows: Any, groups: PublicGroups | None, /) -> list[RuleCounts]:
        """For each feature, how many rows its best rule is right about: `rows` tallies them."""
        return rows()

    def released(self, summary: RuleCounts, /) -> Drawn:
        """The names of the features, best first."""
        return Drawn([self.choices[position] for position in self.plan.select(summary.right)])

    @classmethod
    def accepts_usable_epsilon(cls, release: Planned) -> bool:
        """Features are arrays of numbers, of which each row counts."""
        return False

    @classmethod
    def within(cls, release: Planned, bound: float) -> str:
        fewer = f"is right about at most {counted(math.floor(bound), f'fewer {release.unit}')} (weighted)"
        return f"the best rule on each selected feature {fewer} than on the best one left when it was selected"

    @classmethod
    def origin(cls, release: Planned) -> str:
        return f"out of {counted(release.candidates['count'], 'feature')}"
