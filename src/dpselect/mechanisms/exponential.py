"""The exponential mechanism."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from dpselect._native import _core
from dpselect.accounting import BoundedRangeEvent
from dpselect.checks import exact_number
from dpselect.errors import InvalidParameterError, InvalidScoresError, Shown
from dpselect.mechanisms.candidates import public_doubles
from dpselect.mechanisms.laws import FloatArray, Gaps, Law, WorstCase
from dpselect.mechanisms.mechanism import Mechanism
from dpselect.mechanisms.scores import ScoresLike, finite_scores

_WEIGHTS = "finite numbers >= 0, one of them > 0"


def exponential_probabilities(x: FloatArray) -> FloatArray:
    """Probability of each candidate from its scaled gap: ``exp(-x_i)``, normalised.

    Proof: ``proofs/exponential_mechanism.md``.

    >>> exponential_probabilities(np.log([1.0, 3.0]))
    array([0.75, 0.25])
    """
    p = np.exp(-x)
    return p / p.sum()


def _exponential_loses(theta: float, n: int) -> float:
    odds = (n - 1) * math.exp(-theta)
    return odds / (1.0 + odds)


def _exponential_wins(theta: float, n: int) -> float:
    return 1.0 / (1.0 + (n - 1) * math.exp(-theta))


EXPONENTIAL = Law(
    "exponential", exponential_probabilities, WorstCase(_exponential_loses, _exponential_wins), BoundedRangeEvent
)


Weights = Sequence[float | Fraction] | npt.NDArray[np.generic]


def _weight(value: object, name: str) -> float:
    number = float(exact_number(value, name, expected=_WEIGHTS))
    if number < 0.0:
        raise InvalidParameterError(name, number, _WEIGHTS)
    return number + 0.0  # no negative zero


def odds_against_lightest(weights: FloatArray) -> float:
    """All others' weight over that of the lightest candidate that is not left out; a little too large at most.

    >>> round(odds_against_lightest(np.array([2.0, 0.0, 1.0, 3.0])), 9)
    5.0
    """
    logarithms = np.log(weights[weights > 0.0])
    lightest = int(logarithms.argmin())
    with np.errstate(over="ignore"):
        ratios = np.exp(np.delete(logarithms, lightest) - logarithms[lightest])
        return float(ratios.sum() * (1.0 + 2.0**-40))


class _WeightedDraws:
    """What the core's `Sampler` does, with a weight for each candidate."""

    __slots__ = ("_count", "_native")

    def __init__(self, weights: FloatArray, epsilon: float, sensitivity: float, factor: int) -> None:
        self._count = weights.size
        self._native = _core.WeightedSampler(epsilon, sensitivity, cast(Any, factor), weights)

    def select(self, scores: object, /) -> int:
        """One draw."""
        return int(self.select_many(scores, 1)[0])

    def select_many(self, scores: object, size: int, /) -> npt.NDArray[np.int64]:
        """`size` independent draws."""
        self._check(np.shape(cast(Any, scores)))
        return self._native.select_many(scores, size)

    def select_rows(self, scores: npt.NDArray[Any], /) -> npt.NDArray[np.int64]:
        """One draw for each row; all rows are checked first."""
        self._check(scores.shape[1:] if scores.size else ())
        finite_scores(scores.ravel())
        return np.array([self.select(row) for row in scores], dtype=np.int64)

    def peel(self, scores: object, k: int, /) -> npt.NDArray[np.int64]:
        """`k` draws one after another."""
        self._check(np.shape(cast(Any, scores)))
        return self._native.peel(scores, k)

    def select_with_gap(self, scores: object, step: float, /) -> tuple[int, float]:
        """Refused: the draw with weights has no noise to measure a gap in."""
        raise InvalidParameterError("weights", Shown("<weights>"), "none where a gap is released")

    def _check(self, shape: tuple[int, ...]) -> None:
        if len(shape) == 1 and 0 < shape[0] != self._count:
            raise unlike(shape[0], self._count)


def unlike(count: int, expected: int) -> InvalidScoresError:
    """Another number of scores than of weights."""
    return InvalidScoresError("scores", Shown(f"<{count} scores>"), f"{expected} scores, one for each weight")


