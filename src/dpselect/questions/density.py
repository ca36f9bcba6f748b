"""How a column of numbers is distributed over public bins."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from dpselect.arguments import one_of, positive_count
from dpselect.errors import InvalidParameterError
from dpselect.mechanisms import DensityMechanism, NoisyHistogramMechanism
from dpselect.mechanisms.density import LARGEST_SAMPLE
from dpselect.mechanisms.noisy_histogram import shares
from dpselect.privacy import Neighbours, Sensitivity, neighbouring_relation
from dpselect.questions.numbers import ValuesQuestion, gathered_for
from dpselect.questions.question import (
    CONFIDENCE,
    LARGEST_COUNT,
    Answered,
    Drawn,
    NoisyUnits,
    Planned,
    RowReader,
    Terms,
    Value,
)
from dpselect.questions.wording import counted, counting_rows, from_rows
from dpselect.summaries import PublicBins, PublicDomain, PublicGroups, UnitValues

if TYPE_CHECKING:
    from dpselect.accounting import BoundedRangeEvent, PureEvent

MOST_UNITS = 10**9


@dataclass(frozen=True, kw_only=True)
class Density(ValuesQuestion):
    """Which share of the units lies in each bin? Planned from public arguments; sees values only later.

    Attributes:
        bins: the public bins.
        mechanism: draws once, at the whole cost: a noisy histogram, or a sample of the units.
        units: for a sample, how many units there are, as far as is publicly known; None for a noisy histogram.
        neighbours: which data sets the guarantee compares.
    """

    name: ClassVar[str] = "density"
    gives_list: ClassVar[bool] = True
    error_units: ClassVar[tuple[str, ...]] = ("share",)
    measure: ClassVar[str] = "share of the units"
    is_amount: ClassVar[bool] = True

    bins: PublicBins
    mechanism: NoisyHistogramMechanism | DensityMechanism
    units: int | None
    neighbours: Neighbours = Neighbours.ADD_REMOVE

    @classmethod
    def planned(
        cls,
        bins: PublicBins,
        *,
        epsilon: float,
        method: object = "counts",
        units: object = None,
        sample_size: object = None,
        neighbours: Neighbours = Neighbours.ADD_REMOVE,
    ) -> Self:
        """The question, planned for a cost of `epsilon`.

        Raises:
            InvalidParameterError: `epsilon` is not a finite number > 0, `method` not ``"counts"`` or ``"sample"``; or
                `units` is no whole number from 1 to 10^9, `sample_size` none from 1 to 10^6, or they do not go with
                the method.

        >>> question = Density.planned(PublicBins.given((0, 120), 12), epsilon=0.5)
        >>> question.error_bound  # in units, of each bin
        14.0
        """
        one_of(method, "method", ("counts", "sample"))
        if method == "counts":
            for name, given in (("units", units), ("sample_size", sample_size)):
                if given is not None:
                    raise InvalidParameterError(name, given, "None with method='counts'", "It is for method='sample'.")
            noisy = NoisyHistogramMechanism(epsilon=epsilon, neighbours=neighbours)
            return cls(bins=bins, mechanism=noisy, units=None, neighbours=noisy.neighbours)
        if units is None:
            hint = "Give the number of units as publicly known; method='counts' does not need it."
            raise InvalidParameterError("units", units, "a whole number >= 1 with method='sample'", hint)
        n = positive_count(units, "units", at_most=MOST_UNITS)
        k = None if sample_size is None else positive_count(sample_size, "sample_size", at_most=LARGEST_SAMPLE)
        k = DensityMechanism(epsilon=epsilon, k=k).sample_size(n)
        sample = DensityMechanism(epsilon=epsilon, k=k, base="histograms")
        return cls(bins=bins, mechanism=sample, units=n, neighbours=neighbouring_relation(neighbours))

    @property
    def domain(self) -> PublicDomain:
        """What values are clipped into."""
        return self.bins.domain

    @property
    def event(self) -> BoundedRangeEvent | PureEvent:
        """What one release costs, for accounting; to be charged before `draw` is called."""
        return self.mechanism.event

    @property
    def sample_size(self) -> int | None:
        """How many points are drawn; None for a noisy histogram."""
        return self.mechanism.k if isinstance(self.mechanism, DensityMechanism) else None

    @property
    def error_bound(self) -> float:
        """`error_bound_at` the confidence of a release."""
        return self.error_bound_at(CONFIDENCE)

    def error_bound_at(self, confidence: float) -> float:
        r"""With probability `confidence`, whatever the data.

        For noisy counts: the largest distance of any of them from the truth, in units. For a sample: the
        Kolmogorov-Smirnov distance, at most
        :math:`1/(2k) + \frac{2}{\varepsilon n} (\ln \binom{k + m}{m} - \ln(1 - c))` with confidence c, and at most 1.

        Proof: ``proofs/density.md``, "At a table".
        """
        if isinstance(self.mechanism, NoisyHistogramMechanism):
            try:
                return float(self.mechanism.error_bound(self.bins.count, confidence=confidence))
            except OverflowError:
                expected = "an epsilon for which the error fits into a number"
                raise InvalidParameterError("epsilon", self.mechanism.epsilon, expected) from None
        assert self.units is not None
        assert self.mechanism.k is not None
        k, m = self.mechanism.k, self.bins.count
        samples = math.lgamma(k + m + 1.0) - math.lgamma(k + 1.0) - math.lgamma(m + 1.0)
        worst = 0.5 / k + 2.0 / self.mechanism.epsilon / self.units * (samples - math.log1p(-confidence))
        return min(1.0, worst * (1.0 + 1e-9))

    @cached_property
    def terms(self) -> Terms:
        """What the certificate will contain.

        Proof: ``proofs/density.md``, "At a table", or ``proofs/noisy_histograms.md``.
        """
        is_sample = isinstance(self.mechanism, DensityMechanism)
        extent = {"units": self.units, "sample_size": self.sample_size} if is_sample else {}
        return Terms(
            task=self.name,
            mechanism=type(self.mechanism).__name__,
            epsilon=self.mechanism.epsilon,
            sensitivity=Sensitivity(
                1.0,
                monotonic=not is_sample and self.neighbours is Neighbours.ADD_REMOVE,
                neighbours=self.neighbours,
                proof="proofs/density.md" if is_sample else "proofs/noisy_histograms.md",
            ),
            candidates=self.bins.description(),
            error_bound=self.error_bound,
            proofs=(),
            arguments={"method": "sample" if is_sample else "counts", "max_rows_per_unit": 1, **extent},
            usable=self._usable,
        )

    @property
    def _usable(self) -> NoisyUnits | None:
        """How far the sum of noisy counts is from the number of units, unless that says nothing."""
        if not isinstance(self.mechanism, NoisyHistogramMechanism):
            return None
        within = self.mechanism.total_error_bound(self.bins.count, confidence=CONFIDENCE)
        return NoisyUnits(within=within) if within <= LARGEST_COUNT else None

    def summaries(self, rows: RowReader, groups: PublicGroups | None, /) -> list[UnitValues]:
        """Values within the bounds, one of each unit."""
        return rows.gather(self.domain, groups, max_rows_per_unit=1)

    def draw(self, summary: UnitValues, /) -> Answered:
        """The share of each bin, by values gathered with this question's domain, one of each unit."""
        return self.released(summary).answer

    def released(self, summary: UnitValues, /) -> Drawn:
        """The share of each bin. The sum of noisy counts is a noisy number of units, and costs nothing."""
        counts = self.bins.tally(gathered_for(summary, self.domain, most=1).values)
        if isinstance(self.mechanism, NoisyHistogramMechanism):
            noisy = self.mechanism.draw(counts)
            return Drawn(shares(noisy).tolist(), [min(max(0, sum(noisy.tolist())), LARGEST_COUNT)])
        assert self.units is not None
        sample = self.mechanism.draw(with_absent(counts, units=self.units))
        return Drawn((sample[:-1] / sample.sum()).tolist())

    label: ClassVar[str] = "bin"

    @classmethod
    def keys(cls, release: Planned, count: int) -> Iterable[str]:
        """See `Question.keys`. Where each bin begins and ends, with the digits that tell them apart."""
        lower, upper, bins = (release.candidates[name] for name in ("lower", "upper", "count"))
        width = upper / bins - lower / bins
        digits = min(max(0, 2 - math.floor(math.log10(width))), 300)
        shown = [f"{lower + place * width:.{digits}f}" for place in range(bins + 1)]
        edges = [each.rstrip("0").rstrip(".") if "." in each else each for each in shown]
        return [f"{begin} to {end}" for begin, end in pairwise(edges)]

    @classmethod
    def shown(cls, value: Value) -> Value:
        """See `Question.shown`."""
        return round(value, 6) if isinstance(value, float) else value

    @classmethod
    def error_unit(cls, release: Planned) -> str | None:
        """See `Question.error_unit`."""
        return "share" if _is_sample(release) else None

    @classmethod
    def within(cls, release: Planned, bound: float) -> str:
        """See `Question.within`."""
        if _is_sample(release):
            up = math.ceil(bound * 1e4) / 1e4
            return f"the share of the units below any edge of a bin is within {up:g} of the truth"
        return f"the noisy count of each bin is within {math.floor(bound):,} of the truth"

    @classmethod
    def counting(cls, release: Planned) -> str:
        """See `Question.counting`."""
        return counting_rows(release)

    @classmethod
    def origin(cls, release: Planned) -> str:
        """See `Question.origin`."""
        return from_rows(release, counted(release.candidates["count"], "bin"))

    def possible(self, values: list[Any], units: int | None, counts: list[int] | None) -> bool:
        """See `Question.possible`.

        Shares of all units are multiples of half a unit (see `shares`), and all equal without any; of a sample they are
        whole numbers of its points, without those that have no value.
        """
        if len(values) != self.bins.count or not all(isinstance(each, float) and 0.0 <= each <= 1.0 for each in values):
            return False
        total = math.fsum(values)
        if self.sample_size is not None:
            parts = [each * self.sample_size for each in values]
            return total <= 1.0 + 1e-9 and all(abs(each - round(each)) <= 1e-6 for each in parts)
        if abs(total - 1.0) > 1e-9 or not units:
            return abs(total - 1.0) <= 1e-9 and (units is None or min(values) == max(values))
        halves = [2 * each * units for each in values]
        return units == LARGEST_COUNT or all(abs(each - round(each)) <= 1e-6 + 1e-14 * units for each in halves)


def _is_sample(release: Planned) -> bool:
    return release.arguments.get("method") == "sample"


def with_absent(counts: NDArray[np.int64], *, units: int) -> NDArray[np.int64]:
    """The histogram of a public number of units: units without a value are in one extra bin, at the end.

    If there are more units than that, those in the highest bins are left out. In any case, adding, removing or moving
    one unit changes each cumulative count by at most 1.

    >>> with_absent(np.array([2, 3]), units=6), with_absent(np.array([2, 3]), units=4)
    (array([2, 3, 1]), array([2, 2, 0]))
    """
    reached = np.minimum(np.cumsum(counts), units)
    return np.diff(np.concatenate([[0], reached, [units]])).astype(np.int64)
