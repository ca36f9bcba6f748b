"""A quantile of a column of numbers of which no upper bound is known: candidates that grow apart, tested in order."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self

from dpselect.arguments import positive_count
from dpselect.errors import InvalidParameterError
from dpselect.mechanisms import UnboundedQuantileMechanism
from dpselect.privacy import Neighbours
from dpselect.questions.numbers import MOST_ROWS_PER_UNIT, ValuesQuestion, gathered_for
from dpselect.questions.question import CONFIDENCE, LARGEST_COUNT, Planned, RowReader, Terms, Value, is_number
from dpselect.questions.scores import rank_sensitivity
from dpselect.questions.wording import as_text, counted, counting_rows, from_rows
from dpselect.summaries import PublicDomain, PublicGroups, UnitValues

if TYPE_CHECKING:
    from dpselect.accounting import PureEvent


@dataclass(frozen=True, kw_only=True)
class UnboundedQuantile(ValuesQuestion):
    """Below which number does a given share of the values lie, if only a lower bound is public?

    Attributes:
        mechanism: draws once, at the whole cost.
    """

    name: ClassVar[str] = "unbounded_quantile"
    error_units: ClassVar[tuple[str, ...]] = ("ranks",)
    measure: ClassVar[str] = "{column}"

    mechanism: UnboundedQuantileMechanism

    @classmethod
    def planned(
        cls,
        level: float,
        *,
        lower: float | Fraction,
        step: float | Fraction,
        epsilon: float,
        max_rows_per_unit: object = 1,
        neighbours: Neighbours = Neighbours.ADD_REMOVE,
    ) -> Self:
        """The question, planned for a cost of `epsilon`.

        Raises:
            InvalidParameterError: an argument is out of range, or `epsilon` too small for an answer to be of use.

        >>> question = UnboundedQuantile.planned(0.9, lower=0, step=1, epsilon=0.5)
        >>> question.mechanism.candidates[:4]
        array([0., 1., 2., 3.])
        """
        mechanism = UnboundedQuantileMechanism(
            epsilon=epsilon,
            level=level,
            lower=lower,
            step=step,
            neighbours=neighbours,
            values_per_unit=positive_count(max_rows_per_unit, "max_rows_per_unit", at_most=MOST_ROWS_PER_UNIT),
        )
        if mechanism.error_bound(CONFIDENCE) >= LARGEST_COUNT:
            raise InvalidParameterError("epsilon", epsilon, "a number large enough for a useful quantile")
        return cls(mechanism=mechanism)

    @property
    def max_rows_per_unit(self) -> int:
        """The most values of one unit."""
        return self.mechanism.values_per_unit

    @property
    def domain(self) -> PublicDomain:
        """From the first candidate to the last; values beyond count as these."""
        points = self.mechanism.candidates
        return PublicDomain(float(points[0]), float(points[-1]), is_open=True)

    @property
    def event(self) -> PureEvent:
        """What one release costs, for accounting; to be charged before `draw` is called."""
        return self.mechanism.event

    @cached_property
    def terms(self) -> Terms:
        """What the certificate will contain.

        Proof: ``proofs/unit_values.md`` (the sensitivity) and ``proofs/unbounded_quantiles.md`` (the draw).
        """
        mechanism = self.mechanism
        return Terms(
            task=self.name,
            mechanism=type(mechanism).__name__,
            epsilon=mechanism.epsilon,
            sensitivity=rank_sensitivity(
                mechanism.level, max_rows_per_unit=self.max_rows_per_unit, neighbours=mechanism.neighbours
            ),
            candidates={
                "source": "growing",
                "lower": self.domain.lower,
                "upper": self.domain.upper,
                "step": float(mechanism.step),
                "growth": mechanism.growth,
                "count": mechanism.candidates.size,
            },
            error_bound=mechanism.error_bound(CONFIDENCE),
            proofs=("proofs/unbounded_quantiles.md",),
            arguments={"level": mechanism.level, "max_rows_per_unit": self.max_rows_per_unit},
        )

    def summaries(self, rows: RowReader, groups: PublicGroups | None, /) -> list[UnitValues]:
        """Values between the first and the last candidate, at most `max_rows_per_unit` of each unit."""
        return rows.gather(self.domain, groups, max_rows_per_unit=self.max_rows_per_unit)

    def draw(self, summary: UnitValues, /) -> float:
        """One of the candidates, by values gathered for this question."""
        return self.mechanism.draw(gathered_for(summary, self.domain, most=self.max_rows_per_unit).values)

    label: ClassVar[str] = "level"

    @classmethod
    def keys(cls, release: Planned, count: int) -> Iterable[str]:
        """See `Question.keys`."""
        return [as_text(release.arguments["level"])]

    @classmethod
    def within(cls, release: Planned, bound: float) -> str:
        """See `Question.within`."""
        level = release.arguments["level"]
        truth = "median" if level == 0.5 else f"{as_text(level)}-quantile"
        ranks, lowest = counted(math.ceil(bound), "rank"), as_text(release.candidates["lower"])
        near = f"the released {release.column} is within {ranks} of the true {truth}"
        return f"{near}, values rounded up to possible answers, those below {lowest} counted as {lowest}"

    @classmethod
    def exceeds(cls, release: Planned, answer: Value | list[Value]) -> bool:
        """See `Question.exceeds`. The last candidate is released if none passes, wherever the values are."""
        return answer == release.candidates["upper"]

    @classmethod
    def excess(cls, release: Planned) -> str:
        """See `Question.excess`."""
        last = as_text(release.candidates["upper"])
        return (
            f"The last possible answer, {last}, is released if too many values exceed all others, so any number of "
            f"values of {release.column} may exceed it. A larger step reaches further."
        )

    @classmethod
    def counting(cls, release: Planned) -> str:
        """See `Question.counting`."""
        return counting_rows(release)

    @classmethod
    def origin(cls, release: Planned) -> str:
        """See `Question.origin`."""
        share = as_text(round(100.0 * (release.candidates["growth"] - 1.0), 6))
        apart = f"{as_text(release.candidates['step'])} apart, later {share}%"
        return from_rows(release, f"{release.candidates['count']:,} numbers ({apart})")

    def possible(self, values: list[Any], units: int | None, counts: list[int] | None) -> bool:
        """See `Question.possible`."""
        return len(values) == 1 and all(is_number(each) and each in self.mechanism.candidates for each in values)
