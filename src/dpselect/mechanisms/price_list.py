"""The best price of a list: permute-and-flip on the revenue of each price, in whole multiples of one common unit."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import islice
from numbers import Integral
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from dpselect.accounting import BoundedRangeEvent, LaplaceProfileEvent
from dpselect.checks import decimal_fraction, double_holds, positive_count, positive_sensitivity
from dpselect.errors import InvalidCandidatesError, InvalidParameterError, InvalidScoresError, Shown, describe
from dpselect.mechanisms.base import MechanismValue, scale_of
from dpselect.mechanisms.permute_and_flip import PermuteAndFlip
from dpselect.mechanisms.scores import ScoresLike, native_scores, refused_values, with_nan
from dpselect.privacy import Neighbours, neighbouring_relation

_LARGEST = 2**63 - 1

_CHUNK = 1 << 16  # number of offers looked up at a time, so that memory does not grow with the number of offers


@dataclass(frozen=True, slots=True, kw_only=True)
class PriceListMechanism(MechanismValue):
    r"""Draws one of a public list of prices by its revenue :math:`p \cdot \#\{\text{offers} \ge p\}`.

    For something that costs nothing to copy: everybody who offers at least the price buys, and pays the price. Drawn by
    permute-and-flip. The noise grows with the highest price, so leave out prices that you would not charge.

    Args:
        prices: positive numbers, all different; public, never the offers themselves. Floats are read as decimals. They
            have to be whole multiples, at most the 2^40-th, of a common unit such as a cent.
        neighbours: which data sets the guarantee compares. Replacing needs little more noise than adding or removing:
            some revenues may rise while others fall, but the difference between any two changes by at most the
            sensitivity.
        values_per_unit: maximum number of offers per unit.

    Raises:
        InvalidCandidatesError: `prices` are not such a list.
        InvalidParameterError: another argument is out of range.

    Proof: ``proofs/best_price.md``. Source: McSherry & Talwar (2007).

    >>> mechanism = PriceListMechanism(epsilon=1.0, prices=[1, 2.5, 4])
    >>> mechanism.sensitivity, mechanism.score_range, mechanism.scale
    (4.0, 3.0, 3.0)
    >>> offers = [3.0] * 100 + [1.0] * 20  # revenues: 120, 250 and 0
    >>> mechanism.draw(offers)
    2.5
    """

    epsilon: float
    prices: Iterable[Price]
    neighbours: Neighbours = Neighbours.ADD_REMOVE
    values_per_unit: int = 1
    _listed: PriceUnits = field(init=False, repr=False, compare=False)
    _score_range: int = field(init=False, repr=False, compare=False)
    _mechanism: PermuteAndFlip = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        neighbours = neighbouring_relation(self.neighbours)
        values_per_unit = positive_count(self.values_per_unit, "values_per_unit")
        listed = PriceUnits.of(self.prices)
        if neighbours is Neighbours.ADD_REMOVE:
            range_of_one = max(listed.second_highest, listed.highest - listed.lowest)
        else:
            range_of_one = listed.highest if len(listed.prices) > 1 else 0
        score_range = values_per_unit * range_of_one
        # At the scale score_range / epsilon, which is all that its proof needs. With one price there is no choice.
        mechanism = PermuteAndFlip(epsilon=self.epsilon, sensitivity=max(1, score_range), monotonic=True)
        self._set(epsilon=mechanism.epsilon)
        self._set(prices=listed.prices)
        self._set(neighbours=neighbours)
        self._set(values_per_unit=values_per_unit)
        self._set(_listed=listed)
        self._set(_score_range=score_range)
        self._set(_mechanism=mechanism)
        positive_sensitivity(self._sensitivity)  # refused here, and not only when there are offers

    @property
    def count(self) -> int:
        """How many prices there are."""
        return len(self._listed.prices)

    @property
    def lowest(self) -> float:
        """The lowest price, as the nearest double."""
        return float(self._listed.thresholds[0])

    @property
    def highest(self) -> float:
        """The highest price, as the nearest double."""
        return float(self._listed.thresholds[-1])

    @property
    def second_highest(self) -> float | None:
        """The second highest price, as the nearest double; None if there is only one."""
        return float(self._listed.thresholds[-2]) if self.count > 1 else None

    @property
    def unit(self) -> Fraction:
        """The largest number that all prices are whole multiples of."""
        return self._listed.unit

    @property
    def sensitivity(self) -> float:
        """Largest change of the revenue of any price between neighbours: the highest price times `values_per_unit`."""
        return positive_sensitivity(self._sensitivity)

    @property
    def _sensitivity(self) -> Fraction:
        return self.values_per_unit * self._listed.highest * self._listed.unit

    @property
    def score_range(self) -> float:
        """Largest change of the difference between two revenues between neighbours; the noise is scaled to it.

        Under add/remove it is the second highest price, or the difference between the highest and the lowest if that is
        larger; under replace-one it is the highest price; times `values_per_unit`. 0 if there is only one price.
        """
        return positive_sensitivity(self._score_range * self._listed.unit) if self._score_range else 0.0

    @property
    def scale(self) -> float:
        """The scale b = score_range / epsilon, in units of revenue."""
        return scale_of(self.epsilon, self.score_range, factor=1)

    @property
    def event(self) -> BoundedRangeEvent | LaplaceProfileEvent:
        return self._mechanism.event

    def draw(self, offers: ScoresLike) -> int | float:
        """Draw a price, at the cost of `epsilon`.

        Args:
            offers: shape ``(n,)``, the most that each buyer would pay: numbers of any float or integer type, compared
                with the prices as doubles, so that an offer of 0.1 buys at 0.1. Offers below the lowest price, also
                negative ones, never buy. ``n = 0`` is allowed: all prices are equally likely then.

        Returns:
            One of the prices: an ``int`` if it was given as one, else a float.

        Raises:
            InvalidDataError: `values` is not one-dimensional, not numeric, or contains NaN. Nothing is drawn then.

        One pass over the offers. Proof that the draw is exact: ``proofs/exact_sampling.md``.
        """
        price = self._listed.prices[self._mechanism.select(self._revenues(offers))]
        return price if isinstance(price, int) else float(price)

    def pmf(self, offers: ScoresLike) -> NDArray[np.float64]:
        """Probability of each price, in the order given. For planning with public offers and for tests.

        >>> PriceListMechanism(epsilon=1.0, prices=[1, 2]).pmf([])
        array([0.5, 0.5])
        """
        return self._mechanism.pmf(self._revenues(offers))

    def expected_error(self, offers: ScoresLike) -> float:
        """Expected distance of the drawn price's revenue below the best; depends on the offers: for planning only."""
        return self._mechanism.expected_error(self._revenues(offers)) * float(self._listed.unit)

    def error_bound(self, confidence: float = 0.99) -> float:
        """With probability `confidence` the drawn price's revenue is at most this far below the best.

        It holds whatever the offers, so it may be published. Revenues are whole multiples of the prices' common unit,
        and so is this bound. It is infinite if it does not fit into a double.

        Proof: ``proofs/best_price.md`` and ``proofs/error_bounds.md``.

        >>> PriceListMechanism(epsilon=0.5, prices=[0.5, 0.75, 1]).error_bound()
        6.75
        """
        within = self._mechanism.error_bound(self.count, confidence=confidence)
        if within >= _LARGEST:  # up to where revenues are distinguished
            return math.inf
        try:
            return _as_written(math.floor(within) * self._listed.unit)
        except OverflowError:
            return math.inf

    def _revenues(self, offers: ScoresLike) -> NDArray[np.int64]:
        """The revenue of each price, in the order given and in common units: shape ``(m,)``, exact.

        If they might not fit into 64 bits: their distances from the best, with 2^63 - 1 for larger distances. So
        nothing wraps around, no error reveals the number of offers, and no difference of two revenues changes by more.
        """
        listed = self._listed
        plain = _plain_offers(offers)
        buyers = np.empty_like(listed.multiples)
        buyers[listed.order] = _buyers(plain, listed.thresholds)
        if plain.size <= _LARGEST // listed.highest:
            return listed.multiples * buyers
        exact = listed.multiples.astype(object) * buyers.astype(object)
        return np.maximum(exact - exact.max(), -_LARGEST).astype(np.int64)