@dataclass(frozen=True, slots=True, kw_only=True)
class ExponentialMechanism(Mechanism):
    r"""Selects candidate i with probability proportional to :math:`e^{s_i/b}`, :math:`b` the `scale`.

    It is `epsilon`-DP and `epsilon`-bounded-range: many selections in a row compose better than with any other
    mechanism here. For a single selection `PermuteAndFlip` has a smaller error, by up to a factor of two.

    With `weights` the probability of candidate i is proportional to :math:`w_i e^{s_i/b}`, at the same cost. A
    candidate with twice the weight is ahead as if its score were :math:`b \ln 2` higher.

    Args:
        weights: public numbers >= 0, one for each candidate, from knowledge and never from the data, as the nearest
            doubles. A candidate with the weight 0 is left out. Default: all the same.

    Proof: ``proofs/exponential_mechanism.md``; with weights ``proofs/weighted_candidates.md``. Sources: McSherry &
    Talwar (2007); Durfee & Rogers (2019) and Dong, Durfee & Rogers (2020) for bounded range.

    >>> import numpy as np
    >>> mechanism = ExponentialMechanism(epsilon=1.0, sensitivity=1.0, monotonic=True)
    >>> mechanism.pmf(np.log([1.0, 3.0]))
    array([0.25, 0.75])
    >>> mechanism.select(np.array([10.0, 2000.0, 30.0]), candidates=["red", "green", "blue"])
    'green'
    >>> ExponentialMechanism(epsilon=1.0, sensitivity=1.0, monotonic=True, weights=[3, 1]).pmf(np.log([1.0, 3.0]))
    array([0.5, 0.5])
    """

    weights: Weights | None = field(default=None, repr=False)
    weight_of: FloatArray | None = field(init=False, repr=False, compare=False)
    """The weights as doubles, if there are any."""

    def __post_init__(self) -> None:
        Mechanism.__post_init__(self)
        self._set(weight_of=None)
        if self.weights is not None:
            found = public_doubles(cast(object, self.weights), "weights", _WEIGHTS, _weight)
            if not found.any():
                raise InvalidParameterError("weights", Shown(f"<{found.size} zeros>"), _WEIGHTS)
            draws = _WeightedDraws(found, self.epsilon, self.sensitivity, self._factor)
            self._set(weights=tuple(found.tolist()), weight_of=found, _sampler=draws)

    @property
    def law(self) -> Law:
        return EXPONENTIAL

    def probabilities(self, gaps: Gaps) -> npt.NDArray[np.float64]:
        weights = self.weight_of
        if weights is None:
            return Mechanism.probabilities(self, gaps)
        if gaps.mantissa.size != weights.size:
            raise unlike(gaps.mantissa.size, weights.size)
        scaled = gaps.scaled(epsilon=self.epsilon, sensitivity=self.sensitivity, factor=self._factor)
        with np.errstate(invalid="ignore", divide="ignore"):
            heights = np.where(weights > 0.0, np.log(weights) - scaled, -math.inf)
        if heights.max() == -math.inf:  # all with a weight are further below than doubles reach: the best of them
            heights = np.where(weights > 0.0, -gaps.mantissa, -math.inf)
            return (heights == heights.max()) / float((heights == heights.max()).sum())
        shares = np.exp(heights - heights.max())
        return shares / shares.sum()

    def expected_error(self, scores: ScoresLike) -> float:
        """Expected distance of the selected score below the best, in the unit of the scores; depends on the scores.

        With weights, below the best of those that are not left out.
        """
        weights = self.weight_of
        if weights is None:
            return Mechanism.expected_error(self, scores)
        found = finite_scores(scores)
        probabilities = self.probabilities(Gaps.below_best(found))
        taking_part = weights > 0.0
        return Gaps.below_best(found[taking_part]).mean(probabilities[taking_part])

    def worst_error(self, n_candidates: int, *, failure: float, confidence: float) -> float:
        weights = self.weight_of
        if weights is None:
            return Mechanism.worst_error(self, n_candidates, failure=failure, confidence=confidence)
        if n_candidates != weights.size:
            raise InvalidParameterError("n_candidates", n_candidates, f"{weights.size}, the number of weights")
        odds = odds_against_lightest(weights)
        theta = math.log(odds) + math.log(confidence / failure) if odds > 0.0 else 0.0
        if not theta > 0.0:
            return 0.0
        return math.nextafter(theta * (1.0 + 2.0**-48) * math.nextafter(self.scale, math.inf), math.inf)
