"""The error as a function of epsilon."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpselect.arguments import positive_epsilon, probability
from dpselect.errors import InvalidParameterError
from dpselect.mechanisms.score_vectors import ScoresLike
from dpselect.planning.measures import errors_of
from dpselect.planning.setting import MechanismKind, Setting


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
        mechanism: a mechanism class, or ``functools.partial`` of one with options.
        scores: shape ``(n,)``, *public or synthetic*, never the private ones: the curve depends on them.
        n: number of candidates, instead of scores: errors are then the worst over all scores (for Laplace noise,
            expected errors are the worst known: `worst_case_error`).
        epsilons: shape ``(m,)``, each > 0.
        sensitivity: of each score, > 0, in the unit of the scores.
        monotonic: as for `Mechanism`.
        confidence: strictly between 0 and 1; None for the expected error.

    Returns:
        Shape ``(m,)``, in the unit of the scores.

    Raises:
        InvalidParameterError: an argument is out of range.
        InvalidScoresError: as for `Mechanism.select`.

    Proof: ``proofs/error_bounds.md``.

    >>> import dpselect as dps
    >>> error_curve(dps.PermuteAndFlip, n=1000, epsilons=[0.1, 1, 10], sensitivity=1, monotonic=True).round(2)
    array([42.65,  4.27,  0.43])
    >>> error_curve(dps.PermuteAndFlip, [9, 5, 1], epsilons=[0.1, 1], sensitivity=1, confidence=0.95)
    array([8., 4.])
    """
    setting = Setting.checked(mechanism, sensitivity=sensitivity, monotonic=monotonic)
    errors = errors_of(scores, n)
    mechanisms = [setting.at(epsilon) for epsilon in checked_epsilons(epsilons)]
    if confidence is None:
        return np.array([errors.expected(each) for each in mechanisms])
    probable = probability(confidence, "confidence")
    return np.array([errors.bound(each, confidence=probable) for each in mechanisms])


def checked_epsilons(epsilons: ArrayLike) -> list[float]:
    """At least one epsilon, each > 0."""
    given = cast(Any, epsilons)
    try:
        is_vector = not isinstance(given, str | bytes) and np.ndim(given) == 1 and len(given) > 0
    except ValueError:  # ragged
        is_vector = False
    if not is_vector:
        raise InvalidParameterError("epsilons", given, "a one-dimensional array of at least one epsilon")
    return [positive_epsilon(each, "epsilons") for each in given]
