"""The exponential mechanism for scores of steps, lines or parabolas, over an interval or the whole line."""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dpselect._native import _core
from dpselect.accounting import BoundedRangeEvent
from dpselect.checks import boolean, finite_number, positive_count
from dpselect.errors import InvalidParameterError, InvalidScoresError, Shown
from dpselect.mechanisms.mechanism import ScaledMechanism
from dpselect.mechanisms.numbers import FloatArray, gauss_legendre
from dpselect.mechanisms.scores import ScoresLike, exact_doubles, plain_points

Slope = float | None

_MOST = sys.float_info.max
_UNBOUNDED = "Unless the score keeps falling, the range has to be bounded: its mass would be infinite."


@dataclass(frozen=True, slots=True, kw_only=True)
class PiecewiseLinearMechanism(ScaledMechanism):
    r"""Draws a real number with density proportional to :math:`e^{s(x)/b}`, for a score that is a line on each piece.

    `epsilon`-DP and `epsilon`-bounded-range. The range is public: whether there are tails, their slopes and, without
    them, the outer breakpoints. Breakpoints may come from the data, as long as the score *at every point* changes by at
    most `sensitivity` between neighbours. A line is not rounded; who rounds scores has to account for that.

    Proof: ``proofs/falling_scores.md``, ``proofs/interval_mechanism.md``. Source: McSherry & Talwar (2007).

    >>> mechanism = PiecewiseLinearMechanism(epsilon=2.0, sensitivity=1.0)
    >>> 0.0 <= mechanism.draw(breakpoints=[0.0, 1.0, 4.0], scores=[0.0, 1.0, 0.0]) <= 4.0
    True
    >>> mechanism.law([7.0], [0.0], left_slope=1.0, right_slope=-1.0).cdf([6.0, 7.0])   # the Laplace law around 7
    array([0.18393972, 0.5       ])
    """

    costs = BoundedRangeEvent

    def draw(
        self, breakpoints: ScoresLike, scores: ScoresLike, *, left_slope: Slope = None, right_slope: Slope = None
    ) -> float:
        """Draw one point, rounded once to the nearest finite double, at the cost of `epsilon`.

        Args:
            breakpoints: shape ``(n,)``, finite, never decreasing; without tails, the last above the first.
            scores: shape ``(n,)``, finite: the score at every breakpoint, joined by lines. It may jump at a breakpoint
                that occurs twice; steps are level lines between jumps.
            left_slope: if given, the range is unbounded below, and the score continues with this slope, > 0.
            right_slope: the same above the last breakpoint, < 0.
        """
        return float(self.draw_many(breakpoints, scores, 1, left_slope=left_slope, right_slope=right_slope)[0])

    def draw_many(
        self,
        breakpoints: ScoresLike,
        scores: ScoresLike,
        size: int,
        *,
        left_slope: Slope = None,
        right_slope: Slope = None,
    ) -> FloatArray:
        """Draw `size` points independently of each other, *each* at the cost of `epsilon`; see `draw`."""
        points, heights, below, above = _checked(breakpoints, scores, left_slope, right_slope)
        left = None if below is None else (float(heights[0]), below)
        right = None if above is None else (float(heights[-1]), above)
        sampler = _core.PiecewiseSampler(self.epsilon, self.sensitivity, self._factor)
        plan = sampler.plan_lines(points, heights[:-1], heights[1:], left, right)
        return plan.draw_many(positive_count(size, "size", at_most=sys.maxsize))

    def law(
        self, breakpoints: ScoresLike, scores: ScoresLike, *, left_slope: Slope = None, right_slope: Slope = None
    ) -> FallLaw:
        """The distribution of a draw. For planning with public scores: it depends on every score."""
        points, heights, below, above = _checked(breakpoints, scores, left_slope, right_slope)
        scale = _finite(self.scale)
        if below is not None:
            end = _end_of_tail(points[0], below, scale, -math.inf)
            points, heights = np.r_[end, points], np.r_[heights[0] - (points[0] - end) * below, heights]
        if above is not None:
            end = _end_of_tail(points[-1], above, scale, math.inf)
            points, heights = np.r_[points, end], np.r_[heights, heights[-1] - (end - points[-1]) * above]
        starts, ends = heights[:-1] / 2.0, heights[1:] / 2.0  # whose differences do not overflow
        tops = np.maximum(starts, ends)
        with np.errstate(over="ignore"):
            depth = (tops[points[1:] > points[:-1]].max() - tops) / scale * 2.0
            linear = np.abs(ends - starts) / scale * 2.0
        return FallLaw(points, starts >= ends, np.maximum(depth, 0.0), linear, np.zeros_like(linear))


