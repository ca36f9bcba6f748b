r"""Composition of mechanisms below the privacy profile of the Laplace mechanism, safe in floating point.

This covers permute-and-flip and report-noisy-max with exponential or Laplace noise. For any two neighbours and any
event, their probabilities are at most as far apart as those of the Laplace mechanism at the same epsilon. So every
Rényi divergence is at most that of the Laplace mechanism, and divergences add up.

Proof: ``proofs/noisy_max.md``, claims 4 and 6. Source: Mironov (2017) for the divergence of the Laplace mechanism.
"""

from __future__ import annotations

import functools

import numpy as np
from numpy.typing import NDArray

from dpselect.accounting.renyi import RELATIVE_ERROR, largest_epsilon, total_epsilon

FloatArray = NDArray[np.float64]


def laplace_profile_renyi(epsilon: float | FloatArray, orders: FloatArray) -> FloatArray:
    r"""Rényi divergence, at each order, of the Laplace mechanism at `epsilon`, rounded up.

    .. math:: R_a = \frac{1}{a-1} \ln \frac{a\,e^{(a-1)\varepsilon} + (a-1)\,e^{-a\varepsilon}}{2a - 1}.

    The error of cancellation is bounded and added. If that makes the result larger than :math:`a\varepsilon^2/2` or
    :math:`\varepsilon`, which hold for anything :math:`\varepsilon`-DP, the smaller of these is returned.

    Args:
        epsilon: > 0; of several, shape ``(n, 1)``.
        orders: shape ``(m,)``, each > 1.

    Returns:
        Shape ``(m,)`` or ``(n, m)``, in nats.

    Proof: ``proofs/noisy_max.md``.

    >>> laplace_profile_renyi(1.0, np.array([2.0, 8.0])).round(4)
    array([0.6191, 0.9102])
    """
    above_one = orders - 1.0
    weight, other_weight = orders / (2.0 * orders - 1.0), above_one / (2.0 * orders - 1.0)
    with np.errstate(over="ignore", invalid="ignore"):
        up, down = np.expm1(above_one * epsilon), np.expm1(-orders * epsilon)
        small = np.log1p(weight * up + other_weight * down)
        small_error = weight * up - other_weight * down  # both terms, before they cancel
        rest = other_weight * np.exp(-(2.0 * orders - 1.0) * epsilon)
        large = above_one * epsilon + np.log(weight + rest)
        large_error = above_one * epsilon + 1.0
        is_small = above_one * epsilon < 1.0
        value, error = np.where(is_small, small, large), np.where(is_small, small_error, large_error)
        closed = np.nan_to_num((value + RELATIVE_ERROR * error) / above_one, nan=np.inf, posinf=np.inf)
        simple = np.minimum(orders * epsilon * (epsilon / 2.0) * (1.0 + RELATIVE_ERROR), epsilon)
    return np.minimum(closed, simple)


def laplace_profile_epsilon(epsilon: float, *, count: int, delta: float) -> float:
    r"""Total epsilon, at `delta`, of `count` adaptive runs below the Laplace profile at `epsilon`, rounded up.

    The smaller of basic composition and the Rényi bound at its best order.

    Args:
        epsilon: of each run, > 0.
        count: number of runs, >= 1.
        delta: from 0 (pure privacy: basic composition) to below 1.

    Raises:
        InvalidParameterError: an argument is out of range.

    Proof: ``proofs/noisy_max.md``.

    >>> laplace_profile_epsilon(0.125, count=80, delta=0.0)
    10.0
    >>> round(laplace_profile_epsilon(0.1, count=100, delta=1e-6), 2)
    4.98
    """
    return total_epsilon(laplace_profile_renyi, epsilon=epsilon, count=count, delta=delta)


@functools.lru_cache(maxsize=256)
def calibrate_laplace_profile(*, epsilon: float, delta: float, count: int) -> float:
    r"""The largest epsilon a run that keeps `count` adaptive runs below the Laplace profile within both totals.

    Never below ``epsilon / count``, which basic composition allows.

    Args:
        epsilon: total, > 0.
        delta: total, from 0 to below 1.
        count: number of runs, >= 1.

    Returns:
        Epsilon of each run; `laplace_profile_epsilon` of it is at most `epsilon`.

    Raises:
        InvalidParameterError: an argument is out of range, or `epsilon` is too small to be divided by `count`.

    Proof: ``proofs/noisy_max.md``.

    >>> calibrate_laplace_profile(epsilon=1.0, delta=0.0, count=4)
    0.25
    >>> round(calibrate_laplace_profile(epsilon=1.0, delta=1e-6, count=100), 4)
    0.0226
    """
    return largest_epsilon(laplace_profile_renyi, epsilon=epsilon, count=count, delta=delta)
