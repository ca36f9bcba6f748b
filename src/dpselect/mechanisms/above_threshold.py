"""Above-threshold: a stream of private numbers, each compared with a public threshold, paid for once."""

from __future__ import annotations

import math
import sys
from fractions import Fraction
from types import TracebackType
from typing import NoReturn

import numpy as np
import numpy.typing as npt

from dpselect._native import _core
from dpselect.accounting import LossIntervalEvent, PureEvent
from dpselect.checks import (
    decimal_fraction,
    exact_number,
    positive_count,
    positive_epsilon,
    positive_sensitivity,
    probability,
)
from dpselect.errors import InvalidDataError, InvalidParameterError, SelectionError, Shown
from dpselect.mechanisms.base import native_fraction, scale_of
from dpselect.mechanisms.explained import explained
from dpselect.mechanisms.query_moves import Moves, Rates, moves_named
from dpselect.mechanisms.scores import ScoresLike, finite_scores
from dpselect.privacy import Neighbours, check_monotonic, neighbouring_relation

FloatArray = npt.NDArray[np.float64]

_EXACT = 2**53  # whole numbers up to this are doubles
_LARGEST = Fraction(sys.float_info.max)
_SMALLEST = math.ulp(0.0)


@explained
class AboveThreshold:
    r"""A stream of questions "is this number above the threshold?", of which only those answered with yes cost.

    The stream draws one secret offset :math:`\rho` when it is made, exponential with scale :math:`b_1`. A query with
    value :math:`q` is answered with yes with probability :math:`\min(1, e^{-(threshold + \rho - q)/b_2})`. After
    `positives` yes answers the stream refuses. Any number of no answers is included in the price, and queries may be
    chosen in view of earlier answers.

    Charge `event` before the first query. The offset lives in the memory of this process alone: it is in no `repr`, log
    or pickle, a child of a fork cannot use it, and it is overwritten when the stream ends. A process that restarts
    makes another stream, and charges it anew.

    Args:
        threshold: public; never computed from the data.
        epsilon: privacy loss of the whole stream, > 0.
        sensitivity: the largest change of any query between neighbouring data sets, > 0.
        monotonic: all queries change in the same direction; the same as ``moves="together"``.
        positives: how many yes answers are paid for, >= 1.
        moves: what is known of how queries change together, for less noise: ``"any"``, ``"together"``, ``"up"`` or
            ``"down"`` (when a unit is added), ``"suffix"`` (when a unit is added, no query falls, and later ones rise
            at least as much as earlier ones), ``"interval"`` (one unit replaces another, all changes have one sign).
            Those with a direction also compose better.
        level: with ``moves="suffix"``, the caller subtracts ``level * sensitivity`` times the private number of units
            from each query; from 0 to 1. The promise about moves is about queries before that.

    Raises:
        InvalidParameterError: an argument is out of range, or `moves` contradicts another argument.

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

    __slots__ = ("_answered", "_epsilon", "_neighbours", "_rates", "_sensitivity", "_stream", "_threshold")

    def __init__(
        self,
        threshold: float | Fraction,
        *,
        epsilon: float,
        sensitivity: float,
        monotonic: bool = False,
        positives: int = 1,
        moves: str | None = None,
        level: float | Fraction = 0,
        neighbours: str = "add_remove",
    ) -> None:
        self._threshold = exact_number(threshold, "threshold")
        self._epsilon, self._sensitivity = positive_epsilon(epsilon), positive_sensitivity(sensitivity)
        self._neighbours = neighbouring_relation(neighbours)
        monotonic = check_monotonic(monotonic, self._neighbours)
        named = moves_named(moves, monotonic=monotonic, neighbours=self._neighbours)
        expected = "a number from 0 to 1, 0 unless moves is 'suffix'"
        share = decimal_fraction(level, "level", expected=expected)
        if not 0 <= share <= (1 if named is Moves.SUFFIX else 0):
            raise InvalidParameterError("level", level, expected)
        positives = positive_count(positives, "positives", at_most=2**40)
        self._rates = Rates.within(self._epsilon, moves=named, level=share, positives=positives)
        self._answered = 0
        rates = self._rates.offset, self._rates.answer
        self._stream = _core.ThresholdStream(native_fraction(self._threshold), *rates, self._sensitivity, positives)

    @property
    def threshold(self) -> Fraction:
        """What queries are compared with. Public."""
        return self._threshold

    @property
    def epsilon(self) -> float:
        """The privacy loss of the whole stream."""
        return self._epsilon

    @property
    def sensitivity(self) -> float:
        """The largest change of any query."""
        return self._sensitivity

    @property
    def neighbours(self) -> Neighbours:
        """Which data sets the guarantee compares."""
        return self._neighbours

    @property
    def moves(self) -> Moves:
        """How queries change between neighbours."""
        return self._rates.moves

    @property
    def positives(self) -> int:
        """How many yes answers are paid for."""
        return self._rates.positives

    @property
    def answered(self) -> int:
        """How many of them were given; everybody who sees the answers can count them."""
        return self._answered

    @property
    def threshold_scale(self) -> float:
        """The scale of the offset, in the unit of the queries."""
        return scale_of(self._rates.offset, self._sensitivity, factor=1)

    @property
    def noise_scale(self) -> float:
        """The scale of the noise of each answer, in the unit of the queries."""
        return scale_of(self._rates.answer, self._sensitivity, factor=1)

    @property
    def event(self) -> PureEvent | LossIntervalEvent:
        """What the stream costs, for accounting: one charge before the first query."""
        return self._rates.event

    def test(self, value: float | Fraction) -> bool:
        """Whether `value`, with noise, is above the threshold.

        Args:
            value: a finite number: an integer, a float (the binary number that it is), a fraction or a decimal.

        Raises:
            StreamEndedError: the stream has said yes as often as was paid for, was closed, or belongs to the process
                that this one was forked from. Nothing is drawn.
            InvalidDataError: `value` is not a finite number, or beyond the range of doubles. Nothing is drawn.
        """
        if type(value) is float or (type(value) is int and -_EXACT <= value <= _EXACT):
            try:
                is_above = self._stream.test(float(value))
            except InvalidParameterError:
                _refuse_value()
        else:
            is_above = self._stream.test_exactly(native_fraction(_checked(value)))
        if is_above:
            self._answered += 1
        return is_above

    def test_with_gap(self, value: float | Fraction, *, step: float | Fraction) -> float | None:
        """As `test`, and after a yes also by how much `value` with its noise is above threshold and offset, at no cost.

        The gap is the number's true lead plus noise of scale `noise_scale`, minus the offset of scale
        `threshold_scale`. After a no nothing is said.

        Args:
            value: as for `test`.
            step: public, > 0: the gap is rounded down to a multiple of it.

        Returns:
            None for a no; else a multiple of `step`, as a double, cut off at the largest one (an integer if `step` is).

        Raises:
            StreamEndedError: as for `test`.
            InvalidParameterError: `step` is not a finite number > 0.
            InvalidDataError: as for `test`.
        """
        width = decimal_fraction(step, "step", expected="a finite number > 0")
        if width <= 0:
            raise InvalidParameterError("step", step, "a finite number > 0")
        steps = self._stream.test_with_gap(native_fraction(_checked(value)), native_fraction(width))
        if steps is None:
            return None
        self._answered += 1
        gap = width * steps
        return gap.numerator if type(step) is int else float(min(gap, _LARGEST))

    def close(self) -> None:
        """End the stream and forget its offset. What was charged stays charged."""
        self._stream.close()

    def error_bound(self, queries: int, confidence: float = 0.99) -> float:
        """With probability `confidence` no answer to `queries` queries is wrong by more than this.

        That is: whatever is answered with yes is at most this far below the threshold, and whatever is answered with no
        is at most this far above it. It depends on public arguments only, so it may be published.

        Proof: ``proofs/above_threshold.md``, claim 7.

        >>> round(AboveThreshold(0, epsilon=1.0, sensitivity=1, moves="up").error_bound(365), 1)
        19.6
        """
        queries = positive_count(queries, "queries", at_most=2**60)
        allowed = 1.0 - probability(confidence, "confidence")
        first, second = max(self.threshold_scale, _SMALLEST), max(self.noise_scale, _SMALLEST)
        lowered = queries * second / (first + second)

        def exceeded(bound: float) -> float:
            return lowered * math.exp(-bound / second) + math.exp(-bound / first)

        low, high = 0.0, max(first, second) * (math.log(2.0 * max(1.0, lowered)) - math.log(allowed))
        for _ in range(200):
            middle = (low + high) / 2.0
            low, high = (low, middle) if exceeded(middle) <= allowed else (middle, high)
        return high

    def pmf(self, queries: ScoresLike) -> FloatArray:
        """Probability that each of `queries` is the first with a yes, and last that none is. For planning and tests.

        It depends on every query, so use it with public or synthetic numbers.

        Returns:
            Shape ``(n + 1,)``, summing to 1 within 1e-9.

        Raises:
            InvalidScoresError: no finite numbers.
        """
        values = finite_scores(queries)
        scale = max(self.noise_scale, _SMALLEST)
        with np.errstate(over="ignore"):
            leads = (values - float(self._threshold)) / scale
        ratio = max(self.threshold_scale, _SMALLEST) / scale
        kinks = np.unique(np.clip(leads / ratio, 0.0, 45.0))
        ends = np.unique(
            np.concatenate([np.linspace(0.0, 45.0, math.ceil(min(45.0 * max(1.0, ratio), 2000.0))), kinks])
        )
        nodes, weights = np.polynomial.legendre.leggauss(16)
        half = np.diff(ends)[:, np.newaxis] / 2.0
        offsets = (ends[:-1, np.newaxis] + half * (1.0 + nodes)).ravel()
        mass = (half * weights).ravel() * np.exp(-offsets)
        chances = np.exp(np.minimum(leads[:, np.newaxis] - ratio * offsets, 0.0))
        still = np.vstack([np.ones_like(offsets), np.cumprod(1.0 - chances, axis=0)])
        law = np.append((still[:-1] * chances) @ mass, still[-1] @ mass)
        return law / law.sum()

    def __enter__(self) -> AboveThreshold:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        threshold = float(self._threshold)
        public = f"epsilon={self._epsilon!r}, sensitivity={self._sensitivity!r}, positives={self.positives}"
        level = f", level={float(self._rates.level)!r}" if self._rates.level else ""
        protects = f", neighbours={str(self._neighbours)!r}"
        return f"AboveThreshold({threshold!r}, {public}, moves={str(self.moves)!r}{level}{protects})"

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise SelectionError(
            "A stream holds a secret offset, so it cannot be copied, pickled or sent to another process: begin another "
            "stream there, and charge it anew."
        )


def _checked(value: object) -> Fraction:
    try:
        return exact_number(value, "value")
    except InvalidParameterError:
        _refuse_value()


def _refuse_value() -> NoReturn:
    got = Shown("<not a finite number, or one beyond all doubles>")
    raise InvalidDataError("value", got, "a finite number, below 2^1024 in size") from None
