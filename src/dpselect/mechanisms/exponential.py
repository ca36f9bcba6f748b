"""The exponential mechanism, also with a weight for each candidate; and on sets of candidates."""

from __future__ import annotations

import math
import sys
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from fractions import Fraction
from functools import cached_property
from typing import Any, cast, overload

import numpy as np
import numpy.typing as npt

from dpselect._native import _core
from dpselect.accounting import BoundedRangeEvent
from dpselect.checks import as_fraction, positive_count, probability
from dpselect.errors import InvalidParameterError, InvalidScoresError, Shown, one_of_several
from dpselect.mechanisms.mechanism import Mechanism, ScaledMechanism, explained
from dpselect.mechanisms.numbers import (
    FloatArray,
    IntArray,
    Law,
    accepts,
    log_of,
    native_fraction,
    uniform_below,
    uniform_subset,
)
from dpselect.mechanisms.scores import (
    Candidate,
    Gaps,
    ScoresLike,
    checked_candidates,
    finite_scores,
    members_of,
    native_scores,
    score_count,
)

_WEIGHTS = "finite numbers >= 0, one of them > 0"


def exponential_probabilities(x: FloatArray) -> FloatArray:
    """Probability of each candidate from its scaled gap (``proofs/exponential_mechanism.md``)."""
    p = np.exp(-x)
    return p / p.sum()


EXPONENTIAL = Law(
    "exponential",
    exponential_probabilities,
    lambda theta, n: (odds := (n - 1) * math.exp(-theta)) / (1.0 + odds),
    lambda theta, n: 1.0 / (1.0 + (n - 1) * math.exp(-theta)),
    BoundedRangeEvent,
)


class CandidateWeights(tuple[float | Fraction, ...]):
    """Weights, one for each candidate: doubles, or exact numbers if doubles do not hold them all."""

    @classmethod
    def of(cls, weights: object) -> CandidateWeights:
        """Check weights: floats are taken as the doubles they are, fractions and whole numbers of any size exactly.

        Raises:
            InvalidParameterError: none at all, all zero, a negative one, NaN, infinity, no numbers, or the largest is
                more than 2^8192 times the smallest one above zero.
        """
        if isinstance(weights, CandidateWeights):
            return weights
        members, doubles = members_of(weights, "weights", _WEIGHTS)
        if doubles is not None and doubles.min() >= 0.0 and 0.0 < doubles.max() < math.inf:  # NaN is neither
            return cls((doubles + 0.0).tolist())  # no negative zero
        found = [as_fraction(each) for each in members]
        for place, each in enumerate(found):
            if each is None or each < 0:
                raise InvalidParameterError("weights", one_of_several(members[place], place, len(members)), _WEIGHTS)
        if not any(found):
            raise InvalidParameterError("weights", Shown(f"<{len(found)} zeros>"), _WEIGHTS)
        exact = tuple(cast("list[Fraction]", found))
        if max(exact) > 2**8192 * min(filter(None, exact)):  # proofs/exact_sampling.md, "Pieces"
            expected = "numbers of which the largest is at most 2^8192 times the smallest one above zero"
            raise InvalidParameterError("weights", Shown(f"<{len(exact)} weights>"), expected)
        try:
            nearest = tuple(map(float, exact))
        except OverflowError:
            return cls(exact)
        return cls(nearest if nearest == exact else exact)

    def __repr__(self) -> str:
        return f"<{len(self)} weights>"

    @cached_property
    def logarithms(self) -> FloatArray:
        """Minus infinity for those that are left out."""
        if not isinstance(self[0], float):
            return np.array([log_of(Fraction(each)) if each else -math.inf for each in self])
        with np.errstate(divide="ignore"):
            return np.log(np.array(self))

    def probabilities(self, x: FloatArray) -> FloatArray:
        """Those of candidates with these scaled gaps."""
        heights = self.logarithms - x
        return exponential_probabilities(heights.max() - heights)

    def odds_against_lightest(self) -> float:
        """All others' weight over that of the lightest candidate that is not left out; never too small."""
        logarithms = self.logarithms[self.logarithms > -math.inf]
        lightest = int(logarithms.argmin())
        with np.errstate(over="ignore"):
            ratios = np.exp(np.delete(logarithms, lightest) - logarithms[lightest])
            return float(ratios.sum() * (1.0 + 2.0**-40))


