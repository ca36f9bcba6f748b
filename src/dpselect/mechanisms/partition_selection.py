"""Which of the values that occur may be named: optimal partition selection, with exact coins."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial

import numpy as np
import numpy.typing as npt

from dpselect._native import _core
from dpselect.accounting import ApproximateEvent
from dpselect.checks import delta_below_one, positive_count, positive_epsilon, probability, whole_number
from dpselect.errors import InvalidParameterError
from dpselect.mechanisms.integer_vectors import whole_values
from dpselect.mechanisms.lazy_coins import heads
from dpselect.mechanisms.partition_law import PartitionLaw, shares
from dpselect.mechanisms.scaled import MechanismValue
from dpselect.mechanisms.score_vectors import ScoresLike
from dpselect.privacy import Neighbours, neighbouring_relation

MOST_VALUES_PER_UNIT = 10**9

_EQUAL = _core.Sampler("exponential", 1.0, 1.0, 1)
"""Of equal scores each is as likely as any other, so `peel` draws a uniform set."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PartitionSelection(MechanismValue):
    r"""Names each value with a probability that depends only on its number n of units; no such rule names more.

    With :math:`\pi(0) = 0` and one value per unit, a value of n + 1 units is named with probability

    .. math:: \pi(n+1) = \min(e^\varepsilon \pi(n) + \delta, 1 - e^{-\varepsilon}(1 - \pi(n) - \delta), 1),

    the largest that :math:`(\varepsilon, \delta)`-differential privacy allows. Each value has a coin of its own. If a
    unit has up to t values, epsilon is divided by t, and delta is replaced by :math:`1 - (1 - \delta)^{1/t}`, rounded
    down to a double. A replaced unit changes twice as many numbers, so t is then twice `max_values_per_unit`.

    Args:
        epsilon: privacy loss of all names together, > 0. Rounded down if it is not a double.
        delta: probability with which epsilon may fail, strictly between 0 and 1. Rounded down likewise.
        max_values_per_unit: the largest number of values that a unit counts for.
        neighbours: which data sets the guarantee compares, ``"add_remove"`` or ``"replace_one"``.

    Raises:
        InvalidParameterError: an argument is out of range.

    Proof: ``proofs/partition_selection.md``. Source: Desfontaines, Voss, Gipson & Mandayam (2022).

    >>> mechanism = PartitionSelection(epsilon=1.0, delta=1e-6)
    >>> mechanism.count_needed(0.5), mechanism.certain_count
    (14, 28)
    >>> mechanism.select([1000, 0, 200]).tolist()
    [0, 2]
    """

    epsilon: float
    delta: float
    max_values_per_unit: int = 1
    neighbours: Neighbours = Neighbours.ADD_REMOVE
    _law: PartitionLaw = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        self._set(epsilon=positive_epsilon(self.epsilon))
        self._set(delta=open_delta(self.delta))
        most = positive_count(self.max_values_per_unit, "max_values_per_unit", at_most=MOST_VALUES_PER_UNIT)
        self._set(max_values_per_unit=most)
        self._set(neighbours=neighbouring_relation(self.neighbours))
        self._set(_law=PartitionLaw(*divided(self.epsilon, self.delta, moved_counts(most, self.neighbours))))

    @property
    def event(self) -> ApproximateEvent:
        """What all names together cost, for accounting; it does not depend on the data."""
        return ApproximateEvent(epsilon=self.epsilon, delta=self.delta)

    def probability(self, count: int) -> float:
        """The probability that a value of `count` units is named, to the last digits of a double. For planning.

        Raises:
            InvalidParameterError: `count` is not a whole number >= 0.

        >>> PartitionSelection(epsilon=1.0, delta=1e-6).probability(1)
        1e-06
        """
        if whole_number(count, "count") == 0:
            return 0.0
        low, high = self._law.bounds(positive_count(count, "count"), self._law.precise_bits)
        return float(Fraction(low + high, 2 << self._law.precise_bits))

    def count_needed(self, chance: float) -> int:
        """The smallest number of units at which a value is named with at least the probability `chance`.

        It depends on public arguments only, so it may be published. At most 2^63 - 1. One more where the probability
        equals `chance` so closely that no precision tells them apart.

        Raises:
            InvalidParameterError: `chance` is not strictly between 0 and 1.
        """
        least = Fraction(probability(chance, "chance"))
        return self._law.first_reaching(least)

    @property
    def certain_count(self) -> int:
        """The smallest number of units at which a value is named for certain. At most 2^63 - 1."""
        return self._law.first_reaching(Fraction(1))

    def select(self, counts: ScoresLike) -> npt.NDArray[np.int64]:
        """Toss the coins of all values, at the cost of `epsilon` and `delta` for all together.

        Args:
            counts: shape ``(n,)``, the number of units with each value: whole numbers >= 0; ``n = 0`` is allowed.

        Returns:
            The positions of the values that may be named, in increasing order.

        Raises:
            InvalidDataError: `counts` is not one-dimensional or not of whole numbers. Nothing is drawn then.

        Proof that the coins are exact: ``proofs/partition_selection.md``, claim 4.
        """
        numbers = whole_values(counts)
        distinct, sizes = np.unique(numbers, return_counts=True)
        by_count = np.split(np.argsort(numbers, kind="stable"), np.cumsum(sizes)[:-1])
        named = [np.empty(0, np.int64)]
        for count, places in zip(distinct.tolist(), by_count[: distinct.size], strict=True):
            bounds = partial(self._law.bounds, max(count, 0))
            named.append(places[_some_of(places.size, heads(bounds, places.size))])
        return np.sort(np.concatenate(named))


def open_delta(value: object) -> float:
    """`value`, or an error if it is not strictly between 0 and 1."""
    try:
        delta = delta_below_one(value)
    except InvalidParameterError:
        delta = 0.0
    if delta > 0.0:
        return delta
    hint = "Without public candidates nothing can be released at delta = 0. Choose it far below one over the units."
    raise InvalidParameterError("delta", value, "a number strictly between 0 and 1", hint)


def moved_counts(most: int, neighbours: Neighbours) -> int:
    """How many counts one unit may change, each by 1, if it counts for `most` values."""
    return most if neighbours is Neighbours.ADD_REMOVE else 2 * most


def divided(epsilon: float, delta: float, counts: int) -> tuple[Fraction, Fraction]:
    """What each of so many counts may cost: see `shares`.

    Raises:
        InvalidParameterError: `delta` is too small to be divided.
    """
    each, share = shares(epsilon, delta, counts)
    if share == 0.0:
        hint = "Each of the values of a unit gets a part of it."
        raise InvalidParameterError("delta", delta, "a number large enough to be divided", hint)
    return each, Fraction(share)


def _some_of(size: int, wanted: int) -> npt.NDArray[np.int64]:
    """So many of the places 0 ... size - 1, in no order; each set of them is equally likely."""
    fewer = min(wanted, size - wanted)
    drawn = _EQUAL.peel(np.zeros(size, np.int64), fewer) if fewer else np.empty(0, np.int64)
    return drawn if fewer == wanted else np.delete(np.arange(size), drawn)
