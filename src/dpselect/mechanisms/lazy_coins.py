"""Coins whose probability is known by bounds only, which are refined as far as the coins need."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dpselect._native import _core

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
