"""Coins whose probability is known by bounds only, which are refined as far as the coins need."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np

from dpselect._native import _core
from dpselect.mechanisms.partition_law import exp_minus_in_digits

_BITS = 60
"""Binary digits of a coin that are looked at together."""


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
        low, high = (min(max(bound, start), end) for bound in bounds(bits))
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
