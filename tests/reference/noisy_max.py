"""Report-noisy-max: the law of the candidate whose noisy score is largest. Proof: ``proofs/noisy_max.md``.

Scores enter as weights ``exp(score_i / scale)``, positive fractions of which only the ratios matter; the flip
probabilities ``p_i`` of the other models are such weights.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from tests.reference.precision import logarithm
from tests.reference.races import exponential_race, uniform_race


def exponential_noise_law(weights: Sequence[Fraction]) -> tuple[Fraction, ...]:
    """Law of the largest ``score_i + scale * E_i``, the ``E_i`` independent standard exponentials.

    >>> exponential_noise_law([Fraction(1), Fraction(1, 2)])
    (Fraction(3, 4), Fraction(1, 4))
    """
    race = uniform_race(weights, finishers=1)
    return tuple(race[i,] for i in range(len(weights)))


def gumbel_noise_law(weights: Sequence[Fraction]) -> tuple[Fraction, ...]:
    """Law of the largest ``score_i + scale * G_i``, the ``G_i`` independent standard Gumbel variables.

    >>> gumbel_noise_law([Fraction(1), Fraction(1, 2)])
    (Fraction(2, 3), Fraction(1, 3))
    """
    race = exponential_race(weights, finishers=1)
    return tuple(race[i,] for i in range(len(weights)))


@dataclass(frozen=True)
class WithLogarithms:
    """The real number ``rational + sum of coefficient * ln(argument)``, everything in it exact."""

    rational: Fraction
    logarithms: Mapping[Fraction, Fraction]

    def value(self) -> Fraction:
        """The number to more than 50 digits: only here is anything rounded, each logarithm once."""
        return self.rational + sum(c * logarithm(argument) for argument, c in self.logarithms.items())


Laurent = dict[int, Fraction]
"""Coefficients by power, which may be negative."""


def laplace_noise_law(weights: Sequence[Fraction]) -> tuple[WithLogarithms, ...]:
    """Law of the largest ``score_i + scale * L_i``, the ``L_i`` independent standard Laplace variables.

    With ``y = exp(noisy score / scale)`` and ``a_i = weights[i]``, the chance of staying below ``y`` is
    ``y / (2 a_i)`` up to ``a_i`` and ``1 - a_i / (2 y)`` beyond: between consecutive weights every integrand is a
    polynomial in ``y`` and ``1 / y``, whose antiderivative is exact but for one logarithm.

    >>> worse = laplace_noise_law([Fraction(1), Fraction(1, 2)])[1]
    >>> worse.rational, worse.logarithms                                   # 1/4 + ln(2)/8
    (Fraction(1, 4), {Fraction(1, 2): Fraction(-1, 8), Fraction(1, 1): Fraction(1, 8)})
    >>> round(float(worse.value()), 4)
    0.3366
    """
    grid = [Fraction(0), *sorted(set(weights)), None]
    chances: list[WithLogarithms] = []
    for i, own in enumerate(weights):
        rational, logarithms = Fraction(0), defaultdict[Fraction, Fraction](Fraction)
        for start, end in pairwise(grid):
            assert start is not None
            above = [start >= a for a in weights]
            integrand: Laurent = {-2: own / 2} if above[i] else {0: 1 / (2 * own)}
            for j, a in enumerate(weights):
                if j != i:
                    integrand = _times(integrand, {0: Fraction(1), -1: -a / 2} if above[j] else {1: 1 / (2 * a)})
            for power, coefficient in integrand.items():
                if power == -1:  # only between two weights: the first cell has powers >= 0, the last one <= -2
                    assert end is not None
                    logarithms[start] -= coefficient
                    logarithms[end] += coefficient
                else:
                    at_end = Fraction(0) if end is None else end ** (power + 1)
                    at_start = Fraction(0) if start == 0 else start ** (power + 1)
                    rational += coefficient * (at_end - at_start) / (power + 1)
        chances.append(WithLogarithms(rational, dict(logarithms)))
    return tuple(chances)


def _times(left: Laurent, right: Laurent) -> Laurent:
    result: defaultdict[int, Fraction] = defaultdict(Fraction)
    for power, coefficient in left.items():
        for other, factor in right.items():
            result[power + other] += coefficient * factor
    return dict(result)
