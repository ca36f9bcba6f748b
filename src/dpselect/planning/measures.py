r"""What a plan is about: an error as a function of epsilon, on given scores or in the worst case.

No measure rises as epsilon grows, whatever the scores are: ``proofs/error_bounds.md``, claim 7. So there is one
smallest epsilon for a target error.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from dpselect.arguments import positive_count
from dpselect.errors import InvalidParameterError
from dpselect.mechanisms import Mechanism
from dpselect.mechanisms.gaps import FloatArray, Gaps
from dpselect.mechanisms.score_vectors import ScoresLike, finite_scores


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
