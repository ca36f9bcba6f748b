"""The k best candidates within one (epsilon, delta): in order, by a plan made before any data is seen, or as a set."""

from __future__ import annotations

import math
import sys
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Literal, NotRequired, Unpack, get_args, overload

import numpy as np
import numpy.typing as npt

from dpselect._native import _core
from dpselect.accounting import BoundedRangeEvent, ComposedEvent, Event, LaplaceProfileEvent, calibrate_rounds
from dpselect.checks import delta_below_one, one_of, positive_count, positive_epsilon, probability
from dpselect.errors import InvalidParameterError, InvalidScoresError, Shown
from dpselect.mechanisms.exponential import EXPONENTIAL, ExponentialMechanism
from dpselect.mechanisms.mechanism import ScaledMechanism, SelectsSeveral, explained
from dpselect.mechanisms.numbers import FloatArray, IntArray, accepts, scale_of, uniform_below, uniform_subset
from dpselect.mechanisms.permute_and_flip import PERMUTE_AND_FLIP, OfSelect, PermuteAndFlip
from dpselect.mechanisms.scores import Candidate, Gaps, ScoresLike, finite_scores, native_scores, score_count
from dpselect.privacy import Neighbours

TopKMethod = Literal["auto", "set"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ExponentialNoiseTopK(SelectsSeveral, ScaledMechanism):
    r"""Adds exponential noise to each score *once*, and selects the `k` largest in order.

    It is `epsilon`-DP for all `k` together. For ``k = 1`` it is permute-and-flip; at the same epsilon its expected
    error is at most that of `k` rounds of it in every case that was enumerated, and up to a third smaller.

    Proof: ``proofs/exponential_once.md``.

    >>> mechanism = ExponentialNoiseTopK(epsilon=1.0, sensitivity=1.0, monotonic=True, k=2)
    >>> mechanism.scale, mechanism.event
    (2.0, LaplaceProfileEvent(epsilon=1.0))
    >>> mechanism.select([900, 20, 1800, 30], ["a", "b", "c", "d"])
    ['c', 'a']
    """

    costs = LaplaceProfileEvent

    k: int
    _share: float = field(init=False, repr=False, compare=False)
    _sampler: _core.Sampler = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        ScaledMechanism.__post_init__(self)
        k = positive_count(self.k, "k", at_most=sys.maxsize)
        # So that k shares are at most epsilon: the core divides w by a share, exactly.
        share = calibrate_rounds(epsilon=self.epsilon, delta=0.0, count=k)
        sampler = _core.Sampler("permute_and_flip", share, self.sensitivity, self._factor)
        self._set(k=k, _share=share, _sampler=sampler)

    @property
    def scale(self) -> float:
        """The mean b of the noise, in the unit of the scores: ``2 * k * sensitivity / epsilon``, half if monotonic."""
        return scale_of(self._share, self.sensitivity, factor=self._factor)

    def error_bound(self, n_candidates: int, confidence: float = 0.99) -> float:
        """With probability `confidence`, *every* selected score is this close to the best one left at its turn.

        So the r-th selected score is at most this far below the r-th largest, whatever the scores are.

        Proof: ``proofs/exponential_once.md``, claim 3.
        """
        n = positive_count(n_candidates, "n_candidates", at_most=sys.maxsize)
        log_confidence = math.log(probability(confidence, "confidence"))
        if n == 1:
            return 0.0
        return self.distance(-math.log(-math.expm1(log_confidence / (n - 1))) * (1.0 + 1e-12))

    def _check_count(self, n: int) -> None:
        if n < self.k:
            expected = f"at least {self.k:,} scores, as many as are selected"
            raise InvalidScoresError("scores", Shown(f"<{n} scores>"), expected)

    def _indices(self, scores: npt.NDArray[Any]) -> list[int]:
        return self._sampler.once(scores, self.k).tolist()


@explained
@dataclass(frozen=True, slots=True, kw_only=True)
class TopKPlan(SelectsSeveral):
    """How `k` of `n_candidates` will be selected, and what it costs. Made by `plan_top_k`; holds no data.

    Args:
        mechanism: selects all at once (`ExponentialNoiseTopK`), or runs once a round, without the earlier winners.
        rounds: number of draws, at least 1: 1 if one selects them all; else `k`, or one less if the last one follows.
        epsilon, delta: total cost; a delta of 0 if the plan meets `epsilon` without it.
    """

    mechanism: PermuteAndFlip | ExponentialMechanism | ExponentialNoiseTopK
    n_candidates: int
    k: int
    rounds: int
    epsilon: float
    delta: float

    @property
    def is_at_once(self) -> bool:
        return isinstance(self.mechanism, ExponentialNoiseTopK)

    @property
    def event(self) -> Event:
        if isinstance(self.mechanism, ExponentialNoiseTopK):
            return self.mechanism.event
        return ComposedEvent(event=self.mechanism.event, count=self.rounds)

    def error_bound(self, confidence: float = 0.99) -> float:
        """With probability `confidence`, *every* selected score is at most this far below the best left in its round.

        Proof: ``proofs/error_bounds.md``, or ``proofs/exponential_once.md``, claim 3.
        """
        if isinstance(self.mechanism, ExponentialNoiseTopK):
            return self.mechanism.error_bound(self.n_candidates, confidence)
        # Each round holds with this probability whatever earlier rounds released, so all hold with a power of it.
        log_confidence = math.log(probability(confidence, "confidence")) / self.rounds
        theta = self.mechanism.law.error_quantile(
            self.n_candidates, failure=-math.expm1(log_confidence), confidence=math.exp(log_confidence)
        )
        return self.mechanism.distance(theta)

    def _check_count(self, n: int) -> None:
        if n != self.n_candidates:
            expected = f"the {self.n_candidates} scores the plan was made for"
            raise InvalidScoresError("scores", Shown(f"<{n} scores>"), expected)

    def _indices(self, scores: npt.NDArray[Any]) -> list[int]:
        if not isinstance(self.mechanism, ExponentialNoiseTopK):
            return self.mechanism.peel(scores, self.k).tolist()
        picks = self.mechanism.select(scores)
        # If all are selected, all but one were drawn, and the last one follows.
        return picks if len(picks) == self.k else [*picks, *set(range(self.n_candidates)).difference(picks)]


@explained
def plan_top_k(
    n_candidates: int,
    k: int,
    *,
    epsilon: float,
    sensitivity: float,
    delta: float = 0.0,
    monotonic: bool = False,
    neighbours: Neighbours | str = Neighbours.ADD_REMOVE,
) -> TopKPlan:
    """The better of two ways to select `k` of `n_candidates`, decided from public arguments alone.

    `ExponentialNoiseTopK` has the smaller error per unit of epsilon. `ExponentialMechanism`, drawn once a round,
    composes better when `delta` > 0 (`dpselect.accounting.calibrate_rounds`), so that each of its rounds may spend
    more. The plan uses the one with the smaller worst-case expected error of the first, best, candidate. If all
    candidates are selected, the last one is not drawn.

    Args:
        epsilon, delta: in total; a delta of 0 is allowed.

    Proof: ``proofs/top_k.md`` and ``proofs/exponential_once.md``.

    >>> plan = plan_top_k(1000, 20, epsilon=1.0, sensitivity=1.0, delta=1e-6)
    >>> type(plan.mechanism).__name__, round(plan.mechanism.epsilon, 4)
    ('ExponentialMechanism', 0.1066)
    """
    n_candidates = positive_count(n_candidates, "n_candidates", at_most=sys.maxsize)
    k = positive_count(k, "k", at_most=n_candidates, at_most_what="the number of candidates")
    epsilon, delta = positive_epsilon(epsilon), delta_below_one(delta)
    common: dict[str, Any] = {"sensitivity": sensitivity, "monotonic": monotonic, "neighbours": neighbours}
    rounds = max(1, min(k, n_candidates - 1))
    pure = calibrate_rounds(epsilon=epsilon, delta=0.0, count=rounds)
    mechanism = (
        PermuteAndFlip(epsilon=pure, **common)
        if rounds == 1
        else ExponentialNoiseTopK(epsilon=epsilon, k=rounds, **common)
    )
    if delta:  # without one the first of noise once never has the larger error: proofs/permute_and_flip.md
        each = calibrate_rounds(epsilon=epsilon, delta=delta, count=rounds)
        # Errors are in scales, and the scale is inversely proportional to epsilon.
        if EXPONENTIAL.expected_error(n_candidates) * (pure / each) < PERMUTE_AND_FLIP.expected_error(n_candidates):
            mechanism = ExponentialMechanism(epsilon=each, **common)
    return TopKPlan(
        mechanism=mechanism,
        n_candidates=n_candidates,
        k=k,
        rounds=1 if isinstance(mechanism, ExponentialNoiseTopK) else rounds,
        epsilon=epsilon,
        delta=delta if isinstance(mechanism, ExponentialMechanism) else 0.0,
    )


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

        >>> round(TopKSet(k=10, epsilon=1.0, sensitivity=1.0, monotonic=True).error_bound(1000), 1)
        117.0
        """
        confidence = probability(confidence, "confidence")
        n = positive_count(n_candidates, "n_candidates", at_most=sys.maxsize)
        self._check_count(n)
        sets = math.lgamma(n + 1.0) - math.lgamma(self.k + 1.0) - math.lgamma(n - self.k + 1.0)
        log_odds = sets + math.log(-math.expm1(-sets))  # of all other sets over the best, rounded up
        return self.distance(max(0.0, log_odds + math.log(confidence / (1.0 - confidence))) * (1.0 + 2.0**-30))

    def _indices(self, scores: npt.NDArray[Any]) -> list[int]:
        draw = _SetDraw(self, finite_scores(scores))
        return draw.places(draw.ranks()).tolist()

    def _check_count(self, n: int) -> None:
        if self.k >= n:
            hint = "A set of all candidates is no choice, and needs no mechanism." if self.k == n else ""
            raise InvalidParameterError("k", self.k, f"less than the number of candidates, {n}", hint)


class _OfTopK(OfSelect):
    delta: NotRequired[float]
    method: NotRequired[TopKMethod]


@overload
def top_k(scores: ScoresLike, k: int, *, candidates: None = None, **terms: Unpack[_OfTopK]) -> list[int]: ...
@overload
def top_k(
    scores: ScoresLike, k: int, *, candidates: Sequence[Candidate], **terms: Unpack[_OfTopK]
) -> list[Candidate]: ...
@overload
def top_k(scores: ScoresLike, k: int, *, candidates: object, **terms: Unpack[_OfTopK]) -> list[Any]: ...
@explained
def top_k(
    scores: ScoresLike,
    k: int,
    *,
    epsilon: float,
    sensitivity: float,
    delta: float = 0.0,
    monotonic: bool = False,
    candidates: object = None,
    neighbours: Neighbours | str = Neighbours.ADD_REMOVE,
    method: TopKMethod = "auto",
) -> list[Any]:
    """Select `k` different candidates with (`epsilon`, `delta`)-differential privacy *in total*, best first.

    Args:
        epsilon: total privacy loss, > 0.
        delta: probability with which the guarantee may fail, from 0 to below 1. A delta above 0 pays off from about ten
            candidates on; choose it far below one over the number of units.
        method: ``"auto"``, by the rule of `plan_top_k`, or ``"set"``: one draw of the whole set (`dpselect.TopKSet`),
            in the order of the candidates; `delta` has to be 0.

    Proof: ``proofs/top_k.md``.

    >>> top_k([900, 20, 1800, 30], 2, epsilon=2.0, sensitivity=1, monotonic=True, candidates=["a", "b", "c", "d"])
    ['c', 'a']
    """
    native = native_scores(scores)
    delta = delta_below_one(delta)
    one_of(method, "method", get_args(TopKMethod))
    common: dict[str, Any] = {"sensitivity": sensitivity, "monotonic": monotonic, "neighbours": neighbours}
    if method == "set":
        if delta:
            hint = "A set is one draw, which a delta would not make more accurate."
            raise InvalidParameterError("delta", delta, '0 with method="set"', hint)
        return TopKSet(epsilon=epsilon, k=k, **common).select(native, candidates)
    plan = plan_top_k(score_count(native), k, epsilon=epsilon, delta=delta, **common)
    return plan.select(native, candidates)


_BITS = 40  # bits of the largest bound of a weight
_NEVER = 60.0  # octaves below the best set's weight, for all sets together, beyond which one stretch of ranks is enough
_CELLS = 20_000
_SHARE = 1 / 64  # a stretch with a larger share of all weight is divided if its scores are far from each other
_DIVISIONS = 60


class _SetDraw:
    r"""One draw of a set; ranks count from 1 as on the proof page, and equal scores are ranked by their place.

    In order of the scores, u depends on two ranks only: h, the best left out, and t, the worst member;
    :math:`\binom{t-h-1}{k-h}` sets share them. So a draw proposes a pair of h and a stretch of ranks t by a whole bound
    of its weight, then one of its sets uniformly, and accepts by an exact coin.
    """

    def __init__(self, mechanism: TopKSet, scores: npt.NDArray[Any]) -> None:
        self._scores, self._rate, self._k = scores, mechanism.rate, mechanism.k
        self._n, k = scores.size, mechanism.k
        self._ranked = np.sort(scores)[::-1]
        # Over b: how far each of the first k is above the last of them, and each other one below the best of these.
        self._above = mechanism.scaled(Gaps.between(self._ranked[:k], self._ranked[k - 1]))
        self._below = mechanism.scaled(Gaps.between(self._ranked[k], self._ranked[k:]))
        # How far the best set is above the second.
        self._lead = 2.0 * float(mechanism.scaled(Gaps.between(self._ranked[k - 1], self._ranked[k : k + 1]))[0])
        self._slack = 2.0**-16 + self._n * math.log2(self._n + 1) * 2.0**-46  # logarithms of numbers are off by less

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
        h = h[:, np.newaxis]
        # Of two bounds the smaller: all sets whose worst rank is at most `until`, and for each rank as many as for it.
        number = np.minimum(
            _log2_choose(until - h, self._k - h + 1), _log2_choose(until - h - 1, self._k - h) + np.log2(until - before)
        )
        return number - above[h - 1] - below[before - self._k] + self._slack

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
        return ((last - next_one) - (worst - best_out)) * self._rate

    def places(self, ranks: IntArray) -> IntArray:
        """The candidates with these ranks, in the order of the scores."""
        worst = self._ranked[ranks.max() - 1]
        above = np.flatnonzero(self._scores > worst)
        # Sorted from behind, and turned round: so equal scores stay in order of their places.
        best_first = above[::-1][np.argsort(self._scores[above][::-1], kind="stable")][::-1]
        best_first = np.concatenate([best_first, np.flatnonzero(self._scores == worst)])
        return np.sort(best_first[ranks - 1])


def _log2_choose(n: IntArray, k: IntArray) -> FloatArray:
    """Minus infinity where n < k."""
    from scipy.special import gammaln  # here, so that only sets cost the time to load it

    with np.errstate(invalid="ignore"):
        found = (gammaln(n + 1.0) - gammaln(k + 1.0) - gammaln(n - k + 1.0)) / math.log(2.0)
    return np.where(n >= k, found, -np.inf)
