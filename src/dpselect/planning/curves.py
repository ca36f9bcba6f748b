"""The error as a function of epsilon."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpselect.arguments import positive_count, positive_epsilon, probability
from dpselect.errors import InvalidParameterError
from dpselect.mechanisms import Mechanism
from dpselect.mechanisms.gaps import FloatArray, Gaps
from dpselect.mechanisms.score_vectors import ScoresLike, finite_scores
from dpselect.planning.setting import MechanismKind, Setting


def errors_of(scores: ScoresLike | None, n: int | None) -> Errors:
    """The errors on `scores`, or on the worst of `n` scores; exactly one of them is given.

    Raises:
        InvalidParameterError: both or neither, or `n` is not a whole number >= 1.
        InvalidScoresError: as for `Mechanism.select`.
    """
    if n is None:
        if scores is None:
            hint = "Without public scores, give the number of candidates."
            raise InvalidParameterError("scores", None, "public or synthetic scores, or n", hint)
        return ErrorsOnScores.of(scores)
    if scores is not None:
        raise InvalidParameterError("n", n, "scores or n, not both")
    return WorstErrors(positive_count(n, "n", at_most=sys.maxsize))


@dataclass(frozen=True)
class ErrorsOnScores:
    """Errors on one score vector, from exact probabilities."""

    gaps: Gaps
    distances: FloatArray
    """The gaps in the unit of the scores; infinite if they overflow a double."""

    @classmethod
    def of(cls, scores: ScoresLike) -> ErrorsOnScores:
        """The errors on `scores`."""
        gaps = Gaps.below_best(finite_scores(scores))
        with np.errstate(over="ignore"):
            return cls(gaps, np.ldexp(gaps.mantissa, gaps.exponent))

    def expected(self, mechanism: Mechanism) -> float:
        """See `Mechanism.expected_error`."""
        return self.gaps.mean(mechanism.probabilities(self.gaps))

    def bound(self, mechanism: Mechanism, *, confidence: float) -> float:
        """The smallest distance with ``Pr[error > distance] <= 1 - confidence`` on these scores: one of the gaps."""
        beyond = np.cumsum(mechanism.probabilities(self.gaps)[self._farthest_first])
        left_out = int(np.searchsorted(beyond, 1.0 - confidence, side="right"))
        return float(self.distances[self._farthest_first[min(left_out, beyond.size - 1)]])

    @cached_property
    def _farthest_first(self) -> NDArray[np.intp]:
        return np.argsort(-self.distances)

    def chance_beyond(self, mechanism: Mechanism, distance: float) -> float:
        """``Pr[error > distance]``."""
        return float(mechanism.probabilities(self.gaps)[self.distances > distance].sum())

    def share_beyond(self, distance: float) -> float:
        """The same for a blind guess."""
        return float((self.distances > distance).mean())

    def blind(self) -> float:
        """The expected error of a blind guess: what epsilon = 0 gives."""
        return self.gaps.mean(np.full(self.distances.size, 1.0 / self.distances.size))


@dataclass(frozen=True, slots=True)
class WorstErrors:
    """The largest errors over all vectors of `n` scores."""

    n: int

    def expected(self, mechanism: Mechanism) -> float:
        """See `Mechanism.worst_expected_error`."""
        return mechanism.worst_expected_error(self.n)

    def bound(self, mechanism: Mechanism, *, confidence: float) -> float:
        """See `Mechanism.error_bound`."""
        return mechanism.error_bound(self.n, confidence)


Errors = ErrorsOnScores | WorstErrors
"""Both answer `expected` and `bound` for a mechanism."""


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
