"""The best price of a public list, by permute-and-flip on revenues, or between two bounds, with a density."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from dpselect.accounting import BoundedRangeEvent, LaplaceProfileEvent
from dpselect.arguments import positive_count
from dpselect.errors import InvalidCandidatesError, Shown
from dpselect.mechanisms import PriceListMechanism, PriceMechanism
from dpselect.privacy import Neighbours, Sensitivity
from dpselect.release import CONFIDENCE
from dpselect.scores import price_range_sensitivity, price_sensitivity
from dpselect.summaries import PublicDomain, UnitValues
from dpselect.tasks.numbers import MOST_ROWS_PER_UNIT, gathered_for
from dpselect.tasks.task import Task, Terms


@dataclass(frozen=True, slots=True, kw_only=True)
class BestPrice(Task[UnitValues]):
    """Which price earns the most? Planned from public arguments; sees offers only later.

    Attributes:
        mechanism: draws once, at the whole cost.
        sensitivity: of the revenues, with its proof.
        candidates: what a certificate says of the prices.
        error_bound: in units of revenue, at the confidence of a release; None between bounds, where there is none that
            holds for all offers.
        domain: what offers are clipped into: those below 0 buy at no price, those above the highest at every one.
        draw_proof: page that proves the law of the draw.
    """

    name: ClassVar[str] = "best_price"

    mechanism: PriceListMechanism | PriceMechanism
    sensitivity: Sensitivity
    candidates: Mapping[str, Any]
    error_bound: float | None
    domain: PublicDomain
    draw_proof: str

    @classmethod
    def planned(
        cls,
        prices: Any = None,
        *,
        bounds: Any = None,
        epsilon: float,
        max_rows_per_unit: object = 1,
        neighbours: Neighbours = Neighbours.ADD_REMOVE,
    ) -> BestPrice:
        """The question at a cost: about a list of `prices`, or about all of them between two `bounds`.

        Raises:
            InvalidCandidatesError: not exactly one of `prices` and `bounds` is given, or `prices` are not a list of
                different positive numbers with a common unit.
            InvalidParameterError: `epsilon` is not a finite number > 0, `max_rows_per_unit` not a whole number from
                1 to 10^9, or `bounds` not two finite numbers >= 0, the smaller first.

        >>> task = BestPrice.planned(range(1, 11), epsilon=0.5)
        >>> task.mechanism.sensitivity, task.mechanism.scale  # in units of revenue: 10, and 9 / epsilon
        (10.0, 18.0)
        >>> BestPrice.planned(bounds=(1, 10), epsilon=0.5).mechanism.scale
        20.0
        """
        rows = positive_count(max_rows_per_unit, "max_rows_per_unit", at_most=MOST_ROWS_PER_UNIT)
        if (prices is None) == (bounds is None):
            got = Shown("None" if prices is None else "<given together with bounds>")
            expected = "either a public list of prices, or public bounds for any price between them"
            raise InvalidCandidatesError("prices", got, expected, "Never take either from the offers themselves.")
        if bounds is None:
            return cls._of_list(
                PriceListMechanism(epsilon=epsilon, prices=prices, values_per_unit=rows, neighbours=neighbours)
            )
        return cls._between(PriceMechanism(epsilon=epsilon, bounds=bounds, values_per_unit=rows, neighbours=neighbours))

    @classmethod
    def _of_list(cls, listed: PriceListMechanism) -> BestPrice:
        ends: dict[str, Any] = {"lowest": listed.lowest, "highest": listed.highest, "common_unit": str(listed.unit)}
        if listed.second_highest is not None:
            ends["second_highest"] = listed.second_highest
        return cls(
            mechanism=listed,
            sensitivity=price_sensitivity(
                max(listed.prices), max_rows_per_unit=listed.values_per_unit, neighbours=listed.neighbours
            ),
            candidates={"origin": "caller", "count": listed.count, "kind": "prices", **ends},
            error_bound=listed.error_bound(CONFIDENCE),
            domain=PublicDomain(0.0, listed.highest),
            draw_proof="proofs/permute_and_flip.md",
        )

    @classmethod
    def _between(cls, mechanism: PriceMechanism) -> BestPrice:
        domain = PublicDomain.given(mechanism.bounds)
        return cls(
            mechanism=mechanism,
            sensitivity=price_range_sensitivity(
                domain.upper, max_rows_per_unit=mechanism.values_per_unit, neighbours=mechanism.neighbours
            ),
            candidates=domain.description(),
            error_bound=None,
            domain=PublicDomain(0.0, domain.upper),  # not from `lower` on: offers below must not buy there
            draw_proof="proofs/falling_scores.md",
        )

    @property
    def offered(self) -> dict[str, Any]:
        """The prices as the caller named them: what tells this question from others."""
        if isinstance(self.mechanism, PriceListMechanism):
            return {"prices": self.mechanism.prices}
        return {"bounds": self.mechanism.bounds}

    @property
    def max_rows_per_unit(self) -> int:
        """The most offers of one unit."""
        return self.mechanism.values_per_unit

    @property
    def event(self) -> BoundedRangeEvent | LaplaceProfileEvent:
        """What one release costs, for accounting; to be charged before `release` is called."""
        return self.mechanism.event

    @property
    def terms(self) -> Terms:
        """What the certificate will contain.

        Proof: of a list ``proofs/best_price.md`` (the sensitivity, and the choice of rows) and
        ``proofs/permute_and_flip.md`` (the draw); between bounds ``proofs/prices.md`` and ``proofs/falling_scores.md``.
        """
        return Terms(
            task=self.name,
            mechanism=type(self.mechanism).__name__,
            epsilon=self.mechanism.epsilon,
            sensitivity=self.sensitivity,
            candidates=self.candidates,
            error_bound=self.error_bound,
            proofs=(self.draw_proof,),
            arguments={"max_rows_per_unit": self.max_rows_per_unit},
        )

    @property
    def question(self) -> dict[str, Any]:
        """The public arguments that distinguish this question from others about the same column."""
        return {**self.offered, "rows": self.max_rows_per_unit}

    def draw(self, summary: UnitValues, /) -> int | float:
        """A price, by offers gathered with this task's domain and number of rows."""
        return self.mechanism.draw(gathered_for(summary, self.domain, most=self.max_rows_per_unit).values)
