"""Quantiles by the exponential mechanism, without sorting the values."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from dpselect._native import _core
from dpselect.accounting import BoundedRangeEvent
from dpselect.checks import finite_bounds, positive_count, quantile_level
from dpselect.errors import InvalidParameterError, InvalidScoresError
from dpselect.grids import Grid
from dpselect.mechanisms.base import MechanismValue, native_grid, shortest
from dpselect.mechanisms.explained import explained_as
from dpselect.mechanisms.interval import FloatArray, IntervalMechanism
from dpselect.mechanisms.scores import ScoresLike, native_scores, plain_points, plain_values, refused_values
from dpselect.privacy import Neighbours, neighbouring_relation


@dataclass(frozen=True, slots=True, kw_only=True)
class RankMechanism(MechanismValue):
    """What draws numbers by their rank among the values, between public bounds."""

    epsilon: float
    bounds: tuple[float | Fraction, float | Fraction]
    step: float | Fraction | None = None
    neighbours: Neighbours = Neighbours.ADD_REMOVE
    values_per_unit: int = 1
    _ends: tuple[float, float] = field(init=False, repr=False, compare=False)
    _grid: Grid | None = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        lower, upper = finite_bounds(self.bounds)
        per_unit = positive_count(self.values_per_unit, "values_per_unit")
        neighbours = neighbouring_relation(self.neighbours)
        grid = None if self.step is None else Grid.dividing(lower, upper, step=self.step)
        self._set(
            bounds=(shortest(lower), shortest(upper)),
            step=None if grid is None else shortest(grid.step),
            neighbours=neighbours,
            values_per_unit=per_unit,
            _ends=(float(lower), float(upper)),
            _grid=grid,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class QuantileMechanism(RankMechanism):
    r"""Draws the quantile at `level` with density :math:`e^{-|\#\{v < o\} - level \cdot n|/b}` over the bounds.

    With a `step` the answer is a point of a public grid. Each value counts as the nearest point (or the lower one if it
    is midway), and a point that holds many values is correct for all their ranks. Use a step for values that repeat
    (ages, prices). Without one, the answer never equals a value, and equal values have no length.

    Args:
        neighbours: which data sets the guarantee compares. The sensitivity is ``max(level, 1 - level)`` under
            ``"add_remove"``, 1 under ``"replace_one"``, times `values_per_unit`. At levels 0 and 1 adding or removing a
            unit changes the scores of all answers in one direction, which halves the noise.

    Raises:
        InvalidParameterError: an argument is out of range, or `step` does not divide the bounds.

    Proof: ``proofs/quantiles.md``; for more than one value of a unit ``proofs/unit_values.md``. Source: Smith (2011).

    >>> mechanism = QuantileMechanism(epsilon=1.0, level=0.5, bounds=(0, 120), step=1)
    >>> mechanism.sensitivity, mechanism.scale
    (0.5, 1.0)
    >>> highest = QuantileMechanism(epsilon=1.0, level=1, bounds=(0, 120), step=1)
    >>> highest.sensitivity, highest.monotonic, highest.scale
    (1.0, True, 1.0)
    >>> ages = [37] * 1000 + [20, 60]
    >>> mechanism.draw(ages)
    37.0
    """

    level: float
    _mechanism: IntervalMechanism = field(init=False, repr=False, compare=False)
    _sampler: _core.IntervalSampler = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        RankMechanism.__post_init__(self)
        self._set(level=quantile_level(self.level))
        exact, is_added = Fraction(self.level), self.neighbours is Neighbours.ADD_REMOVE
        sensitivity = self.values_per_unit * (max(exact, 1 - exact) if is_added else Fraction(1))
        mechanism = IntervalMechanism(
            epsilon=self.epsilon,
            sensitivity=sensitivity,  # type: ignore[arg-type] # rounded up there
            monotonic=moves_one_way(self.level, self.neighbours),
            neighbours=self.neighbours,
        )
        self._set(epsilon=mechanism.epsilon, _mechanism=mechanism, _sampler=_core.IntervalSampler(*mechanism.terms))

    @property
    def sensitivity(self) -> float:
        """Largest change of the score of any answer between neighbours, in ranks."""
        return self._mechanism.sensitivity

    @property
    def monotonic(self) -> bool:
        """Whether one unit changes all scores in the same direction: at levels 0 and 1 under add/remove."""
        return self._mechanism.monotonic

    @property
    def scale(self) -> float:
        """The scale b = 2 * sensitivity / epsilon, or half of it if `monotonic`, in ranks."""
        return self._mechanism.scale

    @property
    def event(self) -> BoundedRangeEvent:
        return self._mechanism.event

    def draw(self, values: ScoresLike) -> float:
        """Draw the quantile of `values`, at the cost of `epsilon`.

        Returns:
            A number within the bounds (rounded once to the nearest double), or a point of the grid.

        About one pass over the values. Proof that the draw is exact: ``proofs/exact_sampling.md``.
        """
        try:
            native = native_scores(values)
            if self._grid is None:
                return self._sampler.quantile(native, self.level, *self._ends)
            return self._sampler.grid_quantile(native, self.level, native_grid(self._grid))
        except InvalidScoresError as refused:
            problem = refused_values(refused)
        raise problem

    def cdf(self, values: ScoresLike, points: npt.ArrayLike) -> FloatArray:
        """Probability of an answer not above each of `points`, if the values were these. To plan with public values."""
        at = plain_points(points)
        if self._grid is not None:
            sums = np.concatenate([[0.0], np.cumsum(self._grid_law(values, self._grid))])
            not_above = np.searchsorted(native_grid(self._grid).points(), at, side="right")
            return np.minimum(sums[not_above], 1.0)
        sorted_values = np.sort(plain_values(values).clip(*self._ends))
        ends = np.concatenate([[self._ends[0]], sorted_values, [self._ends[1]]])
        ranks = np.arange(sorted_values.size + 1, dtype=np.float64)
        inside = self._mechanism.cdf(ends, -np.abs(ranks - self.level * sorted_values.size), at)
        return np.where(at < self._ends[0], 0.0, inside)

    def pmf(self, values: ScoresLike) -> FloatArray:
        """Probability of every point of the grid, in increasing order, if the values were these. For planning.

        Raises:
            InvalidParameterError: there is no `step`, or there would be more than ten million points.
        """
        if self._grid is None:
            raise InvalidParameterError("step", None, "a step; without a grid there is only a density, see `cdf`")
        return self._grid_law(values, self._grid)

    def _grid_law(self, values: ScoresLike, grid: Grid) -> FloatArray:
        if grid.count > _MOST_POINTS:
            raise InvalidParameterError("step", self.step, f"a grid of at most {_MOST_POINTS} points here")
        positions = native_grid(grid).nearest(plain_values(values))
        up_to = np.cumsum(np.bincount(positions.astype(np.int64), minlength=grid.count))
        below = np.concatenate([[0], up_to[:-1]])
        target = self.level * positions.size
        scores = -np.maximum(0.0, np.maximum(below - target, target - up_to))
        weights = np.exp((scores - scores.max()) / self.scale)
        return weights / weights.sum()


_MOST_POINTS = 10_000_000


def moves_one_way(level: float, neighbours: Neighbours) -> bool:
    """Whether a unit changes the rank scores of all numbers in the same direction: true for the two extremes.

    Proof: ``proofs/quantiles.md``, claim 3.

    >>> moves_one_way(1.0, Neighbours.ADD_REMOVE), moves_one_way(0.5, Neighbours.ADD_REMOVE)
    (True, False)
    """
    return level in (0.0, 1.0) and neighbours is Neighbours.ADD_REMOVE


@explained_as(QuantileMechanism)
def quantile(
    values: ScoresLike,
    level: float,
    *,
    bounds: tuple[float | Fraction, float | Fraction],
    epsilon: float,
    step: float | Fraction | None = None,
    neighbours: Neighbours | str = Neighbours.ADD_REMOVE,
) -> float:
    """Draw the quantile at `level` of `values`, one value per unit, at the cost of `epsilon`.

    Returns:
        A number within `bounds`; with a `step`, one of ``lower, lower + step, ..., upper``.

    Proof: ``proofs/quantiles.md``. Source: Smith (2011).

    >>> 70 < quantile(range(1000), 0.1, bounds=(0, 1000), epsilon=1.0) < 130
    True
    """
    mechanism = QuantileMechanism(
        epsilon=epsilon,
        level=level,
        bounds=bounds,
        step=step,
        neighbours=neighbouring_relation(neighbours),
    )
    return mechanism.draw(values)


@explained_as(QuantileMechanism)
def median(
    values: ScoresLike,
    *,
    bounds: tuple[float | Fraction, float | Fraction],
    epsilon: float,
    step: float | Fraction | None = None,
    neighbours: Neighbours | str = Neighbours.ADD_REMOVE,
) -> float:
    """Draw the median of `values`: `quantile` at level one half.

    >>> median([37.0] * 1000, bounds=(0, 120), step=1, epsilon=1.0)
    37.0
    """
    return quantile(values, 0.5, bounds=bounds, epsilon=epsilon, step=step, neighbours=neighbours)
