r"""Rényi divergences, safe in floats: of the worst mechanism with each property, of all that ran; epsilon from them.

Those of adaptive runs add up; every order gives a valid bound, so a search that misses the best one only loosens it.
Proofs: ``proofs/top_k.md``, ``proofs/noisy_max.md``, ``proofs/composition.md``. Sources: Mironov (2017); Bun & Steinke
(2016); Dong, Durfee & Rogers (2020) for bounded range; Canonne, Kamath & Steinke (2020) for the conversion.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Mapping, Sequence
from decimal import Context, Decimal, localcontext
from fractions import Fraction

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
from dpselect.checks import fraction_up

FloatArray = NDArray[np.float64]

RELATIVE_ERROR = 2.0**-48  # bound on the rounding of one evaluated term, with a margin (a few units of 2^-53)


def renyi(kind: type[SingleEvent], ends: Sequence[FloatArray], orders: FloatArray) -> FloatArray:
    r"""Rényi divergence, at each order, of the worst mechanism with the property of this kind of event, rounded up.

    The smallest of three bounds: a closed form, :math:`a\varepsilon^2` over a number, and :math:`\varepsilon`. The
    `ends` are the epsilon, > 0, or what is below and above, of several events each of shape ``(n, 1)``. For `orders` of
    shape ``(m,)``, each > 1, the result has shape ``(m,)`` or ``(n, m)``, in nats.
    """
    closed_form, part = _CLOSED.get(kind, _CLOSED[PureEvent])
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        value, error = closed_form(*ends, orders)
        closed = np.nan_to_num((value + RELATIVE_ERROR * error) / (orders - 1.0), nan=np.inf, posinf=np.inf)
        if kind is LossIntervalEvent:  # at most bounded range over the whole width, and pure privacy at the larger end
            width, larger = np.nextafter(ends[0] + ends[1], np.inf), np.maximum(*ends)
            simple = np.minimum(renyi(BoundedRangeEvent, [width], orders), renyi(PureEvent, [larger], orders))
        else:
            simple = np.minimum(orders * ends[0] * (ends[0] / part) * (1.0 + RELATIVE_ERROR), ends[0])
    return np.minimum(closed, simple)


# Each closed form returns the divergence times the order minus 1, and the terms that its rounding is relative to.
Terms = tuple[FloatArray, FloatArray]


def _bounded_range(epsilon: FloatArray, orders: FloatArray) -> Terms:
    r"""The published one, rewritten so that its large terms cancel in the formula instead of in floats.

    :math:`a\,\ell(a\varepsilon) - (a-1)\,\ell((a-1)\varepsilon) - \ell(\varepsilon)`, where
    :math:`\ell(z) = \ln(\sinh(z/2)/(z/2))`. Proof: ``proofs/top_k.md``.
    """
    above_one, at_one = orders - 1.0, log_sinhc(epsilon)
    at_order, below = orders * log_sinhc(orders * epsilon), above_one * log_sinhc(above_one * epsilon)
    return at_order - below - at_one, at_order + below + at_one


def _laplace(epsilon: FloatArray, orders: FloatArray) -> Terms:
    r""":math:`\ln (a\,e^{(a-1)\varepsilon} + (a-1)\,e^{-a\varepsilon}) / (2a - 1)`. Proof: ``proofs/noisy_max.md``."""
    above_one = orders - 1.0
    weight, other_weight = orders / (2.0 * orders - 1.0), above_one / (2.0 * orders - 1.0)
    return _log_mean(weight, other_weight, above_one * epsilon, orders * epsilon)


def _logistic(epsilon: FloatArray, orders: FloatArray) -> Terms:
    """Proof: ``proofs/composition.md``, claim 2."""
    at_order, at_one = log_sinhc((2.0 * orders - 1.0) * epsilon), log_sinhc(epsilon)
    return at_order - at_one, at_order + at_one


def _pure(epsilon: FloatArray, orders: FloatArray) -> Terms:
    r""":math:`\ln(\cosh d + \tanh\frac{\varepsilon}{2} \sinh d)`, :math:`d = (a - 1)\varepsilon`. Proof: the same."""
    d, slope = (orders - 1.0) * epsilon, np.tanh(epsilon / 2.0)
    half = np.minimum(d, 1.0) / 2.0
    small = np.log1p(2.0 * np.sinh(half) ** 2 + slope * np.sinh(2.0 * half))  # all terms positive
    value = np.where(d < 1.0, small, d + np.log1p((1.0 - slope) / 2.0 * np.expm1(-2.0 * d)))
    return value, value


def _loss_interval(below: FloatArray, above: FloatArray, orders: FloatArray) -> Terms:
    r"""Of the pair of only the two losses at the ends, the upper one with :math:`(e^b - 1)/(e^b - e^{-c})`.

    Here :math:`b` is `below`, and :math:`c` is `above`. Proof: ``proofs/above_threshold.md``, claim 5.
    """
    width, above_one = np.nextafter(below + above, np.inf), orders - 1.0
    p, q = np.expm1(-below) / np.expm1(-width), np.exp(-below) * (np.expm1(-above) / np.expm1(-width))
    value, error = _log_mean(p, q, above_one * above, above_one * below)
    return value, 4.0 * error


_CLOSED: dict[type[SingleEvent], tuple[Callable[..., Terms], float]] = {
    BoundedRangeEvent: (_bounded_range, 8.0),
    LaplaceProfileEvent: (_laplace, 2.0),
    LogisticProfileEvent: (_logistic, 6.0),
    LossIntervalEvent: (_loss_interval, 0.0),
    PureEvent: (_pure, 2.0),
}
"""Of each property, its closed form, and what :math:`a\\varepsilon^2` is divided by; all others count as pure."""


def _log_mean(p: FloatArray, q: FloatArray, up: FloatArray, down: FloatArray) -> Terms:
    """``ln(p e^up + q e^-down)`` for weights that sum to 1, and the terms that its rounding is relative to."""
    rise, fall = p * np.expm1(up), q * np.expm1(-down)
    small, small_error = np.log1p(rise + fall), rise - fall  # both terms, before they cancel
    large, large_error = up + np.log(p + q * np.exp(-(up + down))), up + 1.0 - np.log(p)
    return np.where(up < 1.0, small, large), np.where(up < 1.0, small_error, large_error)


def log_sinhc(z: FloatArray) -> FloatArray:
    """``ln(sinh(z/2) / (z/2))`` for ``z >= 0``, with a small relative error even where it is tiny."""
    square = np.minimum(z / 2.0, 2.0) ** 2
    tail = np.zeros_like(square)  # sinh(h)/h - 1 = h^2/6 (1 + h^2/20 (1 + h^2/42 (...))): all terms positive
    for m in range(14, 0, -1):
        tail = square / (2 * m * (2 * m + 1)) * (1.0 + tail)
    with np.errstate(divide="ignore"):
        large = z / 2.0 - np.log(z) + np.log1p(-np.exp(-z))
    return np.where(z <= 4.0, np.log1p(tail), large)


class Divergences:
    """Call it with orders, shape ``(m,)``: it returns the total divergence at each, rounded up, shape ``(m,)``."""

    def __init__(self, counts: Mapping[SingleEvent, int]) -> None:
        self._parts: list[tuple[type[SingleEvent], FloatArray, FloatArray]] = []
        self._known: tuple[FloatArray, FloatArray] | None = None
        kinds = dict.fromkeys(map(type, counts))  # in one order, and so with the same digits, on every machine
        self._directions = (1, -1) if LossIntervalEvent in kinds else (1,)
        for kind in kinds:
            # Of a loss interval both ends: in reverse, they are those with the roles of both data sets exchanged.
            names = ("below", "above") if kind is LossIntervalEvent else ("epsilon",)
            alike = [event for event in counts if type(event) is kind]
            ends = [[float(getattr(event, name)) for event in alike] for name in names]
            times = np.array([float(counts[event]) for event in alike])
            self._parts.append((kind, np.array(ends), np.nextafter(times, np.inf)))

    def __call__(self, orders: FloatArray) -> FloatArray:
        if self._known is not None and np.array_equal(self._known[0], orders):
            return self._known[1]
        largest = np.zeros_like(orders)
        rows = max(1, 2**17 // max(1, len(orders)))  # what is evaluated together stays in the processor's cache
        for direction in self._directions:  # what has one adds up in each of them, the rest is the same in both
            total = np.zeros_like(orders)
            with np.errstate(over="ignore", invalid="ignore"):
                for kind, ends, times in self._parts:
                    error = 1.0 + (len(times) + 8) * 2.0**-52
                    for start in range(0, len(times), rows):
                        some = ends[::direction, start : start + rows, np.newaxis]
                        part = times[start : start + rows] @ renyi(kind, [*some], orders)
                        total = (total + part * error) * (1.0 + 2.0**-52)
            largest = np.maximum(largest, np.nan_to_num(total, nan=np.inf, posinf=np.inf))
        if self._known is None:  # the first orders are always the coarse grid, with which every search begins
            self._known = (orders, largest)
        return largest


def rho_of(event: SingleEvent) -> float:
    """The smallest rho that the property of `event` proves, rounded up; infinite if it has a delta.

    All are divergences at order 1 (``proofs/composition.md``, claim 3), but that of a loss interval: the smaller of
    those of bounded range and pure privacy, which need not be the smallest there is.
    """
    epsilon = Decimal(event.epsilon)
    # Terms cancel to about epsilon^2, after differences of about epsilon: forty digits are left.
    with localcontext(Context(prec=40 + 3 * max(0, -epsilon.adjusted()))):
        small = (-epsilon).exp()
        match event:
            case BoundedRangeEvent():
                odds = epsilon * small / (1 - small)
                value = odds - 1 + epsilon - epsilon.ln() + (1 - small).ln()
            case LogisticProfileEvent():
                value = epsilon * (1 + small) / (1 - small) - 2
            case LaplaceProfileEvent():
                value = epsilon + small - 1
            case PureEvent():
                value = epsilon * (1 - small) / (1 + small)
            case LossIntervalEvent():
                width = math.nextafter(event.below + event.above, math.inf)
                return min(rho_of(BoundedRangeEvent(epsilon=width)), rho_of(PureEvent(epsilon=event.epsilon)))
            case _:
                return math.inf
    return fraction_up(Fraction(value) * (1 + Fraction(1, 10**30)))  # of forty decimal digits


Divergence = Callable[[FloatArray], FloatArray]
"""Takes orders, shape ``(m,)``, each > 1; returns the divergences of everything that ran, rounded up, ``(m,)``."""


def best_epsilon(divergence: Divergence, delta: float) -> float:
    """The smallest epsilon, at `delta` > 0, that an order gives, rounded up."""

    def epsilons(orders: FloatArray) -> FloatArray:
        total, above_one = divergence(orders), orders - 1.0  # of the order as rounded
        with np.errstate(over="ignore"):
            gain = np.log1p(-1.0 / orders)
            price = -(math.log(delta) + np.log(orders)) / above_one
            error = RELATIVE_ERROR * (total - gain + (np.log(orders) - math.log(delta)) / above_one)
            return total + gain + price + error

    return max(0.0, _smallest(epsilons))


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
    """The smallest value found on a grid of orders, refined around its best."""
    candidates: FloatArray = np.linspace(math.log(1e-3), math.log(1e9), 161)  # logarithms of the orders minus 1
    smallest = math.inf
    for _ in range(4):
        values = of_orders(1.0 + np.exp(candidates))
        best = int(np.argmin(values))
        smallest = min(smallest, float(values[best]))
        low, high = candidates[max(best - 1, 0)], candidates[min(best + 1, candidates.size - 1)]
        candidates = low + (high - low) * np.linspace(0.0, 1.0, 33)
    return smallest


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
    The function, of numbers > 0, increases but for rounding. `close` is how far below the limit it, or the place below
    one that does not fit, may be, relatively; it is evaluated at most `trials` times, and nowhere above `most`.
    """
    good, bad, place, power, most_growth = 0.0, math.inf, start, 1.0, math.log(2.0**16)
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
        place = min(most, place * math.exp(min(max(growth, -most_growth), most_growth)))
        if good > 0.0 and bad < math.inf and (trial % 3 == 0 or not good < place < bad):
            place = good + (bad - good) / 2.0
        if not good < place < bad:
            break
    return good
