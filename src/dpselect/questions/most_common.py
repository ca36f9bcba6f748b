"""The most common or the rarest candidate: permute-and-flip on counts of distinct units."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Self

from dpselect.accounting import BoundedRangeEvent, LaplaceProfileEvent
from dpselect.mechanisms import PendingSelection, PermuteAndFlip
from dpselect.privacy import Neighbours
from dpselect.questions import fields
from dpselect.questions.command import Command, Option
from dpselect.questions.fields import AnswerFields, Fields
from dpselect.questions.list_question import ListQuestion, counts_or_draw, public_values
from dpselect.questions.question import CONFIDENCE, Planned, RowReader, Terms, Value
from dpselect.questions.scores import Scores, count_scores, count_sensitivity, rarity_scores
from dpselect.questions.stated import Stated
from dpselect.questions.wording import counted
from dpselect.summaries import CandidateCounts, DistantCandidates, PublicCandidates, PublicCondition, PublicGroups


@dataclass(frozen=True, kw_only=True)
class MostCommon(ListQuestion[CandidateCounts | PendingSelection]):
    """Which candidate do the most units have? Planned from public arguments; sees the counts only in `draw`.

    Attributes:
        candidates: the public set to choose from.
        mechanism: draws once, at the whole cost.
    """

    name: ClassVar[str] = "most_common"
    draws_in_place: ClassVar[bool] = True
    commands: ClassVar[tuple[Command, ...]] = (
        Command(
            name="most_common",
            asks="What is the most common value?",
            does="Find the most common value.",
            example=("clicks.parquet page", "--unit session --candidates 1..41270 --epsilon 0.5"),
            column="Column with the values.",
            chooses=True,
        ),
    )

    candidates: PublicCandidates | DistantCandidates
    mechanism: PermuteAndFlip

    @classmethod
    def planned(
        cls,
        candidates: PublicCandidates | DistantCandidates,
        *,
        epsilon: float,
        neighbours: Neighbours = Neighbours.ADD_REMOVE,
    ) -> Self:
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
        """What one release costs, for accounting; to be charged before `draw` is called."""
        return self.mechanism.event

    @cached_property
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
    def identity(self) -> dict[str, Any]:
        """The public arguments that distinguish this question from others about the same column."""
        return {"candidates": public_values(self.candidates)}

    def summaries(self, rows: RowReader, groups: PublicGroups | None, /) -> list[CandidateCounts | PendingSelection]:
        """How many units have each candidate, or a pending draw where they are counted."""
        return counts_or_draw(rows, self.candidates, groups, self.mechanism)

    def usable_units(
        self, rows: RowReader, groups: PublicGroups | None, summaries: list[CandidateCounts | PendingSelection], /
    ) -> list[int]:
        """How many units have one of the candidates."""
        return rows.units(PublicCondition(candidates=self.candidates), groups)

    def draw(self, summary: CandidateCounts | PendingSelection, /) -> Value:
        """One of the candidates, by distinct units per candidate, in the candidates' order.

        Very many candidates are counted and drawn where the rows are; the draw begins here, after the charge.
        """
        if isinstance(summary, PendingSelection):
            return summary.winner()
        assert isinstance(self.candidates, PublicCandidates)
        return self.candidates[self.mechanism.select(self.scores(summary).values)]

    def scores(self, summary: CandidateCounts) -> Scores:
        """How good each candidate is."""
        return count_scores(summary, self.mechanism.neighbours)

    @classmethod
    def within(cls, release: Planned, bound: float) -> str:
        """See `Question.within`. Counts are whole numbers, and so are the distances between them."""
        return f"the count of the released {release.column} is within {math.floor(bound):,} of the best"

    @classmethod
    def restated(cls, stated: Stated) -> Self:
        """See `Question.restated`."""
        return cls.planned(stated.candidates(), **stated.price)


@dataclass(frozen=True, kw_only=True)
class LeastCommon(MostCommon):
    """Which candidate do the fewest units have? One that nobody has is best; of several such, any may be the answer.

    >>> LeastCommon.planned(PublicCandidates.given(["red", "blue"]), epsilon=0.5).mechanism.scale  # 1/epsilon
    2.0
    """

    name: ClassVar[str] = "least_common"
    draws_in_place: ClassVar[bool] = False
    commands: ClassVar[tuple[Command, ...]] = (
        Command(
            name="least_common",
            asks="What is the rarest value?",
            does="Find the rarest value. A value that nobody has is the rarest of all.",
            example=("adult.csv education_num", "--unit person_id --candidates 1..16 --epsilon 0.5"),
            column="Column with the values.",
            chooses=True,
        ),
    )

    def summaries(self, rows: RowReader, groups: PublicGroups | None, /) -> list[CandidateCounts | PendingSelection]:
        """How many units have each candidate."""
        assert isinstance(self.candidates, PublicCandidates)
        return [*rows.count(self.candidates, groups)]

    def scores(self, summary: CandidateCounts) -> Scores:
        """How rare each candidate is."""
        return rarity_scores(summary, self.mechanism.neighbours)

    @classmethod
    def within(cls, release: Planned, bound: float) -> str:
        """See `Question.within`."""
        return f"the count of the released {release.column} is within {math.floor(bound):,} of the lowest"


@dataclass(frozen=True, kw_only=True)
class BestDate(MostCommon):
    """On which date are the most units free? Each row states that its unit is free on a date.

    >>> from datetime import date
    >>> days = PublicCandidates.given([date(2026, 11, 21), date(2026, 11, 22)])
    >>> BestDate.planned(days, epsilon=0.5).mechanism.scale  # 1/epsilon
    2.0
    """

    name: ClassVar[str] = "best_date"
    draws_in_place: ClassVar[bool] = False
    commands: ClassVar[tuple[Command, ...]] = (
        Command(
            name="best_date",
            asks="On which date are the most people free?",
            does="Find the date on which the most units are free. Each row states that a unit is free on a date.",
            example=("free_days.csv free_on", "--unit person --bounds 2026-12-01 2026-12-31 --epsilon 1"),
            column="Column of dates.",
            options=(
                Option(
                    "dates",
                    "dates",
                    "Public dates to choose from: a list 2026-12-01,2026-12-08, @file with one per line, or"
                    " @codes.csv:column.",
                    default=None,
                ),
                Option("bounds", "ends", "First and last date, instead of a list.", default=None),
                Option("step", "whole", "With --bounds, the number of days from one date to the next.", default=1),
            ),
        ),
    )
    label: ClassVar[str] = "answer"

    def summaries(self, rows: RowReader, groups: PublicGroups | None, /) -> list[CandidateCounts | PendingSelection]:
        """How many units are free on each date."""
        assert isinstance(self.candidates, PublicCandidates)
        return [*rows.count(self.candidates, groups, argument="dates")]

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

    @classmethod
    def check_fields(cls, held: Fields) -> AnswerFields:
        """See `Question.check_fields`."""
        expected = super().check_fields(held)
        if held["candidates"]["kind"] != "dates":
            raise fields.wrong("candidates.kind", "dates")
        return expected
