"""The price of a digital good: the exponential mechanism with the revenue as the score, on a range of prices."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from dpselect._native import _core
from dpselect.accounting import BoundedRangeEvent
from dpselect.checks import finite_bounds, positive_sensitivity, probability
from dpselect.errors import InvalidParameterError
from dpselect.mechanisms.base import DrawPlan, MechanismValue, scale_of
from dpselect.mechanisms.interval import FloatArray
from dpselect.mechanisms.piecewise import FallLaw, Scale
from dpselect.mechanisms.scores import ScoresLike, plain_values
from dpselect.privacy import Neighbours


@dataclass(frozen=True, slots=True, kw_only=True)
class PriceMechanism(MechanismValue):
    r"""Draws a price with density proportional to :math:`e^{p \cdot \#\{\text{offers} \ge p\}/b}` over the bounds.

    The score of a price is its revenue: everybody who offers at least the price buys one. Between neighbours the
    difference between two revenues changes by at most the highest price times `values_per_unit`, even if offers are
    replaced. So b is that divided by epsilon under both relations, without the factor two.

    Args:
        bounds: ``(lower, upper)``, public, ``0 <= lower < upper``. An offer above `upper` counts as `upper`; one below
            `lower` never buys.
        values_per_unit: maximum number of offers per unit.

    Proof: ``proofs/prices.md``. Source: McSherry & Talwar (2007).

    >>> mechanism = PriceMechanism(epsilon=1.0, bounds=(0, 10))
    >>> mechanism.scale
    10.0
    >>> offers = [4.0] * 2000 + [9.5] * 100
    >>> 3.5 < mechanism.draw(offers) <= 4.0
    True
    """

    epsilon: float
    bounds: tuple[float | Fraction, float | Fraction]
    neighbours: Neighbours = Neighbours.ADD_REMOVE
    values_per_unit: int = 1
    _ends: tuple[float, float] = field(init=False, repr=False, compare=False)
    _sampler: _core.PiecewiseSampler = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        lower, upper = finite_bounds(self.bounds)
        if lower < 0:
            raise InvalidParameterError("bounds", float(lower), "prices >= 0")
        ends = (float(lower), float(upper))
        MechanismValue.__post_init__(self)
        self._set(bounds=ends)
        self._set(_ends=ends)
        self._set(_sampler=_core.PiecewiseSampler(self.epsilon, self.sensitivity, 1))

    @property
    def sensitivity(self) -> float:
        """Largest change of the revenue of any price between neighbours: the highest price times `values_per_unit`."""
        return positive_sensitivity(self.values_per_unit * Fraction(self._ends[1]))

    @property
    def scale(self) -> float:
        """The scale b = sensitivity / epsilon, in the unit of the revenue."""
        return scale_of(self.epsilon, self.sensitivity, factor=1)

    @property
    def event(self) -> BoundedRangeEvent:
        return BoundedRangeEvent(epsilon=self.epsilon)

    def draw(self, offers: ScoresLike) -> float:
        """Draw a price, at the cost of `epsilon`.

        Args:
            offers: shape ``(n,)``, the most that each unit would pay, numbers of any float or integer type; infinities
                count like other offers. ``n = 0`` is allowed: the price is uniform then.

        Returns:
            A price within the bounds, rounded once to the nearest double.

        Raises:
            InvalidDataError: `values` is not one-dimensional, not numeric, or contains NaN. Nothing is drawn then.
        """
        return float(self.plan(offers).draw())

    def plan(self, offers: ScoresLike) -> DrawPlan:
        """Prepare many draws, each of which costs `epsilon`; planning, which sorts the offers, costs nothing."""
        return DrawPlan(self._sampler.plan_lines_through_origin(*self._demand(offers)).draw_many, event=self.event)

    def error_bound(self, confidence: float = 0.99, *, share: float) -> float:
        """With probability `confidence` the revenue is at most this far below `share` of the best one.

        The best one is that among prices of ``lower / share`` or more. The bound holds whatever the offers, so it may
        be published. Relative to all of the best revenue no bound holds for all offers: if everybody offers exactly
        `lower`, any other price earns nothing.

        Args:
            share: share of the best revenue, strictly between 0 and 1.

        Returns:
            A bound in the unit of the revenue; infinite if `lower` is 0, or no price is as high as ``lower / share``.

        Proof: ``proofs/prices.md``.

        >>> round(PriceMechanism(epsilon=1.0, bounds=(1, 10)).error_bound(share=0.9), 1)
        89.8
        """
        confidence, share = probability(confidence, "confidence"), probability(share, "share")
        lower, upper = (Fraction(end) for end in self._ends)
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
        """The distribution of the price, if the offers were these; at an offer its density is that above. To plan."""
        breakpoints, counts = self._demand(offers)
        low, high = breakpoints[:-1], breakpoints[1:]
        scale = Scale.of(epsilon=self.epsilon, sensitivity=self.sensitivity, factor=1)
        nothing = np.zeros_like(counts)
        in_scales = scale.divide(counts, high)
        depth = in_scales.max() - in_scales
        linear = scale.divide(counts, high / 2.0 - low / 2.0, np.array(2.0))
        return FallLaw(low, high, counts == 0.0, depth, linear, nothing, nothing + 1.0, scale)

    def _demand(self, offers: ScoresLike) -> tuple[FloatArray, FloatArray]:
        """Prices at which demand changes, from one bound to the other, and the demand between them."""
        lower, upper = self._ends
        given = plain_values(offers, "offers")
        buying = np.minimum(given[given >= lower], upper)
        buying.sort()
        is_level = np.ones(buying.size, dtype=np.bool_)
        is_level[1:] = buying[1:] != buying[:-1]
        first = np.flatnonzero(is_level)
        demand = np.append(buying.size - first, 0).astype(np.float64)  # offers that are at least as high
        return np.concatenate([[lower], buying[first], [upper]]), demand
