"""What is planned, a mechanism class with epsilon still open; its error by epsilon, and the epsilon for an error."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress
from typing import cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpselect.checks import members_in_order, positive_epsilon, probability, target_error
from dpselect.errors import InvalidParameterError, Shown
from dpselect.mechanisms import Mechanism
from dpselect.mechanisms.exponential import EXPONENTIAL, CandidateWeights
from dpselect.mechanisms.mechanism import explained
from dpselect.mechanisms.numbers import FloatArray, Law
from dpselect.mechanisms.scores import Gaps, ScoresLike

MechanismKind = Callable[..., Mechanism]  # a mechanism class, or ``functools.partial`` of one with options of its own


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
    if scores is not None:
        if n is not None:
            raise InvalidParameterError("n", n, "scores or n, not both")
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
        mechanism: a mechanism class, or ``functools.partial`` of one with options, such as public weights.
        scores: shape ``(n,)``, *public or synthetic*, never the private ones: the answer depends on them.
        n: number of candidates, instead of scores; weights say it, too.
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
