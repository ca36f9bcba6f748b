r"""The k best candidates as one set, drawn at once by the exponential mechanism over all sets.

A set scores :math:`u(S)`, its worst member less the best candidate left out. In order of the scores, u depends on two
ranks only: h, the best left out, and t, the worst member; :math:`\binom{t-h-1}{k-h}` sets share them. So a draw
proposes a pair of h and a stretch of ranks t by a whole bound of its weight, then one of its sets uniformly, and
accepts by an exact coin.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from fractions import Fraction
from typing import Any, Literal, NamedTuple, TypeVar, cast, overload

import numpy as np
import numpy.typing as npt

from dpselect._native import _core
from dpselect.checks import positive_count, probability
from dpselect.errors import InvalidParameterError
from dpselect.mechanisms.base import RangedMechanism
from dpselect.mechanisms.candidates import checked_candidates
from dpselect.mechanisms.exact_coins import accepts, uniform_below, uniform_subset
from dpselect.mechanisms.laws import Gaps
from dpselect.mechanisms.rank_sets import MOST_CELLS, RankedWeights, RankSets, WeightedSets, log_sets
from dpselect.mechanisms.scores import NumericArray, ScoresLike, finite_scores
from dpselect.mechanisms.weights import CandidateWeights, unlike

Candidate = TypeVar("Candidate")
FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

_BITS = 40  # bits of the largest bound of a weight
_NEVER = 60.0  # octaves below the best set's weight, for all sets together, beyond which one stretch of ranks is enough
_CELLS = 20_000
_SHARE = 1 / 64  # a stretch with a larger share of all weight is divided if its scores are far from each other
_DIVISIONS = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class TopKSet(RangedMechanism):
    r"""Selects a set of `k` candidates with probability proportional to :math:`e^{u(S)/b}`, where u(S) is the score of
    the worst member less that of the best candidate left out.

    It is `epsilon`-DP and `epsilon`-bounded-range for the whole set, at :math:`b = 4 \Delta/\varepsilon`, or half of it
    if `monotonic`; k does not enter. So it is the best way to a set whose members are far ahead of the others, and
    worse than `top_k` where candidates near rank k are nearly equal. The set has no order.

    With `weights` the probability is proportional to :math:`e^{u(S)/b}` times the product of the members' weights, at
    the same cost.

    Args:
        k: number of candidates to select, less than their number.
        weights: public numbers >= 0, one for each candidate, from knowledge and never from the data; see
            `ExponentialMechanism`. A candidate with the weight 0 takes no part: it is no member, nor the best one left
            out. With weights `k` times the number of candidates that have one is at most 20 million.

    Proof: ``proofs/top_k_sets.md``. Source: Shekelyan & Loukides (2022), with other constants.

    >>> mechanism = TopKSet(k=2, epsilon=1.0, sensitivity=1.0, monotonic=True)
    >>> mechanism.select([900, 20, 1800, 30])
    [0, 2]
    >>> mechanism.scale
    2.0
    >>> TopKSet(k=2, epsilon=1.0, sensitivity=1.0, monotonic=True, weights=[1, 2, 0, 1]).select([900, 20, 1800, 700])
    [0, 3]
    """

    k: int
    weights: Sequence[float | Fraction] | npt.NDArray[np.generic] | CandidateWeights | None = field(
        default=None, repr=False
    )

    def __repr__(self) -> str:
        shown = {part.name: getattr(self, part.name) for part in fields(self) if part.repr}
        if self.weights is not None:
            shown["weights"] = self.weights
        return f"TopKSet({', '.join(f'{name}={value!r}' for name, value in shown.items())})"

    def __post_init__(self) -> None:
        RangedMechanism.__post_init__(self)
        self._set(k=positive_count(self.k, "k", at_most=sys.maxsize))
        if self.weights is not None:
            weights = CandidateWeights.of(cast(object, self.weights))
            self._set(weights=weights)
            self._checked_k(len(weights))

    @property
    def scale(self) -> float:
        """The scale b as a double, in the unit of the scores: ``4 * sensitivity / epsilon``, half if monotonic."""
        return 2.0 * super(TopKSet, self).scale

    def error_bound(self, n_candidates: int, confidence: float = 0.99) -> float:
        """With probability `confidence`, every selected score is at most this far below the best one left out.

        So it is at most this far below the k-th largest, too. It depends on public arguments only.

        With weights, that is for the best ones of those that have a weight, whoever they are.

        Proof: ``proofs/top_k_sets.md``, claims 3 and 5.

        >>> round(TopKSet(k=10, epsilon=1.0, sensitivity=1.0, monotonic=True).error_bound(1000), 1)
        117.0
        """
        confidence = probability(confidence, "confidence")
        n = positive_count(n_candidates, "n_candidates", at_most=sys.maxsize)
        k, weights = self._checked_k(n), self._weights
        if weights is not None and n != len(weights):
            raise InvalidParameterError("n_candidates", n, f"{len(weights)}, the number of weights")
        sets = _log_choices(n, k) if weights is None else log_sets(weights, k)
        log_odds = sets + math.log(-math.expm1(-sets))  # of all other sets over the lightest, rounded up
        theta = max(0.0, log_odds + math.log(confidence / (1.0 - confidence)))
        return theta * self.scale * (1.0 + 2.0**-30)

    @overload
    def select(self, scores: ScoresLike, candidates: None = None) -> list[int]: ...
    @overload
    def select(self, scores: ScoresLike, candidates: Sequence[Candidate]) -> list[Candidate]: ...
    @overload
    def select(self, scores: ScoresLike, candidates: object) -> list[Any]: ...
    def select(self, scores: ScoresLike, candidates: object = None) -> list[Any]:
        """Draw one set, at the cost of `epsilon` for all of it.

        Args:
            scores: more than `k`; see `Mechanism.select`.

        Returns:
            `k` candidates (or indices) in the order in which the scores were given, which says nothing of who is best.

        Raises:
            InvalidScoresError: as for `Mechanism.select`.
            InvalidParameterError: there are not more than `k` scores.

        Proof that the draw is exact: ``proofs/top_k_sets.md``, claims 4 and 6.
        """
        found, weights = finite_scores(scores), self._weights
        if weights is not None and found.size != len(weights):
            raise unlike(found.size, len(weights))
        self._checked_k(found.size)
        pick = None if candidates is None else checked_candidates(candidates, count=found.size)
        draw = _SetDraw(self, found) if weights is None else _WeightedSetDraw(self, found, weights)
        chosen = draw.indices()
        return chosen if pick is None else [pick(index) for index in chosen]

    @property
    def rate(self) -> Fraction:
        """1/b exactly."""
        return Fraction(self.epsilon) / (Fraction(self.sensitivity) * 2 * self._factor)

    def scaled(self, gaps: Gaps) -> FloatArray:
        """Gaps over b."""
        factor: Literal[1, 2] = self._factor
        return gaps.scaled(epsilon=self.epsilon, sensitivity=self.sensitivity, factor=factor) / 2.0

    @property
    def _weights(self) -> CandidateWeights | None:
        return cast("CandidateWeights | None", self.weights)

    def _checked_k(self, n: int) -> int:
        weights = self._weights
        if weights is not None:
            n = int(np.count_nonzero(weights.taking_part))
            if self.k >= n:
                raise InvalidParameterError("k", self.k, f"less than the number of candidates that have a weight, {n}")
            if self.k * n > MOST_CELLS:
                hint = f"There are {n:,} candidates that have a weight. Without weights there is no such limit."
                raise InvalidParameterError("k", self.k, f"at most {MOST_CELLS // n:,} with so many weights", hint)
        elif self.k >= n:
            hint = "A set of all candidates is no choice, and needs no mechanism." if self.k == n else ""
            raise InvalidParameterError("k", self.k, f"less than the number of candidates, {n}", hint)
        return self.k


class _Proposal(NamedTuple):
    """Sets of equal h, or of any h up to `far`, whose worst rank lies in a stretch."""

    h: int
    first: int
    last: int


class _SetDraw:
    """One draw; ranks count from 1 as on the proof page, and equal scores are ranked by their place."""

    def __init__(self, mechanism: TopKSet, scores: NumericArray) -> None:
        self._scores, self._rate, self._k = scores, mechanism.rate, mechanism.k
        self._n, k = scores.size, mechanism.k
        self._ranked = np.sort(scores)[::-1]
        # Over b: how far each of the first k is above the last of them, and each other one below the best of these.
        self._above = mechanism.scaled(_differences(self._ranked[:k], self._ranked[k - 1]))
        self._below = mechanism.scaled(_differences(self._ranked[k], self._ranked[k:]))
        # How far the best set is above the second.
        self._lead = 2.0 * float(mechanism.scaled(_differences(self._ranked[k - 1], self._ranked[k : k + 1]))[0])
        self._sets = RankSets(self._n, k)

    def indices(self) -> list[int]:
        """The set, in the order of the scores."""
        return self._places(self._ranks()).tolist()

    def _ranks(self) -> IntArray:
        """Members of the set by rank, in any order."""
        k = self._k
        weights, far, edges = self._bounds()
        unit = math.ceil(float(weights.max()))
        with np.errstate(under="ignore"):
            bounds = np.exp2(weights.ravel() + (_BITS - unit)).astype(np.uint64) + np.uint64(1)
        stretches = edges.size - 1
        while True:
            place = int(np.flatnonzero(_core.tally(bounds, 1))[0])
            bound = int(bounds[place])
            row, stretch = divmod(place, stretches)
            h, first, last = far + 1 + row, int(edges[stretch]) + 1, int(edges[stretch + 1])
            if row < k - far:
                number, x, ranks = self._one_of(_Proposal(h, first, last))
            elif stretch == 0:
                number, x, ranks = 1, Fraction(0), np.arange(1, k + 1)  # the best set itself
            elif stretch == 1 and far:
                number, x, ranks = self._one_far(far)
            else:
                continue  # filling
            if number and accepts((Fraction(number, bound) * Fraction(2) ** (_BITS - unit)).as_integer_ratio(), x):
                return ranks

    def _bounds(self) -> tuple[FloatArray, int, IntArray]:
        """Binary logarithms of the weights of all proposals beside that of the best set, or a little more.

        Returns:
            A row for each h from ``far + 1`` to k, and a last one with the best set and all smaller h together; and the
            edges of the stretches, in ranks.
        """
        k, n = self._k, self._n
        octaves_above, octaves_below = self._above / math.log(2.0), self._below / math.log(2.0)
        lead = self._lead / math.log(2.0)
        reach = max(1.0, self._sets.log2_all() + _NEVER - lead)
        far = int(np.count_nonzero(octaves_above > reach))
        h = np.arange(far + 1, k + 1)
        width = max(0.5, min(reach, float(octaves_below[-1])) / max(16, min(2048, _CELLS // h.size)))
        steps = np.arange(0.0, min(reach, float(octaves_below[-1])) + width, width)
        starts = np.searchsorted(octaves_below, steps[1:], side="left")
        edges = np.unique(np.concatenate([[0], starts, [n - k]])) + k
        columns = self._columns(h, octaves_above + lead, octaves_below, edges[:-1], edges[1:])
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
            columns[:, new] = self._columns(h, octaves_above + lead, octaves_below, divided[new], divided[new + 1])
            edges = divided
        last = np.full((1, max(2, columns.shape[1])), -np.inf)
        last[0, 0] = 0.0
        if far:
            last[0, 1] = self._sets.log2_all() + self._sets.slack - float(octaves_above[far - 1]) - lead
        if columns.shape[1] < 2:
            columns = np.pad(columns, ((0, 0), (0, 1)), constant_values=-np.inf)
            edges = np.append(edges, edges[-1])
        return np.concatenate([columns, last]), far, edges

    def _columns(
        self, h: IntArray, above: FloatArray, below: FloatArray, before: IntArray, until: IntArray
    ) -> FloatArray:
        """For each h and each stretch of ranks ``before + 1`` to ``until``: its sets, at the score of its best rank."""
        numbers = self._sets.log2_at_most(h[:, np.newaxis], before, until)
        return numbers - above[h - 1][:, np.newaxis] - below[before - self._k] + self._sets.slack

    def _one_of(self, proposal: _Proposal) -> tuple[int, Fraction, IntArray]:
        """How many sets the proposal stands for, how far below the best set a uniform one of them is, and its ranks."""
        h, first, last = proposal
        number = self._sets.count(h, first, last)
        if not number:
            return 0, Fraction(0), np.empty(0, np.int64)
        t = self._sets.worst_rank(h, first, last, uniform_below(number))
        between = uniform_subset(t - h - 1, self._k - h) + (h + 1)
        return number, self._exponent(h, t), np.concatenate([np.arange(1, h), between, [t]])

    def _one_far(self, far: int) -> tuple[int, Fraction, IntArray]:
        """The same for all sets that leave out one of the first `far`."""
        number = self._sets.count_without_one_of(far)
        h = self._sets.best_left_out(far, uniform_below(number))
        others = uniform_subset(self._n - h, self._k - h + 1) + (h + 1)
        return number, self._exponent(h, int(others.max())), np.concatenate([np.arange(1, h), others])

    def _exponent(self, h: int, t: int) -> Fraction:
        """How far a set is below the best one, over b."""
        return _exponent(self._ranked, self._k, h, t) * self._rate

    def _places(self, ranks: IntArray) -> IntArray:
        """The candidates with these ranks, in the order of the scores."""
        scores, ranked = self._scores, self._ranked
        ascending = ranked[::-1]
        values = ranked[ranks - 1]
        wanted, group = np.unique(values, return_inverse=True)
        # Of equal scores the one with place p is p-th: those wanted, counted from the first of that score.
        order = ranks - 1 - (self._n - np.searchsorted(ascending, wanted, side="right"))[group]
        within = np.flatnonzero(_may_be_among(scores, cast(NumericArray, wanted)))
        at = np.searchsorted(wanted, scores[within])
        at[at == wanted.size] = 0
        hit = wanted[at] == scores[within]
        within, at = within[hit], at[hit]
        by_value = np.argsort(at.astype(np.int32), kind="stable")
        starts = np.searchsorted(at[by_value], np.arange(wanted.size))
        return np.sort(within[by_value[starts[group] + order]])


class _WeightedSetDraw:
    """One draw with weights; equal scores are ranked by their place, one way or the other."""

    def __init__(self, mechanism: TopKSet, scores: NumericArray, weights: CandidateWeights) -> None:
        taking_part = np.flatnonzero(weights.taking_part)
        k = mechanism.k
        self._order = taking_part[np.argsort(scores[taking_part], kind="stable")[::-1]]
        self._rate, self._k, self._ranked = mechanism.rate, k, scores[self._order]
        ranked, octave = self._ranked, math.log(2.0)
        lead = 2.0 * float(mechanism.scaled(_differences(ranked[k - 1], ranked[k : k + 1]))[0])
        self._sets = WeightedSets(
            RankedWeights(
                weights=weights,
                order=self._order,
                above=mechanism.scaled(_differences(ranked[:k], ranked[k - 1])) / octave,
                below=mechanism.scaled(_differences(ranked[k], ranked[k:])) / octave,
                lead=lead / octave,
            )
        )

    def indices(self) -> list[int]:
        """The set, in the order of the scores."""
        while True:
            found = self._sets.propose()
            if found is None:
                continue
            x = Fraction(0) if found.t == self._k else _exponent(self._ranked, self._k, found.h, found.t) * self._rate
            if accepts(found.share.as_integer_ratio(), x):
                return np.sort(self._order[np.array(found.ranks) - 1]).tolist()


def _exponent(ranked: Any, k: int, h: int, t: int) -> Fraction:
    """How far a set is below the best one, in the unit of the scores."""
    best_out, last, next_one, worst = (Fraction(ranked[rank - 1].item()) for rank in (h, k, k + 1, t))
    return (last - next_one) - (worst - best_out)


def _differences(high: Any, low: Any) -> Gaps:
    """``high - low``, not negative; each with one rounding."""
    high, low = np.broadcast_arrays(high, low)
    if high.dtype.kind != "f":
        return Gaps((high.astype(np.uint64) - low.astype(np.uint64)).astype(np.float64), 0)
    with np.errstate(over="ignore"):
        difference = high - low
    if np.isfinite(difference).all():
        return Gaps(difference, 0)
    return Gaps(high / 2.0 - low / 2.0, 1)


def _may_be_among(scores: NumericArray, few: NumericArray) -> npt.NDArray[np.bool_]:
    """Whether each score is one of a few, or has the same 16 bits of a hash: much faster than a search for each."""
    table = np.zeros(1 << 16, np.bool_)
    table[_hashes(few)] = True
    return table[_hashes(scores)]


def _hashes(numbers: NumericArray) -> npt.NDArray[np.uint16]:
    bits = (numbers + 0.0 if numbers.dtype.kind == "f" else numbers).view(np.uint64)  # there is one zero
    return ((bits * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(48)).astype(np.uint16)


def _log_choices(n: int, k: int) -> float:
    return math.lgamma(n + 1.0) - math.lgamma(k + 1.0) - math.lgamma(n - k + 1.0)
