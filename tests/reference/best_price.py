"""The revenue of each price of a list, how far one unit moves it, and the law of the price drawn, in exact fractions.

Prices and offers are whole numbers: multiples of the unit that all prices have in common. Offers may be anything
between. Proof: ``proofs/best_price.md``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from itertools import product

from tests.reference import permute_and_flip
from tests.reference.unit_values import Contribution, Data, Number, Values, choices, kept_values

Revenues = tuple[int, ...]


def revenues(offers: Iterable[Number], prices: Sequence[int]) -> Revenues:
    """What each price earns: itself, times the offers that are at least as high.

    >>> revenues((1, 5, 5, 9), prices=(1, 4, 5, 10))
    (4, 12, 15, 0)
    """
    offers = tuple(offers)
    return tuple(price * sum(offer >= price for offer in offers) for price in prices)


def bounds(prices: Sequence[int]) -> tuple[int, int]:
    """What offers are clipped into; it changes no revenue."""
    return 0, max(prices)


def replace_one_pairs(units: Sequence[str], contributions: Sequence[Contribution]) -> Iterator[tuple[Data, Data]]:
    """Every pair of data sets that differ in the contribution of one unit."""
    for chosen in product(contributions, repeat=len(units)):
        first = dict(zip(units, chosen, strict=True))
        for unit in units:
            for other in contributions:
                if other != first[unit]:
                    yield first, {**first, unit: other}


def movements(pairs: Iterable[tuple[Data, Data]], prices: Sequence[int], *, most: int) -> set[Revenues]:
    """Every vector of score changes from the first to the second of a pair, given the choices of all other units."""
    result: set[Revenues] = set()
    for first, second in pairs:
        (unit,) = {each for each in {*first, *second} if first.get(each) != second.get(each)}
        others = {other: numbers for other, numbers in first.items() if other != unit}
        for kept in kept_values(others, most=most, bounds=bounds(prices)):
            for before, after in product(_own(first, unit, prices, most), _own(second, unit, prices, most)):
                earned = zip(revenues((*kept, *after), prices), revenues((*kept, *before), prices), strict=True)
                result.add(tuple(a - b for a, b in earned))
    return result


def _own(data: Data, unit: str | None, prices: Sequence[int], most: int) -> list[Values]:
    return choices(data.get(unit, ()), most=most, bounds=bounds(prices))


def released_law(data: Data, prices: Sequence[int], *, most: int, root: Fraction) -> tuple[Fraction, ...]:
    """The law of the whole release: rows are chosen, then a price is drawn by permute-and-flip.

    A price whose revenue is g below the best has flip probability ``root ** -g``: the scale is ``1 / ln root``.
    """
    total = [Fraction(0)] * len(prices)
    for offers, probability in kept_values(data, most=most, bounds=bounds(prices)).items():
        scores = revenues(offers, prices)
        law = permute_and_flip.law_by_heads([root ** (score - max(scores)) for score in scores])
        total = [sum_ + probability * chance for sum_, chance in zip(total, law, strict=True)]
    return tuple(total)


def proved_range(prices: Sequence[int], *, most: int, replaced: bool) -> int:
    """How far the revenues of two prices can move apart when a unit is added or removed, or `replaced`.

    >>> proved_range((4, 1, 2), most=1, replaced=False), proved_range((4, 1, 2), most=1, replaced=True)
    (3, 4)
    """
    ordered = sorted(prices)
    if len(ordered) == 1:
        return 0
    return most * (ordered[-1] if replaced else max(ordered[-2], ordered[-1] - ordered[0]))


def exp_epsilon(root: Fraction, prices: Sequence[int], *, most: int, replaced: bool) -> Fraction:
    """``e ** epsilon`` of a release whose scale is ``1 / ln root``, from ``scale = range / epsilon``."""
    return root ** proved_range(prices, most=most, replaced=replaced)


def cut_off(scores: Sequence[int], *, farthest: int) -> Revenues:
    """Distances from the best, negative, none of them more than `farthest`.

    >>> cut_off((12, 2, 9), farthest=5)
    (0, -5, -3)
    """
    return tuple(max(score - max(scores), -farthest) for score in scores)
