"""The best price of a public list, by permute-and-flip on revenues, or between two bounds, with a density."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self

from dpselect.arguments import finite_bounds, positive_count
from dpselect.errors import InvalidCandidatesError, InvalidParameterError, Shown
from dpselect.grids import Grid
from dpselect.mechanisms import PriceListMechanism, PriceMechanism
from dpselect.mechanisms.price_units import MOST_PRICES
from dpselect.privacy import Neighbours, Sensitivity
from dpselect.questions.numbers import MOST_ROWS_PER_UNIT, ValuesQuestion, gathered_for
from dpselect.questions.question import CONFIDENCE, Planned, Question, RowReader, Terms, is_number
from dpselect.questions.scores import price_range_sensitivity, price_sensitivity
from dpselect.questions.wording import counted, counting_rows, from_rows
from dpselect.summaries import PublicDomain, PublicGroups, UnitValues

if TYPE_CHECKING:
    from dpselect.accounting import BoundedRangeEvent, LaplaceProfileEvent


@dataclass(frozen=True, kw_only=True)
class BestPrice(ValuesQuestion):
    """Which price earns the most? Planned from public arguments; sees offers only later.

    Attributes:
        mechanism: draws once, at the whole cost.
        sensitivity: of the revenues, with its proof.
        candidates: what a certificate says of the prices.
        error_bound: in units of revenue, at the confidence of a release; None between bounds without a step,
            where no bound holds for all offers.
        domain: the range that offers are clipped into: an offer below 0 never buys, and one above the highest price
            always does.
        draw_proof: page that proves the law of the draw.
    """

    name: ClassVar[str] = "best_price"
    error_units: ClassVar[tuple[str, ...]] = ("revenue",)
    measure: ClassVar[str] = "{column}"

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
        step: Any = None,
        epsilon: float,
        max_rows_per_unit: object = 1,
        neighbours: Neighbours = Neighbours.ADD_REMOVE,
    ) -> Self:
        """The question, planned for a cost of `epsilon`: about a list of `prices`, or those between two `bounds`.

        These are ``lower, lower + step, ..., upper``, without 0; without a `step` all numbers between the bounds.

        Raises:
            InvalidCandidatesError: not exactly one of `prices` and `bounds` is given, or `prices` are not a list of
                different positive numbers with a common unit.
            InvalidParameterError: `epsilon` is not a finite number > 0, `max_rows_per_unit` not a whole number from
                1 to 10^9, or `bounds` not two finite numbers >= 0, the smaller first; or `step` is given together with
                `prices`, does not divide the distance between the bounds, or makes more than a million prices.

        >>> question = BestPrice.planned(range(1, 11), epsilon=0.5)
        >>> question.mechanism.sensitivity, question.mechanism.scale  # in units of revenue: 10, and 9 / epsilon
        (10.0, 18.0)
        >>> BestPrice.planned(bounds=(0, 10), step=1, epsilon=0.5).mechanism.scale
        18.0
        >>> BestPrice.planned(bounds=(1, 10), epsilon=0.5).mechanism.scale
        20.0
        """
        rows = positive_count(max_rows_per_unit, "max_rows_per_unit", at_most=MOST_ROWS_PER_UNIT)
        if (prices is None) == (bounds is None):
            got = Shown("None" if prices is None else "<given together with bounds>")
            expected = "either a public list of prices, or public bounds for any price between them"
            raise InvalidCandidatesError("prices", got, expected, "Never take either from the offers themselves.")
        price: dict[str, Any] = {"epsilon": epsilon, "values_per_unit": rows, "neighbours": neighbours}
        if bounds is not None and step is None:
            return cls._between(PriceMechanism(bounds=bounds, **price))
        if bounds is not None:
            prices = _listed(bounds, step)
        elif step is not None:
            raise InvalidParameterError("step", step, "None, because a list of prices is given")
        return cls._of_list(PriceListMechanism(prices=prices, **price))

    @classmethod
    def _of_list(cls, listed: PriceListMechanism) -> Self:
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
    def _between(cls, mechanism: PriceMechanism) -> Self:
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
    def max_rows_per_unit(self) -> int:
        """The most offers of one unit."""
        return self.mechanism.values_per_unit

    @property
    def event(self) -> BoundedRangeEvent | LaplaceProfileEvent:
        """What one release costs, for accounting; to be charged before `draw` is called."""
        return self.mechanism.event

    @cached_property
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

    def summaries(self, rows: RowReader, groups: PublicGroups | None, /) -> list[UnitValues]:
        """Offers, at most `max_rows_per_unit` of each unit."""
        return rows.gather(self.domain, groups, max_rows_per_unit=self.max_rows_per_unit)

    def draw(self, summary: UnitValues, /) -> int | float:
        """A price, by offers gathered with this question's domain and number of rows."""
        return self.mechanism.draw(gathered_for(summary, self.domain, most=self.max_rows_per_unit).values)

    unbounded: ClassVar[str] = f"{Question.unbounded}; with a step or a list of prices there is one"

    @classmethod
    def keys(cls, release: Planned, count: int) -> Iterable[str]:
        """See `Question.keys`."""
        return ["best price"]

    @classmethod
    def within(cls, release: Planned, bound: float) -> str:
        """See `Question.within`."""
        near = f"{bound:,}".removesuffix(".0")
        return f"the revenue of the released price is within {near} of the best"

    @classmethod
    def counting(cls, release: Planned) -> str:
        """See `Question.counting`."""
        return counting_rows(release)

    @classmethod
    def origin(cls, release: Planned) -> str:
        """See `Question.origin`."""
        public = release.candidates
        if "count" not in public:
            return from_rows(release, "all prices")
        return from_rows(release, counted(public["count"], "price"), ends=("lowest", "highest"))

    def possible(self, values: list[Any], units: int | None, counts: list[int] | None) -> bool:
        """See `Question.possible`."""
        (price,), mechanism = values, self.mechanism
        if isinstance(mechanism, PriceListMechanism):
            return is_number(price) and any(price == float(each) for each in mechanism.prices)
        lower, upper = mechanism.bounds
        return is_number(price) and float(lower) <= price <= float(upper)


def _listed(bounds: object, step: object) -> list[Fraction]:
    """The prices from the lower bound to the upper one, without 0."""
    lower, upper = finite_bounds(bounds)
    if lower < 0:
        raise InvalidParameterError("bounds", Shown(f"({float(lower)!r}, {float(upper)!r})"), "numbers >= 0")
    grid = Grid.dividing(lower, upper, step=step)
    if grid.count > MOST_PRICES:
        raise InvalidParameterError("step", step, f"at most {MOST_PRICES:,} prices between the bounds")
    return [price for place in range(grid.count) if (price := lower + place * grid.step)]
