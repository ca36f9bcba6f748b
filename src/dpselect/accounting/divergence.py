r"""Rényi divergences, safe in floats: of the worst mechanism with each privacy property, of all that ran, and rho.

Bounded range is the exponential mechanism's; the Laplace profile that of permute-and-flip and of noisy max with Laplace
or exponential noise; the logistic profile that of noisy max with Gumbel noise and the gap. A divergence at most that of
the worst mechanism adds up over adaptive runs, and `dpselect.accounting.renyi` converts the sum. The formula of Dong,
Durfee & Rogers (2020) for *non-adaptive* composition does not hold here: a peeled round depends on the earlier winners.

A mechanism is :math:`\rho`-zCDP if its Rényi divergence is at most :math:`a\rho` at every order :math:`a > 1`. For
every property here but one the smallest such rho is the divergence at order 1: the Kullback-Leibler divergence of the
worst pair.

Each function named ``_renyi`` takes an epsilon > 0 or several, shape ``(n, 1)``, and orders > 1, shape ``(m,)``; it
returns nats, shape ``(m,)`` or ``(n, m)``.

Proofs: ``proofs/top_k.md``, ``proofs/noisy_max.md``, ``proofs/composition.md``. Sources: Dong, Durfee & Rogers (2020)
for the bounded-range property; Mironov (2017) for the divergence of the Laplace mechanism; Bun & Steinke (2016).
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
from dpselect.accounting.renyi import RELATIVE_ERROR

FloatArray = NDArray[np.float64]


def bounded_range_renyi(epsilon: float | FloatArray, orders: FloatArray) -> FloatArray:
    r"""Rényi divergence, at each order, of the worst :math:`\varepsilon`-bounded-range mechanism, rounded up.

    The tight closed form, rewritten so that its large terms cancel in the formula instead of in floats: with
    :math:`\ell(z) = \ln(\sinh(z/2)/(z/2))`,

    .. math:: R_a = \frac{a\,\ell(a\varepsilon) - (a-1)\,\ell((a-1)\varepsilon) - \ell(\varepsilon)}{a-1}.

    The error of the remaining cancellation is bounded and added. If that makes the result larger than
    :math:`a\varepsilon^2/8` or :math:`\varepsilon`, which are valid too, the smaller of these is returned.

    Args:
        epsilon: the range of the privacy loss, > 0; of several, shape ``(n, 1)``.
        orders: shape ``(m,)``, each > 1.

    Returns:
        Shape ``(m,)`` or ``(n, m)``, in nats.

    Proof: ``proofs/top_k.md``.

    >>> bounded_range_renyi(1.0, np.array([2.0, 8.0])).round(4)
    array([0.2402, 0.6355])
    """
    above_one = orders - 1.0
    with np.errstate(over="ignore", invalid="ignore"):
        at_order = orders * log_sinhc(orders * epsilon)
        below = above_one * log_sinhc(above_one * epsilon)
        at_one = log_sinhc(np.asarray(epsilon))
        value = (at_order - below - at_one) / above_one
        error = RELATIVE_ERROR * (at_order + below + at_one) / above_one
    return _limited(value + error, epsilon, orders, 8.0)


def laplace_profile_renyi(epsilon: float | FloatArray, orders: FloatArray) -> FloatArray:
    r"""Rényi divergence, at each order, of the Laplace mechanism at `epsilon`, rounded up.

    .. math:: R_a = \frac{1}{a-1} \ln \frac{a\,e^{(a-1)\varepsilon} + (a-1)\,e^{-a\varepsilon}}{2a - 1}.

    The error of cancellation is bounded and added. If that makes the result larger than :math:`a\varepsilon^2/2` or
    :math:`\varepsilon`, which hold for anything :math:`\varepsilon`-DP, the smaller of these is returned.

    Proof: ``proofs/noisy_max.md``.

    >>> laplace_profile_renyi(1.0, np.array([2.0, 8.0])).round(4)
    array([0.6191, 0.9102])
    """
    above_one = orders - 1.0
    weight, other_weight = orders / (2.0 * orders - 1.0), above_one / (2.0 * orders - 1.0)
    with np.errstate(over="ignore", invalid="ignore"):
        value, error = _log_mean(weight, other_weight, above_one * epsilon, orders * epsilon)
        closed = (value + RELATIVE_ERROR * error) / above_one
    return _limited(closed, epsilon, orders, 2.0)


def logistic_profile_renyi(epsilon: float | FloatArray, orders: FloatArray) -> FloatArray:
    r"""Rényi divergence, at each order, of the logistic mechanism at `epsilon`, rounded up.

    With :math:`\ell(z) = \ln(\sinh(z/2)/(z/2))` it is

    .. math:: R_a = \frac{\ell((2a - 1)\varepsilon) - \ell(\varepsilon)}{a - 1} \le \frac{a \varepsilon^2}{6}.

    Proof: ``proofs/composition.md``.

    >>> logistic_profile_renyi(1.0, np.array([2.0, 8.0])).round(4)
    array([0.309 , 0.6787])
    """
    above_one = orders - 1.0
    with np.errstate(over="ignore", invalid="ignore"):
        at_order = log_sinhc((2.0 * orders - 1.0) * epsilon)
        at_one = log_sinhc(np.asarray(epsilon))
        closed = (at_order - at_one + RELATIVE_ERROR * (at_order + at_one)) / above_one
    return _limited(closed, epsilon, orders, 6.0)


def pure_renyi(epsilon: float | FloatArray, orders: FloatArray) -> FloatArray:
    r"""Rényi divergence, at each order, of the worst :math:`\varepsilon`-DP mechanism, rounded up.

    With :math:`d = (a - 1)\varepsilon` it is

    .. math:: R_a = \frac{1}{a-1} \ln\Bigl(\cosh d + \tanh\frac{\varepsilon}{2} \sinh d\Bigr)
        \le \min\Bigl(\frac{a \varepsilon^2}{2},\ \varepsilon\Bigr).

    Proof: ``proofs/composition.md``.

    >>> pure_renyi(1.0, np.array([2.0, 8.0])).round(4)
    array([0.7353, 0.9552])
    """
    above_one = orders - 1.0
    slope = np.tanh(np.asarray(epsilon) / 2.0)
    with np.errstate(over="ignore", invalid="ignore"):
        d = above_one * epsilon
        half = np.minimum(d, 1.0) / 2.0
        small = np.log1p(2.0 * np.sinh(half) ** 2 + slope * np.sinh(2.0 * half))  # all terms positive
        large = d + np.log1p((1.0 - slope) / 2.0 * np.expm1(-2.0 * d))
        closed = np.where(d < 1.0, small, large) * (1.0 + RELATIVE_ERROR) / above_one
    return _limited(closed, epsilon, orders, 2.0)


def loss_interval_renyi(below: float | FloatArray, above: float | FloatArray, orders: FloatArray) -> FloatArray:
    r"""Rényi divergence, at each order, of the worst pair with all losses from ``-below`` to ``above``, rounded up.

    The pair has only the two losses at the ends. With :math:`p = (e^b - 1)/(e^b - e^{-c})` for :math:`b` below and
    :math:`c` above,

    .. math:: R_a = \frac{1}{a-1} \ln\Bigl(p\, e^{(a-1)c} + (1-p)\, e^{-(a-1)b}\Bigr).

    If an allowance for rounding makes that larger than the divergence for bounded range :math:`b + c`, or for pure
    privacy at the larger end, the smallest of these is returned.

    Proof: ``proofs/above_threshold.md``, claim 5.

    >>> loss_interval_renyi(0.5, 1.0, np.array([2.0, 8.0])).round(4)
    array([0.5165, 0.9028])
    """
    b, c, above_one = np.asarray(below), np.asarray(above), orders - 1.0
    width = np.nextafter(b + c, np.inf)
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        p, q = np.expm1(-b) / np.expm1(-width), np.exp(-b) * (np.expm1(-c) / np.expm1(-width))
        value, error = _log_mean(p, q, above_one * c, above_one * b)
        closed = np.nan_to_num((value + 4.0 * RELATIVE_ERROR * error) / above_one, nan=np.inf, posinf=np.inf)
    simple = np.minimum(bounded_range_renyi(width, orders), pure_renyi(np.maximum(b, c), orders))
    return np.minimum(closed, simple)


def _log_mean(p: FloatArray, q: FloatArray, up: FloatArray, down: FloatArray) -> tuple[FloatArray, FloatArray]:
    """``ln(p e^up + q e^-down)`` for weights that sum to 1, and the terms that its rounding is relative to."""
    rise, fall = p * np.expm1(up), q * np.expm1(-down)
    small, small_error = np.log1p(rise + fall), rise - fall  # both terms, before they cancel
    large, large_error = up + np.log(p + q * np.exp(-(up + down))), up + 1.0 - np.log(p)
    return np.where(up < 1.0, small, large), np.where(up < 1.0, small_error, large_error)


def _limited(closed: FloatArray, epsilon: float | FloatArray, orders: FloatArray, part: float) -> FloatArray:
    r"""The smallest of three valid bounds: a closed form, :math:`a\varepsilon^2` over `part`, :math:`\varepsilon`."""
    with np.errstate(over="ignore", invalid="ignore"):
        simple = np.minimum(orders * epsilon * (epsilon / part) * (1.0 + RELATIVE_ERROR), epsilon)
    return np.minimum(np.nan_to_num(closed, nan=np.inf, posinf=np.inf), simple)


def log_sinhc(z: FloatArray) -> FloatArray:
    """``ln(sinh(z/2) / (z/2))`` for ``z >= 0``, with a small relative error even where it is tiny."""
    square = np.minimum(z / 2.0, 2.0) ** 2
    tail = np.zeros_like(square)  # sinh(h)/h - 1 = h^2/6 (1 + h^2/20 (1 + h^2/42 (...))): all terms positive
    for m in range(14, 0, -1):
        tail = square / (2 * m * (2 * m + 1)) * (1.0 + tail)
    with np.errstate(divide="ignore"):
        large = z / 2.0 - np.log(z) + np.log1p(-np.exp(-z))
    return np.where(z <= 4.0, np.log1p(tail), large)


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
    return math.nextafter(value * (1.0 + RELATIVE_ERROR) + error, math.inf)


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
