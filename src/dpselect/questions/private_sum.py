"""What do the units' amounts add up to, if nobody knows how much one of them adds at most?"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self

from dpselect.accounting.rounding import fraction_up
from dpselect.errors import InvalidParameterError
from dpselect.mechanisms import GeometricMechanism
from dpselect.privacy import Neighbours
from dpselect.questions import fields
from dpselect.questions.bound_first import BetweenPrivateBounds, BoundFirst
from dpselect.questions.fields import AnswerFields, Fields
from dpselect.questions.question import CONFIDENCE, Answered, Drawn, Planned, Question, RowReader, Terms
from dpselect.questions.scores import sum_sensitivity
from dpselect.questions.total import MOST_ERROR
from dpselect.questions.wording import as_text, rounded_up
from dpselect.summaries import PublicClip, PublicCondition, PublicGroups, UnitTotals

if TYPE_CHECKING:
    from dpselect.accounting import PureEvent
    from dpselect.questions.stated import Stated

_IN_SCALES = Fraction(math.log(2.0 / (1.0 - CONFIDENCE)) * (1.0 + 1e-12))
"""With the confidence of a release, geometric noise is at most so many times its scale."""


@dataclass(frozen=True, kw_only=True)
class PrivateClipSum(BetweenPrivateBounds, Question[UnitTotals]):
    """A sum whose upper clip is found first, by the numbers of units above each of the possible ones.

    Attributes:
        clip: the column, the scale, and the public lower end; its upper end is the largest possible clip.
        first: how the clip is found, in scaled whole numbers.
        neighbours: which data sets the guarantee compares.
    """

    name: ClassVar[str] = "private_clip_sum"
    error_units: ClassVar[tuple[str, ...]] = ("bounds",)
    measure: ClassVar[str] = "sum of {column}"
    is_amount: ClassVar[bool] = True
    bounds_value: ClassVar[bool] = True

    clip: PublicClip
    first: BoundFirst
    neighbours: Neighbours

    @classmethod
    def planned(cls, clip: PublicClip, *, epsilon: float, neighbours: Neighbours = Neighbours.ADD_REMOVE) -> Self:
        """The question, planned for a cost of `epsilon`.

        Raises:
            InvalidParameterError: `epsilon` is not a finite number > 0, or too small for a sum to be of use.

        >>> question = PrivateClipSum.planned(PublicClip.below("hours"), epsilon=0.5)
        >>> question.cuts[:5], question.cuts[-1] == 2**31
        ((0, 1, 2, 4, 8), True)
        """
        first = BoundFirst.planned(lower=float(clip.lower), step=1.0, epsilon=epsilon, neighbours=neighbours)
        question = cls(clip=clip, first=first, neighbours=first.bound.neighbours)
        worst = question.mechanism(len(question.cuts) - 1).error_bound(CONFIDENCE)
        if Fraction(worst) / clip.scale > MOST_ERROR:
            raise InvalidParameterError("epsilon", epsilon, "a number large enough for a useful sum")
        return question

    @cached_property
    def cuts(self) -> tuple[int, ...]:
        """The lower end, and all possible clips above it, in scaled whole numbers."""
        grid = self.first.bound.grid
        every = (int(grid.exact(place)) for place in range(self.first.bound.candidates.size))
        return (*(cut for cut in every if cut < self.clip.upper), self.clip.upper)

    def mechanism(self, place: int) -> GeometricMechanism:
        """What adds noise to the sum, if the clip is the cut at this place."""
        clip = replace(self.clip, upper=self.cuts[place])
        moved = int(sum_sensitivity(clip, self.neighbours).value)
        return GeometricMechanism(epsilon=self.first.left, sensitivity=moved, neighbours=self.neighbours)

    @property
    def event(self) -> PureEvent:
        """What one release costs, for accounting; to be charged before `released` is called."""
        return self.first.event

    @cached_property
    def terms(self) -> Terms:
        """What the certificate will contain.

        Proof: ``proofs/clipping_bounds.md`` (the clip, and both draws together), ``proofs/clipped_sums.md`` (the sum's
        sensitivity) and ``proofs/geometric_mechanism.md`` (both draws).
        """
        return Terms(
            task=self.name,
            mechanism=type(self.first.bound).__name__,
            rounds=2,
            epsilon=self.first.epsilon,
            sensitivity=self.first.moved,
            candidates=self.first.candidates([self._in_units(cut) for cut in self.cuts]),
            error_bound=fraction_up(_IN_SCALES / Fraction(self.first.left)),
            proofs=("proofs/clipped_sums.md", "proofs/geometric_mechanism.md"),
            arguments={"scale": float(self.clip.scale), "lower": self.clip.lower, "upper": self.clip.upper},
            bound=self.first.released,
        )

    def _in_units(self, amount: int) -> float:
        return float(Fraction(amount) / self.clip.scale)

    @property
    def identity(self) -> dict[str, Any]:
        """The public arguments that distinguish this question from others about the same column."""
        return {"clip": self.clip, "bounds": "private"}

    def summaries(self, rows: RowReader, groups: PublicGroups | None, /) -> list[UnitTotals]:
        """The units' amounts between the possible clips."""
        return rows.amounts(self.clip, self.cuts, groups)

    def usable_units(self, rows: RowReader, groups: PublicGroups | None, summaries: list[UnitTotals], /) -> list[int]:
        """How many units have an amount."""
        return rows.units(PublicCondition(is_number=True), groups)

    def draw(self, summary: UnitTotals, /) -> Answered:
        """The sum with noise: see `released`."""
        return self.released(summary).answer

    def released(self, summary: UnitTotals, /) -> Drawn:
        """The sum with noise, in the unit of the column, and the clip."""
        if summary.cuts != self.cuts:
            raise InvalidParameterError("summary", summary, "amounts between the possible clips of the question")
        bound = self.first.bound
        above = [*summary.above(), *([0] * bound.candidates.size)][: bound.candidates.size - 1]
        place = min(bound.draw_place(above), len(self.cuts) - 1)
        noisy = self.mechanism(place).draw(summary.clipped_to(place))
        answer = noisy if self.clip.scale == 1 else float(Fraction(noisy) / self.clip.scale)
        return Drawn(answer, bounds=[self._in_units(self.cuts[place])])

    label: ClassVar[str] = "answer"

    @classmethod
    def keys(cls, release: Planned, count: int) -> Iterable[str]:
        """See `Question.keys`."""
        return ["sum"]

    @classmethod
    def value_bound(cls, release: Planned, units: int | None) -> float | None:
        """See `Question.value_bound`."""
        known = cls.exact_bound(release)
        if known is None or release.error_bound is None:
            return None
        moved = max(known, 0.0) - min(release.candidates["lower"], 0.0)
        return release.error_bound * moved * (1.0 + 2.0**-48)

    @classmethod
    def within(cls, release: Planned, bound: float) -> str:
        """See `Question.within`."""
        known = cls.value_bound(release, None)
        if known is not None:
            return f"the released sum is within {rounded_up(known)} of the total {release.column}"
        lower = release.candidates["lower"]
        of = "the bound" if lower >= 0.0 else f"the distance from {as_text(lower)} to the bound"
        return f"the released sum is within {rounded_up(bound)} times {of} of the total {release.column}"

    @classmethod
    def counting(cls, release: Planned) -> str:
        """See `Question.counting`."""
        return f", counting {cls.spanned(release)} of each {release.unit}"

    @classmethod
    def origin(cls, release: Planned) -> str:
        """See `Question.origin`."""
        return f"adding {cls.spanned(release)} for each {release.unit}"

    @classmethod
    def error_unit(cls, release: Planned) -> str:
        """See `Question.error_unit`. The error is stated in multiples of the bound."""
        return "bounds"

    @classmethod
    def check_fields(cls, held: Fields) -> AnswerFields:
        """See `Question.check_fields`."""
        expected = {name: check for name, check in fields.SUMMED.items() if name != "sum"}
        stated = cls.check_growing(held, expected)
        if not stated["lower"] < stated["upper"]:
            raise fields.wrong("arguments", "lower below upper")
        return AnswerFields(fields.number)

    @classmethod
    def restated(cls, stated: Stated) -> Self:
        """See `Question.restated`."""
        return cls.checked(cls.planned(cls._clip(stated), **stated.price), stated)

    @classmethod
    def _clip(cls, stated: Stated) -> PublicClip:
        given = stated.arguments
        return PublicClip("", stated.scale(), given["lower"], given["upper"])

    @classmethod
    def possible_bounds(cls, stated: Stated) -> Iterable[float]:
        """See `Question.possible_bounds`."""
        question = cls.planned(cls._clip(stated), **stated.price)
        return [question._in_units(cut) for cut in question.cuts[1:]]

    @classmethod
    def allows(cls, values: list[Any], stated: Stated) -> bool:
        """See `Question.allows`. Scaled, each of them is a whole number, as far as doubles can tell."""
        scale = stated.scale()
        if scale == 1:
            return all(isinstance(value, int) for value in values)
        return all(
            isinstance(value, float) and float(Fraction(round(Fraction(value) * scale)) / scale) == value
            for value in values
        )
