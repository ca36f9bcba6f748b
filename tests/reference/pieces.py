"""Pieces with a length and a weight per length, proposed by integer bounds. Proof: ``proofs/exact_sampling.md``."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import ceil

from tests.reference.randomness import Randomness, exact_law, repeated_until_accepted


def law(lengths: Sequence[Fraction], densities: Sequence[Fraction]) -> tuple[Fraction, ...]:
    """Probability of each piece: length times density, over the sum of these.

    >>> law([Fraction(1), Fraction(3)], [Fraction(1), Fraction(1, 3)])
    (Fraction(1, 2), Fraction(1, 2))
    """
    masses = [length * density for length, density in zip(lengths, densities, strict=True)]
    return tuple(mass / sum(masses) for mass in masses)


def tightest_bounds(lengths: Sequence[Fraction], densities: Sequence[Fraction], *, unit: Fraction) -> tuple[int, ...]:
    """The least integers with ``bound * unit >= length * density``: 0 for a piece without length, else at least 1."""
    return tuple(ceil(length * density / unit) for length, density in zip(lengths, densities, strict=True))


def propose_once(
    lengths: Sequence[Fraction],
    densities: Sequence[Fraction],
    *,
    bounds: Sequence[int],
    unit: Fraction,
    randomness: Randomness,
) -> int | None:
    """One round: a piece by its bound, and a coin that makes up for what the bound is too large; ``None`` at tails."""
    piece = randomness.choose(bounds)
    heads = lengths[piece] * densities[piece] / (bounds[piece] * unit)
    return piece if randomness.coin(min(Fraction(1), heads)) else None


def law_of_rounds(
    lengths: Sequence[Fraction], densities: Sequence[Fraction], *, bounds: Sequence[int], unit: Fraction
) -> tuple[Fraction, ...]:
    """The law of rounds until one accepts.

    >>> law_of_rounds([Fraction(1), Fraction(3)], [Fraction(1), Fraction(1, 3)], bounds=[5, 9], unit=Fraction(1, 4))
    (Fraction(1, 2), Fraction(1, 2))
    """
    one = exact_law(
        lambda randomness: propose_once(lengths, densities, bounds=bounds, unit=unit, randomness=randomness)
    )
    return repeated_until_accepted(one, count=len(lengths))
