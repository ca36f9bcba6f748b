"""Draws from a histogram mixed with the uniform distribution, exactly. Proof: ``proofs/noisy_histograms.md``."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from math import prod


def law_of_one_draw(counts: Sequence[int], *, rate: Fraction) -> tuple[Fraction, ...]:
    """Probability of each bin: proportional to ``1 + rate * count``.

    >>> law_of_one_draw([3, 0], rate=Fraction(1))
    (Fraction(4, 5), Fraction(1, 5))
    """
    weights = [1 + rate * count for count in counts]
    return tuple(weight / sum(weights) for weight in weights)


def law_of_draws(counts: Sequence[int], *, rate: Fraction, k: int) -> dict[tuple[int, ...], Fraction]:
    """Probability of every sequence of `k` bins."""
    single = law_of_one_draw(counts, rate=rate)
    return {bins: prod(single[each] for each in bins) for bins in product(range(len(counts)), repeat=k)}


def worst_ratio(counts: Sequence[int], neighbour: Sequence[int], *, rate: Fraction, k: int) -> Fraction:
    """The largest quotient of probabilities of a sequence, in either direction."""
    here, there = (law_of_draws(each, rate=rate, k=k) for each in (counts, neighbour))
    return max(max(here[bins] / there[bins], there[bins] / here[bins]) for bins in here)
