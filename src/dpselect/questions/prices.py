"""Which price earns the most: of a public list, by permute-and-flip on revenues, or between bounds, with a density."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self

from dpselect import mechanisms, summaries
from dpselect.arguments import Continuous, Epsilon, MaxRows, Offers, PriceBounds, Prices, Step
from dpselect.checks import decimal_fraction, finite_bounds, positive_sensitivity
from dpselect.errors import InvalidCandidatesError, InvalidParameterError, Shown
from dpselect.grids import Grid
from dpselect.privacy import Neighbours, Sensitivity
from dpselect.questions.numbers import NumbersQuestion, from_rows, step_between
from dpselect.questions.question import Columns
from dpselect.questions.words import CONFIDENCE, Drawn, Planned, Terms, counted, is_number

if TYPE_CHECKING:
    from dpselect.mechanisms import PriceListMechanism, PriceMechanism
    from dpselect.summaries import PublicDomain, UnitValues


class BestPrice(NumbersQuestion, name="best_price"):
    """The price that earns the most if everybody buys who offers at least the price.

    For something that costs nothing to copy: the revenue of a price is the price times the number of offers that are at
    least as high. The price is from a list of different numbers above 0, or between bounds, ``0 <= lower < upper``;
    never the offers themselves. Only the price is released, never a revenue.

    Returns:
        One of the prices, or a number within the bounds.

    Proof: ``proofs/best_price.md`` and ``proofs/permute_and_flip.md``; with bounds ``proofs/prices.md``.

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
    bounds: PriceBounds = None
    epsilon: Epsilon
    step: Step = None
    continuous: Continuous = False
    max_rows_per_unit: MaxRows = 1

    measured_in = "revenue"
    measure: ClassVar[str] = "{column}"
    unbounded: ClassVar[str] = f"{NumbersQuestion.unbounded}; with a step or a list of prices there is one"

    def known(self, columns: Columns, neighbours: Neighbours, /) -> Self:
        """Without a list, the step is that of the column's type, if none is given."""
        step = self.step
        if self.prices is None and self.bounds is not None:
            step = step_between(columns, self.column, self.bounds, step, continuous=self.continuous)
        elif self.continuous:
            raise InvalidParameterError("continuous", True, "nothing, because a list of prices is given")
        return replace(self, step=step, neighbours=neighbours)

    @cached_property
    def mechanism(self) -> PriceListMechanism | PriceMechanism:
        """What draws once, at the whole cost: of ``lower, lower + step, ..., upper``, without 0, or of all between.

        Raises:
            InvalidCandidatesError: not exactly one of `prices` and `bounds` is given, or `prices` are not a list of
                different positive numbers with a common unit.
            InvalidParameterError: another argument is out of range, or there are more than a million prices.
        """
        prices, bounds, step = self.prices, self.bounds, self.step
        rows = self.most
        if (prices is None) == (bounds is None):
            got = Shown("None" if prices is None else "<given together with bounds>")
            expected = "either a public list of prices, or public bounds for any price between them"
            raise InvalidCandidatesError("prices", got, expected, "Never take either from the offers themselves.")
        price: dict[str, Any] = {"epsilon": self.epsilon, "values_per_unit": rows, "neighbours": self.neighbours}
        if bounds is not None and step is None:
            return mechanisms.PriceMechanism(bounds=bounds, **price)
        if bounds is None and step is not None:
            raise InvalidParameterError("step", step, "nothing, because a list of prices is given")
        listed: Any = prices if bounds is None else _listed(bounds, step)
        return mechanisms.PriceListMechanism(prices=listed, **price)

    @cached_property
    def domain(self) -> PublicDomain:
        """The range that offers are clipped into: one below 0 never buys, one above the highest price always does."""
        mechanism = self.mechanism
        if isinstance(mechanism, mechanisms.PriceListMechanism):
            return summaries.PublicDomain(0.0, max(map(float, mechanism.prices)))
        within = summaries.PublicDomain.given(mechanism.bounds)
        return summaries.PublicDomain(0.0, within.upper)  # not from `lower` on: offers below must not buy there

    @cached_property
    def terms(self) -> Terms:
        """What the certificate will contain. Between bounds without a step, no bound on the error holds for all offers.

        Proof: of a list ``proofs/best_price.md`` (the sensitivity, and the choice of rows) and
        ``proofs/permute_and_flip.md`` (the draw); between bounds ``proofs/prices.md`` and ``proofs/falling_scores.md``.
        """
        mechanism = self.mechanism
        rows = {"max_rows_per_unit": mechanism.values_per_unit}
        about: dict[str, Any] = {**rows, "neighbours": self.neighbours}
        if isinstance(mechanism, mechanisms.PriceListMechanism):
            moved = price_sensitivity(max(mechanism.prices), **about)
            public = {"origin": "caller", "kind": "prices", **_listed_prices(mechanism)}
            error_bound, page = mechanism.error_bound(CONFIDENCE), "proofs/permute_and_flip.md"
        else:
            moved = price_range_sensitivity(self.domain.upper, **about)
            public = summaries.PublicDomain.given(mechanism.bounds).description()
            error_bound, page = None, "proofs/falling_scores.md"
        return self.stated(moved, page, candidates=public, error_bound=error_bound, arguments=rows)

    def released(self, summary: UnitValues, /) -> Drawn:
        return Drawn(self.mechanism.draw(self.values(summary)))

    @classmethod
    def within(cls, release: Planned, bound: float) -> str:
        near = f"{bound:,}".removesuffix(".0")
        return f"the revenue of the released price is within {near} of the best"

    @classmethod
    def origin(cls, release: Planned) -> str:
        public = release.candidates
        if "count" not in public:
            return from_rows(release, "all prices")
        return from_rows(release, counted(public["count"], "price"), ends=("lowest", "highest"))

    def possible(self, values: list[Any], units: int | None, counts: list[int] | None) -> bool:
        (price,), mechanism = values, self.mechanism
        if isinstance(mechanism, mechanisms.PriceListMechanism):
            return is_number(price) and any(price == float(each) for each in mechanism.prices)
        lower, upper = mechanism.bounds
        return is_number(price) and float(lower) <= price <= float(upper)


