r"""Zero-concentrated privacy: the smallest rho of each property, rounded up.

A mechanism is :math:`\rho`-zCDP if its Rényi divergence is at most :math:`a\rho` at every order :math:`a > 1`. For
every property here but one the smallest such rho is the divergence at order 1: the Kullback-Leibler divergence of the
worst pair.

Proof: ``proofs/composition.md``, claim 3. Source: Bun & Steinke (2016).
"""

from __future__ import annotations

import math

from dpselect.accounting.events import (
    BoundedRangeEvent,
    LaplaceProfileEvent,
    LogisticProfileEvent,
    LossIntervalEvent,
    PureEvent,
    SingleEvent,
)

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
