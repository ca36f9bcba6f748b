"""Quantiles between bounds: one without sorting the values, several by halving or by one joint draw."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise
from typing import Literal, get_args

import numpy as np
import numpy.typing as npt

from dpselect import checks
from dpselect._native import _core
from dpselect.accounting import BoundedRangeEvent, ComposedEvent
from dpselect.errors import InvalidParameterError, InvalidScoresError, Shown
from dpselect.grids import Grid
from dpselect.mechanisms.mechanism import HasScale, MechanismValue
from dpselect.mechanisms.numbers import FloatArray, native_grid, shortest
from dpselect.mechanisms.piecewise import PiecewiseLinearMechanism
from dpselect.mechanisms.scores import ScoresLike, native_scores, plain_points, plain_values, refused_values
from dpselect.privacy import Neighbours


@dataclass(frozen=True, slots=True, kw_only=True)
class RankMechanism(MechanismValue):
    """What draws numbers by their rank among the values, between public bounds."""

    epsilon: float
    bounds: tuple[float | Fraction, float | Fraction]
    step: float | Fraction | None = None
    neighbours: Neighbours = Neighbours.ADD_REMOVE
    values_per_unit: int = 1
    _ends: tuple[float, float] = field(init=False, repr=False, compare=False)
    _grid: _core.Grid | None = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        MechanismValue.__post_init__(self)
        lower, upper = checks.finite_bounds(self.bounds)
        grid = None if self.step is None else Grid.dividing(lower, upper, step=self.step)
        step = None if grid is None else shortest(grid.step)
        self._set(bounds=(shortest(lower), shortest(upper)), step=step, _ends=(float(lower), float(upper)))
        self._set(_grid=None if grid is None else native_grid(grid))


@dataclass(frozen=True, slots=True, kw_only=True)
class QuantileMechanism(RankMechanism, HasScale):
    r"""Draws the quantile at `level` with density :math:`e^{-|\#\{v < o\} - level \cdot n|/b}` over the bounds.

    With a `step` the answer is a point of a public grid. Each value counts as the nearest point (or the lower one if it
    is midway), and a point that holds many values is correct for all their ranks. Use a step for values that repeat
    (ages, prices). Without one, the answer never equals a value, and equal values have no length. The sensitivity is
    that of `rank_sensitivity`.

    Proof: ``proofs/quantiles.md``; for more than one value of a unit ``proofs/unit_values.md``. Source: Smith (2011).

    >>> mechanism = QuantileMechanism(epsilon=1.0, level=0.5, bounds=(0, 120), step=1)
    >>> mechanism.sensitivity, mechanism.scale
    (0.5, 1.0)
    >>> mechanism.draw([37] * 1000 + [20, 60])
    37.0
    """

    costs = BoundedRangeEvent

    level: float
    sensitivity: float = field(init=False, repr=False, compare=False)
    """Largest change of the score of any answer between neighbours, in ranks."""
    monotonic: bool = field(init=False, repr=False, compare=False)
    """Whether one unit changes all scores in the same direction: at levels 0 and 1 under add-remove."""
    _sampler: _core.IntervalSampler = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        RankMechanism.__post_init__(self)
        moved, is_one_way = rank_sensitivity(
            self.level, values_per_unit=self.values_per_unit, neighbours=self.neighbours
        )
        sampler = _core.IntervalSampler(self.epsilon, moved, 1 if is_one_way else 2)
        self._set(sensitivity=moved, monotonic=is_one_way, _sampler=sampler)

    def draw(self, values: ScoresLike) -> float:
        """Draw the quantile of `values`, rounded once to the nearest double, at the cost of `epsilon`."""
        try:
            native = native_scores(values)
            if self._grid is None:
                return self._sampler.quantile(native, self.level, *self._ends)
            return self._sampler.grid_quantile(native, self.level, self._grid)
        except InvalidScoresError as refused:
            raise refused_values(refused) from None

    def cdf(self, values: ScoresLike, points: npt.ArrayLike) -> FloatArray:
        """Probability of an answer not above each of `points`, if the values were these. To plan with public values."""
        at = plain_points(points)
        if self._grid is not None:
            sums = np.concatenate([[0.0], np.cumsum(self.pmf(values))])
            not_above = np.searchsorted(self._grid.points(), at, side="right")
            return np.minimum(sums[not_above], 1.0)
        sorted_values = np.sort(plain_values(values).clip(*self._ends))
        ends = np.concatenate([[self._ends[0]], sorted_values, [self._ends[1]]])
        scores = -np.abs(np.arange(sorted_values.size + 1.0) - self.level * sorted_values.size)
        steps = PiecewiseLinearMechanism(epsilon=self.epsilon, sensitivity=self.sensitivity, monotonic=self.monotonic)
        return steps.law(np.repeat(ends, 2)[1:-1], np.repeat(scores, 2)).cdf(at)

    def pmf(self, values: ScoresLike) -> FloatArray:
        """Probability of every point of the grid, in order, if the values were these; of ten million points at most."""
        if self._grid is None:
            raise InvalidParameterError("step", None, "a step; without a grid there is only a density, see `cdf`")
        if len(self._grid) > _MOST_POINTS:
            raise InvalidParameterError("step", self.step, f"a grid of at most {_MOST_POINTS} points here")
        positions = self._grid.nearest(plain_values(values))
        up_to = np.cumsum(np.bincount(positions.astype(np.int64), minlength=len(self._grid)))
        below = np.concatenate([[0], up_to[:-1]])
        target = self.level * positions.size
        scores = -np.maximum(0.0, np.maximum(below - target, target - up_to))
        weights = np.exp((scores - scores.max()) / self.scale)
        return weights / weights.sum()


def rank_sensitivity(
    level: float, *, values_per_unit: int = 1, neighbours: Neighbours = Neighbours.ADD_REMOVE
) -> tuple[float, bool]:
    r"""How much all values of one unit can change the rank score of any number, and whether all scores fall or rise.

    It is :math:`m \max(\text{level}, 1 - \text{level})` in ranks for m values, rounded up; m if a unit is replaced. At
    levels 0 and 1 all scores fall when a unit is added, which halves the noise; at others, scores on the two sides of
    the quantile change in opposite directions.

    Proof: ``proofs/unit_values.md``; ``proofs/quantiles.md``, claim 3.
    """
    exact, is_added = Fraction(level), neighbours is Neighbours.ADD_REMOVE
    value = checks.positive_sensitivity(values_per_unit * (max(exact, 1 - exact) if is_added else 1))
    monotonic = is_added and level in (0.0, 1.0)
    return value, monotonic


QuantilesMethod = Literal["joint", "halving"]
_LARGEST_JOINT_EPSILON = 100.0  # with more, doubles could not compare the weights of ranks over millions of values
_MOST_JOINT = 50_000_000
_MOST_POINTS = 10_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class QuantilesMechanism(RankMechanism):
    r"""Draws several quantiles of the same values, which never decrease with the level.

    ``method="joint"`` draws all of them at once, with density :math:`e^{-w/b}` for increasing answers, where w is the
    number of values in a wrong group, the groups being those between the answers. ``method="halving"`` draws the middle
    answer first, then those below it from the values below it, and so on; `epsilon` is divided among the depths.

    Args:
        epsilon: privacy loss of all answers together, > 0; at most 100 if joint.
        levels: different numbers from 0 to 1, in any order.
        step: as for `QuantileMechanism`; each value is placed at random around its point, which so gets a width.
        method: ``"joint"`` or ``"halving"``. The first is more accurate for up to about twenty levels with many values
            between them, the second for more; joint takes time and memory for each level at each gap between values.

    Proof: ``proofs/joint_quantiles.md`` and, for halving, ``proofs/quantiles.md``. Sources: Gillenwater, Joseph &
    Kulesza (2021); Kaplan, Schnapp & Stemmer (2022).

    >>> mechanism = QuantilesMechanism(epsilon=3.0, levels=[0.25, 0.5, 0.75], bounds=(0, 120), step=1)
    >>> mechanism.event, mechanism.sensitivity
    (BoundedRangeEvent(epsilon=3.0), 0.75)
    >>> low, middle, high = mechanism.draw(range(120))
    >>> low <= middle <= high
    True
    """

    levels: tuple[float, ...]
    method: QuantilesMethod = "joint"
    sensitivity: float = field(init=False, repr=False, compare=False)
    """Largest change of the number of values in a wrong group by one unit; for halving, at one node of a depth."""
    monotonic: bool = field(init=False, repr=False, compare=False)
    """Whether one unit changes the scores of all answers in the same direction: with no level between 0 and 1."""
    score_range: float = field(init=False, repr=False, compare=False)
    """Largest change, by one unit, of the difference between two answers' scores; the noise is scaled to it.

    Joint and under ``"add_remove"``: that of the largest fall, for the smallest gap among 0, the levels and 1, and of
    the largest rise, for the smallest gap above 0. Otherwise twice the `sensitivity`, or once if `monotonic`.

    Proof: ``proofs/joint_quantiles.md``, claim 1.
    """
    _depth_epsilon: float = field(init=False, repr=False, compare=False)  # what one depth costs, rounded down
    _node_epsilon: float = field(init=False, repr=False, compare=False)
    """What one value more or less at a node costs; a replaced one is one removed and one added."""

    def __post_init__(self) -> None:
        RankMechanism.__post_init__(self)
        expected = "different numbers from 0 to 1, at least one"
        given = checks.members_in_order(self.levels, "levels", expected=expected)
        levels = tuple(checks.quantile_level(each, "levels") for each in given)
        if not levels or len(set(levels)) < len(levels):
            got = Shown(f"<{len(levels)} of them, {len(set(levels))} different>")
            raise InvalidParameterError("levels", got, expected)
        checks.one_of(self.method, "method", get_args(QuantilesMethod))
        if self.method == "joint" and self.epsilon > _LARGEST_JOINT_EPSILON:
            expected = f"at most {_LARGEST_JOINT_EPSILON:g} for joint quantiles"
            raise InvalidParameterError("epsilon", self.epsilon, expected, 'For a larger one use method="halving".')
        is_added = self.neighbours is Neighbours.ADD_REMOVE
        monotonic = is_added and set(levels) <= {0.0, 1.0}
        moved, apart = Fraction(1), Fraction(1 if monotonic else 2)
        if self.method == "joint" and is_added:
            ends = [Fraction(0), *map(Fraction, sorted(levels)), Fraction(1)]
            shares = [high - low for low, high in pairwise(ends)]  # of the values, in each group between the answers
            moved, apart = 1 - min(shares), 2 - min(shares) - min(share for share in shares if share > 0)
        self._set(
            levels=levels, monotonic=monotonic, sensitivity=checks.positive_sensitivity(self.values_per_unit * moved)
        )
        self._set(score_range=checks.positive_sensitivity(self.values_per_unit * apart))
        depth = checks.positive_epsilon(Fraction(self.epsilon) / len(levels).bit_length())
        node = checks.positive_epsilon(Fraction(depth) / self.neighbours.changed(self.values_per_unit))
        self._set(_depth_epsilon=depth, _node_epsilon=node)

    @property
    def event(self) -> BoundedRangeEvent | ComposedEvent:
        """What all answers together cost: one event, or one for each depth of halving."""
        if self.method == "joint":
            return BoundedRangeEvent(epsilon=self.epsilon)
        return ComposedEvent(event=BoundedRangeEvent(epsilon=self._depth_epsilon), count=len(self.levels).bit_length())

    def draw(self, values: ScoresLike) -> tuple[float, ...]:
        """Draw all quantiles of `values`, in the order of `levels`, at the cost of `epsilon` together.

        Joint, the levels times the gaps between values may be 50,000,000 at most.
        """
        increasing = sorted(self.levels)
        try:
            native = native_scores(values)
            if self.method == "joint":
                if (native.size + 1) * len(increasing) > _MOST_JOINT:
                    expected = f"at most {_MOST_JOINT:,} levels times gaps between values for joint quantiles"
                    hint = 'Use method="halving", which is more accurate from about twenty levels on.'
                    raise InvalidParameterError("levels", Shown(f"<{len(increasing)} of them>"), expected, hint)
                # The core's scale is twice this divided by epsilon; half of a double is a double.
                scaled = self.epsilon, self.score_range / 2.0
                answers = _core.joint_quantiles(native, increasing, *scaled, *self._ends, self._grid)
            else:
                answers = _core.quantiles(native, increasing, self._node_epsilon, *self._ends, self._grid)
        except InvalidScoresError as refused:
            raise refused_values(refused) from None
        found = dict(zip(increasing, answers, strict=True))
        return tuple(found[level] for level in self.levels)
