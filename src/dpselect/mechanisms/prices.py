"""A price by its revenue: of a public list by permute-and-flip, or between bounds by a density."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from numbers import Integral
from typing import cast

import numpy as np

from dpselect import checks
from dpselect._native import _core
from dpselect.accounting import BoundedRangeEvent, LaplaceProfileEvent
from dpselect.errors import InvalidCandidatesError, InvalidParameterError, Shown, describe
from dpselect.mechanisms.mechanism import HasScale, MechanismValue
from dpselect.mechanisms.numbers import FloatArray, IntArray, scale_of, shortest
from dpselect.mechanisms.permute_and_flip import PermuteAndFlip
from dpselect.mechanisms.piecewise import FallLaw, PiecewiseLinearMechanism
from dpselect.mechanisms.scores import ScoresLike, as_sequence, plain_values
from dpselect.privacy import Neighbours

Price = int | float | Fraction

_MOST_PRICES = 1_000_000  # a longer list describes a range
_MOST_UNITS = 2**40  # so revenues 2^63 units apart are millions of highest prices apart
_LARGEST = 2**63 - 1
_ACCEPTED = "finite numbers > 0"


@dataclass(frozen=True, slots=True, kw_only=True)
class PriceListMechanism(MechanismValue):
    r"""Draws one of a public list of prices by its revenue :math:`p \cdot \#\{\text{offers} \ge p\}`.

    For something that costs nothing to copy: everybody who offers at least the price buys, and pays the price. Drawn by
    permute-and-flip. The noise grows with the highest price, so leave out prices that you would not charge.

    Args:
        prices: positive numbers, all different; public, never the offers themselves. Floats are read as decimals. They
            have to be whole multiples, at most the 2^40-th, of a common unit such as a cent.

    Raises:
        InvalidCandidatesError: `prices` are not such a list. The text quotes none of them.

    Proof: ``proofs/best_price.md``. Source: McSherry & Talwar (2007).

    >>> mechanism = PriceListMechanism(epsilon=1.0, prices=[1, 2.5, 4])
    >>> mechanism.sensitivity, mechanism.score_range, mechanism.scale, mechanism.unit
    (4.0, 3.0, 3.0, Fraction(1, 2))
    >>> mechanism.draw([3.0] * 100 + [1.0] * 20)  # revenues: 120, 250 and 0
    2.5
    """

    costs = LaplaceProfileEvent

    epsilon: float
    prices: Sequence[Price]
    neighbours: Neighbours = Neighbours.ADD_REMOVE
    values_per_unit: int = 1
    unit: Fraction = field(init=False, repr=False, compare=False)
    sensitivity: float = field(init=False, repr=False, compare=False)
    """Largest change of any revenue between neighbours: the highest price times `values_per_unit`."""
    score_range: float = field(init=False, repr=False, compare=False)
    """Largest change of the difference between two revenues between neighbours, to which the noise is scaled.

    0 if there is only one price.
    """
    _multiples: IntArray = field(init=False, repr=False, compare=False)
    _thresholds: FloatArray = field(init=False, repr=False, compare=False)
    _mechanism: PermuteAndFlip = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        MechanismValue.__post_init__(self)
        members = _members(self.prices)
        exact = [_positive(member, self.prices) for member in members]
        prices = tuple(
            int(member) if isinstance(member, Integral) else shortest(Fraction(number))
            for member, number in zip(members, exact, strict=True)
        )
        multiples, unit = _in_units(exact, self.prices)
        thresholds = np.array([float(price) for price in prices], np.float64)
        if np.unique(thresholds).size < thresholds.size:
            raise _refusal(self.prices, "different prices", "Each at most once, and apart as doubles.")
        increasing = sorted(multiples.tolist())
        range_of_one = increasing[-1] if len(increasing) > 1 else 0
        if range_of_one and self.neighbours is Neighbours.ADD_REMOVE:
            range_of_one = max(increasing[-2], increasing[-1] - increasing[0])
        score_range = self.values_per_unit * range_of_one
        # At the scale score_range / epsilon, which is all that its proof needs. With one price there is no choice.
        mechanism = PermuteAndFlip(epsilon=self.epsilon, sensitivity=max(1, score_range), monotonic=True)
        self._set(prices=prices, unit=unit, _multiples=multiples, _thresholds=thresholds, _mechanism=mechanism)
        self._set(sensitivity=checks.positive_sensitivity(self.values_per_unit * increasing[-1] * unit))
        self._set(score_range=checks.positive_sensitivity(score_range * unit) if score_range else 0.0)

    @property
    def scale(self) -> float:
        """The scale b = score_range / epsilon, in units of revenue."""
        return scale_of(self.epsilon, self.score_range, factor=1)

    def draw(self, offers: ScoresLike) -> int | float:
        """Draw a price, at the cost of `epsilon`: an ``int`` if it was given as one, else a float.

        Offers are compared with the prices as doubles, so that an offer of 0.1 buys at 0.1.
        """
        price = cast("tuple[Price, ...]", self.prices)[self._mechanism.select(self._revenues(offers))]
        return price if isinstance(price, int) else float(price)

    def pmf(self, offers: ScoresLike) -> FloatArray:
        """Probability of each price, in the order given. For planning with public offers."""
        return self._mechanism.pmf(self._revenues(offers))

    def expected_error(self, offers: ScoresLike) -> float:
        """Expected distance of the drawn price's revenue below the best; depends on the offers: for planning only."""
        return self._mechanism.expected_error(self._revenues(offers)) * float(self.unit)

    def error_bound(self, confidence: float = 0.99) -> float:
        """With probability `confidence` the drawn price's revenue is at most this far below the best.

        It holds whatever the offers, so it may be published; infinite if it does not fit into a double.

        Proof: ``proofs/best_price.md`` and ``proofs/error_bounds.md``.

        >>> PriceListMechanism(epsilon=0.5, prices=[0.5, 0.75, 1]).error_bound()
        6.75
        """
        within = self._mechanism.error_bound(self._multiples.size, confidence)
        if within >= _LARGEST:  # up to where revenues are distinguished
            return math.inf
        exact = math.floor(within) * self.unit
        above = checks.fraction_up(exact)
        # The double that is written like it, if there is one.
        return float(exact) if above < math.inf and Fraction(repr(float(exact))) >= exact else above

    def _revenues(self, offers: ScoresLike) -> IntArray:
        """The revenue of each price, in the order given and in common units: shape ``(m,)``, exact.

        If they might not fit into 64 bits: their distances from the best, with 2^63 - 1 for larger distances. So
        nothing wraps around, no error reveals the number of offers, and no difference of two revenues changes by more.
        """
        plain = plain_values(offers, "offers")
        buyers = plain.size - np.searchsorted(np.sort(plain), self._thresholds)  # faster than looking up each offer
        if plain.size <= _LARGEST // int(self._multiples.max()):
            return self._multiples * buyers
        exact = self._multiples.astype(object) * buyers.astype(object)
        return np.maximum(exact - exact.max(), -_LARGEST).astype(np.int64)


