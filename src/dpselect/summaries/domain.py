"""The public set of possible answers: all numbers between two bounds, or a grid between them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpselect.checks import finite_bounds, positive_count
from dpselect.errors import InvalidParameterError, Shown
from dpselect.grids import Grid
from dpselect.summaries.dates import DAY_ZERO, are_dates, first_and_last


@dataclass(frozen=True, slots=True)
class PublicDomain:
    """All numbers from `lower` to `upper`, or a grid of them.

    Attributes:
        lower: smallest answer; smaller values count as this.
        upper: largest answer; larger values count as this.
        grid: the answers ``lower, lower + step, ..., upper``, and each value counts as the nearest; None: no grid.
        is_open: whether the caller gave no upper bound.
        dated: whether the numbers stand for dates, as days since 1970.

    >>> PublicDomain.given((0, 120), step=1).grid.count
    121
    >>> PublicDomain.given(("2026-01-01", "2026-12-31"), step=1, may_be_dates=True).grid.count
    365
    """

    lower: float
    upper: float
    grid: Grid | None = None
    is_open: bool = False
    dated: bool = False

    @classmethod
    def given(cls, bounds: object, *, step: object = None, may_be_dates: bool = False) -> PublicDomain:
        """The domain given by `bounds` and `step`.

        Args:
            bounds: two finite numbers, the smaller first.
            step: a number that divides their distance, with both read as decimals.
            may_be_dates: whether the bounds may also be two dates; the step is in days then.

        Raises:
            InvalidParameterError: `bounds` or `step` is invalid.

        >>> PublicDomain.given((0, 1), step=0.1).grid.point(3)
        0.3
        """
        dated = may_be_dates and are_dates(bounds)
        if dated:
            first, last = first_and_last(bounds)
            if first == last:
                raise InvalidParameterError(
                    "bounds", Shown(f"({first}, {last})"), "two dates, the first before the last"
                )
            bounds = (first - DAY_ZERO).days, (last - DAY_ZERO).days
            step = positive_count(step, "step")
        lower, upper = finite_bounds(bounds)
        grid = None if step is None else Grid.dividing(lower, upper, step=step)
        return cls(float(lower), float(upper), grid, dated=dated)

    def shown(self, number: float) -> float | date:
        """A number of the domain as it is released."""
        return DAY_ZERO + timedelta(days=int(number)) if self.dated else number

    def may_hold(self, value: object) -> bool:
        """Whether it is one of them, as it would be released."""
        if self.dated:
            value = (value - DAY_ZERO).days if type(value) is date else None
        if not isinstance(value, int | float) or isinstance(value, bool) or not self.lower <= value <= self.upper:
            return False
        return self.grid is None or self.grid.point(self.grid.position(value)) == value

    @property
    def arguments(self) -> dict[str, Any]:
        """`bounds` and `step` of a mechanism that draws from it, exactly as they were given."""
        if self.grid is None:
            return {"bounds": (self.lower, self.upper)}
        return {"bounds": (self.grid.lower, self.grid.upper), "step": self.grid.step}

    def description(self) -> dict[str, Any]:
        """The candidates in a certificate."""
        bounds: dict[str, Any] = {"lower": self.lower, "upper": self.upper}
        if self.grid is None:
            return {"source": "bounds", **bounds}
        if self.dated:
            bounds = {"kind": "dates", **{end: str(self.shown(number)) for end, number in bounds.items()}}
        return {"source": "grid", **bounds, "step": float(self.grid.step), "count": self.grid.count}


MOST_BINS = 1 << 20

_TENS = range(-9, 18)
"""Powers of ten that begin a factor of ten which is cut into growing bins."""

_MOST_PER_TEN = 1000


@dataclass(frozen=True, slots=True)
class PublicBins:
    """`count` bins of equal width from `lower` to `upper`.

    A number belongs to the bin that begins at the largest edge not above it, and `upper` to the last one.

    Attributes:
        lower: where the first bin begins; smaller numbers belong to it, too.
        upper: where the last one ends; larger numbers belong to it, too.
        count: how many bins there are.

    >>> bins = PublicBins.given((0, 1), 10)
    >>> bins.edges[[0, 3, 10]]
    array([0. , 0.3, 1. ])
    >>> bins.tally(np.array([0.3, 0.29, 1.0, -5.0]))
    array([1, 0, 1, 1, 0, 0, 0, 0, 0, 1])
    """

    lower: Fraction
    upper: Fraction
    count: int

    @classmethod
    def given(cls, bounds: object, bins: object) -> PublicBins:
        """The bins given by `bounds` and the number of `bins`; floats are read as decimals.

        Raises:
            InvalidParameterError: `bounds` is not two finite numbers, the smaller first, or `bins` is not a number of
                bins that doubles can distinguish, at most 2^20.
        """
        lower, upper = finite_bounds(bounds)
        cut = cls(lower, upper, positive_count(bins, "bins", at_most=MOST_BINS))
        if not np.all(np.diff(cut.edges) > 0.0):
            raise InvalidParameterError("bins", bins, "bins that doubles within the bounds can distinguish")
        return cut

    @property
    def edges(self) -> NDArray[np.float64]:
        """Shape ``(count + 1,)``: the doubles nearest to ``lower + j * (upper - lower) / count``."""
        width = (self.upper - self.lower) / self.count
        return np.array([float(self.lower + place * width) for place in range(self.count + 1)])

    @property
    def domain(self) -> PublicDomain:
        """What values are clipped into before they are counted."""
        return PublicDomain(float(self.lower), float(self.upper))

    def tally(self, values: NDArray[np.float64]) -> NDArray[np.int64]:
        """How many of `values` belong to each bin, shape ``(count,)``. Decided for each value alone."""
        return np.bincount(self.places(values), minlength=self.count).astype(np.int64, copy=False)

    def places(self, values: NDArray[np.float64]) -> NDArray[np.int64]:
        """Which bin each of `values` belongs to, from 0, shape ``(values,)``. Decided for each value alone."""
        return np.searchsorted(self.edges[1:-1], values, side="right").astype(np.int64, copy=False)

    def description(self) -> dict[str, Any]:
        """What a certificate says of the candidates."""
        return {"source": "bins", "lower": float(self.lower), "upper": float(self.upper), "count": self.count}


@dataclass(frozen=True, slots=True)
class GrowingBins:
    """Bins of all numbers, without bounds: the same number of bins from 10 to 100 as from 0.01 to 0.1.

    Zero has a bin of its own. For each sign, so have numbers with an absolute value below 10^-9, and those from 10^18
    on. A number belongs to the bin that begins at the largest edge not above it.

    Attributes:
        per_ten: how many bins there are for each factor of ten.

    >>> bins = GrowingBins.given(1)
    >>> (bins.places(np.array([-20.0, 0.0, 0.02, 0.07, 3.0, 20.0, 90.0])) - bins.places(np.array([0.0]))).tolist()
    [-12, 0, 9, 9, 11, 12, 12]
    """

    per_ten: int

    @classmethod
    def given(cls, bins: object) -> GrowingBins:
        """So many bins for each factor of ten.

        Raises:
            InvalidParameterError: not a whole number from 1 to 1000.
        """
        return cls(positive_count(bins, "bins", at_most=_MOST_PER_TEN))

    @property
    def count(self) -> int:
        """How many bins there are in all."""
        return _growing_edges(self.per_ten).size + 1

    def places(self, values: NDArray[np.float64]) -> NDArray[np.int64]:
        """Which bin each of `values` belongs to, from 0, shape ``(values,)``. Decided for each value alone."""
        return np.searchsorted(_growing_edges(self.per_ten), values, side="right").astype(np.int64, copy=False)


@cache
def _growing_edges(per_ten: int) -> NDArray[np.float64]:
    """The doubles nearest to powers of ten and so many numbers between them, and to their negatives."""
    with localcontext() as context:
        context.prec = 40
        exponents = range(_TENS.start * per_ten, _TENS.stop * per_ten + 1)
        sizes = np.array([float(Decimal(10) ** (Decimal(each) / per_ten)) for each in exponents])
    smallest = np.nextafter(0.0, 1.0)  # zero is between it and 0
    edges = np.concatenate([-sizes[::-1], [0.0, smallest], sizes])
    edges.setflags(write=False)
    return edges
