"""Scores for the mean of n numbers in [0, 1], and how they move. Proof: ``proofs/means.md``."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction


def mean(values: Sequence[Fraction]) -> Fraction:
    return sum(values, Fraction(0)) / len(values)


def absolute_score(values: Sequence[Fraction], y: Fraction) -> Fraction:
    return -abs(y - mean(values))


def squared_score(values: Sequence[Fraction], y: Fraction) -> Fraction:
    return -((y - mean(values)) ** 2)


def squared_sensitivity(n: int) -> Fraction:
    """The most the squared score of any one answer moves."""
    return Fraction(2 * n - 1, n**2)


def squared_range(n: int) -> Fraction:
    """The most the squared score of one answer moves against that of another."""
    return Fraction(2, n)


def on_the_grid(value: Fraction, *, step: Fraction) -> int:
    """The index of the nearest grid point, for a value in [0, 1]."""
    return round(min(max(value, Fraction(0)), Fraction(1)) / step)


def exact_mean(values: Sequence[Fraction], *, step: Fraction) -> Fraction:
    """The mean of the values' grid points: one sum of integers."""
    return step * Fraction(sum(on_the_grid(value, step=step) for value in values), len(values))


def mean_of_units(values: Sequence[Fraction | None], *, units: int) -> Fraction:
    """The mean over a public number of units of values in [0, 1]: those without one count as the middle.

    >>> mean_of_units([Fraction(1), None], units=4)
    Fraction(5, 8)
    """
    half = Fraction(1, 2)
    total = sum((value - half for value in values if value is not None), Fraction(0))
    return min(max(half + total / units, Fraction(0)), Fraction(1))
