"""A quantile of a column of numbers: the exponential mechanism on ranks, between public bounds."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from dpselect.accounting import BoundedRangeEvent
from dpselect.arguments import positive_count, quantile_level
from dpselect.errors import InvalidParameterError
from dpselect.mechanisms import ExponentialMechanism, QuantileMechanism
from dpselect.release import CONFIDENCE, Release
from dpselect.scores import rank_sensitivity
from dpselect.summaries import PublicDomain, UnitValues

MOST_ROWS_PER_UNIT = 1_000_000_000
"""More rows of one unit are refused: the noise would drown any table."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Quantile:
    """Below which number does a given share of the values lie? Planned from public arguments; sees values only later.

    Attributes:
        domain: the public set the answer is drawn from.
        mechanism: draws once, at the whole cost.
    """

    domain: PublicDomain
    mechanism: QuantileMechanism

    @classmethod
    def planned(cls, level: object, domain: PublicDomain, *, epsilon: float, max_rows_per_unit: object = 1) -> Quantile:
        """The question at a price.

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
            neighbours=rank_sensitivity(level, max_rows_per_unit=rows).neighbours,
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
    def error_bound(self) -> float | None:
        """In ranks, at the confidence of a release, whatever the data; None without a grid, where there is no bound.

        Between two values that are close together lies as little probability as they are close, however good its rank;
        so what is far off cannot be ruled out without knowing the data.
        """
        if self.domain.grid is None:
            return None
        # On a grid it is the exponential mechanism among its points, the best of which has a score of 0.
        selection = ExponentialMechanism(epsilon=self.mechanism.epsilon, sensitivity=self.mechanism.sensitivity)
        return selection.error_bound(self.domain.grid.count, confidence=CONFIDENCE)

    def release(self, values: UnitValues, *, column: str, unit: str, time: datetime) -> Release:
        """Draw, and certify what was drawn.

        Args:
            values: gathered with this task's domain and number of rows.
            column: name of the column they came from.
            unit: name of the column that names the unit.
            time: of the release, with a time zone.

        Raises:
            InvalidParameterError: the values were gathered for another question. Nothing is drawn then.

        Proof: ``proofs/unit_values.md`` (the sensitivity) and ``proofs/quantiles.md`` (the draw).
        """
        if values.max_rows_per_unit > self.max_rows_per_unit or values.domain != self.domain:
            expected = "values gathered with the bounds, step and rows per unit of the question"
            raise InvalidParameterError("values", values, expected)
        sensitivity = rank_sensitivity(self.level, max_rows_per_unit=self.max_rows_per_unit)
        return Release(
            value=self.mechanism.draw(values.values),
            task="quantile",
            column=column,
            unit=unit,
            mechanism=type(self.mechanism).__name__,
            rounds=1,
            epsilon=self.mechanism.epsilon,
            delta=0.0,
            sensitivity=sensitivity.value,
            monotonic=sensitivity.monotonic,
            neighbours=sensitivity.neighbours,
            candidates=self.domain.description(),
            error_bound=self.error_bound,
            confidence=CONFIDENCE,
            proofs=(sensitivity.proof, "proofs/quantiles.md", "proofs/exact_sampling.md"),
            time=time,
            arguments={"level": self.level, "max_rows_per_unit": self.max_rows_per_unit},
        )
