"""The gap of two races, by how many proposals each takes. Exact.

Proof: ``proofs/free_gap.md``, claim 6.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from math import comb


def chance_below(x: Fraction, rank: int, count: int) -> Fraction:
    """That the uniform which `rank` of `count` are smaller than is below `x`: that more than `rank` are."""
    return sum(
        (comb(count, below) * x**below * (1 - x) ** (count - below) for below in range(rank + 1, count + 1)),
        start=Fraction(0),
    )


def gap_tail_by_proposals(
    weights: Sequence[Fraction], bounds: Sequence[Fraction], winner: int, factor: Fraction, *, most: int
) -> tuple[Fraction, Fraction]:
    """The chance that `winner` wins the race and is ahead by ``b ln(factor)`` at least, from numbers of proposals.

    Candidate i has the weight ``exp((s_i - s_best) / b)``, is proposed at the rate ``bounds[i]``, at least its weight,
    and accepted with their quotient. The first race ends with proposal N1, the second one, of all others, with its N2.
    Their times are Gamma variates of N1 and N2 over the rates, and the first variate's share of both is the uniform
    that N1 - 1 of N1 + N2 - 1 are smaller than.

    Returns:
        The sum over N1 and N2 up to `most`, and a bound of what is missing.
    """
    first_rate = sum(bounds, start=Fraction(0))
    rest_rate = first_rate - bounds[winner]
    passed = 1 - sum(weights) / first_rate
    passed_by_others = 1 - (sum(weights) - weights[winner]) / rest_rate
    # The gap is ln(1 + rest / first): it is large enough if share (factor - 1) / first_rate <= (1 - share) / rest_rate.
    largest_share = first_rate / (first_rate + (factor - 1) * rest_rate)
    total = Fraction(0)
    for first, rest in product(range(1, most + 1), repeat=2):
        chance = passed ** (first - 1) * weights[winner] / first_rate
        chance *= passed_by_others ** (rest - 1) * (1 - passed_by_others)
        total += chance * chance_below(largest_share, first - 1, first + rest - 1)
    return total, passed**most + passed_by_others**most
