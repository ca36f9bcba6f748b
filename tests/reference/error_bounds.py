"""How far behind the best a selection may fall, for the worst score vector. Proof: ``proofs/error_bounds.md``.

Distances are in units of the scale and enter as ``p = exp(-distance)``: a candidate is at least ``theta`` behind if
``p_i <= exp(-theta)``.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction


def chance_of_falling_behind(
    law: Sequence[Fraction], flip_probabilities: Sequence[Fraction], *, cutoff: Fraction
) -> Fraction:
    """Probability that the candidate selected has ``p_i <= cutoff``."""
    return sum((chance for chance, p in zip(law, flip_probabilities, strict=True) if p <= cutoff), Fraction(0))


def worst_flip_probabilities(count: int, *, cutoff: Fraction) -> tuple[Fraction, ...]:
    """One best candidate and all others exactly at the distance in question.

    >>> worst_flip_probabilities(3, cutoff=Fraction(1, 4))
    (Fraction(1, 1), Fraction(1, 4), Fraction(1, 4))
    """
    return (Fraction(1), *[cutoff] * (count - 1))


def worst_chance_exponential(count: int, *, cutoff: Fraction) -> Fraction:
    """That chance for the exponential mechanism: weight of the others over the total.

    >>> worst_chance_exponential(3, cutoff=Fraction(1, 4))
    Fraction(1, 3)
    """
    others = (count - 1) * cutoff
    return others / (1 + others)


def worst_chance_permute_and_flip(count: int, *, cutoff: Fraction) -> Fraction:
    """That chance for permute-and-flip: ``1 - (1 - (1 - p)^n) / (n p)``.

    >>> worst_chance_permute_and_flip(2, cutoff=Fraction(1, 4))
    Fraction(1, 8)
    """
    return 1 - (1 - (1 - cutoff) ** count) / (count * cutoff)


def laplace_parts(count: int) -> tuple[Fraction, Fraction, Fraction]:
    """Twice a lower bound on how often the best loses to the others, ``ln n`` below it, under Laplace noise.

    By the noise of the best: positive, down to the others' score, and below it.

    >>> laplace_parts(2)
    (Fraction(1, 8), Fraction(1, 8), Fraction(1, 4))
    """
    missed = Fraction(1, 2 * count)
    return (
        2 * (1 - missed) ** count - 1,
        (1 - Fraction(1, count)) * (1 - (1 - missed) ** (count - 1)),
        Fraction(1, count) * (1 - Fraction(1, 2 ** (count - 1))),
    )
