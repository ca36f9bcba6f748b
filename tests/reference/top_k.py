"""Ordered selections of ``k``: peeling (select, take out, select again) and noise added once.

Proof: ``proofs/top_k.md``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

from tests.reference.races import Order, exponential_race, uniform_race

SelectionLaw = Callable[[Sequence[Fraction]], tuple[Fraction, ...]]


def peeled(selection_law: SelectionLaw, flip_probabilities: Sequence[Fraction], *, k: int) -> dict[Order, Fraction]:
    """Law of ``k`` selections, each among the candidates the ones before it left, with independent randomness.

    The best candidate left is the best there is: flip probabilities are measured from it again.

    >>> from tests.reference.exponential import law
    >>> peeled(law, [Fraction(1), Fraction(1, 2), Fraction(1, 2)], k=2)[0, 1]
    Fraction(1, 4)
    """
    chances: dict[Order, Fraction] = {(): Fraction(1)}
    for _ in range(k):
        longer: dict[Order, Fraction] = {}
        for order, reached in chances.items():
            left = [i for i in range(len(flip_probabilities)) if i not in order]
            best = max(flip_probabilities[i] for i in left)
            selection = selection_law(tuple(flip_probabilities[i] / best for i in left))
            for i, chance in zip(left, selection, strict=True):
                longer[(*order, i)] = reached * chance
        chances = longer
    return chances


def gumbel_noise_once(flip_probabilities: Sequence[Fraction], *, k: int) -> dict[Order, Fraction]:
    """Law of the ``k`` largest noisy scores, in order, with one Gumbel variable a candidate."""
    return exponential_race(flip_probabilities, finishers=k)


def exponential_noise_once(flip_probabilities: Sequence[Fraction], *, k: int) -> dict[Order, Fraction]:
    """Law of the ``k`` largest noisy scores, in order, with one exponential variable a candidate."""
    return uniform_race(flip_probabilities, finishers=k)