def _members(prices: object) -> Sequence[object]:
    try:
        found = as_sequence(prices, "prices")[: _MOST_PRICES + 1]  # `len` cannot count all ranges
    except InvalidCandidatesError:
        hint = "Such as `prices=range(1, 101)`; never the offers."
        raise _refusal(prices, "a public list of prices", hint) from None
    if not 0 < len(found) <= _MOST_PRICES:
        raise _refusal(prices, f"at most {_MOST_PRICES:,} prices" if found else "at least one price")
    return found


def _positive(member: object, prices: object) -> int | Fraction:
    if type(member) is int and 0 < member <= _MOST_UNITS:
        return member  # a long range is refused early
    try:
        exact = checks.decimal_fraction(member, "prices", expected=_ACCEPTED)
    except InvalidParameterError:
        exact = Fraction(0)
    if not float(exact) > 0.0:  # also a number so small that its double is 0
        raise _refusal(prices, _ACCEPTED, "One of them is not, is missing, or is too large or small for a double.")
    if not checks.double_holds(exact):
        raise _refusal(prices, "prices that doubles hold", "From 2^53 on, doubles skip whole numbers.")
    return exact


def _in_units(exact: Sequence[int | Fraction], prices: object) -> tuple[IntArray, Fraction]:
    hint = "Round them, to cents say: round(price, 2)."
    too_fine = _refusal(prices, "prices of at most 2^40 times their largest common unit", hint)
    denominator = 1
    for part in {number.denominator for number in exact}:
        denominator = math.lcm(denominator, part)
        if denominator.bit_length() > 2200:  # any double is more than `_MOST_UNITS` of a unit this small
            raise too_fine
    numerators = [number.numerator * (denominator // number.denominator) for number in exact]
    divisor = math.gcd(*numerators)
    if max(numerators) // divisor > _MOST_UNITS:
        raise too_fine
    return np.array([number // divisor for number in numerators], np.int64), Fraction(divisor, denominator)


def _refusal(prices: object, expected: str, hint: str = "") -> InvalidCandidatesError:
    return InvalidCandidatesError("prices", Shown(describe(prices)), expected, hint)


@dataclass(frozen=True, slots=True, kw_only=True)
class PriceMechanism(HasScale):
    r"""Draws a price with density proportional to :math:`e^{p \cdot \#\{\text{offers} \ge p\}/b}` over the bounds.

    The score of a price is its revenue: everybody who offers at least the price buys one. Under both relations the
    difference between two revenues changes by at most the sensitivity, so b has no factor two.

    Args:
        bounds: ``(lower, upper)``, public, ``0 <= lower < upper``. An offer above `upper` counts as `upper`; one below
            `lower` never buys.

    Proof: ``proofs/prices.md``. Source: McSherry & Talwar (2007).

    >>> 3.5 < PriceMechanism(epsilon=1.0, bounds=(0, 10)).draw([4.0] * 2000 + [9.5] * 100) <= 4.0
    True
    """

    costs = BoundedRangeEvent

    epsilon: float
    bounds: tuple[float | Fraction, float | Fraction]
    neighbours: Neighbours = Neighbours.ADD_REMOVE
    values_per_unit: int = 1
    sensitivity: float = field(init=False, repr=False, compare=False)
    """Largest change of any revenue between neighbours: the highest price times `values_per_unit`."""

    def __post_init__(self) -> None:
        lower, upper = checks.finite_bounds(self.bounds)
        if lower < 0:
            raise InvalidParameterError("bounds", float(lower), "prices >= 0")
        MechanismValue.__post_init__(self)
        self._set(bounds=(float(lower), float(upper)))
        self._set(sensitivity=checks.positive_sensitivity(self.values_per_unit * Fraction(self.bounds[1])))

    def draw(self, offers: ScoresLike) -> float:
        """Draw a price within the bounds, rounded once to the nearest double, at the cost of `epsilon`."""
        return float(self.draw_many(offers, 1)[0])

    def draw_many(self, offers: ScoresLike, size: int) -> FloatArray:
        """Draw `size` prices independently of each other, *each* at the cost of `epsilon`; see `draw`."""
        sampler = _core.PiecewiseSampler(self.epsilon, self.sensitivity, 1)
        plan = sampler.plan_lines_through_origin(*self._demand(offers))
        return plan.draw_many(checks.positive_count(size, "size", at_most=_LARGEST))

    def error_bound(self, confidence: float = 0.99, *, share: float) -> float:
        """With probability `confidence` the revenue is at most this far below `share` of the best one.

        The best one is that among prices of ``lower / share`` or more; infinite if `lower` is 0 or there is none. It
        may be published. No bound holds for all of the best revenue: if everybody offers `lower`, other prices earn
        nothing.

        Proof: ``proofs/prices.md``.

        >>> round(PriceMechanism(epsilon=1.0, bounds=(1, 10)).error_bound(share=0.9), 1)
        89.8
        """
        confidence, share = checks.probability(confidence, "confidence"), checks.probability(share, "share")
        lower, upper = (Fraction(end) for end in self.bounds)
        near = lower * (1 - Fraction(share)) / Fraction(share)  # length of the range of prices that are nearly as good
        if lower == 0 or lower + near > upper:
            return math.inf
        odds = Fraction(confidence) / (1 - Fraction(confidence)) * (upper - lower - near) / near
        if odds <= 1:
            return 0.0
        # In two logarithms, because the quotient may overflow; the factor covers their rounding.
        logarithm = math.log(odds.numerator) - math.log(odds.denominator)
        return self.scale * (logarithm + 1e-12 * (1.0 + math.log(odds.numerator)))

    def law(self, offers: ScoresLike) -> FallLaw:
        """The distribution of the price, if the offers were these. To plan with public offers."""
        breakpoints, counts = self._demand(offers)
        prices, demand = np.repeat(breakpoints, 2)[1:-1], np.repeat(counts, 2)
        lines = PiecewiseLinearMechanism(epsilon=self.epsilon, sensitivity=self.sensitivity, monotonic=True)
        return lines.law(prices, prices * demand)

    def _demand(self, offers: ScoresLike) -> tuple[FloatArray, FloatArray]:
        """Prices at which demand changes, from one bound to the other, and the demand between them."""
        lower, upper = map(float, self.bounds)
        given = plain_values(offers, "offers")
        levels, counts = np.unique(np.minimum(given[given >= lower], upper), return_counts=True)
        demand = np.append(np.cumsum(counts[::-1])[::-1], 0).astype(np.float64)  # offers that are at least as high
        return np.concatenate([[lower], levels, [upper]]), demand
