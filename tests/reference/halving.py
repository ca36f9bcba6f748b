"""Several quantiles by halving: the law of all answers together, level by level. Proof: ``proofs/quantiles.md``.

Nothing here walks a tree of nodes. A list of levels, in the order in which they are drawn, says between which earlier
answers each one lies; then the density of a whole vector of answers is a product with one factor for each level.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cache
from itertools import combinations_with_replacement, pairwise, product
from typing import NamedTuple

from tests.reference.precision import exponential
from tests.reference.quantile import score

Scale = Callable[[Fraction], Fraction]
"""The scale b of one node, by the level that it draws among its own values."""


class Turn(NamedTuple):
    """One level: its place, and the places of those drawn before it that are nearest, -1 and m for the bounds."""

    place: int
    below: int
    above: int


def turns(count: int) -> list[Turn]:
    """In the order of drawing: the middle of a gap between levels that have been drawn, of two the upper one.

    >>> turns(3)
    [Turn(place=1, below=-1, above=3), Turn(place=0, below=-1, above=1), Turn(place=2, below=1, above=3)]
    """
    gaps, found = [(-1, count)], list[Turn]()
    for below, above in gaps:  # it grows while it is read
        if above - below > 1:
            middle = (below + above + 1) // 2
            found.append(Turn(middle, below, above))
            gaps += [(below, middle), (middle, above)]
    return found


def share_of(turn: Turn, levels: Sequence[Fraction]) -> Fraction:
    """The level among the values between the two answers.

    >>> share_of(Turn(2, 1, 3), [Fraction(0), Fraction(1, 2), Fraction(3, 4)])
    Fraction(1, 2)
    """
    ends = [*levels, Fraction(1), Fraction(0)]  # the last is for -1
    return (ends[turn.place] - ends[turn.below]) / (ends[turn.above] - ends[turn.below])


@cache
def weight(distance: Fraction, scale: Fraction) -> Fraction:
    """Of a distance in ranks."""
    return exponential(-distance / scale, digits=30)


def own_values(values: Sequence[Fraction], low: Fraction | None, high: Fraction | None) -> list[Fraction]:
    """Those from the answer below to what is below the answer above; None: there is no such answer."""
    return [value for value in values if (low is None or low <= value) and (high is None or value < high)]


def cells(
    values: Sequence[Fraction], ends: tuple[Fraction, Fraction], *, level: Fraction, scale: Fraction
) -> list[tuple[Fraction, Fraction, Fraction]]:
    """Pieces between two ends and the density in each of them, normalised."""
    cuts = sorted({*ends, *(value for value in values if ends[0] < value < ends[1])})
    heights = [weight(-score(values, (low + high) / 2, level=level), scale) for low, high in pairwise(cuts)]
    total = sum(
        (height * (high - low) for height, (low, high) in zip(heights, pairwise(cuts), strict=True)), Fraction()
    )
    return [(low, high, height / total) for height, (low, high) in zip(heights, pairwise(cuts), strict=True)]


def density(
    values: Sequence[Fraction],
    answers: Sequence[Fraction],
    *,
    levels: Sequence[Fraction],
    bounds: tuple[Fraction, Fraction],
    scale: Scale,
) -> Fraction:
    """Of increasing answers, none of them equal to a value, an answer or a bound, on the line.

    >>> half = Fraction(1, 2)
    >>> density([], [half], levels=[half], bounds=(Fraction(0), Fraction(4)), scale=lambda level: level)
    Fraction(1, 4)
    """
    clipped = [min(max(value, bounds[0]), bounds[1]) for value in values]
    found = [*answers, None, None]
    result = Fraction(1)
    for turn in turns(len(levels)):
        low, high = found[turn.below], found[turn.above]
        ends = (bounds[0] if low is None else low, bounds[1] if high is None else high)
        level = share_of(turn, levels)
        own = own_values(clipped, low, high)
        at = answers[turn.place]
        pieces = cells(own, ends, level=level, scale=scale(level))
        result *= next(height for start, end, height in pieces if start < at < end)
    return result


def grid_law(
    values: Sequence[int], count: int, *, parts: int, levels: Sequence[Fraction], scale: Scale
) -> dict[tuple[int, ...], Fraction]:
    """Probability of the points of a grid, whose values go to any of so many parts of their points' cells.

    >>> half = Fraction(1, 2)
    >>> grid_law([1], 2, parts=1, levels=[half], scale=lambda level: level) == {(0,): Fraction(1, 2), (1,): half}
    False
    """
    law: dict[tuple[int, ...], Fraction] = {}
    spreads = list(product(range(parts), repeat=len(values)))
    for offsets in spreads:
        places = tuple(sorted(value * parts + offset for value, offset in zip(values, offsets, strict=True)))
        for answers in combinations_with_replacement(range(count * parts), len(levels)):
            chance = _of_places(places, answers, count * parts, levels=levels, scale=scale)
            points = tuple(answer // parts for answer in answers)
            law[points] = law.get(points, Fraction()) + chance / len(spreads)
    return law


def _of_places(
    values: tuple[int, ...], answers: tuple[int, ...], count: int, *, levels: Sequence[Fraction], scale: Scale
) -> Fraction:
    found: list[int | None] = [*answers, None, None]
    result = Fraction(1)
    for turn in turns(len(levels)):
        low, high = found[turn.below], found[turn.above]
        level = share_of(turn, levels)
        own = tuple(v for v in values if (low is None or low <= v) and (high is None or v < high))
        first, last = low or 0, count - 1 if high is None else high
        result *= _node(own, first, last, level, scale(level)).get(answers[turn.place], Fraction())
    return result


@cache
def _node(values: tuple[int, ...], first: int, last: int, level: Fraction, scale: Fraction) -> dict[int, Fraction]:
    """One answer among the points from `first` to `last`, both of which are earlier answers or the ends."""
    exact = [Fraction(value) for value in values]
    weights = {at: weight(-score(exact, Fraction(at), level=level), scale) for at in range(first, last + 1)}
    total = sum(weights.values())
    return {at: each / total for at, each in weights.items()}
