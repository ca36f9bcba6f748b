"""Which candidates are the most common, or the rarest; and on which date the most units are free."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Self, cast

from dpselect import arguments, mechanisms, summaries
from dpselect.checks import positive_sensitivity
from dpselect.errors import InvalidCandidatesError
from dpselect.questions.question import Columns, ListQuestion, check_useful
from dpselect.questions.records import CONFIDENCE, Drawn, NoisyUnits, Planned, Value, counted, released_count

if TYPE_CHECKING:
    from dpselect.mechanisms.top_k import TopKPlan
    from dpselect.questions.values import TopUnknown


ONCE = "noise is added once to all counts, which takes less noise than a draw for each value"
GAUSSIAN_ONCE = (
    "Gaussian noise is added once to all counts, which takes less noise than geometric noise or a draw for each value"
)
EACH = "each value is drawn by itself, which takes less noise than adding noise once to all counts"
ORDER = "noise is added once for the order of the counts alone, which takes less noise than for the counts themselves"
"""The outcomes of `planning.order_noise`, as certificates state them. The words are part of their format.

Where noise is not added to all counts, `ORDER` is for one draw of several values and `EACH` for a draw of each.
"""


_ROUND_PROOFS = {  # the proof page of one draw
    "PermuteAndFlip": "proofs/permute_and_flip.md",
    "ExponentialMechanism": "proofs/exponential_mechanism.md",
    "ExponentialNoiseTopK": "proofs/exponential_once.md",
}


class Counted(ListQuestion):
    """A question that may have noise once on all counts, where `order_noise` prefers it to a draw for each value."""

    with_counts = cast("Any", False)  # an argument of most
    rarest: ClassVar[bool] = False
    proof: ClassVar[str] = "proofs/counting.md"  # of `moved`

    @property
    def moved(self) -> float:
        """How much one unit can change counts, and so their negatives: ``proofs/counting.md``, claims 1, 2 and 4."""
        return 1.0

    @cached_property
    def once(self) -> mechanisms.NoisyOrder | None:
        """The plan with noise once on all counts, where the rule prefers it; None: a draw for each value."""
        most = self.max_values_per_unit
        if most is None and not self.with_counts:
            return None
        n, k, delta = len(self.choices), self.answers, cast("float", getattr(self, "delta", 0.0))
        asked: dict[str, Any] = {"epsilon": self.epsilon, "neighbours": self.neighbours}
        ruled: dict[str, Any] = {"delta": delta, "max_values_per_unit": most, "with_counts": self.with_counts}
        found = mechanisms.order_noise(n, k, **asked, **ruled)
        if not found.is_once:
            return None
        spent = delta if found.is_gaussian else 0.0
        order = mechanisms.NoisyOrder(n, k, **asked, delta=spent, max_values_per_unit=n if most is None else most)
        check_useful(order.noise, n)
        return order

    @cached_property
    def plan(self) -> mechanisms.PermuteAndFlip | TopKPlan:
        """A draw for each value, where noise is not added `once`: of one winner, or of several in rounds or at once.

        If counts are wanted it has half of epsilon, because the other half pays for them.
        """
        part = mechanisms.left_for_selection(self.epsilon) if self.with_counts else self.epsilon
        cost: dict[str, Any] = {"epsilon": part, "sensitivity": self.moved}
        cost |= {"monotonic": self.neighbours.one_way, "neighbours": self.neighbours}
        if not self.gives_list:
            return mechanisms.PermuteAndFlip(**cost)
        return mechanisms.plan_top_k(len(self.choices), self.answers, delta=cast(Any, self).delta, **cost)

    @cached_property
    def mechanism(self) -> mechanisms.PermuteAndFlip | TopKPlan | mechanisms.NoisyOrder:
        return self.plan if self.once is None else self.once

    @cached_property
    def terms(self) -> Planned:
        """With how the order was decided, unless the caller left nothing to decide.

        Proof: ``proofs/counting.md``; of noise once on all counts its claim 6, and ``proofs/noisy_order.md``; of rounds
        ``proofs/top_k.md``, and the page of the mechanism that draws in each.
        """
        candidates = self.described
        order, most, n = self.once, self.max_values_per_unit, candidates["count"]
        if order is not None:
            rule = GAUSSIAN_ONCE if order.delta else ONCE
        else:
            rule = ORDER if getattr(self.plan, "is_at_once", False) else EACH
        told = {
            **({"k": self.answers} if rule != EACH and self.gives_list else {}),
            **({} if most is None else {"max_values_per_unit": most}),
            **({"rule": rule} if self.with_counts or most is not None else {}),
        }
        about: dict[str, Any] = {"candidates": candidates, "arguments": told}
        if order is not None:
            noise = "proofs/discrete_gaussian.md" if order.delta else "proofs/geometric_mechanism.md"
            about |= {"mechanism": type(order.noise).__name__, "error_bound": float(order.error_bound(CONFIDENCE))}
            about |= {"counted": NoisyUnits(within=order.count_bound(CONFIDENCE))}
            return self.stated(float(order.noise.sensitivity), self.proof, noise, "proofs/noisy_order.md", **about)
        plan, pages = self.plan, [self.proof]
        if isinstance(plan, mechanisms.PermuteAndFlip):
            one, about["error_bound"] = plan, plan.distance(plan.law.error_quantile(n, 1.0 - CONFIDENCE, CONFIDENCE))
        else:
            one, about["error_bound"] = plan.mechanism, plan.error_bound(confidence=CONFIDENCE)
            about["rounds"], pages = plan.rounds, pages if plan.is_at_once else [*pages, "proofs/top_k.md"]
        name = type(one).__name__
        return self.stated(self.moved, *pages, _ROUND_PROOFS[name], mechanism=name, **about)

    def released(self, summary: summaries.CandidateTotals, /) -> Drawn:
        if self.once is None:
            drawn = cast(Any, self.plan).select(self.scores(summary))
            positions, counts = drawn if self.gives_list else [drawn], None
        else:
            drawn = self.once.select(summary.totals, rarest=self.rarest)
            positions, counts = drawn.positions.tolist(), [*map(released_count, drawn.counts.tolist())]
        answer: list[Value] = [self.choices[position] for position in positions]
        if self.gives_list:
            return Drawn(answer, counted=counts, places=positions)
        return Drawn(answer[0], counted=counts and counts[0], places=positions)

    def scores(self, summary: summaries.CandidateTotals) -> Any:
        """How good each candidate is: its count, or for the rarest its negative."""
        return -summary.totals if self.rarest else summary.totals


class MostCommon(Counted, name="most_common"):
    """The most common value in `column`: the candidate that the most units have.

    A unit counts once per candidate, however many rows it has. The result of ``unique()`` or ``value_counts()`` on the
    private column cannot be distinguished from a public list, but reveals people's data all the same.
    `dpselect.candidates_from` reads a list from a public file. With `max_values_per_unit`, `with_counts` or both, the
    rule that decides how to draw is `dpselect.planning.order_noise`, and the release states it.

    Returns:
        One of the candidates.

    Proof: ``proofs/counting.md`` and ``proofs/permute_and_flip.md``, or ``proofs/noisy_order.md``.

    >>> release = data.most_common("page", candidates=range(1, 41271), epsilon=1.0)
    >>> print(release.accuracy)
    With 99% confidence the count of the released page is within 14 of the best.
    """

    asks = "What is the most common value?"
    example = ("clicks.parquet page", "--unit session --candidates 1..41270 --epsilon 0.5")

    candidates: arguments.Candidates = None
    max_values_per_unit: arguments.MaxValues = None
    with_counts: arguments.WithCounts = False

    near: ClassVar[str] = "the count of the released {column} is within {bound} of the best"


class LeastCommon(MostCommon, name="least_common"):
    """The rarest value in `column`: the candidate that the fewest units have, or nobody.

    So leave out values that cannot occur.

    Returns:
        One of the candidates.

    Proof: ``proofs/counting.md`` and ``proofs/permute_and_flip.md``, or ``proofs/noisy_order.md``.

    >>> data.least_common("education_num", candidates=range(1, 17), epsilon=1.0).value
    1
    """

    asks = "What is the rarest value?"
    example = ("adult.csv education_num", "--unit person_id --candidates 1..16 --epsilon 0.5")

    rarest: ClassVar[bool] = True
    near: ClassVar[str] = "the count of the released {column} is within {bound} of the lowest"
    tells_units: ClassVar[bool | None] = True  # few units have the rarest value, whatever else can be read


class BestDate(Counted, name="best_date"):
    """The date on which the most units are free, where each row states that its unit is free on the date in `column`.

    A unit counts once per date. Dates are ``datetime.date``, text such as ``"2026-11-21"``, or timestamps at midnight,
    as from ``pandas.date_range``.

    Returns:
        A ``datetime.date``.

    Proof: ``proofs/counting.md`` and ``proofs/permute_and_flip.md``.

    >>> release = data.best_date("free_on", bounds=("2026-12-01", "2026-12-31"), epsilon=2.0)
    >>> str(release.value)
    '2026-12-12'
    """

    asks = "On which date are the most people free?"
    example = ("free_days.csv free_on", "--unit person --bounds 2026-12-01 2026-12-31 --epsilon 1")
    value = "date"

    column: arguments.Dates
    dates: arguments.DatesToChoose = None
    bounds: arguments.DateBounds = None
    step: arguments.DateStep = 1
    with_counts: arguments.WithCounts = False

    label: ClassVar[str] = "answer"
    listed: ClassVar[str] = "dates"
    near: ClassVar[str] = "the count of the released date is within {bound} of the best"

    def known(self, columns: Columns, /) -> Self:
        public = summaries.public_dates(self.dates, bounds=self.bounds, step=self.step)
        return replace(self, dates=public, bounds=None, step=1)


class TopK(Counted, name="top_k"):
    """The `k` most common values in `column`, best first.

    Without candidates, `delta` is needed, values are read as the column's type has them (in CSV as text), and there may
    be fewer than `k`. The rules that decide how to draw are `dpselect.planning.order_noise` and `unknown_noise`.

    Returns:
        A list of different candidates.

    Proof: ``proofs/counting.md`` and ``proofs/top_k.md``; without candidates ``proofs/unknown_candidates.md`` and
    ``proofs/stop_candidate.md``.

    >>> data.top_k("page", 3, candidates=range(1, 41271), epsilon=1.0).value
    [6, 3, 11]
    >>> data.top_k("page", 3, epsilon=1.0, delta=1e-6, max_values_per_unit=3).value
    [6, 3, 11]
    """

    asks = "What are the ten most common values, and how many have each?"
    example = ("clicks.parquet page 10", "--unit session --candidates 1..41270 --epsilon 1 --with-counts")
    positional = ("k",)
    value = "list[Any]"

    k: arguments.K
    candidates: arguments.CandidatesIfAny = None
    delta: arguments.DeltaIfLess = 0.0
    with_counts: arguments.WithCounts = False
    max_values_per_unit: arguments.MaxValues = None

    near: ClassVar[str] = "each count is within {bound} of the best one left when it was selected"

    def known(self, columns: Columns, /) -> TopK | TopUnknown:  # pyright: ignore
        """Without a list it is another question."""
        if self.candidates is not None:
            return super().known(columns)
        from dpselect.questions.values import TopUnknown

        if self.delta == 0:
            hint = "Which values occur is private. Give a range, a code book or a catalogue; or give a delta, such as"
            hint += " 1e-6 for up to about 10,000 units, to select among the values that enough units have."
            expected = "the public list of values to choose from, or a `delta` above 0"
            raise InvalidCandidatesError("candidates", None, expected, hint)
        same = ("column", "k", "epsilon", "delta", "with_counts", "neighbours")
        given: dict[str, Any] = {each: getattr(self, each) for each in same}
        kind, most = columns.name_kind(self.column), self.max_values_per_unit
        return TopUnknown(**given, max_values_per_unit=1 if most is None else most, kind=kind)


class BestFeatures(Counted, name="best_features"):
    """The `k` features that predict the class of a row best, each by itself. It is asked by an estimator, of arrays.

    No table is scanned: the estimator calls `dpselect.sklearn.reading.tally`.
    """

    column: Annotated[str, "text", "What the candidates are."] = "features"
    features: Annotated[object, "list", "Names of the features."]
    k: arguments.K
    weights: Annotated[Sequence[int], "levels", "What a row of each class counts for."]
    settings: Annotated[str, "text", "Hash of the bins and of the labels of the classes."]
    delta: arguments.DeltaIfLess = 0.0

    value = "list[Any]"
    listed: ClassVar[str] = "features"
    error_unit = "weighted rows"
    tells_units: ClassVar[bool | None] = False  # features are arrays of numbers, of which each row counts

    proof: ClassVar[str] = "proofs/feature_scores.md"

    @property
    def moved(self) -> float:
        """The highest weight, in weighted rows: how much one row can change the score of any feature."""
        return positive_sensitivity(max(self.weights))

    @cached_property
    def terms(self) -> Planned:
        terms = cast("Planned", cast(Any, Counted.terms).func(self))  # else it would be kept, for others to see
        return replace(terms, arguments={"classes": len(self.weights), **terms.arguments})

    @classmethod
    def within(cls, release: Planned, bound: float) -> str:
        fewer = f"is right about at most {counted(math.floor(bound), f'fewer {release.unit}')} (weighted)"
        return f"the best rule on each selected feature {fewer} than on the best one left when it was selected"

    @classmethod
    def origin(cls, release: Planned) -> str:
        return f"out of {counted(release.candidates['count'], 'feature')}"
