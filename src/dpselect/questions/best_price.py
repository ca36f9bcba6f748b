"""The best price of a public list, by permute-and-flip on revenues, or between two bounds, with a density."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self, cast

from dpselect.arguments import finite_bounds, positive_count
from dpselect.errors import InvalidCandidatesError, InvalidParameterError, Shown
from dpselect.grids import Grid
from dpselect.mechanisms import PriceListMechanism, PriceMechanism
from dpselect.mechanisms.price_units import MOST_PRICES, MOST_UNITS
from dpselect.privacy import Neighbours, Sensitivity
from dpselect.questions import fields
from dpselect.questions.fields import AnswerFields, Fields
from dpselect.questions.numbers import MOST_ROWS_PER_UNIT, ValuesQuestion, gathered_for
from dpselect.questions.question import CONFIDENCE, Planned, Question, RowReader, Terms
from dpselect.questions.scores import price_range_sensitivity, price_sensitivity
from dpselect.questions.wording import counted, counting_rows, from_rows
from dpselect.summaries import PublicDomain, PublicGroups, UnitValues

if TYPE_CHECKING:
    from dpselect.accounting import BoundedRangeEvent, LaplaceProfileEvent
    from dpselect.questions.stated import Stated


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

    @property
    def identity(self) -> dict[str, Any]:
        """The public arguments that distinguish this question from others about the same column."""
        return {**self.offered, "rows": self.max_rows_per_unit}

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

    @classmethod
    def check_fields(cls, held: Fields) -> AnswerFields:
        """See `Question.check_fields`."""
        is_between = fields.entry(held["candidates"], "source") == "bounds"
        if is_between:
            fields.object_with(held["candidates"], "candidates", fields.BOUNDS)
        else:
            optional = ["common_unit", "second_highest"]
            listed = fields.object_with(held["candidates"], "candidates", _PRICES, optional=optional)
            if ("second_highest" in listed) != ("common_unit" in listed and listed["count"] > 1):
                raise fields.wrong("candidates.second_highest", "one, if several prices have a common unit")
        fields.object_with(held.get("arguments", {}), "arguments", fields.ROWS)
        return AnswerFields(fields.number, has_bound=not is_between)

    @classmethod
    def restated(cls, stated: Stated) -> Self:
        """See `Question.restated`.

        Of a list the two highest and the lowest price have the same cost and sensitivity, and the error bound of more.
        Certificates from before the unit was stated tell the highest price only, and not enough for the error bound.
        """
        rows, public = stated.arguments["max_rows_per_unit"], stated.public
        if "count" not in public:
            return cls.planned(bounds=stated.ends, max_rows_per_unit=rows, **stated.price)
        if "common_unit" not in public:
            question = cls.planned([public["highest"]], max_rows_per_unit=rows, **stated.price)
            return replace(question, candidates=public, error_bound=None)
        unit, count = Fraction(public["common_unit"]), public["count"]
        ends = [public["lowest"], *([public["second_highest"]] if count > 1 else []), public["highest"]]
        if not ends == sorted(ends) or len(set(ends)) != min(count, 3) or (count == 2 and ends[0] != ends[1]):
            raise fields.wrong("candidates", "possible prices")
        prices = sorted({_in_units(price, unit) for price in ends})
        question = cls.planned(prices, max_rows_per_unit=rows, **stated.price)
        mechanism = cast(PriceListMechanism, question.mechanism)
        bound = mechanism.bound_of(count, unit=unit, confidence=CONFIDENCE)
        return replace(question, candidates=public, error_bound=bound)

    @classmethod
    def allows(cls, values: list[Any], stated: Stated) -> bool:
        """See `Question.allows`."""
        public = stated.public
        if "count" not in public:
            return stated.spans(values)
        price, lowest, highest = float(values[0]), public["lowest"], public["highest"]
        if not 0 < lowest <= highest or (lowest == highest) != (public["count"] == 1):
            raise fields.wrong("candidates", "possible prices")
        if "common_unit" in public:
            unit = Fraction(public["common_unit"])
            if float(round(Fraction(price) / unit) * unit) != price:
                return False
        return price in (lowest, highest) if public["count"] <= 2 else lowest <= price <= highest


_PRICES: dict[str, fields.Check] = {
    "origin": fields.one_of("caller"),
    "count": fields.count,
    "kind": fields.one_of("prices"),
    "lowest": fields.number,
    "highest": fields.number,
    "common_unit": fields.fraction,
    "second_highest": fields.number,
}


def _in_units(price: float, unit: Fraction) -> Fraction:
    """The whole multiple of `unit` that is the double `price`."""
    multiple = round(Fraction(price) / unit)
    if not 0 < multiple <= MOST_UNITS or float(multiple * unit) != price:
        raise fields.wrong("candidates.common_unit", "a number that all prices are whole multiples of")
    return multiple * unit


def _listed(bounds: object, step: object) -> list[Fraction]:
    """The prices from the lower bound to the upper one, without 0."""
    lower, upper = finite_bounds(bounds)
    if lower < 0:
        raise InvalidParameterError("bounds", Shown(f"({float(lower)!r}, {float(upper)!r})"), "numbers >= 0")
    grid = Grid.dividing(lower, upper, step=step)
    if grid.count > MOST_PRICES:
        raise InvalidParameterError("step", step, f"at most {MOST_PRICES:,} prices between the bounds")
    return [price for place in range(grid.count) if (price := lower + place * grid.step)]
