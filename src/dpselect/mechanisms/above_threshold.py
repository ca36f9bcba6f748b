"""Above-threshold: a stream of private numbers, each compared with a public threshold, paid for once."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal, NoReturn, cast, get_args

import numpy as np

from dpselect._native import _core
from dpselect.accounting import LossIntervalEvent, PureEvent
from dpselect.accounting.rounding import fraction_down, fraction_up
from dpselect.checks import exact_number, one_of, positive_count, probability
from dpselect.errors import InvalidParameterError, SelectionError, Shown
from dpselect.mechanisms.mechanism import MechanismValue
from dpselect.mechanisms.numbers import FloatArray, exact_value, gauss_legendre, native_fraction, scale_of
from dpselect.mechanisms.scores import ScoresLike, finite_scores
from dpselect.privacy import Neighbours

_EXACT = 2**53  # whole numbers up to this are doubles
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
    _rates: tuple[float, float] = field(init=False, repr=False)
    _stream: _core.ThresholdStream = field(init=False, repr=False)

    def __post_init__(self) -> None:
        MechanismValue.__post_init__(self)
        moves = _promised(self.moves, monotonic=self.monotonic, neighbours=self.neighbours)
        threshold = exact_number(self.threshold, "threshold")
        positives = positive_count(self.positives, "positives", at_most=2**40)
        self._set(moves=moves, threshold=threshold, positives=positives)
        self._set(_rates=_rates(self.epsilon, self._coins))
        self._set(_stream=_core.ThresholdStream(native_fraction(threshold), *self._rates, self.sensitivity, positives))

    @property
    def _coins(self) -> int:
        """How many units of the rate of answers are lost at most."""
        return self.positives * (2 if self.moves == "any" else 1)

    @property
    def threshold_scale(self) -> float:
        """The scale of the offset, in the unit of the queries."""
        return scale_of(self._rates[0], self.sensitivity, factor=1)

    @property
    def noise_scale(self) -> float:
        """The scale of the noise of each answer, in the unit of the queries."""
        return scale_of(self._rates[1], self.sensitivity, factor=1)

    @property
    def event(self) -> PureEvent | LossIntervalEvent:
        """What the stream costs, for accounting: one charge before the first query.

        Proof: ``proofs/above_threshold.md``, claim 3.
        """
        offset, answers = Fraction(self._rates[0]), Fraction(self._rates[1]) * self._coins
        if self.moves in ("up", "down"):
            rising = LossIntervalEvent(below=fraction_up(answers), above=fraction_up(offset + answers))
            return rising if self.moves == "up" else rising.mirrored
        return PureEvent(epsilon=fraction_up(offset + answers))

    def test(self, value: float | Fraction) -> bool:
        """Whether `value`, with noise, is above the threshold.

        Raises:
            StreamEndedError: the stream has said yes as often as was paid for, was closed, or belongs to the process
                that this one was forked from. Nothing is drawn.
            InvalidDataError: `value` is not a finite number, or beyond the range of doubles. Nothing is drawn.
        """
        if type(value) is float or (type(value) is int and -_EXACT <= value <= _EXACT):
            if not math.isfinite(value):
                exact_value(value)  # refused
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
        queries = positive_count(queries, "queries", at_most=2**60)
        allowed = 1.0 - probability(confidence, "confidence")
        first, second = max(self.threshold_scale, _SMALLEST), max(self.noise_scale, _SMALLEST)
        lowered = queries * second / (first + second)
        return bound_of_tails((lowered, second), (1.0, first), allowed=allowed)

    def pmf(self, queries: ScoresLike) -> FloatArray:
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
        ends = np.unique(
            np.concatenate([np.linspace(0.0, 45.0, math.ceil(min(45.0 * max(1.0, ratio), 2000.0))), kinks])
        )
        rule, width = gauss_legendre(16), np.diff(ends)[:, np.newaxis]
        offsets = (ends[:-1, np.newaxis] + width * rule.nodes).ravel()
        mass = (width * rule.weights).ravel() * np.exp(-offsets)
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
    most = max(1.0, *(weight for weight, _ in tails))
    low, high = 0.0, max(scale for _, scale in tails) * (math.log(2.0 * most) - math.log(allowed))
    for _ in range(200):
        middle = (low + high) / 2.0
        reached = sum(weight * math.exp(-middle / scale) for weight, scale in tails)
        low, high = (low, middle) if reached <= allowed else (middle, high)
    return high


def _promised(moves: object, *, monotonic: bool, neighbours: Neighbours) -> Moves:
    """The moves that the caller promises; refused if they contradict the other arguments."""
    if moves is None:
        return "together" if monotonic else "any"
    found = cast(Moves, one_of(moves, "moves", get_args(Moves)))
    if monotonic and found == "any":
        raise InvalidParameterError("moves", Shown("'any'"), "another one with monotonic=True")
    if neighbours is Neighbours.REPLACE_ONE and found != "any":
        hint = "The other moves are about a unit that is added or removed."
        raise InvalidParameterError("moves", Shown(repr(found)), "'any' with replace_one", hint)
    return found


def _rates(epsilon: float, coins: int) -> tuple[float, float]:
    """Rates of the offset and of each answer, ``offset + coins * answer <= epsilon``: of least variance, about.

    ``1 / offset^2 + 1 / answer^2`` is smallest at ``answer = offset / coins^(1/3)``, by Lagrange.
    """
    offset = fraction_down(Fraction(epsilon / (1.0 + coins * coins ** (-1.0 / 3.0))))
    rest = (Fraction(epsilon) - Fraction(offset)) / coins
    answer = fraction_down(rest) if rest > 0 else 0.0
    if not (offset > 0.0 and answer > 0.0):
        raise InvalidParameterError("epsilon", epsilon, f"a number large enough to be split into {coins + 1}")
    return offset, answer
