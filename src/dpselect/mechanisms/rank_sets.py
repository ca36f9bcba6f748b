"""Sets of ranks: how many there are of each kind, uniform ones of them, and a weighted one from a table of bounds.

Ranks count from 1. A set of k of n ranks that is not the first k has a best rank left out, h <= k, and a worst member,
t > k: it consists of 1 to h - 1, of k - h of the ranks between h and t, and of t.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from fractions import Fraction
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from dpselect.mechanisms.exact_coins import uniform_below
from dpselect.mechanisms.weights import CandidateWeights

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]


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
        return bisect_left(range(last), True, first, key=lambda t: math.comb(t - h, size) - before > place)

    def count_without_one_of(self, far: int) -> int:
        """Sets that leave out one of the first `far` ranks."""
        return math.comb(self._n, self._k) - math.comb(self._n - far, self._k - far)

    def best_left_out(self, far: int, place: int) -> int:
        """That of the set at `place`, if these sets are in order of it."""
        return bisect_left(range(far), True, 1, key=lambda h: self.count_without_one_of(h) > place)


def _log2_choose(n: FloatArray, k: FloatArray) -> FloatArray:
    """Minus infinity where n < k."""
    from scipy.special import gammaln  # here, so that only sets cost the time to load it

    with np.errstate(invalid="ignore"):
        found = (gammaln(n + 1.0) - gammaln(k + 1.0) - gammaln(n - k + 1.0)) / math.log(2.0)
    return np.where(n >= k, found, -np.inf)


MOST_CELLS = 20_000_000
"""The largest number of candidates with a weight, times k: eight bytes each."""

_NEVER = 60.0
"""Octaves below the best set's weight, for all sets together, beyond which a smaller bound would save no tries."""
_DIGITS = 52
_SHORTER = 1.0 - 2.0**-40  # exponents are known with a smaller relative error than this leaves


class RankedWeights(NamedTuple):
    """What a draw needs, in order of the scores, the best first; exponents are over b, in octaves.

    Attributes:
        weights: of all candidates.
        order: which of them has each rank; only those that have a weight.
        above: how far each of the first k ranks is above the last of them.
        below: how far each other rank is below the best of these.
        lead: twice how far rank k is above the next one.
    """

    weights: CandidateWeights
    order: IntArray
    above: FloatArray
    below: FloatArray
    lead: float


class Proposal(NamedTuple):
    """A set that was proposed.

    Attributes:
        ranks: its members, from 1 on.
        h: the best rank left out.
        t: the worst rank inside.
        share: its weight over the bound that it was proposed by, before the exponential.
    """

    ranks: list[int]
    h: int
    t: int
    share: Fraction