def _buyers(offers: NDArray[np.float64 | np.int64 | np.uint64], thresholds: NDArray[np.float64]) -> NDArray[np.int64]:
    """How many offers are at least each of the increasing `thresholds`."""
    reached = np.zeros(thresholds.size + 1, np.int64)  # at [j]: offers that reach exactly the j lowest thresholds
    for start in range(0, offers.size, _CHUNK):
        part = offers[start : start + _CHUNK].astype(np.float64, copy=False)
        if np.isnan(part).any():
            raise with_nan("offers")
        reached += np.bincount(np.searchsorted(thresholds, part, side="right"), minlength=reached.size)
    return np.cumsum(reached[::-1])[::-1][1:]


def _plain_offers(offers: ScoresLike) -> NDArray[np.float64 | np.int64 | np.uint64]:
    try:
        return native_scores(offers)
    except InvalidScoresError as refused:
        problem = refused_values(refused, "offers")
    raise problem


def _as_written(exact: Fraction) -> float:
    """The double that is written like `exact`, or otherwise the next double above."""
    nearest = float(exact)
    return nearest if Fraction(repr(nearest)) >= exact else math.nextafter(nearest, math.inf)


Price = int | float | Fraction

MOST_PRICES = 1_000_000
"""A longer list is refused, because it describes a range."""

MOST_UNITS = 2**40
"""The highest price allowed, in common units. Revenues 2^63 units apart are then millions of highest prices apart."""

_LONGEST_DENOMINATOR = 2200  # bits of a denominator: any double is more than `MOST_UNITS` of a common unit this small
_ACCEPTED = "finite numbers > 0"


