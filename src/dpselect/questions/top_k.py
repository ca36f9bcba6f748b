"""The k most common candidates: one plan and one cost for all rounds."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, Self

from dpselect.mechanisms import NoisyOrder, PendingSelection
from dpselect.mechanisms.noisy_order import left_for_selection
from dpselect.mechanisms.top_k import TopKPlan, plan_top_k
from dpselect.privacy import Neighbours
from dpselect.questions.list_question import (
    ListQuestion,
    counts_or_draw,
    plan_proofs,
)
from dpselect.questions.ordering import (
    drawn_once,
    ruled_arguments,
    ruled_order,
    terms_once,
)
from dpselect.questions.question import CONFIDENCE, Answered, Drawn, Planned, RowReader, Terms
from dpselect.questions.scores import count_scores, count_sensitivity
from dpselect.summaries import CandidateCounts, DistantCandidates, PublicCandidates, PublicCondition, PublicGroups

if TYPE_CHECKING:
    from dpselect.accounting import ApproximateEvent, ComposedEvent, LaplaceProfileEvent, PureEvent


@dataclass(frozen=True, kw_only=True)
class TopK(ListQuestion[CandidateCounts | PendingSelection]):
    """Which k candidates do the most units have? Planned from public arguments; sees the counts only in `draw`.

    Attributes:
        candidates: the public set to choose from.
        plan: the mechanism of a round, the number of rounds, and the total cost; or noise once on all counts.
        max_values_per_unit: for how many candidates one unit counts; None: for any number.
        is_ruled: whether `order_noise` chose between the two.
    """

    name: ClassVar[str] = "top_k"
    gives_list: ClassVar[bool] = True
    draws_in_place: ClassVar[bool] = True

    candidates: PublicCandidates | DistantCandidates
    plan: TopKPlan | NoisyOrder
    max_values_per_unit: int | None = None
    is_ruled: bool = False

    @classmethod
    def planned(
        cls,
        candidates: PublicCandidates | DistantCandidates,
        k: int,
        *,
        epsilon: float,
        delta: float = 0.0,
        max_values_per_unit: int | None = None,
        with_counts: bool = False,
        neighbours: Neighbours = Neighbours.ADD_REMOVE,
    ) -> Self:
        """The question, planned for a cost of `epsilon` for all `k` together.

        With noise once on all counts, where `order_noise` prefers it, the counts come at no cost. Else the plan is for
        half of `epsilon` if counts are wanted, because the other half pays for them.

        Raises:
            InvalidParameterError: `k` is not from 1 to the number of candidates, `epsilon` not a finite number > 0,
                `delta` not from 0 to below 1, or `max_values_per_unit` not a whole number from 1 to the number of
                candidates.

        >>> question = TopK.planned(PublicCandidates.given(range(1000)), 10, epsilon=1.0)
        >>> round(question.plan.error_bound())
        115
        >>> question = TopK.planned(PublicCandidates.given(range(1000)), 10, epsilon=1.0, max_values_per_unit=1)
        >>> round(question.plan.error_bound())
        15
        """
        moved = count_sensitivity(neighbours)
        plan: TopKPlan | NoisyOrder | None = ruled_order(
            candidates,
            k,
            epsilon=epsilon,
            delta=delta,
            max_values_per_unit=max_values_per_unit,
            with_counts=with_counts,
            neighbours=neighbours,
        )
        if plan is None:
            plan = plan_top_k(
                len(candidates),
                k,
                epsilon=left_for_selection(epsilon) if with_counts else epsilon,
                delta=delta,
                sensitivity=moved.value,
                monotonic=moved.monotonic,
                neighbours=moved.neighbours,
            )
        return cls(
            candidates=candidates,
            plan=plan,
            max_values_per_unit=max_values_per_unit,
            is_ruled=with_counts or max_values_per_unit is not None,
        )

    @property
    def answers(self) -> int:
        """See `ListQuestion`."""
        return self.plan.k

    @property
    def most_per_unit(self) -> int | None:
        """See `ListQuestion`."""
        return self.max_values_per_unit

    @property
    def event(self) -> ApproximateEvent | ComposedEvent | LaplaceProfileEvent | PureEvent:
        """What one release costs, for accounting; to be charged before `draw` is called."""
        return self.plan.event

    @cached_property
    def terms(self) -> Terms:
        """What the certificate will contain.

        Proof: ``proofs/counting.md`` (the sensitivity), ``proofs/top_k.md`` (the rounds) and the page of the plan's
        mechanism (each draw), or ``proofs/noisy_order.md``.
        """
        arguments = ruled_arguments(self.plan, self.max_values_per_unit, is_ruled=self.is_ruled, k=self.plan.k)
        if isinstance(self.plan, NoisyOrder):
            return terms_once(self.plan, task=self.name, candidates=self.candidates, arguments=arguments)
        return Terms(
            task=self.name,
            mechanism=type(self.plan.mechanism).__name__,
            rounds=self.plan.rounds,
            epsilon=self.plan.epsilon,
            delta=self.plan.delta,
            sensitivity=count_sensitivity(self.plan.mechanism.neighbours),
            candidates=self.candidates.description(),
            error_bound=self.plan.error_bound(confidence=CONFIDENCE),
            proofs=plan_proofs(self.plan),
            arguments=arguments,
        )

    def summaries(self, rows: RowReader, groups: PublicGroups | None, /) -> list[CandidateCounts | PendingSelection]:
        """How many units have each candidate, or a pending draw where they are counted."""
        if isinstance(self.plan, NoisyOrder) or self.max_values_per_unit is not None:
            return [*self.counts(rows, groups)]
        return counts_or_draw(rows, self.candidates, groups, self.plan.mechanism)

    def usable_units(
        self, rows: RowReader, groups: PublicGroups | None, summaries: list[CandidateCounts | PendingSelection], /
    ) -> list[int]:
        """How many units have one of the candidates."""
        return rows.units(PublicCondition(candidates=self.candidates), groups)

    def draw(self, summary: CandidateCounts | PendingSelection, /) -> Answered:
        """The candidates, best first, by distinct units per candidate; see `MostCommon.draw`."""
        return self.released(summary).answer

    def released(self, summary: CandidateCounts | PendingSelection, /) -> Drawn:
        """See `Priced.released`. With noise once on all counts, those of the answer are known, too."""
        if isinstance(summary, PendingSelection):
            return Drawn(summary.winners(self.plan.k))
        if isinstance(self.plan, NoisyOrder):
            return drawn_once(self.plan, summary, self.choices)
        scores = count_scores(summary, self.plan.mechanism.neighbours)
        return Drawn([self.choices[position] for position in self.plan.select(scores.values)])

    @classmethod
    def within(cls, release: Planned, bound: float) -> str:
        """See `Question.within`."""
        return f"each count is within {math.floor(bound):,} of the best one left when it was selected"
