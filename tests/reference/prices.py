"""Revenue as the score of a price on a range, in exact fractions. Proof: ``proofs/prices.md``."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise

from tests.reference.precision import exponential, logarithm


def revenue(offers: Sequence[Fraction], price: Fraction) -> Fraction:
    """What the price would make: everybody buys who offers as much."""
    return price * sum(offer >= price for offer in offers)


def masses(
    offers: Sequence[Fraction], *, cuts: Sequence[Fraction], scale: Fraction, bounds: tuple[Fraction, Fraction]
) -> list[Fraction]:
    """Probability of a price between each two neighbouring `cuts`, of which the outermost are the bounds."""
    clipped = [min(offer, bounds[1]) for offer in offers]
    ends = sorted({*cuts, *(offer for offer in clipped if bounds[0] <= offer)})
    weights = dict.fromkeys(pairwise(cuts), Fraction(0))
    for low, high in pairwise(ends):
        demand = sum(offer >= high for offer in clipped)
        cell = next((start, end) for start, end in pairwise(cuts) if start <= low and high <= end)
        if demand == 0:
            weights[cell] += high - low
        else:
            rise = exponential(demand * high / scale) - exponential(demand * low / scale)
            weights[cell] += scale / demand * rise
    total = sum(weights.values())
    return [weight / total for weight in weights.values()]


def best_revenue(offers: Sequence[Fraction], *, bounds: tuple[Fraction, Fraction]) -> Fraction:
    """Of all prices within the bounds: attained at an offer or at the upper bound."""
    prices = [min(offer, bounds[1]) for offer in offers if offer >= bounds[0]]
    return max((revenue(offers, price) for price in prices), default=Fraction(0))


def shortfall(
    offers: Sequence[Fraction], enough: Fraction, *, scale: Fraction, bounds: tuple[Fraction, Fraction]
) -> Fraction:
    """Probability of a price whose revenue is less than `enough`."""
    lower, upper = bounds
    clipped = [min(offer, upper) for offer in offers]
    crossings = {enough / count for count in range(1, len(offers) + 1)}  # where a line through the origin is enough
    cuts = sorted({lower, upper, *(cut for cut in {*clipped, *crossings} if lower < cut < upper)})
    cells = zip(pairwise(cuts), masses(offers, cuts=cuts, scale=scale, bounds=bounds), strict=True)
    return sum((mass for (_, high), mass in cells if revenue(clipped, high) <= enough), Fraction(0))


def allowance(confidence: Fraction, *, share: Fraction, scale: Fraction, bounds: tuple[Fraction, Fraction]) -> Fraction:
    """How far below `share` of the best revenue the revenue is at most, with probability `confidence`."""
    lower, upper = bounds
    kept = lower * (1 - share) / share
    odds = (upper - lower - kept) / kept * confidence / (1 - confidence)
    return max(Fraction(0), scale * logarithm(odds))
