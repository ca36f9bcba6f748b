r"""Composition of bounded-range mechanisms by Rényi divergence, safe in floating point.

Composed and converted by `dpselect.accounting.renyi`. The formula of Dong, Durfee & Rogers (2020) for *non-adaptive*
composition is smaller but does not hold here: a peeled round depends on the earlier winners.

Proof: ``proofs/top_k.md``. Source: Dong, Durfee & Rogers (2020) for the bounded-range property.
"""

from __future__ import annotations

import functools

import numpy as np
from numpy.typing import NDArray

from dpselect.accounting.renyi import RELATIVE_ERROR, largest_epsilon, total_epsilon

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
        closed = np.nan_to_num(value + error, nan=np.inf, posinf=np.inf)
        simple = np.minimum(orders * epsilon * (epsilon / 8.0) * (1.0 + RELATIVE_ERROR), epsilon)
    return np.minimum(closed, simple)


def log_sinhc(z: FloatArray) -> FloatArray:
    """``ln(sinh(z/2) / (z/2))`` for ``z >= 0``, with a small relative error even where it is tiny."""
    square = np.minimum(z / 2.0, 2.0) ** 2
    tail = np.zeros_like(square)  # sinh(h)/h - 1 = h^2/6 (1 + h^2/20 (1 + h^2/42 (...))): all terms positive
    for m in range(14, 0, -1):
        tail = square / (2 * m * (2 * m + 1)) * (1.0 + tail)
    with np.errstate(divide="ignore"):
        large = z / 2.0 - np.log(z) + np.log1p(-np.exp(-z))
    return np.where(z <= 4.0, np.log1p(tail), large)


def bounded_range_epsilon(epsilon: float, *, count: int, delta: float) -> float:
    r"""Total epsilon, at `delta`, of `count` adaptive runs of an `epsilon`-bounded-range mechanism, rounded up.

    The smaller of basic composition and the Rényi bound at its best order.

    Args:
        epsilon: of each run, > 0.
        count: number of runs, >= 1.
        delta: from 0 (pure privacy: basic composition) to below 1.

    Raises:
        InvalidParameterError: an argument is out of range.

    Proof: ``proofs/top_k.md``.

    >>> bounded_range_epsilon(0.125, count=80, delta=0.0)
    10.0
    >>> round(bounded_range_epsilon(0.1, count=100, delta=1e-6), 2)
    2.4
    """
    return total_epsilon(bounded_range_renyi, epsilon=epsilon, count=count, delta=delta)


@functools.lru_cache(maxsize=256)
def calibrate_bounded_range(*, epsilon: float, delta: float, count: int) -> float:
    r"""The largest epsilon a run that keeps `count` adaptive bounded-range runs within (`epsilon`, `delta`).

    Never below ``epsilon / count``, which basic composition allows.

    Args:
        epsilon: total, > 0.
        delta: total, from 0 to below 1.
        count: number of runs, >= 1.

    Returns:
        Epsilon of each run; `bounded_range_epsilon` of it is at most `epsilon`.

    Raises:
        InvalidParameterError: an argument is out of range, or `epsilon` is too small to be divided by `count`.

    Proof: ``proofs/top_k.md``.

    >>> calibrate_bounded_range(epsilon=1.0, delta=0.0, count=4)
    0.25
    >>> round(calibrate_bounded_range(epsilon=1.0, delta=1e-6, count=10), 3)
    0.15
    """
    return largest_epsilon(bounded_range_renyi, epsilon=epsilon, count=count, delta=delta)
