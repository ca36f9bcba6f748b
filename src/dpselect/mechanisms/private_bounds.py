"""Quantiles between bounds of which the upper one is found first, with a part of epsilon."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

from dpselect.accounting import PureEvent
from dpselect.accounting.rounding import fraction_down
from dpselect.arguments import positive_epsilon, probability
from dpselect.errors import InvalidParameterError
from dpselect.mechanisms.exponential import ExponentialMechanism
from dpselect.mechanisms.quantile import QuantileMechanism
from dpselect.mechanisms.scaled import MechanismValue
from dpselect.mechanisms.score_vectors import ScoresLike
from dpselect.mechanisms.unbounded_quantile import LEAST_EPSILON, UnboundedQuantileMechanism
from dpselect.privacy import Neighbours

COARSE = 2.0
"""Growth of the possible bounds: few of them, so that the part of epsilon that finds one is small."""

FINEST_BOUND = 1.0 / 1024
"""The first possible bound above `lower` where there is no step; the last is 2^50 times as far."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PrivateBoundsMechanism(MechanismValue):
    """Draws an upper bound with a quarter of epsilon, and then the quantile at `level` below it with the rest.

    The bound is an `UnboundedQuantileMechanism` at level 1 whose candidates double, the quantile a `QuantileMechanism`
    between `lower` and that bound. Values above the bound count as the bound; there are few.

    Args:
        epsilon: privacy loss of both draws together, > 0.
        level: 0.5 for the median, from 0 to 1.
        step: distance between possible answers; None for any number.
        lower: the smallest possible answer, public; smaller values count as this.
        neighbours: which data sets the guarantee compares, ``"add_remove"`` or ``"replace_one"``.
        values_per_unit: maximum number of values per unit.

    Raises:
        InvalidParameterError: an argument is out of range.

    Proof: ``proofs/unbounded_quantiles.md``, claim 7, and ``proofs/quantiles.md``. Source: Durfee (2023).

    >>> mechanism = PrivateBoundsMechanism(epsilon=1.0, level=0.5, step=1)
    >>> ages = [37] * 1000 + [20, 60]
    >>> mechanism.draw(ages)
    37.0
    """

    epsilon: float
    level: float
    step: float | Fraction | None = None
    lower: float | Fraction = 0.0
    neighbours: Neighbours = Neighbours.ADD_REMOVE
    values_per_unit: int = 1
    _bound: UnboundedQuantileMechanism = field(init=False, repr=False, compare=False)
    _rest: float = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        epsilon = positive_epsilon(self.epsilon)
        if epsilon < 4.0 * LEAST_EPSILON:
            raise InvalidParameterError("epsilon", self.epsilon, "a number large enough for a useful quantile")
        bound = UnboundedQuantileMechanism(
            epsilon=epsilon / 4.0,
            level=1.0,
            step=FINEST_BOUND if self.step is None else self.step,
            lower=self.lower,
            growth=COARSE,
            neighbours=self.neighbours,
            values_per_unit=self.values_per_unit,
        )
        self._set(epsilon=epsilon, lower=bound.lower, neighbours=bound.neighbours)
        self._set(step=None if self.step is None else bound.step, values_per_unit=bound.values_per_unit)
        self._set(_bound=bound, _rest=fraction_down(Fraction(epsilon) - Fraction(bound.epsilon)))
        self._set(level=self._below(1).level)

    @property
    def bound(self) -> UnboundedQuantileMechanism:
        """What draws the upper bound."""
        return self._bound

    @property
    def event(self) -> PureEvent:
        """What both draws cost, for accounting; it does not depend on the data."""
        return PureEvent(epsilon=self.epsilon)

    def draw(self, values: ScoresLike) -> float:
        """Draw the quantile of `values`, at the cost of `epsilon`.

        Args:
            values: shape ``(n,)``, numbers of any float or integer type; ``n = 0`` is allowed.

        Returns:
            A number that is not below `lower`: a multiple of `step` above it, if there is a step.

        Raises:
            InvalidDataError: `values` is not one-dimensional, not numeric, or contains NaN. Nothing is drawn then.
        """
        candidates = self._bound.candidates
        place = int(candidates.searchsorted(self._bound.draw(values)))
        return self._below(max(place, 1)).draw(values)  # no value is above `lower`: the next possible bound

    def _below(self, place: int) -> QuantileMechanism:
        """What draws the quantile below the possible bound at `place`."""
        lower, upper = self._bound.grid.exact(0), self._bound.grid.exact(place)
        return QuantileMechanism(
            epsilon=self._rest,
            level=self.level,
            bounds=(lower, upper),
            step=self.step,
            neighbours=self.neighbours,
            values_per_unit=self.values_per_unit,
        )

    def error_bound(self, confidence: float = 0.99) -> float | None:
        """With probability `confidence` the answer is at most this many ranks from the quantile, whatever the values.

        Each value counts as the nearest multiple of the step. None without a step.

        Raises:
            InvalidParameterError: `confidence` is not strictly between 0 and 1.

        Proof: ``proofs/unbounded_quantiles.md``, claim 8.

        >>> round(PrivateBoundsMechanism(epsilon=1.0, level=0.5, step=1).error_bound())
        69
        """
        each = 1.0 - (1.0 - probability(confidence, "confidence")) / 2.0
        above = self._bound.error_bound(each)
        if self.step is None:
            return None
        below = self._below(self._bound.candidates.size - 1)
        selection = ExponentialMechanism(
            epsilon=below.epsilon, sensitivity=below.sensitivity, monotonic=below.monotonic
        )
        return max(above, selection.error_bound(_MOST_ANSWERS, confidence=each))


_MOST_ANSWERS = 2**50 + 1
