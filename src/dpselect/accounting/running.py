"""Totals that grow by one event at a time: exact sums, and divergences at a few fixed orders."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpselect.accounting.divergence import Divergences
from dpselect.accounting.events import Event, Run
from dpselect.accounting.leaves import leaves_of

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Running:
    """What was spent so far; `after` returns the next state and leaves this one unchanged.

    Attributes:
        orders: fixed before the first event.
        divergences: at each of them, rounded up.
        basic: sum of all epsilons.
        delta: sum of the events' own deltas.
        run: a run that says whom it protects; the others have to protect the same.
    """

    orders: FloatArray
    divergences: FloatArray
    basic: Fraction = Fraction(0)
    delta: Fraction = Fraction(0)
    run: Run | None = None

    def after(self, event: Event | Run) -> Running:
        """With one more event.

        Raises:
            InvalidParameterError: no event, or a run for another unit or relation than the earlier ones.
        """
        if self.run is not None:
            leaves_of([event, self.run])  # refuses runs that do not add up
        leaves = leaves_of([event])
        with np.errstate(over="ignore"):
            divergences = (self.divergences + Divergences(leaves.counts)(self.orders)) * (1.0 + 2.0**-52)
        run = event if isinstance(event, Run) else self.run
        return Running(self.orders, divergences, self.basic + leaves.basic, self.delta + leaves.delta, run)


def nothing(orders: FloatArray) -> Running:
    """Before the first event."""
    return Running(orders, np.zeros_like(orders))


class Locked:
    """Has a lock of its own, which copies and pickles do not contain: a copy goes on separately from the same state."""

    def __init__(self) -> None:
        self._lock = threading.Lock()

    def __getstate__(self) -> dict[str, Any]:
        with self._lock:
            return {name: value for name, value in vars(self).items() if name != "_lock"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, _lock=threading.Lock())
