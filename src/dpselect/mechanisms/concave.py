"""The exponential mechanism for a concave score given by its slopes."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from dpselect._native import _core
from dpselect.accounting import BoundedRangeEvent
from dpselect.checks import boolean
from dpselect.errors import InvalidParameterError, Shown
from dpselect.mechanisms.fall_law import FallLaw, FloatArray, Scale
from dpselect.mechanisms.interval import doubles
from dpselect.mechanisms.plans import NumberPlan
from dpselect.mechanisms.scaled import ScaledMechanism
from dpselect.mechanisms.score_vectors import ScoresLike


@dataclass(frozen=True, slots=True, kw_only=True)
class ConcaveMechanism(ScaledMechanism):
    r"""Draws a real number with density proportional to :math:`e^{s(x)/b}` for a concave score with known slopes.

    The slope of the score is given at breakpoints and is linear between them, so the score consists of parabolas and
    lines: squared, absolute and Huber losses and their sums are of this kind. Adding a constant to a score does not
    change the distribution, so slopes are enough. The mechanism is `epsilon`-DP and `epsilon`-bounded-range, as long as
    the score *at every point* changes by at most `sensitivity` between neighbours, up to a constant that is the same
    for all points.

    Args and Raises: see `ScaledMechanism`.

    Proof: ``proofs/falling_scores.md``. Source: McSherry & Talwar (2007).

    >>> mechanism = ConcaveMechanism(epsilon=2.0, sensitivity=1.0)
    >>> squared = dict(breakpoints=[-1.0, 3.0], slopes=[2.0, -6.0])      # -x**2, between -1 and 3
    >>> -1.0 <= mechanism.draw(**squared) <= 3.0
    True
    >>> huber = dict(breakpoints=[-1.0, 1.0], slopes=[2.0, -2.0], tails=True)   # -x**2 around 0, lines further out
    >>> mechanism.cdf(**huber, points=[0.0, 1.0])
    array([0.5       , 0.90118884])
    """

    _sampler: _core.PiecewiseSampler = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        ScaledMechanism.__post_init__(self)
        self._set(_sampler=_core.PiecewiseSampler(self.epsilon, self.sensitivity, self._factor))

    @property
    def event(self) -> BoundedRangeEvent:
        """What one draw costs, for accounting; it does not depend on the data."""
        return BoundedRangeEvent(epsilon=self.epsilon)

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

        Args and Raises: as for `draw`.

        Returns:
            A plan. It holds the slopes, so it is as private as they are.

        >>> plan = ConcaveMechanism(epsilon=2.0, sensitivity=1.0).plan([-1.0, 3.0], [2.0, -6.0])
        >>> -1.0 <= plan.draw() <= 3.0
        True
        """
        points, leaning = _checked(breakpoints, slopes, tails)
        return NumberPlan(self._sampler.plan_concave(points, leaning, tails), event=self.event)

    def cdf(
        self, breakpoints: ScoresLike, slopes: ScoresLike, points: npt.ArrayLike, *, tails: bool = False
    ) -> FloatArray:
        """Probability of a draw not above each of `points`. For planning with public scores.

        Raises:
            InvalidParameterError: as for `draw`.
        """
        return self._law(*_checked(breakpoints, slopes, tails), tails).cdf(points)

    def pdf(
        self, breakpoints: ScoresLike, slopes: ScoresLike, points: npt.ArrayLike, *, tails: bool = False
    ) -> FloatArray:
        """Density at each of `points`; 0 outside. For planning.

        Raises:
            InvalidParameterError: as for `draw`.
        """
        return self._law(*_checked(breakpoints, slopes, tails), tails).pdf(points)

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


def _checked(breakpoints: ScoresLike, slopes: ScoresLike, tails: object) -> tuple[FloatArray, FloatArray]:
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
