"""The k most common values: of a public list, or without one of those that enough units have."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

from dpselect import mechanisms
from dpselect.arguments import CandidatesIfAny, DeltaIfLess, Epsilon, K, MaxValues, Values, WithCounts
from dpselect.checks import positive_count
from dpselect.errors import InvalidCandidatesError
from dpselect.privacy import Neighbours
from dpselect.questions.declared import Columns
from dpselect.questions.list_question import Counted, terms_of_plan, top_k_plan
from dpselect.questions.question import CONFIDENCE, LARGEST_COUNT, Drawn, NoisyUnits, Terms
from dpselect.questions.scores import count_scores
from dpselect.questions.values import Unlisted, check_countable, checked_most, nothing_named

if TYPE_CHECKING:
    from dpselect.accounting import Event
    from dpselect.mechanisms import GaussianThresholdCounts, StopCandidate, ThresholdCounts
    from dpselect.mechanisms.threshold_counts import UnlistedNoise
    from dpselect.mechanisms.top_k import TopKPlan
    from dpselect.questions.question import Planned, RowReader
    from dpselect.summaries import NameCounts, PublicGroups


class TopK(Counted, name="top_k"):
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

    gives_list: ClassVar[bool] = True

    def check_usable(self, usable_epsilon: object, /) -> None:
        if self.candidates is None:
            check_countable(1 if self.max_values_per_unit is None else self.max_values_per_unit, usable_epsilon)

    def known(self, columns: Columns, neighbours: Neighbours, /) -> TopK | TopUnknown:
        """See `Question.known`. Without a list it is another question."""
        if self.candidates is not None:
            return replace(self, candidates=columns.listed(self.candidates), neighbours=neighbours)
        check_unlisted(self.delta)
        given = {each: getattr(self, each) for each in ("column", "k", "epsilon", "delta", "with_counts")}
        kind, most = columns.name_kind(self.column, None), self.max_values_per_unit
        return TopUnknown(**given, max_values_per_unit=1 if most is None else most, kind=kind, neighbours=neighbours)

    @property
    def answers(self) -> int:
        """How many values are selected."""
        return positive_count(self.k, "k", at_most=len(self.choices), at_most_what="the number of candidates")

    @cached_property
    def plan(self) -> TopKPlan:
        """The mechanism of a round, the number of rounds, and the total cost; if noise is not added `once`."""
        return top_k_plan(self, self.of_selection, self.moved)

    @property
    def event(self) -> Event:
        """What one release costs, for accounting; to be charged before `draw` is called."""
        return self.plan.event if self.once is None else self.once.event

    @cached_property
    def terms(self) -> Terms:
        """What the certificate will contain."""
        if self.once is not None:
            return self.terms_once(self.once)
        return terms_of_plan(self, self.moved, self.arguments(self.plan))

    def summaries(self, rows: RowReader, groups: PublicGroups | None, /) -> list[Any]:
        """How many units have each candidate."""
        return [*self.counts(rows, groups)]

    def released(self, summary: Any, /) -> Drawn:
        """See `Priced.released`. With noise once on all counts, those of the answer are known, too."""
        if self.once is not None:
            return self.drawn_once(self.once, summary)
        scores = count_scores(summary, self.neighbours)
        return Drawn([self.choices[position] for position in self.plan.select(scores.values)])

    @classmethod
    def within(cls, release: Planned, bound: float) -> str:
        """See `Question.within`."""
        return f"each count is within {math.floor(bound):,} of the best one left when it was selected"


class TopUnknown(Unlisted, name="top_unknown"):
    """The `k` most common values where there is no list: those that enough units have."""

    label: ClassVar[str] = "rank"
    bounds_every_count: ClassVar[bool] = False

    column: Values
    k: K
    epsilon: Epsilon
    delta: DeltaIfLess
    with_counts: WithCounts = False
    max_values_per_unit: MaxValues = 1
    kind: Any

    @cached_property
    def _chosen(self) -> UnlistedNoise:
        """The mechanism, and the rule by which it was chosen."""
        from dpselect.mechanisms.threshold_counts import unknown_noise

        return unknown_noise(
            self.k,
            epsilon=self.epsilon,
            delta=self.delta,
            max_values_per_unit=checked_most(self.kind, self.max_values_per_unit),
            with_counts=self.with_counts,
            neighbours=self.neighbours,
        )

    @property
    def mechanism(self) -> ThresholdCounts | GaussianThresholdCounts | StopCandidate:
        """What selects them, at the whole cost."""
        return self._chosen.mechanism

    @cached_property
    def terms(self) -> Terms:
        """What the certificate will contain.

        Proof: ``proofs/unknown_candidates.md`` (counts and threshold) and the page of the noise, or
        ``proofs/stop_candidate.md``.
        """
        mechanism = self.mechanism
        has_counts = not isinstance(mechanism, mechanisms.StopCandidate)
        return Terms(
            task=self.name,
            mechanism=type(mechanism).__name__,
            rounds=1 if has_counts else self.k,
            epsilon=mechanism.epsilon,
            delta=mechanism.delta,
            sensitivity=self.sensitivity,
            candidates={"origin": "rows", "kind": str(self.kind)},
            error_bound=float(mechanism.count_needed(CONFIDENCE)),
            proofs=(_PROOFS[type(mechanism).__name__],),
            arguments={
                "k": self.k,
                "max_values_per_unit": mechanism.max_values_per_unit,
                **({"with_counts": True} if self.with_counts else {}),
                **(
                    {"threshold": mechanism.threshold}
                    if has_counts
                    else {"half_released_at": mechanism.count_needed(0.5)}
                ),
                "rule": self._chosen.rule,
            },
            counted=NoisyUnits(within=mechanism.count_error(CONFIDENCE)) if has_counts else None,
        )

    def released(self, summary: NameCounts, /) -> Drawn:
        """See `Priced.released`. Of equal noisy counts the smaller value comes first: the order of rows is private."""
        if isinstance(self.mechanism, mechanisms.StopCandidate):
            return Drawn(summary.names.take(self.mechanism.select(summary.counts)).to_pylist())
        positions, noisy = self.mechanism.draw(summary.counts)
        if positions.size > self.k:
            import numpy as np

            reached = noisy >= np.partition(noisy, -self.k)[-self.k]
            positions, noisy = positions[reached], noisy[reached]
        names = summary.names.take(positions).to_pylist()
        ranked = sorted(zip((-noisy).tolist(), names, strict=True))[: self.k]
        return Drawn([name for _, name in ranked], counted=[min(-count, LARGEST_COUNT) for count, _ in ranked])

    @classmethod
    def within(cls, release: Planned, bound: float) -> str:
        """See `Question.within`."""
        given, having = release.arguments, f"a value that at least {bound:,.0f} units ({release.unit}) have"
        if "threshold" not in given:
            half = f"at {given['half_released_at']:,} units the probability passes one half"
            return f"{having} is drawn before the answer stops, or the answer has {given['k']:,} others ({half})"
        at = f"{given['threshold']:,}"
        reached = f"reaches the threshold of {at} (at {at} units the probability passes one half)"
        return f"the noisy count of {having} {reached}"

    @classmethod
    def counts_within(cls, release: Planned, within: int) -> str:
        """See `Question.counts_within`. How many values there are is private, so no bound covers all of them."""
        return (
            f"the count of a value fixed beforehand (selected ones tend to be high) is within {within:,} of the truth"
        )

    @classmethod
    def ending(cls, release: Planned, count: int) -> str:
        """See `Question.ending`."""
        asked = release.arguments["k"]
        if count == asked:
            return ""
        has_threshold = "threshold" in release.arguments
        why = "No other noisy count reaches the threshold" if has_threshold else "The stop candidate was drawn next"
        more = "" if count else f" {nothing_named(release)}"
        return f"Released: {count:,} of {asked:,}. {why}.{more}"

    def possible(self, values: list[Any], units: int | None, counts: list[int] | None) -> bool:
        """See `Question.possible`. None below the threshold; the most common first, of equal ones the smaller."""
        if len(values) > self.k or not self.may_hold(values):
            return False
        if counts is None:
            return True
        ranked = [(-count, value) for count, value in zip(counts, values, strict=True)]
        return ranked == sorted(ranked) and all(count >= self.terms.arguments["threshold"] for count in counts)


def check_unlisted(delta: object) -> None:
    """Refuse a question without candidates that has no delta either, with both ways out.

    Raises:
        InvalidCandidatesError: `delta` is 0.
    """
    if delta == 0:
        hint = (
            "Which values occur is private. Give a range, a code book or a catalogue; or give a delta, such as 1e-6 for"
        )
        hint += " up to about 10,000 units, to select among the values that enough units have."
        raise InvalidCandidatesError("candidates", None, "the public list of values to choose from, or a delta", hint)


_PROOFS = {
    "ThresholdCounts": "proofs/geometric_mechanism.md",
    "GaussianThresholdCounts": "proofs/discrete_gaussian.md",
    "StopCandidate": "proofs/stop_candidate.md",
}
