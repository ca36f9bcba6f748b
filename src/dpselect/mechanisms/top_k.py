"""The k best candidates within one (epsilon, delta), in order, by a plan made before any data is seen."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NotRequired, Unpack, get_args, overload

import numpy.typing as npt

from dpselect._native import _core
from dpselect.accounting import ComposedEvent, Event, LaplaceProfileEvent, calibrate_rounds
from dpselect.checks import delta_below_one, one_of, positive_count, positive_epsilon, probability
from dpselect.errors import InvalidParameterError, InvalidScoresError, Shown
from dpselect.mechanisms.exponential import EXPONENTIAL, ExponentialMechanism, SelectsSeveral, TopKSet
from dpselect.mechanisms.mechanism import ScaledMechanism, explained
from dpselect.mechanisms.numbers import scale_of
from dpselect.mechanisms.permute_and_flip import PERMUTE_AND_FLIP, OfSelect, PermuteAndFlip
from dpselect.mechanisms.scores import Candidate, ScoresLike, native_scores, score_count
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
