"""Before any data: errors by epsilon, the epsilon for an error, worst cases, and the better of two mechanisms."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpselect.accounting import calibrate, calibrate_rounds
from dpselect.checks import (
    delta_below_one,
    members_in_order,
    positive_count,
    positive_epsilon,
    probability,
    target_error,
)
from dpselect.errors import InvalidParameterError, Shown
from dpselect.mechanisms import ExponentialMechanism, Mechanism, PermuteAndFlip
from dpselect.mechanisms.exponential import EXPONENTIAL, CandidateWeights
from dpselect.mechanisms.mechanism import explained
from dpselect.mechanisms.numbers import FloatArray, Law, crossing
from dpselect.mechanisms.scores import Gaps, ScoresLike

MechanismKind = Callable[..., Mechanism]
"""A mechanism class, or ``functools.partial`` of one where it has options of its own."""


def planned(kind: object, *, sensitivity: float, monotonic: bool) -> Callable[[float], Mechanism]:
    """The mechanism by its epsilon; what makes no mechanism, and arguments out of range, are refused at once."""
    make, made = cast(MechanismKind, kind), cast(object, None)
    if callable(kind) and (not isinstance(kind, type) or issubclass(cast("type[object]", kind), Mechanism)):
        with suppress(TypeError):
            made = make(epsilon=1.0, sensitivity=sensitivity, monotonic=monotonic)
    if not isinstance(made, Mechanism):
        got = Shown(f"<class {kind.__name__}>") if isinstance(kind, type) else kind
        expected = "PermuteAndFlip, ExponentialMechanism or ReportNoisyMax, or functools.partial of one"
        is_made = isinstance(kind, Mechanism)
        hint = "Do not fix its epsilon: planning varies it." if is_made else "Others are not planned by a target error."
        raise InvalidParameterError("mechanism", got, expected, hint)
    fixed = {"sensitivity": made.sensitivity, "monotonic": made.monotonic}
    return lambda epsilon: make(epsilon=epsilon, **fixed)


def gaps_or_size(scores: ScoresLike | None, n: int | None, made: Mechanism) -> Gaps | float:
    """What errors are over: the gaps of `scores`, or the size (`Mechanism.worst_size`) whose worst case is meant."""
    if scores is not None and n is not None:
        raise InvalidParameterError("n", n, "scores or n, not both")
    if scores is not None:
        return made.gaps(scores)
    weights: CandidateWeights | None = getattr(made, "weights", None)
    known = len(weights) if n is None and weights is not None else n
    if known is None:
        hint = "Without public scores, give the number of candidates."
        raise InvalidParameterError("scores", None, "public or synthetic scores, or n", hint)
    return made.worst_size(known, "n")


def expected_error_of(mechanism: Mechanism, over: Gaps | float) -> float:
    """The expected error on these gaps; or the largest over vectors of so many scores, one best and others equal.

    For the exponential mechanism and permute-and-flip no scores have a larger one: ``proofs/error_bounds.md``; with
    weights ``proofs/weighted_candidates.md``, claim 3.
    """
    if isinstance(over, Gaps):
        return over.mean(mechanism.probabilities(over))
    return mechanism.law.expected_error(over) * mechanism.scale if over > 1 else 0.0


@explained
def error_curve(
    mechanism: MechanismKind,
    scores: ScoresLike | None = None,
    *,
    n: int | None = None,
    epsilons: ArrayLike,
    sensitivity: float,
    monotonic: bool = False,
    confidence: float | None = None,
) -> NDArray[np.float64]:
    """The error at each epsilon: the expected error, or the bound at a `confidence` level.

    Args:
        mechanism: a mechanism class, or ``functools.partial`` of one with options, such as public weights.
        scores: shape ``(n,)``, *public or synthetic*, never the private ones: the curve depends on them.
        n: number of candidates, instead of scores: errors are then the worst over all scores (for Laplace noise,
            expected errors are the worst known: `worst_case_error`). Weights say it, too.
        epsilons: shape ``(m,)``, each > 0.
        confidence: strictly between 0 and 1; None for the expected error.

    Returns:
        Shape ``(m,)``, in the unit of the scores.

    Raises:
        InvalidScoresError: as for `Mechanism.select`.

    Proof: ``proofs/error_bounds.md``; with weights ``proofs/weighted_candidates.md``.

    >>> import dpselect as dps
    >>> error_curve(dps.PermuteAndFlip, n=1000, epsilons=[0.1, 1, 10], sensitivity=1, monotonic=True).round(2)
    array([42.65,  4.27,  0.43])
    >>> error_curve(dps.PermuteAndFlip, [9, 5, 1], epsilons=[0.1, 1], sensitivity=1, confidence=0.95)
    array([8., 4.])
    """
    at = planned(mechanism, sensitivity=sensitivity, monotonic=monotonic)
    over = gaps_or_size(scores, n, at(1.0))
    mechanisms = [at(epsilon) for epsilon in checked_epsilons(epsilons)]
    if confidence is None:
        return np.array([expected_error_of(each, over) for each in mechanisms])
    probable = probability(confidence, "confidence")
    failure = 1.0 - probable
    if not isinstance(over, Gaps):
        return np.array([each.distance(each.law.error_quantile(over, failure, probable)) for each in mechanisms])
    # The smallest distance with ``Pr[error > distance] <= failure`` on these scores is one of the gaps.
    farthest_first = np.argsort(-over.distances)
    beyond = (np.cumsum(each.probabilities(over)[farthest_first]) for each in mechanisms)
    left_out = [int(np.searchsorted(each, failure, side="right")) for each in beyond]
    return over.distances[farthest_first[np.minimum(left_out, farthest_first.size - 1)]]


def checked_epsilons(epsilons: ArrayLike) -> list[float]:
    """At least one epsilon, each > 0."""
    expected = "a one-dimensional array of at least one epsilon"
    given = members_in_order(epsilons, "epsilons", expected=expected)
    if not given:
        raise InvalidParameterError("epsilons", given, expected)
    return [positive_epsilon(each, "epsilons") for each in given]


_SMALLEST, _LARGEST, _STEP = 1e-290, 1e290, 8.0
"""Epsilons that a plan may have, beyond which scales overflow; and the factor from one that is tried to the next."""


@explained
def epsilon_for(
    mechanism: MechanismKind,
    scores: ScoresLike | None = None,
    *,
    n: int | None = None,
    expected_error: float | None = None,
    within: float | None = None,
    confidence: float | None = None,
    sensitivity: float,
    monotonic: bool = False,
) -> float:
    """The smallest epsilon that reaches a target error.

    The target is either ``expected_error=50``, or ``within=12, confidence=0.99``: the selected score is within 12 of
    the best with 99 % probability. The result holds either for public `scores`, from exact probabilities, or, with `n`
    alone, for all possible scores of `n` candidates.

    Args:
        mechanism, n: as for `error_curve`.
        scores: shape ``(n,)``, *public or synthetic*, never the private ones: the answer depends on them.
        expected_error: the largest allowed expected distance of the selected score below the best, > 0.
        within: the largest allowed distance, >= 0 (> 0 in the worst case).
        confidence: probability of staying `within` it, strictly between 0 and 1.

    Returns:
        An epsilon with an error of at most the target. It exceeds the smallest such epsilon by at most one part in
        10^11 (more if the error hardly depends on epsilon, close to that of a blind guess).

    Raises:
        InvalidParameterError: an argument is out of range, or no epsilon reaches the target; the error then states the
            range that can be reached.
        InvalidScoresError: as for `Mechanism.select`.

    Proof: ``proofs/error_bounds.md``, claim 7: errors fall as epsilon grows.

    >>> import dpselect as dps
    >>> last_year = [530, 520, 480, 475, 300, 120]
    >>> round(epsilon_for(dps.PermuteAndFlip, last_year, expected_error=5.0, sensitivity=1, monotonic=True), 3)
    0.056
    >>> round(epsilon_for(dps.PermuteAndFlip, n=1000, within=20.0, confidence=0.99, sensitivity=1, monotonic=True), 3)
    0.541
    """
    at = planned(mechanism, sensitivity=sensitivity, monotonic=monotonic)
    over = gaps_or_size(scores, n, at(1.0))
    if expected_error is not None and (within is not None or confidence is not None):
        raise InvalidParameterError("expected_error", expected_error, "expected_error or within, not both")
    if expected_error is None and (within is None or confidence is None):
        missing = "within" if within is None else "confidence"
        raise InvalidParameterError(missing, None, "expected_error, or both within and confidence")
    name, given = ("within", within) if expected_error is None else ("expected_error", expected_error)
    target = target_error(given, name, zero_allowed=name == "within" and isinstance(over, Gaps))
    farthest = float(over.distances.max()) if isinstance(over, Gaps) else math.inf
    if not farthest or over == 1:
        why = "one candidate is always the best" if farthest else "all scores are equal"
        hint = f"The error is 0 at every epsilon, because {why}."
        raise InvalidParameterError(name, target, "an error that depends on epsilon", hint)
    if confidence is None:
        if isinstance(over, Gaps):
            # A smaller probability of the farthest candidate would lose digits.
            blind, least = over.mean(_guess(at(1.0), over)), farthest * 1e-290
            if not least <= target < blind:
                hint = "The upper end is the expected error of a blind guess, which epsilon near 0 gives."
                expected = f"a number > {least if target < least else 0.0:.3g} and < {blind:.6g}"
                raise InvalidParameterError(name, target, expected, hint)
        return _smallest(lambda epsilon: expected_error_of(at(epsilon), over), target, (name, target))
    probable = probability(confidence, "confidence")
    failure = 1.0 - probable
    if isinstance(over, Gaps):
        missed = float(_guess(at(1.0), over)[over.distances > target].sum())
        if not missed:
            hint = "The upper end is the distance between the worst and the best score: no error is larger."
            raise InvalidParameterError(name, target, f"a number >= 0 and < {farthest:.6g}", hint)
        guessed = 1.0 - missed
    else:
        guessed = 1.0 / over
    if probable <= guessed:
        hint = "The lower end is what a blind guess reaches."
        raise InvalidParameterError("confidence", probable, f"a number > {guessed:.6g} and < 1", hint)
    if isinstance(over, Gaps):
        beyond = over.distances > target
        return _smallest(lambda each: float(at(each).probabilities(over)[beyond].sum()), failure, (name, target))
    theta = at(1.0).law.error_quantile(over, failure, probable)
    return _smallest(lambda each: at(each).distance(theta), target, (name, target))


def _guess(mechanism: Mechanism, gaps: Gaps) -> FloatArray:
    """Probabilities of a blind guess: those of the weights."""
    law: Law | CandidateWeights = getattr(mechanism, "weights", None) or EXPONENTIAL
    return law.probabilities(np.zeros(gaps.mantissa.size))


def _smallest(error: Callable[[float], float], target: float, named: tuple[str, float]) -> float:
    """The smallest epsilon with ``error(epsilon) <= target``, which is `named` in errors; the error never rises."""
    high = 1.0
    while error(high) > target:
        high *= _STEP
        if high > _LARGEST:
            raise InvalidParameterError(*named, f"an error that an epsilon below {_LARGEST:.0e} reaches")
    low = high / _STEP
    while error(low) <= target:
        low, high = low / _STEP, low
        if low < _SMALLEST:
            raise InvalidParameterError(*named, f"an error that an epsilon above {_SMALLEST:.0e} exceeds")
    from scipy.optimize import brentq  # half a second to load, so only for plans

    # The crossing between `low`, where the error is too large, and `high`, where it is not; never on the wrong side.
    # Searched in logarithms, in which errors are nearly straight lines at both ends.
    def excess(log_epsilon: float) -> float:
        return math.log(max(error(math.exp(log_epsilon)), math.ulp(0.0))) - math.log(target)  # of 0 there is none

    crossing = math.exp(brentq(excess, math.log(low), math.log(high), xtol=1e-13))
    nudge = 1e-12  # the relative distance from the smallest epsilon that does, unless rounding hides the difference
    while crossing * (1.0 + nudge) < high:
        if error(crossing * (1.0 + nudge)) <= target:
            return crossing * (1.0 + nudge)
        nudge *= 4.0
    return high


@explained
def worst_case_error(
    mechanism: MechanismKind, n: int, *, epsilon: float, sensitivity: float, monotonic: bool = False
) -> float:
    """The largest expected error over all vectors of `n` scores: public, so safe to publish.

    For the exponential mechanism and permute-and-flip this is a theorem. For Laplace noise it is the largest over
    vectors with one best score and the others equal. No worse scores are known, but it is not proved that there are
    none; `worst_case_bounds` are proved.

    Args:
        mechanism: as for `error_curve`.
        n: number of candidates, >= 1; 10^9 takes no longer than 10.
        epsilon: of one selection, > 0.

    Returns:
        The expected distance of the selected score below the best, in the unit of the scores.

    Proof: ``proofs/error_bounds.md``, claim 4. Source: McKenna & Sheldon (2020).

    >>> import dpselect as dps
    >>> round(worst_case_error(dps.PermuteAndFlip, 10**9, epsilon=1.0, sensitivity=1.0), 2)
    33.69
    """
    made = planned(mechanism, sensitivity=sensitivity, monotonic=monotonic)(epsilon)
    return expected_error_of(made, made.worst_size(n, "n"))


@dataclass(frozen=True, slots=True)
class Bounds:
    """Two numbers between which a third lies.

    >>> Bounds(lower=1.0, upper=1.25).gap
    0.25
    """

    lower: float
    upper: float

    @property
    def gap(self) -> float:
        """The distance between them, relative to the lower one."""
        return self.upper / self.lower - 1.0


def worst_case_bounds(
    mechanism: MechanismKind, n: int, *, epsilon: float, sensitivity: float, monotonic: bool = False
) -> Bounds:
    r"""Proved bounds on the largest expected error over all vectors of `n` scores, b the `Mechanism.scale`.

    At least :math:`\frac14 b \ln n`; at most :math:`b \ln n`, for Laplace noise
    :math:`b \sum_{k=1}^n (1 - 2^{-k})/k`, which is larger only for n below 5. With weights, n is their sum over the
    smallest positive one.

    Args and Raises: as for `worst_case_error`.

    Proof: ``proofs/error_bounds.md``, claims 4 and 8. Source: McKenna & Sheldon (2020), except for Laplace noise.

    >>> import dpselect as dps
    >>> worst_case_bounds(dps.PermuteAndFlip, 1, epsilon=1.0, sensitivity=1.0)
    Bounds(lower=0.0, upper=0.0)
    """
    made = planned(mechanism, sensitivity=sensitivity, monotonic=monotonic)(epsilon)
    size = made.worst_size(n, "n")
    upper = log_size = math.log(size)
    if made.law.name == "laplace" and n > 1:
        from scipy.special import digamma  # a harmonic number, up to a constant; half a second to load

        # The harmonic number minus ln 2, up to the tail of the sum.
        terms = min(n, 64)
        upper = math.fsum((1.0 - 0.5**k) / k for k in range(1, terms + 1)) + float(digamma(n + 1) - digamma(terms + 1))
    return Bounds(made.scale * log_size / 4.0, made.scale * upper)


@explained
def lead_shown(mechanism: Mechanism, gap: float, confidence: float = 0.99) -> float:
    """What a gap that was released says: the winner's true score is ahead of all others by at least this much.

    That holds with probability `confidence` over the noise, whichever candidate wins; unless it is 0, which says
    nothing: the winner may then be behind.

    Args:
        mechanism: which released the gap.
        gap: from `Mechanism.select_with_gap`.

    Returns:
        A distance in the unit of the scores, at most the gap.

    Proof: ``proofs/free_gap.md``, claim 4.

    >>> import dpselect as dps
    >>> mechanism = dps.PermuteAndFlip(epsilon=1.0, sensitivity=1.0)
    >>> round(lead_shown(mechanism, 30.0), 2), lead_shown(mechanism, 3.0)
    (22.18, 0.0)
    """
    if not isinstance(cast(object, mechanism), Mechanism):
        raise InvalidParameterError("mechanism", mechanism, "a mechanism that released a gap")
    gap, failure = target_error(gap, "gap", zero_allowed=True), 1.0 - probability(confidence, "confidence")
    tail, shown = mechanism.law.behind, gap / max(mechanism.scale, math.ulp(0.0))
    if shown > 1e15:  # which no noise makes up for, at any confidence that a double holds
        return gap * (1.0 - 1e-12)
    if not gap or not tail(shown) <= failure * tail(0.0):
        return 0.0
    # The chance of so large a gap grows with the true lead; where it reaches the failure, so far below, lies the bound.
    below = crossing(lambda x: tail(x) - failure * (1.0 - tail(max(shown - x, 0.0))))
    return max(shown - below, 0.0) * mechanism.scale * (1.0 - 1e-12)


@dataclass(frozen=True, slots=True, kw_only=True)
class Recommendation:
    """The mechanism to use for each of several selections, and the figures that decide. Made by `recommendation`.

    Attributes:
        mechanism: the class with the lower error.
        permute_and_flip_epsilon: of each selection.
        exponential_epsilon: of each selection, with the exponential mechanism.
        break_even: the factor more epsilon that the exponential mechanism needs for the same error.
    """

    mechanism: type[PermuteAndFlip] | type[ExponentialMechanism]
    permute_and_flip_epsilon: float
    exponential_epsilon: float
    break_even: float

    @property
    def advantage(self) -> float:
        """The factor more epsilon that the exponential mechanism may spend."""
        return self.exponential_epsilon / self.permute_and_flip_epsilon


@explained
def recommendation(
    selections: int, delta: float = 0.0, *, epsilon: float = 1.0, n: int = 2, confidence: float = 0.99
) -> Recommendation:
    """Compare permute-and-flip and the exponential mechanism within one total (`epsilon`, `delta`).

    At the same epsilon permute-and-flip never has the larger error. But the exponential mechanism's privacy loss has a
    bounded range, so with `delta` > 0 each of many selections may spend more.

    Args:
        selections: how many selections share the budget, >= 1.
        delta: total, from 0 to below 1.
        epsilon: total, > 0. Nothing is spent: it says where the two are compared.
        n: number of candidates, >= 2. The default is the hardest case for the exponential mechanism.
        confidence: of the error that is compared, strictly between 0 and 1.

    Proof: ``proofs/top_k.md``, claims 1 and 2; ``proofs/noisy_max.md``, claim 6; ``proofs/error_bounds.md``.

    >>> advice = recommendation(10, delta=1e-6)
    >>> advice.mechanism.__name__, round(advice.advantage, 2), round(advice.break_even, 2)
    ('ExponentialMechanism', 1.53, 1.17)
    """
    selections = positive_count(selections, "selections", at_most=sys.maxsize)
    if positive_count(n, "n", at_most=sys.maxsize) < 2:
        raise InvalidParameterError("n", n, "at least 2 candidates to choose from")
    epsilon, delta = positive_epsilon(epsilon), delta_below_one(delta)
    flip = calibrate(PermuteAndFlip, count=selections, epsilon=epsilon, delta=delta, sensitivity=1.0).epsilon
    exponential = calibrate_rounds(epsilon=epsilon, delta=delta, count=selections)
    bounds = [
        kind(epsilon=1.0, sensitivity=1.0).error_bound(n, confidence) for kind in (ExponentialMechanism, PermuteAndFlip)
    ]
    # At a confidence that a blind guess reaches, both errors are 0, and no epsilon makes one better than the other.
    break_even = bounds[0] / bounds[1] if 0.0 not in bounds else math.inf
    return Recommendation(
        mechanism=ExponentialMechanism if exponential > flip * break_even else PermuteAndFlip,
        permute_and_flip_epsilon=flip,
        exponential_epsilon=exponential,
        break_even=break_even,
    )


def recommend(
    selections: int = 1, delta: float = 0.0, *, epsilon: float = 1.0, n: int = 2, confidence: float = 0.99
) -> type[PermuteAndFlip] | type[ExponentialMechanism]:
    """The class with the lower error, of the two that `recommendation` compares by the same arguments.

    Raises:
        InvalidParameterError: as for `recommendation`.

    >>> recommend(selections=10, delta=1e-6).__name__
    'ExponentialMechanism'
    """
    return recommendation(selections, delta, epsilon=epsilon, n=n, confidence=confidence).mechanism
