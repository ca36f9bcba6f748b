"""Permute-and-flip: two programs and seven ways to write its law, all exact. Proof: ``proofs/permute_and_flip.md``.

Everywhere ``p_i`` is the probability that candidate ``i``'s coin shows heads, 1 for the best.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import combinations, permutations
from math import factorial, prod

from tests.reference.polynomials import antiderivative, evaluate, product
from tests.reference.randomness import Randomness

Law = Callable[[Sequence[Fraction]], tuple[Fraction, ...]]


def permute_and_flip(flip_probabilities: Sequence[Fraction], *, randomness: Randomness) -> int:
    """Algorithm 1 of the paper: visit in random order, each candidate once; return the first heads."""
    unvisited = list(range(len(flip_probabilities)))
    while True:
        candidate = unvisited.pop(randomness.uniform(len(unvisited)))
        if randomness.coin(flip_probabilities[candidate]):
            return candidate


def flip_all(flip_probabilities: Sequence[Fraction], *, randomness: Randomness) -> int:
    """The same law without an order: flip every coin, return a uniform choice among the heads."""
    heads = [i for i, p in enumerate(flip_probabilities) if randomness.coin(p)]
    return heads[randomness.uniform(len(heads))]


def law_by_permutations(flip_probabilities: Sequence[Fraction]) -> tuple[Fraction, ...]:
    """The first formula: the mean over orders of ``p_i`` times the tails of everything before ``i``.

    >>> law_by_permutations([Fraction(1), Fraction(1, 2)])
    (Fraction(3, 4), Fraction(1, 4))
    """
    p = tuple(flip_probabilities)
    chances = [Fraction(0)] * len(p)
    for order in permutations(range(len(p))):
        reached = Fraction(1)
        for i in order:
            chances[i] += reached * p[i]
            reached *= 1 - p[i]
    return tuple(chance / factorial(len(p)) for chance in chances)


def law_by_inclusion_exclusion(flip_probabilities: Sequence[Fraction]) -> tuple[Fraction, ...]:
    """The second formula: ``p_i * sum over sets S without i of (-1)^|S| / (|S| + 1) * prod of p over S``."""
    p = tuple(flip_probabilities)
    chances: list[Fraction] = []
    for i in range(len(p)):
        others = p[:i] + p[i + 1 :]
        subsets = (subset for size in range(len(p)) for subset in combinations(others, size))
        chances.append(p[i] * sum(Fraction((-1) ** len(s), len(s) + 1) * prod(s) for s in subsets))
    return tuple(chances)


def law_by_recurrence(flip_probabilities: Sequence[Fraction]) -> tuple[Fraction, ...]:
    """The recurrence on the first visit: ``i`` shows heads, or ``j`` shows tails and is taken out."""
    p = tuple(flip_probabilities)

    def chance(i: int, left: tuple[int, ...]) -> Fraction:
        after_tails = ((1 - p[j]) * chance(i, tuple(k for k in left if k != j)) for j in left if j != i)
        return (p[i] + sum(after_tails)) / len(left)

    return tuple(chance(i, tuple(range(len(p)))) for i in range(len(p)))


def law_by_dynamic_program(flip_probabilities: Sequence[Fraction]) -> tuple[Fraction, ...]:
    """The second formula in quadratic time: its sets enter only through the elementary symmetric polynomials.

    ``e_k`` of all candidates takes one pass; without candidate ``i`` it is ``e_k - p_i * e_(k-1) without i``.
    Exact in fractions; in floats the alternating sum cancels and the result is worthless once ``sum(p)`` is large.
    """
    p = tuple(flip_probabilities)
    count = len(p)
    symmetric = [Fraction(1)] + [Fraction(0)] * count
    for seen, p_j in enumerate(p, start=1):
        for k in range(seen, 0, -1):
            symmetric[k] += p_j * symmetric[k - 1]
    chances: list[Fraction] = []
    for p_i in p:
        without, total = Fraction(1), Fraction(1)
        for k in range(1, count):
            without = symmetric[k] - p_i * without
            total += without * (-1) ** k / (k + 1)
        chances.append(p_i * total)
    return tuple(chances)


def law_by_integral(flip_probabilities: Sequence[Fraction]) -> tuple[Fraction, ...]:
    """``p_i`` times the integral over ``t`` from 0 to 1 of the product over ``j != i`` of ``1 - t p_j``."""
    p = tuple(flip_probabilities)
    chances: list[Fraction] = []
    for i in range(len(p)):
        integrand = product((Fraction(1), -p_j) for j, p_j in enumerate(p) if j != i)
        chances.append(p[i] * evaluate(antiderivative(integrand), Fraction(1)))
    return tuple(chances)


def law_by_positions(flip_probabilities: Sequence[Fraction]) -> tuple[Fraction, ...]:
    """``p_i`` times the mean over ``k`` of ``a_k``: the mean, over ``k``-sets of others, of all showing tails.

    Every term is positive, so unlike the alternating sums this one is accurate in floats as well:
    adding candidate ``j`` as the ``m``-th gives ``a_k <- (m-k)/m a_k + k/m (1-p_j) a_(k-1)``.
    """
    p = tuple(flip_probabilities)
    chances: list[Fraction] = []
    for i in range(len(p)):
        means = [Fraction(1)]
        for m, p_j in enumerate(p[:i] + p[i + 1 :], start=1):
            tails = [(1 - p_j) * mean for mean in means]
            without, within = [*means, Fraction(0)], [Fraction(0), *tails]
            means = [(without[k] * (m - k) + within[k] * k) / m for k in range(m + 1)]
        chances.append(p[i] * sum(means) / len(p))
    return tuple(chances)


def law_by_heads(flip_probabilities: Sequence[Fraction]) -> tuple[Fraction, ...]:
    """Sum over every set of heads of its probability, shared equally among its members."""
    p = tuple(flip_probabilities)
    chances = [Fraction(0)] * len(p)
    for size in range(1, len(p) + 1):
        for heads in combinations(range(len(p)), size):
            chance = prod((p[i] if i in heads else 1 - p[i] for i in range(len(p))), start=Fraction(1))
            for i in heads:
                chances[i] += chance / size
    return tuple(chances)


LAWS: tuple[Law, ...] = (
    law_by_permutations,
    law_by_inclusion_exclusion,
    law_by_recurrence,
    law_by_dynamic_program,
    law_by_integral,
    law_by_positions,
    law_by_heads,
)
"""Every way to write the law; tests check that they are one."""
