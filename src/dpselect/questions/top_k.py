"""The k most common candidates: one plan and one cost for all rounds."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Self

from dpselect.accounting import ComposedEvent
from dpselect.mechanisms import PendingSelection
from dpselect.mechanisms.top_k import TopKPlan, plan_top_k
from dpselect.privacy import Neighbours
from dpselect.questions.command import Command, Option
from dpselect.questions.fields import AnswerFields, Fields
from dpselect.questions.list_question import ROUND_PROOFS, ListQuestion, counts_or_draw, public_values, selected
from dpselect.questions.question import CONFIDENCE, Planned, RowReader, Terms, Value
from dpselect.questions.scores import count_scores, count_sensitivity
from dpselect.questions.stated import Stated
from dpselect.summaries import CandidateCounts, DistantCandidates, PublicCandidates, PublicCondition, PublicGroups


@dataclass(frozen=True, kw_only=True)
class TopK(ListQuestion[CandidateCounts | PendingSelection]):
    """Which k candidates do the most units have? Planned from public arguments; sees the counts only in `draw`.

    Attributes:
        candidates: the public set to choose from.
        plan: the mechanism of a round, the number of rounds, and the total cost.
    """

    name: ClassVar[str] = "top_k"
    draws_in_place: ClassVar[bool] = True
    commands: ClassVar[tuple[Command, ...]] = (
        Command(
            name="top_k",
            asks="What are the ten most common values?",
            does="Find the K most common values, best first.",
            example=("clicks.parquet page 10", "--unit session --candidates 1..41270 --epsilon 1"),
            column="Column with the values.",
            positional=(Option("k", "whole", "Number of values to select."),),
            options=(
                Option(
                    "delta",
                    "number",
                    "Probability with which the guarantee may fail. A value above 0 reduces the error from about ten"
                    " values on.",
                    default=0.0,
                ),
            ),
            chooses=True,
        ),
    )

    candidates: PublicCandidates | DistantCandidates
    plan: TopKPlan

    @classmethod
    def planned(
        cls,
        candidates: PublicCandidates | DistantCandidates,
        k: int,
        *,
        epsilon: float,
        delta: float = 0.0,
        neighbours: Neighbours = Neighbours.ADD_REMOVE,
    ) -> Self:
        """The question, planned for a cost of `epsilon` for all `k` together.

        Raises:
            InvalidParameterError: `k` is not from 1 to the number of candidates, `epsilon` not a finite number > 0,
                or `delta` not from 0 to below 1.

        >>> question = TopK.planned(PublicCandidates.given(range(1000)), 10, epsilon=1.0)
        >>> round(question.plan.mechanism.epsilon, 6)  # of one round
        0.1
        """
        moved = count_sensitivity(neighbours)
        plan = plan_top_k(
            len(candidates),
            k,
            epsilon=epsilon,
            delta=delta,
            sensitivity=moved.value,
            monotonic=moved.monotonic,
            neighbours=moved.neighbours,
        )
        return cls(candidates=candidates, plan=plan)

    @property
    def event(self) -> ComposedEvent:
        """What one release costs, for accounting; to be charged before `draw` is called."""
        return self.plan.event

    @cached_property
    def terms(self) -> Terms:
        """What the certificate will contain.

        Proof: ``proofs/counting.md`` (the sensitivity), ``proofs/top_k.md`` (the rounds) and the page of the plan's
        mechanism (each draw).
        """
        return Terms(
            task=self.name,
            mechanism=type(self.plan.mechanism).__name__,
            rounds=self.plan.rounds,
            epsilon=self.plan.epsilon,
            delta=self.plan.delta,
            sensitivity=count_sensitivity(self.plan.mechanism.neighbours),
            candidates=self.candidates.description(),
            error_bound=self.plan.error_bound(confidence=CONFIDENCE),
            proofs=("proofs/top_k.md", ROUND_PROOFS[type(self.plan.mechanism)]),
        )

    @property
    def identity(self) -> dict[str, Any]:
        """The public arguments that distinguish this question from others about the same column."""
        return {"k": self.plan.k, "delta": self.plan.delta, "candidates": public_values(self.candidates)}

    def summaries(self, rows: RowReader, groups: PublicGroups | None, /) -> list[CandidateCounts | PendingSelection]:
        """How many units have each candidate, or a pending draw where they are counted."""
        return counts_or_draw(rows, self.candidates, groups, self.plan.mechanism)

    def usable_units(
        self, rows: RowReader, groups: PublicGroups | None, summaries: list[CandidateCounts | PendingSelection], /
    ) -> list[int]:
        """How many units have one of the candidates."""
        return rows.units(PublicCondition(candidates=self.candidates), groups)

    def draw(self, summary: CandidateCounts | PendingSelection, /) -> list[Value]:
        """The candidates, best first, by distinct units per candidate; see `MostCommon.draw`."""
        if isinstance(summary, PendingSelection):
            return summary.winners(self.plan.k)
        assert isinstance(self.candidates, PublicCandidates)
        scores = count_scores(summary, self.plan.mechanism.neighbours)
        return [self.candidates[position] for position in self.plan.select(scores.values)]

    @classmethod
    def within(cls, release: Planned, bound: float) -> str:
        """See `Question.within`."""
        return f"each count is within {math.floor(bound):,} of the best one left when it was selected"

    @classmethod
    def check_fields(cls, held: Fields) -> AnswerFields:
        """See `Question.check_fields`."""
        expected = super().check_fields(held)
        return expected._replace(length=selected(held))

    @classmethod
    def restated(cls, stated: Stated) -> Self:
        """See `Question.restated`."""
        return cls(candidates=stated.candidates(), plan=stated.plan(count_sensitivity(stated.neighbours)))
