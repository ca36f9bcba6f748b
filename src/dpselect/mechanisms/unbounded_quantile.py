"""Quantiles without an upper bound: candidates that grow apart are tested in order, until one has enough values."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from dpselect._native import _core
from dpselect.accounting import PureEvent
from dpselect.accounting.rounding import fraction_down
from dpselect.checks import decimal_fraction, probability
from dpselect.errors import InvalidParameterError
from dpselect.grids import GrowingGrid
from dpselect.mechanisms.above_threshold import bound_of_tails
from dpselect.mechanisms.mechanism import MechanismValue
from dpselect.mechanisms.numbers import FloatArray, IntArray, scale_of, shortest
from dpselect.mechanisms.scores import ScoresLike, plain_values
from dpselect.privacy import Neighbours

FINE = 1.01
"""Growth of the answers of a quantile: neighbours differ by 1% of their distance from the lower bound."""

_MACHINE = (-(2**63), 2**63 - 1)
_FAR = 2**62  # a threshold beyond this is compared in whole numbers of any size: 64 bits might not hold the differences

LEAST_EPSILON = 1e-12
"""Below it the noise would drown any number of units."""

_MOST_PARTS = 10**6
_MOST_THRESHOLDS = 20_000


@dataclass(frozen=True, slots=True, kw_only=True)
class UnboundedQuantileMechanism(MechanismValue):
    r"""Draws the quantile at `level` where only a lower bound is public: above-threshold on a growing grid.

    The candidates :math:`t_0 < t_1 < \dots` are public (`dpselect.grids.GrowingGrid`), and :math:`q_i` is the number of
    values not above :math:`t_i`. A threshold :math:`\rho` is drawn once. Then each candidate in order gets noise
    :math:`\nu_i` of its own, and the first one with :math:`q_i - level \cdot n + \nu_i \ge \rho` is the answer; the
    last candidate if no other one is. Both kinds of noise are one-sided geometric, on the lattice of the scores.

    Args:
        level: from 0 to 1, a decimal of at most six digits; 1 for an upper bound of (nearly) all values.
        step: the smallest distance between candidates, in the unit of the values.
        lower: the first candidate, public; smaller values count as this.
        growth: further than ``step / (growth - 1)`` from `lower`, candidates differ by this factor in their distance
            from it.

    Proof: ``proofs/unbounded_quantiles.md``. Source: Durfee (2023).

    >>> mechanism = UnboundedQuantileMechanism(epsilon=1.0, level=0.9, step=1)
    >>> mechanism.threshold_scale.__round__(3), mechanism.noise_scale.__round__(3)
    (1.865, 1.932)
    >>> incomes = range(10_000, 110_000, 10)  # 10,000 of them; nine in ten are not above 99,990
    >>> 95_000 < mechanism.draw(incomes) < 105_000
    True
    """

    costs = PureEvent

    epsilon: float
    level: float
    step: float | Fraction
    lower: float | Fraction = 0.0
    growth: float = FINE
    neighbours: Neighbours = Neighbours.ADD_REMOVE
    values_per_unit: int = 1
    candidates: FloatArray = field(init=False, repr=False, compare=False)
    """The possible answers, increasing. Public."""
    _share: Fraction = field(init=False, repr=False, compare=False)
    _rates: tuple[float, float] = field(init=False, repr=False, compare=False)
    _threshold: _core.GeometricSampler = field(init=False, repr=False, compare=False)
    _noise: _core.GeometricSampler = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        MechanismValue.__post_init__(self)
        if self.epsilon < LEAST_EPSILON:
            raise InvalidParameterError("epsilon", self.epsilon, "a number large enough for a useful quantile")
        share = decimal_fraction(self.level, "level", expected="a number from 0 to 1")
        if share.denominator > _MOST_PARTS:
            hint = "Without bounds, counts are compared in whole numbers; round it."
            raise InvalidParameterError("level", self.level, "a decimal of at most six digits", hint)
        expected = "a number from 1.001 to 2"
        growth = decimal_fraction(self.growth, "growth", expected=expected)
        if not Fraction("1.001") <= growth <= 2:
            raise InvalidParameterError("growth", self.growth, expected)
        grid = GrowingGrid.given(self.lower, step=self.step, growth=growth)
        for name, exact in (("lower", grid.lower), ("step", grid.step)):
            if isinstance(shortest(exact), Fraction):
                raise InvalidParameterError(name, getattr(self, name), "a number that a double is written like")
        rates = _rates(self.epsilon, share, self.neighbours)
        # In units of one lattice point, of which a rank has as many as the level has parts.
        in_points = float(share.denominator * self.values_per_unit)
        points = np.array(grid.points())
        points.setflags(write=False)
        self._set(step=shortest(grid.step), lower=shortest(grid.lower), growth=float(growth))
        self._set(candidates=points, _share=share, _rates=rates)
        self._set(_threshold=_core.GeometricSampler(rates[0], in_points))
        self._set(_noise=_core.GeometricSampler(rates[1], in_points))

    @property
    def threshold_scale(self) -> float:
        """The scale of the threshold's noise, in ranks."""
        return scale_of(self._rates[0], float(self.values_per_unit), factor=1)

    @property
    def noise_scale(self) -> float:
        """The scale of each candidate's noise, in ranks."""
        return scale_of(self._rates[1], float(self.values_per_unit), factor=1)

    def draw(self, values: ScoresLike) -> float:
        """Draw the quantile of `values`, at the cost of `epsilon`.

        Returns:
            One of `candidates`.

        Sorts the values, and draws noise for every candidate however early the first one is found: the time hardly
        depends on what they are. Proof that the draw is exact: ``proofs/unbounded_quantiles.md``, claim 4.
        """
        reached = self._reached(values)
        threshold = one_sided(self._threshold)
        if threshold > _FAR:
            found = (place for place, each in enumerate(reached) if one_sided(self._noise) >= threshold - int(each))
            return float(self.candidates[next(found, -1)])
        passed = np.flatnonzero(_one_sided_many(self._noise, reached.size) >= threshold - reached)
        return float(self.candidates[passed[0] if passed.size else -1])

    def _reached(self, values: ScoresLike) -> IntArray:
        """``q_i - level * n`` for each candidate but the last, in lattice points."""
        in_order = np.sort(plain_values(values))  # faster than looking up each value
        up_to = np.searchsorted(in_order, self.candidates[:-1], side="right").astype(np.int64, copy=False)
        return up_to * self._share.denominator - self._share.numerator * in_order.size

    def pmf(self, values: ScoresLike) -> FloatArray:
        """Probability of each of `candidates`, if the values were these. For planning with public values and for tests.

        Where the threshold has very many likely values, they are represented by some of them, spread evenly.
        """
        reached = self._reached(values).astype(np.float64)
        parts = self._share.denominator
        fall, noise_fall = (1.0 / (parts * scale) for scale in (self.threshold_scale, self.noise_scale))
        count = min(math.ceil(45.0 / fall) + 1, _MOST_THRESHOLDS)
        if count < _MOST_THRESHOLDS:
            thresholds = np.arange(count, dtype=np.float64)
            weights = np.exp(-fall * thresholds) * -math.expm1(-fall)
        else:
            thresholds = np.floor(-np.log((np.arange(count) + 0.5) / count) / fall)
            weights = np.full(count, 1.0 / count)
        law = np.zeros(self.candidates.size)
        for threshold, weight in zip(thresholds.tolist(), weights.tolist(), strict=True):
            passes = np.exp(-noise_fall * np.maximum(threshold - reached, 0.0))
            before = np.concatenate([[1.0], np.cumprod(1.0 - passes)])
            law += weight * before * np.concatenate([passes, [1.0]])
        return law / law.sum()

    def error_bound(self, confidence: float = 0.99) -> float:
        """With probability `confidence` the answer is at most this many ranks from the quantile, whatever the values.

        Each value counts as the first candidate that is not below it, or as the last. The ranks of the answer are from
        the number of values that count as less, to the number of those that do not count as more; one of them is at
        most this far from ``level * n``. It depends on public arguments only, so it may be published.

        Proof: ``proofs/unbounded_quantiles.md``, claim 5.

        >>> round(UnboundedQuantileMechanism(epsilon=1.0, level=1, step=1).error_bound())
        24
        """
        allowed = 1.0 - probability(confidence, "confidence")
        fall, noise_fall = 1.0 / self.threshold_scale, 1.0 / self.noise_scale
        point = 1.0 / self._share.denominator
        # E[e^(-threshold / noise_scale)]: how much less likely the threshold makes that a candidate passes.
        lowered = math.expm1(-fall * point) / math.expm1(-(fall + noise_fall) * point)
        tested = (self.candidates.size - 1) * lowered if self._share else 0.0
        above = 1.0 if self._share < 1 else 0.0
        return bound_of_tails((tested, self.noise_scale), (above, self.threshold_scale), allowed=allowed)