class _WeightedDraws:
    """What the core's `Sampler` does, with a weight for each candidate."""

    __slots__ = ("_count", "_native")

    def __init__(self, weights: CandidateWeights, epsilon: float, sensitivity: float, factor: int) -> None:
        self._count = len(weights)
        are_doubles = isinstance(weights[0], float)
        native = np.array(weights) if are_doubles else [native_fraction(Fraction(each)) for each in weights]
        self._native = _core.WeightedSampler(epsilon, sensitivity, cast(Any, factor), cast(Any, native))

    def select(self, scores: object, /) -> int:
        return int(self.select_many(scores, 1)[0])

    def select_many(self, scores: object, size: int, /) -> npt.NDArray[np.int64]:
        self._check(np.shape(cast(Any, scores)))
        return self._native.select_many(scores, size)

    def select_rows(self, scores: npt.NDArray[Any], /) -> npt.NDArray[np.int64]:
        """One draw for each row; all rows are checked first."""
        self._check(scores.shape[1:] if scores.size else ())
        finite_scores(scores.ravel())
        return np.array([self.select(row) for row in scores], dtype=np.int64)

    def peel(self, scores: object, k: int, /) -> npt.NDArray[np.int64]:
        self._check(np.shape(cast(Any, scores)))
        return self._native.peel(scores, k)

    def select_with_gap(self, scores: object, step: float, /) -> tuple[int, float]:
        """Refused: the draw with weights has no noise to measure a gap in."""
        raise InvalidParameterError("weights", Shown("<weights>"), "none where a gap is released")

    def _check(self, shape: tuple[int, ...]) -> None:
        if len(shape) == 1 and 0 < shape[0] != self._count:
            raise unlike(shape[0], self._count)


def unlike(count: int, expected: int) -> InvalidScoresError:
    return InvalidScoresError("scores", Shown(f"<{count} scores>"), f"{expected} scores, one for each weight")


@dataclass(frozen=True, slots=True, kw_only=True)
class ExponentialMechanism(Mechanism):
    r"""Selects candidate i with probability proportional to :math:`e^{s_i/b}`, :math:`b` the `scale`.

    It is `epsilon`-DP and `epsilon`-bounded-range: many selections in a row compose better than with any other
    mechanism here. For a single selection `PermuteAndFlip` has a smaller error.

    With `weights` the probability of candidate i is proportional to :math:`w_i e^{s_i/b}`, at the same cost.

    Args:
        weights: public numbers >= 0, one for each candidate, from knowledge and never from the data. Floats are taken
            as the doubles they are, fractions and whole numbers exactly. A candidate with the weight 0 is left out.
            Default: all the same.

    Proof: ``proofs/exponential_mechanism.md``; with weights ``proofs/weighted_candidates.md``. Sources: McSherry &
    Talwar (2007); Durfee & Rogers (2019) and Dong, Durfee & Rogers (2020) for bounded range.

    >>> import numpy as np
    >>> mechanism = ExponentialMechanism(epsilon=1.0, sensitivity=1.0, monotonic=True)
    >>> mechanism.select(np.array([10.0, 2000.0, 30.0]), candidates=["red", "green", "blue"])
    'green'
    >>> ExponentialMechanism(epsilon=1.0, sensitivity=1.0, monotonic=True, weights=[3, 1]).pmf(np.log([1.0, 3.0]))
    array([0.5, 0.5])
    """

    law = EXPONENTIAL
    weights: Sequence[float | Fraction] | npt.NDArray[np.generic] | None = field(default=None, repr=False)

    def __repr__(self) -> str:
        names = [part.name for part in fields(self) if part.repr] + ["weights"] * (self.weights is not None)
        return f"ExponentialMechanism({', '.join(f'{name}={getattr(self, name)!r}' for name in names)})"

    def __post_init__(self) -> None:
        Mechanism.__post_init__(self)
        if self.weights is not None:
            weights = CandidateWeights.of(cast(object, self.weights))
            draws = _WeightedDraws(weights, self.epsilon, self.sensitivity, self._factor)
            self._set(weights=weights, _sampler=draws)

    def gaps(self, scores: ScoresLike) -> Gaps:
        """How far scores are below the best of those that are not left out; those are taken for as good as it."""
        found = finite_scores(scores)
        if not isinstance(self.weights, CandidateWeights):
            return Gaps.below_best(found)
        if found.size != len(self.weights):
            raise unlike(found.size, len(self.weights))
        taking_part = self.weights.logarithms > -math.inf
        return Gaps.below_best(np.where(taking_part, found, found[taking_part].max()))

    def probabilities(self, gaps: Gaps) -> npt.NDArray[np.float64]:
        law = self.weights if isinstance(self.weights, CandidateWeights) else self.law
        return law.probabilities(self.scaled(gaps))


