"""The best price of a list: permute-and-flip on the revenue of each price."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from dpselect.accounting import BoundedRangeEvent, LaplaceProfileEvent
from dpselect.checks import positive_count, positive_sensitivity
from dpselect.errors import InvalidScoresError
from dpselect.mechanisms.permute_and_flip import PermuteAndFlip
from dpselect.mechanisms.price_units import Price, PriceUnits
from dpselect.mechanisms.quantile import refused_values, with_nan
from dpselect.mechanisms.scaled import MechanismValue, scale_of
from dpselect.mechanisms.score_vectors import ScoresLike, native_scores
from dpselect.privacy import Neighbours, neighbouring_relation

_LARGEST = 2**63 - 1

_CHUNK = 1 << 16
"""Number of offers looked up at a time, so that memory does not grow with the number of offers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PriceListMechanism(MechanismValue):
    r"""Draws one of a public list of prices by its revenue :math:`p \cdot \#\{\text{offers} \ge p\}`.

    For something that costs nothing to copy: everybody who offers at least the price buys, and pays the price. Drawn by
    permute-and-flip. The noise grows with the highest price, so leave out prices that you would not charge.

    Args:
        epsilon: privacy loss of one draw, > 0.
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
        """What one draw costs, for accounting; it does not depend on the data."""
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

        Raises:
            InvalidDataError: as for `draw`.

        >>> PriceListMechanism(epsilon=1.0, prices=[1, 2]).pmf([])
        array([0.5, 0.5])
        """
        return self._mechanism.pmf(self._revenues(offers))

    def expected_error(self, offers: ScoresLike) -> float:
        """Expected distance of the drawn price's revenue below the best; depends on the offers, so for planning only.

        Raises:
            InvalidDataError: as for `draw`.
        """
        return self._mechanism.expected_error(self._revenues(offers)) * float(self._listed.unit)

    def error_bound(self, confidence: float = 0.99) -> float:
        """With probability `confidence` the drawn price's revenue is at most this far below the best.

        It holds whatever the offers, so it may be published. Revenues are whole multiples of the prices' common unit,
        and so is this bound. It is infinite if it does not fit into a double.

        Raises:
            InvalidParameterError: `confidence` is not strictly between 0 and 1.

        Proof: ``proofs/best_price.md`` and ``proofs/error_bounds.md``.

        >>> PriceListMechanism(epsilon=0.5, prices=[0.5, 0.75, 1]).error_bound()
        6.75
        """
        return self.bound_of(self.count, unit=self._listed.unit, confidence=confidence)

    def bound_of(self, count: int, *, unit: Fraction, confidence: float) -> float:
        """`error_bound` of a list of `count` prices with the common `unit`, and the same lowest and two highest prices.

        The bound depends on no other price, so a certificate that states these can be checked. `unit` divides the
        common unit of the prices here.
        """
        parts = self._listed.unit / unit
        score_range = max(1, int(self._score_range * parts))
        mechanism = PermuteAndFlip(epsilon=self.epsilon, sensitivity=score_range, monotonic=True)
        within = mechanism.error_bound(count, confidence=confidence)
        if within >= _LARGEST:  # up to where revenues are distinguished
            return math.inf
        try:
            return _as_written(math.floor(within) * unit)
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
