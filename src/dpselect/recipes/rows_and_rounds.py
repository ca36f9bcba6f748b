"""What recipes share: rows whose cells are whole numbers, and rounds of selections that divide a budget."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

import numpy as np
from numpy import ma
from numpy.typing import NDArray

from dpselect.accounting import ComposedEvent, Event, SequenceEvent, calibrate
from dpselect.accounting.rounding import divided, quotient_down
from dpselect.checks import delta_below_one, one_of, positive_count, probability
from dpselect.errors import InvalidDataError, Shown
from dpselect.mechanisms import ExponentialMechanism, GeometricMechanism, PermuteAndFlip
from dpselect.mechanisms.mechanism import MechanismValue
from dpselect.planning import recommend
from dpselect.privacy import Neighbours

EXPECTED_SIZES = "the number of values of each attribute, such as (2, 3)"
"""What errors say of the `sizes` of recipes."""


def codes_within(codes: NDArray[np.integer], sizes: Sequence[int], *, rows: int | None = None) -> NDArray[np.int64]:
    """`codes`, each moved into 0 ... size - 1 of its column, so that no row's contents make a difference to errors.

    Raises:
        InvalidDataError: not whole numbers, masked, or of another shape than ``(rows, sizes)``.

    >>> import numpy as np
    >>> codes_within(np.array([[1, -1], [7, 2]]), (3, 3)).tolist()
    [[1, 0], [2, 2]]
    """
    table = without_mask(codes, "codes")
    fits = table.ndim == 2 and table.shape[1] == len(sizes) and rows in (None, len(table))
    if table.dtype.kind not in "iu" or not fits:
        shown = Shown(f"<array of {table.dtype}, {table.ndim} dimensions>")
        expected = f"whole numbers of shape ({'rows' if rows is None else rows}, {len(sizes)})"
        raise InvalidDataError("codes", shown, expected)
    # Unsigned numbers beyond 2^63 would turn negative.
    within = np.minimum(table, np.array(sizes, np.uint64 if table.dtype == np.uint64 else np.int64) - 1)
    return np.maximum(within.astype(np.int64), 0)


def without_mask(given: object, name: str) -> NDArray[Any]:
    """`given` as an array, refused if it is masked: what a mask hides is not meant to count.

    Raises:
        InvalidDataError: it is masked, whether or not anything is hidden: that may depend on the data.
    """
    if isinstance(given, ma.MaskedArray):
        raise InvalidDataError(name, Shown("<masked array>"), "an array without a mask, such as its filled()")
    return np.asarray(given)


Selection = Literal["auto", "permute_and_flip", "exponential"]
"""Which mechanism selects; ``"auto"``: the one with the smaller error at the number of selections and the delta."""


def shared_selections(
    selection: Selection,
    *,
    count: int,
    epsilon: float,
    delta: float,
    sensitivity: int,
    monotonic: bool = False,
    neighbours: Neighbours = Neighbours.ADD_REMOVE,
) -> PermuteAndFlip | ExponentialMechanism:
    """The mechanism of each of `count` selections that cost (`epsilon`, `delta`) together.

    Raises:
        InvalidParameterError: `selection` is not one of the three words, or `delta` is not from 0 to below 1.

    >>> shared_selections("auto", count=4, epsilon=1.0, delta=0.0, sensitivity=1).epsilon
    0.25
    """
    one_of(selection, "selection", get_args(Selection))
    kinds = {"permute_and_flip": PermuteAndFlip, "exponential": ExponentialMechanism}
    delta = delta_below_one(delta)
    kind = recommend(count, delta, epsilon=epsilon) if selection == "auto" else kinds[selection]
    return calibrate(
        kind,
        count=count,
        epsilon=epsilon,
        delta=delta,
        sensitivity=sensitivity,
        monotonic=monotonic,
        neighbours=neighbours,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Rounds(MechanismValue):
    """Rounds that each select what is most wrong, measure it, and improve what is released."""

    epsilon: float
    rounds: int
    selection_share: float = 0.5
    selection: Selection = "auto"
    delta: float = 0.0
    neighbours: Neighbours = Neighbours.ADD_REMOVE
    selecting: PermuteAndFlip | ExponentialMechanism = field(init=False, repr=False, compare=False)
    measuring: GeometricMechanism = field(init=False, repr=False, compare=False)

    def _divide(self, epsilon: float, *, sensitivity: int, moved: int) -> None:
        """Spend `epsilon` on all rounds: scores have this sensitivity, and a measurement moves by at most `moved`."""
        rounds = positive_count(self.rounds, "rounds", at_most=1 << 20)
        share, relation = probability(self.selection_share, "selection_share"), self.neighbours
        part, rest = divided(epsilon, share)
        selecting = shared_selections(
            self.selection,
            count=rounds,
            epsilon=part,
            delta=self.delta,
            sensitivity=sensitivity,
            neighbours=relation,
        )
        measuring = GeometricMechanism(epsilon=quotient_down(rest, rounds), sensitivity=moved, neighbours=relation)
        self._set(rounds=rounds, selecting=selecting, measuring=measuring)

    @property
    def event(self) -> Event:
        """What all rounds cost, for accounting."""
        return SequenceEvent(events=self._costs())

    def _costs(self) -> tuple[Event, ...]:
        return tuple(ComposedEvent(event=each.event, count=self.rounds) for each in (self.selecting, self.measuring))
