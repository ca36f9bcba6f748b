r"""Rényi divergence of everything of which only epsilon-DP is known: that of randomised response.

Proof: ``proofs/composition.md``.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dpselect.accounting.renyi import RELATIVE_ERROR

FloatArray = NDArray[np.float64]


def pure_renyi(epsilon: float | FloatArray, orders: FloatArray) -> FloatArray:
    r"""Rényi divergence, at each order, of the worst :math:`\varepsilon`-DP mechanism, rounded up.

    With :math:`d = (a - 1)\varepsilon` it is

    .. math:: R_a = \frac{1}{a-1} \ln\Bigl(\cosh d + \tanh\frac{\varepsilon}{2} \sinh d\Bigr)
        \le \min\Bigl(\frac{a \varepsilon^2}{2},\ \varepsilon\Bigr).

    Args:
        epsilon: > 0; of several, shape ``(n, 1)``.
        orders: shape ``(m,)``, each > 1.

    Returns:
        Shape ``(m,)`` or ``(n, m)``, in nats.

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
        closed = np.nan_to_num(closed, nan=np.inf, posinf=np.inf)
        simple = np.minimum(orders * epsilon * (epsilon / 2.0) * (1.0 + RELATIVE_ERROR), epsilon)
    return np.minimum(closed, simple)
