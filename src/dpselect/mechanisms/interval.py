"""The exponential mechanism over an interval of real numbers, or for any score on a public grid."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal, cast

import numpy as np
import numpy.typing as npt

from dpselect._native import _core
from dpselect.checks import finite_bounds, function
from dpselect.errors import InvalidParameterError, InvalidScoresError, Shown
from dpselect.grids import Grid
from dpselect.mechanisms.base import RangedMechanism, native_grid, shortest
from dpselect.mechanisms.exponential import ExponentialMechanism
from dpselect.mechanisms.laws import Gaps
from dpselect.mechanisms.scores import NumericArray, ScoresLike, finite_scores, plain_points

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class IntervalMechanism(RangedMechanism):
    r"""Draws a real number with density proportional to :math:`e^{s(x)/b}`, for a score that is constant on pieces.

    The exponential mechanism with the lengths of the pieces as its public base measure: `epsilon`-DP and
    `epsilon`-bounded-range. The outer ends of the pieces are public; the breakpoints between them may come from the
    data (as for a quantile), as long as the score *at every point* changes by at most `sensitivity` between neighbours.

    Proof: ``proofs/interval_mechanism.md``. Source: McSherry & Talwar (2007).

    >>> import numpy as np
    >>> mechanism = IntervalMechanism(epsilon=2.0, sensitivity=1.0)
    >>> breakpoints, scores = [0.0, 1.0, 4.0], np.log([3.0, 1.0])
    >>> mechanism.interval_probabilities(breakpoints, scores)
    array([0.5, 0.5])
    >>> 0.0 <= mechanism.draw(breakpoints, scores) <= 4.0
    True
    """

    _sampler: _core.IntervalSampler = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        RangedMechanism.__post_init__(self)
        self._set(_sampler=_core.IntervalSampler(*self.terms))

    @property
    def terms(self) -> tuple[float, float, Literal[1, 2]]:
        """Epsilon, sensitivity and the factor of the scale, on which the scale depends."""
        return self.epsilon, self.sensitivity, self._factor

    def draw(self, breakpoints: ScoresLike, scores: ScoresLike) -> float:
        """Draw one point, at the cost of `epsilon`.

        Args:
            breakpoints: shape ``(n + 1,)``, finite, never decreasing, the last above the first. The score is
                ``scores[i]`` from ``breakpoints[i]`` to ``breakpoints[i + 1]``; pieces of no length are never drawn.
            scores: shape ``(n,)``, finite.

        Returns:
            A real number between the outer breakpoints, rounded once to the nearest double.

        Raises:
            InvalidParameterError: `breakpoints` or `scores` is invalid. Nothing is drawn.

        Proof that the draw is exact: ``proofs/exact_sampling.md``.
        """
        return self._sampler.draw(*_checked(breakpoints, scores))

    def interval_probabilities(self, breakpoints: ScoresLike, scores: ScoresLike) -> FloatArray:
        """Probability of each piece. For planning with public scores and for tests: it depends on every score.

        Returns:
            Shape ``(n,)``, summing to 1.

        Raises:
            InvalidParameterError: as for `draw`.
        """
        points, heights = _checked(breakpoints, scores)
        with np.errstate(over="ignore"):
            lengths = np.diff(points)
        mantissas, exponents = np.frexp(np.where(np.isinf(lengths), points[1:] / 2.0 - points[:-1] / 2.0, lengths))
        exponents = exponents + np.isinf(lengths)
        has_length = mantissas > 0.0
        probabilities = np.zeros(heights.size)
        gaps = Gaps.below_best(heights[has_length]).scaled(
            epsilon=self.epsilon, sensitivity=self.sensitivity, factor=self._factor
        )
        logs = np.log(mantissas[has_length]) + exponents[has_length] * math.log(2.0) - gaps
        weights = np.exp(logs - logs.max())
        probabilities[has_length] = weights / weights.sum()
        return probabilities

    def cdf(self, breakpoints: ScoresLike, scores: ScoresLike, points: npt.ArrayLike) -> FloatArray:
        """Probability of a draw not above each of `points`. For planning."""
        ends, _ = _checked(breakpoints, scores)
        sums = np.concatenate([[0.0], np.cumsum(self.interval_probabilities(breakpoints, scores))])
        at = np.clip(plain_points(points), ends[0], ends[-1])
        last_with_length = np.flatnonzero(ends[1:] > ends[:-1])[-1]
        piece = np.minimum(np.searchsorted(ends, at, side="right") - 1, last_with_length)
        with np.errstate(over="ignore"):
            factor = np.where(np.isinf(ends[piece + 1] - ends[piece]), 0.5, 1.0)  # so that no length overflows
        start, end = ends[piece] * factor, ends[piece + 1] * factor
        share = (at * factor - start) / (end - start)
        return np.minimum(sums[piece] + share * (sums[piece + 1] - sums[piece]), 1.0)


def _checked(breakpoints: ScoresLike, scores: ScoresLike) -> tuple[FloatArray, FloatArray]:
    """Both as contiguous doubles."""
    points = doubles("breakpoints", breakpoints)
    heights = doubles("scores", scores)
    if points.size != heights.size + 1:
        got = Shown(f"<{points.size} of them for {heights.size} scores>")
        raise InvalidParameterError("breakpoints", got, "one more than there are scores")
    if not (np.all(points[1:] >= points[:-1]) and points[0] < points[-1]):
        expected = "numbers that never decrease, the last above the first"
        raise InvalidParameterError("breakpoints", Shown("<out of order, or all equal>"), expected)
    return points, heights


def doubles(name: str, numbers: ScoresLike) -> FloatArray:
    """`numbers` as contiguous finite doubles, exactly; or an error about the argument `name` that shows no number."""
    try:
        finite = finite_scores(numbers)
    except InvalidScoresError as refused:
        expected = refused.expected.replace("score", "number")
        raise InvalidParameterError(name, refused.got, expected) from None
    if finite.dtype.kind != "f" and np.any(np.abs(finite.astype(np.float64)) > 2.0**53):
        raise InvalidParameterError(name, Shown("<integers beyond 2**53>"), "numbers that doubles hold exactly")
    return np.ascontiguousarray(finite, dtype=np.float64)


_MOST_POINTS = 10_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class GridMechanism(RangedMechanism):
    r"""Draws a point x of a public grid with probability proportional to :math:`e^{s(x)/b}`, for any function s.

    The exponential mechanism with the grid's points as candidates: `epsilon`-DP and `epsilon`-bounded-range. The score
    is computed at every point. For a score that is constant on pieces, `IntervalMechanism` needs no grid; for all whole
    numbers, `IntegerMechanism` computes only a few scores.

    Args:
        bounds: ``(lower, upper)``, public.
        step: distance between the points, which start at `lower` and have to reach `upper` exactly. Floats are read as
            decimals. At most 10^7 points.

    Raises:
        InvalidParameterError: an argument is out of range, `step` does not divide the bounds, or too many points.

    Proof: ``proofs/exponential_mechanism.md``. Source: McSherry & Talwar (2007).

    >>> mechanism = GridMechanism(epsilon=1.0, sensitivity=1, bounds=(0, 10), step=0.01)
    >>> prices = [4.0] * 300 + [2.5] * 100
    >>> def buyers(price):               # how many would buy: a unit moves it by one
    ...     return sum(price <= offer for offer in prices) if price >= 2 else 0
    >>> 2.0 <= mechanism.draw(buyers) <= 2.5
    True
    """

    bounds: tuple[float | Fraction, float | Fraction]
    step: float | Fraction
    _grid: Grid = field(init=False, repr=False, compare=False)
    _mechanism: ExponentialMechanism = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        RangedMechanism.__post_init__(self)
        lower, upper = finite_bounds(self.bounds)
        grid = Grid.dividing(lower, upper, step=self.step)
        if grid.count > _MOST_POINTS:
            expected = f"at most {_MOST_POINTS} points, and this makes {grid.count}"
            hint = "Take a larger step, or IntervalMechanism for a score that is constant on pieces."
            raise InvalidParameterError("step", self.step, expected, hint)
        same = ExponentialMechanism(
            epsilon=self.epsilon, sensitivity=self.sensitivity, monotonic=self.monotonic, neighbours=self.neighbours
        )
        self._set(bounds=(shortest(lower), shortest(upper)))
        self._set(_grid=grid)
        self._set(_mechanism=same)

    @property
    def points(self) -> FloatArray:
        """The grid: the doubles nearest to ``lower + j * step``. Public."""
        return native_grid(self._grid).points()

    def draw(self, score: Callable[[float], object]) -> float:
        """Draw one point of the grid, at the cost of `epsilon`.

        Args:
            score: called with each point in order. Scores are finite numbers; higher is better.

        Returns:
            A point of the grid.

        Raises:
            InvalidScoresError: a score is not a finite number. Nothing is drawn then, nor if `score` itself fails.

        Proof that the draw is exact: ``proofs/exact_sampling.md``.
        """
        return self._grid.point(self._mechanism.select(self._scores(score)))

    def pmf(self, score: Callable[[float], object]) -> FloatArray:
        """Probability of each of `points`. For planning with public scores and for tests: it depends on every score."""
        return self._mechanism.pmf(self._scores(score))

    def error_bound(self, confidence: float = 0.99) -> float:
        """With probability `confidence` the score drawn is at most this far below the best on the grid, whatever it is.

        It depends on public arguments only, so it may be published.

        Proof: ``proofs/error_bounds.md``.
        """
        return self._mechanism.error_bound(self._grid.count, confidence)

    def _scores(self, score: Callable[[float], object]) -> NumericArray:
        function(score, "score", expected="a function of a point")
        return finite_scores(cast("list[float]", [score(point) for point in self.points.tolist()]))
