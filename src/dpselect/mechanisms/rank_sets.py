"""How many sets of ranks there are of each kind, exactly and by logarithms, and uniform ones of them.

Ranks count from 1. A set of k of n ranks that is not the first k has a best rank left out, h <= k, and a worst member,
t > k: it consists of 1 to h - 1, of k - h of the ranks between h and t, and of t.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from dpselect._native import _core

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

_WORD_BITS = 16
_UNIFORM = _core.Sampler("exponential", 1.0, 1.0, 1)
"""Among equal scores it draws uniformly."""


class RankSets:
    """Sets of `k` of `n` ranks, ``1 <= k < n``.

    >>> sets = RankSets(5, 2)
    >>> [sets.count(h, 3, 5) for h in (1, 2)], math.comb(5, 2) - 1
    ([6, 3], 9)
    """

    def __init__(self, n: int, k: int) -> None:
        self._n, self._k = n, k
        self.slack = 2.0**-16 + n * math.log2(n + 1) * 2.0**-46
        """More than the logarithms below are off by."""

    def log2_all(self) -> float:
        """Binary logarithm of how many sets there are, about."""
        return float(_log2_choose(np.array([float(self._n)]), np.array([float(self._k)]))[0])

    def log2_at_most(self, h: IntArray, before: IntArray, until: IntArray) -> FloatArray:
        """No less than the binary logarithm of `count` of h and the ranks ``before + 1`` to `until`, up to `slack`.

        Of two bounds the smaller: all sets whose worst rank is at most `until`, and as many sets for each rank as for
        the last.
        """
        size = (self._k - h + 1).astype(np.float64)
        at_most = _log2_choose((until - h).astype(np.float64), size)
        each = _log2_choose((until - h - 1).astype(np.float64), size - 1.0) + np.log2(
            (until - before).astype(np.float64)
        )
        return np.minimum(at_most, each)

    def count(self, h: int, first: int, last: int) -> int:
        """Sets without h, with all ranks before it, and with a worst rank from `first` to `last`."""
        size = self._k - h + 1
        return math.comb(last - h, size) - math.comb(first - 1 - h, size)

    def worst_rank(self, h: int, first: int, last: int, place: int) -> int:
        """That of the set at `place`, if the sets of `count` are in order of it."""
        size, before = self._k - h + 1, math.comb(first - 1 - h, self._k - h + 1)
        low, high = first, last
        while low < high:
            middle = (low + high) // 2
            if math.comb(middle - h, size) - before > place:
                high = middle
            else:
                low = middle + 1
        return low

    def count_without_one_of(self, far: int) -> int:
        """Sets that leave out one of the first `far` ranks."""
        return math.comb(self._n, self._k) - math.comb(self._n - far, self._k - far)

    def best_left_out(self, far: int, place: int) -> int:
        """That of the set at `place`, if these sets are in order of it."""
        low, high = 1, far
        while low < high:
            middle = (low + high) // 2
            if self.count_without_one_of(middle) > place:
                high = middle
            else:
                low = middle + 1
        return low


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


def _log2_choose(n: FloatArray, k: FloatArray) -> FloatArray:
    """Minus infinity where n < k."""
    from scipy.special import gammaln  # here, so that only sets cost the time to load it

    with np.errstate(invalid="ignore"):
        found = (gammaln(n + 1.0) - gammaln(k + 1.0) - gammaln(n - k + 1.0)) / math.log(2.0)
    return np.where(n >= k, found, -np.inf)
