"""Which price of a public list earns the most."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

from dpselect import mechanisms, summaries
from dpselect.arguments import Epsilon, MaxRows, Offers, Prices
from dpselect.privacy import Sensitivity
from dpselect.questions.numbers import NumbersQuestion, from_rows
from dpselect.questions.words import CONFIDENCE, Drawn, Planned, Terms, counted, is_number

if TYPE_CHECKING:
    from dpselect.mechanisms import PriceListMechanism
    from dpselect.summaries import PublicDomain, UnitValues


class BestPrice(NumbersQuestion, name="best_price"):
    """The price that earns the most if everybody buys who offers at least the price.

    For something that costs nothing to copy: the revenue of a price is the price times the number of offers that are at
    least as high. The price is from a list of different numbers above 0, never the offers themselves. Only the price is
    released, never a revenue.

    Returns:
        One of the prices.

    Proof: ``proofs/best_price.md`` and ``proofs/permute_and_flip.md``.

    >>> import dpselect as dps
    >>> people = dps.Dataset("examples/data/adult.csv", unit="person_id")
    >>> release = people.best_price("capital_gain", prices=range(500, 10_001, 500), epsilon=1.0)
    >>> release.value  # ahead of the second best, 6500, by 446,000
    7000
    """

    asks = "Which price earns the most?"
    does = "Find the price that earns the most if everybody buys who offers at least the price."
    example = ("adult.csv capital_gain", "--unit person_id --prices 500,1000,2500,5000,7000 --epsilon 1")
    value = "float"

    column: Offers
    prices: Prices = None
    epsilon: Epsilon
    max_rows_per_unit: MaxRows = 1

    measured_in = "revenue"
    measure: ClassVar[str] = "{column}"

    @cached_property
    def mechanism(self) -> PriceListMechanism:
        """What draws once, at the whole cost."""
        prices: Any = self.prices
        return mechanisms.PriceListMechanism(
            epsilon=self.epsilon, prices=prices, values_per_unit=self.most, neighbours=self.neighbours
        )

    @cached_property
    def domain(self) -> PublicDomain:
        """The range that offers are clipped into: one below 0 never buys, one above the highest price always does."""
        return summaries.PublicDomain(0.0, max(map(float, self.mechanism.prices)))

    @cached_property
    def terms(self) -> Terms:
        """What the certificate will contain.

        Proof: ``proofs/best_price.md`` (the sensitivity, and the choice of rows), ``proofs/permute_and_flip.md`` (the
        draw).
        """
        mechanism = self.mechanism
        prices = sorted(map(float, mechanism.prices))
        ends = {"lowest": prices[0], **({"second_highest": prices[-2]} if len(prices) > 1 else {})}
        listed = {"count": len(prices), **ends, "highest": prices[-1], "common_unit": str(mechanism.unit)}
        return self.stated(
            Sensitivity.one_way(mechanism.sensitivity, self.neighbours, proof="proofs/best_price.md"),
            "proofs/permute_and_flip.md",
            candidates={"origin": "caller", "kind": "prices", **listed},
            error_bound=mechanism.error_bound(CONFIDENCE),
            arguments={"max_rows_per_unit": self.most},
        )

    def released(self, summary: UnitValues, /) -> Drawn:
        return Drawn(self.mechanism.draw(self.values(summary)))

    @classmethod
    def within(cls, release: Planned, bound: float) -> str:
        near = f"{bound:,}".removesuffix(".0")
        return f"the revenue of the released price is within {near} of the best"

    @classmethod
    def origin(cls, release: Planned) -> str:
        return from_rows(release, counted(release.candidates["count"], "price"), ends=("lowest", "highest"))

    def possible(self, values: list[Any], units: int | None, counts: list[int] | None) -> bool:
        (price,) = values
        return is_number(price) and any(price == float(each) for each in self.mechanism.prices)
