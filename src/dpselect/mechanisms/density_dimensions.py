"""Distributions in several dimensions: each coordinate separately, or all of them along a space-filling curve."""

from __future__ import annotations

import abc
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from dpselect.accounting import BoundedRangeEvent, ComposedEvent
from dpselect.checks import finite_bounds, positive_count, positive_epsilon
from dpselect.errors import InvalidDataError, InvalidParameterError, Shown
from dpselect.mechanisms.base import MechanismValue
from dpselect.mechanisms.density import DensityMechanism
from dpselect.privacy import Neighbours

IntArray = npt.NDArray[np.int64]


def places_on_curve(cells: IntArray, *, bits: int) -> IntArray:
    """How many cells the curve passes before each of `cells`.

    Args:
        cells: shape ``(n, r)``, r >= 2, numbers from 0 to ``2**bits - 1``.
        bits: with ``r * bits`` at most 62.

    Returns:
        Shape ``(n,)``, numbers from 0 to ``2**(r * bits) - 1``.

    Source: Skilling (2004).

    >>> places_on_curve(np.array([[0, 0], [0, 1], [1, 1], [1, 0]]), bits=1).tolist()
    [0, 1, 2, 3]
    """
    x = [column.copy() for column in cells.T]
    for bit in range(bits - 1, 0, -1):
        for axis in range(len(x)):
            _turn(x, axis, bit=bit)
    for axis in range(1, len(x)):
        x[axis] ^= x[axis - 1]
    flips = np.zeros_like(x[0])
    for bit in range(bits - 1, 0, -1):
        flips ^= np.where(x[-1] >> bit & 1, (1 << bit) - 1, 0)
    place = np.zeros_like(flips)
    for bit in range(bits - 1, -1, -1):
        for column in x:
            place = place << 1 | (column ^ flips) >> bit & 1
    return place


def cells_on_curve(places: IntArray, *, bits: int, dimensions: int) -> IntArray:
    """The cells at these places of the curve: the inverse of `places_on_curve`.

    Returns:
        Shape ``(n, dimensions)``.

    >>> cells_on_curve(np.arange(4), bits=1, dimensions=2).tolist()
    [[0, 0], [0, 1], [1, 1], [1, 0]]
    """
    x = [np.zeros_like(places) for _ in range(dimensions)]
    for position in range(bits * dimensions):
        axis = position % dimensions
        x[axis] = x[axis] << 1 | places >> (bits * dimensions - 1 - position) & 1
    flips = x[-1] >> 1
    for axis in range(dimensions - 1, 0, -1):
        x[axis] ^= x[axis - 1]
    x[0] ^= flips
    for bit in range(1, bits):
        for axis in range(dimensions - 1, -1, -1):
            _turn(x, axis, bit=bit)
    return np.stack(x, axis=1)


def _turn(x: list[IntArray], axis: int, *, bit: int) -> None:
    """Where `bit` of this axis is set, flip the lower bits of the first axis; elsewhere exchange those of both axes."""
    below = (1 << bit) - 1
    is_set = (x[axis] >> bit & 1).astype(bool)
    exchanged = np.where(is_set, 0, (x[0] ^ x[axis]) & below)
    x[0] = x[0] ^ np.where(is_set, below, exchanged)
    if axis > 0:
        x[axis] = x[axis] ^ exchanged


FloatArray = npt.NDArray[np.float64]
Bounds = Sequence[tuple[float | Fraction, float | Fraction]]

