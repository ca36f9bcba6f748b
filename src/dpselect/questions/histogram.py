"""How many units have each of the candidates?"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Self

from dpselect.accounting import PureEvent
from dpselect.arguments import positive_count
from dpselect.mechanisms import GeometricMechanism, NoisyHistogramMechanism
from dpselect.privacy import Neighbours, Sensitivity
from dpselect.questions import fields
from dpselect.questions.command import Command, Option
from dpselect.questions.count import LARGEST_COUNT, check_useful
from dpselect.questions.fields import AnswerFields, Fields
from dpselect.questions.list_question import ListQuestion
from dpselect.questions.question import CONFIDENCE, Answered, Drawn, NoisyUnits, Planned, RowReader, Terms, Value
from dpselect.questions.stated import Stated
from dpselect.questions.wording import as_text, counted
from dpselect.summaries import CandidateCounts, PublicCandidates, PublicCondition, PublicGroups


@dataclass(frozen=True, kw_only=True)
class Histogram(ListQuestion[CandidateCounts]):
    """How many units have each candidate? Planned from public arguments; sees the counts only in `draw`.

    Attributes:
        candidates: the public candidates.
        max_values_per_unit: for how many of them one unit counts.
        mechanism: adds noise to all counts, at the whole cost.
    """

    name: ClassVar[str] = "histogram"
    measure: ClassVar[str] = "units ({unit})"
    is_count: ClassVar[bool] = True
    bounds_value: ClassVar[bool] = True
    commands: ClassVar[tuple[Command, ...]] = (
        Command(
            name="histogram",
            asks="How many have each value?",
            does="Count the units with each of the values.",
            example=("adult.csv education_num", "--unit person_id --candidates 1..16 --epsilon 0.5"),
            column="Column with the values.",
            chooses=True,
            needs_several=False,
            options=(
                Option(
                    "max_values_per_unit",
                    "whole",
                    "Number of values for which one unit counts. If a unit has more, this many are chosen at random."
                    " The noise grows with it.",
                    default=1,
                ),
            ),
        ),
    )

    candidates: PublicCandidates
    max_values_per_unit: int
    mechanism: GeometricMechanism

    @classmethod
    def planned(
        cls,
        candidates: PublicCandidates,
        *,
        epsilon: float,
        max_values_per_unit: object = 1,
        neighbours: Neighbours = Neighbours.ADD_REMOVE,
    ) -> Self:
        """The question, planned for a cost of `epsilon`.

        Raises:
            InvalidParameterError: `epsilon` is not a finite number > 0, or `max_values_per_unit` not a whole number
                from 1 to the number of candidates.

        >>> candidates = PublicCandidates.given(["red", "blue"])
        >>> Histogram.planned(candidates, epsilon=0.5, max_values_per_unit=2).mechanism.scale  # 2/epsilon
        4.0
        """
        most = positive_count(
            max_values_per_unit,
            "max_values_per_unit",
            at_most=len(candidates),
            at_most_what="the number of candidates",
        )
        moved = most if neighbours is Neighbours.ADD_REMOVE else min(2 * most, len(candidates))
        mechanism = GeometricMechanism(epsilon=epsilon, sensitivity=moved, neighbours=neighbours)
        check_useful(mechanism, len(candidates))
        return cls(candidates=candidates, max_values_per_unit=most, mechanism=mechanism)

    @property
    def event(self) -> PureEvent:
        """What one release costs, for accounting; to be charged before `draw` is called."""
        return self.mechanism.event

    @cached_property
    def terms(self) -> Terms:
        """What the certificate will contain; the sensitivity is the largest total change of all counts.

        Proof: ``proofs/counting.md``, claim 6, and ``proofs/geometric_mechanism.md``.
        """
        names = self.candidates.description()
        if "range" not in names:
            names["values"] = self.candidates.stated()
        return Terms(
            task=self.name,
            mechanism=type(self.mechanism).__name__,
            epsilon=self.mechanism.epsilon,
            sensitivity=Sensitivity(
                float(self.mechanism.sensitivity),
                monotonic=self.mechanism.neighbours is Neighbours.ADD_REMOVE,
                neighbours=self.mechanism.neighbours,
                proof="proofs/counting.md",
            ),
            candidates=names,
            error_bound=float(self.mechanism.error_bound(CONFIDENCE, size=len(self.candidates))),
            proofs=("proofs/geometric_mechanism.md",),
            arguments={"max_values_per_unit": self.max_values_per_unit},
            usable=self._usable,
        )

    @property
    def _usable(self) -> NoisyUnits | None:
        """If each unit counts once, the sum of the noisy counts is a noisy number of units."""
        if self.max_values_per_unit > 1:
            return None
        noisy = NoisyHistogramMechanism(epsilon=self.mechanism.epsilon, neighbours=self.mechanism.neighbours)
        return NoisyUnits(within=noisy.total_error_bound(len(self.candidates), confidence=CONFIDENCE))

    @property
    def identity(self) -> dict[str, Any]:
        """The public arguments that distinguish this question from others about the same column."""
        return {"candidates": self.candidates.values, "max_values_per_unit": self.max_values_per_unit}

    def summaries(self, rows: RowReader, groups: PublicGroups | None, /) -> list[CandidateCounts]:
        """How many units count for each candidate."""
        return rows.count(self.candidates, groups, max_values_per_unit=self.max_values_per_unit)

    def usable_units(
        self, rows: RowReader, groups: PublicGroups | None, summaries: list[CandidateCounts], /
    ) -> list[int]:
        """How many units have one of the candidates."""
        return rows.units(PublicCondition(candidates=self.candidates), groups)

    def draw(self, summary: CandidateCounts, /) -> Answered:
        """The noisy count of each candidate, in their order."""
        return self.released(summary).answer

    def released(self, summary: CandidateCounts, /) -> Drawn:
        """See `Priced.released`. Negative noisy counts are released as 0."""
        noisy: list[int] = self.mechanism.draw_many(summary.counts).tolist()
        counts: list[Value] = [min(max(0, count), LARGEST_COUNT) for count in noisy]
        return Drawn(counts, [min(max(0, sum(noisy)), LARGEST_COUNT)] if self.max_values_per_unit == 1 else None)

    label: ClassVar[str] = "value"

    @classmethod
    def keys(cls, release: Planned, count: int) -> Iterable[str]:
        """See `Question.keys`. The names of the candidates."""
        about = release.candidates.get("range")
        if about is None:
            return [as_text(value) for value in release.candidates["values"]]
        return [str(about["first"] + place * about["step"]) for place in range(count)]

    @classmethod
    def within(cls, release: Planned, bound: float) -> str:
        """See `Question.within`."""
        return f"each released count is within {bound:,.0f} of the truth"

    @classmethod
    def origin(cls, release: Planned) -> str:
        """See `Question.origin`."""
        return f"for each of {counted(release.candidates['count'], 'candidate')} given by the caller"

    @classmethod
    def check_fields(cls, held: Fields) -> AnswerFields:
        """See `Question.check_fields`."""
        about = fields.object_with(held["candidates"], "candidates", _NAMED, optional=["range", "values"])
        if ("range" in about) == ("values" in about):
            raise fields.wrong("candidates", "the values, or the range of them")
        if "values" in about:
            fields.list_of(fields.KINDS[about["kind"]])(about["values"], "candidates.values")
            if len(set(about["values"])) != about["count"] or len(about["values"]) != about["count"]:
                raise fields.wrong("candidates.values", "as many different values as there are candidates")
        fields.object_with(held.get("arguments", {}), "arguments", {"max_values_per_unit": fields.count})
        return AnswerFields(fields.whole(0), about["count"])

    @classmethod
    def restated(cls, stated: Stated) -> Self:
        """See `Question.restated`. The certificate has the candidates themselves."""
        public = stated.public
        if "range" in public:
            stated.lists([])  # refuses a range without this number of whole numbers
            ends = public["range"]
            past = 1 if ends["step"] > 0 else -1
            listed = range(ends["first"], ends["last"] + past, ends["step"])
            candidates = PublicCandidates.given(listed, allow_many=True)
        else:
            candidates = PublicCandidates.restated(public["kind"], public["values"])
        return cls.planned(candidates, max_values_per_unit=stated.arguments["max_values_per_unit"], **stated.price)

    @classmethod
    def allows(cls, values: list[Any], stated: Stated) -> bool:
        """See `Question.allows`."""
        return len(values) == stated.public["count"] and all(0 <= value <= LARGEST_COUNT for value in values)


_NAMED: dict[str, fields.Check] = {**fields.LISTED, "values": fields.list_of(fields.anything)}
