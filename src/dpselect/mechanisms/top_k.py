"""The k best candidates within one total (epsilon, delta): the plan, chosen before any data is seen, and its run."""

from __future__ import annotations

import functools
import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, NotRequired, TypedDict, TypeVar, Unpack, get_args, overload

from dpselect.accounting import ComposedEvent, LaplaceProfileEvent, calibrate_rounds
from dpselect.checks import delta_below_one, one_of, positive_count, positive_epsilon, probability
from dpselect.errors import InvalidParameterError, InvalidScoresError, Shown
from dpselect.mechanisms.candidates import checked_candidates
from dpselect.mechanisms.explained import explained
from dpselect.mechanisms.exponential import EXPONENTIAL, ExponentialMechanism
from dpselect.mechanisms.exponential_once import ExponentialNoiseTopK
from dpselect.mechanisms.permute_and_flip import PERMUTE_AND_FLIP, PermuteAndFlip
from dpselect.mechanisms.scores import ScoresLike, native_scores, score_count
from dpselect.mechanisms.top_k_set import TopKSet
from dpselect.privacy import Neighbours, neighbouring_relation

Candidate = TypeVar("Candidate")

TopKMethod = Literal["auto", "set"]
"""How `top_k` selects: by the public rule, in order, or as one set."""


@explained
@dataclass(frozen=True, slots=True, kw_only=True)
class TopKPlan:
    """How `k` of `n_candidates` will be selected, and what it costs. Made by `plan_top_k`; holds no data.

    Attributes:
        mechanism: selects all of them at once (`ExponentialNoiseTopK`), or runs once a round, each round without the
            earlier winners.
        n_candidates: number of scores the plan is for.
        k: number to select.
        rounds: number of draws: 1 if one selects them all; else `k`, or one less if all candidates are selected,
            because the last one is then the only one left. For a single candidate one round is charged all the same, as
            for any selection.
        epsilon: total cost.
        delta: total cost; 0 if the plan meets `epsilon` without it.
    """

    mechanism: PermuteAndFlip | ExponentialMechanism | ExponentialNoiseTopK
    n_candidates: int
    k: int
    rounds: int
    epsilon: float
    delta: float

    @property
    def is_at_once(self) -> bool:
        """Whether one draw selects several candidates."""
        return isinstance(self.mechanism, ExponentialNoiseTopK)

    @property
    def event(self) -> ComposedEvent | LaplaceProfileEvent:
        """What the whole run costs, for accounting."""
        if isinstance(self.mechanism, ExponentialNoiseTopK):
            return self.mechanism.event
        return ComposedEvent(event=self.mechanism.event, count=self.rounds)

    def error_bound(self, confidence: float = 0.99) -> float:
        """With probability `confidence`, *every* selected score is at most this far below the best left in its round.

        So the r-th selected score is at most this far below the r-th largest of all. It depends only on public
        arguments.

        Args:
            confidence: strictly between 0 and 1, for all rounds together.

        Returns:
            A distance in the unit of the scores.

        Proof: ``proofs/error_bounds.md``, or ``proofs/exponential_once.md``, claim 3.
        """
        if isinstance(self.mechanism, ExponentialNoiseTopK):
            return self.mechanism.error_bound(self.n_candidates, confidence)
        # Each round holds with this probability whatever earlier rounds released, so all hold with a power of it.
        log_confidence = math.log(probability(confidence, "confidence")) / self.rounds
        return self.mechanism.worst_error(
            self.n_candidates, failure=-math.expm1(log_confidence), confidence=math.exp(log_confidence)
        )

    @overload
    def select(self, scores: ScoresLike, candidates: None = None) -> list[int]: ...
    @overload
    def select(self, scores: ScoresLike, candidates: Sequence[Candidate]) -> list[Candidate]: ...
    @overload
    def select(self, scores: ScoresLike, candidates: object) -> list[Any]: ...
    def select(self, scores: ScoresLike, candidates: object = None) -> list[Any]:
        """Draw the `k` candidates, best first, at the plan's total cost.

        Args:
            scores: shape ``(n_candidates,)``; see `Mechanism.select`.

        Returns:
            `k` different candidates (or indices) in the order they were selected.

        Raises:
            InvalidScoresError: not `n_candidates` finite scores.

        Proof: ``proofs/top_k.md``.
        """
        native = self._native(scores)
        pick = None if candidates is None else checked_candidates(candidates, count=self.n_candidates)
        picks = self._picks(native)
        return picks if pick is None else [pick(index) for index in picks]

    def _native(self, scores: ScoresLike) -> Any:
        native = native_scores(scores)
        if score_count(native) != self.n_candidates:
            got = Shown(f"<{type(scores).__name__} of length {score_count(native)}>")
            raise InvalidScoresError("scores", got, f"the {self.n_candidates} scores the plan was made for")
        return native

    def _picks(self, native: Any) -> list[int]:
        if isinstance(self.mechanism, ExponentialNoiseTopK):
            return self._with_last(self.mechanism.select(native))
        return self.mechanism.peel(native, self.k).tolist()

    def _with_last(self, picks: list[int]) -> list[int]:
        """If all but one were drawn, and all are selected, the last one follows."""
        if len(picks) == self.k:
            return picks
        return [*picks, *set(range(self.n_candidates)).difference(picks)]


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

    Exponential noise once on all scores, at `k` times the scale of one selection, has the smaller error per unit of
    epsilon; for one candidate that is permute-and-flip. The exponential mechanism, drawn once a round, composes better
    when `delta` > 0, so that each of its rounds may spend more: up to 100 rounds by the exact recursion, for more
    rounds by Rényi divergences (`dpselect.accounting.calibrate_rounds`). The plan uses the one with the smaller
    worst-case expected error of the first, best, candidate. If all candidates are selected, the last one is not drawn.

    Args:
        k: number to select, from 1 to `n_candidates`.
        epsilon: total, > 0.
        delta: total, from 0 to below 1.

    Proof: ``proofs/top_k.md`` and ``proofs/exponential_once.md``.

    >>> plan = plan_top_k(1000, 20, epsilon=1.0, sensitivity=1.0, delta=1e-6)
    >>> type(plan.mechanism).__name__, round(plan.mechanism.epsilon, 4)
    ('ExponentialMechanism', 0.1066)
    >>> plan = plan_top_k(1000, 20, epsilon=1.0, sensitivity=1.0)
    >>> type(plan.mechanism).__name__, plan.mechanism.epsilon, plan.mechanism.scale
    ('ExponentialNoiseTopK', 1.0, 40.0)
    >>> plan_top_k(5, 5, epsilon=1.0, sensitivity=1.0).mechanism.k  # the last one follows
    4
    """
    n_candidates = positive_count(n_candidates, "n_candidates", at_most=sys.maxsize)
    k = positive_count(k, "k", at_most=n_candidates, at_most_what="the number of candidates")
    epsilon, delta = positive_epsilon(epsilon), delta_below_one(delta)
    relation = neighbouring_relation(neighbours)
    common: _Common = {"sensitivity": sensitivity, "monotonic": monotonic, "neighbours": relation}
    rounds = max(1, min(k, n_candidates - 1))
    pure, approximate = _epsilons_per_round(n_candidates, rounds, epsilon, delta)
    if approximate is not None:
        mechanism = ExponentialMechanism(epsilon=approximate, **common)
    elif rounds > 1:
        mechanism = ExponentialNoiseTopK(epsilon=epsilon, k=rounds, **common)
    else:
        mechanism = PermuteAndFlip(epsilon=pure, **common)
    return TopKPlan(
        mechanism=mechanism,
        n_candidates=n_candidates,
        k=k,
        rounds=1 if isinstance(mechanism, ExponentialNoiseTopK) else rounds,
        epsilon=epsilon,
        delta=0.0 if approximate is None else delta,
    )


class _Common(TypedDict):
    sensitivity: float
    monotonic: bool
    neighbours: Neighbours


@functools.lru_cache(maxsize=256)
def _epsilons_per_round(n: int, rounds: int, epsilon: float, delta: float) -> tuple[float, float | None]:
    """Epsilon of a share of noise once; and of a round of the exponential mechanism, if its error is smaller."""
    pure = calibrate_rounds(epsilon=epsilon, delta=0.0, count=rounds)
    if delta == 0.0:
        # At equal epsilon the first of noise once never has the larger error: proofs/permute_and_flip.md.
        return pure, None
    approximate = calibrate_rounds(epsilon=epsilon, delta=delta, count=rounds)
    pure_error = PERMUTE_AND_FLIP.worst_case.expected_error(n)
    approximate_error = EXPONENTIAL.worst_case.expected_error(n)
    # Errors are in scales, and the scale is inversely proportional to epsilon.
    return pure, approximate if approximate_error * (pure / approximate) < pure_error else None


class _OfTopK(TypedDict):
    epsilon: float
    sensitivity: float
    delta: NotRequired[float]
    monotonic: NotRequired[bool]
    neighbours: NotRequired[Neighbours | str]
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

    The mechanism is chosen from the public arguments: see `plan_top_k`.

    Args:
        k: number to select, from 1 to n.
        epsilon: total privacy loss, > 0.
        delta: probability with which the guarantee may fail, from 0 to below 1. A delta above 0 pays off from about ten
            candidates on; choose it far below one over the number of units.
        method: ``"auto"``, by the rule of `plan_top_k`, or ``"set"``: one draw of the whole set (`dpselect.TopKSet`),
            in the order of the candidates; `delta` has to be 0. A set is far better where the best `k` are well ahead
            of all others, and worse where candidates near rank `k` are nearly equal: see
            `dpselect.planning.recommend_top_k`.

    Returns:
        `k` different candidates (or indices), best first; a set in the order of the candidates.

    Proof: ``proofs/top_k.md``.

    >>> top_k([900, 20, 1800, 30], 2, epsilon=2.0, sensitivity=1, monotonic=True, candidates=["a", "b", "c", "d"])
    ['c', 'a']
    >>> top_k([900, 20, 1800, 30], 2, epsilon=2.0, sensitivity=1, monotonic=True, method="set")
    [0, 2]
    """
    native = native_scores(scores)
    delta = delta_below_one(delta)
    one_of(method, "method", get_args(TopKMethod))
    common: _Common = {
        "sensitivity": sensitivity,
        "monotonic": monotonic,
        "neighbours": neighbouring_relation(neighbours),
    }
    if method == "set":
        if delta:
            hint = "A set is one draw, which a delta would not make more accurate."
            raise InvalidParameterError("delta", delta, '0 with method="set"', hint)
        return TopKSet(epsilon=epsilon, k=k, **common).select(native, candidates)
    plan = plan_top_k(score_count(native), k, epsilon=epsilon, delta=delta, **common)
    return plan.select(native, candidates)
