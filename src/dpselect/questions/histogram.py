"""How many units have each of the candidates?"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self

from dpselect.arguments import delta_below_one, positive_count
from dpselect.mechanisms import DiscreteGaussianMechanism, GeometricMechanism, NoisyHistogramMechanism
from dpselect.privacy import Neighbours, neighbouring_relation
from dpselect.questions.list_question import ListQuestion
from dpselect.questions.question import (
    CONFIDENCE,
    LARGEST_COUNT,
    Answered,
    Drawn,
    NoisyUnits,
    Planned,
    RowReader,
    Terms,
    Value,
    check_useful,
    is_noisy_count,
)
from dpselect.questions.scores import noise_sensitivity
from dpselect.questions.wording import as_text, counted
from dpselect.questions.words import members
from dpselect.summaries import CandidateCounts, PublicCandidates, PublicCondition, PublicGroups

if TYPE_CHECKING:
    from dpselect.accounting import ApproximateEvent, PureEvent


@dataclass(frozen=True, kw_only=True)
class Histogram(ListQuestion[CandidateCounts]):
    """How many units have each candidate? Planned from public arguments; sees the counts only in `draw`.

    Attributes:
        candidates: the public candidates.
        max_values_per_unit: for how many of them one unit counts.
        mechanism: adds noise to all counts, at the whole cost.
        noise: ``"geometric"`` or ``"gaussian"``, if a delta left the choice between the two; otherwise None.
    """

    name: ClassVar[str] = "histogram"
    gives_list: ClassVar[bool] = True
    measure: ClassVar[str] = "units ({unit})"
    is_amount: ClassVar[bool] = True
    is_count: ClassVar[bool] = True
    bounds_value: ClassVar[bool] = True

    candidates: PublicCandidates
    max_values_per_unit: int
    mechanism: GeometricMechanism | DiscreteGaussianMechanism
    noise: str | None = None

    @classmethod
    def planned(
        cls,
        candidates: PublicCandidates,
        *,
        epsilon: float,
        delta: float = 0.0,
        max_values_per_unit: object = 1,
        neighbours: Neighbours = Neighbours.ADD_REMOVE,
    ) -> Self:
        """The question, planned for a cost of `epsilon`, and of `delta` if that makes the error bound smaller.

        One unit changes up to t counts by 1. Geometric noise grows with t and costs no delta; discrete Gaussian noise
        grows with the root of t. The one with the smaller 99% error bound is used, at equal bounds the geometric one.

        Raises:
            InvalidParameterError: `epsilon` is not a finite number > 0, `delta` not from 0 to below 1, or
                `max_values_per_unit` not a whole number from 1 to the number of candidates.

        >>> candidates = PublicCandidates.given(["red", "blue"])
        >>> Histogram.planned(candidates, epsilon=0.5, max_values_per_unit=2).mechanism.scale  # 2/epsilon
        4.0
        >>> many = PublicCandidates.given(range(100))
        >>> Histogram.planned(many, epsilon=1.0, delta=1e-6, max_values_per_unit=10).noise
        'gaussian'
        """
        most = positive_count(
            max_values_per_unit,
            "max_values_per_unit",
            at_most=len(candidates),
            at_most_what="the number of candidates",
        )
        relation = neighbouring_relation(neighbours)
        moved = most if relation is Neighbours.ADD_REMOVE else min(2 * most, len(candidates))
        mechanism = GeometricMechanism(epsilon=epsilon, sensitivity=moved, neighbours=relation)
        check_useful(mechanism, len(candidates))
        chosen: GeometricMechanism | DiscreteGaussianMechanism = mechanism
        if not (failing := delta_below_one(delta)):
            return cls(candidates=candidates, max_values_per_unit=most, mechanism=chosen)
        gaussian = DiscreteGaussianMechanism(
            epsilon=mechanism.epsilon, delta=failing, squared_sensitivity=moved, neighbours=relation
        )
        bounds = [each.error_bound(CONFIDENCE, size=len(candidates)) for each in (mechanism, gaussian)]
        if bounds[1] < bounds[0]:
            chosen = gaussian
        noise = "geometric" if chosen is mechanism else "gaussian"
        return cls(candidates=candidates, max_values_per_unit=most, mechanism=chosen, noise=noise)

    @property
    def event(self) -> PureEvent | ApproximateEvent:
        """What one release costs, for accounting; to be charged before `draw` is called."""
        return self.mechanism.event

    @cached_property
    def terms(self) -> Terms:
        """What the certificate will contain; the sensitivity is the largest total change of all counts.

        For Gaussian noise it is the root of the largest sum of their squared changes.

        Proof: ``proofs/counting.md``, claim 6; ``proofs/geometric_mechanism.md`` or ``proofs/discrete_gaussian.md``.
        """
        mechanism = self.mechanism
        is_gaussian = isinstance(mechanism, DiscreteGaussianMechanism)
        return Terms(
            task=self.name,
            mechanism=type(mechanism).__name__,
            epsilon=mechanism.epsilon,
            delta=mechanism.delta if is_gaussian else 0.0,
            sensitivity=noise_sensitivity(mechanism),
            candidates=self.candidates.description(),
            error_bound=float(mechanism.error_bound(CONFIDENCE, size=len(self.candidates))),
            proofs=("proofs/discrete_gaussian.md" if is_gaussian else "proofs/geometric_mechanism.md",),
            arguments={
                "max_values_per_unit": self.max_values_per_unit,
                **({} if self.noise is None else {"noise": self.noise}),
            },
            usable=self._usable,
        )

    @property
    def _usable(self) -> NoisyUnits | None:
        """If each unit counts once, the sum of the noisy counts is a noisy number of units."""
        if self.max_values_per_unit > 1:
            return None
        if isinstance(self.mechanism, DiscreteGaussianMechanism):
            return NoisyUnits(within=self.mechanism.total_error_bound(len(self.candidates), CONFIDENCE))
        noisy = NoisyHistogramMechanism(epsilon=self.mechanism.epsilon, neighbours=self.mechanism.neighbours)
        return NoisyUnits(within=noisy.total_error_bound(len(self.candidates), confidence=CONFIDENCE))

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
        return map(as_text, members(release.question["candidates"]))

    @classmethod
    def accepts_usable_epsilon(cls, release: Planned) -> bool:
        """See `Question.accepts_usable_epsilon`. The answers are numbers of units."""
        return False

    @classmethod
    def within(cls, release: Planned, bound: float) -> str:
        """See `Question.within`."""
        return f"each released count is within {bound:,.0f} of the truth"

    @classmethod
    def origin(cls, release: Planned) -> str:
        """See `Question.origin`."""
        said = f"for each of {counted(release.candidates['count'], 'candidate')} given by the caller"
        if "noise" not in release.arguments:
            return said
        if release.arguments["noise"] == "gaussian":
            return f"{said}, with Gaussian noise, because geometric noise would have a larger error bound"
        return f"{said}, with geometric noise and no delta, because Gaussian noise would have no smaller error bound"

    def possible(self, values: list[Any], units: int | None, counts: list[int] | None) -> bool:
        """See `Question.possible`. The units are the sum of the noisy counts; a 0 may stand for a negative one."""
        if len(values) != len(self.candidates) or not all(map(is_noisy_count, values)):
            return False
        most = min(sum(values), LARGEST_COUNT)
        return units is None or (units == most if all(values) else units <= most)
