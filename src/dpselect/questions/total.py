"""What do the units' clipped amounts add up to?"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self

from dpselect.errors import InvalidParameterError
from dpselect.mechanisms import GeometricMechanism
from dpselect.privacy import Neighbours, Sensitivity
from dpselect.questions.question import CONFIDENCE, Planned, Question, RowReader, Terms, Value
from dpselect.questions.scores import sum_sensitivity
from dpselect.questions.wording import clipped
from dpselect.summaries import CandidateTotals, PublicClip, PublicCondition, PublicGroups

if TYPE_CHECKING:
    from dpselect.accounting import PureEvent

_MOST_ERROR = 10**15
"""A larger error bound is of no use, and far larger ones would leave the doubles."""


@dataclass(frozen=True, kw_only=True)
class Sum(Question[CandidateTotals]):
    """What do the units' amounts add up to? Planned from public arguments; sees the sum only in `draw`.

    Attributes:
        clip: the column, and how much one unit may add.
        mechanism: draws once, at the whole cost, in scaled whole numbers.
        neighbours: which data sets the guarantee compares.
    """

    name: ClassVar[str] = "sum"
    error_units: ClassVar[tuple[str, ...]] = ("sum",)
    measure: ClassVar[str] = "sum of {column}"
    is_amount: ClassVar[bool] = True
    bounds_value: ClassVar[bool] = True

    clip: PublicClip
    mechanism: GeometricMechanism
    neighbours: Neighbours

    @classmethod
    def planned(cls, clip: PublicClip, *, epsilon: float, neighbours: Neighbours = Neighbours.ADD_REMOVE) -> Self:
        """The question, planned for a cost of `epsilon`.

        Raises:
            InvalidParameterError: `epsilon` is not a finite number > 0, or too small for a sum to be of use.

        >>> Sum.planned(PublicClip.given("hours", (0, 80)), epsilon=0.5).mechanism.scale  # 80/epsilon
        160.0
        """
        moved = int(sum_sensitivity(clip, neighbours).value)
        mechanism = GeometricMechanism(epsilon=epsilon, sensitivity=moved, neighbours=neighbours)
        if Fraction(mechanism.error_bound(CONFIDENCE)) / clip.scale > _MOST_ERROR:
            raise InvalidParameterError("epsilon", epsilon, "a number large enough for a useful sum")
        return cls(clip=clip, mechanism=mechanism, neighbours=mechanism.neighbours)

    @property
    def event(self) -> PureEvent:
        """What one release costs, for accounting; to be charged before `draw` is called."""
        return self.mechanism.event

    @cached_property
    def terms(self) -> Terms:
        """What the certificate will contain; sensitivity and error bound are in the unit of the column.

        Proof: ``proofs/clipped_sums.md`` (the sensitivity) and ``proofs/geometric_mechanism.md`` (the draw).
        """
        moved = sum_sensitivity(self.clip, self.neighbours)
        return Terms(
            task=self.name,
            mechanism=type(self.mechanism).__name__,
            epsilon=self.mechanism.epsilon,
            sensitivity=Sensitivity(
                self.clip.in_units(moved.value),
                monotonic=moved.monotonic,
                neighbours=moved.neighbours,
                proof=moved.proof,
            ),
            candidates={},
            error_bound=self.clip.error_in_units(float(self.mechanism.error_bound(CONFIDENCE))),
            proofs=("proofs/geometric_mechanism.md",),
            arguments=self.clip.description(),
        )

    def summaries(self, rows: RowReader, groups: PublicGroups | None, /) -> list[CandidateTotals]:
        """What the units' amounts add up to."""
        return rows.total(None, self.clip, groups)

    def usable_units(
        self, rows: RowReader, groups: PublicGroups | None, summaries: list[CandidateTotals], /
    ) -> list[int]:
        """How many units have an amount."""
        return rows.units(PublicCondition(is_number=True), groups)

    def draw(self, summary: CandidateTotals, /) -> Value:
        """The sum with noise, in the unit of the column: a whole number without a scale, else the nearest double."""
        noisy = self.mechanism.draw(int(summary.totals[0]))
        return noisy if self.clip.scale == 1 else float(Fraction(noisy) / self.clip.scale)

    label: ClassVar[str] = "answer"

    @classmethod
    def keys(cls, release: Planned, count: int) -> Iterable[str]:
        """See `Question.keys`."""
        return ["sum"]

    @classmethod
    def within(cls, release: Planned, bound: float) -> str:
        """See `Question.within`."""
        return f"the released sum is within {f'{bound:,}'.removesuffix('.0')} of the total {release.column}"

    @classmethod
    def counting(cls, release: Planned) -> str:
        """See `Question.counting`."""
        return f", counting {clipped(release)} of each {release.unit}"

    @classmethod
    def origin(cls, release: Planned) -> str:
        """See `Question.origin`."""
        return f"adding {clipped(release)} for each {release.unit}"

    def possible(self, values: list[Any], units: int | None, counts: list[int] | None) -> bool:
        """See `Question.possible`. Scaled, a sum is a whole number, as far as doubles can tell."""
        (value,), scale = values, self.clip.scale
        if scale == 1:
            return type(value) is int
        return type(value) is float and float(Fraction(round(Fraction(value) * scale)) / scale) == value
