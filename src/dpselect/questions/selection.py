"""Which candidates are the most common, or the rarest, and on which date most units are free."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Unpack

from dpselect import questions
from dpselect.questions.arguments import (
    Candidates,
    CandidatesIfAny,
    DateBounds,
    Dates,
    DateStep,
    DatesToChoose,
    DeltaIfLess,
    Epsilon,
    K,
    MaxValues,
    Values,
    WithCounts,
)
from dpselect.questions.declared import Columns, Price, Question

if TYPE_CHECKING:
    from dpselect.questions.question import Question as Planned


class MostCommon(Question, name="most_common"):
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

    def planned(self, columns: Columns, /, **price: Unpack[Price]) -> Planned[Any]:
        return questions.MostCommon.planned(_listed(self, columns), **price, **_counting(self))


class LeastCommon(Question, name="least_common"):
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

    column: Values
    candidates: Candidates = None
    epsilon: Epsilon
    max_values_per_unit: MaxValues = None
    with_counts: WithCounts = False

    def planned(self, columns: Columns, /, **price: Unpack[Price]) -> Planned[Any]:
        return questions.LeastCommon.planned(columns.listed(self.candidates), **price, **_counting(self))


class TopK(Question, name="top_k"):
    """The `k` most common values in `column`, best first.

    Without candidates, `delta` is needed, values are read as the column's type has them (in CSV as text), and there may
    be fewer than `k`. The rules that decide how to draw are `dpselect.planning.order_noise` and `unknown_noise`.

    Returns:
        A list of different candidates.

    Proof: ``proofs/counting.md`` and ``proofs/top_k.md``; without candidates ``proofs/unknown_candidates.md`` and
    ``proofs/stop_candidate.md``.

    >>> import dpselect as dps
    >>> visits = dps.Dataset("examples/data/clicks.parquet", unit="session")
    >>> visits.top_k("page", 3, candidates=range(1, 41271), epsilon=1.0).value
    [6, 3, 11]
    >>> visits.top_k("page", 3, epsilon=1.0, delta=1e-6, max_values_per_unit=3).value
    [6, 3, 11]
    """

    asks = "What are the ten most common values, and how many have each?"
    does = "Find the K most common values, best first."
    example = ("clicks.parquet page 10", "--unit session --candidates 1..41270 --epsilon 1 --with-counts")
    also = (
        ("And without a list of candidates?", ("clicks.parquet page 10", "--unit session --epsilon 1 --delta 1e-6")),
    )
    positional = ("k",)
    value = "list[Any]"

    column: Values
    k: K
    candidates: CandidatesIfAny = None
    epsilon: Epsilon
    delta: DeltaIfLess = 0.0
    with_counts: WithCounts = False
    max_values_per_unit: MaxValues = None

    def check_usable(self, usable_epsilon: object, /) -> None:
        if self.candidates is None:
            questions.check_countable(self._most, usable_epsilon)

    @property
    def _most(self) -> int:
        return 1 if self.max_values_per_unit is None else self.max_values_per_unit

    def planned(self, columns: Columns, /, **price: Unpack[Price]) -> Planned[Any]:
        if self.candidates is not None:
            return questions.TopK.planned(_listed(self, columns), self.k, delta=self.delta, **price, **_counting(self))
        questions.check_unlisted(self.delta)
        kind = columns.name_kind(self.column, None)
        counting: dict[str, Any] = {"max_values_per_unit": self._most, "with_counts": self.with_counts}
        return questions.TopUnknown.planned(kind, self.k, delta=self.delta, **price, **counting)


class BestDate(Question, name="best_date"):
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

    def planned(self, columns: Columns, /, **price: Unpack[Price]) -> Planned[Any]:
        from dpselect.summaries import public_dates

        public = public_dates(self.dates, bounds=self.bounds, step=self.step)
        return questions.BestDate.planned(public, **price, with_counts=self.with_counts)


def _listed(question: MostCommon | TopK, columns: Columns) -> Any:
    are_counted = question.with_counts or question.max_values_per_unit is not None
    return columns.candidates(question.candidates, are_counted=are_counted)


def _counting(question: MostCommon | LeastCommon | TopK) -> dict[str, Any]:
    return {"max_values_per_unit": question.max_values_per_unit, "with_counts": question.with_counts}
