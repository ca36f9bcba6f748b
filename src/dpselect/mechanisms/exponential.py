"""The exponential mechanism."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from fractions import Fraction
from typing import cast

import numpy as np
import numpy.typing as npt

from dpselect.accounting import BoundedRangeEvent
from dpselect.checks import probability, whole_number
from dpselect.errors import InvalidParameterError
from dpselect.mechanisms.laws import Gaps, Law, WorstCase
from dpselect.mechanisms.mechanism import Mechanism
from dpselect.mechanisms.scores import ScoresLike, finite_scores
from dpselect.mechanisms.weights import CandidateWeights, WeightedDraws, unlike

FloatArray = npt.NDArray[np.float64]


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


@dataclass(frozen=True, slots=True, kw_only=True)
class ExponentialMechanism(Mechanism):
    r"""Selects candidate i with probability proportional to :math:`e^{s_i/b}`, :math:`b` the `scale`.

    It is `epsilon`-DP and `epsilon`-bounded-range: many selections in a row compose better than with any other
    mechanism here. For a single selection `PermuteAndFlip` has a smaller error, by up to a factor of two.

    With `weights` the probability of candidate i is proportional to :math:`w_i e^{s_i/b}`, at the same cost. A
    candidate with twice the weight is ahead as if its score were :math:`b \ln 2` higher.

    Args:
        weights: public numbers >= 0, one for each candidate, from knowledge and never from the data. Floats are taken
            as the doubles they are, fractions and whole numbers exactly. A candidate with the weight 0 is left out.
            Default: all the same.

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

    weights: Sequence[float | Fraction] | npt.NDArray[np.generic] | CandidateWeights | None = field(
        default=None, repr=False
    )

    def __repr__(self) -> str:
        shown = {part.name: getattr(self, part.name) for part in fields(self) if part.repr}
        if self.weights is not None:
            shown["weights"] = self.weights
        return f"ExponentialMechanism({', '.join(f'{name}={value!r}' for name, value in shown.items())})"

    def __post_init__(self) -> None:
        Mechanism.__post_init__(self)
        if self.weights is not None:
            weights = CandidateWeights.of(cast(object, self.weights))
            draws = WeightedDraws(weights, self.epsilon, self.sensitivity, self._factor)
            self._set(weights=weights, _sampler=draws)

    @property
    def law(self) -> Law:
        return EXPONENTIAL

    @property
    def _weights(self) -> CandidateWeights | None:
        return cast("CandidateWeights | None", self.weights)

    def probabilities(self, gaps: Gaps) -> npt.NDArray[np.float64]:
        weights = self._weights
        if weights is None:
            return Mechanism.probabilities(self, gaps)
        if gaps.mantissa.size != len(weights):
            raise unlike(gaps.mantissa.size, len(weights))
        scaled = gaps.scaled(epsilon=self.epsilon, sensitivity=self.sensitivity, factor=self._factor)
        with np.errstate(invalid="ignore"):
            heights = np.where(weights.logarithms > -math.inf, weights.logarithms - scaled, -math.inf)
        if heights.max() == -math.inf:  # all with a weight are further below than doubles reach: the best of them
            heights = np.where(weights.logarithms > -math.inf, -gaps.mantissa, -math.inf)
            return (heights == heights.max()) / float((heights == heights.max()).sum())
        shares = np.exp(heights - heights.max())
        return shares / shares.sum()

    def expected_error(self, scores: ScoresLike) -> float:
        """Expected distance of the selected score below the best, in the unit of the scores; depends on the scores.

        With weights, below the best of those that are not left out.
        """
        weights = self._weights
        if weights is None:
            return Mechanism.expected_error(self, scores)
        found = finite_scores(scores)
        probabilities = self.probabilities(Gaps.below_best(found))
        taking_part = weights.logarithms > -math.inf
        return Gaps.below_best(found[taking_part]).mean(probabilities[taking_part])

    def error_bound_if_best(self, candidate: int, confidence: float = 0.99) -> float:
        """`error_bound` if the candidate with this index is the best: the heavier it is, the smaller.

        For planning with weights: it depends on public arguments only.

        Raises:
            InvalidParameterError: an argument is out of range, or there are no weights.

        Proof: ``proofs/weighted_candidates.md``, claim 2.

        >>> mechanism = ExponentialMechanism(epsilon=1.0, sensitivity=1.0, weights=[90, 5, 5])
        >>> [round(mechanism.error_bound_if_best(candidate), 1) for candidate in (0, 1)]
        [4.8, 15.1]
        """
        weights = self._weights
        if weights is None:
            raise InvalidParameterError("weights", None, "weights", "Without them use error_bound.")
        expected = f"an index from 0 to {len(weights) - 1}"
        if not 0 <= whole_number(candidate, "candidate", expected=expected) < len(weights):
            raise InvalidParameterError("candidate", candidate, expected)
        confidence = probability(confidence, "confidence")
        return self._bound(weights.odds_against(candidate), failure=1.0 - confidence, confidence=confidence)

    def worst_error(self, n_candidates: int, *, failure: float, confidence: float) -> float:
        if self._weights is None:
            return Mechanism.worst_error(self, n_candidates, failure=failure, confidence=confidence)
        return self._bound(self._worst_odds(n_candidates), failure=failure, confidence=confidence)

    def worst_expected_error(self, n_candidates: int) -> float:
        if self._weights is None:
            return Mechanism.worst_expected_error(self, n_candidates)
        odds = self._worst_odds(n_candidates)
        # theta odds / (e^theta + odds) is largest where theta = 1 + odds e^-theta, and is theta - 1 there.
        low, high = 1.0, 2.0 + math.log1p(odds)
        while high - low > 1e-14 * high:
            middle = (low + high) / 2.0
            low, high = (middle, high) if middle < 1.0 + odds * math.exp(-middle) else (low, middle)
        return (high - 1.0) * self.scale

    def _worst_odds(self, n_candidates: int) -> float:
        weights = cast(CandidateWeights, self._weights)
        if n_candidates != len(weights):
            raise InvalidParameterError("n_candidates", n_candidates, f"{len(weights)}, the number of weights")
        return weights.odds_against()

    def _bound(self, odds: float, *, failure: float, confidence: float) -> float:
        theta = math.log(odds) + math.log(confidence / failure) if odds > 0.0 else 0.0
        if not theta > 0.0:
            return 0.0
        return math.nextafter(theta * (1.0 + 2.0**-48) * math.nextafter(self.scale, math.inf), math.inf)
