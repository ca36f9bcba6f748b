"""Exact coins: real numbers enclosed by rational bounds, coins known by such bounds only, and uniform choices.

No float takes part in a decision: bounds are refined as far as it needs.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable
from decimal import MAX_EMAX, MIN_EMIN, ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction

import numpy as np

from dpselect._native import _core
from dpselect.mechanisms.numbers import IntArray

LARGEST_COUNT = 2**63 - 1

Enclosed = tuple[Fraction, Fraction]
"""A lower and an upper bound of a real number."""


def first_count(holds: Callable[[int], bool], roughly: Callable[[int], bool] | None = None) -> int:
    """The smallest count >= 1 for which something `holds` that then holds for all larger ones; at most `LARGEST_COUNT`.

    Args:
        holds: asked about few counts; it alone decides.
        roughly: nearly the same, and much cheaper: where it changes, `holds` is asked first.

    >>> first_count(lambda count: count * count > 50)
    8
    >>> first_count(lambda count: count * count > 50, lambda count: count > 1000)
    8
    """
    near, step = 1 if roughly is None else first_count(roughly), 1
    if near == LARGEST_COUNT or holds(near):
        while near > step and holds(near - step):
            step *= 2
        below, first = max(near - step, 0), near
    else:
        while near + step < LARGEST_COUNT and not holds(near + step):
            step *= 2
        below, first = near, min(near + step, LARGEST_COUNT)
    return bisect_left(range(first), True, below + 1, key=holds)


def log_of(number: Fraction) -> float:
    """The natural logarithm of a number > 0, also of one that no double can hold, up to rounding.

    >>> round(log_of(Fraction(1, 10**400)) / math.log(10), 6)
    -400.0
    """
    return math.log(number.numerator) - math.log(number.denominator)


def exp_minus(exponent: Fraction, bits: int) -> Enclosed:
    """e^-exponent for an exponent > 0, enclosed up to about 2^-bits: from 0 to below 1, the upper bound above 0.

    ``Decimal.exp`` is correctly rounded, so its neighbours enclose the true number.

    >>> low, high = exp_minus(Fraction(1), 60)
    >>> float(low) == float(high) == 0.36787944117144233
    True
    """
    unit = Fraction(1, 1 << bits)
    if exponent >= bits:  # e^-bits < 2^-bits
        return Fraction(0), unit
    low, high = exp_minus_in_digits(exponent, bits // 3 + 10)
    return low, min(high, 1 - unit * Fraction(1, 2**64))


def exp_minus_in_digits(exponent: Fraction, digits: int) -> Enclosed:
    """The same for any exponent, in proportion: with so many digits, less those of the exponent before its point."""
    (down, least), (up, most) = _rounded(-exponent, digits)
    low, high = down.next_minus(down.exp(least)), up.next_plus(up.exp(most))
    return max(Fraction(low), Fraction(0)), Fraction(high)


def log_in_digits(number: Fraction, digits: int) -> Enclosed:
    """The natural logarithm of a number > 0 not near 1, enclosed with so many digits. ``Decimal.ln`` is right likewise.

    >>> [float(each) for each in log_in_digits(Fraction(1, 4), 40)]
    [-1.3862943611198906, -1.3862943611198906]
    """
    (down, least), (up, most) = _rounded(number, digits)
    return Fraction(down.next_minus(down.ln(least))), Fraction(up.next_plus(up.ln(most)))


def _rounded(number: Fraction, digits: int) -> list[tuple[Context, Decimal]]:
    """The number with so many digits, rounded down and up, each with its context."""
    contexts = (Context(digits, each, Emin=MIN_EMIN, Emax=MAX_EMAX) for each in (ROUND_FLOOR, ROUND_CEILING))
    return [(each, each.divide(Decimal(number.numerator), Decimal(number.denominator))) for each in contexts]


def exp_minus_at_most(exponent: Fraction) -> Fraction:
    """No less than e^-exponent for an exponent > 0, and hardly more if it is above 2^-1140.

    So it decides comparisons with any delta, which is at least 2^-1074.

    >>> float(exp_minus_at_most(Fraction(1)))
    0.36787944117144233
    """
    return exp_minus(exponent, min(_TAIL_BITS, _BITS + math.ceil(exponent * 3 / 2)))[1]


_TAIL_BITS = 1200
_BITS = 60  # binary digits of a coin that are looked at together


def heads(bounds: Callable[[int], tuple[int, int]], size: int) -> int:
    """How many of `size` independent coins show heads.

    The uniform numbers of all coins are compared with the probability together, 60 digits at a time: those below its
    lower bound are heads, those above its upper bound are tails, and the others get more digits.

    Args:
        bounds: for a number of binary digits, whole numbers low and high with ``low <= 2^digits p <= high``.
        size: number of coins.

    Proof: ``proofs/partition_selection.md``, claim 4.

    >>> heads(lambda digits: (2**digits, 2**digits), 7), heads(lambda digits: (0, 0), 7)
    (7, 0)
    """
    found, bits, start, end = 0, 0, 0, 1
    while size:
        bits, start, end = bits + _BITS, start << _BITS, end << _BITS
        low, high = bounds(bits)
        low, high = min(max(low, start), end), min(max(high, start), end)
        cells = np.array([low - start, high - low, end - high], np.uint64)
        below, size, _ = _core.tally(cells, size).tolist()
        found, start, end = found + below, low, high
    return found


def accepts(share: tuple[int, int], x: Fraction) -> bool:
    """A coin of probability ``share e^-x``, at most 1; `share` is a fraction, which need not be in lowest terms.

    >>> accepts((7, 7), Fraction(0)), accepts((1, 1), Fraction(10**9))
    (True, False)
    """
    above, below = share
    size = max(0, above.bit_length() - below.bit_length() + 1)

    def enclosed(bits: int) -> tuple[int, int]:
        if x >= bits + size:
            return 0, 1
        low, high = exp_minus_in_digits(x, (bits + x.numerator.bit_length()) // 3 + 20) if x else (Fraction(1),) * 2
        least = (above * low.numerator << bits) // (below * low.denominator)
        return least, -((-above * high.numerator << bits) // (below * high.denominator))

    return heads(enclosed, 1) == 1


_WORD_BITS = 16
_UNIFORM = _core.Sampler("exponential", 1.0, 1.0, 1)  # among equal scores it draws uniformly


def uniform_below(bound: int) -> int:
    """A uniform whole number from 0 to below `bound`, of any size.

    >>> uniform_below(1)
    0
    """
    bits = (bound - 1).bit_length()
    if not bits:
        return 0
    words = -(-bits // _WORD_BITS)
    zeros = np.broadcast_to(np.int8(0), 1 << _WORD_BITS)
    while True:
        drawn = _UNIFORM.select_many(zeros, words).astype("<u2").tobytes()
        number = int.from_bytes(drawn, "little") >> (words * _WORD_BITS - bits)
        if number < bound:
            return number


def uniform_subset(size: int, k: int) -> IntArray:
    """A uniform set of `k` of the numbers 0 to ``size - 1``: the first k different ones of uniform draws.

    >>> uniform_subset(3, 3).tolist(), uniform_subset(5, 0).tolist()
    ([0, 1, 2], [])
    """
    if 2 * k > size:
        left_out = np.ones(size, np.bool_)
        left_out[uniform_subset(size, size - k)] = False
        return np.flatnonzero(left_out)
    found = np.empty(0, np.int64)
    zeros = np.broadcast_to(np.int8(0), max(size, 1))
    while found.size < k:
        more = np.concatenate([found, _UNIFORM.select_many(zeros, k + 8)])
        _, first = np.unique(more, return_index=True)
        found = more[np.sort(first)][:k]
    return found
