"""The exponential mechanism on a public grid of numbers, for any score that can be computed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from dpselect.accounting import BoundedRangeEvent
from dpselect.checks import boolean, finite_bounds, function
from dpselect.errors import InvalidParameterError, InvalidScoresError, Shown
from dpselect.grids import Grid
from dpselect.mechanisms.exponential import ExponentialMechanism
from dpselect.mechanisms.native_grids import native_grid
from dpselect.mechanisms.quantile import shortest
from dpselect.mechanisms.scaled import ScaledMechanism
from dpselect.mechanisms.score_vectors import NumericArray, finite_scores

FloatArray = npt.NDArray[np.float64]
PointScore = Callable[[float], object]
VectorScore = Callable[[FloatArray], npt.ArrayLike]

_MOST_POINTS = 10_000_000
_BYTES_A_POINT = {True: 8 + 8, False: 8 + 8 + 8 + 32}
"""Bytes of a point and its score; if scores are computed one at a time, also of a list element and a Python number."""


@dataclass(frozen=True, slots=True)
class GridCost:
    """The work and memory of one draw.

    Attributes:
        evaluations: number of points at which the score is computed.
        memory: approximate number of bytes for points and scores, apart from what the score function itself needs.
    """

    evaluations: int
    memory: int


@dataclass(frozen=True, slots=True, kw_only=True)
class GridMechanism(ScaledMechanism):
    r"""Draws a point x of a public grid with probability proportional to :math:`e^{s(x)/b}`, for any function s.

    The exponential mechanism with the grid's points as candidates: `epsilon`-DP and `epsilon`-bounded-range. The score
    is computed at every point. For a score that is constant on pieces, `IntervalMechanism` needs no grid; for all whole
    numbers, `IntegerMechanism` computes only a few scores.

    Args:
        epsilon: privacy loss of one draw, > 0.
        sensitivity: the largest change of the score at any one point between neighbouring data sets, > 0.
        bounds: ``(lower, upper)``, public.
        step: distance between the points, which start at `lower` and have to reach `upper` exactly. Floats are read as
            decimals. At most 10^7 points.
        monotonic: between any two neighbours the scores at all points change in the same direction; halves the noise.
        neighbours: which data sets the guarantee compares, ``"add_remove"`` or ``"replace_one"``.

    Raises:
        InvalidParameterError: an argument is out of range, `step` does not divide the bounds, or too many points.

    Proof: ``proofs/exponential_mechanism.md``. Source: McSherry & Talwar (2007).

    >>> mechanism = GridMechanism(epsilon=1.0, sensitivity=1, bounds=(0, 10), step=0.01)
    >>> mechanism.cost
    GridCost(evaluations=1001, memory=56056)
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
        ScaledMechanism.__post_init__(self)
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
    def event(self) -> BoundedRangeEvent:
        """What one draw costs, for accounting; it does not depend on the data."""
        return BoundedRangeEvent(epsilon=self.epsilon)

    @property
    def cost(self) -> GridCost:
        """What one draw takes; known before any score is computed."""
        return GridCost(self._grid.count, self._grid.count * _BYTES_A_POINT[False])

    @property
    def points(self) -> FloatArray:
        """The grid: the doubles nearest to ``lower + j * step``. Public."""
        return native_grid(self._grid).points()

    def draw(self, score: PointScore | VectorScore, *, vectorized: bool = False) -> float:
        """Draw one point of the grid, at the cost of `epsilon`.

        Args:
            score: called with each point in order or, with `vectorized`, once with an array of all points, for which it
                has to return an array of scores. Scores are finite numbers; higher is better.

        Returns:
            A point of the grid.

        Raises:
            InvalidScoresError: a score is not a finite number, or there is not one for each point. Nothing is drawn
                then, nor if `score` itself fails.

        Proof that the draw is exact: ``proofs/exact_sampling.md``.
        """
        return self._grid.point(self._mechanism.select(self._scores(score, vectorized=vectorized)))

    def pmf(self, score: PointScore | VectorScore, *, vectorized: bool = False) -> FloatArray:
        """Probability of each of `points`. For planning with public scores and for tests: it depends on every score.

        Raises:
            InvalidScoresError: as for `draw`.
        """
        return self._mechanism.pmf(self._scores(score, vectorized=vectorized))

    def error_bound(self, confidence: float = 0.99) -> float:
        """With probability `confidence` the score drawn is at most this far below the best on the grid, whatever it is.

        It depends on public arguments only, so it may be published.

        Raises:
            InvalidParameterError: `confidence` is not strictly between 0 and 1.

        Proof: ``proofs/error_bounds.md``.
        """
        return self._mechanism.error_bound(self._grid.count, confidence)

    def _scores(self, score: PointScore | VectorScore, *, vectorized: bool) -> NumericArray:
        function(score, "score", expected="a function of a point")
        points = self.points
        if not boolean(vectorized, "vectorized"):
            each = cast(PointScore, score)
            return finite_scores(cast("list[float]", [each(point) for point in points.tolist()]))
        found = cast(VectorScore, score)(points)
        scores = finite_scores(cast(Any, found))
        if scores.size != self._grid.count:
            raise InvalidScoresError(
                "scores", Shown(f"<{scores.size} of them>"), f"{self._grid.count}, one for each point"
            )
        return scores
