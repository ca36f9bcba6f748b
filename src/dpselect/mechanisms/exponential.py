"""The exponential mechanism."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from fractions import Fraction
from functools import cached_property
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from dpselect._native import _core
from dpselect.accounting import BoundedRangeEvent
from dpselect.checks import as_fraction
from dpselect.errors import InvalidParameterError, InvalidScoresError, Shown, one_of_several
from dpselect.mechanisms.mechanism import Mechanism
from dpselect.mechanisms.numbers import FloatArray, Law, log_of, native_fraction
from dpselect.mechanisms.scores import Gaps, ScoresLike, finite_scores, members_of

_WEIGHTS = "finite numbers >= 0, one of them > 0"


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


class CandidateWeights(tuple[float | Fraction, ...]):
    """Weights, one for each candidate: doubles, or exact numbers if doubles do not hold them all."""

    @classmethod
    def of(cls, weights: object) -> CandidateWeights:
        """Check weights: floats are taken as the doubles they are, fractions and whole numbers of any size exactly.

        Raises:
            InvalidParameterError: none at all, all zero, a negative one, NaN, infinity, no numbers, or the largest is
                more than 2^8192 times the smallest one above zero.
        """
        if isinstance(weights, CandidateWeights):
            return weights
        members, doubles = members_of(weights, "weights", _WEIGHTS)
        if doubles is not None and doubles.min() >= 0.0 and 0.0 < doubles.max() < math.inf:  # NaN is neither
            return cls((doubles + 0.0).tolist())  # no negative zero
        found = [as_fraction(each) for each in members]
        for place, each in enumerate(found):
            if each is None or each < 0:
                raise InvalidParameterError("weights", one_of_several(members[place], place, len(members)), _WEIGHTS)
        if not any(found):
            raise InvalidParameterError("weights", Shown(f"<{len(found)} zeros>"), _WEIGHTS)
        exact = tuple(cast("list[Fraction]", found))
        if max(exact) > 2**8192 * min(filter(None, exact)):  # proofs/exact_sampling.md, "Pieces"
            expected = "numbers of which the largest is at most 2^8192 times the smallest one above zero"
            raise InvalidParameterError("weights", Shown(f"<{len(exact)} weights>"), expected)
        try:
            nearest = tuple(map(float, exact))
        except OverflowError:
            return cls(exact)
        return cls(nearest if nearest == exact else exact)

    def __repr__(self) -> str:
        return f"<{len(self)} weights>"

    @cached_property
    def logarithms(self) -> FloatArray:
        """Minus infinity for those that are left out."""
        if not isinstance(self[0], float):
            return np.array([log_of(Fraction(each)) if each else -math.inf for each in self])
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


Weights = Sequence[float | Fraction] | npt.NDArray[np.generic]


class _WeightedDraws:
    """What the core's `Sampler` does, with a weight for each candidate."""

    __slots__ = ("_count", "_native")

    def __init__(self, weights: CandidateWeights, epsilon: float, sensitivity: float, factor: int) -> None:
        self._count = len(weights)
        are_doubles = isinstance(weights[0], float)
        native = np.array(weights) if are_doubles else [native_fraction(Fraction(each)) for each in weights]
        self._native = _core.WeightedSampler(epsilon, sensitivity, cast(Any, factor), cast(Any, native))

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
        weights: public numbers >= 0, one for each candidate, from knowledge and never from the data. Floats are taken
            as the doubles they are, fractions and whole numbers exactly. A candidate with the weight 0 is left out.
            Default: all the same.

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
            weights = CandidateWeights.of(cast(object, self.weights))
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