def _listed_prices(mechanism: PriceListMechanism) -> dict[str, Any]:
    """What a certificate says of the prices of a list."""
    prices = sorted(map(float, mechanism.prices))
    said = {"count": len(prices), "lowest": prices[0], "highest": prices[-1], "common_unit": str(mechanism.unit)}
    return said | ({"second_highest": prices[-2]} if len(prices) > 1 else {})


def _listed(bounds: object, step: object) -> list[Fraction]:
    """The prices from the lower bound to the upper one, without 0."""
    from dpselect.mechanisms.prices import MOST_PRICES

    lower, upper = finite_bounds(bounds)
    if lower < 0:
        raise InvalidParameterError("bounds", Shown(f"({float(lower)!r}, {float(upper)!r})"), "numbers >= 0")
    grid = Grid.dividing(lower, upper, step=step)
    if grid.count > MOST_PRICES:
        raise InvalidParameterError("step", step, f"at most {MOST_PRICES:,} prices between the bounds")
    below = math.lcm(lower.denominator, grid.step.denominator)
    first, step_up = int(lower * below), int(grid.step * below)
    return [Fraction(first + place * step_up, below) for place in range(int(first == 0), grid.count)]


def price_sensitivity(
    highest: float | Fraction, *, max_rows_per_unit: int, neighbours: Neighbours = Neighbours.ADD_REMOVE
) -> Sensitivity:
    r"""How much all rows of one unit can change the revenue of any price of a list.

    A unit adds :math:`j \le m` offers, of which :math:`k \le j` are at least the price :math:`p`: its revenue rises by
    :math:`k p`, and none falls: monotone. The difference between two revenues never changes by all of this, so the
    scale is less than this divided by epsilon (``dpselect.mechanisms.PriceListMechanism.score_range``).

    It is :math:`m` times the highest price, as the decimal it is written as, rounded up; the same if a unit is
    replaced, but then not monotone.

    Proof: ``proofs/best_price.md``.

    >>> price_sensitivity(9.5, max_rows_per_unit=1).value, price_sensitivity(100, max_rows_per_unit=4).value
    (9.5, 400.0)
    """
    exact = decimal_fraction(highest, "highest", expected="a finite number > 0")
    value = positive_sensitivity(max_rows_per_unit * exact)
    return Sensitivity.one_way(value, neighbours, proof="proofs/best_price.md")


def price_range_sensitivity(
    upper: float, *, max_rows_per_unit: int, neighbours: Neighbours = Neighbours.ADD_REMOVE
) -> Sensitivity:
    """How much all rows of one unit can change the revenue of any price up to the double `upper`: their product.

    With all numbers as prices, the difference between two revenues can change by nearly as much.

    Proof: ``proofs/prices.md``.

    >>> price_range_sensitivity(9.5, max_rows_per_unit=2).value
    19.0
    """
    value = positive_sensitivity(max_rows_per_unit * Fraction(upper))
    return Sensitivity.one_way(value, neighbours, proof="proofs/prices.md")
