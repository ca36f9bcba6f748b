"""What amounts add up to, which candidate has the largest sum, and which price earns the most."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

from dpselect import arguments, mechanisms, summaries
from dpselect.errors import InvalidParameterError
from dpselect.privacy import Neighbours, as_text
from dpselect.questions.question import ListQuestion, NumbersQuestion, Question
from dpselect.questions.records import CONFIDENCE, Drawn, Planned, counted, is_number


class OfAmounts(Question):
    """A question about clipped amounts of units. Its subclasses are questions. Proof: ``proofs/clipped_sums.md``."""

    clip: arguments.Clip
    scale: arguments.Scale = 1.0

    error_unit = "sum"

    @cached_property
    def amounts(self) -> summaries.PublicClip:
        """The column to sum, and how much one unit may add."""
        return summaries.PublicClip.given(getattr(self, "sum", self.column), self.clip, scale=self.scale)

    @property
    def scan(self) -> summaries.Scan:
        return summaries.TotalsOf(self.amounts, getattr(self, "choices", None))

    @property
    def spread(self) -> int:
        """The width of the range of amounts that a unit may add to a candidate, including 0."""
        clip = self.amounts
        return max(clip.upper, 0) - min(clip.lower, 0)

    @cached_property
    def moved(self) -> int:
        """How much one unit can change any sum, in scaled whole numbers.

        A unit adds an amount from `lower` to `upper` to some candidates and nothing to the others. If one unit is added
        that is the larger of the two bounds' magnitudes, and monotone if they have one sign; if one is replaced, sums
        also move by the distance from one amount to another, and 0 is an amount, too.
        """
        clip, is_added = self.amounts, self.neighbours is Neighbours.ADD_REMOVE
        return max(abs(clip.lower), abs(clip.upper)) if is_added else self.spread

    def stated_in_units(self, proof: str, *, error: float, **more: Any) -> Planned:
        """The contents of the certificate; sensitivity and error bound are in the unit of the column."""
        amounts = self.amounts
        return self.stated(
            amounts.in_units(self.moved),
            "proofs/clipped_sums.md",
            proof,
            monotonic=self.neighbours.one_way and (amounts.lower >= 0 or amounts.upper <= 0),
            error_bound=amounts.in_units(math.floor(error)) if error < 2**63 else math.inf,  # sums are whole
            arguments=amounts.description(),
            **more,
        )

    @classmethod
    def counting(cls, release: Planned) -> str:
        return f", counting {clipped(release)} of each {release.unit}"


class Sum(OfAmounts, name="sum"):
    """The sum of a column of numbers, with a bounded amount for each unit.

    All rows of a unit are added up, and the total is clipped. Sums are of whole numbers, so that rounding cannot change
    them by more than one unit adds.

    Returns:
        A number, which may be below 0 where the sum is small: a whole number without a scale.

    Proof: ``proofs/clipped_sums.md`` and ``proofs/geometric_mechanism.md``.

    >>> release = data.sum("hours_per_week", clip=(0, 80), epsilon=1.0)
    >>> print(release.accuracy)
    With 99% confidence the released sum is within 368 of the total hours_per_week, counting from 0 to 80 of each
    person_id.
    """

    asks = "What do the values add up to?"
    example = ("adult.csv hours_per_week", "--unit person_id --clip 0 80 --epsilon 0.5")
    value = "float"

    column: arguments.Numbers

    measure: ClassVar[str] = "sum of {column}"
    near: ClassVar[str] = "the released sum is within {bound} of the total {column}"
    is_amount: ClassVar[bool] = True
    bounds_value: ClassVar[bool] = True

    @cached_property
    def mechanism(self) -> mechanisms.GeometricMechanism:
        """In scaled whole numbers."""
        noise = mechanisms.GeometricMechanism(epsilon=self.epsilon, sensitivity=self.moved, neighbours=self.neighbours)
        # Far larger bounds would leave the doubles.
        if Fraction(noise.error_bound(CONFIDENCE)) / self.amounts.scale > 10**15:
            raise InvalidParameterError("epsilon", self.epsilon, "a number large enough for a useful sum")
        return noise

    @cached_property
    def terms(self) -> Planned:
        return self.stated_in_units(
            "proofs/geometric_mechanism.md", error=float(self.mechanism.error_bound(CONFIDENCE))
        )

    def released(self, summary: summaries.CandidateTotals, /) -> Drawn:
        """The sum with noise, in the unit of the column: a whole number without a scale, else the nearest double."""
        noisy, scale = self.mechanism.draw(int(summary.totals[0])), self.amounts.scale
        return Drawn(noisy if scale == 1 else float(Fraction(noisy) / scale))

    @classmethod
    def origin(cls, release: Planned) -> str:
        return f"adding {clipped(release)} for each {release.unit}"

    def possible(self, values: list[Any], units: int | None, counts: list[int] | None) -> bool:
        """Scaled, a sum is a whole number, as far as doubles can tell."""
        (value,), scale = values, self.amounts.scale
        if scale == 1:
            return type(value) is int
        return type(value) is float and float(Fraction(round(Fraction(value) * scale)) / scale) == value


class BestBy(OfAmounts, ListQuestion, name="best_by"):
    """The candidate in `column` with the largest sum of the numbers in the column `sum`.

    What a unit adds to a candidate is clipped: first for each row, then for the total of its rows. `clip` times `scale`
    has to be whole and between -2^31 and 2^31. With `with_counts`, ``release.counts`` is the number of units that have
    the answer, with an amount or not.

    Returns:
        One of the candidates.

    Proof: ``proofs/clipped_sums.md`` and ``proofs/permute_and_flip.md``.

    >>> asked = {"sum": "capital_gain", "clip": (0, 10_000), "candidates": range(1, 17)}
    >>> data.best_by("education_num", **asked, epsilon=1.0).value
    13
    """

    asks = "Which value has the largest sum of amounts?"
    example = ("adult.csv education_num capital_gain", "--unit person_id --candidates 1..16 --clip 0 10000 --epsilon 1")
    positional = ("sum",)

    sum: arguments.Summed  # the word that says it, here and on the command line
    candidates: arguments.Candidates = None
    with_counts: arguments.WithCounts = False

    @cached_property
    def mechanism(self) -> mechanisms.PermuteAndFlip:
        """For half of epsilon if counts are wanted and cost the other half.

        The noise is scaled to how much one unit can change the difference between two sums, which is less than twice
        the sensitivity if the bounds have opposite signs: one sum then gains at most `upper`, and another loses at most
        the magnitude of `lower`. The factor is in this range already, so the mechanism adds none.
        """
        part = mechanisms.left_for_selection(self.epsilon) if self.with_counts else self.epsilon
        spread = self.neighbours.changed(self.spread)
        return mechanisms.PermuteAndFlip(epsilon=part, sensitivity=spread, monotonic=True)

    @cached_property
    def terms(self) -> Planned:
        return self.stated_in_units(
            "proofs/permute_and_flip.md",
            error=self.mechanism.error_bound(len(self.choices), confidence=CONFIDENCE),
            candidates=self.described,
        )

    def released(self, summary: summaries.CandidateTotals, /) -> Drawn:
        place = self.mechanism.select(summary.totals)
        return Drawn(self.choices[place], places=[place])

    label: ClassVar[str] = "answer"
    called: ClassVar[str] = "best"
    tells_units: ClassVar[bool | None] = True  # counts are of units with a candidate, with or without an amount
    near: ClassVar[str] = "the total {sum} of the released {column} is within {bound} of the best"

    @classmethod
    def origin(cls, release: Planned) -> str:
        return f"{super().origin(release)}, each {release.unit} adding {clipped(release)} to one"


class BestPrice(NumbersQuestion, name="best_price"):
    """The price that earns the most if everybody who offers at least the price buys.

    For something that costs nothing to copy: the revenue of a price is the price times the number of offers that are at
    least as high. The price is from a list of different numbers above 0, never the offers themselves. Only the price is
    released, never a revenue.

    Returns:
        One of the prices.

    Proof: ``proofs/best_price.md`` and ``proofs/permute_and_flip.md``.

    >>> data.best_price("capital_gain", prices=range(500, 10_001, 500), epsilon=1.0).value
    7000
    """

    asks = "Which price earns the most?"
    example = ("adult.csv capital_gain", "--unit person_id --prices 500,1000,2500,5000,7000 --epsilon 1")
    value = "float"

    column: arguments.Offers
    prices: arguments.Prices = None
    max_rows_per_unit: arguments.MaxRows = 1

    error_unit = "revenue"
    ends: ClassVar[tuple[str, str]] = "lowest", "highest"
    near: ClassVar[str] = "the revenue of the released price is within {bound} of the best"
    measure: ClassVar[str] = "{column}"

    @cached_property
    def mechanism(self) -> mechanisms.PriceListMechanism:
        return mechanisms.PriceListMechanism(prices=self.prices, **self.priced)  # type: ignore[arg-type] # checked there

    @cached_property
    def domain(self) -> summaries.PublicDomain:
        """The range that offers are clipped into: one below 0 never buys, one above the highest price always does."""
        return summaries.PublicDomain(0.0, max(map(float, self.mechanism.prices)))

    @cached_property
    def terms(self) -> Planned:
        mechanism = self.mechanism
        prices = sorted(map(float, mechanism.prices))
        ends = {"lowest": prices[0], **({"second_highest": prices[-2]} if len(prices) > 1 else {})}
        listed = {"count": len(prices), **ends, "highest": prices[-1], "common_unit": str(mechanism.unit)}
        return self.stated(
            mechanism.sensitivity,
            "proofs/best_price.md",
            "proofs/permute_and_flip.md",
            candidates={"origin": "caller", "kind": "prices", **listed},
            error_bound=mechanism.error_bound(CONFIDENCE),
            arguments={"max_rows_per_unit": self.max_rows_per_unit},
        )

    @classmethod
    def among(cls, release: Planned) -> str:
        return counted(release.candidates["count"], "price")

    def possible(self, values: list[Any], units: int | None, counts: list[int] | None) -> bool:
        (price,) = values
        return is_number(price) and any(price == float(each) for each in self.mechanism.prices)


def clipped(release: Planned) -> str:
    """How much one unit may add to a sum, in the unit of the column."""
    low, high = (as_text(release.arguments[end] / release.arguments["scale"]) for end in ("lower", "upper"))
    return f"from {low} to {high}"
