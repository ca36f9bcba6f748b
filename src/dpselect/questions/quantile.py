"""A quantile of a column of numbers: the exponential mechanism on ranks, between public bounds."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self

from dpselect.arguments import positive_count, quantile_level
from dpselect.mechanisms import ExponentialMechanism, QuantileMechanism
from dpselect.privacy import Neighbours, Sensitivity
from dpselect.questions.numbers import MOST_ROWS_PER_UNIT, ValuesQuestion, gathered_for, numbers_between
from dpselect.questions.question import CONFIDENCE, Planned, Question, RowReader, Terms
from dpselect.questions.scores import rank_sensitivity
from dpselect.questions.wording import as_text, counted, counting_rows, from_rows
from dpselect.summaries import PublicDomain, PublicGroups, UnitValues

if TYPE_CHECKING:
    from dpselect.accounting import BoundedRangeEvent


@dataclass(frozen=True, kw_only=True)
class Quantile(ValuesQuestion):
    """Below which number does a given share of the values lie? Planned from public arguments; sees values only later.

    Attributes:
        domain: the public set the answer is drawn from.
        mechanism: draws once, at the whole cost.
    """

    name: ClassVar[str] = "quantile"
    error_units: ClassVar[tuple[str, ...]] = ("ranks",)
    measure: ClassVar[str] = "{column}"

    domain: PublicDomain
    mechanism: QuantileMechanism

    @classmethod
    def planned(
        cls,
        level: object,
        domain: PublicDomain,
        *,
        epsilon: float,
        max_rows_per_unit: object = 1,
        neighbours: Neighbours = Neighbours.ADD_REMOVE,
    ) -> Self:
        """The question, planned for a cost of `epsilon`.

        Raises:
            InvalidParameterError: `level` is not from 0 to 1, `epsilon` not a finite number > 0, or
                `max_rows_per_unit` not a whole number from 1 to 10^9.

        >>> question = Quantile.planned(0.5, PublicDomain.given((0, 120)), epsilon=0.5)
        >>> question.mechanism.scale  # in ranks: 2 * 0.5 / epsilon
        2.0
        """
        level = quantile_level(level)
        rows = positive_count(max_rows_per_unit, "max_rows_per_unit", at_most=MOST_ROWS_PER_UNIT)
        mechanism = QuantileMechanism(
            epsilon=epsilon,
            level=level,
            neighbours=neighbours,
            values_per_unit=rows,
            **domain.arguments,
        )
        return cls(domain=domain, mechanism=mechanism)

    @property
    def level(self) -> float:
        """The share, from 0 to 1; 0.5 is the median."""
        return self.mechanism.level

    @property
    def max_rows_per_unit(self) -> int:
        """The most values of one unit."""
        return self.mechanism.values_per_unit

    @property
    def event(self) -> BoundedRangeEvent:
        """What one release costs, for accounting; to be charged before `draw` is called."""
        return self.mechanism.event

    @property
    def moved(self) -> Sensitivity:
        """Largest change of the ranks by one unit, and whether all of them change in one direction."""
        return rank_sensitivity(
            self.level, max_rows_per_unit=self.max_rows_per_unit, neighbours=self.mechanism.neighbours
        )

    @property
    def error_bound(self) -> float | None:
        """In ranks, at the confidence of a release, whatever the data; None without a grid, where there is no bound.

        If two values are close together, the interval between them has little probability, however good its rank; so
        distant answers cannot be ruled out without knowing the data.
        """
        if self.domain.grid is None:
            return None
        # On a grid it is the exponential mechanism among its points, the best of which has a score of 0.
        moved = self.moved
        selection = ExponentialMechanism(
            epsilon=self.mechanism.epsilon, sensitivity=moved.value, monotonic=moved.monotonic
        )
        return selection.error_bound(self.domain.grid.count, confidence=CONFIDENCE)

    @cached_property
    def terms(self) -> Terms:
        """What the certificate will contain.

        Proof: ``proofs/unit_values.md`` (the sensitivity) and ``proofs/quantiles.md`` (the draw).
        """
        return Terms(
            task=self.name,
            mechanism=type(self.mechanism).__name__,
            epsilon=self.mechanism.epsilon,
            sensitivity=self.moved,
            candidates=self.domain.description(),
            error_bound=self.error_bound,
            proofs=("proofs/quantiles.md",),
            arguments={"level": self.level, "max_rows_per_unit": self.max_rows_per_unit},
        )

    def summaries(self, rows: RowReader, groups: PublicGroups | None, /) -> list[UnitValues]:
        """Values within the bounds, at most `max_rows_per_unit` of each unit."""
        return rows.gather(self.domain, groups, max_rows_per_unit=self.max_rows_per_unit)

    def draw(self, summary: UnitValues, /) -> float:
        """A number within the bounds, by values gathered with this question's domain and number of rows."""
        return self.mechanism.draw(gathered_for(summary, self.domain, most=self.max_rows_per_unit).values)

    label: ClassVar[str] = "level"
    unbounded: ClassVar[str] = f"{Question.unbounded}; with a step there is one"

    @classmethod
    def keys(cls, release: Planned, count: int) -> Iterable[str]:
        """See `Question.keys`."""
        return [as_text(release.arguments["level"])]

    @classmethod
    def within(cls, release: Planned, bound: float) -> str:
        """See `Question.within`."""
        level = release.arguments["level"]
        truth = "median" if level == 0.5 else f"{as_text(level)}-quantile"
        grid = f"values rounded to steps of {as_text(release.candidates['step'])}"
        return (
            f"the released {release.column} is within {counted(math.ceil(bound), 'rank')} of the true {truth}, {grid}"
        )

    @classmethod
    def counting(cls, release: Planned) -> str:
        """See `Question.counting`."""
        return counting_rows(release)

    @classmethod
    def origin(cls, release: Planned) -> str:
        """See `Question.origin`."""
        return from_rows(release, numbers_between(release))

    def possible(self, values: list[Any], units: int | None, counts: list[int] | None) -> bool:
        """See `Question.possible`."""
        return len(values) == 1 and all(map(self.domain.may_hold, values))
