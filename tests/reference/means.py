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
