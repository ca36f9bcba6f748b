"""A quantile of a column of numbers: the exponential mechanism on ranks, between public bounds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from dpselect.accounting import BoundedRangeEvent
from dpselect.arguments import positive_count, quantile_level
from dpselect.mechanisms import ExponentialMechanism, QuantileMechanism
from dpselect.privacy import Neighbours, Sensitivity
from dpselect.release import CONFIDENCE
from dpselect.scores import rank_sensitivity
from dpselect.summaries import PublicDomain, UnitValues
from dpselect.tasks.numbers import MOST_ROWS_PER_UNIT, gathered_for
from dpselect.tasks.task import Task, Terms


@dataclass(frozen=True, slots=True, kw_only=True)
class Quantile(Task[UnitValues]):
    """Below which number does a given share of the values lie? Planned from public arguments; sees values only later.

    Attributes:
        domain: the public set the answer is drawn from.
        mechanism: draws once, at the whole cost.
    """

    name: ClassVar[str] = "quantile"

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
    ) -> Quantile:
        """The question, planned for a cost of `epsilon`.

        Raises:
            InvalidParameterError: `level` is not from 0 to 1, `epsilon` not a finite number > 0, or
                `max_rows_per_unit` not a whole number from 1 to 10^9.

        >>> task = Quantile.planned(0.5, PublicDomain.given((0, 120)), epsilon=0.5)
        >>> task.mechanism.scale  # in ranks: 2 * 0.5 / epsilon
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
        """What one release costs, for accounting; to be charged before `release` is called."""
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

    @property
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

    @property
    def question(self) -> dict[str, Any]:
        """The public arguments that distinguish this question from others about the same column."""
        return {"level": self.level, "domain": self.domain, "rows": self.max_rows_per_unit}

    def draw(self, summary: UnitValues, /) -> float:
        """A number within the bounds, by values gathered with this task's domain and number of rows."""
        return self.mechanism.draw(gathered_for(summary, self.domain, most=self.max_rows_per_unit).values)
