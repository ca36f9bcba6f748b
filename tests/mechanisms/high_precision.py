"""The laws in many digits, straight from their definitions: what the product's quadratures are held against.

Integrands are polynomials (times a power), so they are integrated exactly, coefficient by coefficient. The
coefficients alternate in sign and are as large as 2^n, so the working precision grows with n: about 50 digits are
right in the end. Coefficients are whole numbers of units of ``2^-bits``, because Python adds those fastest.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any

import mpmath as mp
import numpy as np

Real = Any
"""An ``mpmath.mpf``; mpmath has no type hints."""

Law = Callable[[Sequence[Fraction | float]], list[Real]]

_LAST_VISIBLE = 180
"""The noisy maximum falls below this many scores with a probability below 2^-180."""

_DEEPEST = 2000
"""Nor does anything this many scales below the best matter, except to candidates of probability below e^-1900."""


def scaled_gaps(scores: Sequence[float] | Sequence[int], *, scale: Fraction) -> list[Fraction]:
    """``(best - score) / scale``, exactly."""
    exact = [Fraction(score) for score in scores]
    return [(max(exact) - score) / scale for score in exact]


def exponential(x: Sequence[Fraction | float]) -> list[Real]:
    """``exp(-x_i)``, normalised."""
    with mp.workdps(70):
        p = _flip_probabilities(x)
        total = mp.fsum(p)
        return [each / total for each in p]


def permute_and_flip(x: Sequence[Fraction | float]) -> list[Real]:
    """``p_i * integral_0^1 prod_{j != i} (1 - t p_j) dt``."""
    bits = _bits(len(x))
    with mp.workprec(bits):
        p = _flip_probabilities(x)
        fixed = {each: _fixed(each, bits) for each in set(p)}
        whole = _product([fixed[each] for each in p], bits)
        integrals = {
            each: sum(c // power for power, c in enumerate(_without(whole, fixed[each], bits), start=1))
            for each in fixed
        }
        return [each * mp.ldexp(integrals[each], -bits) for each in p]


def laplace(x: Sequence[Fraction | float]) -> list[Real]:
    """Probability that ``-x_i`` plus standard Laplace noise is the largest, cell by cell between the scores.

    With t = exp(-value), the noise of candidate j stays below with probability ``1 - t p_j / 2`` up to
    ``t = 1 / p_j`` and ``1 / (2 t p_j)`` beyond. In each cell the variable is t divided by the cell's end.
    """
    bits = _bits(len(x))
    with mp.workprec(2 * bits):
        p = _flip_probabilities(x)
        counts = Counter(p)
        levels = sorted(counts, reverse=True)
        chances = dict.fromkeys(levels, mp.mpf(0))
        passed, constant = 0, mp.mpf(1)  # the constant: prod of 1 / (2 p_j) over those passed
        edges = [mp.mpf(0), *(min(1 / each, mp.exp(_DEEPEST)) for each in levels)]
        for place, (start, end) in enumerate(pairwise(edges)):
            if passed > _LAST_VISIBLE or start == end:
                break
            ahead = levels[place:]
            fixed = {each: _fixed(each * end / 2, bits) for each in ahead}
            whole = _product([fixed[each] for each in ahead for _ in range(counts[each])], bits)
            common = constant * end ** (1 - passed)  # with one `end` too many, so that units of 2^-bits are fine enough
            lowest = -passed - 1
            powers = [_integral(e, start / end) if passed or e >= 0 else 0 for e in range(lowest, lowest + len(whole))]
            powers = [_fixed(common * each, bits) for each in powers]
            for each in ahead:
                rest = _without(whole, fixed[each], bits)
                chances[each] += each / 2 * _sum_of_products(rest, powers[1:], bits)
            if passed:
                of_one_passed = _sum_of_products(whole, powers, bits) / end
                for each in levels[:place]:
                    chances[each] += of_one_passed
            passed += counts[levels[place]]
            constant /= (2 * levels[place]) ** counts[levels[place]]
        if passed == len(p):  # below all scores all are equally likely
            chances = {each: chance + constant * levels[-1] ** passed / passed for each, chance in chances.items()}
        return [chances[each] for each in p]


def expected_error(gaps: Sequence[Fraction], probabilities: Sequence[Real]) -> Real:
    """The mean of the gaps, in their unit."""
    with mp.workdps(60):
        return mp.fsum(
            gap.numerator * chance / gap.denominator for gap, chance in zip(gaps, probabilities, strict=True)
        )


def relative_error(computed: float, exact: Real) -> float:
    """How far `computed` is from `exact`, as a fraction of it; 0 where both are 0."""
    with mp.workdps(60):
        return float(abs(mp.mpf(computed) / exact - 1)) if exact else abs(float(computed))


def largest_relative_error(computed: np.ndarray, exact: Sequence[Real]) -> float:
    return max(relative_error(float(c), e) for c, e in zip(computed, exact, strict=True))


def _bits(n: int) -> int:
    return 240 + 2 * n


def _flip_probabilities(x: Sequence[Fraction | float]) -> list[Real]:
    exact = [Fraction(each) for each in x]
    of = {each: mp.exp(-mp.mpf(each.numerator) / each.denominator) for each in set(exact)}
    return [of[each] for each in exact]


def _fixed(value: Real, bits: int) -> int:
    return int(mp.floor(mp.ldexp(value, bits)))


def _product(p: Sequence[int], bits: int) -> list[int]:
    """Coefficients of ``prod_j (1 - t p_j)``, lowest first."""
    coefficients = [1 << bits]
    for each in p:
        coefficients = [
            high - (each * low >> bits) for high, low in zip([*coefficients, 0], [0, *coefficients], strict=True)
        ]
    return coefficients


def _without(whole: Sequence[int], p: int, bits: int) -> list[int]:
    """The same without the factor ``1 - t p``: division from the lowest coefficient."""
    quotient = [whole[0]]
    for coefficient in whole[1:-1]:
        quotient.append(coefficient + (p * quotient[-1] >> bits))
    return quotient


def _integral(power: int, start: Real) -> Real:
    """``integral t^power dt`` from `start` to 1."""
    return -mp.log(start) if power == -1 else (1 - start ** (power + 1)) / (power + 1)


def _sum_of_products(a: Sequence[int], b: Sequence[int], bits: int) -> Real:
    return mp.ldexp(mp.mpf(sum(map(int.__mul__, a, b))), -2 * bits)