@explained
class SelectsSeveral:
    """The base of what selects `k` candidates at one cost."""

    __slots__ = ()

    @overload
    def select(self, scores: ScoresLike, candidates: None = None) -> list[int]: ...
    @overload
    def select(self, scores: ScoresLike, candidates: Sequence[Candidate]) -> list[Candidate]: ...
    @overload
    def select(self, scores: ScoresLike, candidates: object) -> list[Any]: ...
    def select(self, scores: ScoresLike, candidates: object = None) -> list[Any]:
        """Draw the `k` candidates, at one cost for all of them.

        Returns:
            `k` different candidates, or indices if no candidates were given: best first; a set in the order of the
            scores.
        """
        native = native_scores(scores)
        self._check_count(score_count(native))
        pick = checked_candidates(candidates, count=native.size)
        return [pick(index) for index in self._indices(native)]

    def _check_count(self, n: int) -> None:
        """Refuse scores whose number does not fit."""
        raise NotImplementedError

    def _indices(self, scores: npt.NDArray[Any]) -> list[int]:
        raise NotImplementedError


@dataclass(frozen=True, slots=True, kw_only=True)
class TopKSet(SelectsSeveral, ScaledMechanism):
    r"""Selects a set of `k` candidates with probability proportional to :math:`e^{u(S)/b}`, where u(S) is the score of
    the worst member less that of the best candidate left out.

    It is `epsilon`-DP and `epsilon`-bounded-range for the whole set, at a scale that does not grow with k. So it is the
    best way to a set whose members are far ahead of the others, and worse than `top_k` where candidates near rank k are
    nearly equal, which nobody knows in advance. The set has no order.

    Args:
        k: number of candidates to select, less than their number.

    Proof: ``proofs/top_k_sets.md``. Source: Shekelyan & Loukides (2022), with other constants.

    >>> TopKSet(k=2, epsilon=1.0, sensitivity=1.0, monotonic=True).select([900, 20, 1800, 30])
    [0, 2]
    """

    costs = BoundedRangeEvent

    k: int

    def __post_init__(self) -> None:
        ScaledMechanism.__post_init__(self)
        self._set(k=positive_count(self.k, "k", at_most=sys.maxsize))

    @property
    def _factor(self) -> Any:
        """Twice that of a candidate: u is the difference of two scores (``proofs/top_k_sets.md``, claim 1)."""
        return 2 * super(TopKSet, self)._factor

    def error_bound(self, n_candidates: int, confidence: float = 0.99) -> float:
        """With probability `confidence`, every selected score is at most this far below the best one left out.

        Proof: ``proofs/top_k_sets.md``, claim 3.
        """
        confidence = probability(confidence, "confidence")
        n = positive_count(n_candidates, "n_candidates", at_most=sys.maxsize)
        self._check_count(n)
        sets = math.lgamma(n + 1.0) - math.lgamma(self.k + 1.0) - math.lgamma(n - self.k + 1.0)
        log_odds = sets + math.log(-math.expm1(-sets))  # of all other sets over the best, rounded up
        return self.distance(max(0.0, log_odds + math.log(confidence / (1.0 - confidence))) * (1.0 + 2.0**-30))

    def _indices(self, scores: npt.NDArray[Any]) -> list[int]:
        ranked = np.sort(scores := finite_scores(scores))[::-1]
        ranks = _SetDraw(self, ranked).ranks()
        above, level = (np.flatnonzero(how(scores, ranked[ranks.max() - 1])) for how in (np.greater, np.equal))
        best_first = np.append(above[np.argsort(scores[above])[::-1]], level)  # of very many equal ones none is sorted
        return np.sort(best_first[ranks - 1]).tolist()

    def _check_count(self, n: int) -> None:
        if self.k >= n:
            hint = "A set of all candidates is no choice, and needs no mechanism." if self.k == n else ""
            raise InvalidParameterError("k", self.k, f"less than the number of candidates, {n}", hint)


