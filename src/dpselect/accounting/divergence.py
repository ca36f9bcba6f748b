r"""The divergences of events: Rényi's at each order, added up over all that ran, and rho, its slope at order 1.

A mechanism is :math:`\rho`-zCDP if its Rényi divergence is at most :math:`a\rho` at every order :math:`a > 1`. For
every property here but one the smallest such rho is the divergence at order 1: the Kullback-Leibler divergence of the
worst pair. Proof: ``proofs/composition.md``, claim 3. Source: Bun & Steinke (2016).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from dpselect.accounting.events import (
    BoundedRangeEvent,
    LaplaceProfileEvent,
    LogisticProfileEvent,
    LossIntervalEvent,
    PureEvent,
    SingleEvent,
)
from dpselect.accounting.profiles import (
    bounded_range_renyi,
    laplace_profile_renyi,
    logistic_profile_renyi,
    loss_interval_renyi,
    pure_renyi,
)

FloatArray = NDArray[np.float64]

_AT_ONCE = 2**17
"""Number of divergences evaluated together, so that they stay in the processor's cache."""


_RENYI: dict[type[SingleEvent], Callable[..., FloatArray]] = {
    BoundedRangeEvent: bounded_range_renyi,
    LaplaceProfileEvent: laplace_profile_renyi,
    LogisticProfileEvent: logistic_profile_renyi,
    LossIntervalEvent: loss_interval_renyi,
}
"""The divergence of the worst mechanism with each property; of all others, while they do not fail, `pure_renyi`."""


def _ends(event: SingleEvent) -> tuple[float, ...]:
    """The arguments of its divergence; in reverse, those with the roles of both data sets exchanged."""
    return (event.below, event.above) if isinstance(event, LossIntervalEvent) else (event.epsilon,)


def divergences_of(event: SingleEvent, orders: FloatArray) -> FloatArray:
    """The divergence at each order of the worst mechanism with the property of `event`, in the worse direction."""
    renyi, ends = _RENYI.get(type(event), pure_renyi), _ends(event)
    return np.maximum(renyi(*ends, orders), renyi(*ends[::-1], orders))


class Divergences:
    """Call it with orders, shape ``(m,)``: it returns the total divergence at each, rounded up, shape ``(m,)``."""

    def __init__(self, counts: Mapping[SingleEvent, int]) -> None:
        self._parts: list[tuple[Callable[..., FloatArray], FloatArray, FloatArray]] = []
        self._known: tuple[FloatArray, FloatArray] | None = None
        kinds = {type(event) for event in counts}
        self._directions = (1, -1) if LossIntervalEvent in kinds else (1,)
        for kind in kinds:
            alike = [(*_ends(event), float(count)) for event, count in counts.items() if type(event) is kind]
            *ends, times = np.array(alike).T
            self._parts.append((_RENYI.get(kind, pure_renyi), np.array(ends), np.nextafter(times, np.inf)))

    def __call__(self, orders: FloatArray) -> FloatArray:
        if self._known is not None and np.array_equal(self._known[0], orders):
            return self._known[1]
        total = np.maximum.reduce([self._one_way(orders, direction) for direction in self._directions])
        total = np.nan_to_num(total, nan=np.inf, posinf=np.inf)
        if self._known is None:  # the first orders are always the coarse grid, with which every search begins
            self._known = (orders, total)
        return total

    def _one_way(self, orders: FloatArray, direction: int) -> FloatArray:
        """The sum in one direction: what has one adds up in each of them, the rest is the same in both."""
        total = np.zeros_like(orders)
        rows = max(1, _AT_ONCE // max(1, len(orders)))
        with np.errstate(over="ignore", invalid="ignore"):
            for renyi, ends, times in self._parts:
                error = 1.0 + (len(times) + 8) * 2.0**-52
                for start in range(0, len(times), rows):
                    some = ends[::direction, start : start + rows, np.newaxis]
                    part = times[start : start + rows] @ renyi(*some, orders)
                    total = (total + part * error) * (1.0 + 2.0**-52)
        return total


_RELATIVE = 2.0**-48


def rho_of(event: SingleEvent) -> float:
    r"""The smallest rho that the property of `event` proves, rounded up; infinite if it has a delta.

    Bounded range: :math:`y - 1 - \ln y` with :math:`y = \varepsilon/(e^\varepsilon - 1)`; logistic:
    :math:`\varepsilon\coth(\varepsilon/2) - 2`; Laplace: :math:`\varepsilon - 1 + e^{-\varepsilon}`; pure:
    :math:`\varepsilon\tanh(\varepsilon/2)`. For a loss interval, the smaller of those of bounded range and pure
    privacy, which need not be the smallest there is.

    >>> [round(rho_of(kind(epsilon=1.0)), 3) for kind in (BoundedRangeEvent, LogisticProfileEvent, LaplaceProfileEvent)]
    [0.123, 0.164, 0.368]
    >>> round(rho_of(PureEvent(epsilon=1.0)), 3)
    0.462
    """
    epsilon = event.epsilon
    match event:
        case BoundedRangeEvent():
            value, error = _bounded_range(epsilon)
        case LogisticProfileEvent():
            value, error = _logistic(epsilon)
        case LaplaceProfileEvent():
            value, error = _laplace(epsilon)
        case PureEvent():
            value, error = epsilon * math.tanh(epsilon / 2.0), 0.0
        case LossIntervalEvent():
            width = math.nextafter(event.below + event.above, math.inf)
            return min(rho_of(BoundedRangeEvent(epsilon=width)), rho_of(PureEvent(epsilon=epsilon)))
        case _:
            return math.inf
    return math.nextafter(value * (1.0 + _RELATIVE) + error, math.inf)


def _bounded_range(epsilon: float) -> tuple[float, float]:
    if epsilon < 0.1:  # the series alternates, its terms fall, and the last term that is kept is positive
        square = epsilon * epsilon
        return square / 8.0 * (1.0 - square / 72.0 * (1.0 - square / 45.0)), 0.0
    minus_log_y = epsilon - math.log(epsilon) + math.log1p(-math.exp(-epsilon))
    y_minus_one = epsilon * math.exp(-epsilon) / -math.expm1(-epsilon) - 1.0
    return y_minus_one + minus_log_y, 2.0**-50 * (1.0 + epsilon + abs(math.log(epsilon)))


def _logistic(epsilon: float) -> tuple[float, float]:
    if epsilon < 0.1:  # as above
        square = epsilon * epsilon
        return square / 6.0 * (1.0 - square / 60.0 * (1.0 - square / 42.0)), 0.0
    return epsilon / math.tanh(epsilon / 2.0) - 2.0, 2.0**-50 * (2.0 + epsilon)


def _laplace(epsilon: float) -> tuple[float, float]:
    if epsilon < 0.03:  # as above
        e = epsilon
        return e * e / 2.0 * (1.0 - e / 3.0 * (1.0 - e / 4.0 * (1.0 - e / 5.0 * (1.0 - e / 6.0)))), 0.0
    return epsilon + math.expm1(-epsilon), 2.0**-50 * (1.0 + epsilon)
