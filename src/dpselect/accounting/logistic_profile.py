r"""Rényi divergence of the logistic mechanism: of noisy max with Gumbel noise and gap, and a bound for bounded range.

Proof: ``proofs/composition.md``.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dpselect.accounting.bounded_range import log_sinhc
from dpselect.accounting.renyi import RELATIVE_ERROR

FloatArray = NDArray[np.float64]


def logistic_profile_renyi(epsilon: float | FloatArray, orders: FloatArray) -> FloatArray:
    r"""Rényi divergence, at each order, of the logistic mechanism at `epsilon`, rounded up.

    With :math:`\ell(z) = \ln(\sinh(z/2)/(z/2))` it is

    .. math:: R_a = \frac{\ell((2a - 1)\varepsilon) - \ell(\varepsilon)}{a - 1} \le \frac{a \varepsilon^2}{6}.

    Args:
        epsilon: > 0; of several, shape ``(n, 1)``.
        orders: shape ``(m,)``, each > 1.

    Returns:
        Shape ``(m,)`` or ``(n, m)``, in nats.

    Proof: ``proofs/composition.md``.

    >>> logistic_profile_renyi(1.0, np.array([2.0, 8.0])).round(4)
    array([0.309 , 0.6787])
    """
    above_one = orders - 1.0
    with np.errstate(over="ignore", invalid="ignore"):
        at_order = log_sinhc((2.0 * orders - 1.0) * epsilon)
        at_one = log_sinhc(np.asarray(epsilon))
        closed = (at_order - at_one + RELATIVE_ERROR * (at_order + at_one)) / above_one
        closed = np.nan_to_num(closed, nan=np.inf, posinf=np.inf)
        simple = np.minimum(orders * epsilon * (epsilon / 6.0) * (1.0 + RELATIVE_ERROR), epsilon)
    return np.minimum(closed, simple)
