"""How a column of numbers is distributed over public bins: the share, or the number, of the units in each."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar

from dpselect import arguments, mechanisms, summaries
from dpselect.errors import InvalidParameterError
from dpselect.privacy import Sensitivity
from dpselect.questions.question import CountsEach, NumbersQuestion, from_rows
from dpselect.questions.words import (
    CONFIDENCE,
    LARGEST_COUNT,
    Drawn,
    NoisyUnits,
    Planned,
    Terms,
    Value,
    as_text,
    counted,
    possible_counts,
    released_count,
)

if TYPE_CHECKING:
    from numpy import int64
    from numpy.typing import NDArray


class InBins(NumbersQuestion):
    """A question about one number of each unit, which is in one of several bins. Its subclasses are questions."""

    label: ClassVar[str] = "bin"
    is_amount: ClassVar[bool] = True

    @cached_property
    @abstractmethod
    def public_bins(self) -> summaries.PublicBins:
        """The bins."""

    @cached_property
    def domain(self) -> summaries.PublicDomain:
        return self.public_bins.domain

    @cached_property
    def mechanism(self) -> mechanisms.GeometricMechanism:
        """A unit that is replaced changes two counts.

        Proof: ``proofs/noisy_histograms.md``.
        """
        return mechanisms.GeometricMechanism(
            epsilon=self.epsilon, sensitivity=self.neighbours.changed(1), neighbours=self.neighbours
        )

    @cached_property
    def terms(self) -> Terms:
        """The error is the largest distance of any count from the truth, in units."""
        bins, noise = self.public_bins, self.mechanism
        try:
            bound = float(noise.error_bound(CONFIDENCE, size=bins.count))
        except OverflowError:
            expected = "an epsilon for which the error fits into a number"
            raise InvalidParameterError("epsilon", noise.epsilon, expected) from None
        within = noise.total_error_bound(bins.count, CONFIDENCE)
        return self.stated(
            Sensitivity.one_way(1.0, self.neighbours, proof="proofs/noisy_histograms.md"),
            candidates=bins.description(),
            error_bound=bound,
            arguments={"max_rows_per_unit": 1},
            usable=NoisyUnits(within=within) if within <= LARGEST_COUNT else None,
        )

    def drawn(self, summary: summaries.UnitValues) -> tuple[NDArray[int64], int]:
        """The noisy count of each bin, and their sum: a noisy number of units, at no cost."""
        noisy = self.mechanism.draw_many(self.public_bins.tally(self.values(summary)))
        return noisy, released_count(sum(noisy.tolist()))

    @classmethod
    def origin(cls, release: Planned) -> str:
        return from_rows(release, counted(release.candidates["count"], "bin"))


class Density(InBins, name="density"):
    """The distribution of the values in `column`: the share of the units in each bin.

    If a unit has several rows, one is chosen at random. Counts get noise; the shares are those of the nearest
    distribution. `dpselect.mechanisms.DensityMechanism` draws a sample of numbers in memory instead.

    Returns:
        A list of `bins` shares.

    Proof: ``proofs/noisy_histograms.md``.

    >>> import dpselect as dps
    >>> people = dps.Dataset("examples/data/adult.csv", unit="person_id")
    >>> release = people.density("age", bounds=(0, 120), bins=4, epsilon=1.0)
    >>> [round(share, 2) for share in release.value]
    [0.3, 0.62, 0.08, 0.0]
    """

    asks = "What share of the units falls in each bin?"
    does = "Find how the values are distributed: the share of the units in each bin."
    example = ("adult.csv age", "--unit person_id --bounds 0 120 --bins 12 --epsilon 0.5")
    value = "list[float]"

    column: arguments.Numbers
    bounds: arguments.BinBounds
    bins: arguments.Bins
    epsilon: arguments.Epsilon

    measure: ClassVar[str] = "share of the units"
    near: ClassVar[str] = "the noisy count of each bin is within {bound} of the truth"

    @cached_property
    def public_bins(self) -> summaries.PublicBins:
        return summaries.PublicBins.given(self.bounds, self.bins)

    def released(self, summary: summaries.UnitValues, /) -> Drawn:
        from dpselect.mechanisms.density import shares

        noisy, units = self.drawn(summary)
        return Drawn(shares(noisy).tolist(), [units])

    @classmethod
    def keys(cls, release: Planned, count: int) -> Iterable[str]:
        """Where each bin begins and ends, with the digits that tell them apart."""
        lower, upper, bins = (release.candidates[name] for name in ("lower", "upper", "count"))
        width = upper / bins - lower / bins
        digits = min(max(0, 2 - math.floor(math.log10(width))), 300)
        shown = [f"{lower + place * width:.{digits}f}" for place in range(bins + 1)]
        edges = [each.rstrip("0").rstrip(".") if "." in each else each for each in shown]
        return [f"{begin} to {end}" for begin, end in pairwise(edges)]

    @classmethod
    def shown(cls, value: Value) -> Value:
        return round(value, 4) if isinstance(value, float) else value

    def possible(self, values: list[Any], units: int | None, counts: list[int] | None) -> bool:
        """Shares are multiples of half a unit (see `shares`), and all equal without any."""
        if len(values) != self.public_bins.count or not all(
            isinstance(each, float) and 0.0 <= each <= 1.0 for each in values
        ):
            return False
        total = math.fsum(values)
        if abs(total - 1.0) > 1e-9 or not units:
            return abs(total - 1.0) <= 1e-9 and (units is None or min(values) == max(values))
        halves = [2 * each * units for each in values]
        return units == LARGEST_COUNT or all(abs(each - round(each)) <= 1e-6 + 1e-14 * units for each in halves)


class BinnedCounts(CountsEach, InBins, name="histogram_of_bins"):
    """The number of units with a number in each bin between public edges: `histogram` with `bins`."""

    column: arguments.Numbers
    edges: Sequence[float]
    epsilon: arguments.Epsilon

    @cached_property
    def public_bins(self) -> summaries.PublicBins:
        return summaries.PublicBins.between(self.edges)

    def released(self, summary: summaries.UnitValues, /) -> Drawn:
        noisy, units = self.drawn(summary)
        return Drawn([*map(released_count, noisy.tolist())], [units])

    @classmethod
    def keys(cls, release: Planned, count: int) -> Iterable[str]:
        return [f"{begin} to {end}" for begin, end in pairwise(map(as_text, release.candidates["edges"]))]

    def possible(self, values: list[Any], units: int | None, counts: list[int] | None) -> bool:
        return possible_counts(values, units, self.public_bins.count)
