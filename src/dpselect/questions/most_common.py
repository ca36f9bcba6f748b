"""The most common or the rarest candidate: permute-and-flip on counts of distinct units."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, Self, cast

from dpselect.mechanisms import NoisyOrder, PendingSelection, PermuteAndFlip
from dpselect.mechanisms.noisy_order import left_for_selection
from dpselect.privacy import Neighbours
from dpselect.questions.list_question import ListQuestion, counts_or_draw
from dpselect.questions.ordering import (
    drawn_once,
    ruled_arguments,
    ruled_order,
    terms_once,
)
from dpselect.questions.question import CONFIDENCE, Answered, Drawn, Planned, RowReader, Terms, Value
from dpselect.questions.scores import Scores, count_scores, count_sensitivity, rarity_scores
from dpselect.questions.wording import counted
from dpselect.summaries import CandidateCounts, DistantCandidates, PublicCandidates, PublicCondition, PublicGroups

if TYPE_CHECKING:
    from dpselect.accounting import ApproximateEvent, BoundedRangeEvent, LaplaceProfileEvent, PureEvent


@dataclass(frozen=True, kw_only=True)
class MostCommon(ListQuestion[CandidateCounts | PendingSelection]):
    """Which candidate do the most units have? Planned from public arguments; sees the counts only in `draw`.

    Attributes:
        candidates: the public set to choose from.
        mechanism: draws once, at the whole cost.
        max_values_per_unit: for how many candidates one unit counts; None: for any number.
        is_ruled: whether `order_noise` chose the mechanism.
    """

    name: ClassVar[str] = "most_common"
    draws_in_place: ClassVar[bool] = True
    prefers_rare: ClassVar[bool] = False

    candidates: PublicCandidates | DistantCandidates
    mechanism: PermuteAndFlip | NoisyOrder
    max_values_per_unit: int | None = None
    is_ruled: bool = False

    @classmethod
    def planned(
        cls,
        candidates: PublicCandidates | DistantCandidates,
        *,
        epsilon: float,
        max_values_per_unit: int | None = None,
        with_counts: bool = False,
        neighbours: Neighbours = Neighbours.ADD_REMOVE,
    ) -> Self:
        """The question, planned for a cost of `epsilon`; for half of it if counts are wanted and cost the other half.

        Raises:
            InvalidParameterError: `epsilon` is not a finite number > 0, or `max_values_per_unit` not a whole number
                from 1 to the number of candidates.

        >>> MostCommon.planned(PublicCandidates.given(["red", "blue"]), epsilon=0.5).mechanism.epsilon
        0.5
        """
        mechanism: PermuteAndFlip | NoisyOrder | None = ruled_order(
            candidates,
            1,
            epsilon=epsilon,
            max_values_per_unit=max_values_per_unit,
            with_counts=with_counts,
            neighbours=neighbours,
        )
        if mechanism is None:
            moved = count_sensitivity(neighbours)
            mechanism = PermuteAndFlip(
                epsilon=left_for_selection(epsilon) if with_counts else epsilon,
                sensitivity=moved.value,
                monotonic=moved.monotonic,
                neighbours=moved.neighbours,
            )
        return cls(
            candidates=candidates,
            mechanism=mechanism,
            max_values_per_unit=max_values_per_unit,
            is_ruled=with_counts or max_values_per_unit is not None,
        )

    @property
    def event(self) -> ApproximateEvent | BoundedRangeEvent | LaplaceProfileEvent | PureEvent:
        """What one release costs, for accounting; to be charged before `draw` is called."""
        return self.mechanism.event

    @cached_property
    def terms(self) -> Terms:
        """What the certificate will contain.

        Proof: ``proofs/counting.md`` (the sensitivity) and ``proofs/permute_and_flip.md`` (the draw), or
        ``proofs/noisy_order.md``.
        """
        arguments = ruled_arguments(self.mechanism, self.max_values_per_unit, is_ruled=self.is_ruled)
        if isinstance(self.mechanism, NoisyOrder):
            return terms_once(self.mechanism, task=self.name, candidates=self.candidates, arguments=arguments)
        return Terms(
            task=self.name,
            mechanism=type(self.mechanism).__name__,
            epsilon=self.mechanism.epsilon,
            sensitivity=count_sensitivity(self.mechanism.neighbours),
            candidates=self.candidates.description(),
            error_bound=self.mechanism.error_bound(len(self.candidates), confidence=CONFIDENCE),
            proofs=("proofs/permute_and_flip.md",),
            arguments=arguments,
        )

    @property
    def most_per_unit(self) -> int | None:
        """See `ListQuestion`."""
        return self.max_values_per_unit

    def summaries(self, rows: RowReader, groups: PublicGroups | None, /) -> list[CandidateCounts | PendingSelection]:
        """How many units have each candidate, or a pending draw where they are counted."""
        if isinstance(self.mechanism, NoisyOrder) or self.max_values_per_unit is not None:
            return [*self.counts(rows, groups)]
        return counts_or_draw(rows, self.candidates, groups, self.mechanism)

    def usable_units(
        self, rows: RowReader, groups: PublicGroups | None, summaries: list[CandidateCounts | PendingSelection], /
    ) -> list[int]:
        """How many units have one of the candidates."""
        return rows.units(PublicCondition(candidates=self.candidates), groups)

    def draw(self, summary: CandidateCounts | PendingSelection, /) -> Answered:
        """One of the candidates, by distinct units per candidate, in the candidates' order.

        Very many candidates are counted and drawn where the rows are; the draw begins here, after the charge.
        """
        return self.released(summary).answer

    def released(self, summary: CandidateCounts | PendingSelection, /) -> Drawn:
        """See `Priced.released`. With noise once on all counts, that of the answer is known, too."""
        if isinstance(summary, PendingSelection):
            return Drawn(summary.winner())
        if isinstance(self.mechanism, NoisyOrder):
            drawn = drawn_once(self.mechanism, summary, self.choices, rarest=self.prefers_rare)
            return drawn._replace(answer=cast("list[Value]", drawn.answer)[0])
        return Drawn(self.choices[self.mechanism.select(self.scores(summary).values)])

    def scores(self, summary: CandidateCounts) -> Scores:
        """How good each candidate is."""
        score = rarity_scores if self.prefers_rare else count_scores
        return score(summary, self.mechanism.neighbours)

    @classmethod
    def within(cls, release: Planned, bound: float) -> str:
        """See `Question.within`. Counts are whole numbers, and so are the distances between them."""
        return f"the count of the released {release.column} is within {math.floor(bound):,} of the best"


@dataclass(frozen=True, kw_only=True)
class LeastCommon(MostCommon):
    """Which candidate do the fewest units have? One that nobody has is best; of several such, any may be the answer.

    >>> LeastCommon.planned(PublicCandidates.given(["red", "blue"]), epsilon=0.5).mechanism.epsilon
    0.5
    """

    name: ClassVar[str] = "least_common"
    draws_in_place: ClassVar[bool] = False
    prefers_rare: ClassVar[bool] = True

    def summaries(self, rows: RowReader, groups: PublicGroups | None, /) -> list[CandidateCounts | PendingSelection]:
        """How many units have each candidate."""
        return [*self.counts(rows, groups)]

    @classmethod
    def accepts_usable_epsilon(cls, release: Planned) -> bool:
        """See `Question.accepts_usable_epsilon`. Few units have the rarest value, whatever else can be read."""
        return True

    @classmethod
    def within(cls, release: Planned, bound: float) -> str:
        """See `Question.within`."""
        return f"the count of the released {release.column} is within {math.floor(bound):,} of the lowest"


@dataclass(frozen=True, kw_only=True)
class BestDate(MostCommon):
    """On which date are the most units free? Each row states that its unit is free on a date.

    >>> from datetime import date
    >>> days = PublicCandidates.given([date(2026, 11, 21), date(2026, 11, 22)])
    >>> BestDate.planned(days, epsilon=0.5).mechanism.epsilon
    0.5
    """

    name: ClassVar[str] = "best_date"
    draws_in_place: ClassVar[bool] = False
    label: ClassVar[str] = "answer"

    def summaries(self, rows: RowReader, groups: PublicGroups | None, /) -> list[CandidateCounts | PendingSelection]:
        """How many units are free on each date."""
        return [*rows.count(self.choices, groups, argument="dates")]

    @classmethod
    def keys(cls, release: Planned, count: int) -> Iterable[str]:
        """See `Question.keys`."""
        return ["best date"]

    @classmethod
    def within(cls, release: Planned, bound: float) -> str:
        """See `Question.within`."""
        return f"the count of the released date is within {math.floor(bound):,} of the best"

    @classmethod
    def origin(cls, release: Planned) -> str:
        """See `Question.origin`."""
        return f"out of {counted(release.candidates['count'], 'date')} given by the caller"