@dataclass(frozen=True, slots=True, eq=False)
class PriceUnits:
    """A public list of prices, checked, in the caller's order.

    Attributes:
        prices: each as an ``int`` or the float that is written like it; a `Fraction` where there is no such float.
        multiples: shape ``(m,)``, int64, read-only: each price in units.
        unit: the largest number that all prices are whole multiples of.
        order: positions of the prices from the lowest to the highest.
        thresholds: shape ``(m,)``, float64, increasing: the doubles nearest to the prices.
    """

    prices: tuple[Price, ...]
    multiples: NDArray[np.int64]
    unit: Fraction
    order: NDArray[np.int64]
    thresholds: NDArray[np.float64]

    @classmethod
    def of(cls, prices: object) -> PriceUnits:
        """`prices` as the caller gave them. A float means the decimal number it is written as.

        Raises:
            InvalidCandidatesError: none, too many, not positive numbers, two that are the same double, one beyond 2^52
                that is no double, or with too small a common unit. The text quotes none of them: someone will pass
                the offers by mistake.

        >>> listed = PriceUnits.of([0.5, 0.2, 1])
        >>> listed.multiples.tolist(), listed.unit
        ([5, 2, 10], Fraction(1, 10))
        """
        members = _members(prices)
        exact = [_positive(member, prices) for member in members]
        shown = tuple(_plain(member, number) for member, number in zip(members, exact, strict=True))
        multiples, unit = _in_units(exact, prices)
        order = np.argsort(multiples, kind="stable")
        thresholds = np.array([float(number) for number in exact], np.float64)[order]
        if not (np.diff(thresholds) > 0.0).all():
            raise _refusal(prices, "different prices", "Each at most once, and apart as doubles.")
        for array in (multiples, order, thresholds):
            array.setflags(write=False)
        return cls(shown, multiples, unit, order, thresholds)

    @property
    def highest(self) -> int:
        """The highest price in units."""
        return int(self.multiples[self.order[-1]])

    @property
    def lowest(self) -> int:
        """The lowest price in units."""
        return int(self.multiples[self.order[0]])

    @property
    def second_highest(self) -> int:
        """The second highest price in units; 0 if there is only one."""
        return int(self.multiples[self.order[-2]]) if self.order.size > 1 else 0


_NOT_LISTS: tuple[type, ...] = (type(None), str, bytes, bytearray, Mapping)


def _members(prices: Any) -> list[object]:
    if isinstance(prices, _NOT_LISTS) or hasattr(prices, "columns"):
        raise _refusal(prices, "a public list of prices", "Such as prices=range(1, 101) or prices=[4.5, 5, 6].")
    members = prices
    for method in ("to_list", "tolist"):  # pandas, Polars; NumPy, Arrow
        convert = getattr(prices, method, None)
        if callable(convert):
            members = convert()
            break
    if not isinstance(members, Iterable):
        raise _refusal(prices, "a public list of prices")
    found = list(islice(cast("Iterable[object]", members), MOST_PRICES + 1))  # it may have no end
    if not found:
        raise _refusal(prices, "at least one price")
    if len(found) > MOST_PRICES:
        raise _refusal(prices, f"at most {MOST_PRICES:,} prices")
    return found


def _positive(member: object, prices: object) -> int | Fraction:
    if type(member) is int and 0 < member <= MOST_UNITS:
        return member  # a long range is refused early
    if type(member) is Fraction and 0 < member.numerator < 2**52 and float(member) > 0.0:
        return member if member.denominator > 1 else member.numerator  # of a long grid, too
    try:
        exact = decimal_fraction(member, "prices", expected=_ACCEPTED)
    except InvalidParameterError:
        exact = Fraction(0)
    if not float(exact) > 0.0:  # also a number so small that its double is 0
        raise _refusal(prices, _ACCEPTED, "One of them is not, or is missing, or is no number a double can hold.")
    if not double_holds(exact):
        raise _refusal(prices, "prices that doubles hold", "From 2^53 on, doubles skip whole numbers.")
    return exact


def _plain(member: object, exact: int | Fraction) -> Price:
    if isinstance(member, Integral):
        return int(member)
    nearest = float(exact)
    return nearest if isinstance(exact, int) or Fraction(repr(nearest)) == exact else exact


def _in_units(exact: Sequence[int | Fraction], prices: object) -> tuple[NDArray[np.int64], Fraction]:
    denominator = 1
    for part in {number.denominator for number in exact}:
        denominator = math.lcm(denominator, part)
        if denominator.bit_length() > _LONGEST_DENOMINATOR:
            raise _too_fine(prices)
    numerators = [number.numerator * (denominator // number.denominator) for number in exact]
    divisor = math.gcd(*numerators)
    if max(numerators) // divisor > MOST_UNITS:
        raise _too_fine(prices)
    multiples = np.array([numerator // divisor for numerator in numerators], np.int64)
    return multiples, Fraction(divisor, denominator)


def _too_fine(prices: object) -> InvalidCandidatesError:
    expected = "prices of at most 2^40 times their largest common unit"
    return _refusal(prices, expected, "Round them, to cents say: round(price, 2).")


def _refusal(prices: object, expected: str, hint: str = "") -> InvalidCandidatesError:
    return InvalidCandidatesError("prices", Shown(describe(prices)), expected, hint)
