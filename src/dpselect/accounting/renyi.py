r"""From Rényi divergence to epsilon and back, rounded to the safe side.

A mechanism with Rényi divergence at most :math:`R_a` run :math:`k` times, adaptively, has at most :math:`k R_a`, and
is :math:`(\varepsilon', \delta)`-DP for the best order :math:`a > 1`. Every order gives a valid bound, so a search that
misses the best order only makes the bound looser.

Where an increasing total crosses its limit is asked in few places: each of them takes as long as a small plan.

Proof: ``proofs/top_k.md``. Sources: Mironov (2017) and Bun & Steinke (2016) for Rényi divergence; Canonne, Kamath &
Steinke (2020) for the conversion.
"""

from __future__ import annotations

import functools
import math
import sys
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from dpselect.accounting.rounding import product_up, quotient_down
from dpselect.checks import delta_below_one, positive_count, positive_epsilon
from dpselect.errors import InvalidParameterError

FloatArray = NDArray[np.float64]
Renyi = Callable[[float | FloatArray, FloatArray], FloatArray]
"""Takes epsilon and orders, shape ``(m,)``, each > 1; returns Rényi divergences, rounded up, ``(m,)``, in nats."""

RELATIVE_ERROR = 2.0**-48
"""Bound on the relative rounding error of one evaluated term, with a margin (a few units of 2^-53)."""

_WIDTH = 2.0**-30
"""The precision of `largest_epsilon`."""

_ROUNDED_BELOW = 1e-5
"""A smaller total falls in places, by the rounding of the orders' terms."""

_LOG_ORDERS_MINUS_ONE = np.linspace(math.log(1e-3), math.log(1e9), 161)


def total_epsilon(renyi: Renyi, *, epsilon: float, count: int, delta: float) -> float:
    """Epsilon, at `delta`, of `count` adaptive runs of something `epsilon`-DP with divergences `renyi`, rounded up.

    The smaller of basic composition and the Rényi bound at its best order.
    """
    epsilon = positive_epsilon(epsilon)
    count = positive_count(count, "count", at_most=sys.maxsize)
    delta = delta_below_one(delta)
    basic = product_up(epsilon, count)
    if delta == 0.0:
        return basic

    def total(orders: FloatArray) -> FloatArray:
        with np.errstate(over="ignore"):  # for an epsilon near the largest double, infinite is correct
            return count * renyi(epsilon, orders) * (1.0 + 2.0**-50)

    return min(basic, best_epsilon(total, delta=delta)[0])


Divergence = Callable[[FloatArray], FloatArray]
"""Takes orders, shape ``(m,)``, each > 1; returns the divergences of everything that ran, rounded up, ``(m,)``."""


def best_epsilon(divergence: Divergence, *, delta: float) -> tuple[float, float]:
    """The smallest epsilon, at `delta` > 0, that an order gives, rounded up, and that order."""
    return _smallest(lambda orders: epsilons(divergence(orders), orders, delta=delta))


def best_log_delta(divergence: Divergence, *, epsilon: float) -> tuple[float, float]:
    """The smallest logarithm of delta, at `epsilon` >= 0, that an order gives, rounded up, and that order."""

    def log_deltas(orders: FloatArray) -> FloatArray:
        total, above_one = divergence(orders), orders - 1.0
        with np.errstate(over="ignore", invalid="ignore"):
            shrinking = above_one * np.log1p(-1.0 / orders) - np.log(orders)
            value = above_one * (total - epsilon) + shrinking
            value += RELATIVE_ERROR * (above_one * (total + epsilon) - shrinking)
        return np.nan_to_num(value, nan=np.inf, posinf=np.inf)

    return _smallest(log_deltas, at_least=-math.inf)


def _smallest(of_orders: Divergence, *, at_least: float = 0.0) -> tuple[float, float]:
    """The smallest value found on a grid of orders, refined around its best; every order gives a valid bound."""
    candidates: FloatArray = _LOG_ORDERS_MINUS_ONE
    smallest, order = math.inf, 2.0
    for _ in range(4):
        orders = 1.0 + np.exp(candidates)
        values = of_orders(orders)
        best = int(np.argmin(values))
        if values[best] < smallest:
            smallest, order = float(values[best]), float(orders[best])
        low, high = candidates[max(best - 1, 0)], candidates[min(best + 1, candidates.size - 1)]
        candidates = low + (high - low) * np.linspace(0.0, 1.0, 33)
    return max(at_least, smallest), order


def epsilons(divergences: FloatArray, orders: FloatArray, *, delta: float) -> FloatArray:
    """Epsilon at `delta` by the divergence at each order, rounded up; each is a valid bound."""
    above_one = orders - 1.0  # of the order as rounded
    with np.errstate(over="ignore"):
        gain = np.log1p(-1.0 / orders)
        price = -(math.log(delta) + np.log(orders)) / above_one
        error = RELATIVE_ERROR * (divergences - gain + (np.log(orders) - math.log(delta)) / above_one)
        return divergences + gain + price + error


def largest_epsilon(renyi: Renyi, *, epsilon: float, count: int, delta: float) -> float:
    """The largest epsilon a run whose `total_epsilon` is at most `epsilon`, never below what basic composition allows.

    Args:
        renyi: of one run, as for `total_epsilon`.
        epsilon: total, > 0.
        count: number of runs.
        delta: total; 0 leaves basic composition only.
    """
    epsilon = positive_epsilon(epsilon)
    delta = delta_below_one(delta)
    count = positive_count(count, "count", at_most=sys.maxsize)
    basic = quotient_down(epsilon, count)
    if basic == 0.0:
        raise InvalidParameterError("epsilon", epsilon, f"a number large enough to be divided by {count}")
    return basic if delta == 0.0 else _largest(renyi, epsilon, count, delta)


