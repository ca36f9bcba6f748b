"""The bounds of an audit, in exact fractions: no special function, no doubles."""

from __future__ import annotations

from fractions import Fraction
from math import comb


def at_least(count: int, size: int, p: Fraction) -> Fraction:
    """The probability of `count` heads or more in `size` tosses."""
    return sum((comb(size, k) * p**k * (1 - p) ** (size - k) for k in range(count, size + 1)), Fraction(0))


def may_be(p: Fraction, count: int, size: int, error: Fraction, *, low: bool) -> bool:
    """Whether `p` is within the one-sided Clopper-Pearson bound: so many heads, or more extreme, are not too rare."""
    tail = at_least(count, size, p) if low else 1 - at_least(count + 1, size, p)
    return tail >= error


def lower_bound(p_low: Fraction, q_high: Fraction, delta: Fraction) -> Fraction:
    """Of e to the power of epsilon, from bounds of an event's two probabilities."""
    return max(Fraction(1), (p_low - delta) / q_high) if p_low > delta else Fraction(1)


def coverage(bounds: list[list[float]], p: Fraction, q: Fraction, claimed: float) -> Fraction:
    """The probability that counts with probabilities `p` and `q` give a bound above `claimed`; exact."""
    size = len(bounds) - 1

    def pmf(count: int, chance: Fraction) -> Fraction:
        return comb(size, count) * chance**count * (1 - chance) ** (size - count)

    return sum(
        (
            pmf(more, p) * pmf(less, q)
            for more, row in enumerate(bounds)
            for less, bound in enumerate(row)
            if bound > claimed
        ),
        Fraction(0),
    )
