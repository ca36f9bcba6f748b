"""Totals that grow by one event at a time: exact sums, and divergences at a few fixed orders."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

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
