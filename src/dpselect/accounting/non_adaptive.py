r"""The exact cost of many draws of one bounded-range mechanism from the same scores.

All draws have the same pair of laws, so the worst is one two-point law :math:`k` times. With :math:`i` losses of
:math:`t - \varepsilon` and :math:`k - i` of :math:`t`, delta at :math:`e` is

.. math:: \max_{0 \le l \le k} \sum_{i=0}^{l} \binom{k}{i} p^{k-i} (1 - p)^i \bigl(1 - e^{e - kt + i\varepsilon}\bigr),
    \qquad t = \Bigl[\frac{e + (l + 1)\varepsilon}{k + 1}\Bigr]_0^\varepsilon, \quad p = p_t.

It does *not* hold when a draw may depend on an earlier result: then delta can be larger.

Proof: ``proofs/composition.md``, claim 8. Source: Dong, Durfee & Rogers (2020).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from dpselect.accounting.events import NonAdaptiveEvent

MOST = 1000
"""Draws of which the formula is evaluated: the terms are this many squared."""

_UP = 1.0 + 2.0**-30
"""Room for the rounding of the logarithms of binomial coefficients, which are below 10^5."""


def non_adaptive_delta(event: NonAdaptiveEvent, epsilon: float) -> float:
    """Delta at `epsilon` >= 0 of the group, rounded up; 1 beyond `MOST` draws, of which nothing is computed.

    >>> from dpselect.accounting import BoundedRangeEvent
    >>> group = NonAdaptiveEvent(event=BoundedRangeEvent(epsilon=0.5), count=5)
    >>> round(non_adaptive_delta(group, 1.25), 6)
    0.004691
    """
    each, k = event.event.epsilon, event.count
    if epsilon >= event.epsilon:
        return 0.0
    if k > MOST:
        return 1.0
    i = np.arange(k + 1, dtype=np.float64)
    log_factorial = np.array([math.lgamma(j + 1.0) for j in range(k + 1)])
    log_binomial = log_factorial[-1] - log_factorial - log_factorial[::-1]
    largest = 0.0
    for last in range(k + 1):
        t = min(max((epsilon + (last + 1) * each) / (k + 1), 0.0), each)
        losses = k * t - i[: last + 1] * each
        gains = -np.expm1(np.minimum(epsilon - losses, 0.0))
        p = math.expm1(t - each) / math.expm1(-each)
        rest = math.exp(t - each) * -math.expm1(-t) / -math.expm1(-each)
        log_chances = _times_log(k - i[: last + 1], p) + _times_log(i[: last + 1], rest)
        chances = np.exp(log_binomial[: last + 1] + log_chances)
        largest = max(largest, float(np.sum(chances * gains)))
    return min(1.0, largest * _UP + 1e-300)


def _times_log(counts: NDArray[np.float64], chance: float) -> NDArray[np.float64]:
    """``counts * log(chance)``; 0 of none, whatever the chance."""
    return counts * math.log(chance) if chance > 0.0 else np.where(counts > 0.0, -np.inf, 0.0)


def non_adaptive_epsilon(event: NonAdaptiveEvent, delta: float) -> float:
    """The smallest epsilon at which `non_adaptive_delta` is at most `delta`, rounded up.

    >>> from dpselect.accounting import BoundedRangeEvent
    >>> group = NonAdaptiveEvent(event=BoundedRangeEvent(epsilon=0.1), count=100)
    >>> round(non_adaptive_epsilon(group, 1e-6), 2)
    2.25
    """
    low, high = 0.0, event.epsilon
    if event.count > MOST or non_adaptive_delta(event, low) <= delta:
        return high if event.count > MOST else low
    for _ in range(30):
        middle = low + (high - low) / 2.0
        if non_adaptive_delta(event, middle) <= delta:
            high = middle
        else:
            low = middle
    return high
