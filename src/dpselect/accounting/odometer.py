"""The running total for mechanisms whose epsilons are chosen in view of earlier results."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from dpselect.accounting.divergence import Divergences
from dpselect.accounting.events import Event, Run
from dpselect.accounting.filter import Locked
from dpselect.accounting.leaves import leaves_of
from dpselect.accounting.rounding import fraction_up
from dpselect.checks import delta_below_one

_LARGEST = 1e290
"""A larger sum is returned unchanged: its divergences would overflow, and would not be smaller."""

_ORDERS = 1.0 + np.exp(np.linspace(math.log(0.125), math.log(2048.0), 29))


@dataclass(frozen=True, slots=True, eq=False)
class Running:
    """What was spent so far: divergences at `_ORDERS`, rounded up; exact sums; and a run that says whom it protects."""

    divergences: NDArray[np.float64]
    basic: Fraction = Fraction(0)
    delta: Fraction = Fraction(0)
    run: Run | None = None

    def after(self, event: Event | Run) -> Running:
        if self.run is not None:
            leaves_of([event, self.run])  # refuses runs that do not add up
        leaves = leaves_of([event])
        with np.errstate(over="ignore"):
            divergences = (self.divergences + Divergences(leaves.counts)(_ORDERS)) * (1.0 + 2.0**-52)
        run = event if isinstance(event, Run) else self.run
        return Running(divergences, self.basic + leaves.basic, self.delta + leaves.delta, run)


class Odometer(Locked):
    r"""What was spent so far, valid at every moment, even if each event is chosen in view of earlier results.

    `compose` is for events that were fixed in advance. An odometer may be read at any time, also to decide what to do
    next: with probability at least ``1 - delta`` no privacy loss ever exceeds `epsilon` as read at that time. Its total
    is somewhat larger than that of `compose` for the same events.

    Its readings hold for all threads of one process that share it. They do not hold across processes: a copy, a pickle
    or a fork counts separately and does not know what the others spend. For these use `dpselect.Ledger`.

    Args:
        delta: probability with which any reading may be too small, from 0 (then it is the sum of all epsilons) to
            below 1.

    Raises:
        InvalidParameterError: `delta` is out of range.

    Proof: ``proofs/composition.md``, claim 9. Source of the supermartingale: Feldman & Zrnic (2021).

    >>> from dpselect.accounting import BoundedRangeEvent
    >>> odometer = Odometer(delta=1e-6)
    >>> for _ in range(100):
    ...     odometer.spend(BoundedRangeEvent(epsilon=0.1))
    >>> round(odometer.epsilon, 2), round(odometer.basic, 9)
    (3.0, 10.0)
    """

    def __init__(self, *, delta: float) -> None:
        super().__init__()
        self.delta = delta_below_one(delta)
        self._spent = Running(np.zeros_like(_ORDERS))

    def spend(self, event: Event | Run) -> None:
        """Add one event, before it runs.

        Raises:
            InvalidParameterError: `event` is not an event, or is a run for another unit or relation than the earlier
                ones.
        """
        with self._lock:
            self._spent = self._spent.after(event)

    @property
    def basic(self) -> float:
        """The sum of all epsilons, rounded up: it always holds, without an additional delta."""
        return fraction_up(self._spent.basic)

    @property
    def failing(self) -> float:
        """The sum of the events' own deltas, rounded up: it has to be added to `delta`."""
        return min(1.0, fraction_up(self._spent.delta))

    @property
    def epsilon(self) -> float:
        """The total so far, rounded up: no privacy loss exceeds it, except with probability `delta` (and `failing`)."""
        spent = self._spent  # one state, even if other threads add events meanwhile
        low, high = 0.0, fraction_up(spent.basic)
        if self.delta == 0.0 or high > _LARGEST:
            return high
        if self._is_safe(low, spent):
            return low
        for _ in range(60):
            middle = low + (high - low) / 2.0
            if self._is_safe(middle, spent):
                high = middle
            else:
                low = middle
        return high

    def _is_safe(self, loss: float, spent: Running) -> bool:
        """Whether the mean over orders of ``exp((a - 1)(loss - R_a))`` reaches 1 / delta, with room for rounding."""
        exponents = (_ORDERS - 1.0) * (loss - spent.divergences)
        largest = float(np.max(exponents))
        total = largest + math.log(float(np.mean(np.exp(exponents - largest))))
        room = 2.0**-44 * (1.0 + float(np.max((_ORDERS - 1.0) * (loss + spent.divergences))))
        return total - room >= -math.log(self.delta)
