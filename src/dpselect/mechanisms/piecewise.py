"""The exponential mechanism for scores that consist of lines or of parabolas, over an interval or the whole line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from dpselect._native import _core
from dpselect.checks import boolean, finite_number
from dpselect.errors import InvalidParameterError, Shown
from dpselect.mechanisms.base import NumberPlan, RangedMechanism
from dpselect.mechanisms.fall_law import FallLaw, FloatArray, Scale
from dpselect.mechanisms.interval import doubles
from dpselect.mechanisms.scores import ScoresLike


@dataclass(frozen=True, slots=True, kw_only=True)
class FallingScore(RangedMechanism):
    """The base of mechanisms whose score falls from the top of each piece as a line or a parabola."""

    _sampler: _core.PiecewiseSampler = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        RangedMechanism.__post_init__(self)
        self._set(_sampler=_core.PiecewiseSampler(self.epsilon, self.sensitivity, self._factor))


@dataclass(frozen=True, slots=True, kw_only=True)
class PiecewiseLinearMechanism(FallingScore):
    r"""Draws a real number with density proportional to :math:`e^{s(x)/b}`, for a score that is a line on each piece.

    The exponential mechanism with length as its public base measure: `epsilon`-DP and `epsilon`-bounded-range. The
    range is public: whether there are tails and, without them, the outer breakpoints. So are the slopes of tails,
    because scores with different slopes differ by any amount far enough out. The breakpoints may come from the data, as
    long as the score *at every point* changes by at most `sensitivity` between neighbours. Between breakpoints the
    score is that of the line as a real number, without rounding. If the scores were rounded before, the caller has to
    account for that.

    Proof: ``proofs/falling_scores.md``. Source: McSherry & Talwar (2007).

    >>> mechanism = PiecewiseLinearMechanism(epsilon=2.0, sensitivity=1.0)
    >>> tent = dict(breakpoints=[0.0, 1.0, 4.0], scores=[0.0, 1.0, 0.0])
    >>> mechanism.cdf(**tent, points=[1.0, 4.0])
    array([0.25, 1.  ])
    >>> 0.0 <= mechanism.draw(**tent) <= 4.0
    True
    >>> mechanism.cdf([7.0], [0.0], [6.0, 7.0], left_slope=1.0, right_slope=-1.0)   # the Laplace law around 7
    array([0.18393972, 0.5       ])
    """

    def draw(
        self,
        breakpoints: ScoresLike,
        scores: ScoresLike,
        *,
        left_slope: float | None = None,
        right_slope: float | None = None,
    ) -> float:
        """Draw one point, at the cost of `epsilon`.

        Args:
            breakpoints: shape ``(n + 1,)``, finite, never decreasing; without tails, the last above the first.
            scores: finite; shape ``(n + 1,)``, the score at every breakpoint, joined by lines; or shape ``(n, 2)``, the
                score of every piece at its lower and its upper end, so that it may jump at breakpoints.
            left_slope: if given, the range is unbounded below, and the score continues with this slope, > 0.
            right_slope: the same above the last breakpoint, < 0.

        Returns:
            A real number, rounded once to the nearest finite double.

        Raises:
            InvalidParameterError: an argument is invalid, or a tail does not fall, so that there would be no density.
                Nothing is drawn.

        Proof that the draw is exact: ``proofs/falling_scores.md``.
        """
        return self.plan(breakpoints, scores, left_slope=left_slope, right_slope=right_slope).draw()

    def plan(
        self,
        breakpoints: ScoresLike,
        scores: ScoresLike,
        *,
        left_slope: float | None = None,
        right_slope: float | None = None,
    ) -> NumberPlan:
        """Prepare many draws, each of which costs `epsilon`; planning itself costs nothing.

        Returns:
            A plan. It holds the scores, so it is as private as they are.

        >>> mechanism = PiecewiseLinearMechanism(epsilon=2.0, sensitivity=1.0)
        >>> plan = mechanism.plan([0.0, 1.0, 4.0], [0.0, 1.0, 0.0])
        >>> plan.draw_many(5).shape, plan.event == mechanism.event
        ((5,), True)
        """
        points, starts, ends = _checked(breakpoints, scores)
        below, above = _tails(left_slope, right_slope)
        _check_range(points, has_tail=below is not None or above is not None)
        tails = _tail(scores_at=starts, end=0, slope=below), _tail(scores_at=ends, end=-1, slope=above)
        native = self._sampler.plan_lines(points, starts[: points.size - 1], ends[: points.size - 1], *tails)
        return NumberPlan(native, event=self.event)

    def cdf(
        self,
        breakpoints: ScoresLike,
        scores: ScoresLike,
        points: npt.ArrayLike,
        *,
        left_slope: float | None = None,
        right_slope: float | None = None,
    ) -> FloatArray:
        """Probability of a draw not above each of `points`, with an error about 1e-14. For planning."""
        return self._law(breakpoints, scores, left_slope, right_slope).cdf(points)

    def pdf(
        self,
        breakpoints: ScoresLike,
        scores: ScoresLike,
        points: npt.ArrayLike,
        *,
        left_slope: float | None = None,
        right_slope: float | None = None,
    ) -> FloatArray:
        """Density at each of `points`, at a breakpoint that of the piece above it; 0 outside. For planning."""
        return self._law(breakpoints, scores, left_slope, right_slope).pdf(points)

    def _law(
        self, breakpoints: ScoresLike, scores: ScoresLike, left_slope: float | None, right_slope: float | None
    ) -> FallLaw:
        points, starts, ends = _checked(breakpoints, scores)
        below, above = _tails(left_slope, right_slope)
        _check_range(points, has_tail=below is not None or above is not None)
        scale = Scale.of(epsilon=self.epsilon, sensitivity=self.sensitivity, factor=self._factor)
        low, high, rate = points[:-1], points[1:], np.ones(points.size - 1)
        first, last = starts[0], ends[-1]
        starts, ends = starts[: low.size], ends[: low.size]
        if below is not None:
            low, high, rate = np.r_[-np.inf, low], np.r_[points[0], high], np.r_[below, rate]
            starts, ends = np.r_[first, starts], np.r_[first, ends]
        if above is not None:
            low, high, rate = np.r_[low, points[-1]], np.r_[high, np.inf], np.r_[rate, above]
            starts, ends = np.r_[starts, last], np.r_[ends, last]
        is_tail = np.isinf(low) | np.isinf(high)
        is_upward = np.where(is_tail, np.isinf(high), starts >= ends)
        tops = np.maximum(starts, ends)
        linear = np.where(is_tail, 1.0, scale.drops(starts, ends))
        depth = scale.drops(tops, np.full_like(tops, tops[high > low].max()))
        return FallLaw(low, high, is_upward, depth, linear, np.zeros_like(linear), rate, scale)


def _checked(breakpoints: ScoresLike, scores: ScoresLike) -> tuple[FloatArray, FloatArray, FloatArray]:
    """The breakpoints, and the scores at the lower and the upper ends of the pieces (at least one each)."""
    points = doubles("breakpoints", breakpoints)
    if not np.all(points[1:] >= points[:-1]):
        raise InvalidParameterError("breakpoints", Shown("<out of order>"), "numbers that never decrease")
    columns = _columns(scores)
    if columns is None:
        heights = doubles("scores", scores)
        if heights.size != points.size:
            got = Shown(f"<{heights.size} of them for {points.size} breakpoints>")
            raise InvalidParameterError("scores", got, "one for each breakpoint, or a pair for each piece")
        return points, heights[: max(points.size - 1, 1)], heights[min(points.size - 1, 1) :]
    starts, ends = (doubles("scores", column) for column in columns)
    if starts.size + 1 != points.size:
        got = Shown(f"<{starts.size} pairs for {points.size} breakpoints>")
        raise InvalidParameterError("scores", got, "one for each breakpoint, or a pair for each piece")
    return points, starts, ends


def _columns(scores: ScoresLike) -> tuple[ScoresLike, ScoresLike] | None:
    """The two columns of `scores`, if they are pairs."""
    if isinstance(scores, (list, tuple)):
        rows = cast("Sequence[object]", scores)
        if rows and all(isinstance(row, (list, tuple)) and len(cast("Sequence[object]", row)) == 2 for row in rows):
            both = cast("Sequence[Sequence[float]]", rows)
            return [pair[0] for pair in both], [pair[1] for pair in both]
    pairs = cast("npt.NDArray[Any]", scores) if isinstance(scores, np.ndarray) else None
    if pairs is not None and pairs.ndim == 2 and pairs.shape[1] == 2:
        return pairs[:, 0], pairs[:, 1]
    return None


def _check_range(points: FloatArray, *, has_tail: bool) -> None:
    if not has_tail and not points[0] < points[-1]:
        raise InvalidParameterError("breakpoints", Shown("<all equal>"), "numbers with the last above the first")


def _tails(left_slope: object, right_slope: object) -> tuple[float | None, float | None]:
    """How much the score falls for each unit away from the breakpoints."""
    hint = "Unless the score keeps falling, the range has to be bounded: its mass would be infinite."
    below = None if left_slope is None else finite_number(left_slope, "left_slope")
    above = None if right_slope is None else -finite_number(right_slope, "right_slope")
    if below is not None and not below > 0.0:
        raise InvalidParameterError("left_slope", left_slope, "a number > 0", hint)
    if above is not None and not above > 0.0:
        raise InvalidParameterError("right_slope", right_slope, "a number < 0", hint)
    return below, above


def _tail(*, scores_at: FloatArray, end: int, slope: float | None) -> tuple[float, float] | None:
    return None if slope is None else (float(scores_at[end]), slope)


@dataclass(frozen=True, slots=True, kw_only=True)
class ConcaveMechanism(FallingScore):
    r"""Draws a real number with density proportional to :math:`e^{s(x)/b}` for a concave score with known slopes.

    The slope of the score is given at breakpoints and is linear between them, so the score consists of parabolas and
    lines: squared, absolute and Huber losses and their sums are of this kind. Adding a constant to a score does not
    change the distribution, so slopes are enough. The mechanism is `epsilon`-DP and `epsilon`-bounded-range, as long as
    the score *at every point* changes by at most `sensitivity` between neighbours, up to a constant that is the same
    for all points.

    Proof: ``proofs/falling_scores.md``. Source: McSherry & Talwar (2007).

    >>> mechanism = ConcaveMechanism(epsilon=2.0, sensitivity=1.0)
    >>> squared = dict(breakpoints=[-1.0, 3.0], slopes=[2.0, -6.0])      # -x**2, between -1 and 3
    >>> -1.0 <= mechanism.draw(**squared) <= 3.0
    True
    >>> huber = dict(breakpoints=[-1.0, 1.0], slopes=[2.0, -2.0], tails=True)   # -x**2 around 0, lines further out
    >>> mechanism.cdf(**huber, points=[0.0, 1.0])
    array([0.5       , 0.90118884])
    """

    def draw(self, breakpoints: ScoresLike, slopes: ScoresLike, *, tails: bool = False) -> float:
        """Draw one point, at the cost of `epsilon`.

        Args:
            breakpoints: shape ``(n,)``, finite, never decreasing; without tails, the last above the first. The slope
                may jump at a breakpoint that occurs twice: the score has a kink there.
            slopes: shape ``(n,)``, finite, never increasing: of the score, at the breakpoints.
            tails: the range is the whole line, and the score continues with the first and the last slope, which have to
                fall outwards: > 0 and < 0.

        Returns:
            A real number, rounded once to the nearest finite double.

        Raises:
            InvalidParameterError: an argument is invalid. Nothing is drawn.

        Proof that the draw is exact: ``proofs/falling_scores.md``.
        """
        return self.plan(breakpoints, slopes, tails=tails).draw()

    def plan(self, breakpoints: ScoresLike, slopes: ScoresLike, *, tails: bool = False) -> NumberPlan:
        """Prepare many draws, each of which costs `epsilon`; planning itself costs nothing.

        Returns:
            A plan. It holds the slopes, so it is as private as they are.

        >>> plan = ConcaveMechanism(epsilon=2.0, sensitivity=1.0).plan([-1.0, 3.0], [2.0, -6.0])
        >>> -1.0 <= plan.draw() <= 3.0
        True
        """
        points, leaning = _checked_slopes(breakpoints, slopes, tails)
        return NumberPlan(self._sampler.plan_concave(points, leaning, tails), event=self.event)

    def cdf(
        self, breakpoints: ScoresLike, slopes: ScoresLike, points: npt.ArrayLike, *, tails: bool = False
    ) -> FloatArray:
        """Probability of a draw not above each of `points`. For planning with public scores."""
        return self._law(*_checked_slopes(breakpoints, slopes, tails), tails).cdf(points)

    def pdf(
        self, breakpoints: ScoresLike, slopes: ScoresLike, points: npt.ArrayLike, *, tails: bool = False
    ) -> FloatArray:
        """Density at each of `points`; 0 outside. For planning."""
        return self._law(*_checked_slopes(breakpoints, slopes, tails), tails).pdf(points)

    def _law(self, points: FloatArray, slopes: FloatArray, tails: bool) -> FallLaw:
        """Between breakpoints a rising part and a falling part; one of them may have no length."""
        scale = Scale.of(epsilon=self.epsilon, sensitivity=self.sensitivity, factor=self._factor)
        lengths, before, after = np.diff(points), slopes[:-1], slopes[1:]
        bend = np.where(before > after, before - after, 1.0)
        share = np.where(before <= 0.0, 0.0, np.where(after >= 0.0, 1.0, before / bend))
        middle = np.where(share == 1.0, points[1:], points[:-1] + share * lengths)
        scores = np.concatenate([[0.0], np.cumsum((before + after) / 2.0 * lengths)])
        tops = scores[:-1] + (before + np.maximum(after, 0.0)) / 2.0 * share * lengths

        low, high = np.c_[points[:-1], middle].ravel(), np.c_[middle, points[1:]].ravel()
        shares = np.c_[share, 1.0 - share].ravel()
        spans = shares * np.repeat(lengths, 2)
        linear = scale.divide(np.c_[np.maximum(after, 0.0), np.maximum(-before, 0.0)].ravel(), spans)
        quadratic = scale.divide(np.repeat(before - after, 2) / 2.0 * shares, spans)
        is_upward, tops = np.tile([False, True], lengths.size), np.repeat(tops, 2)
        rate = np.ones_like(low)
        if tails:
            low, high = np.r_[-np.inf, low, points[-1]], np.r_[points[0], high, np.inf]
            linear, quadratic = np.r_[1.0, linear, 1.0], np.r_[0.0, quadratic, 0.0]
            is_upward, rate = np.r_[False, is_upward, True], np.r_[slopes[0], rate, -slopes[-1]]
            tops = np.r_[scores[0], tops, scores[-1]]
        depth = scale.divide(tops[high > low].max() - tops)
        return FallLaw(low, high, is_upward, np.maximum(depth, 0.0), linear, quadratic, rate, scale)


def _checked_slopes(breakpoints: ScoresLike, slopes: ScoresLike, tails: object) -> tuple[FloatArray, FloatArray]:
    points, leaning = doubles("breakpoints", breakpoints), doubles("slopes", slopes)
    boolean(tails, "tails")
    if leaning.size != points.size:
        got = Shown(f"<{leaning.size} of them for {points.size} breakpoints>")
        raise InvalidParameterError("slopes", got, "one for each breakpoint")
    if not np.all(points[1:] >= points[:-1]):
        raise InvalidParameterError("breakpoints", Shown("<out of order>"), "numbers that never decrease")
    if not np.all(leaning[1:] <= leaning[:-1]):
        expected = "numbers that never increase"
        raise InvalidParameterError(
            "slopes", Shown("<out of order>"), expected, "The slope of a concave score never increases."
        )
    if tails and not (leaning[0] > 0.0 > leaning[-1]):
        hint = "Unless the score keeps falling, the range has to be bounded: its mass would be infinite."
        raise InvalidParameterError(
            "slopes", Shown("<tails that do not fall>"), "a first one > 0 and a last one < 0", hint
        )
    if not tails and not points[0] < points[-1]:
        raise InvalidParameterError("breakpoints", Shown("<all equal>"), "numbers with the last above the first")
    return points, leaning