def _finite(scale: float) -> float:
    """The nearest scale that a double holds."""
    return min(max(scale, math.ulp(0.0)), _MOST)


def _end_of_tail(start: float, fall: float, scale: float, towards: float) -> float:
    """Where a tail that falls so much for each unit is 750 scales down: doubles hold no probability beyond."""
    end = start + math.copysign(750.0 * (scale / fall), towards)
    return min(max(end, -_MOST), _MOST) if end != start else math.nextafter(start, towards)


def _checked(
    breakpoints: ScoresLike, scores: ScoresLike, left_slope: object, right_slope: object
) -> tuple[FloatArray, FloatArray, float | None, float | None]:
    """Breakpoints and their scores, and how much the score falls in each tail for each unit."""
    below = None if left_slope is None else finite_number(left_slope, "left_slope")
    above = None if right_slope is None else -finite_number(right_slope, "right_slope")
    if below is not None and not below > 0.0:
        raise InvalidParameterError("left_slope", left_slope, "a number > 0", _UNBOUNDED)
    if above is not None and not above > 0.0:
        raise InvalidParameterError("right_slope", right_slope, "a number < 0", _UNBOUNDED)
    has_tail = below is not None or above is not None
    return *_in_order("scores", breakpoints, scores, has_tail=has_tail), below, above


def _in_order(
    name: str, breakpoints: ScoresLike, numbers: ScoresLike, *, has_tail: bool
) -> tuple[FloatArray, FloatArray]:
    found: list[FloatArray] = []
    for argument, given in (("breakpoints", breakpoints), (name, numbers)):
        try:
            found.append(exact_doubles(given))
        except InvalidScoresError as refused:
            expected = refused.expected.replace("score", "number")
            raise InvalidParameterError(argument, refused.got, expected) from None
    points, each = found
    if not np.all(points[1:] >= points[:-1]):
        raise InvalidParameterError("breakpoints", Shown("<out of order>"), "numbers that never decrease")
    if each.size != points.size:
        got = Shown(f"<{each.size} of them for {points.size} breakpoints>")
        raise InvalidParameterError(name, got, "one for each breakpoint")
    if not has_tail and not points[0] < points[-1]:
        raise InvalidParameterError("breakpoints", Shown("<all equal>"), "numbers with the last above the first")
    return points, each


