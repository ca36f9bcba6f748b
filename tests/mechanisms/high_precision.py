"""The laws in many digits, straight from their definitions: what the product's quadratures are held against.

Integrands are polynomials (times a power), so they are integrated exactly, coefficient by coefficient. The
coefficients alternate in sign and are as large as 2^n, so the working precision grows with n: about 50 digits are
right in the end.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any

import mpmath as mp
import numpy as np

Real = Any
"""An ``mpmath.mpf``; mpmath has no type hints."""


def scaled_gaps(scores: Sequence[float] | Sequence[int], *, scale: Fraction) -> list[Fraction]:
    """``(best - score) / scale``, exactly."""
    exact = [Fraction(score) for score in scores]
    return [(max(exact) - score) / scale for score in exact]


def exponential(x: Sequence[Fraction | float]) -> list[Real]:
    """``exp(-x_i)``, normalised."""
    with mp.workdps(70):
        p = _flip_probabilities(x)
        return [each / mp.fsum(p) for each in p]


def permute_and_flip(x: Sequence[Fraction | float]) -> list[Real]:
    """``p_i * integral_0^1 prod_{j != i} (1 - t p_j) dt``."""
    with mp.workdps(60 + len(x)):
        p = _flip_probabilities(x)
        whole = _product(p)
        return [each * _integral(_without(whole, each), power=0, start=mp.mpf(0), end=mp.mpf(1)) for each in p]


def laplace(x: Sequence[Fraction | float]) -> list[Real]:
    """Probability that ``-x_i`` plus standard Laplace noise is the largest, cell by cell between the scores.

    With t = exp(-value), the noise of candidate j stays below with probability ``1 - t p_j / 2`` up to
    ``t = 1 / p_j`` and ``1 / (2 t p_j)`` beyond.
    """
    with mp.workdps(80 + 2 * len(x)):
        p = _flip_probabilities(x)
        ends = [mp.mpf(0), *sorted({1 / each for each in p})]
        chances = [mp.mpf(0) for _ in p]
        for start, end in pairwise(ends):
            passed = [i for i, each in enumerate(p) if 1 / each <= start]
            ahead = [i for i, each in enumerate(p) if 1 / each > start]
            constant = mp.fprod(1 / (2 * p[i]) for i in passed)
            whole = _product([p[i] / 2 for i in ahead])
            for i in ahead:
                rest = _without(whole, p[i] / 2)
                chances[i] += p[i] / 2 * constant * _integral(rest, power=-len(passed), start=start, end=end)
            for i in passed:
                chances[i] += constant * _integral(whole, power=-len(passed) - 1, start=start, end=end)
        below_all = mp.fprod(1 / (2 * each * ends[-1]) for each in p) / len(p)
        return [chance + below_all for chance in chances]


def largest_relative_error(computed: np.ndarray, exact: Sequence[Real]) -> float:
    return max(float(abs(mp.mpf(float(c)) / e - 1)) for c, e in zip(computed, exact, strict=True))


def _flip_probabilities(x: Sequence[Fraction | float]) -> list[Real]:
    exact = [Fraction(each) for each in x]
    return [mp.exp(-mp.mpf(each.numerator) / each.denominator) for each in exact]


def _product(p: Sequence[Real]) -> list[Real]:
    """Coefficients of ``prod_j (1 - t p_j)``, lowest first."""
    coefficients = [mp.mpf(1)]
    for each in p:
        coefficients = [
            high - each * low for high, low in zip([*coefficients, mp.mpf(0)], [mp.mpf(0), *coefficients], strict=True)
        ]
    return coefficients


def _without(whole: Sequence[Real], p: Real) -> list[Real]:
    """The same without the factor ``1 - t p``: division from the lowest coefficient."""
    quotient = [whole[0]]
    for coefficient in whole[1:-1]:
        quotient.append(coefficient + p * quotient[-1])
    return quotient


def _integral(coefficients: Sequence[Real], *, power: int, start: Real, end: Real) -> Real:
    """``integral t^power * polynomial(t) dt``."""
    terms: list[Real] = []
    for k, coefficient in enumerate(coefficients, start=power + 1):
        span = mp.log(end / start) if k == 0 else (end**k - start**k) / k
        terms.append(coefficient * span)
    return mp.fsum(terms)
