r"""The k best candidates as one set, drawn at once by the exponential mechanism over all sets.

A set scores :math:`u(S)`, its worst member less the best candidate left out. In order of the scores, u depends on two
ranks only: h, the best left out, and t, the worst member; :math:`\binom{t-h-1}{k-h}` sets share them. So a draw
proposes a pair of h and a stretch of ranks t by a whole bound of its weight, then one of its sets uniformly, and
accepts by an exact coin.
"""

from __future__ import annotations

import math
import sys
from bisect import bisect_left
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from dpselect._native import _core
from dpselect.checks import positive_count, probability
from dpselect.errors import InvalidParameterError
from dpselect.mechanisms.mechanism import RangedMechanism, SelectsSeveral
from dpselect.mechanisms.numbers import FloatArray, IntArray, accepts, uniform_below, uniform_subset
from dpselect.mechanisms.scores import Gaps, NumericArray, ScoresLike, finite_scores

_BITS = 40  # bits of the largest bound of a weight
_NEVER = 60.0  # octaves below the best set's weight, for all sets together, beyond which one stretch of ranks is enough
_CELLS = 20_000
_SHARE = 1 / 64  # a stretch with a larger share of all weight is divided if its scores are far from each other
_DIVISIONS = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class TopKSet(SelectsSeveral, RangedMechanism):
    r"""Selects a set of `k` candidates with probability proportional to :math:`e^{u(S)/b}`, where u(S) is the score of
    the worst member less that of the best candidate left out.

    It is `epsilon`-DP and `epsilon`-bounded-range for the whole set, at :math:`b = 4 \Delta/\varepsilon`, or half of it
    if `monotonic`; k does not enter. So it is the best way to a set whose members are far ahead of the others, and
    worse than `top_k` where candidates near rank k are nearly equal. The set has no order.

    Args:
        k: number of candidates to select, less than their number.

    Proof: ``proofs/top_k_sets.md``. Source: Shekelyan & Loukides (2022), with other constants.

    >>> mechanism = TopKSet(k=2, epsilon=1.0, sensitivity=1.0, monotonic=True)
    >>> mechanism.select([900, 20, 1800, 30])
    [0, 2]
    >>> mechanism.scale
    2.0
    """

    k: int

    def __post_init__(self) -> None:
        RangedMechanism.__post_init__(self)
        self._set(k=positive_count(self.k, "k", at_most=sys.maxsize))

    @property
    def scale(self) -> float:
        """The scale b as a double, in the unit of the scores: ``4 * sensitivity / epsilon``, half if monotonic."""
        return 2.0 * super(TopKSet, self).scale

    def error_bound(self, n_candidates: int, confidence: float = 0.99) -> float:
        """With probability `confidence`, every selected score is at most this far below the best one left out.

        So it is at most this far below the k-th largest, too. It depends on public arguments only.

        Proof: ``proofs/top_k_sets.md``, claim 3.

        >>> round(TopKSet(k=10, epsilon=1.0, sensitivity=1.0, monotonic=True).error_bound(1000), 1)
        117.0
        """
        confidence = probability(confidence, "confidence")
        n = positive_count(n_candidates, "n_candidates", at_most=sys.maxsize)
        k = self._checked_k(n)
        sets = math.lgamma(n + 1.0) - math.lgamma(k + 1.0) - math.lgamma(n - k + 1.0)
        log_odds = sets + math.log(-math.expm1(-sets))  # of all other sets over the best, rounded up
        theta = max(0.0, log_odds + math.log(confidence / (1.0 - confidence)))
        return theta * self.scale * (1.0 + 2.0**-30)

    def _checked(self, scores: ScoresLike) -> NumericArray:
        found = finite_scores(scores)
        self._checked_k(found.size)
        return found

    def _indices(self, scores: NumericArray) -> list[int]:
        return _SetDraw(self, scores).indices()

    @property
    def rate(self) -> Fraction:
        """1/b exactly."""
        return Fraction(self.epsilon) / (Fraction(self.sensitivity) * 2 * self._factor)

    def scaled(self, gaps: Gaps) -> FloatArray:
        """Gaps over b."""
        return gaps.scaled(epsilon=self.epsilon, sensitivity=self.sensitivity, factor=self._factor) / 2.0

    def _checked_k(self, n: int) -> int:
        if self.k >= n:
            hint = "A set of all candidates is no choice, and needs no mechanism." if self.k == n else ""
            raise InvalidParameterError("k", self.k, f"less than the number of candidates, {n}", hint)
        return self.k


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


def _log2_choose(n: FloatArray, k: FloatArray) -> FloatArray:
    """Minus infinity where n < k."""
    from scipy.special import gammaln  # here, so that only sets cost the time to load it

    with np.errstate(invalid="ignore"):
        found = (gammaln(n + 1.0) - gammaln(k + 1.0) - gammaln(n - k + 1.0)) / math.log(2.0)
    return np.where(n >= k, found, -np.inf)


