"""The Rényi divergence of everything that ran: one number for each order, added up over events."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from dpselect.accounting.events import (
    BoundedRangeEvent,
    LaplaceProfileEvent,
    LogisticProfileEvent,
    LossIntervalEvent,
    SingleEvent,
)
from dpselect.accounting.profiles import (
    bounded_range_renyi,
    laplace_profile_renyi,
    logistic_profile_renyi,
    loss_interval_renyi,
    pure_renyi,
)
from dpselect.accounting.renyi import Renyi

FloatArray = NDArray[np.float64]

_AT_ONCE = 2**17
"""Number of divergences evaluated together, so that they stay in the processor's cache."""


def renyi_of(kind: type[SingleEvent]) -> Renyi:
    """The divergence of the worst mechanism with this property; for an approximate event, if it does not fail."""
    if kind is BoundedRangeEvent:
        return bounded_range_renyi
    if kind is LaplaceProfileEvent:
        return laplace_profile_renyi
    return logistic_profile_renyi if kind is LogisticProfileEvent else pure_renyi


def divergences_of(event: SingleEvent, orders: FloatArray) -> FloatArray:
    """The divergence at each order of the worst mechanism with the property of `event`, in the worse direction."""
    if isinstance(event, LossIntervalEvent):
        one, other = event.below, event.above
        return np.maximum(loss_interval_renyi(one, other, orders), loss_interval_renyi(other, one, orders))
    return renyi_of(type(event))(event.epsilon, orders)


class Divergences:
    """Call it with orders, shape ``(m,)``: it returns the total divergence at each, rounded up, shape ``(m,)``."""

    def __init__(self, counts: Mapping[SingleEvent, int]) -> None:
        self._parts: list[tuple[Renyi, FloatArray, FloatArray]] = []
        self._known: tuple[FloatArray, FloatArray] | None = None
        directed = [
            (event.below, event.above, n) for event, n in counts.items() if isinstance(event, LossIntervalEvent)
        ]
        self._ends = np.array(directed, dtype=np.float64).reshape(len(directed), 3)
        for kind in {type(event) for event in counts} - {LossIntervalEvent}:
            alike = [(event.epsilon, float(count)) for event, count in counts.items() if type(event) is kind]
            epsilons, times = np.array(alike).T
            self._parts.append((renyi_of(kind), epsilons[:, np.newaxis], np.nextafter(times, np.inf)))

    def __call__(self, orders: FloatArray) -> FloatArray:
        if self._known is not None and np.array_equal(self._known[0], orders):
            return self._known[1]
        total = self._total(orders)
        if self._known is None:  # the first orders are always the coarse grid, with which every search begins
            self._known = (orders, total)
        return total

    def _total(self, orders: FloatArray) -> FloatArray:
        """The larger of both directions: what has one adds up in each of them, the rest is the same in both."""
        total = self._without_direction(orders)
        if len(self._ends) == 0:
            return total
        below, above, times = self._ends.T[:, :, np.newaxis]
        error = 1.0 + (len(times) + 8) * 2.0**-52
        sums: list[FloatArray] = []
        for ends in ((below, above), (above, below)):
            with np.errstate(over="ignore", invalid="ignore"):
                part = np.nextafter(times, np.inf).T @ loss_interval_renyi(*ends, orders)
                sums.append((total + part[0] * error) * (1.0 + 2.0**-52))
        return np.nan_to_num(np.maximum(sums[0], sums[1]), nan=np.inf, posinf=np.inf)

    def _without_direction(self, orders: FloatArray) -> FloatArray:
        total = np.zeros_like(orders)
        rows = max(1, _AT_ONCE // max(1, len(orders)))
        with np.errstate(over="ignore", invalid="ignore"):
            for renyi, epsilons, times in self._parts:
                error = 1.0 + (len(epsilons) + 8) * 2.0**-52
                for start in range(0, len(epsilons), rows):
                    part = times[start : start + rows] @ renyi(epsilons[start : start + rows], orders)
                    total = (total + part * error) * (1.0 + 2.0**-52)
        return np.nan_to_num(total, nan=np.inf, posinf=np.inf)
