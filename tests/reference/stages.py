"""Permute-and-flip as a race run in stages: many draws look at the early arrivals only.

Proof: ``proofs/exact_sampling.md``.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from tests.reference.randomness import Randomness


def chance_of_arriving(flip_probability: Fraction, *, start: Fraction, end: Fraction) -> Fraction:
    """Probability of arriving in ``[start, end)`` for a candidate that has not come before `start`.

    A candidate comes at all with its flip probability, and then at a uniform time of [0, 1).

    >>> chance_of_arriving(Fraction(1, 2), start=Fraction(1, 2), end=Fraction(1))
    Fraction(1, 3)
    """
    return flip_probability * (end - start) / (1 - flip_probability * start)


def first_arrival_by_stages(
    flip_probabilities: Sequence[Fraction], *, ends: Sequence[Fraction], randomness: Randomness
) -> int | None:
    """Go from stage to stage until someone arrives; return a uniform choice among those of that stage.

    `ends` are the ends of the stages, increasing, the last one 1.

    >>> from tests.reference.randomness import as_vector, exact_law
    >>> law = exact_law(lambda randomness: first_arrival_by_stages(
    ...     [Fraction(1), Fraction(1, 2)], ends=[Fraction(1, 3), Fraction(1)], randomness=randomness))
    >>> as_vector(law, count=2)
    (Fraction(3, 4), Fraction(1, 4))
    """
    start = Fraction(0)
    for end in ends:
        arrived = [
            i for i, p in enumerate(flip_probabilities) if randomness.coin(chance_of_arriving(p, start=start, end=end))
        ]
        if arrived:
            return arrived[randomness.uniform(len(arrived))]
        start = end
    return None
