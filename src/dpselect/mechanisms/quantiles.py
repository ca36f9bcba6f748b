"""Several quantiles together: by halving, or by one joint draw."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations_with_replacement, pairwise
from typing import Literal, cast, get_args

import numpy as np
import numpy.typing as npt

from dpselect._native import _core
from dpselect.accounting import BoundedRangeEvent, ComposedEvent
from dpselect.checks import (
    members_in_order,
    one_of,
    positive_epsilon,
    positive_sensitivity,
    quantile_level,
)
from dpselect.errors import InvalidDataError, InvalidParameterError, InvalidScoresError, Shown
from dpselect.mechanisms.base import native_grid
from dpselect.mechanisms.explained import explained_as
from dpselect.mechanisms.quantile import RankMechanism, moves_one_way
from dpselect.mechanisms.scores import ScoresLike, native_scores, plain_points, plain_values, refused_values
from dpselect.privacy import Neighbours, neighbouring_relation

FloatArray = npt.NDArray[np.float64]
QuantilesMethod = Literal["joint", "halving"]
METHODS: tuple[str, ...] = get_args(QuantilesMethod)
LARGEST_JOINT_EPSILON = 100.0
"""With a larger epsilon, doubles could not compare the weights of ranks over millions of values."""
_MOST_JOINT = 50_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class QuantilesMechanism(RankMechanism):
    r"""Draws several quantiles of the same values, which never decrease with the level.

    ``method="joint"`` draws all of them at once, with density :math:`e^{-w/b}` for increasing answers, where w is the
    number of values in a wrong group, the groups being those between the answers. ``method="halving"`` draws the middle
    answer first, then those below it from the values below it, and so on. A value belongs to one group at each of
    ``floor(log2(m)) + 1`` depths, and `epsilon` is divided among the depths.

    Args:
        epsilon: privacy loss of all answers together, > 0; at most 100 if joint.
        levels: different numbers from 0 to 1, in any order.
        step: as for `QuantileMechanism`. Each value counts as the nearest point and is placed at random around it, so
            that a point with many values gets a corresponding width.
        method: ``"joint"`` or ``"halving"``. The first is more accurate for up to about twenty levels with many values
            between them, the second for more; joint takes time and memory for each level at each gap between values.
        neighbours: which data sets the guarantee compares; ``"replace_one"`` needs up to twice the noise. Levels 0 and
            1 need less under ``"add_remove"``: see `score_range`.

    Raises:
        InvalidParameterError: an argument is out of range, or `step` does not divide the bounds.

    Proof: ``proofs/joint_quantiles.md`` and, for halving, ``proofs/quantiles.md``. Sources: Gillenwater, Joseph &
    Kulesza (2021); Kaplan, Schnapp & Stemmer (2022).

    >>> mechanism = QuantilesMechanism(epsilon=3.0, levels=[0.25, 0.5, 0.75], bounds=(0, 120), step=1)
    >>> mechanism.event, mechanism.sensitivity
    (BoundedRangeEvent(epsilon=3.0), 0.75)
    >>> extremes = QuantilesMechanism(epsilon=3.0, levels=[0, 1], bounds=(0, 120))
    >>> extremes.sensitivity, extremes.score_range  # without the extremes the range is twice the sensitivity
    (1.0, 1.0)
    >>> low, middle, high = mechanism.draw(range(120))
    >>> low <= middle <= high
    True
    >>> QuantilesMechanism(epsilon=3.0, levels=[0.25, 0.5, 0.75], bounds=(0, 120), method="halving").event.count
    2
    """

    levels: tuple[float, ...]
    method: QuantilesMethod = "joint"

    def __post_init__(self) -> None:
        RankMechanism.__post_init__(self)
        self._set(epsilon=positive_epsilon(self.epsilon))
        self._set(levels=_different_levels(self.levels))
        one_of(self.method, "method", METHODS)
        if self.method == "joint" and self.epsilon > LARGEST_JOINT_EPSILON:
            expected = f"at most {LARGEST_JOINT_EPSILON:g} for joint quantiles"
            raise InvalidParameterError("epsilon", self.epsilon, expected, 'For a larger one use method="halving".')
        positive_epsilon(self._node_epsilon, "epsilon")  # refuses an epsilon that is too small to be divided

    @property
    def sensitivity(self) -> float:
        """Largest change of the number of values in a wrong group by one unit; for halving, at one node of a depth.

        For joint it is ``1 - gap`` for the smallest gap among 0, the levels and 1, or 1 under ``"replace_one"``; for
        halving at most 1; times `values_per_unit`.
        """
        if self.method == "halving" or self.neighbours is Neighbours.REPLACE_ONE:
            return positive_sensitivity(self.values_per_unit)
        return positive_sensitivity(self.values_per_unit * (1 - min(self._shares)))

    @property
    def monotonic(self) -> bool:
        """Whether one unit changes the scores of all answers in the same direction: with no level between 0 and 1."""
        return all(moves_one_way(level, self.neighbours) for level in self.levels)

    @property
    def score_range(self) -> float:
        """Largest change, by one unit, of the difference between two answers' scores; the noise is scaled to it.

        Joint and under ``"add_remove"``: the sum of the largest fall of a score, ``1 - gap`` for the smallest gap among
        0, the levels and 1, and the largest rise, ``1 - gap`` for the smallest gap above 0; times `values_per_unit`.
        Otherwise twice the `sensitivity`, or the `sensitivity` if `monotonic`; for halving at one node.

        Proof: ``proofs/joint_quantiles.md``, claim 1.
        """
        if self.method == "halving" or self.neighbours is Neighbours.REPLACE_ONE:
            return self.sensitivity * (1.0 if self.monotonic else 2.0)
        shares = self._shares
        return positive_sensitivity(
            self.values_per_unit * (2 - min(shares) - min(share for share in shares if share > 0))
        )

    @property
    def _shares(self) -> list[Fraction]:
        """The share of the values in each group between the answers."""
        ends = [Fraction(0), *(Fraction(level) for level in sorted(self.levels)), Fraction(1)]
        return [high - low for low, high in pairwise(ends)]

    @property
    def _depths(self) -> int:
        return len(self.levels).bit_length()

    @property
    def _share(self) -> float:
        """What one depth costs, rounded down."""
        return positive_epsilon(Fraction(self.epsilon) / self._depths)

    @property
    def _node_epsilon(self) -> float:
        """What one value more or less at a node costs.

        A replaced value is one removed and one added: two groups of a depth may change, or one group twice.
        """
        values = self.values_per_unit * (1 if self.neighbours is Neighbours.ADD_REMOVE else 2)
        return positive_epsilon(Fraction(self._share) / values)

    @property
    def event(self) -> BoundedRangeEvent | ComposedEvent:
        """What all answers together cost, for accounting: one bounded-range event, or one for each depth of halving."""
        if self.method == "joint":
            return BoundedRangeEvent(epsilon=self.epsilon)
        return ComposedEvent(event=BoundedRangeEvent(epsilon=self._share), count=self._depths)

    def draw(self, values: ScoresLike) -> tuple[float, ...]:
        """Draw all quantiles of `values`, at the cost of `epsilon` together.

        Returns:
            One answer for each of `levels`, in their order.

        Raises:
            InvalidParameterError: joint, and the levels times the gaps between values are more than 50,000,000.
        """
        increasing = sorted(self.levels)
        grid = None if self._grid is None else native_grid(self._grid)
        try:
            native = native_scores(values)
            if self.method == "joint":
                if (native.size + 1) * len(increasing) > _MOST_JOINT:
                    expected = f"at most {_MOST_JOINT:,} levels times gaps between values for joint quantiles"
                    hint = 'Use method="halving", which is more accurate from about twenty levels on.'
                    raise InvalidParameterError("levels", Shown(f"<{len(increasing)} of them>"), expected, hint)
                # The core's scale is twice this divided by epsilon; half of a double is a double.
                arguments = (increasing, self.epsilon, self.score_range / 2.0, *self._ends, grid)
                answers = _core.joint_quantiles(native, *arguments)
            else:
                answers = _core.quantiles(native, increasing, self._node_epsilon, *self._ends, grid)
        except InvalidScoresError as refused:
            problem = refused_values(refused)
        else:
            found = dict(zip(increasing, answers, strict=True))
            return tuple(found[level] for level in self.levels)
        raise problem

    def cdf(self, values: ScoresLike, points: npt.ArrayLike) -> FloatArray:
        """Probability that each answer is not above each of `points`, if the values were these. Joint, without a step.

        For planning with public values.

        Args:
            values: as for `draw`, at most 4000.
            points: any shape.

        Returns:
            Shape ``(levels, *points.shape)``, the levels in their order.

        Raises:
            InvalidParameterError: there is a `step` or the method is halving: there is no formula then. On a grid the
                values are placed at random, and the distribution is an average over all their possible places; for
                halving, the distribution of the outer answers is an integral over the middle one.
            InvalidDataError: as for `draw`, or too many values.

        Proof: ``proofs/joint_quantiles.md``.

        >>> mechanism = QuantilesMechanism(epsilon=2.0, levels=[0.25, 0.75], bounds=(0, 8))
        >>> mechanism.cdf([1, 3, 5, 7], [0, 4, 8]).round(3)
        array([[0.   , 0.876, 1.   ],
               [0.   , 0.124, 1.   ]])
        """
        if self.method != "joint":
            raise InvalidParameterError("method", Shown(repr(self.method)), '"joint": halving has no formula for it')
        if self._grid is not None:
            hint = "On a grid the values are placed at random, and there is no formula for the average."
            raise InvalidParameterError("step", self.step, "None, to plan several quantiles", hint)
        plain = plain_values(values)
        if plain.size > _MOST_PLANNED:
            raise InvalidDataError("values", Shown("<too many>"), f"at most {_MOST_PLANNED} to plan with")
        ends = np.sort(np.concatenate([plain.clip(*self._ends), self._ends]))
        increasing = sorted(self.levels)
        # A value in a wrong group is surplus there and missing in another group.
        law = JointLaw.of(ends, increasing, rate=self.epsilon / (2.0 * self.score_range))
        at = plain_points(points)
        return np.array([law.cdf(increasing.index(level), at) for level in self.levels])


_MOST_PLANNED = 4000


def _different_levels(levels: object) -> tuple[float, ...]:
    expected = "different numbers from 0 to 1, at least one"
    checked = tuple(quantile_level(each, "levels") for each in members_in_order(levels, "levels", expected=expected))
    if not checked or len(set(checked)) < len(checked):
        raise InvalidParameterError(
            "levels", Shown(f"<{len(checked)} of them, {len(set(checked))} different>"), expected
        )
    return checked


@explained_as(QuantilesMechanism)
def quantiles(
    values: ScoresLike,
    levels: Sequence[float],
    *,
    bounds: tuple[float | Fraction, float | Fraction],
    epsilon: float,
    step: float | Fraction | None = None,
    method: QuantilesMethod = "joint",
    neighbours: Neighbours | str = Neighbours.ADD_REMOVE,
) -> tuple[float, ...]:
    """Draw the quantiles at `levels` of `values`, one value per unit, at the cost of `epsilon` for all together.

    Returns:
        One answer for each level, in the order of `levels`; they never decrease with the level.

    >>> lower, upper = quantiles(range(1000), [0.25, 0.75], bounds=(0, 1000), epsilon=2.0)
    >>> 150 < lower < 350, 650 < upper < 850
    (True, True)
    """
    mechanism = QuantilesMechanism(
        epsilon=epsilon,
        levels=cast("tuple[float, ...]", levels),
        bounds=bounds,
        step=step,
        method=method,
        neighbours=neighbouring_relation(neighbours),
    )
    return mechanism.draw(values)


Run = tuple[int, int]
"""The first and the last of the levels whose answers are in one gap."""


@dataclass(frozen=True, slots=True)
class JointLaw:
    """Where the answers lie, from ``proofs/joint_quantiles.md``, "Drawing".

    Attributes:
        ends: lower bound, sorted values, upper bound: gap i is between ends i and i + 1.
        runs: for each run of levels, the probability that these and no others have their answers in gap i, shape
            ``(n + 1,)``.
    """

    ends: FloatArray
    runs: dict[Run, FloatArray]

    @classmethod
    def of(cls, ends: FloatArray, levels: Sequence[float], *, rate: float) -> JointLaw:
        """`levels` increase; `rate` is how much the logarithm of the density falls for each value missing in a group.

        Computed in logarithms, with about n^2 m steps and n m^2 numbers for m levels of n values.
        """
        from scipy.special import logsumexp  # not loaded with the package, because draws do not need it

        count = ends.size - 2
        shares = [(high - low) * count for low, high in pairwise([0.0, *levels, 1.0])]
        gaps = np.arange(count + 1)
        steps = gaps[:, None] - gaps[None, :]  # from the column's gap to the row's

        def onwards(j: int, messages: FloatArray, *, is_forward: bool) -> FloatArray:
            """Sum over all strictly smaller gaps, or strictly larger ones, that answer j - 1 or j may be in."""
            costs = np.where(steps > 0, -rate * np.abs(steps - shares[j]), -np.inf)
            return logsumexp((costs if is_forward else costs.T) + messages[None, :], axis=1)

        last = len(levels) - 1
        volumes = {run: _log_volume(ends, run, rate * sum(shares[run[0] + 1 : run[1] + 1])) for run in _runs(last + 1)}
        # What comes before a run that starts with level a, and what comes after one that ends with level b.
        before = [-rate * np.abs(gaps - shares[0])]
        for b in range(last):
            ending = logsumexp([before[a] + volumes[a, b] for a in range(b + 1)], axis=0)
            before.append(onwards(b + 1, ending, is_forward=True))
        after = {last: -rate * np.abs(count - gaps - shares[last + 1])}
        for a in range(last, 0, -1):
            starting = logsumexp([after[b] + volumes[a, b] for b in range(a, last + 1)], axis=0)
            after[a - 1] = onwards(a, starting, is_forward=False)
        logs = {(a, b): before[a] + volumes[a, b] + after[b] for a, b in volumes}
        # Every path has exactly one run that starts with the first level.
        total = logsumexp([logs[0, b] for b in range(last + 1)])
        return cls(ends, {run: np.exp(log - total) for run, log in logs.items()})

    def cdf(self, j: int, points: FloatArray) -> FloatArray:
        """Probability that answer j (from 0) is not above each of `points`."""
        from scipy.special import betainc

        at = points.clip(self.ends[0], self.ends[-1])
        last = int(np.flatnonzero(self.ends[1:] > self.ends[:-1])[-1])
        gap = np.minimum(np.searchsorted(self.ends, at, side="right") - 1, last)
        start, end = self.ends[gap] / 2.0, self.ends[gap + 1] / 2.0  # halves, so that no length overflows
        share = ((at / 2.0 - start) / (end - start)).clip(0.0, 1.0)
        below = np.zeros(at.shape)
        for (a, b), chances in self.runs.items():
            if a <= j <= b:
                sums = np.concatenate([[0.0], np.cumsum(chances)])
                # The answers of a run are uniform points of the gap in order.
                inside = betainc(j - a + 1, b - j + 1, share)
                below += sums[gap] + chances[gap] * inside
        return np.where(points < self.ends[0], 0.0, np.where(points >= self.ends[-1], 1.0, np.minimum(below, 1.0)))


def _runs(levels: int) -> list[Run]:
    return [(a, b) for a, b in combinations_with_replacement(range(levels), 2)]


def _log_volume(ends: FloatArray, run: Run, cost: float) -> FloatArray:
    """For the answers of a run in each gap, in order, minus what it costs that no values are between them."""
    with np.errstate(over="ignore", divide="ignore"):
        lengths = np.diff(ends)
        logs = np.where(np.isinf(lengths), np.log(np.diff(ends / 2.0)) + math.log(2.0), np.log(lengths))
    size = run[1] - run[0] + 1
    return size * logs - math.lgamma(size + 1) - cost
