"""A bound to clip amounts by, found from above: the largest candidates first, until enough values are above one."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from dpselect._native import _core
from dpselect.accounting import PureEvent
from dpselect.arguments import positive_epsilon, probability
from dpselect.errors import InvalidParameterError
from dpselect.grids import GrowingGrid
from dpselect.mechanisms.integer_vectors import whole_values
from dpselect.mechanisms.quantile import plain_values, shortest
from dpselect.mechanisms.scaled import MechanismValue, scale_of
from dpselect.mechanisms.score_vectors import ScoresLike
from dpselect.mechanisms.unbounded_quantile import LEAST_EPSILON, one_sided
from dpselect.privacy import Neighbours, neighbouring_relation

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

GROWTH = 2
"""Candidates double: there are few, so that few noises have to be small."""

FAILURE = 0.01
"""With at most this probability the bound is beyond the first candidate that no value is above."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClippingBoundMechanism(MechanismValue):
    r"""Draws a number that few values are above, one value per unit: above-threshold from the largest candidate down.

    The candidates :math:`t_0 < t_1 < \dots` double in their distance from `lower`, and :math:`q_i` values are above
    :math:`t_i`. A threshold :math:`\rho` is drawn once. Then each candidate but the last, in order from above, gets
    noise :math:`\nu_i` of its own; the first one with :math:`q_i - margin + \nu_i \ge \rho` has too many values above
    it, and the answer is the candidate after it. If there is none, it is :math:`t_1`.

    An `UnboundedQuantileMechanism` at level 1 looks for the largest value and often goes far beyond it, to which ranks
    are indifferent. The noise of a sum is proportional to the bound, so here a public `margin` of values stays above.

    Args:
        epsilon: privacy loss of one draw, > 0.
        step: the distance from the first candidate to the second, in the unit of the values.
        lower: the first candidate, public; smaller values count as this.
        neighbours: which data sets the guarantee compares, ``"add_remove"`` or ``"replace_one"``.

    Raises:
        InvalidParameterError: an argument is out of range.

    Proof: ``proofs/clipping_bounds.md``.

    >>> mechanism = ClippingBoundMechanism(epsilon=1.0, step=1)
    >>> mechanism.candidates[:5], mechanism.margin
    (array([0., 1., 2., 4., 8.]), 9)
    >>> mechanism.draw([37.0] * 1000 + [20.0, 60.0])
    64.0
    """

    epsilon: float
    step: float | Fraction
    lower: float | Fraction = 0.0
    neighbours: Neighbours = Neighbours.ADD_REMOVE
    margin: int = field(init=False)
    _grid: GrowingGrid = field(init=False, repr=False, compare=False)
    _points: FloatArray = field(init=False, repr=False, compare=False)
    _noise: _core.GeometricSampler = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        epsilon, neighbours = positive_epsilon(self.epsilon), neighbouring_relation(self.neighbours)
        if epsilon < LEAST_EPSILON:
            raise InvalidParameterError("epsilon", self.epsilon, "a number large enough for a useful bound")
        grid = GrowingGrid.given(self.lower, step=self.step, growth=Fraction(GROWTH))
        for name, exact in (("lower", grid.lower), ("step", grid.step)):
            if isinstance(shortest(exact), Fraction):
                raise InvalidParameterError(name, getattr(self, name), "a number that a double is written like")
        points = np.array(grid.points())
        points.setflags(write=False)
        self._set(epsilon=epsilon, neighbours=neighbours, step=shortest(grid.step), lower=shortest(grid.lower))
        self._set(_grid=grid, _points=points, _noise=_core.GeometricSampler(epsilon / self._parts, 1.0))
        # By a union bound over the candidates that no value is above: claim 3.
        lowered = -math.expm1(-self._rate) / -math.expm1(-2.0 * self._rate)
        self._set(margin=math.ceil(math.log((points.size - 1) * lowered / FAILURE) * (1.0 + 1e-12) / self._rate))

    @property
    def candidates(self) -> FloatArray:
        """The possible answers after the first, increasing. Public."""
        return self._points

    @property
    def grid(self) -> GrowingGrid:
        """The possible answers before they are rounded to doubles."""
        return self._grid

    @property
    def scale(self) -> float:
        """The scale of each noise and of the threshold, in values."""
        return scale_of(self.epsilon / self._parts, 1.0, factor=1)

    @property
    def event(self) -> PureEvent:
        """What one draw costs, for accounting; it does not depend on the data."""
        return PureEvent(epsilon=self.epsilon)

    def draw(self, values: ScoresLike) -> float:
        """Draw a bound for `values`, one of each unit, at the cost of `epsilon`.

        Args:
            values: shape ``(n,)``, numbers of any float or integer type; ``n = 0`` is allowed.

        Returns:
            One of `candidates`, not the first.

        Raises:
            InvalidDataError: `values` is not one-dimensional, not numeric, or contains NaN. Nothing is drawn then.
        """
        in_order = np.sort(plain_values(values))
        above = in_order.size - np.searchsorted(in_order, self._points[:-1], side="right").astype(np.int64)
        return float(self._points[self.draw_place(above)])

    def draw_place(self, above: ScoresLike) -> int:
        """Draw the place of a bound among `candidates`, by the number of values above each of them but the last.

        Every noise is drawn, however early the answer is known: the time does not depend on it.

        Raises:
            InvalidDataError: `above` is not a vector of whole numbers.
            InvalidParameterError: it has another length. Nothing is drawn then.

        Proof: ``proofs/clipping_bounds.md``, claims 1 and 2.
        """
        counts = self._counted(above).tolist()
        threshold = one_sided(self._noise) + self.margin
        noise = [one_sided(self._noise) for _ in counts]
        too_many = (place for place in reversed(range(len(counts))) if counts[place] + noise[place] >= threshold)
        return next(too_many, 0) + 1

    def _counted(self, above: ScoresLike) -> npt.NDArray[np.int64]:
        counts = whole_values(above)
        if counts.size != self._points.size - 1:
            raise InvalidParameterError("above", counts.size, f"{self._points.size - 1} numbers of values")
        return counts

    def pmf(self, above: ScoresLike) -> FloatArray:
        """Probability of each place, by the number of values above each candidate but the last. It depends on the data.

        For planning with public values and for tests. Sums over thresholds up to 45 times the scale.
        """
        counts = self._counted(above).astype(np.float64)
        law, rate = np.zeros(self._points.size), self._rate
        for threshold in range(math.ceil(45.0 / rate) + 1):
            weight = math.exp(-rate * threshold) * -math.expm1(-rate)
            stops = np.exp(-rate * np.maximum(threshold + self.margin - counts, 0.0))[::-1]
            before = np.concatenate([[1.0], np.cumprod(1.0 - stops)])
            at = weight * before * np.concatenate([stops, [1.0]])
            law[1:] += at[-2::-1]
            law[1] += at[-1]
        return law / law.sum()

    def above_bound(self, confidence: float = 0.99) -> int:
        """With probability `confidence` at most so many values are above the answer, unless it is the last candidate.

        It depends on public arguments only, so it may be published.

        Raises:
            InvalidParameterError: `confidence` is not strictly between 0 and 1.

        Proof: ``proofs/clipping_bounds.md``, claim 4.
        """
        allowed = 1.0 - probability(confidence, "confidence")
        return self.margin + max(math.ceil(-math.log(allowed) * (1.0 + 1e-12) / self._rate) - 2, -1)

    @property
    def _parts(self) -> int:
        """Two losses add up if units are replaced: of the threshold, and of the candidate that is stopped at."""
        return 1 if self.neighbours is Neighbours.ADD_REMOVE else 2

    @property
    def _rate(self) -> float:
        """1/b."""
        return self.epsilon / self._parts
