"""Several quantiles at once, by halving."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, cast

from dpselect._native import _core
from dpselect.accounting import BoundedRangeEvent, ComposedEvent
from dpselect.arguments import finite_bounds, positive_epsilon, quantile_level
from dpselect.errors import InvalidParameterError, InvalidScoresError, Shown
from dpselect.mechanisms.grids import Grid
from dpselect.mechanisms.quantile import refused_values, shortest
from dpselect.mechanisms.score_vectors import ScoresLike, native_scores
from dpselect.mechanisms.values import MechanismValue
from dpselect.privacy import Neighbours, neighbouring_relation


@dataclass(frozen=True, slots=True, kw_only=True)
class QuantilesMechanism(MechanismValue):
    """Draws several quantiles: the middle one, then those below it from the values below it, and so on.

    A value belongs to one group at each of the ``floor(log2(m)) + 1`` depths, so `epsilon` is divided by that and not
    by the number of levels. Answers never decrease. Where many values are equal, an answer among them sends them all
    to the levels above: ask for single quantiles then.

    Args:
        epsilon: privacy loss of all answers together, > 0.
        levels: different numbers from 0 to 1, in any order.
        bounds: as for `QuantileMechanism`.
        step: as for `QuantileMechanism`.
        neighbours: which data sets the guarantee compares; ``"replace_one"`` takes twice the noise.

    Raises:
        InvalidParameterError: an argument is out of range, or `step` does not divide the bounds.

    Proof: ``proofs/quantiles.md``. Source: Kaplan, Schnapp & Stemmer (2022).

    >>> mechanism = QuantilesMechanism(epsilon=3.0, levels=[0.25, 0.5, 0.75], bounds=(0, 120), step=1)
    >>> mechanism.event.count, mechanism.event.epsilon
    (2, 3.0)
    >>> low, middle, high = mechanism.draw(range(120))
    >>> low <= middle <= high
    True
    """

    epsilon: float
    levels: tuple[float, ...]
    bounds: tuple[float | Fraction, float | Fraction]
    step: float | Fraction | None = None
    neighbours: Neighbours = Neighbours.ADD_REMOVE
    _ends: tuple[float, float] = field(init=False, repr=False, compare=False)
    _grid: Grid | None = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        lower, upper = finite_bounds(self.bounds)
        self._set("epsilon", positive_epsilon(self.epsilon))
        self._set("levels", _different_levels(self.levels))
        self._set("bounds", (shortest(lower), shortest(upper)))
        self._set("neighbours", neighbouring_relation(self.neighbours))
        self._set("_ends", (float(lower), float(upper)))
        self._set("_grid", None if self.step is None else Grid.dividing(lower, upper, step=self.step))
        positive_epsilon(Fraction(self._share) / 2, "epsilon")  # refuses what is too small to be divided

    @property
    def _depths(self) -> int:
        return len(self.levels).bit_length()

    @property
    def _share(self) -> float:
        """What one depth costs, rounded down."""
        return positive_epsilon(Fraction(self.epsilon) / self._depths)

    @property
    def event(self) -> ComposedEvent:
        """What all answers together cost, for accounting: one bounded-range event for each depth."""
        return ComposedEvent(event=BoundedRangeEvent(epsilon=self._share), count=self._depths)

    def draw(self, values: ScoresLike) -> tuple[float, ...]:
        """Draw all quantiles of `values`, at the cost of `epsilon` together.

        Args:
            values: as for `QuantileMechanism.draw`.

        Returns:
            One answer for each of `levels`, in their order.

        Raises:
            InvalidDataError: not one-dimensional, not numbers, or NaN among them. Nothing is drawn then.
        """
        # A replaced value is one removed and one added: two groups of a depth may change, or one group twice.
        share = self._share if self.neighbours is Neighbours.ADD_REMOVE else self._share / 2.0
        increasing = sorted(self.levels)
        grid = None if self._grid is None else self._grid.native()
        try:
            answers = _core.quantiles(native_scores(values), increasing, share, *self._ends, grid)
        except InvalidScoresError as refused:
            problem = refused_values(refused)
        else:
            found = dict(zip(increasing, answers, strict=True))
            return tuple(found[level] for level in self.levels)
        raise problem


_NOT_LISTS: Any = (str, bytes, Mapping)


def _different_levels(levels: object) -> tuple[float, ...]:
    expected = "different numbers from 0 to 1, at least one"
    is_list = hasattr(levels, "__len__") and hasattr(levels, "__iter__")
    if not is_list or isinstance(levels, _NOT_LISTS):
        raise InvalidParameterError("levels", levels, expected)
    checked = tuple(quantile_level(level, "levels") for level in cast("Sequence[object]", levels))
    if not checked or len(set(checked)) < len(checked):
        raise InvalidParameterError(
            "levels", Shown(f"<{len(checked)} of them, {len(set(checked))} different>"), expected
        )
    return checked


def quantiles(
    values: ScoresLike,
    levels: Sequence[float],
    *,
    bounds: tuple[float | Fraction, float | Fraction],
    epsilon: float,
    step: float | Fraction | None = None,
    neighbours: Neighbours | str = Neighbours.ADD_REMOVE,
) -> tuple[float, ...]:
    """Draw the quantiles at `levels` of `values`, one value a unit, at the cost of `epsilon` for all of them together.

    Args and Raises: see `QuantilesMechanism` and its `draw`.

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
        neighbours=neighbouring_relation(neighbours),
    )
    return mechanism.draw(values)