def _rates(epsilon: float, share: Fraction, neighbours: Neighbours) -> tuple[float, float]:
    """Values per unit over the scale of the threshold, and of each candidate's noise.

    With add/remove the loss is ``max(share * first + second, (1 - share) * first)``, and the sum of the noise's
    variances is smallest at ``first = second / share^(1/3)`` where that is allowed. With replace-one the loss is the
    sum of both. Doubles rounded so that the loss is never above epsilon.
    """
    exact = Fraction(epsilon)
    if neighbours is Neighbours.REPLACE_ONE:
        return epsilon / 2.0, epsilon / 2.0
    if share == 0:
        return epsilon, epsilon
    first = epsilon / (1.0 + float(share) ** (2 / 3)) / float(share) ** (1 / 3)
    if share < 1:
        first = min(first, fraction_down(exact / (1 - share)))
    return first, fraction_down(exact - share * Fraction(first))


def one_sided(sampler: _core.GeometricSampler) -> int:
    """Two-sided noise, given that it is not below 0: one-sided geometric noise, exactly."""
    while (noise := sampler.noise()) < 0:
        pass
    return noise


def _one_sided_many(sampler: _core.GeometricSampler, size: int) -> IntArray:
    """As many of them, where 2^63 - 1 stands for all that are not less."""
    kept: list[IntArray] = []
    missing = size
    while missing > 0:
        drawn = sampler.draw_many(np.zeros(2 * missing + 16, np.int64), *_MACHINE)
        kept.append(drawn[drawn >= 0][:missing])
        missing -= kept[-1].size
    return np.concatenate(kept)
