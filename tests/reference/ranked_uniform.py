"""One of several uniforms in their order, bit by bit: a Beta variate; and the gap of two races that it decides. Exact.

Proof: ``proofs/free_gap.md``, claim 6.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from math import comb


def law_of_cells(rank: int, count: int, bits: int) -> dict[int, Fraction]:
    """In which of the ``2**bits`` equal parts of [0, 1) the uniform lies that `rank` of `count` are smaller than.

    At each bit, each uniform that is left in the cell falls into its lower half with probability 1/2.

    >>> law_of_cells(0, 2, 1)
    {0: Fraction(3, 4), 1: Fraction(1, 4)}
    """
    reached = Counter({(0, rank, count): Fraction(1)})
    for _ in range(bits):
        longer: Counter[tuple[int, int, int]] = Counter()
        for (cell, smaller, left), chance in reached.items():
            for lower in range(left + 1):
                share = chance * comb(left, lower) / 2**left
                if smaller < lower:
                    longer[2 * cell, smaller, lower] += share
                else:
                    longer[2 * cell + 1, smaller - lower, left - lower] += share
        reached = longer
    cells: Counter[int] = Counter()
    for (cell, _, _), chance in reached.items():
        cells[cell] += chance
    return dict(sorted(cells.items()))


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
