"""How a column of numbers is distributed over public bins."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar, Self

from dpselect import mechanisms, summaries
from dpselect.arguments import BinBounds, Bins, Epsilon, Numbers, SampleSize, UnitsOfSample
from dpselect.arguments import Density as Method
from dpselect.checks import one_of, positive_count
from dpselect.errors import InvalidParameterError
from dpselect.privacy import Neighbours, Sensitivity, neighbouring_relation
from dpselect.questions.numbers import NumbersQuestion, from_rows
from dpselect.questions.question import Columns
from dpselect.questions.words import CONFIDENCE, LARGEST_COUNT, Drawn, NoisyUnits, Planned, Terms, Value, counted

if TYPE_CHECKING:
    from numpy import int64
    from numpy.typing import NDArray

    from dpselect.mechanisms import DensityMechanism, NoisyHistogramMechanism
    from dpselect.summaries import PublicBins, PublicDomain, UnitValues

MOST_UNITS = 10**9


class Density(NumbersQuestion, name="density"):
    """The distribution of the values in `column`: the share of the units in each bin.

    If a unit has several rows, one is chosen at random. ``examples/densities`` measures both methods. In a sample,
    units without a value, or not in the table, make the shares add up to less than 1.

    Returns:
        A list of `bins` shares.

    Proof: ``proofs/noisy_histograms.md`` and ``proofs/density.md``.

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

    column: Numbers
    bounds: BinBounds
    bins: Bins
    epsilon: Epsilon
    method: Method = "counts"
    units: UnitsOfSample = None
    sample_size: SampleSize = None

    gives_list: ClassVar[bool] = True
    label: ClassVar[str] = "bin"
    measure: ClassVar[str] = "share of the units"
    is_amount: ClassVar[bool] = True

    def known(self, columns: Columns, neighbours: Neighbours, /) -> Self:
        return replace(self, neighbours=neighbouring_relation(neighbours))

    @cached_property
    def public_bins(self) -> PublicBins:
        """The bins."""
        return summaries.PublicBins.given(self.bounds, self.bins)

    @cached_property
    def domain(self) -> PublicDomain:
        """What values are clipped into."""
        return self.public_bins.domain

    @cached_property
    def sample(self) -> DensityMechanism | None:
        """What draws a sample of a public number of units; None: noise is added to the counts of bins.

        Raises:
            InvalidParameterError: `method` is not ``"counts"`` or ``"sample"``; or `units` is no whole number from 1 to
                10^9, `sample_size` none from 1 to 10^6, or they do not go with the method.
        """
        from dpselect.mechanisms.density import LARGEST_SAMPLE

        one_of(self.method, "method", ("counts", "sample"))
        if self.method == "counts":
            for name, given in (("units", self.units), ("sample_size", self.sample_size)):
                if given is not None:
                    raise InvalidParameterError(name, given, "None with method='counts'", "It is for method='sample'.")
            return None
        if self.units is None:
            hint = "Give the number of units as publicly known; method='counts' does not need it."
            raise InvalidParameterError("units", None, "a whole number >= 1 with method='sample'", hint)
        n = positive_count(self.units, "units", at_most=MOST_UNITS)
        k = self.sample_size
        k = None if k is None else positive_count(k, "sample_size", at_most=LARGEST_SAMPLE)
        k = mechanisms.DensityMechanism(epsilon=self.epsilon, k=k).sample_size(n)
        return mechanisms.DensityMechanism(epsilon=self.epsilon, k=k, base="histograms")

    @cached_property
    def mechanism(self) -> NoisyHistogramMechanism | DensityMechanism:
        """What draws, once, at the whole cost."""
        if self.sample is not None:
            return self.sample
        return mechanisms.NoisyHistogramMechanism(epsilon=self.epsilon, neighbours=self.neighbours)

    @property
    def error_bound(self) -> float:
        r"""With the confidence c of a release, whatever the data.

        For noisy counts: the largest distance of any of them from the truth, in units. For a sample: the
        Kolmogorov-Smirnov distance, at most
        :math:`1/(2k) + \frac{2}{\varepsilon n} (\ln \binom{k + m}{m} - \ln(1 - c))`, and at most 1.

        Proof: ``proofs/density.md``, "At a table".
        """
        mechanism, m = self.mechanism, self.public_bins.count
        if not isinstance(mechanism, mechanisms.DensityMechanism):
            try:
                return float(mechanism.error_bound(m, confidence=CONFIDENCE))
            except OverflowError:
                expected = "an epsilon for which the error fits into a number"
                raise InvalidParameterError("epsilon", mechanism.epsilon, expected) from None
        assert self.units is not None
        assert mechanism.k is not None
        k = mechanism.k
        samples = math.lgamma(k + m + 1.0) - math.lgamma(k + 1.0) - math.lgamma(m + 1.0)
        worst = 0.5 / k + 2.0 / mechanism.epsilon / self.units * (samples - math.log1p(-CONFIDENCE))
        return min(1.0, worst * (1.0 + 1e-9))

    @cached_property
    def terms(self) -> Terms:
        """What the certificate will contain.

        Proof: ``proofs/density.md``, "At a table", or ``proofs/noisy_histograms.md``.
        """
        candidates, sample = self.public_bins.description(), self.sample
        extent = {} if sample is None else {"units": self.units, "sample_size": sample.k}
        return self.stated(
            Sensitivity(
                1.0,
                monotonic=sample is None and self.neighbours is Neighbours.ADD_REMOVE,
                neighbours=self.neighbours,
                proof="proofs/noisy_histograms.md" if sample is None else "proofs/density.md",
            ),
            candidates=candidates,
            error_bound=self.error_bound,
            arguments={"method": self.method, "max_rows_per_unit": 1, **extent},
            usable=self._usable,
        )

    @property
    def _usable(self) -> NoisyUnits | None:
        """How far the sum of noisy counts is from the number of units, unless that says nothing."""
        if isinstance(self.mechanism, mechanisms.DensityMechanism):
            return None
        within = self.mechanism.total_error_bound(self.public_bins.count, confidence=CONFIDENCE)
        return NoisyUnits(within=within) if within <= LARGEST_COUNT else None

    def released(self, summary: UnitValues, /) -> Drawn:
        """The share of each bin. The sum of noisy counts is a noisy number of units, and costs nothing."""
        from dpselect.mechanisms.histograms import shares

        counts = self.public_bins.tally(self.values(summary))
        if not isinstance(self.mechanism, mechanisms.DensityMechanism):
            noisy = self.mechanism.draw(counts)
            return Drawn(shares(noisy).tolist(), [min(max(0, sum(noisy.tolist())), LARGEST_COUNT)])
        assert self.units is not None
        sample = self.mechanism.draw(with_absent(counts, units=self.units))
        return Drawn((sample[:-1] / sample.sum()).tolist())

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
        return round(value, 6) if isinstance(value, float) else value

    @classmethod
    def error_unit(cls, release: Planned) -> str | None:
        return "share" if _is_sample(release) else None

    @classmethod
    def within(cls, release: Planned, bound: float) -> str:
        if _is_sample(release):
            up = math.ceil(bound * 1e4) / 1e4
            return f"the share of the units below any edge of a bin is within {up:g} of the truth"
        return f"the noisy count of each bin is within {math.floor(bound):,} of the truth"

    @classmethod
    def origin(cls, release: Planned) -> str:
        return from_rows(release, counted(release.candidates["count"], "bin"))

    def possible(self, values: list[Any], units: int | None, counts: list[int] | None) -> bool:
        """Shares of all units are multiples of half a unit (see `shares`), and all equal without any; of a sample they
        are whole numbers of its points, without those that have no value.
        """
        if len(values) != self.public_bins.count or not all(
            isinstance(each, float) and 0.0 <= each <= 1.0 for each in values
        ):
            return False
        total = math.fsum(values)
        if self.sample is not None and self.sample.k is not None:
            parts = [each * self.sample.k for each in values]
            return total <= 1.0 + 1e-9 and all(abs(each - round(each)) <= 1e-6 for each in parts)
        if abs(total - 1.0) > 1e-9 or not units:
            return abs(total - 1.0) <= 1e-9 and (units is None or min(values) == max(values))
        halves = [2 * each * units for each in values]
        return units == LARGEST_COUNT or all(abs(each - round(each)) <= 1e-6 + 1e-14 * units for each in halves)


def _is_sample(release: Planned) -> bool:
    return release.arguments.get("method") == "sample"


def with_absent(counts: NDArray[int64], *, units: int) -> NDArray[int64]:
    """The histogram of a public number of units: units without a value are in one extra bin, at the end.

    If there are more units than that, those in the highest bins are left out. In any case, adding, removing or moving
    one unit changes each cumulative count by at most 1.

    >>> import numpy as np
    >>> with_absent(np.array([2, 3]), units=6), with_absent(np.array([2, 3]), units=4)
    (array([2, 3, 1]), array([2, 2, 0]))
    """
    import numpy as np

    reached = np.minimum(np.cumsum(counts), units)
    return np.diff(np.concatenate([[0], reached, [units]])).astype(np.int64)
