"""The exponential mechanism: candidate ``i`` with probability proportional to its flip probability ``p_i``.

Only ratios of the ``p_i`` matter, so ``exp(score_i / scale)`` may be given as well.

Proof: ``proofs/exponential_mechanism.md``.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from tests.reference.randomness import Randomness


def law(weights: Sequence[Fraction]) -> tuple[Fraction, ...]:
    """The law itself: weights divided by their sum.

    >>> law([Fraction(1), Fraction(1, 2)])
    (Fraction(2, 3), Fraction(1, 3))
    """
    total = sum(weights)
    return tuple(weight / total for weight in weights)


def choose_by_weight(weights: Sequence[Fraction], *, randomness: Randomness) -> int:
    """The normalised form: one draw from the weights divided by their sum."""
    return randomness.choose(weights)


def flip_one(flip_probabilities: Sequence[Fraction], *, randomness: Randomness) -> int | None:
    """One round of the flipping form: a uniform candidate if its coin shows heads, else ``None``."""
    candidate = randomness.uniform(len(flip_probabilities))
    return candidate if randomness.coin(flip_probabilities[candidate]) else None


def flip_with_replacement(flip_probabilities: Sequence[Fraction], *, rounds: int, randomness: Randomness) -> int | None:
    """The flipping form: rounds until one shows heads; ``None`` if `rounds` of them did not.

    A candidate that showed tails may be visited again, which is all that distinguishes it from permute-and-flip.
    """
    for _ in range(rounds):
        candidate = flip_one(flip_probabilities, randomness=randomness)
        if candidate is not None:
            return candidate
    return None
