"""Which candidates are the most common, or the rarest, and on which date most units are free."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self, cast

from dpselect import mechanisms, summaries
from dpselect.arguments import (
    Candidates,
    DateBounds,
    Dates,
    DateStep,
    DatesToChoose,
    Epsilon,
    MaxValues,
    Values,
    WithCounts,
)
from dpselect.privacy import Neighbours
from dpselect.questions.declared import Columns
from dpselect.questions.list_question import Counted
from dpselect.questions.question import CONFIDENCE, Drawn, Terms, counted
from dpselect.questions.scores import count_scores, rarity_scores

if TYPE_CHECKING:
    from dpselect.mechanisms import NoisyOrder, PermuteAndFlip
    from dpselect.questions.question import Planned, RowReader
    from dpselect.questions.scores import Scores
    from dpselect.summaries import CandidateCounts, PublicCandidates, PublicGroups


class Best(Counted):
    """A question whose answer is the best candidate: permute-and-flip on counts of distinct units."""

    @cached_property
    def mechanism(self) -> PermuteAndFlip | NoisyOrder:
        """What draws, at the whole cost."""
        if self.once is not None:
            return self.once
        moved = self.moved
        return mechanisms.PermuteAndFlip(
            epsilon=self.of_selection,
            sensitivity=moved.value,
            monotonic=moved.monotonic,
            neighbours=moved.neighbours,
        )

    @cached_property
    def terms(self) -> Terms:
        """What the certificate will contain."""
        if self.once is not None:
            return self.terms_once(self.once)
        mechanism, choices = cast("PermuteAndFlip", self.mechanism), self.choices
        return Terms(
            task=self.name,
            mechanism=type(mechanism).__name__,
            epsilon=mechanism.epsilon,
            sensitivity=self.moved,
            candidates=choices.description(),
            error_bound=mechanism.error_bound(len(choices), confidence=CONFIDENCE),
            proofs=("proofs/permute_and_flip.md",),
            arguments=self.arguments(),
        )

    def summaries(self, rows: RowReader, groups: PublicGroups | None, /) -> list[Any]:
        """How many units have each candidate."""
        return [*self.counts(rows, groups)]

    def released(self, summary: Any, /) -> Drawn:
        """See `Priced.released`. With noise once on all counts, that of the answer is known, too."""
        if self.once is not None:
            drawn: Any = self.drawn_once(self.once, summary)
            return drawn._replace(answer=drawn.answer[0])
        mechanism: Any = self.mechanism
        return Drawn(self.choices[mechanism.select(self.scores(summary).values)])

    def scores(self, summary: CandidateCounts) -> Scores:
        """How good each candidate is."""
        score = rarity_scores if self.rarest else count_scores
        return score(summary, self.neighbours)

    @classmethod
    def within(cls, release: Planned, bound: float) -> str:
        """See `Question.within`. Counts are whole numbers, and so are the distances between them."""
        return f"the count of the released {release.column} is within {math.floor(bound):,} of the best"


class MostCommon(Best, name="most_common"):
    """The most common value in `column`: the candidate that the most units have.

    A unit counts once per candidate, however many rows it has. The result of ``unique()`` or ``value_counts()`` on the
    private column cannot be distinguished from a public list, but reveals people's data all the same.
    `dpselect.candidates_from` reads a list from a public file. With `max_values_per_unit`, `with_counts` or both, the
    rule that decides how to draw is `dpselect.planning.order_noise`, and the release states it.

    Returns:
        One of the candidates.

    Proof: ``proofs/counting.md`` and ``proofs/permute_and_flip.md``, or ``proofs/noisy_order.md``.

    >>> import dpselect as dps
    >>> visits = dps.Dataset("examples/data/clicks.parquet", unit="session")
    >>> release = visits.most_common("page", candidates=range(1, 41271), epsilon=1.0)
    >>> print(release.accuracy)
    With 99% confidence the count of the released page is within 14 of the best.
    """

    asks = "What is the most common value?"
    does = "Find the most common value."
    example = ("clicks.parquet page", "--unit session --candidates 1..41270 --epsilon 0.5")

    column: Values
    candidates: Candidates = None
    epsilon: Epsilon
    max_values_per_unit: MaxValues = None
    with_counts: WithCounts = False

    def known(self, columns: Columns, neighbours: Neighbours, /) -> Self:
        """See `Question.known`."""
        return replace(self, candidates=columns.listed(self.candidates), neighbours=neighbours)


class LeastCommon(MostCommon, name="least_common"):
    """The rarest value in `column`: the candidate that the fewest units have.

    A candidate that nobody has is the rarest of all, so leave out values that cannot occur.

    Returns:
        One of the candidates.

    Proof: ``proofs/counting.md`` and ``proofs/permute_and_flip.md``, or ``proofs/noisy_order.md``.

    >>> import dpselect as dps
    >>> people = dps.Dataset("examples/data/adult.csv", unit="person_id")
    >>> people.least_common("education_num", candidates=range(1, 17), epsilon=1.0).value
    1
    """

    asks = "What is the rarest value?"
    does = "Find the rarest value. A value that nobody has is the rarest of all."
    example = ("adult.csv education_num", "--unit person_id --candidates 1..16 --epsilon 0.5")

    draws_in_place: ClassVar[bool] = False
    rarest: ClassVar[bool] = True

    def known(self, columns: Columns, neighbours: Neighbours, /) -> Self:
        """See `Question.known`. All candidates are listed here: none is drawn where the scores are."""
        return replace(self, candidates=columns.listed(self.candidates), neighbours=neighbours)

    @classmethod
    def accepts_usable_epsilon(cls, release: Planned) -> bool:
        """See `Question.accepts_usable_epsilon`. Few units have the rarest value, whatever else can be read."""
        return True

    @classmethod
    def within(cls, release: Planned, bound: float) -> str:
        """See `Question.within`."""
        return f"the count of the released {release.column} is within {math.floor(bound):,} of the lowest"


class BestDate(Best, name="best_date"):
    """The date on which the most units are free.

    Each row states that its unit is free on the date in `column`. A unit counts once per date. Dates are
    ``datetime.date``, text such as ``"2026-11-21"``, or timestamps at midnight, as from ``pandas.date_range``.

    Returns:
        A ``datetime.date``.

    Proof: ``proofs/counting.md`` and ``proofs/permute_and_flip.md``.

    >>> import dpselect as dps
    >>> friends = dps.Dataset("examples/data/free_days.csv", unit="person")
    >>> release = friends.best_date("free_on", bounds=("2026-12-01", "2026-12-31"), epsilon=2.0)
    >>> str(release.value)
    '2026-12-12'
    """

    asks = "On which date are the most people free?"
    does = "Find the date on which the most units are free. Each row states that a unit is free on a date."
    example = ("free_days.csv free_on", "--unit person --bounds 2026-12-01 2026-12-31 --epsilon 1")
    value = "date"

    column: Dates
    dates: DatesToChoose = None
    bounds: DateBounds = None
    step: DateStep = 1
    epsilon: Epsilon
    with_counts: WithCounts = False

    label: ClassVar[str] = "answer"

    def known(self, columns: Columns, neighbours: Neighbours, /) -> Self:
        """See `Question.known`."""
        public = summaries.public_dates(self.dates, bounds=self.bounds, step=self.step)
        return replace(self, dates=public, bounds=None, step=1, neighbours=neighbours)

    @property
    def choices(self) -> PublicCandidates:
        """The dates."""
        return cast("PublicCandidates", self.dates)

    def counts(self, rows: RowReader, groups: PublicGroups | None) -> list[CandidateCounts]:
        """How many units are free on each date."""
        return rows.count(self.choices, groups, argument="dates")

    @classmethod
    def within(cls, release: Planned, bound: float) -> str:
        """See `Question.within`."""
        return f"the count of the released date is within {math.floor(bound):,} of the best"

    @classmethod
    def origin(cls, release: Planned) -> str:
        """See `Question.origin`."""
        return f"out of {counted(release.candidates['count'], 'date')} given by the caller"
