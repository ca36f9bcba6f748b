"""The k most common values of a column, without a public list of them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np

from dpselect.accounting import ApproximateEvent
from dpselect.arguments import positive_count
from dpselect.errors import InvalidCandidatesError
from dpselect.mechanisms import ThresholdCounts
from dpselect.privacy import Neighbours
from dpselect.questions import fields
from dpselect.questions.count import LARGEST_COUNT
from dpselect.questions.fields import AnswerFields, Fields
from dpselect.questions.question import CONFIDENCE, Drawn, NoisyUnits, Planned, Question, RowReader, Terms, Value
from dpselect.questions.stated import Stated
from dpselect.questions.values import check_countable, check_origin, most_values, name_sensitivity
from dpselect.summaries import CandidateKind, NameCounts, PublicGroups

MOST_ANSWERS = 10_000_000
"""More than this many values are refused."""


@dataclass(frozen=True, kw_only=True)
class TopUnknown(Question[NameCounts]):
    """Which k values do the most units have? Planned from public arguments; sees values and counts only when it draws.

    Attributes:
        kind: the kind that the values are read as.
        k: the largest number of values in the answer.
        mechanism: adds noise to all counts and releases those from a threshold on, at the whole cost.
    """

    name: ClassVar[str] = "top_unknown"
    label: ClassVar[str] = "rank"
    bounds_every_count: ClassVar[bool] = False

    kind: CandidateKind
    k: int
    mechanism: ThresholdCounts

    @classmethod
    def planned(
        cls,
        kind: CandidateKind,
        k: int,
        *,
        epsilon: float,
        delta: float,
        max_values_per_unit: int = 1,
        neighbours: Neighbours = Neighbours.ADD_REMOVE,
    ) -> Self:
        """The question, planned for a cost of `epsilon` and `delta`.

        Raises:
            InvalidParameterError: `k` is not a whole number >= 1, or another argument is out of range.

        >>> TopUnknown.planned(CandidateKind.TEXT, 10, epsilon=1.0, delta=1e-6).mechanism.threshold
        15
        """
        mechanism = ThresholdCounts(
            epsilon=epsilon, delta=delta, max_values_per_unit=max_values_per_unit, neighbours=neighbours
        )
        return cls(kind=kind, k=positive_count(k, "k", at_most=MOST_ANSWERS), mechanism=mechanism)

    @property
    def event(self) -> ApproximateEvent:
        """What one release costs, for accounting; to be charged before `released` is called."""
        return self.mechanism.event

    @cached_property
    def terms(self) -> Terms:
        """What the certificate will contain.

        Proof: ``proofs/unknown_candidates.md`` (counts and threshold) and ``proofs/geometric_mechanism.md`` (noise).
        """
        return Terms(
            task=self.name,
            mechanism=type(self.mechanism).__name__,
            epsilon=self.mechanism.epsilon,
            delta=self.mechanism.delta,
            sensitivity=name_sensitivity(self.mechanism.neighbours),
            candidates={"origin": "rows", "kind": str(self.kind)},
            error_bound=float(self.mechanism.count_needed(CONFIDENCE)),
            proofs=("proofs/geometric_mechanism.md",),
            arguments={
                "k": self.k,
                "max_values_per_unit": self.mechanism.max_values_per_unit,
                "threshold": self.mechanism.threshold,
            },
            counted=NoisyUnits(within=self.mechanism.count_error(CONFIDENCE)),
        )

    @property
    def identity(self) -> dict[str, Any]:
        """The public arguments that distinguish this question from others about the same column."""
        most = self.mechanism.max_values_per_unit
        return {"k": self.k, "kind": str(self.kind), "delta": self.mechanism.delta, "max_values_per_unit": most}

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
        """See `Priced.released`. Of equal counts the smaller value comes first: the order of rows is private."""
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
    def within(cls, release: Planned, bound: float) -> str:
        """See `Question.within`."""
        at = f"{release.arguments['threshold']:,}"
        reached = f"reaches the threshold of {at} (at {at} units the probability passes one half)"
        return f"the noisy count of a value that at least {bound:,.0f} units ({release.unit}) have {reached}"

    @classmethod
    def counting(cls, release: Planned) -> str:
        """See `Question.counting`."""
        return f", counting each {release.unit} for at most {most_values(release)}"

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
        return f"Released: {count:,} of {asked:,}. No other noisy count reaches the threshold."

    @classmethod
    def origin(cls, release: Planned) -> str:
        """See `Question.origin`."""
        return "out of all values that occur, without a list of candidates"

    @classmethod
    def check_fields(cls, held: Fields) -> AnswerFields:
        """See `Question.check_fields`."""
        kind = check_origin(held)
        given = fields.object_with(held.get("arguments", {}), "arguments", _ARGUMENTS)
        if "counts" not in held:
            raise fields.wrong("counts", "the counts of the values")
        return AnswerFields(kind, most=given["k"])

    @classmethod
    def restated(cls, stated: Stated) -> Self:
        """See `Question.restated`."""
        given = stated.arguments
        kind, most = CandidateKind(stated.public["kind"]), given["max_values_per_unit"]
        return cls.planned(kind, given["k"], delta=stated.delta, max_values_per_unit=most, **stated.price)

    @classmethod
    def allows(cls, values: list[Any], stated: Stated) -> bool:
        """See `Question.allows`."""
        return len(set(values)) == len(values)


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


_ARGUMENTS: dict[str, fields.Check] = dict.fromkeys(("k", "max_values_per_unit", "threshold"), fields.count)
