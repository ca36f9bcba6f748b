"""The k most common values of a column, without a public list of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from dpselect.errors import InvalidCandidatesError
from dpselect.mechanisms import GaussianThresholdCounts, StopCandidate, ThresholdCounts
from dpselect.mechanisms.unknown_noise import UnknownMechanism, plan_unknown
from dpselect.privacy import Neighbours
from dpselect.questions.question import (
    CONFIDENCE,
    LARGEST_COUNT,
    Drawn,
    NoisyUnits,
    Planned,
    Question,
    RowReader,
    Terms,
    Value,
)
from dpselect.questions.values import (
    check_countable,
    checked_most,
    most_values,
    name_sensitivity,
    nothing_named,
)
from dpselect.summaries import CandidateKind, NameCounts, PublicGroups, UnlistedCandidates

if TYPE_CHECKING:
    from dpselect.accounting import ApproximateEvent


@dataclass(frozen=True, kw_only=True)
class TopUnknown(Question[NameCounts]):
    """Which k values do the most units have? Planned from public arguments; sees values and counts only when it draws.

    Attributes:
        kind: the kind that the values are read as.
        k: the largest number of values in the answer.
        mechanism: selects them, at the whole cost.
        with_counts: whether only a mechanism with counts was to be chosen from.
        rule: the outcome of `unknown_noise`; empty for a certificate from before there was one.
    """

    name: ClassVar[str] = "top_unknown"
    gives_list: ClassVar[bool] = True
    label: ClassVar[str] = "rank"
    bounds_every_count: ClassVar[bool] = False

    kind: CandidateKind
    k: int
    mechanism: UnknownMechanism
    with_counts: bool = False
    rule: str = ""

    @classmethod
    def planned(
        cls,
        kind: CandidateKind,
        k: int,
        *,
        epsilon: float,
        delta: float,
        max_values_per_unit: int = 1,
        with_counts: bool = False,
        neighbours: Neighbours = Neighbours.ADD_REMOVE,
    ) -> Self:
        """The question, planned for a cost of `epsilon` and `delta`, with the mechanism that `unknown_noise` chooses.

        Raises:
            InvalidParameterError: `k` is not a whole number >= 1, or another argument is out of range.

        >>> TopUnknown.planned(CandidateKind.TEXT, 10, epsilon=1.0, delta=1e-6).mechanism.threshold
        15
        """
        found, mechanism = plan_unknown(
            k,
            epsilon=epsilon,
            delta=delta,
            max_values_per_unit=checked_most(kind, max_values_per_unit),
            with_counts=with_counts,
            neighbours=neighbours,
        )
        return cls(kind=kind, k=int(k), mechanism=mechanism, with_counts=with_counts, rule=found.rule)

    @property
    def event(self) -> ApproximateEvent:
        """What one release costs, for accounting; to be charged before `released` is called."""
        return self.mechanism.event

    @cached_property
    def terms(self) -> Terms:
        """What the certificate will contain.

        Proof: ``proofs/unknown_candidates.md`` (counts and threshold) and the page of the noise, or
        ``proofs/stop_candidate.md``.
        """
        mechanism = self.mechanism
        has_counts = not isinstance(mechanism, StopCandidate)
        return Terms(
            task=self.name,
            mechanism=type(mechanism).__name__,
            rounds=1 if has_counts else self.k,
            epsilon=mechanism.epsilon,
            delta=mechanism.delta,
            sensitivity=name_sensitivity(mechanism.neighbours),
            candidates={"origin": "rows", "kind": str(self.kind)},
            error_bound=float(mechanism.count_needed(CONFIDENCE)),
            proofs=(_PROOFS[type(mechanism)],),
            arguments={
                "k": self.k,
                "max_values_per_unit": mechanism.max_values_per_unit,
                **({"with_counts": True} if self.with_counts else {}),
                **(
                    {"threshold": mechanism.threshold}
                    if has_counts
                    else {"half_released_at": mechanism.count_needed(0.5)}
                ),
                **({"rule": self.rule} if self.rule else {}),
            },
            counted=NoisyUnits(within=mechanism.count_error(CONFIDENCE)) if has_counts else None,
        )

    def summaries(self, rows: RowReader, groups: PublicGroups | None, /) -> list[NameCounts]:
        """How many units count for each value that occurs."""
        return rows.names(self.kind, groups, max_values_per_unit=self.mechanism.max_values_per_unit)

    def usable_units(self, rows: RowReader, groups: PublicGroups | None, summaries: list[NameCounts], /) -> list[int]:
        """How many units have a value; each counts for one of its own."""
        check_countable(self.mechanism.max_values_per_unit, 0.0)
        return [int(summary.counts.sum()) for summary in summaries]

    def draw(self, summary: NameCounts, /) -> list[Value]:
        """The values, best first."""
        answer = self.released(summary).answer
        assert isinstance(answer, list)
        return answer

    def released(self, summary: NameCounts, /) -> Drawn:
        """See `Priced.released`. Of equal noisy counts the smaller value comes first: the order of rows is private."""
        if isinstance(self.mechanism, StopCandidate):
            return Drawn(summary.names.take(self.mechanism.select(summary.counts)).to_pylist())
        positions, noisy = self.mechanism.draw(summary.counts)
        if positions.size > self.k:
            reached = noisy >= np.partition(noisy, -self.k)[-self.k]
            positions, noisy = positions[reached], noisy[reached]
        names = summary.names.take(positions).to_pylist()
        ranked = sorted(zip((-noisy).tolist(), names, strict=True))[: self.k]
        return Drawn([name for _, name in ranked], counted=[min(-count, LARGEST_COUNT) for count, _ in ranked])

    @classmethod
    def keys(cls, release: Planned, count: int) -> Iterable[str]:
        """See `Question.keys`."""
        return [str(rank) for rank in range(1, count + 1)]

    @classmethod
    def accepts_usable_epsilon(cls, release: Planned) -> bool:
        """See `Question.accepts_usable_epsilon` and `check_countable`."""
        return release.counted is None and release.arguments["max_values_per_unit"] == 1

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
    def counting(cls, release: Planned) -> str:
        """See `Question.counting`."""
        return f", counting at most {most_values(release)} of each {release.unit}"

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

    @classmethod
    def origin(cls, release: Planned) -> str:
        """See `Question.origin`."""
        return "out of all values that occur, without a list of candidates"

    def possible(self, values: list[Any], units: int | None, counts: list[int] | None) -> bool:
        """See `Question.possible`. None below the threshold; the most common first, of equal ones the smaller."""
        if len(values) > self.k or not UnlistedCandidates.of(self.kind).may_hold(values):
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


_PROOFS: dict[type[UnknownMechanism], str] = {
    ThresholdCounts: "proofs/geometric_mechanism.md",
    GaussianThresholdCounts: "proofs/discrete_gaussian.md",
    StopCandidate: "proofs/stop_candidate.md",
}
