"""Polynomials with exact coefficients, lowest degree first."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction

Polynomial = tuple[Fraction, ...]


def product(factors: Iterable[Sequence[Fraction]]) -> Polynomial:
    """Product of `factors`; 1 if there are none.

    >>> [int(c) for c in product([(Fraction(1), Fraction(-1)), (Fraction(1), Fraction(1))])]
    [1, 0, -1]
    """
    result = [Fraction(1)]
    for factor in factors:
        longer = [Fraction(0)] * (len(result) + len(factor) - 1)
        for i, left in enumerate(result):
            for j, right in enumerate(factor):
                longer[i + j] += left * right
        result = longer
    return tuple(result)


def evaluate(polynomial: Sequence[Fraction], at: Fraction) -> Fraction:
    """Value of `polynomial` at a point, by Horner's rule.

    >>> evaluate((Fraction(1), Fraction(2)), Fraction(3))
    Fraction(7, 1)
    """
    value = Fraction(0)
    for coefficient in reversed(polynomial):
        value = value * at + coefficient
    return value


def antiderivative(polynomial: Sequence[Fraction]) -> Polynomial:
    """The antiderivative that is 0 at 0.

    >>> antiderivative((Fraction(1), Fraction(1)))
    (Fraction(0, 1), Fraction(1, 1), Fraction(1, 2))
    """
    return (Fraction(0), *(coefficient / (power + 1) for power, coefficient in enumerate(polynomial)))
