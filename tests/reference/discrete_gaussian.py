"""The discrete Gaussian law, how it is drawn, and how much it gives away. Proof: ``proofs/discrete_gaussian.md``."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import prod

from tests.reference.precision import exponential


def law(variance: Fraction, *, reach: int) -> dict[int, Fraction]:
    """Probabilities of noise up to `reach`, beyond which the law is cut off."""
    weights = {y: exponential(-Fraction(y * y) / (2 * variance)) for y in range(-reach, reach + 1)}
    total = sum(weights.values())
    return {y: weight / total for y, weight in weights.items()}


def by_rejection(variance: Fraction, *, block: int, reach: int) -> dict[int, Fraction]:
    """The law of geometric proposals of scale `block` that a coin has kept."""

    def kept(y: int) -> Fraction:
        return exponential(-((abs(y) - variance / block) ** 2) / (2 * variance))

    proposed = {y: exponential(-Fraction(abs(y), block)) for y in range(-reach, reach + 1)}
    weights = {y: weight * kept(y) for y, weight in proposed.items()}
    total = sum(weights.values())
    return {y: weight / total for y, weight in weights.items()}


def worst_delta(variance: Fraction, *, moves: int, epsilon: Fraction, reach: int = 16) -> Fraction:
    """The probability by which `epsilon` fails if so many numbers move by 1, all the same way."""
    noise, grown = law(variance, reach=reach), exponential(epsilon)
    total = Fraction(0)
    for answer in product(range(-reach + 1, reach + 1), repeat=moves):
        here, there = (prod(noise[y - moved] for y in answer) for moved in (0, 1))
        total += max(there - grown * here, Fraction(0))
    return total