class WeightedSets:
    """All sets of k ranks, by bounds of their weights.

    Proof: ``proofs/top_k_sets.md``, claim 6.
    """

    def __init__(self, ranked: RankedWeights) -> None:
        logarithms = ranked.weights.log2_bounds[ranked.order]
        self._shift = math.floor(float(logarithms.max()))
        self._weights, self._order = ranked.weights, ranked.order
        self._logarithms = logarithms - self._shift
        self._k, self._n = ranked.above.size, ranked.order.size
        before = np.concatenate([[0.0], np.cumsum(self._logarithms[: self._k])])
        most = self._k * abs(float(np.logaddexp2.reduce(self._logarithms)))
        reach = max(0.0, most - math.lgamma(self._k + 1.0) / math.log(2.0) - float(before[-1])) + _NEVER
        largest = self._k * float(np.abs(self._logarithms).max()) + 2.0 * reach + most + 64.0
        self._margin = (32.0 + 16.0 * largest) * 2.0**-_DIGITS
        # So that a sum of logarithms is no less than that of the product.
        slack = (self._k + 4.0) * (largest + 4.0) * 2.0**-50
        self._starts = before[:-1] + slack - np.minimum((ranked.above + ranked.lead) * _SHORTER, reach)
        self._best = float(before[-1]) + slack
        self._ends = 2.0**-50 - np.minimum(ranked.below * _SHORTER, reach)
        self._table = self._filled()

    def propose(self) -> Proposal | None:
        """A set with probability proportional to its bound; None where the walk lands in a margin."""
        k, table = self._k, self._table
        rank = self._landing(self._n, k, found := _Point(table[k, self._n]))
        if rank == k:  # the best set itself
            start = _dyadic(self._best)
            return self._proposal([], k + 1, k, [start]) if found.is_below(start) else None
        factors = [_dyadic(self._logarithms[rank - 1]), _dyadic(self._ends[rank - k - 1])]
        if not found.is_below(_sum(_dyadic(table[k, rank - 1]), _product([*factors, _dyadic(table[k - 1, rank - 1])]))):
            return None
        members, t, row = [rank], rank, k
        while True:
            row -= 1
            rank = self._landing(rank - 1, row, found := _Point(table[row, rank - 1]))
            reached, factor = _dyadic(table[row, rank - 1]), _dyadic(self._logarithms[rank - 1])
            if row:
                reached = _sum(reached, _product([factor, _dyadic(table[row - 1, rank - 1])]))
                if found.is_below(reached):
                    members.append(rank)
                    factors.append(factor)
                    continue
            if rank != row + 1 or not found.is_below(_sum(reached, start := _dyadic(self._starts[rank - 1]))):
                return None
            return self._proposal(members, rank, t, [*factors, start])

    def _filled(self) -> FloatArray:
        """Sums in octaves: a row for each number of members and one for sets, a column for each number of ranks."""
        k, n, table = self._k, self._n, np.full((self._k + 1, self._n + 1), -np.inf)
        margins = self._margin * np.arange(n + 1)
        for row in range(k + 1):
            entering = table[row]
            if row:
                entering[1:] = self._logarithms + table[row - 1, :-1]
            if row == k:
                entering[k + 1 :] += self._ends
                entering[: k + 1] = -np.inf
                entering[k] = self._best
            else:
                first = row + 1
                entering[first] = np.logaddexp2(entering[first], self._starts[row])
            np.logaddexp2.accumulate(entering, out=entering)
            entering += margins
        return table

    def _landing(self, last: int, row: int, found: _Point) -> int:
        """The first rank after which the sum of its row is above the point."""
        entries = self._table[row]
        return bisect_left(range(last), True, 1, key=lambda rank: found.is_below(_dyadic(entries[rank])))

    def _proposal(self, later: list[int], h: int, t: int, bounds: list[tuple[int, int]]) -> Proposal:
        ranks = [*range(1, h), *reversed(later)]
        exact = [self._weights.exact(int(self._order[rank - 1])) for rank in ranks]
        numerator = math.prod(each.numerator for each in exact)
        denominator = math.prod(each.denominator for each in exact)
        digits, exponent = _product(bounds)
        exponent += self._shift * self._k
        if exponent < 0:
            numerator <<= -exponent
        else:
            denominator <<= exponent
        return Proposal(ranks, h, t, Fraction(numerator, denominator * digits))


def log_sets(weights: CandidateWeights, k: int) -> float:
    """A little more than the logarithm of the weight of all sets of `k` over that of the lightest set.

    The weight of a set is the product of its members' weights.

    >>> round(math.exp(log_sets(CandidateWeights.of([1, 2, 3, 0]), 2)), 9)  # 2 + 3 + 6 over 2
    5.5
    """
    logarithms = np.sort(weights.logarithms[weights.taking_part])
    n, shift = logarithms.size, float(logarithms[-1])
    members = logarithms - shift
    sums = np.zeros(n + 1)  # of sets without a member, after each candidate
    for _ in range(k):
        sums[1:] = members + sums[:-1]
        sums[0] = -np.inf
        np.logaddexp.accumulate(sums, out=sums)
    largest = k * (abs(float(members[0])) + math.log(n + 1.0)) + abs(shift)
    return float(sums[-1]) - math.fsum(members[:k].tolist()) + (n + 4.0) * k * (8.0 + largest) * 2.0**-50


class _Point:
    """A uniform number below a bound, of which as many digits are drawn as comparisons need."""

    __slots__ = ("_drawn", "_exponent")
    _drawn: int
    _exponent: int

    def __init__(self, bound: float) -> None:
        digits, exponent = _dyadic(bound)
        self._drawn, self._exponent = uniform_below(digits << 64), exponent - 64

    def is_below(self, end: tuple[int, int]) -> bool:
        """Whether it is below a dyadic number."""
        digits, exponent = end
        while exponent < self._exponent:
            whole = digits >> (self._exponent - exponent)
            if self._drawn != whole:
                return self._drawn < whole
            self._drawn, self._exponent = (self._drawn << 64) + uniform_below(1 << 64), self._exponent - 64
        return self._drawn < digits << (exponent - self._exponent)


def _dyadic(logarithm: float) -> tuple[int, int]:
    """About ``2^logarithm``, always the same: a whole number times a power of two."""
    if logarithm == -math.inf:
        return 0, 0
    whole = math.floor(logarithm)
    return int(2.0 ** (float(logarithm) - whole) * 2.0**_DIGITS), whole - _DIGITS


def _sum(one: tuple[int, int], other: tuple[int, int]) -> tuple[int, int]:
    least = min(one[1], other[1])
    return (one[0] << (one[1] - least)) + (other[0] << (other[1] - least)), least


def _product(factors: list[tuple[int, int]]) -> tuple[int, int]:
    return math.prod(digits for digits, _ in factors), sum(exponent for _, exponent in factors)
