r"""From Rényi divergence to epsilon and back, rounded to the safe side.

A mechanism with Rényi divergence at most :math:`R_a` run :math:`k` times, adaptively, has at most :math:`k R_a`, and
is :math:`(\varepsilon', \delta)`-DP for the best order :math:`a > 1`. Every order gives a valid bound, so a search that
misses the best order only makes the bound looser.

Proof: ``proofs/top_k.md``. Sources: Mironov (2017) and Bun & Steinke (2016) for Rényi divergence; Canonne, Kamath &
Steinke (2020) for the conversion.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]

RELATIVE_ERROR = 2.0**-48
"""Bound on the relative rounding error of one evaluated term, with a margin (a few units of 2^-53)."""

_LOG_ORDERS_MINUS_ONE = np.linspace(math.log(1e-3), math.log(1e9), 161)


Divergence = Callable[[FloatArray], FloatArray]
"""Takes orders, shape ``(m,)``, each > 1; returns the divergences of everything that ran, rounded up, ``(m,)``."""


def best_epsilon(divergence: Divergence, delta: float) -> float:
    """The smallest epsilon, at `delta` > 0, that an order gives, rounded up."""
    return max(0.0, _smallest(lambda orders: epsilons(divergence(orders), orders, delta=delta)))


def best_delta(divergence: Divergence, epsilon: float) -> float:
    """The smallest delta, at `epsilon` >= 0, that an order gives, rounded up; about 1 at most."""

    def log_deltas(orders: FloatArray) -> FloatArray:
        total, above_one = divergence(orders), orders - 1.0
        with np.errstate(over="ignore", invalid="ignore"):
            shrinking = above_one * np.log1p(-1.0 / orders) - np.log(orders)
            value = above_one * (total - epsilon) + shrinking
            value += RELATIVE_ERROR * (above_one * (total + epsilon) - shrinking)
        return np.nan_to_num(value, nan=np.inf, posinf=np.inf)

    return math.exp(min(0.0, _smallest(log_deltas))) * (1.0 + 2.0**-40) + 5e-324


def _smallest(of_orders: Divergence) -> float:
    """The smallest value found on a grid of orders, refined around its best; every order gives a valid bound."""
    candidates: FloatArray = _LOG_ORDERS_MINUS_ONE
    smallest = math.inf
    for _ in range(4):
        values = of_orders(1.0 + np.exp(candidates))
        best = int(np.argmin(values))
        smallest = min(smallest, float(values[best]))
        low, high = candidates[max(best - 1, 0)], candidates[min(best + 1, candidates.size - 1)]
        candidates = low + (high - low) * np.linspace(0.0, 1.0, 33)
    return smallest


def epsilons(divergences: FloatArray, orders: FloatArray, *, delta: float) -> FloatArray:
    """Epsilon at `delta` by the divergence at each order, rounded up; each is a valid bound."""
    above_one = orders - 1.0  # of the order as rounded
    with np.errstate(over="ignore"):
        gain = np.log1p(-1.0 / orders)
        price = -(math.log(delta) + np.log(orders)) / above_one
        error = RELATIVE_ERROR * (divergences - gain + (np.log(orders) - math.log(delta)) / above_one)
        return divergences + gain + price + error


_MOST_GROWTH = math.log(2.0**16)
"""Of the logarithm of a place in one step."""


def largest_fitting(
    function: Callable[[float], float],
    limit: float,
    *,
    start: float,
    close: float,
    most: float = sys.float_info.max,
    trials: int = 200,
) -> float:
    """The largest place found at which `function` is at most `limit`; 0.0 if none was. It was evaluated there.

    Evaluations are few, because each may take as long as a small plan: the next place is where a power law through the
    last two values reaches the limit. Where that is outside of what is known, and every third time, it is the middle.

    Args:
        function: increasing, but for rounding; of numbers > 0.
        limit: > 0.
        start: where to look first, > 0.
        close: how far below the limit the function, or the place below one that does not fit, may be, relatively.
        most: the largest place at which the function may be evaluated.
        trials: how often the function may be evaluated.

    >>> asked = []
    >>> found = largest_fitting(lambda x: asked.append(x) or x * x, 2.0, start=1.0, close=1e-9)
    >>> 2.0 - 2e-9 <= found * found <= 2.0, len(asked) < 8
    (True, True)
    """
    good, bad, place, power = 0.0, math.inf, start, 1.0
    before: tuple[float, float] | None = None
    for trial in range(1, trials + 1):
        value = function(place)
        good, bad = (place, bad) if value <= limit else (good, place)
        is_close = limit * (1.0 - close) <= value <= limit or bad - good <= good * close
        if is_close or good >= most:
            break
        growth = math.inf if value <= limit else -math.inf
        if 0.0 < value < math.inf:
            here = math.log(place), math.log(value)
            if before is not None:
                power = min(max((here[1] - before[1]) / (here[0] - before[0]), 0.25), 4.0)
            before = here
            growth = (math.log(limit) + math.log1p(-close / 2.0) - here[1]) / power
        place = min(most, place * math.exp(min(max(growth, -_MOST_GROWTH), _MOST_GROWTH)))
        if good > 0.0 and bad < math.inf and (trial % 3 == 0 or not good < place < bad):
            place = good + (bad - good) / 2.0
        if not good < place < bad:
            break
    return good
