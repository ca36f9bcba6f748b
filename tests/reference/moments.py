"""Sums of shares from which mean, variance and number of units follow. Proof: ``proofs/moments.md``."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import comb


def shares(place: int, *, last: int, degree: int) -> list[int]:
    """What a unit whose value is at `place` of a grid from 0 to `last` adds to each sum."""
    return [comb(degree, k) * place**k * (last - place) ** (degree - k) for k in range(degree + 1)]


def sums(places: Sequence[int | None], *, last: int, degree: int) -> list[int]:
    """Of all units; those without a value add nothing.

    >>> sums([0, None, 3, 4], last=4, degree=1)
    [5, 7]
    """
    added = [shares(place, last=last, degree=degree) for place in places if place is not None]
    return [sum(each) for each in zip(*added, strict=True)] if added else [0] * (degree + 1)


def mean(of_shares: Sequence[int]) -> Fraction:
    """As a share of the width."""
    degree = len(of_shares) - 1
    return Fraction(sum(k * each for k, each in enumerate(of_shares)), degree * sum(of_shares))


def variance(of_shares: Sequence[int]) -> Fraction:
    """As a share of the squared width."""
    return Fraction(of_shares[2], sum(of_shares)) - mean(of_shares) ** 2


def moved(before: int | None, after: int | None, *, last: int, degree: int) -> int:
    """How much all sums change together if one unit's value changes, appears or disappears."""
    pair = [sums([place], last=last, degree=degree) for place in (before, after)]
    return sum(abs(one - other) for one, other in zip(*pair, strict=True))


def mean_error(noise: Sequence[int], exact: Fraction) -> Fraction:
    """The error of the noisy mean, times the noisy total: claim 5."""
    return (1 - exact) * noise[1] - exact * noise[0]


def linear_error(noise: Sequence[int], exact_mean: Fraction, exact_variance: Fraction) -> Fraction:
    """The linear part of the error of the noisy variance, times the noisy total: claim 6."""
    m, v = exact_mean, exact_variance
    return (m**2 - v) * noise[0] + (m**2 - m - v) * noise[1] + ((1 - m) ** 2 - v) * noise[2]
