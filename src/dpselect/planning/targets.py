"""The epsilon that reaches a target error."""

from __future__ import annotations

import math
from collections.abc import Callable

from dpselect.checks import probability, target_error
from dpselect.errors import InvalidParameterError
from dpselect.mechanisms.mechanism import explained
from dpselect.mechanisms.scores import ScoresLike
from dpselect.planning.curves import Errors, ErrorsOnScores, MechanismKind, Setting, WorstErrors, errors_of

_SMALLEST, _LARGEST = 1e-290, 1e290
"""Epsilons that a plan may have; beyond them scales overflow."""

_STEP = 8.0

_LEAST_CHANCE = 1e-290
"""Smallest probability of the farthest candidate in an expected error: smaller ones lose digits."""

_LEAST = math.ulp(0.0)
"""Used in place of an error that underflows, because 0 has no logarithm."""

_TIGHT = 1e-12
"""Relative distance of the answer from the smallest epsilon that does, unless rounding hides the difference."""


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
    >>> from functools import partial
    >>> with_prior = partial(dps.ExponentialMechanism, weights=[90, 5, 5])
    >>> round(epsilon_for(with_prior, [40, 30, 20], expected_error=0.5, sensitivity=1), 3)
    0.148
    """
    setting = Setting.checked(mechanism, sensitivity=sensitivity, monotonic=monotonic)
    errors = errors_of(scores, n, setting.weights)
    if expected_error is not None:
        if within is not None or confidence is not None:
            raise InvalidParameterError("expected_error", expected_error, "expected_error or within, not both")
        target = target_error(expected_error, "expected_error")
        _check_expected(errors, target)
        return _smallest(lambda epsilon: errors.expected(setting.at(epsilon)), target, ("expected_error", target))
    if within is None or confidence is None:
        missing = "within" if within is None else "confidence"
        raise InvalidParameterError(missing, None, "expected_error, or both within and confidence")
    probable = probability(confidence, "confidence")
    if isinstance(errors, WorstErrors):
        target = target_error(within, "within")
        if errors.guessed == 1.0:
            raise _always("within", target, "one candidate is always the best")
        _check_worst_bound(errors, setting, probable)
        return _smallest(
            lambda epsilon: errors.bound(setting.at(epsilon), confidence=probable), target, ("within", target)
        )
    distance = target_error(within, "within", zero_allowed=True)
    _check_chance(errors, distance, probable)
    named = ("within", distance)
    return _smallest(lambda epsilon: errors.chance_beyond(setting.at(epsilon), distance), 1.0 - probable, named)


def _check_expected(errors: Errors, target: float) -> None:
    if isinstance(errors, WorstErrors):
        if errors.guessed == 1.0:
            raise _always("expected_error", target, "one candidate is always the best")
        return
    blind = errors.blind()
    if blind == 0.0:
        raise _always("expected_error", target, "all scores are equal")
    least = float(errors.distances.max()) * _LEAST_CHANCE
    if not least <= target < blind:
        expected = f"a number > {least:.3g} and < {blind:.6g}" if target < least else f"a number > 0 and < {blind:.6g}"
        hint = "The upper end is the expected error of a blind guess, which epsilon near 0 gives."
        if target < least:
            hint = "Below the lower end probabilities do not fit into doubles."
        raise InvalidParameterError("expected_error", target, expected, hint)


def _check_worst_bound(errors: WorstErrors, setting: Setting, confidence: float) -> None:
    if errors.bound(setting.at(1.0), confidence=confidence) == 0.0:
        expected = f"a number > {errors.guessed:.6g} and < 1"
        hint = "The lower end is what a blind guess reaches at any distance."
        raise InvalidParameterError("confidence", confidence, expected, hint)


def _check_chance(errors: ErrorsOnScores, distance: float, confidence: float) -> None:
    share = errors.share_beyond(distance)
    if share == 0.0:
        farthest = float(errors.distances.max())
        expected = f"a number >= 0 and < {farthest:.6g}" if farthest > 0.0 else "scores that are not all equal"
        hint = "The upper end is the distance between the worst and the best score: no error is larger."
        raise InvalidParameterError("within", distance, expected, hint)
    if 1.0 - confidence >= share:
        expected = f"a number > {1.0 - share:.6g} and < 1"
        hint = "The lower end is what a blind guess reaches."
        raise InvalidParameterError("confidence", confidence, expected, hint)


def _always(name: str, target: float, why: str) -> InvalidParameterError:
    hint = f"The error is 0 at every epsilon, because {why}."
    return InvalidParameterError(name, target, "an error that depends on epsilon", hint)


def _smallest(error: Callable[[float], float], target: float, named: tuple[str, float]) -> float:
    """The smallest epsilon with ``error(epsilon) <= target``, for an error that never rises.

    `named` is the caller's target, as an error names it.
    """
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
        return math.log(max(error(math.exp(log_epsilon)), _LEAST)) - math.log(target)

    crossing = math.exp(brentq(excess, math.log(low), math.log(high), xtol=1e-13))
    nudge = _TIGHT
    while crossing * (1.0 + nudge) < high:
        if error(crossing * (1.0 + nudge)) <= target:
            return crossing * (1.0 + nudge)
        nudge *= 4.0
    return high
