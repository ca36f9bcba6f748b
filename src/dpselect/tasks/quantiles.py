"""Several quantiles of a column of numbers, drawn together, between public bounds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from dpselect.accounting import BoundedRangeEvent, ComposedEvent
from dpselect.arguments import positive_count
from dpselect.errors import InvalidParameterError
from dpselect.mechanisms import QuantilesMechanism, QuantilesMethod
from dpselect.privacy import Neighbours
from dpselect.release import CONFIDENCE, Release
from dpselect.summaries import PublicDomain, UnitValues
from dpselect.tasks.quantile import MOST_ROWS_PER_UNIT


@dataclass(frozen=True, slots=True, kw_only=True)
class Quantiles:
    """Below which numbers do given shares of the values lie? Planned from public arguments; sees values only later.

    Attributes:
        domain: the public set the answers are drawn from.
        mechanism: draws all of them, at the whole cost.
    """

    domain: PublicDomain
    mechanism: QuantilesMechanism

    @classmethod
    def planned(
        cls,
        levels: Sequence[float],
        domain: PublicDomain,
        *,
        epsilon: float,
        max_rows_per_unit: object = 1,
        method: QuantilesMethod = "joint",
    ) -> Quantiles:
        """The question at a price.

        Raises:
            InvalidParameterError: `levels` are not different numbers from 0 to 1, `max_rows_per_unit` not a whole
                number from 1 to 10^9, or `epsilon` or `method` not what `QuantilesMechanism` takes.

        >>> task = Quantiles.planned([0.25, 0.5, 0.75], PublicDomain.given((0, 120)), epsilon=0.5)
        >>> task.mechanism.sensitivity
        0.75
        """
        mechanism = QuantilesMechanism(
            epsilon=epsilon,
            levels=levels,  # type: ignore[arg-type] # made a tuple there
            method=method,
            values_per_unit=positive_count(max_rows_per_unit, "max_rows_per_unit", at_most=MOST_ROWS_PER_UNIT),
            **domain.arguments,
        )
        return cls(domain=domain, mechanism=mechanism)

    @property
    def max_rows_per_unit(self) -> int:
        """The most values of one unit."""
        return self.mechanism.values_per_unit

    @property
    def event(self) -> BoundedRangeEvent | ComposedEvent:
        """What one release costs, for accounting; to be charged before `release` is called."""
        return self.mechanism.event

    def release(self, values: UnitValues, *, column: str, unit: str, time: datetime) -> Release:
        """Draw, and certify what was drawn.

        Args:
            values: gathered with this task's domain and number of rows.
            column: name of the column they came from.
            unit: name of the column that names the unit.
            time: of the release, with a time zone.

        Returns:
            A release whose value is a list, one number for each level, in their order.

        Raises:
            InvalidParameterError: the values were gathered for another question. Nothing is drawn then.

        Proof: ``proofs/unit_values.md`` (the rows) and ``proofs/joint_quantiles.md`` or ``proofs/quantiles.md``.
        """
        if values.max_rows_per_unit > self.max_rows_per_unit or values.domain != self.domain:
            expected = "values gathered with the bounds, step and rows per unit of the question"
            raise InvalidParameterError("values", values, expected)
        is_joint = self.mechanism.method == "joint"
        return Release(
            value=list(self.mechanism.draw(values.values)),
            task="quantiles",
            column=column,
            unit=unit,
            mechanism=type(self.mechanism).__name__,
            rounds=1 if is_joint else len(self.mechanism.levels),
            epsilon=self.mechanism.epsilon,
            delta=0.0,
            sensitivity=self.mechanism.sensitivity,
            monotonic=False,
            neighbours=Neighbours.ADD_REMOVE,
            candidates=self.domain.description(),
            error_bound=None,
            confidence=CONFIDENCE,
            proofs=(
                "proofs/unit_values.md",
                "proofs/joint_quantiles.md" if is_joint else "proofs/quantiles.md",
                "proofs/exact_sampling.md",
            ),
            time=time,
            arguments={
                "levels": list(self.mechanism.levels),
                "max_rows_per_unit": self.max_rows_per_unit,
                "method": self.mechanism.method,
            },
        )
