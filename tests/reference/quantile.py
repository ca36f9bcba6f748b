"""The quantile by the exponential mechanism, in exact fractions. Proof: ``proofs/quantiles.md``.

Distances are multiples of ``1 / level.denominator`` ranks; `decay` is what one such step multiplies the density with,
in the place of ``exp(-1 / (b * level.denominator))``.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise

from tests.reference.randomness import Randomness, exact_law
from tests.reference.unit_values import Number, on_grid


def score(values: Sequence[Number], point: Fraction, *, level: Fraction) -> Fraction:
    """``-max(0, below - t, t - up_to)`` with ``t = level * n``: how far `point` is from splitting them at `level`.

    For a point that is no value, below and up_to are equal and this is ``-abs(below - t)``.

    >>> [score([Fraction(1), Fraction(2), Fraction(2)], Fraction(p), level=Fraction(1, 2)) for p in (1, 2, 3)]
    [Fraction(-1, 2), Fraction(0, 1), Fraction(-3, 2)]
    """
    target = level * len(values)
    below = sum(value < point for value in values)
    up_to = sum(value <= point for value in values)
    return -max(Fraction(0), below - target, target - up_to)


def pieces(values: Sequence[Fraction], *, bounds: tuple[Fraction, Fraction]) -> list[tuple[Fraction, Fraction]]:
    """The intervals that the values, moved into the bounds, cut the bounds into; those without length left out."""
    lower, upper = bounds
    ends = [lower, *sorted(min(max(value, lower), upper) for value in values), upper]
    return [(start, end) for start, end in pairwise(ends) if start < end]


def interval_law(
    values: Sequence[Fraction], *, level: Fraction, bounds: tuple[Fraction, Fraction], decay: Fraction
) -> dict[tuple[Fraction, Fraction], Fraction]:
    """Probability of each piece; inside one the point is uniform.

    >>> halves = interval_law([Fraction(1)], level=Fraction(0), bounds=(Fraction(0), Fraction(3)), decay=Fraction(1, 2))
    >>> halves == {(0, 1): Fraction(1, 2), (1, 3): Fraction(1, 2)}
    True
    """
    clipped = [min(max(value, bounds[0]), bounds[1]) for value in values]
    masses = {
        (start, end): (end - start) * _density(score(clipped, (start + end) / 2, level=level), level=level, decay=decay)
        for start, end in pieces(clipped, bounds=bounds)
    }
    return {piece: mass / sum(masses.values()) for piece, mass in masses.items()}


def grid_law(
    values: Sequence[Fraction], *, level: Fraction, points: Sequence[Fraction], decay: Fraction
) -> tuple[Fraction, ...]:
    """Probability of each point of a grid, given in increasing order; each value counts as the nearest of them.

    >>> grid_law([Fraction(2)] * 3, level=Fraction(1, 2), points=[Fraction(p) for p in (1, 2, 3)], decay=Fraction(1, 2))
    (Fraction(1, 10), Fraction(4, 5), Fraction(1, 10))
    """
    counted = on_grid(tuple(values), points)
    weights = [_density(score(counted, point, level=level), level=level, decay=decay) for point in points]
    return tuple(weight / sum(weights) for weight in weights)


def propose_between(
    values: Sequence[Fraction],
    *,
    level: Fraction,
    bounds: tuple[Fraction, Fraction],
    decay: Fraction,
    known: Sequence[Fraction],
    randomness: Randomness,
) -> tuple[Fraction, Fraction] | None:
    """One round as the product does it: the ranks are known of a few places only, of values or not.

    What lies between two of them is proposed with its length and the largest density that the ranks at its ends allow.
    Its point is uniform, and kept with the ratio of the true density to that one.
    """
    ends = sorted({*bounds, *known})
    every = sorted({*pieces(values, bounds=bounds)})
    groups, largest = [], []
    for low, high in pairwise(ends):
        # Each piece, cut off at both ends.
        parts = [(max(start, low), min(end, high)) for start, end in every if start < high and end > low]
        ranks = range(sum(v <= low for v in values) if low > bounds[0] else 0, _below(values, high, bounds[1]) + 1)
        groups.append(parts)
        nearest = min(abs(rank - level * len(values)) for rank in [*ranks, _clamped(level * len(values), ranks)])
        largest.append(_density(-nearest, level=level, decay=decay))
    lengths = [sum((end - start for start, end in group), Fraction(0)) for group in groups]
    chosen = randomness.choose([length * top for length, top in zip(lengths, largest, strict=True)])
    start, end = groups[chosen][randomness.choose([end - start for start, end in groups[chosen]])]
    density = _density(score(values, (start + end) / 2, level=level), level=level, decay=decay)
    whole = next(piece for piece in every if piece[0] <= start and end <= piece[1])
    return whole if randomness.coin(density / largest[chosen]) else None


def _below(values: Sequence[Fraction], place: Fraction, upper: Fraction) -> int:
    return sum(value < place for value in values) if place < upper else len(values)


def _clamped(target: Fraction, ranks: range) -> Fraction:
    return max(Fraction(ranks[0]), min(target, Fraction(ranks[-1])))


def law_between(
    values: Sequence[Fraction],
    *,
    level: Fraction,
    bounds: tuple[Fraction, Fraction],
    decay: Fraction,
    known: Sequence[Fraction],
) -> dict[tuple[Fraction, Fraction], Fraction]:
    """The law of an accepted round."""
    one = exact_law(
        lambda randomness: propose_between(
            values, level=level, bounds=bounds, decay=decay, known=known, randomness=randomness
        )
    )
    accepted = 1 - one.get(None, Fraction(0))
    return {piece: mass / accepted for piece, mass in one.items() if piece is not None}


def largest_ratio(before: Sequence[Fraction], after: Sequence[Fraction]) -> Fraction:
    """The largest quotient of two densities or probabilities of the same outcomes, in either direction."""
    return max(max(b / a, a / b) for b, a in zip(before, after, strict=True))


def _density(height: Fraction, *, level: Fraction, decay: Fraction) -> Fraction:
    steps = -height * level.denominator
    assert steps.denominator == 1
    return decay ** int(steps)
