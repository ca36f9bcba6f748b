r"""Rényi divergences of the worst mechanism with each privacy property, safe in floats.

Bounded range is the exponential mechanism's; the Laplace profile that of permute-and-flip and of noisy max with Laplace
or exponential noise; the logistic profile that of noisy max with Gumbel noise and the gap. A divergence at most that of
the worst mechanism adds up over adaptive runs, and `dpselect.accounting.renyi` converts the sum. The formula of Dong,
Durfee & Rogers (2020) for *non-adaptive* composition does not hold here: a peeled round depends on the earlier winners.

Each function named ``_renyi`` takes an epsilon > 0 or several, shape ``(n, 1)``, and orders > 1, shape ``(m,)``; it
returns nats, shape ``(m,)`` or ``(n, m)``.

Proofs: ``proofs/top_k.md``, ``proofs/noisy_max.md``, ``proofs/composition.md``. Sources: Dong, Durfee & Rogers (2020)
for the bounded-range property; Mironov (2017) for the divergence of the Laplace mechanism.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

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
