r"""The exact cost of many draws of one bounded-range mechanism from the same scores.

All draws have the same pair of laws, so the worst is one two-point law :math:`k` times. With :math:`i` losses of
:math:`t - \varepsilon` and :math:`k - i` of :math:`t`, delta at :math:`e` is

.. math:: \max_{0 \le l \le k} \sum_{i=0}^{l} \binom{k}{i} p^{k-i} (1 - p)^i \bigl(1 - e^{e - kt + i\varepsilon}\bigr),
    \qquad t = \Bigl[\frac{e + (l + 1)\varepsilon}{k + 1}\Bigr]_0^\varepsilon, \quad p = p_t.

It does *not* hold when a draw may depend on an earlier result: then delta can be larger.

Proof: ``proofs/composition.md``, claim 8. Source: Dong, Durfee & Rogers (2020).
"""

from __future__ import annotations

import functools
import itertools
import math
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from dpselect.accounting.events import NonAdaptiveEvent

MOST = 1000
"""Number of draws up to which the formula is evaluated: the number of terms is its square."""

_ROOM = 2.0**-46
"""For the rounding of logarithms: relative to each, and for each factor, of which there are at most `MOST`."""

_UP = 1.0 + 2.0**-40
"""For everything else: about ten roundings of each term, and those of their sum; all terms are positive."""


def non_adaptive_delta(event: NonAdaptiveEvent, epsilon: float) -> float:
    """Delta at `epsilon` >= 0 of the group, rounded up; 1 for more than `MOST` draws, without any computation.

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
    # Whole numbers of the same unit, so that what is left below the sum of all epsilons is exact, however small it is.
    unit = max(Fraction(each).denominator, Fraction(epsilon).denominator)  # both are powers of two
    range_of_one, allowed = int(Fraction(each) * unit), int(Fraction(epsilon) * unit)
    largest = 0.0
    for last in range(k):
        left = (k - last) * range_of_one - allowed
        if left <= 0:
            break
        s = math.nextafter(left / ((k + 1) * unit), math.inf)
        t = math.nextafter((allowed + (last + 1) * range_of_one) / ((k + 1) * unit), math.inf)
        largest = max(largest, _weighed(each, k, last, s=s, t=t))
    return min(1.0, largest * _UP + 1e-300)


def _weighed(each: float, k: int, last: int, *, s: float, t: float) -> float:
    """The sum at one `last`: `s` is the range less `t`, and both are rounded up.

    Losses exceed epsilon by ``s + (last - i) * each``, a sum in which nothing cancels. The probabilities of both
    losses increase with `s` and with `t`.
    """
    i = np.arange(last + 1, dtype=np.float64)
    gains = -np.expm1(-(s + (last - i) * each))
    whole = -math.expm1(-each)
    log_high = math.log(min(1.0, -math.expm1(-s) / whole))
    log_low = min(0.0, math.log(-math.expm1(-t) / whole) - math.nextafter(s, 0.0) * (1.0 - 2.0**-50))
    parts = _log_binomials(k)[: last + 1], (k - i) * log_high, i * log_low
    room = _ROOM * (k + sum(np.abs(part) for part in parts))
    return float(np.sum(np.exp(sum(parts) + room) * gains))


@functools.lru_cache(maxsize=64)
def _log_binomials(k: int) -> NDArray[np.float64]:
    """Logarithms of the binomials ``k`` over 0 to `k`, each from the exact whole number."""
    binomials = itertools.accumulate(range(1, k + 1), lambda found, i: found * (k - i + 1) // i, initial=1)
    return np.array([math.log(each) for each in binomials])


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
