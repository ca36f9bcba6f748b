"""Which price earns the most."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Unpack

from dpselect import questions
from dpselect.errors import InvalidParameterError
from dpselect.questions.arguments import Continuous, Epsilon, MaxRows, Offers, PriceBounds, Prices, Step
from dpselect.questions.declared import Columns, Price, Question
from dpselect.questions.statistics import step_between
from dpselect.questions.words import list_written

if TYPE_CHECKING:
    from dpselect.questions.question import Question as Planned


class BestPrice(Question, name="best_price"):
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

    def lists(self, planned: Any, /) -> dict[str, Any]:
        return {} if self.prices is None else {"prices": list_written(planned.mechanism.prices)}

    def planned(self, columns: Columns, /, **price: Unpack[Price]) -> Planned[Any]:
        step = self.step
        if self.prices is None and self.bounds is not None:
            step = step_between(columns, self.column, self.bounds, step, continuous=self.continuous)
        elif self.continuous:
            raise InvalidParameterError("continuous", True, "False, because a list of prices is given")
        about: dict[str, Any] = {"bounds": self.bounds, "step": step, "max_rows_per_unit": self.max_rows_per_unit}
        return questions.BestPrice.planned(self.prices, **about, **price)