@functools.lru_cache(maxsize=512)
def _largest(renyi: Renyi, epsilon: float, count: int, delta: float) -> float:
    basic = quotient_down(epsilon, count)

    def total(each: float) -> float:
        return total_epsilon(renyi, epsilon=each, count=count, delta=delta)

    def bisected(fits: Callable[[float], bool]) -> float:
        affordable, too_much = basic, 2.0 * basic
        while fits(too_much):
            affordable, too_much = too_much, 2.0 * too_much
        while too_much - affordable > affordable * 2.0**-30:
            middle = affordable + (too_much - affordable) / 2.0
            if fits(middle):
                affordable = middle
            else:
                too_much = middle
        return affordable

    if epsilon < _ROUNDED_BELOW:
        return bisected(lambda each: total(each) <= epsilon)
    start = max(basic, _first_guess(epsilon, count, delta))
    return largest_fitting(total, epsilon, bisected, start=start, width=_WIDTH)


def _first_guess(epsilon: float, count: int, delta: float) -> float:
    """Where `largest_epsilon` looks first: what the divergences of small bounded ranges would allow."""
    logarithm = -math.log(delta)
    return math.sqrt(8.0 / count) * (math.sqrt(logarithm + epsilon) - math.sqrt(logarithm))


_STEPS = 12
_MOST_GROWTH = 600.0
"""Of a logarithm in one step."""


def largest_fitting(
    function: Callable[[float], float],
    limit: float,
    bisected: Callable[[Callable[[float], bool]], float],
    *,
    start: float,
    width: float,
    most: float = sys.float_info.max,
) -> float:
    """What `bisected` finds when it asks where `function` is at most `limit`; the function itself is asked less often.

    Rounding may let the function fall a little in places. So what is found without having been asked is asked at the
    end, and if the function is above the limit there, `bisected` asks the function alone.

    Args:
        function: increasing, but for rounding; of numbers > 0.
        limit: > 0.
        bisected: takes whether a place fits; returns one that does, or 0.0.
        start: where to look first, > 0.
        width: see `Crossing.approach`.
        most: the largest place at which the function may be evaluated.

    >>> def square_root(fits):
    ...     low, high = 0.0, 2.0
    ...     for _ in range(50):
    ...         middle = (low + high) / 2.0
    ...         low, high = (middle, high) if fits(middle) else (low, middle)
    ...     return low
    >>> largest_fitting(lambda x: x * x, 2.0, square_root, start=1.0, width=1e-9) == square_root(lambda x: x * x <= 2.0)
    True
    """
    crossing = Crossing(function, limit, most)
    crossing.approach(start, width=width)
    found = bisected(crossing.fits)
    if found in (0.0, crossing.good) or function(found) <= limit:
        return found
    return bisected(lambda place: function(place) <= limit)


@dataclass(slots=True)
class Crossing:
    """Whether an increasing function is at most a limit; evaluated only between the places where that is known.

    Elsewhere the answer follows from the function's increase.

    Attributes:
        function: increasing, but for rounding; of numbers > 0.
        limit: > 0.
        most: the largest place at which the function may be evaluated.
        good: the largest place known where the function is at most the limit.
        bad: the smallest place known where it is not.

    >>> asked = []
    >>> crossing = Crossing(lambda x: asked.append(x) or x * x, 2.0)
    >>> crossing.approach(1.0, width=1e-9)
    >>> crossing.good < math.sqrt(2.0) <= crossing.bad, crossing.bad / crossing.good < 1.0 + 1e-8, len(asked) < 12
    (True, True, True)
    """

    function: Callable[[float], float]
    limit: float
    most: float = sys.float_info.max
    good: float = field(default=0.0, init=False)
    bad: float = field(default=math.inf, init=False)

    def fits(self, place: float) -> bool:
        """Whether the function is at most the limit there."""
        if self.good < place < self.bad:
            self._value(place)
        return place <= self.good

    def approach(self, start: float, *, width: float) -> None:
        """Learn two places, about `width` apart relative to themselves, between which the function crosses the limit.

        Each place is where a power law through the last two values reaches the limit. Where none fits, less is known.

        Args:
            start: where to look first, > 0.
            width: how far apart they may be at least.
        """
        place, value, power = start, self._value(start), 1.0
        for _ in range(_STEPS):
            if not 0.0 < value < math.inf:
                return
            growth = (math.log(self.limit) - math.log(value)) / power
            further = place * math.exp(min(max(growth, -_MOST_GROWTH), _MOST_GROWTH))
            if not 0.0 < further <= self.most or abs(further - place) <= place * width / 4.0:
                break
            before, place = (place, value), further
            value = self._value(place)
            if not 0.0 < value < math.inf:
                return
            power = min(max(math.log(value / before[1]) / math.log(place / before[0]), 0.25), 4.0)
        for near in (place * (1.0 - width), place * (1.0 + width)):
            if 0.0 < near <= self.most:
                self.fits(near)

    def _value(self, place: float) -> float:
        value = self.function(place)
        if value <= self.limit:
            self.good = max(self.good, place)
        else:
            self.bad = min(self.bad, place)
        return value
