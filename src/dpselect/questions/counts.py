"""How many there are, how many have each value, and how a column of numbers is distributed over public bins."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar, Self, cast

from dpselect import arguments, mechanisms, summaries
from dpselect.checks import delta_below_one, positive_count, whole_or_double_bounds
from dpselect.errors import InvalidCandidatesError, InvalidParameterError, Shown
from dpselect.privacy import as_text
from dpselect.questions import records
from dpselect.questions.question import Columns, ListQuestion, NumbersQuestion, Question, check_useful, units_noise
from dpselect.questions.wording import condition
from dpselect.summaries.scans import MOST_VALUES

if TYPE_CHECKING:
    from numpy import int64
    from numpy.typing import NDArray


class CountsQuestion(Question):
    """A question that one or several noisy numbers of units answer. Its subclasses are questions."""

    value = "list[int]"
    measure: ClassVar[str] = "units ({unit})"
    is_amount: ClassVar[bool] = True
    is_count: ClassVar[bool] = True
    bounds_value: ClassVar[bool] = True
    near: ClassVar[str] = "each released count is within {bound} of the truth"

    def stated_of_all(self, moved: float, *proofs: str, is_once: bool = True, **more: Any) -> records.Planned:
        """The contents of the certificate; the error is the largest distance of any count from the truth, in units.

        If each unit counts at most once, the sum of the noisy counts is a noisy number of units, at no cost.
        """
        noise, n = self.mechanism, more["candidates"]["count"]
        usable = records.NoisyUnits(within=noise.total_error_bound(n, records.CONFIDENCE)) if is_once else None
        bound = float(noise.error_bound(records.CONFIDENCE, size=n))
        return self.stated(moved, *proofs, error_bound=bound, usable=usable, **more)

    def drawn(self, counts: NDArray[int64]) -> records.Drawn:
        noisy = self.mechanism.draw_many(counts)
        units = None if self.terms.usable is None else records.released_count(sum(noisy.tolist()))
        return records.Drawn(self.answer(noisy), units)

    def answer(self, noisy: NDArray[int64]) -> list[Any]:
        """What is released of the noisy numbers."""
        return [*map(records.released_count, noisy.tolist())]

    def possible(self, values: list[Any], units: int | None, counts: list[int] | None) -> bool:
        """One for each, and `units` is their sum, or less if one is 0, which may stand for a negative number."""
        if len(values) != self.terms.candidates["count"] or not all(map(records.is_noisy_count, values)):
            return False
        most = records.released_count(sum(values))
        return units is None or (units == most if all(values) else units <= most)


class Count(CountsQuestion, name="count"):
    """The number of units, or of those with a row that meets a public condition.

    A unit counts once, however many rows it has. `usable_epsilon` goes with `between` only: it counts the units with
    any number in the column, so that numbers written in another way are noticed.

    Returns:
        A whole number >= 0.

    Proof: ``proofs/counting.md``, claim 5, and ``proofs/geometric_mechanism.md``.

    >>> release = data.count("age", between=(65, 120), epsilon=1.0)
    >>> print(release.accuracy)
    With 99% confidence the released number is within 4 of the number of units (person_id) where age is between 65 and
    120.
    """

    asks = "How many people are there?"
    example = ("adult.csv", "--unit person_id --epsilon 0.5")
    value = "int"

    column: arguments.ColumnIfAny = None
    candidates: arguments.ValuesIfAny = None
    between: arguments.Between = None

    near: ClassVar[str] = "the released number is within {bound} of the number of units ({unit})"

    def check_usable(self, usable_epsilon: float, /) -> None:
        if self.between is None:
            expected = "nothing: the answer is itself a number of units"
            raise InvalidParameterError("usable_epsilon", usable_epsilon, expected)

    def known(self, columns: Columns, /) -> Self:
        return replace(self, candidates=listed_values(self.candidates))

    @property
    def scan(self) -> summaries.UnitsOf:
        """What a row needs: one of some values, a number between two bounds, or nothing."""
        listed, between = cast("summaries.PublicCandidates | None", self.candidates), self.between
        if listed is not None and between is not None:
            raise InvalidParameterError("between", Shown("<two numbers>"), "nothing, because `candidates` are given")
        if self.column is None and (listed is not None or between is not None):
            raise InvalidParameterError("column", None, "the name of the column that the condition is about")
        if self.column is not None and listed is None and between is None:
            hint = "Without a column, every unit is counted. A histogram counts the units with each value."
            raise InvalidParameterError("candidates", None, "values of the column, or two numbers (`between`)", hint)
        if listed is not None and len(listed) > MOST_VALUES:
            got, hint = Shown(f"<{len(listed):,} {listed.kind}>"), "The certificate names each of them."
            raise InvalidParameterError("candidates", got, f"at most {MOST_VALUES:,}", hint)
        ends = None if between is None else whole_or_double_bounds(between, "between")
        return summaries.UnitsOf(None if listed is None else summaries.CountsOf(listed), ends)

    @cached_property
    def mechanism(self) -> mechanisms.GeometricMechanism:
        return units_noise(self.epsilon, 1, self.neighbours)

    @cached_property
    def terms(self) -> records.Planned:
        arguments: dict[str, Any] = {}
        if (between := self.scan.between) is not None:
            arguments = {"between": [*between]}
        elif self.candidates is not None:
            listed = cast("summaries.PublicCandidates", self.candidates)
            arguments = {"kind": str(listed.kind), "values": listed.stated()}
        return self.stated(
            1.0,
            "proofs/counting.md",
            "proofs/geometric_mechanism.md",
            error_bound=float(self.mechanism.error_bound(records.CONFIDENCE)),
            arguments=arguments,
        )

    def released(self, summary: int, /) -> records.Drawn:
        return records.Drawn(self.mechanism.draw(summary))

    @classmethod
    def origin(cls, release: records.Planned) -> str:
        return f"counting units ({release.unit}){cls.counting(release)}"

    @classmethod
    def counting(cls, release: records.Planned) -> str:
        """The condition that they meet."""
        asked = release.question
        held = {"column": release.column, "values": asked.get("candidates"), "between": asked.get("between")}
        return f" where {condition(held)}" if "column" in asked else ""

    def possible(self, values: list[Any], units: int | None, counts: list[int] | None) -> bool:
        return all(map(records.is_noisy_count, values))


class Histogram(CountsQuestion, ListQuestion, name="histogram"):
    """The number of units with each of the candidates, or with a number in each of several bins.

    A bin holds the number that it begins with and not the one that it ends with, but for the last one. With bins, one
    row of each unit counts, chosen at random. With bins, or with ``max_values_per_unit=1``, the number of usable units
    comes at no cost, in ``release.usable``.

    Returns:
        A list of whole numbers >= 0, in the order of the candidates or bins; ``release.table()`` names them.

    Proof: ``proofs/counting.md``, claim 6; ``proofs/geometric_mechanism.md`` or ``proofs/discrete_gaussian.md``; with
    bins ``proofs/noisy_histograms.md``.

    >>> release = data.histogram("education_num", candidates=range(1, 17), epsilon=1.0)
    >>> print(release.accuracy)
    With 99% confidence each released count is within 7 of the truth, counting at most 1 value of each person_id.
    >>> abs(data.histogram("age", bins=[0, 18, 65, 120], epsilon=1.0).value[2] - 1336) < 30  # 1336 in truth
    True
    """

    asks = "How many have each value?"
    example = ("adult.csv education_num", "--unit person_id --candidates 1..16 --epsilon 0.5")

    candidates: arguments.CandidatesToCount = None
    bins: arguments.EdgesIfAny = None
    max_values_per_unit: arguments.MaxValuesCounted = 1
    delta: arguments.DeltaIfLess = 0.0

    label: ClassVar[str] = "value"

    def known(self, columns: Columns, /) -> Histogram | BinnedCounts:  # pyright: ignore
        """With bins it is another question, about one number of each unit."""
        if self.bins is None and self.candidates is None:
            from dpselect.summaries.candidates import UNLISTED

            hint = f"Neither is read from the column, whose values are private. Without them, {UNLISTED}"
            expected = "the public list of values to count, or bins of a column of numbers"
            raise InvalidCandidatesError("candidates", None, expected, hint)
        if self.bins is None:
            listed = super().known(columns)
            n, what = len(listed.choices), "the number of candidates"
            most = positive_count(self.max_values_per_unit, "max_values_per_unit", at_most=n, at_most_what=what)
            return replace(listed, max_values_per_unit=most)
        if self.candidates is not None:
            raise InvalidParameterError("candidates", Shown("<a list>"), "nothing, because `bins` are given")
        for name, only in (("max_values_per_unit", 1), ("delta", 0.0)):
            if getattr(self, name) != only:
                raise InvalidParameterError(name, getattr(self, name), f"{only}, because `bins` are given")
        bins = summaries.PublicBins.between(self.bins)
        return BinnedCounts(column=self.column, bins=bins, epsilon=self.epsilon, neighbours=self.neighbours)

    @cached_property
    def mechanism(self) -> mechanisms.GeometricMechanism | mechanisms.DiscreteGaussianMechanism:
        """Of two with a delta the one with the smaller error bound; at equal bounds the geometric one.

        One unit changes up to t counts by 1. Geometric noise grows with t and costs no delta; discrete Gaussian noise
        grows with the root of t.
        """
        n = len(self.choices)
        moved = self.neighbours.changed(self.max_values_per_unit, n)
        price: dict[str, Any] = {"epsilon": self.epsilon, "neighbours": self.neighbours}
        geometric = mechanisms.GeometricMechanism(**price, sensitivity=moved)
        check_useful(geometric, n)
        if not (failing := delta_below_one(self.delta)):
            return geometric
        gaussian = mechanisms.DiscreteGaussianMechanism(**price, delta=failing, squared_sensitivity=moved)
        bounds = [each.error_bound(records.CONFIDENCE, size=n) for each in (geometric, gaussian)]
        return gaussian if bounds[1] < bounds[0] else geometric

    @cached_property
    def terms(self) -> records.Planned:
        """The sensitivity is the largest total change of all counts; for Gaussian noise the root of that of squares."""
        mechanism, most = self.mechanism, self.max_values_per_unit
        is_gaussian = isinstance(mechanism, mechanisms.DiscreteGaussianMechanism)
        noise = {"noise": "gaussian" if is_gaussian else "geometric"} if self.delta else {}
        return self.stated_of_all(
            float(mechanism.sensitivity),
            "proofs/counting.md",
            "proofs/discrete_gaussian.md" if is_gaussian else "proofs/geometric_mechanism.md",
            candidates=self.described,
            arguments={"max_values_per_unit": most, **noise},
            is_once=most == 1,
        )

    def released(self, summary: summaries.CandidateTotals, /) -> records.Drawn:
        return self.drawn(summary.totals)

    @classmethod
    def keys(cls, release: records.Planned, count: int) -> Iterable[Any]:
        return summaries.members(release.question["candidates"])

    @classmethod
    def origin(cls, release: records.Planned) -> str:
        said = f"for each of {records.counted(release.candidates['count'], 'candidate')} given by the caller"
        if "noise" not in release.arguments:
            return said
        if release.arguments["noise"] == "gaussian":
            return f"{said}, with Gaussian noise, because geometric noise would have a larger error bound"
        return f"{said}, with geometric noise and no delta, because Gaussian noise would have no smaller error bound"


def listed_values(values: object) -> summaries.PublicCandidates | None:
    """The values of a condition; a single one may be given by itself."""
    if values is None:
        return None
    single = isinstance(values, (str, int, float, bool)) or hasattr(values, "isoformat")
    return summaries.PublicCandidates.given([values] if single else values)


class InBins(CountsQuestion, NumbersQuestion):
    """A question about one number of each unit, which is in one of several bins. Its subclasses are questions."""

    label: ClassVar[str] = "bin"

    if TYPE_CHECKING:  # declared by each, in its place among the others
        bins: Any

    @cached_property
    def domain(self) -> summaries.PublicDomain:
        return self.bins.domain

    @cached_property
    def mechanism(self) -> mechanisms.GeometricMechanism:
        """A unit that is replaced changes two counts. Proof: ``proofs/noisy_histograms.md``."""
        moved = self.neighbours.changed(1)
        noise = mechanisms.GeometricMechanism(epsilon=self.epsilon, sensitivity=moved, neighbours=self.neighbours)
        check_useful(noise, self.bins.count)
        return noise

    @cached_property
    def terms(self) -> records.Planned:
        about: dict[str, Any] = {"candidates": self.bins.description(), "arguments": {"max_rows_per_unit": 1}}
        return self.stated_of_all(1.0, "proofs/noisy_histograms.md", **about)

    def released(self, summary: summaries.UnitValues, /) -> records.Drawn:
        return self.drawn(self.bins.tally(self.values(summary)))

    @classmethod
    def keys(cls, release: records.Planned, count: int) -> Iterable[str]:
        """Where each bin begins and ends, as it was given, or with the digits that tell them apart."""
        about, edges = release.candidates, [*map(as_text, release.candidates.get("edges", ()))]
        if not edges:
            lower, width = about["lower"], about["upper"] / count - about["lower"] / count
            digits = min(max(0, 2 - math.floor(math.log10(width))), 300)
            shown = [f"{lower + place * width:.{digits}f}" for place in range(count + 1)]
            edges = [each.rstrip("0").rstrip(".") if "." in each else each for each in shown]
        return [f"{begin} to {end}" for begin, end in pairwise(edges)]

    @classmethod
    def among(cls, release: records.Planned) -> str:
        return records.counted(release.candidates["count"], "bin")


class Density(InBins, name="density"):
    """The distribution of the values in `column`: the share of the units in each bin.

    If a unit has several rows, one is chosen at random. Counts get noise; the shares are those of the nearest
    distribution. `dpselect.mechanisms.DensityMechanism` draws a sample of numbers in memory instead.

    Returns:
        A list of `bins` shares.

    Proof: ``proofs/noisy_histograms.md``.

    >>> release = data.density("age", bounds=(0, 120), bins=4, epsilon=1.0)
    >>> [round(share, 2) for share in release.value]
    [0.3, 0.62, 0.08, 0.0]
    """

    asks = "What share of the units falls in each bin?"
    example = ("adult.csv age", "--unit person_id --bounds 0 120 --bins 12 --epsilon 0.5")
    value = "list[float]"

    bounds: arguments.BinBounds
    bins: arguments.Bins

    measure: ClassVar[str] = "share of the units"
    digits: ClassVar[str] = ".4f"
    is_count: ClassVar[bool] = False
    bounds_value: ClassVar[bool] = False
    near: ClassVar[str] = "the noisy count of each bin is within {bound} of the truth"

    def known(self, columns: Columns, /) -> Self:
        return replace(self, bins=cast(Any, summaries.PublicBins.given(self.bounds, self.bins)))

    def answer(self, noisy: NDArray[int64]) -> list[Any]:
        from dpselect.mechanisms.density import shares

        return shares(noisy).tolist()

    def possible(self, values: list[Any], units: int | None, counts: list[int] | None) -> bool:
        """Shares are multiples of half a unit (see `shares`), and all equal without any."""
        are_shares = all(isinstance(each, float) and 0.0 <= each <= 1.0 for each in values)
        if len(values) != self.terms.candidates["count"] or not are_shares:
            return False
        total = math.fsum(values)
        if abs(total - 1.0) > 1e-9 or not units:
            return abs(total - 1.0) <= 1e-9 and (units is None or min(values) == max(values))
        halves = [2 * each * units for each in values]
        return units == records.LARGEST_COUNT or all(abs(each - round(each)) <= 1e-6 + 1e-14 * units for each in halves)


class BinnedCounts(InBins, name="histogram_of_bins"):
    """The number of units with a number in each bin between public edges: `histogram` with `bins`."""

    bins: summaries.PublicBins
