"""Values drawn one after another until "stop", in exact fractions. Proof: ``proofs/stop_candidate.md``.

``growth`` stands for e^(1/b), and is rational here.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import permutations

Order = tuple[int, ...]
"""The values drawn before "stop", or the first k."""

Law = dict[Order, Fraction]


def weights(counts: Sequence[int], growth: Fraction) -> list[Fraction]:
    """Of the values; one that no unit has cannot be drawn."""
    return [growth**count if count else Fraction(0) for count in counts]


def law(counts: Sequence[int], growth: Fraction, base: Fraction, *, k: int, more: int = 1) -> Law:
    """Rounds among what is left and "stop", whose weight is base * growth^more.

    >>> {order: str(chance) for order, chance in law([2, 0, 1], Fraction(2), Fraction(3), k=2).items()}
    {(): '1/2', (0,): '1/4', (0, 2): '1/12', (2,): '1/10', (2, 0): '1/15'}
    """
    of, stop = weights(counts, growth), base * growth**more
    found: Law = {}

    def drawn(order: Order, reached: Fraction) -> None:
        left = [place for place, weight in enumerate(of) if weight and place not in order]
        if len(order) == k:
            found[order] = reached
            return
        total = stop + sum((of[place] for place in left), Fraction(0))
        found[order] = reached * stop / total
        for place in left:
            drawn((*order, place), reached * of[place] / total)

    drawn((), Fraction(1))
    return found


def by_coins(counts: Sequence[int], growth: Fraction, base: Fraction, *, k: int) -> Law:
    """The same in another way: first values without "stop", then a coin before each of them that ends the answer.

    >>> by_coins([2, 0, 1], Fraction(2), Fraction(3), k=2) == law([2, 0, 1], Fraction(2), Fraction(3), k=2)
    True
    """
    of, stop = weights(counts, growth), base * growth
    occurring = [place for place, weight in enumerate(of) if weight]
    found: Law = {}
    for order in permutations(occurring, min(k, len(occurring))):
        left, reached = sum((of[place] for place in occurring), Fraction(0)), Fraction(1)
        peeled, rest = Fraction(1), left
        for place in order:
            peeled *= of[place] / rest
            rest -= of[place]
        for length, place in enumerate(order):
            stopping = stop / (stop + left)
            found[order[:length]] = found.get(order[:length], Fraction(0)) + peeled * reached * stopping
            reached, left = reached * (1 - stopping), left - of[place]
        found[order] = found.get(order, Fraction(0)) + peeled * reached
    return found


def failure(one: Law, other: Law, growth: Fraction) -> Fraction:
    """The smallest delta at which `one` is at most `growth` times as likely as `other`, plus delta, in every event."""
    zero = Fraction(0)
    return sum((max(zero, chance - growth * other.get(order, zero)) for order, chance in one.items()), zero)
