"""Above-threshold, paid for once: a stream of numbers beside a threshold, and a quantile without an upper bound."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal, NoReturn, get_args

import numpy as np
import numpy.typing as npt

from dpselect import checks
from dpselect._native import _core
from dpselect.accounting import LossIntervalEvent, PureEvent
from dpselect.errors import InvalidParameterError, SelectionError, Shown
from dpselect.grids import growing_grid
from dpselect.mechanisms.mechanism import MechanismValue
from dpselect.mechanisms.numbers import crossing, exact_value, gauss_legendre, native_fraction, scale_of, shortest
from dpselect.mechanisms.scores import ScoresLike, finite_scores, plain_values
from dpselect.privacy import Neighbours

_SMALLEST = math.ulp(0.0)

Moves = Literal["any", "together", "up", "down"]
"""What is public of the changes of all queries between neighbours; up and down are what a unit that is added does."""


@dataclass(frozen=True, slots=True, eq=False)
class AboveThreshold(MechanismValue):
    r"""A stream of questions "is this number above the threshold?", of which only those answered with yes cost.

    The stream draws one secret offset :math:`\rho` when it is made, exponential with scale :math:`b_1`. A query with
    value :math:`q` is answered with yes with probability :math:`\min(1, e^{-(threshold + \rho - q)/b_2})`. After
    `positives` yes answers the stream refuses. Any number of no answers is included in the price, and queries may be
    chosen in view of earlier answers.

    Charge `event` before the first query. The offset lives in the memory of this process alone: it is in no `repr` or
    pickle, and a child of a fork cannot use it.

    Args:
        threshold: public; never computed from the data.
        epsilon: privacy loss of the whole stream, > 0.
        positives: how many yes answers are paid for, >= 1.
        moves: what is known of how queries change together, for less noise: ``"any"``, ``"together"`` (the
            same as `monotonic`), ``"up"`` or ``"down"`` (when a unit is added). The last two also compose better.

    Proof: ``proofs/above_threshold.md``. Sources: Dwork et al. (2009), Lyu, Su & Li (2017).

    >>> stream = AboveThreshold(1000, epsilon=1.0, sensitivity=1, moves="up")
    >>> stream.event
    LossIntervalEvent(below=0.5, above=1.0)
    >>> [stream.test(visits) for visits in (610, 655, 1_430)]
    [False, False, True]
    >>> stream.test(2_000)
    Traceback (most recent call last):
    dpselect.errors.StreamEndedError: this stream has said yes as often as was paid for, or was closed: begin another
    one, and charge it anew
    """

    threshold: float | Fraction
    epsilon: float = field(kw_only=True)
    sensitivity: float = field(kw_only=True)
    monotonic: bool = field(default=False, kw_only=True)
    positives: int = field(default=1, kw_only=True)
    moves: Moves | None = field(default=None, kw_only=True)
    neighbours: Neighbours = field(default=Neighbours.ADD_REMOVE, kw_only=True)
    threshold_scale: float = field(init=False, repr=False)
    """The scale of the offset, in the unit of the queries."""
    noise_scale: float = field(init=False, repr=False)
    """The scale of the noise of each answer, in the unit of the queries."""
    _rates: tuple[float, float] = field(init=False, repr=False)
    _stream: _core.ThresholdStream = field(init=False, repr=False)

    def __post_init__(self) -> None:
        MechanismValue.__post_init__(self)
        moves = "together" if self.monotonic else "any"
        if self.moves is not None:
            moves = checks.one_of(self.moves, "moves", get_args(Moves))
            if self.monotonic and moves == "any":
                raise InvalidParameterError("moves", Shown("'any'"), "another one with monotonic=True")
            if self.neighbours is Neighbours.REPLACE_ONE and moves != "any":
                hint = "The other moves are about a unit that is added or removed."
                raise InvalidParameterError("moves", Shown(repr(moves)), "'any' with replace_one", hint)
        threshold = checks.exact_number(self.threshold, "threshold")
        positives = checks.positive_count(self.positives, "positives", at_most=2**40)
        self._set(moves=moves, threshold=threshold, positives=positives)
        self._set(_rates=_rates(self.epsilon, self._coins))
        first, second = (scale_of(rate, self.sensitivity, factor=1) for rate in self._rates)
        stream = _core.ThresholdStream(native_fraction(threshold), *self._rates, self.sensitivity, positives)
        self._set(threshold_scale=first, noise_scale=second, _stream=stream)

    @property
    def _coins(self) -> int:
        """How many units of the rate of answers are lost at most."""
        return self.positives * (2 if self.moves == "any" else 1)

    @property
    def event(self) -> PureEvent | LossIntervalEvent:
        """What the stream costs, for accounting: one charge before the first query.

        Proof: ``proofs/above_threshold.md``, claim 3.
        """
        offset, answers = Fraction(self._rates[0]), Fraction(self._rates[1]) * self._coins
        if self.moves in ("up", "down"):
            rising = LossIntervalEvent(below=checks.fraction_up(answers), above=checks.fraction_up(offset + answers))
            return rising if self.moves == "up" else rising.mirrored
        return PureEvent(epsilon=checks.fraction_up(offset + answers))

    def test(self, value: float | Fraction) -> bool:
        """Whether `value`, with noise, is above the threshold.

        Raises:
            StreamEndedError: the stream has said yes as often as was paid for, was closed, or belongs to the process
                that this one was forked from. Nothing is drawn.
            InvalidDataError: `value` is not a finite number, or beyond the range of doubles. Nothing is drawn.
        """
        if (type(value) is float and math.isfinite(value)) or (type(value) is int and -(2**53) <= value <= 2**53):
            return self._stream.test(float(value))
        return self._stream.test_exactly(native_fraction(exact_value(value)))

    def close(self) -> None:
        """End the stream and forget its offset. What was charged stays charged."""
        self._stream.close()

    def error_bound(self, queries: int, confidence: float = 0.99) -> float:
        """With probability `confidence` no answer to `queries` queries is wrong by more than this.

        What is answered with yes is at most this far below the threshold, what with no at most this far above it. From
        public arguments only, so it may be published.

        Proof: ``proofs/above_threshold.md``, claim 6.
        """
        queries = checks.positive_count(queries, "queries", at_most=2**60)
        allowed = 1.0 - checks.probability(confidence, "confidence")
        first, second = max(self.threshold_scale, _SMALLEST), max(self.noise_scale, _SMALLEST)
        lowered = queries * second / (first + second)
        return bound_of_tails((lowered, second), (1.0, first), allowed=allowed)

    def pmf(self, queries: ScoresLike) -> npt.NDArray[np.float64]:
        """Probability that each of `queries` is the first with a yes, and last that none is: it depends on every query.

        For planning and tests. Shape ``(n + 1,)``, summing to 1 within 1e-9.

        Raises:
            InvalidScoresError: no finite numbers.
        """
        values = finite_scores(queries)
        scale = max(self.noise_scale, _SMALLEST)
        with np.errstate(over="ignore"):
            leads = (values - float(self.threshold)) / scale
        ratio = max(self.threshold_scale, _SMALLEST) / scale
        kinks = np.unique(np.clip(leads / ratio, 0.0, 45.0))
        count = math.ceil(min(45.0 * max(1.0, ratio), 2000.0))
        ends = np.unique(np.concatenate([np.linspace(0.0, 45.0, count), kinks])).astype(np.float64)
        offsets, weights = gauss_legendre(16).between(ends)
        mass = weights * np.exp(-offsets)
        chances = np.exp(np.minimum(leads[:, np.newaxis] - ratio * offsets, 0.0))
        still = np.vstack([np.ones_like(offsets), np.cumprod(1.0 - chances, axis=0)])
        law = np.append((still[:-1] * chances) @ mass, still[-1] @ mass)
        return law / law.sum()

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise SelectionError(
            "A stream holds a secret offset, so it cannot be copied, pickled or sent to another process: begin another "
            "stream there, and charge it anew."
        )


def bound_of_tails(*tails: tuple[float, float], allowed: float) -> float:
    """The smallest number at which the sum of ``weight * e^(-number / scale)`` is at most `allowed`, rounded up."""
    return crossing(lambda at: sum(weight * math.exp(-at / scale) for weight, scale in tails) - allowed)


def _rates(epsilon: float, coins: int) -> tuple[float, float]:
    """Rates of the offset and of each answer, ``offset + coins * answer <= epsilon``: of least variance, about.

    ``1 / offset^2 + 1 / answer^2`` is smallest at ``answer = offset / coins^(1/3)``, by Lagrange.
    """
    offset = checks.fraction_down(Fraction(epsilon / (1.0 + coins * coins ** (-1.0 / 3.0))))
    rest = (Fraction(epsilon) - Fraction(offset)) / coins
    answer = checks.fraction_down(rest) if rest > 0 else 0.0
    if not (offset > 0.0 and answer > 0.0):
        raise InvalidParameterError("epsilon", epsilon, f"a number large enough to be split into {coins + 1}")
    return offset, answer


_FAR = 2**62  # a threshold beyond this is compared in whole numbers of any size: 64 bits might not hold the differences
_MOST_PARTS = 10**6
_MOST_THRESHOLDS = 20_000


@dataclass(frozen=True, slots=True, kw_only=True)
class UnboundedQuantileMechanism(MechanismValue):
    r"""Draws the quantile at `level` where only a lower bound is public: above-threshold on a growing grid.

    The candidates :math:`t_0 < t_1 < \dots` are public, and :math:`q_i` values are not above :math:`t_i`. A threshold
    :math:`\rho` is drawn once, and noise :math:`\nu_i` for each candidate, both one-sided geometric. The answer is the
    first candidate with :math:`q_i - level \cdot n + \nu_i \ge \rho`, or the last one.

    Args:
        level: from 0 to 1, a decimal of at most six digits; 1 for an upper bound of (nearly) all values.
        step: the smallest distance between candidates, in the unit of the values.
        lower: the first candidate, public; smaller values count as this.
        growth: further than ``step / (growth - 1)`` from `lower`, candidates' distances from it differ by this factor.

    Proof: ``proofs/unbounded_quantiles.md``. Source: Durfee (2023).

    >>> incomes = range(10_000, 110_000, 10)  # 10,000 of them; nine in ten are not above 99,990
    >>> 95_000 < UnboundedQuantileMechanism(epsilon=1.0, level=0.9, step=1).draw(incomes) < 105_000
    True
    """

    costs = PureEvent

    epsilon: float
    level: float
    step: float | Fraction
    lower: float | Fraction = 0.0
    growth: float = 1.01
    neighbours: Neighbours = Neighbours.ADD_REMOVE
    values_per_unit: int = 1
    candidates: npt.NDArray[np.float64] = field(init=False, repr=False, compare=False)
    """The possible answers, increasing. Public."""
    threshold_scale: float = field(init=False, repr=False, compare=False)
    """The scale of the threshold's noise, in ranks."""
    noise_scale: float = field(init=False, repr=False, compare=False)
    """The scale of each candidate's noise, in ranks."""
    _share: Fraction = field(init=False, repr=False, compare=False)
    _rates: tuple[float, float] = field(init=False, repr=False, compare=False)
    _threshold: _core.GeometricSampler = field(init=False, repr=False, compare=False)
    _noise: _core.GeometricSampler = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        MechanismValue.__post_init__(self)
        if self.epsilon < 1e-12:  # the noise would drown any number of units
            raise InvalidParameterError("epsilon", self.epsilon, "a number large enough for a useful quantile")
        share = checks.decimal_fraction(self.level, "level", expected="a number from 0 to 1")
        if share.denominator > _MOST_PARTS:
            hint = "Without bounds, counts are compared in whole numbers; round it."
            raise InvalidParameterError("level", self.level, "a decimal of at most six digits", hint)
        expected = "a number from 1.001 to 2"
        growth = checks.decimal_fraction(self.growth, "growth", expected=expected)
        if not Fraction("1.001") <= growth <= 2:
            raise InvalidParameterError("growth", self.growth, expected)
        lower, step, listed = growing_grid(self.lower, step=self.step, growth=growth)
        for name, exact in (("lower", lower), ("step", step)):
            if isinstance(shortest(exact), Fraction):
                raise InvalidParameterError(name, getattr(self, name), "a number that a double is written like")
        rates = _quantile_rates(self.epsilon, share, self.neighbours)
        # In units of one lattice point, of which a rank has as many as the level has parts.
        in_points = float(share.denominator * self.values_per_unit)
        points = np.array(listed)
        points.setflags(write=False)
        self._set(step=shortest(step), lower=shortest(lower), growth=float(growth))
        threshold, noise = (_core.GeometricSampler(rate, in_points) for rate in rates)
        self._set(candidates=points, _share=share, _rates=rates, _threshold=threshold, _noise=noise)
        first, second = (scale_of(rate, float(self.values_per_unit), factor=1) for rate in rates)
        self._set(threshold_scale=first, noise_scale=second)

    def draw(self, values: ScoresLike) -> float:
        """Draw the quantile of `values`, one of `candidates`, at the cost of `epsilon`."""
        reached = self._reached(values)  # noise is drawn for all of them, so the time hardly depends on the values
        threshold = one_sided(self._threshold)
        if threshold > _FAR:
            found = (place for place, each in enumerate(reached) if one_sided(self._noise) >= threshold - int(each))
            return float(self.candidates[next(found, -1)])
        passed = np.flatnonzero(_one_sided_many(self._noise, reached.size) >= threshold - reached)
        return float(self.candidates[passed[0] if passed.size else -1])

    def _reached(self, values: ScoresLike) -> npt.NDArray[np.int64]:
        """``q_i - level * n`` for each candidate but the last, in lattice points."""
        in_order = np.sort(plain_values(values))  # faster than looking up each value
        up_to = np.searchsorted(in_order, self.candidates[:-1], side="right").astype(np.int64, copy=False)
        return up_to * self._share.denominator - self._share.numerator * in_order.size

    def pmf(self, values: ScoresLike) -> npt.NDArray[np.float64]:
        """Probability of each of `candidates`, if the values were these. For planning with public values."""
        reached = self._reached(values).astype(np.float64)
        parts = self._share.denominator
        fall, noise_fall = (1.0 / (parts * scale) for scale in (self.threshold_scale, self.noise_scale))
        count = min(math.ceil(45.0 / fall) + 1, _MOST_THRESHOLDS)
        if count < _MOST_THRESHOLDS:  # of more likely ones some stand for all, spread evenly
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

        Each value counts as the first candidate that is not below it, or as the last. It may be published.

        Proof: ``proofs/unbounded_quantiles.md``, claim 5.
        """
        allowed = 1.0 - checks.probability(confidence, "confidence")
        fall, noise_fall = 1.0 / self.threshold_scale, 1.0 / self.noise_scale
        point = 1.0 / self._share.denominator
        # E[e^(-threshold / noise_scale)]: how much less likely the threshold makes that a candidate passes.
        lowered = math.expm1(-fall * point) / math.expm1(-(fall + noise_fall) * point)
        tested = (self.candidates.size - 1) * lowered if self._share else 0.0
        above = 1.0 if self._share < 1 else 0.0
        return bound_of_tails((tested, self.noise_scale), (above, self.threshold_scale), allowed=allowed)


def _quantile_rates(epsilon: float, share: Fraction, neighbours: Neighbours) -> tuple[float, float]:
    """Values per unit over the scale of the threshold, and of each candidate's noise.

    With add-remove the loss is ``max(share * first + second, (1 - share) * first)``, and the noise's variance smallest
    at ``first = second / share^(1/3)`` where allowed; with replace-one it is the sum of both. Never above epsilon.
    """
    if neighbours is Neighbours.REPLACE_ONE:
        return epsilon / 2.0, epsilon / 2.0
    if share == 0:
        return epsilon, epsilon
    first = epsilon / (1.0 + float(share) ** (2 / 3)) / float(share) ** (1 / 3)
    if share < 1:
        first = min(first, checks.fraction_down(Fraction(epsilon) / (1 - share)))
    return first, checks.fraction_down(Fraction(epsilon) - share * Fraction(first))


def one_sided(sampler: _core.GeometricSampler) -> int:
    """One-sided geometric noise: two-sided, given that it is not below 0."""
    while (noise := sampler.noise()) < 0:
        pass
    return noise


def _one_sided_many(sampler: _core.GeometricSampler, size: int) -> npt.NDArray[np.int64]:
    """So many of them, where 2^63 - 1 stands for all that are not less."""
    kept, missing = list[npt.NDArray[np.int64]](), size
    while missing > 0:
        drawn = sampler.draw_many(np.zeros(2 * missing + 16, np.int64), -(2**63), 2**63 - 1)
        kept.append(drawn[drawn >= 0][:missing])
        missing -= kept[-1].size
    return np.concatenate(kept)
