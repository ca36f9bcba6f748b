"""The k best candidates within one total (epsilon, delta): the plan, chosen before any data is seen, and its run."""

from __future__ import annotations

import functools
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
from dpselect.mechanisms.exponential import EXPONENTIAL, ExponentialMechanism
from dpselect.mechanisms.mechanism import ScaledMechanism, SelectsSeveral, explained
from dpselect.mechanisms.numbers import scale_of
from dpselect.mechanisms.permute_and_flip import PERMUTE_AND_FLIP, OfSelect, PermuteAndFlip
from dpselect.mechanisms.scores import Candidate, ScoresLike, native_scores, score_count
from dpselect.mechanisms.top_k_set import TopKSet
from dpselect.privacy import Neighbours, neighbouring_relation

TopKMethod = Literal["auto", "set"]
"""How `top_k` selects: by the public rule, in order, or as one set."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExponentialNoiseTopK(SelectsSeveral, ScaledMechanism):
    r"""Adds exponential noise to each score *once*, and selects the `k` largest in order.

    Its mean is :math:`b = k w / \varepsilon`, with w the sensitivity if monotonic, else twice that.

    It is `epsilon`-DP for all `k` together. At the same
    epsilon its expected error is at most that of `k` rounds of `PermuteAndFlip` in every case that was enumerated, and
    up to a third smaller; for ``k = 1`` it is permute-and-flip.

    Args:
        k: number to select, >= 1.

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
        """The mean b of the noise, in the unit of the scores.

        That is ``2 * k * sensitivity / epsilon``, half of it if monotonic.

        For reading only, as a double (infinite or 0 if it does not fit): draws use the exact quotient.
        """
        return scale_of(self._share, self.sensitivity, factor=self._factor)

    @property
    def terms(self) -> tuple[float, float, Literal[1, 2], int]:
        """A share of epsilon, the sensitivity and the factor of the scale, and k: on these a draw depends."""
        return self._share, self.sensitivity, self._factor, self.k

    def error_bound(self, n_candidates: int, confidence: float = 0.99) -> float:
        r"""With probability `confidence`, *every* selected score is this close to the best one left at its turn.

        So the r-th selected score is at most this far below the r-th largest. There is no union over the `k`
        selections: the bound is :math:`-b \ln(1 - (1 - \beta)^{1/(n-1)})` for a failure :math:`\beta`, whatever the
        scores and `k` are. It depends on public arguments only.

        Returns:
            A distance in the unit of the scores; 0 for a single candidate.

        Proof: ``proofs/exponential_once.md``, claim 3.
        """
        n = positive_count(n_candidates, "n_candidates", at_most=sys.maxsize)
        log_confidence = math.log(probability(confidence, "confidence"))
        if n == 1:
            return 0.0
        theta = -math.log(-math.expm1(log_confidence / (n - 1))) * (1.0 + 1e-12)
        return math.nextafter(theta * math.nextafter(self.scale, math.inf), math.inf)

    def _checked(self, scores: ScoresLike) -> npt.NDArray[Any]:
        native = native_scores(scores)
        if 0 < score_count(native) < self.k:
            got = Shown(f"<{type(scores).__name__} of length {native.size}>")
            raise InvalidScoresError("scores", got, f"at least {self.k:,} scores, as many as are selected")
        return native

    def _indices(self, scores: npt.NDArray[Any]) -> list[int]:
        return self._sampler.once(scores, self.k).tolist()


@explained
@dataclass(frozen=True, slots=True, kw_only=True)
class TopKPlan(SelectsSeveral):
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
    def event(self) -> Event:
        """What the whole run costs, for accounting."""
        if isinstance(self.mechanism, ExponentialNoiseTopK):
            return self.mechanism.event
        return ComposedEvent(event=self.mechanism.event, count=self.rounds)

    def error_bound(self, confidence: float = 0.99) -> float:
        """With probability `confidence`, *every* selected score is at most this far below the best left in its round.

        So the r-th selected score is at most this far below the r-th largest of all. It depends only on public
        arguments.

        Proof: ``proofs/error_bounds.md``, or ``proofs/exponential_once.md``, claim 3.
        """
        if isinstance(self.mechanism, ExponentialNoiseTopK):
            return self.mechanism.error_bound(self.n_candidates, confidence)
        # Each round holds with this probability whatever earlier rounds released, so all hold with a power of it.
        log_confidence = math.log(probability(confidence, "confidence")) / self.rounds
        return self.mechanism.worst_error(
            self.n_candidates, failure=-math.expm1(log_confidence), confidence=math.exp(log_confidence)
        )

    def _checked(self, scores: ScoresLike) -> npt.NDArray[Any]:
        native = native_scores(scores)
        if score_count(native) != self.n_candidates:
            got = Shown(f"<{type(scores).__name__} of length {native.size}>")
            raise InvalidScoresError("scores", got, f"the {self.n_candidates} scores the plan was made for")
        return native

    def _indices(self, scores: npt.NDArray[Any]) -> list[int]:
        if isinstance(self.mechanism, ExponentialNoiseTopK):
            return self._with_last(self.mechanism.select(scores))
        return self.mechanism.peel(scores, self.k).tolist()

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
        epsilon, delta: in total; a delta of 0 is allowed.

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
    common: dict[str, Any] = {"sensitivity": sensitivity, "monotonic": monotonic, "neighbours": relation}
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

    The mechanism is chosen from the public arguments: see `plan_top_k`.

    Args:
        k: number to select, from 1 to n.
        epsilon: total privacy loss, > 0.
        delta: probability with which the guarantee may fail, from 0 to below 1. A delta above 0 pays off from about ten
            candidates on; choose it far below one over the number of units.
        method: ``"auto"``, by the rule of `plan_top_k`, or ``"set"``: one draw of the whole set (`dpselect.TopKSet`),
            in the order of the candidates; `delta` has to be 0. A set is far better where the best `k` are well ahead
            of all others, and worse where candidates near rank `k` are nearly equal, which nobody knows in advance.

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
    relation = neighbouring_relation(neighbours)
    common: dict[str, Any] = {"sensitivity": sensitivity, "monotonic": monotonic, "neighbours": relation}
    if method == "set":
        if delta:
            hint = "A set is one draw, which a delta would not make more accurate."
            raise InvalidParameterError("delta", delta, '0 with method="set"', hint)
        return TopKSet(epsilon=epsilon, k=k, **common).select(native, candidates)
    plan = plan_top_k(score_count(native), k, epsilon=epsilon, delta=delta, **common)
    return plan.select(native, candidates)
