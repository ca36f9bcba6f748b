"""The best of a secret number of private runs, in exact fractions. Proof: ``proofs/private_candidates.md``.

A run has finitely many outcomes, in increasing order of their score; ``run[i]`` is the probability of the i-th.
``counts[k]`` is the probability of k runs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import product
from math import prod

Law = Sequence[Fraction]


def best(run: Law, counts: Law) -> list[Fraction]:
    """Probability that each outcome is the best of all runs; first that there is no run.

    >>> half = Fraction(1, 2)
    >>> best([half, half], [half, 0, half])
    [Fraction(1, 2), Fraction(1, 8), Fraction(3, 8)]
    """
    found, below = [Fraction(counts[0])], Fraction(0)
    for chance in run:
        found.append(power_mean(counts, below + chance) - power_mean(counts, below))
        below += chance
    return found


def best_by_enumeration(run: Law, counts: Law) -> list[Fraction]:
    """The same, from all sequences of outcomes."""
    found = [Fraction(counts[0]), *[Fraction(0)] * len(run)]
    for k, chance in enumerate(counts):
        for outcomes in product(range(len(run)), repeat=k) if k else ():
            found[1 + max(outcomes)] += chance * prod((run[each] for each in outcomes), start=Fraction(1))
    return found


def power_mean(counts: Law, x: Fraction) -> Fraction:
    """f(x), the mean of x to the number of runs."""
    return sum((chance * x**k for k, chance in enumerate(counts)), Fraction(0))


def slope(counts: Law, x: Fraction) -> Fraction:
    """f'(x)."""
    return sum((k * chance * x ** (k - 1) for k, chance in enumerate(counts) if k), Fraction(0))


def lowered(x: Fraction, grown: Fraction) -> Fraction:
    """The smallest probability that a set of probability x can have in a neighbour, if e^epsilon is `grown`."""
    return max(x / grown, 1 - grown * (1 - x))


def exp_cost(counts: Law, grown: Fraction, steps: int = 60) -> Fraction:
    """e to the claimed loss: the largest ``grown * f'(x) / f'(lowered(x))`` on a grid, and where both bounds meet."""
    points = [Fraction(step, steps) for step in range(1, steps + 1)] + [grown / (1 + grown)]
    return max(grown * slope(counts, x) / slope(counts, lowered(x, grown)) for x in points)


def pairs(grown: Fraction, sliver: Fraction, steps: int) -> Iterator[tuple[list[Fraction], list[Fraction]]]:
    """Pairs of runs, each e^epsilon apart at most: below, one outcome of small probability, above."""
    for step in range(1, steps):
        x = Fraction(step, steps)
        less = lowered(x, grown)
        here = [x - sliver, sliver, 1 - x]
        there = [less - sliver / grown, sliver / grown, 1 - less]
        if min(*here, *there) >= 0 and all(a <= grown * b and b <= grown * a for a, b in zip(here, there, strict=True)):
            yield here, there


def exp_worst(counts: Law, grown: Fraction, *, sliver: Fraction, steps: int) -> Fraction:
    """e to the largest loss over such pairs."""
    worst = Fraction(1)
    for here, there in pairs(grown, sliver, steps):
        for one, other in zip(best(here, counts), best(there, counts), strict=True):
            if other:
                worst = max(worst, one / other)
    return worst


def runs(eta: Fraction, stop: Fraction, most: int) -> list[Fraction]:
    """The truncated negative binomial law up to `most` runs, without its factor; what is left out is "nothing".

    The factor is that with which all add up to 1, which no ratio of probabilities of runs depends on. Here it is taken
    so that the law up to `most` adds up to 1 less nothing.
    """
    weights = [Fraction(1)]
    for k in range(1, most):
        weights.append(weights[-1] * (1 - stop) * (k + eta) / (k + 1))
    return [Fraction(0), *(weight / sum(weights) for weight in weights)]


def exp_closed(eta: int, stop: Fraction, grown: Fraction) -> Fraction:
    """e to the claimed loss of the truncated negative binomial law, for whole shapes."""
    return grown * ((grown + stop) / (1 + stop * grown)) ** (1 + eta)
