"""The best price of a public list: permute-and-flip on revenues."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from dpselect.accounting import BoundedRangeEvent, LaplaceProfileEvent
from dpselect.arguments import positive_count
from dpselect.errors import InvalidParameterError
from dpselect.mechanisms import PriceListMechanism
from dpselect.release import CONFIDENCE, Release
from dpselect.scores import price_sensitivity
from dpselect.summaries import PublicDomain, UnitValues
from dpselect.tasks.quantile import MOST_ROWS_PER_UNIT


@dataclass(frozen=True, slots=True, kw_only=True)
class BestPrice:
    """Which price earns the most? Planned from public arguments; sees offers only later.

    Attributes:
        mechanism: draws once, at the whole cost.
    """

    mechanism: PriceListMechanism

    @classmethod
    def planned(cls, prices: Any, *, epsilon: float, max_rows_per_unit: object = 1) -> BestPrice:
        """The question at a cost.

        Raises:
            InvalidCandidatesError: `prices` are not a list of different positive numbers with a common unit.
            InvalidParameterError: `epsilon` is not a finite number > 0, or `max_rows_per_unit` not a whole number from
                1 to 10^9.

        >>> task = BestPrice.planned(range(1, 11), epsilon=0.5)
        >>> task.mechanism.sensitivity, task.mechanism.scale  # in units of revenue: 10, and 9 / epsilon
        (10.0, 18.0)
        """
        rows = positive_count(max_rows_per_unit, "max_rows_per_unit", at_most=MOST_ROWS_PER_UNIT)
        return cls(mechanism=PriceListMechanism(epsilon=epsilon, prices=prices, values_per_unit=rows))

    @property
    def domain(self) -> PublicDomain:
        """What offers are clipped into: those below 0 buy at no price, those above the highest at every one."""
        return PublicDomain(0.0, self.mechanism.highest)

    @property
    def max_rows_per_unit(self) -> int:
        """The most offers of one unit."""
        return self.mechanism.values_per_unit

    @property
    def event(self) -> BoundedRangeEvent | LaplaceProfileEvent:
        """What one release costs, for accounting; to be charged before `release` is called."""
        return self.mechanism.event

    def release(self, offers: UnitValues, *, column: str, unit: str, time: datetime) -> Release:
        """Draw, and certify what was drawn.

        Args:
            offers: gathered with this task's domain and number of rows.
            column: name of the column they came from.
            unit: name of the column that names the unit.
            time: of the release, with a time zone.

        Raises:
            InvalidParameterError: the offers were gathered for another question. Nothing is drawn then.

        Proof: ``proofs/best_price.md`` (the sensitivity, and the choice of rows) and ``proofs/permute_and_flip.md``
        (the draw).
        """
        if offers.max_rows_per_unit > self.max_rows_per_unit or offers.domain != self.domain:
            expected = "values gathered with the highest price and rows per unit of the question"
            raise InvalidParameterError("offers", offers, expected)
        sensitivity = price_sensitivity(max(self.mechanism.prices), max_rows_per_unit=self.max_rows_per_unit)
        return Release(
            value=self.mechanism.draw(offers.values),
            task="best_price",
            column=column,
            unit=unit,
            mechanism=type(self.mechanism).__name__,
            rounds=1,
            epsilon=self.mechanism.epsilon,
            delta=0.0,
            sensitivity=sensitivity.value,
            monotonic=sensitivity.monotonic,
            neighbours=sensitivity.neighbours,
            candidates=self._description(),
            error_bound=self.mechanism.error_bound(CONFIDENCE),
            confidence=CONFIDENCE,
            proofs=(sensitivity.proof, "proofs/permute_and_flip.md", "proofs/exact_sampling.md"),
            time=time,
            arguments={"max_rows_per_unit": self.max_rows_per_unit},
        )

    def _description(self) -> dict[str, Any]:
        """What a certificate says of the candidates."""
        listed = self.mechanism
        ends = {"lowest": listed.lowest, "highest": listed.highest}
        return {"origin": "caller", "count": listed.count, "kind": "prices", **ends}
