"""The exponential mechanism."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from dpselect._native import _core
from dpselect.accounting import BoundedRangeEvent
from dpselect.errors import InvalidParameterError, InvalidScoresError, Shown
from dpselect.mechanisms.mechanism import Mechanism
from dpselect.mechanisms.numbers import FloatArray, Law
from dpselect.mechanisms.scores import Gaps, ScoresLike, finite_scores, public_doubles

_WEIGHTS = "numbers >= 0 that doubles hold, one of them > 0"


def exponential_probabilities(x: FloatArray) -> FloatArray:
    """Probability of each candidate from its scaled gap (``proofs/exponential_mechanism.md``)."""
    p = np.exp(-x)
    return p / p.sum()


EXPONENTIAL = Law(
    "exponential",
    exponential_probabilities,
    lambda theta, n: (odds := (n - 1) * math.exp(-theta)) / (1.0 + odds),
    lambda theta, n: 1.0 / (1.0 + (n - 1) * math.exp(-theta)),
    BoundedRangeEvent,
)


class CandidateWeights(tuple[float, ...]):
    """Weights, one for each candidate."""

    @classmethod
    def of(cls, weights: Any) -> CandidateWeights:
        """Check weights, of which one is above 0."""
        if isinstance(weights, CandidateWeights):
            return weights
        doubles = public_doubles(weights, "weights", _WEIGHTS, least=0.0)
        if not doubles.any():
            raise InvalidParameterError("weights", Shown(f"<{doubles.size} zeros>"), _WEIGHTS)
        return cls((doubles + 0.0).tolist())  # no negative zero

    def __repr__(self) -> str:
        return f"<{len(self)} weights>"

    @cached_property
    def logarithms(self) -> FloatArray:
        """Minus infinity for those that are left out."""
        with np.errstate(divide="ignore"):
            return np.log(np.array(self))

    def probabilities(self, x: FloatArray) -> FloatArray:
        """Those of candidates with these scaled gaps."""
        heights = self.logarithms - x
        return exponential_probabilities(heights.max() - heights)

    def odds_against_lightest(self) -> float:
        """All others' weight over that of the lightest candidate that is not left out; never too small."""
        logarithms = self.logarithms[self.logarithms > -math.inf]
        lightest = int(logarithms.argmin())
        with np.errstate(over="ignore"):
            ratios = np.exp(np.delete(logarithms, lightest) - logarithms[lightest])
            return float(ratios.sum() * (1.0 + 2.0**-40))


Weights = Sequence[float] | npt.NDArray[np.generic]


class _WeightedDraws:
    """What the core's `Sampler` does, with a weight for each candidate."""

    __slots__ = ("_count", "_native")

    def __init__(self, weights: CandidateWeights, epsilon: float, sensitivity: float, factor: int) -> None:
        self._count = len(weights)
        self._native = _core.WeightedSampler(epsilon, sensitivity, cast(Any, factor), np.array(weights))

    def select(self, scores: object, /) -> int:
        return int(self.select_many(scores, 1)[0])

    def select_many(self, scores: object, size: int, /) -> npt.NDArray[np.int64]:
        self._check(np.shape(cast(Any, scores)))
        return self._native.select_many(scores, size)

    def select_rows(self, scores: npt.NDArray[Any], /) -> npt.NDArray[np.int64]:
        """One draw for each row; all rows are checked first."""
        self._check(scores.shape[1:] if scores.size else ())
        finite_scores(scores.ravel())
        return np.array([self.select(row) for row in scores], dtype=np.int64)

    def peel(self, scores: object, k: int, /) -> npt.NDArray[np.int64]:
        self._check(np.shape(cast(Any, scores)))
        return self._native.peel(scores, k)

    def select_with_gap(self, scores: object, step: float, /) -> tuple[int, float]:
        """Refused: the draw with weights has no noise to measure a gap in."""
        raise InvalidParameterError("weights", Shown("<weights>"), "none where a gap is released")

    def _check(self, shape: tuple[int, ...]) -> None:
        if len(shape) == 1 and 0 < shape[0] != self._count:
            raise unlike(shape[0], self._count)


def unlike(count: int, expected: int) -> InvalidScoresError:
    return InvalidScoresError("scores", Shown(f"<{count} scores>"), f"{expected} scores, one for each weight")


@dataclass(frozen=True, slots=True, kw_only=True)
class ExponentialMechanism(Mechanism):
    r"""Selects candidate i with probability proportional to :math:`e^{s_i/b}`, :math:`b` the `scale`.

    It is `epsilon`-DP and `epsilon`-bounded-range: many selections in a row compose better than with any other
    mechanism here. For a single selection `PermuteAndFlip` has a smaller error.

    With `weights` the probability of candidate i is proportional to :math:`w_i e^{s_i/b}`, at the same cost.

    Args:
        weights: public numbers >= 0 that doubles hold, one for each candidate, from knowledge and never from the data.
            A candidate with the weight 0 is left out. Default: all the same.

    Proof: ``proofs/exponential_mechanism.md``; with weights ``proofs/weighted_candidates.md``. Sources: McSherry &
    Talwar (2007); Durfee & Rogers (2019) and Dong, Durfee & Rogers (2020) for bounded range.

    >>> import numpy as np
    >>> mechanism = ExponentialMechanism(epsilon=1.0, sensitivity=1.0, monotonic=True)
    >>> mechanism.select(np.array([10.0, 2000.0, 30.0]), candidates=["red", "green", "blue"])
    'green'
    >>> ExponentialMechanism(epsilon=1.0, sensitivity=1.0, monotonic=True, weights=[3, 1]).pmf(np.log([1.0, 3.0]))
    array([0.5, 0.5])
    """

    law = EXPONENTIAL
    weights: Weights | None = field(default=None, repr=False)

    def __repr__(self) -> str:
        names = [part.name for part in fields(self) if part.repr] + ["weights"] * (self.weights is not None)
        return f"ExponentialMechanism({', '.join(f'{name}={getattr(self, name)!r}' for name in names)})"

    def __post_init__(self) -> None:
        Mechanism.__post_init__(self)
        if self.weights is not None:
            weights = CandidateWeights.of(self.weights)
            draws = _WeightedDraws(weights, self.epsilon, self.sensitivity, self._factor)
            self._set(weights=weights, _sampler=draws)

    def gaps(self, scores: ScoresLike) -> Gaps:
        """How far scores are below the best of those that are not left out; those are taken for as good as it."""
        found = finite_scores(scores)
        if not isinstance(self.weights, CandidateWeights):
            return Gaps.below_best(found)
        if found.size != len(self.weights):
            raise unlike(found.size, len(self.weights))
        taking_part = self.weights.logarithms > -math.inf
        return Gaps.below_best(np.where(taking_part, found, found[taking_part].max()))

    def probabilities(self, gaps: Gaps) -> npt.NDArray[np.float64]:
        law = self.weights if isinstance(self.weights, CandidateWeights) else self.law
        return law.probabilities(self.scaled(gaps))