class _SetDraw:
    """One draw; ranks count from 1 as on the proof page, and equal scores are ranked by their place."""

    def __init__(self, mechanism: TopKSet, scores: NumericArray) -> None:
        self._scores, self._rate, self._k = scores, mechanism.rate, mechanism.k
        self._n, k = scores.size, mechanism.k
        self._ranked = np.sort(scores)[::-1]
        # Over b: how far each of the first k is above the last of them, and each other one below the best of these.
        self._above = mechanism.scaled(Gaps.between(self._ranked[:k], self._ranked[k - 1]))
        self._below = mechanism.scaled(Gaps.between(self._ranked[k], self._ranked[k:]))
        # How far the best set is above the second.
        self._lead = 2.0 * float(mechanism.scaled(Gaps.between(self._ranked[k - 1], self._ranked[k : k + 1]))[0])
        self._sets = RankSets(self._n, k)

    def indices(self) -> list[int]:
        """The set, in the order of the scores."""
        return self._places(self._ranks()).tolist()

    def _ranks(self) -> IntArray:
        """Members of the set by rank, in any order."""
        weights, edges = self._bounds()
        logs = np.append(0.0, weights)  # the best set itself, and the proposals
        unit = math.ceil(float(logs.max()))
        with np.errstate(under="ignore"):
            bounds = np.exp2(logs + (_BITS - unit)).astype(np.uint64) + np.uint64(1)
        while True:
            place = int(np.flatnonzero(_core.tally(bounds, 1))[0])
            row, stretch = divmod(place - 1, edges.size - 1)
            if place:
                number, x, ranks = self._one_of(row + 1, int(edges[stretch]) + 1, int(edges[stretch + 1]))
            else:
                number, x, ranks = 1, Fraction(0), np.arange(1, self._k + 1)
            share = Fraction(number, int(bounds[place])) * Fraction(2) ** (_BITS - unit)
            if number and accepts(share.as_integer_ratio(), x):
                return ranks

    def _bounds(self) -> tuple[FloatArray, IntArray]:
        """Binary logarithms of the weights of all proposals beside that of the best set, or a little more.

        Returns:
            A row for each h from 1 to k; and the edges of the stretches, in ranks.
        """
        k, n = self._k, self._n
        octaves_below, lead = self._below / math.log(2.0), self._lead / math.log(2.0)
        octaves_above = self._above / math.log(2.0) + lead
        reach = min(float(octaves_below[-1]), max(1.0, min(k, n - k) * math.log2(n) + _NEVER - lead))
        h = np.arange(1, k + 1)
        width = max(0.5, reach / max(16, min(2048, _CELLS // k)))
        starts = np.searchsorted(octaves_below, np.arange(width, reach + width, width), side="left")
        edges = np.unique(np.concatenate([[0], starts, [n - k]])) + k
        columns = self._columns(h, octaves_above, octaves_below, edges[:-1], edges[1:])
        for _ in range(_DIVISIONS):
            spread = octaves_below[edges[1:] - k - 1] - octaves_below[edges[:-1] - k]
            shares = np.exp2(columns - columns.max()).sum(axis=0)
            best = np.exp2(min(-float(columns.max()), 1000.0))
            heavy = np.flatnonzero((spread > 1.0) & (shares > _SHARE * max(float(shares.sum()), best)))
            middles = (octaves_below[edges[heavy] - k] + octaves_below[edges[heavy + 1] - k - 1]) / 2.0
            cuts = np.setdiff1d(np.searchsorted(octaves_below, middles, side="right") + k, edges)
            if not cuts.size:
                break
            divided = np.union1d(edges, cuts)
            # Of the stretches that begin where one began before, all but those that end at a cut are what they were.
            new = np.flatnonzero(np.isin(divided[:-1], cuts) | np.isin(divided[1:], cuts))
            columns = columns[:, np.searchsorted(edges, divided[:-1], side="right") - 1]
            columns[:, new] = self._columns(h, octaves_above, octaves_below, divided[new], divided[new + 1])
            edges = divided
        return columns, edges

    def _columns(
        self, h: IntArray, above: FloatArray, below: FloatArray, before: IntArray, until: IntArray
    ) -> FloatArray:
        """For each h and each stretch of ranks ``before + 1`` to ``until``: its sets, at the score of its best rank."""
        numbers = self._sets.log2_at_most(h[:, np.newaxis], before, until)
        return numbers - above[h - 1][:, np.newaxis] - below[before - self._k] + self._sets.slack

    def _one_of(self, h: int, first: int, last: int) -> tuple[int, Fraction, IntArray]:
        """How many sets the proposal stands for, how far below the best set a uniform one of them is, and its ranks."""
        number = self._sets.count(h, first, last)
        if not number:
            return 0, Fraction(0), np.empty(0, np.int64)
        t = self._sets.worst_rank(h, first, last, uniform_below(number))
        between = uniform_subset(t - h - 1, self._k - h) + (h + 1)
        return number, self._exponent(h, t), np.concatenate([np.arange(1, h), between, [t]])

    def _exponent(self, h: int, t: int) -> Fraction:
        """How far a set is below the best one, over b."""
        ranked, k = self._ranked, self._k
        best_out, last, next_one, worst = (Fraction(ranked[rank - 1].item()) for rank in (h, k, k + 1, t))
        return ((last - next_one) - (worst - best_out)) * self._rate

    def _places(self, ranks: IntArray) -> IntArray:
        """The candidates with these ranks, in the order of the scores."""
        worst = self._ranked[ranks.max() - 1]
        above = np.flatnonzero(self._scores > worst)
        # Sorted from behind, and turned round: so equal scores stay in order of their places.
        best_first = above[::-1][np.argsort(self._scores[above][::-1], kind="stable")][::-1]
        best_first = np.concatenate([best_first, np.flatnonzero(self._scores == worst)])
        return np.sort(best_first[ranks - 1])
