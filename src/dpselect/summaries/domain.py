"""Public numbers and dates: between two bounds, in bins, and what a unit may add to a sum; and how texts are read."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cache
from itertools import pairwise
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from dpselect.arguments import CandidateKind
from dpselect.checks import decimal_fraction, finite_bounds, fraction_up, members_in_order, positive_count
from dpselect.errors import InvalidCandidatesError, InvalidParameterError, Shown, typed
from dpselect.grids import Grid
from dpselect.summaries.candidates import DATES, Member, PublicCandidates, as_date

DAY_ZERO = date(1970, 1, 1)  # from which days are counted where dates are drawn as numbers


def public_dates(dates: object, *, bounds: object = None, step: object = 1) -> PublicCandidates:
    """The dates given by the caller: a list, or each `step` days from the first of two `bounds` to the last.

    Each is a ``datetime.date``, a text such as ``"2026-11-21"`` or a timestamp at midnight.
    """
    if (dates is None) == (bounds is None):
        got = Shown("None" if dates is None else "<given together with bounds>")
        expected = "either a public list of dates, or `bounds`: the first and the last date"
        raise InvalidCandidatesError("dates", got, expected, "They are never read from the column.")
    days = positive_count(step, "step", at_most=3_660_000)  # no calendar has more days
    if bounds is None:
        if days != 1:
            raise InvalidParameterError("step", days, "1 with a list of dates", "A step is for bounds.")
        public = PublicCandidates.given(dates, argument="dates", days=True)
        if public.kind is not CandidateKind.DATE:
            raise InvalidCandidatesError("dates", Shown(f"<{len(public):,} {public.kind}>"), DATES)
        return public
    first, last = first_and_last(bounds)
    listed = [first + timedelta(days=day) for day in range(0, (last - first).days + 1, days)]
    return PublicCandidates.given(listed, argument="dates")


def are_dates(bounds: object) -> bool:
    """Whether bounds are meant as dates and not as numbers: at least one of them is a date or a text."""
    ends = cast("Sequence[object]", bounds) if isinstance(bounds, tuple | list) else ()
    return any(isinstance(end, str | date | np.datetime64) for end in ends)


def first_and_last(bounds: object) -> tuple[date, date]:
    """The first and the last date, or an error: the first may not be after the last."""
    ends = [as_date(end) for end in cast("Sequence[object]", bounds)] if isinstance(bounds, tuple | list) else []
    match ends:
        case [date() as first, date() as last] if first <= last:
            return first, last
        case _:
            hint = "The first must not be after the last."
            raise InvalidParameterError("bounds", Shown("<no such dates>"), f"two {DATES}", hint)


@dataclass(frozen=True, slots=True)
class PublicDomain:
    """All numbers from `lower` to `upper`, or a grid of them; values beyond count as the nearest of them."""

    lower: float
    upper: float
    grid: Grid | None = None  # the answers, if not all: each value counts as the nearest
    is_open: bool = False  # the caller gave no upper bound
    dated: bool = False  # the numbers stand for dates, as days since 1970

    @classmethod
    def given(cls, bounds: object, *, step: object = None, may_be_dates: bool = False) -> PublicDomain:
        """The domain between two finite numbers or, where they `may_be_dates`, two dates with a step in days.

        The `step` has to divide their distance; all are read as decimals.
        """
        dated = may_be_dates and are_dates(bounds)
        if not dated:
            lower, upper = finite_bounds(bounds)
        else:
            first, last = first_and_last(bounds)
            if first == last:
                got = Shown(f"({first}, {last})")
                raise InvalidParameterError("bounds", got, "two dates, the first before the last")
            if step is None:
                raise InvalidParameterError("continuous", True, "nothing, because the bounds are dates")
            if decimal_fraction(step, "step", expected="a whole number of days").denominator > 1:
                raise InvalidParameterError("step", step, "a whole number of days")
            lower, upper = (Fraction((each - DAY_ZERO).days) for each in (first, last))
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


MOST_BINS, MOST_EDGES = 1 << 20, 10_001
_TENS = range(-9, 18)  # powers of ten that begin a factor of ten which is cut into growing bins


@dataclass(frozen=True, slots=True)
class PublicBins:
    """Bins that follow each other: a number belongs to the one that begins at the largest edge not above it.

    Numbers beyond the outer edges belong to the outer bins; if `is_closed`, to none, and the last edge to the last bin.
    """

    edges: tuple[float, ...]  # in ascending order; the outer ones are infinite where there are no bounds
    is_closed: bool = False

    @classmethod
    def given(cls, bounds: object, bins: object) -> PublicBins:
        """So many bins of equal width between two bounds, which are read as decimals."""
        lower, upper = finite_bounds(bounds)
        count = positive_count(bins, "bins", at_most=MOST_BINS)
        width = (upper - lower) / count
        edges = tuple(float(lower + place * width) for place in range(count + 1))
        if not all(one < next_one for one, next_one in pairwise(edges)):
            raise InvalidParameterError("bins", bins, "bins that doubles within the bounds can distinguish")
        return cls(edges)

    @classmethod
    def between(cls, edges: object) -> PublicBins:
        """The bins between the numbers given by the caller, and no others."""
        expected = f"2 to {MOST_EDGES:,} different finite numbers in ascending order, such as `bins=[0, 18, 65]`"
        listed = cast("list[object]", members_in_order(edges, "bins", expected="a list of numbers"))
        found = tuple(float(decimal_fraction(each, "bins", expected=expected)) for each in listed[: MOST_EDGES + 1])
        if not 2 <= len(listed) <= MOST_EDGES or not all(one < next_one for one, next_one in pairwise(found)):
            raise InvalidParameterError("bins", Shown(f"<list of {len(listed):,}>"), expected)
        return cls(found, is_closed=True)

    @classmethod
    def growing(cls, bins: object) -> PublicBins:
        """Bins of all numbers, without bounds: the same number of bins from 10 to 100 as from 0.01 to 0.1.

        Zero has a bin of its own. For each sign, so have numbers with an absolute value below 10^-9, and those from
        10^18 on. Each factor of ten has so many `bins`, from 1 to 1000.
        """
        return cls(_growing_edges(positive_count(bins, "bins", at_most=1000)))

    @property
    def count(self) -> int:
        return len(self.edges) - 1

    @property
    def domain(self) -> PublicDomain:
        """What values are clipped into before they are counted: far outside of bins to which they do not belong."""
        lower, upper = self.edges[0], self.edges[-1]
        width = 2.0 * (upper - lower) if self.is_closed else 0.0  # once would be rounded away from between two doubles
        return PublicDomain(lower - width, upper + width)

    def tally(self, values: NDArray[np.float64]) -> NDArray[np.int64]:
        """How many of `values` belong to each bin, shape ``(count,)``. Decided for each value alone."""
        if self.is_closed:
            values = values[(values >= self.edges[0]) & (values <= self.edges[-1])]
        return np.bincount(self.places(values), minlength=self.count).astype(np.int64, copy=False)

    def places(self, values: NDArray[np.float64]) -> NDArray[np.int64]:
        """Which bin each of `values` belongs to, from 0, shape ``(values,)``. Decided for each value alone."""
        return np.searchsorted(self.edges[1:-1], values, side="right").astype(np.int64, copy=False)

    def description(self) -> dict[str, Any]:
        ends = {"lower": self.edges[0], "upper": self.edges[-1], "count": self.count}
        return {"source": "edges", **ends, "edges": [*self.edges]} if self.is_closed else {"source": "bins", **ends}


@cache
def _growing_edges(per_ten: int) -> tuple[float, ...]:
    """The doubles nearest to powers of ten and so many numbers between them, and to their negatives."""
    with localcontext() as context:
        context.prec = 40
        exponents = range(_TENS.start * per_ten, _TENS.stop * per_ten + 1)
        sizes = [float(Decimal(10) ** (Decimal(each) / per_ten)) for each in exponents]
    smallest = math.ulp(0.0)  # zero is between it and 0
    return (-math.inf, *(-size for size in reversed(sizes)), 0.0, smallest, *sizes, math.inf)


_LARGEST = 2**31


@dataclass(frozen=True, slots=True)
class PublicClip:
    """Amounts as whole numbers: a number of `column` times `scale`, rounded, and clipped to `lower` ... `upper`.

    At a scale of 100 they are cents. The ends are also the least and the most that one unit's rows may add together.
    """

    column: str
    scale: Fraction
    lower: int
    upper: int

    @classmethod
    def given(cls, column: object, clip: object, *, scale: object = 1) -> PublicClip:
        """The clip given by the caller, in the unit of the column; floats are read as decimals."""
        if not isinstance(column, str):
            raise InvalidParameterError("sum", column, "the name of a column, as text")
        try:
            lower, upper = finite_bounds(clip, "clip")
        except InvalidParameterError as refused:
            hint = "They are public: what one unit may add at least and at most, such as `clip=(0, 80)`."
            raise InvalidParameterError("clip", refused.got, refused.expected, hint) from None
        expected = "a decimal number > 0, such as 100 or 0.001"
        factor = decimal_fraction(scale, "scale", expected=expected)
        if not factor > 0 or decimal_fraction(float(factor), "scale", expected=expected) != factor:
            raise InvalidParameterError("scale", scale, expected)
        ends = lower * factor, upper * factor
        if not all(end.denominator == 1 and abs(end) <= _LARGEST for end in ends):
            got = Shown(f"({float(lower)!r}, {float(upper)!r})")
            if any(abs(end) > _LARGEST for end in ends):
                hint = "Count in larger units, with a smaller scale: `scale=0.001` for thousands."
            else:
                hint = "To count hundredths: `scale=100`." if factor == 1 else ""
            raise InvalidParameterError(
                "clip", got, "bounds that are whole when multiplied by the scale, from -2^31 to 2^31", hint
            )
        return cls(column, factor, *map(int, ends))

    @property
    def ends(self) -> tuple[Fraction, Fraction]:
        """The bounds in the unit of the column."""
        return self.lower / self.scale, self.upper / self.scale

    def in_units(self, amount: float) -> float:
        """A scaled `amount` in the unit of the column: the double that is written as it, or else the next above."""
        exact = Fraction(amount) / self.scale
        nearest = fraction_up(exact)
        below = math.nextafter(nearest, -math.inf)
        return below if math.isfinite(nearest) and Fraction(repr(below)) == exact else nearest

    def description(self) -> dict[str, Any]:
        """What a certificate says of it: the bounds in scaled whole numbers."""
        return {"sum": self.column, "scale": float(self.scale), "lower": self.lower, "upper": self.upper}


def candidate_kind(value: object) -> CandidateKind:
    """The kind that a caller names: one of ``text``, ``integer``, ``number``, ``date`` and ``boolean``."""
    for kind in CandidateKind:
        if isinstance(value, str) and value in (kind.name.lower(), kind.value):
            return kind
    words = ", ".join(repr(kind.name.lower()) for kind in CandidateKind)
    raise InvalidCandidatesError("kind", typed(value), f"one of {words}")


DECIMAL = re.compile(r"\s*[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?\s*")
INTEGER = re.compile(r"\s*[+-]?[0-9]{1,19}\s*")
_WRITTEN_AS_A_NUMBER = re.compile(r"\s*[+-]?(0|[1-9][0-9]{0,18})\s*")  # with a zero before other digits it is a code


def kind_of(
    texts: Sequence[str], choice: tuple[CandidateKind, CandidateKind] = (CandidateKind.INTEGER, CandidateKind.TEXT)
) -> CandidateKind:
    """The first of `choice`, whole numbers, if all texts are written like one; otherwise the second."""
    return choice[not all(map(_WRITTEN_AS_A_NUMBER.fullmatch, texts))]


def _number(text: str) -> float:
    """The nearest double; but no whole number in place of another one."""
    nearest = float(text)
    if 2**52 < abs(nearest) < math.inf and Decimal(text) not in (Decimal(nearest), Decimal(repr(nearest))):
        raise ValueError
    return nearest


CONVERSIONS: dict[CandidateKind, Callable[[str], Member]] = {
    CandidateKind.INTEGER: int,
    CandidateKind.NUMBER: _number,
    CandidateKind.TEXT: str,
    CandidateKind.DATE: lambda text: date.fromisoformat(text.strip()),
    CandidateKind.BOOLEAN: lambda text: bool(("false", "true").index(text.strip().lower())),
}
"""How a text becomes a candidate of each kind; a `ValueError` if it is not one."""
