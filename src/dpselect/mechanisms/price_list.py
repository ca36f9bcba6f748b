"""The best price of a list: permute-and-flip on the revenue of each price."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from dpselect.accounting import BoundedRangeEvent, LaplaceProfileEvent
from dpselect.arguments import positive_count, positive_sensitivity
from dpselect.errors import InvalidDataError, InvalidScoresError, Shown
from dpselect.mechanisms.permute_and_flip import PermuteAndFlip
from dpselect.mechanisms.price_units import LARGEST_REVENUE, Price, PriceUnits
from dpselect.mechanisms.score_vectors import ScoresLike, exact_array
from dpselect.mechanisms.values import MechanismValue
from dpselect.privacy import Neighbours, neighbouring_relation

_CHUNK = 1 << 16
"""Offers looked up at a time, so that memory does not grow with their number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PriceListMechanism(MechanismValue):
    r"""Draws one of a public list of prices by its revenue :math:`p \cdot \#\{\text{offers} \ge p\}`.

    The price of something that costs nothing to copy: everybody whose offer is at least the price buys, at that price.
    Drawn by permute-and-flip, with noise of the size of the highest price: leave out prices that are not in question.

    Args:
        epsilon: privacy loss of one draw, > 0.
        prices: positive numbers, all different, public: never the offers themselves. A float means the decimal it is
            written as. They have to be whole multiples, at most 2^31 - 1, of a common unit such as a cent.
        neighbours: which data sets the guarantee compares. The noise is the same for both: although replacing a
            unit may raise some revenues and lower others, no two move apart by more than the sensitivity.
        values_per_unit: the most offers that are one unit's.

    Raises:
        InvalidCandidatesError: `prices` are not such a list.
        InvalidParameterError: another argument is out of range.

    Proof: ``proofs/best_price.md``. Source: McSherry & Talwar (2007).

    >>> mechanism = PriceListMechanism(epsilon=1.0, prices=[1, 2.5, 4])
    >>> mechanism.sensitivity, mechanism.scale
    (4.0, 4.0)
    >>> offers = [3.0] * 100 + [1.0] * 20  # revenues: 120, 250 and 0
    >>> mechanism.draw(offers)
    2.5
    """

    epsilon: float
    prices: Iterable[Price]
    neighbours: Neighbours = Neighbours.ADD_REMOVE
    values_per_unit: int = 1
    _listed: PriceUnits = field(init=False, repr=False, compare=False)
    _mechanism: PermuteAndFlip = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        neighbours = neighbouring_relation(self.neighbours)
        values_per_unit = positive_count(self.values_per_unit, "values_per_unit")
        listed = PriceUnits.of(self.prices)
        # Under both relations the range of the scores is the sensitivity (the proof page, claims 1 and 2), which is
        # all the scale of monotone scores asks for.
        sensitivity = values_per_unit * listed.highest
        mechanism = PermuteAndFlip(epsilon=self.epsilon, sensitivity=sensitivity, monotonic=True)
        self._set("epsilon", mechanism.epsilon)
        self._set("prices", listed.prices)
        self._set("neighbours", neighbours)
        self._set("values_per_unit", values_per_unit)
        self._set("_listed", listed)
        self._set("_mechanism", mechanism)

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
    def sensitivity(self) -> float:
        """How far the revenue of any price moves between neighbours: the highest price times `values_per_unit`."""
        return positive_sensitivity(self.values_per_unit * self._listed.highest * self._listed.unit)

    @property
    def scale(self) -> float:
        """The scale b = sensitivity / epsilon, in units of revenue."""
        return self._mechanism.scale * float(self._listed.unit)

    @property
    def event(self) -> BoundedRangeEvent | LaplaceProfileEvent:
        """What one draw costs, for accounting; it knows nothing of the data."""
        return self._mechanism.event

    def draw(self, offers: ScoresLike) -> int | float:
        """Draw a price, at the cost of `epsilon`.

        Args:
            offers: shape ``(n,)``, the most that each buyer would pay: numbers of any float or integer type, compared
                with the prices as doubles, so that who offers 0.1 buys at 0.1. Those below the lowest price, also
                negative ones, never buy. ``n = 0`` is allowed: all prices are equally likely then.

        Returns:
            One of the prices: an ``int`` where it was given as one, else a float.

        Raises:
            InvalidDataError: not one-dimensional, not numbers, or NaN among them. Nothing is drawn then.

        One pass over the offers. Proof that the draw is exact: ``proofs/exact_sampling.md``.
        """
        price = self._listed.prices[self._mechanism.select(self._revenues(offers))]
        return price if isinstance(price, int) else float(price)

    def pmf(self, offers: ScoresLike) -> NDArray[np.float64]:
        """Probability of each price, in the order given. For planning on public offers and for tests.

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

        Whatever the offers; so it may be published. Revenues are whole multiples of the prices' common unit, and so is
        this bound. Infinite where no double can hold it.

        Raises:
            InvalidParameterError: `confidence` is not strictly between 0 and 1.

        Proof: ``proofs/best_price.md`` and ``proofs/error_bounds.md``.

        >>> PriceListMechanism(epsilon=0.5, prices=[0.5, 0.75, 1]).error_bound()
        9.0
        """
        within = self._mechanism.error_bound(self.count, confidence=confidence)
        try:
            return _as_written(math.floor(within) * self._listed.unit)
        except OverflowError:  # no whole number, or no double
            return math.inf

    def _revenues(self, offers: ScoresLike) -> NDArray[np.int64]:
        """Of each price, in the order given and in common units: shape ``(m,)``, exact.

        Buyers beyond ``LARGEST_REVENUE // highest``, more than 2^32 of them, count no more: like the number itself
        this moves by at most one with each offer, where an overflow would wrap around and an error would tell of it.
        """
        listed = self._listed
        buyers = np.minimum(_buyers(_plain_offers(offers), listed.thresholds), LARGEST_REVENUE // listed.highest)
        revenues = np.empty_like(listed.multiples)
        revenues[listed.order] = listed.multiples[listed.order] * buyers
        return revenues


def _buyers(offers: NDArray[np.float64 | np.int64 | np.uint64], thresholds: NDArray[np.float64]) -> NDArray[np.int64]:
    """How many offers are at least each of the increasing `thresholds`."""
    reached = np.zeros(thresholds.size + 1, np.int64)  # at [j]: offers that reach exactly the j lowest
    for start in range(0, offers.size, _CHUNK):
        part = offers[start : start + _CHUNK].astype(np.float64)
        if np.isnan(part).any():
            raise InvalidDataError(
                "offers", Shown("<NaN among them>"), "numbers", "Leave such rows out by a rule beforehand."
            )
        reached += np.bincount(np.searchsorted(thresholds, part, side="right"), minlength=reached.size)
    return np.cumsum(reached[::-1])[::-1][1:]


def _plain_offers(offers: ScoresLike) -> NDArray[np.float64 | np.int64 | np.uint64]:
    try:
        return exact_array(offers)
    except InvalidScoresError as refused:
        expected = refused.expected.replace("score for every candidate", "number in every place")
        problem = InvalidDataError("offers", refused.got, expected)
    raise problem


def _as_written(exact: Fraction) -> float:
    """The double that is written as `exact`, or else the next above."""
    nearest = float(exact)
    return nearest if Fraction(repr(nearest)) >= exact else math.nextafter(nearest, math.inf)