@dataclass(frozen=True, slots=True, kw_only=True)
class ConcaveMechanism(ScaledMechanism):
    r"""Draws a real number with density proportional to :math:`e^{s(x)/b}` for a concave score with known slopes.

    The slope is given at breakpoints and linear between them: squared, absolute and Huber losses and their sums are of
    this kind. The mechanism is `epsilon`-DP and `epsilon`-bounded-range, as long as the score *at every point* changes
    by at most `sensitivity` between neighbours, up to a constant that is the same for all points.

    Proof: ``proofs/falling_scores.md``. Source: McSherry & Talwar (2007).

    >>> mechanism = ConcaveMechanism(epsilon=2.0, sensitivity=1.0)
    >>> -1.0 <= mechanism.draw(breakpoints=[-1.0, 3.0], slopes=[2.0, -6.0]) <= 3.0      # -x**2, between -1 and 3
    True
    >>> huber = dict(breakpoints=[-1.0, 1.0], slopes=[2.0, -2.0], tails=True)   # -x**2 around 0, lines further out
    >>> mechanism.law(**huber).cdf([0.0, 1.0])
    array([0.5       , 0.90118884])
    """

    costs = BoundedRangeEvent

    def draw(self, breakpoints: ScoresLike, slopes: ScoresLike, *, tails: bool = False) -> float:
        """Draw one point, rounded once to the nearest finite double, at the cost of `epsilon`.

        Args:
            breakpoints: shape ``(n,)``, finite, never decreasing; without tails, the last above the first. The slope
                may jump at a breakpoint that occurs twice: the score has a kink there.
            slopes: shape ``(n,)``, finite, never increasing: of the score, at the breakpoints.
            tails: the range is the whole line, and the score continues with the first and the last slope, which have to
                fall outwards: > 0 and < 0.
        """
        return float(self.draw_many(breakpoints, slopes, 1, tails=tails)[0])

    def draw_many(self, breakpoints: ScoresLike, slopes: ScoresLike, size: int, *, tails: bool = False) -> FloatArray:
        """Draw `size` points independently of each other, *each* at the cost of `epsilon`; see `draw`."""
        points, leaning = _checked_slopes(breakpoints, slopes, tails)
        sampler = _core.PiecewiseSampler(self.epsilon, self.sensitivity, self._factor)
        return sampler.plan_concave(points, leaning, tails).draw_many(positive_count(size, "size", at_most=sys.maxsize))

    def law(self, breakpoints: ScoresLike, slopes: ScoresLike, *, tails: bool = False) -> FallLaw:
        """The distribution of a draw. For planning with public scores: it depends on every slope."""
        points, leaning = _checked_slopes(breakpoints, slopes, tails)
        scale = _finite(self.scale)
        if tails:
            first = _end_of_tail(points[0], leaning[0], scale, -math.inf)
            last = _end_of_tail(points[-1], -leaning[-1], scale, math.inf)
            points, leaning = np.r_[first, points, last], np.r_[leaning[0], leaning, leaning[-1]]
        # Between breakpoints a rising part and a falling part; one of them may have no length.
        lengths, before, after = np.diff(points), leaning[:-1], leaning[1:]
        bend = np.where(before > after, before - after, 1.0)
        share = np.where(before <= 0.0, 0.0, np.where(after >= 0.0, 1.0, before / bend))
        middle = np.where(share == 1.0, points[1:], points[:-1] + share * lengths)
        scores = np.concatenate([[0.0], np.cumsum((before + after) / 2.0 * lengths)])
        tops = np.repeat(scores[:-1] + (before + np.maximum(after, 0.0)) / 2.0 * share * lengths, 2)

        edges = np.append(np.c_[points[:-1], middle].ravel(), points[-1])
        shares = np.c_[share, 1.0 - share].ravel()
        spans = shares * np.repeat(lengths, 2)
        with np.errstate(over="ignore"):
            linear = np.c_[np.maximum(after, 0.0), np.maximum(-before, 0.0)].ravel() * spans / scale
            quadratic = np.repeat(before - after, 2) / 2.0 * shares * spans / scale
            depth = (tops[edges[1:] > edges[:-1]].max() - tops) / scale
        return FallLaw(edges, np.tile([False, True], lengths.size), np.maximum(depth, 0.0), linear, quadratic)


def _checked_slopes(breakpoints: ScoresLike, slopes: ScoresLike, tails: object) -> tuple[FloatArray, FloatArray]:
    has_tail = boolean(tails, "tails")
    points, leaning = _in_order("slopes", breakpoints, slopes, has_tail=has_tail)
    if not np.all(leaning[1:] <= leaning[:-1]):
        hint = "The slope of a concave score never increases."
        raise InvalidParameterError("slopes", Shown("<out of order>"), "numbers that never increase", hint)
    if tails and not (leaning[0] > 0.0 > leaning[-1]):
        expected = "a first one > 0 and a last one < 0"
        raise InvalidParameterError("slopes", Shown("<tails that do not fall>"), expected, _UNBOUNDED)
    return points, leaning


