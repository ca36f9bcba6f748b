"""What recipes share: selections that divide a budget, and rows whose cells are whole numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

import numpy as np
from numpy import ma
from numpy.typing import NDArray

from dpselect.accounting import calibrate
from dpselect.checks import delta_below_one, one_of
from dpselect.errors import InvalidDataError, Shown
from dpselect.mechanisms import ExponentialMechanism, PermuteAndFlip
from dpselect.mechanisms.mechanism import MechanismValue
from dpselect.planning import recommend

Selection = Literal["auto", "permute_and_flip", "exponential"]
"""Which mechanism selects; ``"auto"``: the one with the smaller error at the number of selections and the delta."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe(MechanismValue):
    """Several selections by one mechanism, and what else is drawn, within (`epsilon`, `delta`) together."""

    epsilon: float
    selection: Selection = "auto"
    delta: float = 0.0
    selecting: PermuteAndFlip | ExponentialMechanism = field(init=False, repr=False, compare=False)

    def _select(self, epsilon: float, *, count: int, **scores: Any) -> None:
        """Make the mechanism of each of `count` selections on such `scores` that cost (`epsilon`, `delta`) together."""
        one_of(self.selection, "selection", get_args(Selection))
        kinds = {"permute_and_flip": PermuteAndFlip, "exponential": ExponentialMechanism}
        delta, is_open = delta_below_one(self.delta), self.selection == "auto"
        kind = recommend(count, delta, epsilon=epsilon) if is_open else kinds[self.selection]
        self._set(selecting=calibrate(kind, count=count, epsilon=epsilon, delta=delta, **scores))


EXPECTED_SIZES = "the number of values of each attribute, such as (2, 3)"
"""What errors say of the `sizes` of recipes."""


def array_of(given: object, name: str, *, kinds: str, shape: tuple[int | None, ...], expected: str) -> NDArray[Any]:
    """`given` as an array of one of the `kinds` of NumPy; None in its `shape` stands for any length.

    Raises:
        InvalidDataError: it is another, or masked, whether or not anything is hidden: that may depend on the data.
    """
    if isinstance(given, ma.MaskedArray):
        raise InvalidDataError(name, Shown("<masked array>"), "an array without a mask, such as its filled()")
    array = np.asarray(given)
    fits = array.ndim == len(shape) and all(want in (None, has) for want, has in zip(shape, array.shape, strict=True))
    if array.dtype.kind not in kinds or not fits:
        raise InvalidDataError(name, Shown(f"<array of {array.dtype}, {array.ndim} dimensions>"), expected)
    return array


def codes_within(codes: NDArray[np.integer], sizes: Sequence[int], *, rows: int | None = None) -> NDArray[np.int64]:
    """`codes`, each moved into 0 ... size - 1 of its column, so that no row's contents make a difference to errors.

    >>> import numpy as np
    >>> codes_within(np.array([[1, -1], [7, 2]]), (3, 3)).tolist()
    [[1, 0], [2, 2]]
    """
    expected = f"whole numbers of shape ({'rows' if rows is None else rows}, {len(sizes)})"
    table = array_of(codes, "codes", kinds="iu", shape=(rows, len(sizes)), expected=expected)
    # Unsigned numbers beyond 2^63 would turn negative.
    within = np.minimum(table, np.array(sizes, np.uint64 if table.dtype == np.uint64 else np.int64) - 1)
    return np.maximum(within.astype(np.int64), 0)
