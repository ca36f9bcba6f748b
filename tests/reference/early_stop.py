"""Permute-and-flip that stops asking for scores, in exact fractions. Proof: ``proofs/early_stop.md``.

``flips`` are the flip probabilities ``exp(-(best - score) / b)`` of permute-and-flip, of which the largest is 1;
``room`` is ``exp(-(ceiling - best) / b)``.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import permutations
from math import factorial, prod


def law(flips: Sequence[Fraction], rooms: Sequence[Fraction]) -> tuple[Fraction, ...]:
    """Probability of each item, over all orders; `rooms` has one room for each item, all equal in the mechanism.

    >>> law([Fraction(1), Fraction(1, 2)], [Fraction(1, 3)] * 2)
    (Fraction(3, 4), Fraction(1, 4))
    """
    found = [Fraction(0)] * len(flips)
    first = [room * flip for room, flip in zip(rooms, flips, strict=True)]
    second = [(flip - one) / (1 - one) if one < 1 else Fraction(0) for flip, one in zip(flips, first, strict=True)]
    for order in permutations(range(len(flips))):
        still = Fraction(1, factorial(len(flips)))
        for coins in (first, second):
            for item in order:
                found[item] += still * coins[item]
                still *= 1 - coins[item]
        assert still == 0
    return tuple(found)


def restarting(flips: Sequence[Fraction], room: Fraction) -> tuple[Fraction, ...]:
    """A control that is not private enough: a first pass after the other, with new coins, until one shows heads."""
    found = [Fraction(0)] * len(flips)
    for order in permutations(range(len(flips))):
        still = Fraction(1)
        for item in order:
            found[item] += still * room * flips[item]
            still *= 1 - room * flips[item]
    return tuple(each / sum(found) for each in found)


def calls(flips: Sequence[Fraction], room: Fraction) -> Fraction:
    """The expected number of scores that are asked for."""
    expected = Fraction(0)
    for order in permutations(range(len(flips))):
        for place in range(len(order)):
            expected += prod((1 - room * flips[item] for item in order[:place]), start=Fraction(1))
    return expected / factorial(len(flips))


def earliest_stop(own: Fraction) -> Fraction:
    """Of two items, the largest probability of answering with one whose other was not seen.

    `own` is ``exp(-(ceiling - score) / b)`` of it. Such an answer is given whatever the other score is, so its
    probability is at most that of the item where the other is at the ceiling.
    """
    other_at_ceiling = [own, Fraction(1)]
    return law(other_at_ceiling, [Fraction(1)] * 2)[0]