_BITS = 40  # bits of the largest bound of a weight


class _SetDraw:
    r"""One draw of a set; ranks count from 1 as on the proof page, those of equal scores in any order.

    In order of the scores, u depends on two ranks only: h, the best left out, and t, the worst member;
    :math:`\binom{t-h-1}{k-h}` sets share them. So a draw proposes a pair of h and a stretch of ranks t by a whole bound
    of its weight, then one of its sets uniformly, and accepts by an exact coin.
    """

    def __init__(self, mechanism: TopKSet, ranked: npt.NDArray[Any]) -> None:
        self._mechanism, self._ranked, self._k, self._n = mechanism, ranked, mechanism.k, ranked.size

    def ranks(self) -> IntArray:
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

        A row for each h from 1 to k; and the edges of the stretches, in ranks. Stretches that have a large share of all
        weight are divided until their scores are near to each other.
        """
        k, n, ranked = self._k, self._n, self._ranked
        most = min(k, n - k) * math.log2(n) + 1000.0  # so far below the best set all sets together weigh nothing

        def octaves(high: npt.NDArray[Any], low: npt.NDArray[Any]) -> FloatArray:
            return np.minimum(self._mechanism.scaled(Gaps.between(high, low)) / math.log(2.0), most)

        # How far the best set is above the second, and each of the first k above the last of them.
        above = 2.0 * octaves(ranked[k - 1], ranked[k : k + 1]) + octaves(ranked[:k], ranked[k - 1])
        below = octaves(ranked[k], ranked[k:])  # how far each other one is below the best of these
        slack = 2.0**-16 + n * math.log2(n + 1) * 2.0**-46  # logarithms of numbers are off by less
        h, edges = np.arange(1, k + 1)[:, np.newaxis], np.array([k, n])
        while True:
            before, until = edges[:-1], edges[1:]
            # The smaller of two: all sets whose worst rank is at most `until`, and for each rank as many as for that.
            number = np.minimum(
                _log2_choose(until - h, k - h + 1), _log2_choose(until - h - 1, k - h) + np.log2(until - before)
            )
            logs = number - above[:, np.newaxis] - below[before - k] + slack
            shares = np.exp2(logs - logs.max()).sum(axis=0)
            total = max(float(shares.sum()), np.exp2(min(-float(logs.max()), 1000.0)))
            heavy = (below[until - k - 1] - below[before - k] > 1.0) & (4.0 * shares.size * shares > total)
            if not heavy.any():
                return logs, edges
            middles = (below[before - k] + below[until - k - 1])[heavy] / 2.0
            edges = np.union1d(edges, np.searchsorted(below, middles, side="right") + k)

    def number(self, h: int, first: int, last: int) -> int:
        """Sets without h, with all ranks before it, and with a worst rank from `first` to `last`."""
        return math.comb(last - h, self._k - h + 1) - math.comb(first - 1 - h, self._k - h + 1)

    def _one_of(self, h: int, first: int, last: int) -> tuple[int, Fraction, IntArray]:
        """How many sets the proposal stands for, how far below the best set a uniform one of them is, and its ranks."""
        number = self.number(h, first, last)
        if not number:
            return 0, Fraction(0), np.empty(0, np.int64)
        place = uniform_below(number)  # of the sets in order of their worst ranks
        t = bisect_left(range(last), True, first, key=lambda t: self.number(h, first, t) > place)
        between = uniform_subset(t - h - 1, self._k - h) + (h + 1)
        return number, self._exponent(h, t), np.concatenate([np.arange(1, h), between, [t]])

    def _exponent(self, h: int, t: int) -> Fraction:
        """How far a set is below the best one, over b."""
        ranked, k = self._ranked, self._k
        best_out, last, next_one, worst = (Fraction(ranked[rank - 1].item()) for rank in (h, k, k + 1, t))
        return ((last - next_one) - (worst - best_out)) * self._mechanism.rate


def _log2_choose(n: IntArray, k: IntArray) -> FloatArray:
    from scipy.special import gammaln  # here, so that only sets cost the time to load it

    return (gammaln(n + 1.0) - gammaln(k + 1.0) - gammaln(n - k + 1.0)) / math.log(2.0)