@dataclass(frozen=True, slots=True)
class FallLaw:
    r"""The law of a draw: on each piece the density is that at its top times :math:`e^{-D \tau - Q \tau^2}`.

    Attributes:
        edges: shape ``(m + 1,)``, between the m pieces; a tail ends where no double holds its density.
        is_upward: the top of the piece is its lower end.
        depth: how far the score at the top is below the best one, in scales.
        linear, quadratic: D and Q, with :math:`\tau` the distance from the top as a share of the piece's length.
    """

    edges: FloatArray
    is_upward: npt.NDArray[np.bool_]
    depth: FloatArray
    linear: FloatArray
    quadratic: FloatArray

    def masses(self) -> FloatArray:
        """Probability of each piece, in their order."""
        with np.errstate(divide="ignore"):  # pieces of no length have no mass
            logs = np.log(np.diff(self.edges / 2.0)) + _log_integral(self.linear, self.quadratic) - self.depth
        masses = np.exp(logs - logs.max())
        return masses / masses.sum()

    def cdf(self, points: npt.ArrayLike) -> FloatArray:
        """Probability of a point not above each of `points`, with an error of about 1e-12."""
        at = plain_points(points)
        halves = self.edges / 2.0  # whose differences do not overflow
        has_length = np.flatnonzero(np.diff(halves) > 0.0)
        piece = has_length[np.maximum(np.searchsorted(self.edges[has_length], at, side="right") - 1, 0)]
        low, high, is_upward = halves[piece], halves[piece + 1], self.is_upward[piece]
        share = np.clip(np.where(is_upward, at / 2.0 - low, high - at / 2.0) / (high - low), 0.0, 1.0)
        masses, beyond = self.masses(), self._beyond(share, piece)
        sums = np.concatenate([[0.0], np.cumsum(masses)])
        inside = np.minimum(sums[piece] + masses[piece] * np.where(is_upward, 1.0 - beyond, beyond), 1.0)
        return np.where(at < self.edges[0], 0.0, np.where(at > self.edges[-1], 1.0, inside))

    def _beyond(self, share: FloatArray, piece: npt.NDArray[np.intp]) -> FloatArray:
        """The part of a piece's mass that is farther from its top than a share of its length."""
        linear, quadratic, rest = self.linear[piece], self.quadratic[piece], 1.0 - share
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            slope = np.where(quadratic == 0.0, linear, linear + 2.0 * quadratic * share) * rest
            above = np.log(rest) + _log_integral(slope, quadratic * rest**2)
            fall = np.where(share == 0.0, 0.0, (linear + quadratic * share) * share)
            inside = np.exp(above - _log_integral(linear, quadratic) - fall)
        return np.where(share == 1.0, 0.0, inside)


def _log_integral(linear: FloatArray, quadratic: FloatArray) -> FloatArray:
    r"""Logarithm of :math:`\int_0^1 e^{-D \tau - Q \tau^2} d\tau` for D, Q >= 0."""
    from scipy import special  # not loaded with the package, because draws do not need it

    rule, d, q = gauss_legendre(16), np.minimum(linear, 1e300), np.minimum(quadratic, 1e300)
    # If the fall is small, sixteen nodes have an error below 1e-16. Otherwise nothing cancels in the formulas.
    small_d, small_q = np.minimum(d, 2.0)[..., np.newaxis], np.minimum(q, 2.0)[..., np.newaxis]
    gentle = np.log((np.exp(-(small_d + small_q * rule.nodes) * rule.nodes) * rule.weights).sum(axis=-1))
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        straight = np.log(-np.expm1(-d)) - np.log(d)
        root = np.sqrt(q)
        z = d / (2.0 * root)
        curved = np.log(special.erfcx(z) - np.exp(-(d + q)) * special.erfcx(z + root))
        curved += math.log(math.pi) / 2.0 - math.log(2.0) - np.log(root)
        is_straight = (q == 0.0) | (z > 1e8)
    return np.where(d + q < 2.0, gentle, np.where(is_straight, straight, curved))