# Doubles have to distinguish the cells of the curve.
_MOST_BITS = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class DensityOfRows(MechanismValue, abc.ABC):
    """What draws samples of rows, each with one number a coordinate, by `DensityMechanism`."""

    epsilon: float
    bounds: Bounds
    k: int | None = None
    neighbours: Neighbours = Neighbours.REPLACE_ONE
    _one: DensityMechanism = field(init=False, repr=False, compare=False)

    def _set_one(self, bounds: tuple[tuple[float, float], ...], *, epsilon: float) -> None:
        one = DensityMechanism(epsilon=epsilon, k=self.k, neighbours=self.neighbours)
        self._set(bounds=bounds, k=one.k, neighbours=one.neighbours, _one=one)

    @abc.abstractmethod
    def draw(self, values: npt.ArrayLike) -> FloatArray:
        """Draw one sample, at the cost of `epsilon`.

        Args:
            values: shape ``(n, r)``, one row a unit, n >= 1. Numbers outside the bounds are clamped to the nearer
                bound.

        Returns:
            Shape ``(k, r)``. Of `MarginalsMechanism` each column is in increasing order and drawn without regard to the
            others; of `CurveMechanism` the rows are centres of cells, in the order of the curve.

        Raises:
            InvalidDataError: `values` are not what they have to be. Nothing is drawn.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class MarginalsMechanism(DensityOfRows):
    """Draws a sample of each coordinate separately, by `DensityMechanism` with ``epsilon / r`` each.

    The samples say nothing about how coordinates are related: a row of the answer is not a point of the joint
    distribution. For that see `CurveMechanism`.

    Args:
        bounds: for each of r coordinates ``(lower, upper)``, public.
        k: as for `DensityMechanism`.
        neighbours: ``"replace_one"``, and nothing else.

    Proof: ``proofs/density.md``. Source: Wasserman & Zhou (2010).

    >>> mechanism = MarginalsMechanism(epsilon=2.0, bounds=[(0, 100), (0, 10)], k=20)
    >>> mechanism.event
    ComposedEvent(event=BoundedRangeEvent(epsilon=1.0), count=2)
    >>> ages_and_grades = np.stack([np.linspace(20, 70, 1000), np.linspace(9, 1, 1000)], axis=1)
    >>> mechanism.draw(ages_and_grades).shape
    (20, 2)
    """

    def __post_init__(self) -> None:
        MechanismValue.__post_init__(self)
        bounds = _all_bounds(self.bounds, at_least=1)
        self._set_one(bounds, epsilon=positive_epsilon(Fraction(self.epsilon) / len(bounds)))  # rounded down

    @property
    def event(self) -> ComposedEvent:
        """What all samples together cost, for accounting: one bounded-range event for each coordinate."""
        return ComposedEvent(event=self._one.event, count=len(self.bounds))

    def draw(self, values: npt.ArrayLike) -> FloatArray:
        rows = _checked_rows(values, columns=len(self.bounds))
        plans = [
            self._one.plan_points(column, bounds=bounds) for column, bounds in zip(rows.T, self.bounds, strict=True)
        ]
        return np.stack([plan.draw() for plan in plans], axis=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class CurveMechanism(DensityOfRows):
    """Draws a joint sample of r coordinates: by `DensityMechanism`, along Hilbert's curve through a public grid.

    The sample follows the distribution along the curve as closely as in one dimension, and preserves how the
    coordinates are related. In space it is less accurate: a box consists of many intervals of the curve, each with its
    own error, and their number grows with the dimension.

    Args:
        bounds: for each of r >= 2 coordinates ``(lower, upper)``, public.
        bits: the grid has ``2**bits`` cells a side; ``r * bits`` is at most 50.
        k: as for `DensityMechanism`.
        neighbours: ``"replace_one"``, and nothing else.

    Proof: ``proofs/density.md``. Sources: Wasserman & Zhou (2010), Skilling (2004).

    >>> mechanism = CurveMechanism(epsilon=4.0, bounds=[(0, 1), (0, 1)], bits=6, k=40)
    >>> diagonal = np.stack([np.linspace(0, 1, 5000)] * 2, axis=1)
    >>> sample = mechanism.draw(diagonal)
    >>> sample.shape, bool(np.median(np.abs(sample[:, 0] - sample[:, 1])) < 0.3)
    ((40, 2), True)
    """

    bits: int = 10

    def __post_init__(self) -> None:
        MechanismValue.__post_init__(self)
        bounds = _all_bounds(self.bounds, at_least=2)
        most = _MOST_BITS // len(bounds)
        self._set(bits=positive_count(self.bits, "bits", at_most=most, at_most_what="50 bits for all coordinates"))
        self._set_one(bounds, epsilon=self.epsilon)

    @property
    def event(self) -> BoundedRangeEvent:
        return self._one.event

    def draw(self, values: npt.ArrayLike) -> FloatArray:
        rows = _checked_rows(values, columns=len(self.bounds))
        lower, upper = np.array([[float(end) for end in pair] for pair in self.bounds]).T
        side = 1 << self.bits
        # Despite the rounding, a row's cell depends on that row alone. Halves, because the width may overflow a double.
        shares = (np.clip(rows, lower, upper) / 2.0 - lower / 2.0) / (upper / 2.0 - lower / 2.0)
        cells = np.minimum((shares * side).astype(np.int64), side - 1)
        count = 1 << (self.bits * len(self.bounds))
        middles = places_on_curve(cells, bits=self.bits) + 0.5
        points = self._one.draw_points(middles, bounds=(0, count))
        places = np.minimum(points.astype(np.int64), count - 1)
        drawn = cells_on_curve(places, bits=self.bits, dimensions=len(self.bounds))
        shares = (drawn + 0.5) / side
        return lower * (1.0 - shares) + upper * shares


def _all_bounds(bounds: object, *, at_least: int) -> tuple[tuple[float, float], ...]:
    if not isinstance(bounds, (list, tuple)) or len(cast("Sequence[object]", bounds)) < at_least:
        raise InvalidParameterError("bounds", Shown("<something else>"), f"pairs (lower, upper), at least {at_least}")
    checked = [finite_bounds(pair) for pair in cast("Sequence[object]", bounds)]
    return tuple((float(lower), float(upper)) for lower, upper in checked)


def _checked_rows(values: npt.ArrayLike, *, columns: int) -> FloatArray:
    expected = f"numbers of shape (n, {columns}), n >= 1"
    try:
        rows: npt.NDArray[Any] | None = np.asarray(values)
    except Exception:  # noqa: BLE001 - the text of any error of a foreign object may be data
        rows = None
    if rows is None or rows.dtype.kind not in "fiu" or rows.ndim != 2 or rows.shape[1] != columns or len(rows) == 0:
        raise InvalidDataError("values", Shown("<something else>"), expected)
    doubles = rows.astype(np.float64)
    if bool(np.isnan(doubles).any()):
        raise InvalidDataError(
            "values", Shown("<NaN among them>"), "numbers", "Leave out such rows first, by a public rule."
        )
    return doubles
