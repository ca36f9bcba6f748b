"""Selection where each score has a sensitivity of its own."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, cast, get_args

import numpy as np
import numpy.typing as npt

from dpselect._native import _core
from dpselect.accounting import LaplaceProfileEvent
from dpselect.checks import one_of, positive_count, positive_sensitivity, probability
from dpselect.errors import InvalidParameterError, InvalidScoresError, Shown, one_of_several
from dpselect.mechanisms.mechanism import MechanismValue, SelectsOne
from dpselect.mechanisms.numbers import FloatArray, IntArray, crossing, gauss_legendre
from dpselect.mechanisms.permute_and_flip import PermuteAndFlip, permute_and_flip_probabilities
from dpselect.mechanisms.scores import Gaps, ScoresLike, exact_doubles, members_of
from dpselect.privacy import Neighbours

Rule = Literal["generalized", "own_scales", "largest"]

_EXPECTED = "finite numbers > 0, one for each candidate"
_UP = 1.0 + 2.0**-40
_TAIL = 45.0
_AT_ONCE = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class GeneralizedSelection(SelectsOne, MechanismValue):
    r"""Selects by permute-and-flip where each score has a sensitivity of its own, so that one bad candidate does not
    set everybody's noise.

    Three rules are `epsilon`-DP, :math:`\Delta_i` being the sensitivities:

    * ``"generalized"``: each candidate is scored by how far it is ahead of the others, in units of their sensitivities.
      With :math:`r_i = s_i - t \Delta_i` that is :math:`u_i = \min_j (r_i - r_j)/(\Delta_i + \Delta_j)`, or with the
      larger of both in place of the sum if `monotonic`. Permute-and-flip runs on u with :math:`b = 2/\varepsilon`. The
      error in comparison with candidate j is a multiple of j's own sensitivity.
    * ``"own_scales"``: exponential noise of the scale :math:`(\Delta_i + \Delta_{\max})/\varepsilon`.
    * ``"largest"``: `PermuteAndFlip` with the largest sensitivity, the best rule if all are equal.

    ``"auto"`` takes the rule with the smaller error bound for a candidate of the median sensitivity.

    Args:
        sensitivities: for each candidate the largest change of its score between neighbouring data sets, > 0, public.
            Rounded up if they are not doubles. A list, or any NumPy, Arrow, pandas or Polars vector without nulls.
        method: ``"auto"``, or one of the rules.
        confidence: at which the error bounds hold, strictly between 0 and 1. It sets t.

    Proof: ``proofs/different_sensitivities.md``. Source: Raskhodnikova & Smith (2016), for the generalized rule.

    >>> mechanism = GeneralizedSelection(epsilon=1.0, sensitivities=[1, 1, 1, 100])
    >>> mechanism.select([5, 900, 7, 20], candidates=["a", "b", "c", "d"])
    'b'
    >>> mechanism.rule, GeneralizedSelection(epsilon=1.0, sensitivities=[1, 1, 1]).rule
    ('generalized', 'largest')
    """

    costs = LaplaceProfileEvent

    epsilon: float
    sensitivities: Sequence[float] | npt.NDArray[np.number] = field(repr=False)
    monotonic: bool = False
    neighbours: Neighbours = Neighbours.ADD_REMOVE
    method: Literal["auto", "generalized", "own_scales", "largest"] = "auto"
    confidence: float = 0.99
    rule: Rule = field(init=False, compare=False)
    """The rule that runs."""
    _sensitivities: FloatArray = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        MechanismValue.__post_init__(self)
        given = _checked_sensitivities(cast(object, self.sensitivities))
        method = one_of(self.method, "method", ("auto", *get_args(Rule)))
        self._set(sensitivities=tuple(given.tolist()), _sensitivities=given)
        self._set(confidence=probability(self.confidence, "confidence"))
        if not math.isfinite(self.shift) or not math.isfinite(4.0 * self.shift * float(given.max())):
            raise InvalidParameterError("epsilon", self.epsilon, "an epsilon at which the error bounds are finite")
        self._set(rule=self._chosen() if method == "auto" else method)

    @property
    def shift(self) -> float:
        r"""t, by which a unit of sensitivity counts against a score in the generalized rule.

        :math:`-\frac{2}{\varepsilon} \ln(1 - c^{1/n})` for the confidence c, rounded up.
        """
        # What the largest of so many standard exponential variables stays below with this probability.
        largest = -math.log(-math.expm1(math.log(self.confidence) / len(self.sensitivities)))
        return 2.0 * _UP * largest / self.epsilon

    def error_bounds(self) -> FloatArray:
        """With probability `confidence`, the selected score is at most this far below that of *each* candidate.

        One number for each candidate, all at the same time; from public arguments only.

        Proof: ``proofs/different_sensitivities.md``, claim 4.
        """
        return self._bounds_of(self.rule)

    def _index(self, scores: ScoresLike) -> int:
        return int(self._draws(self._checked_scores(scores), 1)[0])

    def select_many(self, scores: ScoresLike, size: int) -> IntArray:
        """Draw `size` indices independently of each other, *each* at the cost of `epsilon`."""
        size = positive_count(size, "size", at_most=sys.maxsize)
        return self._draws(self._checked_scores(scores), size)

    def pmf(self, scores: ScoresLike) -> FloatArray:
        """Probability of each candidate. For planning with public scores and for tests: it depends on every score."""
        doubles = self._checked_scores(scores)
        if self.rule == "largest" or (self.rule == "own_scales" and self.monotonic):
            return self._by_largest.pmf(doubles)  # if monotonic, all own scales are the same
        if self.rule == "own_scales":
            return own_scale_probabilities(Gaps.below_best(doubles), self._sensitivities, self.epsilon)
        exponents = _core.generalized_exponents(doubles, self._sensitivities, self.shift, self.epsilon, self._together)
        return permute_and_flip_probabilities(exponents)

    def expected_error(self, scores: ScoresLike) -> float:
        """Expected distance of the selected score below the best, in the unit of the scores; depends on the scores."""
        return Gaps.below_best(self._checked_scores(scores)).mean(self.pmf(scores))

    def _draws(self, doubles: FloatArray, size: int) -> IntArray:
        if self.rule == "largest" or (self.rule == "own_scales" and self.monotonic):
            return self._by_largest.select_many(doubles, size)
        if self.rule == "own_scales":
            return _core.own_scale_draws(doubles, self._sensitivities, self.epsilon, size)
        return _core.generalized_draws(doubles, self._sensitivities, self.shift, self.epsilon, self._together, size)

    @property
    def _together(self) -> Literal["sum", "larger"]:
        return "larger" if self.monotonic else "sum"

    @property
    def _by_largest(self) -> PermuteAndFlip:
        return PermuteAndFlip(
            epsilon=self.epsilon,
            sensitivity=float(self._sensitivities.max()),
            monotonic=self.monotonic,
            neighbours=self.neighbours,
        )

    def _bounds_of(self, rule: Rule) -> FloatArray:
        count = len(self.sensitivities)
        if rule == "generalized":
            return 2.0 * _UP * self.shift * self._sensitivities
        if rule == "largest" or self.monotonic:
            bound = self._by_largest.error_bound(count, self.confidence)
        else:  # the same for exponential variables of the scales ``sensitivity + largest``
            widths, numbers = np.unique(self._sensitivities + self._sensitivities.max(), return_counts=True)
            shares, least = widths / widths.max(), math.log(self.confidence)
            with np.errstate(divide="ignore"):
                largest = crossing(lambda at: least - float(numbers @ np.log1p(-np.exp(-at / shares))))
            bound = _UP * float(widths.max()) * largest / self.epsilon
        return np.full(count, bound)

    def _chosen(self) -> Rule:
        """The rule with the smaller bound for the median sensitivity."""
        sensitivities = self._sensitivities
        if float(sensitivities.min()) == float(sensitivities.max()):
            return "largest"
        other: Rule = "largest" if self.monotonic else "own_scales"
        middle = int(np.argsort(sensitivities, kind="stable")[(sensitivities.size - 1) // 2])
        return "generalized" if self._bounds_of("generalized")[middle] < self._bounds_of(other)[middle] else other

    def _checked_scores(self, scores: ScoresLike) -> FloatArray:
        found = exact_doubles(scores)
        if found.size != len(self.sensitivities):
            expected = f"{len(self.sensitivities)} scores, one for each sensitivity"
            raise InvalidScoresError("scores", Shown(f"<{found.size} scores>"), expected)
        return found


def _checked_sensitivities(given: object) -> FloatArray:
    """As doubles that nobody else can change."""
    members, doubles = members_of(given, "sensitivities", _EXPECTED)
    found = np.zeros(len(members)) if doubles is None else doubles
    if not (found.min() > 0.0 and found.max() < math.inf):  # NaN is neither
        for place, each in enumerate(members):
            try:
                found[place] = positive_sensitivity(each, "sensitivities")
            except InvalidParameterError:
                got = one_of_several(each, place, len(members))
                raise InvalidParameterError("sensitivities", got, _EXPECTED) from None
    found.flags.writeable = False
    return found


def own_scale_probabilities(gaps: Gaps, sensitivities: FloatArray, epsilon: float) -> FloatArray:
    r"""Probability of each candidate with noise of the scale ``(sensitivity + largest) / epsilon``, summing to 1.

    By quadrature: candidate i wins with the noisy score :math:`s^* + z` with density :math:`\frac{p_i}{b_i} e^{-z/b_i}
    \prod_{j \ne i} (1 - p_j e^{-z/b_j})`, where :math:`p_i = e^{-(s^* - s_i)/b_i}`: no other wins below :math:`s^*`,
    because the best candidate's noise is positive. Proof: ``proofs/different_sensitivities.md``, claim 6.
    """
    most = float(sensitivities.max())
    relative = (sensitivities / most + 1.0) / 2.0  # scales in units of the widest, from 1/2 to 1
    exponents = gaps.scaled(epsilon=epsilon, sensitivity=most, factor=2) / relative
    end = _TAIL + math.log(sensitivities.size)
    # The first to stand out has its peak where the product turns from 0 to 1: short pieces at first, then longer ones.
    edges = np.concatenate([[0.0], np.geomspace(1e-12, end, 160)])
    places, weights = gauss_legendre(24).between(edges)
    found = np.zeros(sensitivities.size)
    batch = max(1, _AT_ONCE // sensitivities.size)
    for start in range(0, places.size, batch):
        z, weight = places[start : start + batch, np.newaxis], weights[start : start + batch]
        with np.errstate(under="ignore"):
            above = np.exp(-exponents - z / relative)
        log_below = np.log1p(-above)
        others = np.exp(log_below.sum(axis=1, keepdims=True) - log_below)
        found += weight @ (above / relative * others)
    return found / found.sum()
