r"""Probabilities of permute-and-flip, to full precision, for any number of candidates.

.. math:: \Pr[i] = p_i \int_0^1 \prod_{j \ne i} (1 - t p_j)\,dt, \qquad p_i = e^{-x_i}

by Gauss-Legendre quadrature. All terms are positive, so nothing cancels; the inclusion-exclusion sum of the original
paper loses every digit once the p_i sum to more than about 30. Proof and error bound:
``proofs/permute_and_flip.md``.
"""

from __future__ import annotations

import numpy as np
from numpy.polynomial.legendre import leggauss
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]

_TAIL = 45.0
"""The integrand falls at least like exp(-t P), P the sum of the p_j; beyond t = 45/P less than e^-44 of it is left."""

_ABSCISSAE, _WEIGHTS = leggauss(28)  # relative error 7e-15 on [0, 45/P]
_UNIT_NODES, _UNIT_WEIGHTS = (1.0 + _ABSCISSAE) / 2.0, _WEIGHTS / 2.0

_SMALL = 0.02
"""Items with ``t p <= 0.02`` at every node enter through power series; at most 45/0.02 others are left."""

_TERMS = 10
"""0.02^10 is below 1e-16, so as many terms of a series in ``t p`` are exact in doubles."""

_ALWAYS_ONE_BY_ONE = 2048


def permute_and_flip_probabilities(x: FloatArray) -> FloatArray:
    """Probability of each candidate from its scaled gap.

    Args:
        x: shape ``(n,)``, >= 0 or infinite, at least one of them 0.

    Returns:
        Shape ``(n,)``, summing to 1 up to rounding; relative error below 1e-11. Entries below about 1e-300 may
        underflow.

    Proof: ``proofs/permute_and_flip.md``.

    >>> permute_and_flip_probabilities(np.log([1.0, 2.0]))  # p = 1 and 1/2
    array([0.75, 0.25])
    """
    p = np.exp(-x)
    return p * product_integrals(p)


def product_integrals(p: FloatArray) -> FloatArray:
    r""":math:`\int_0^1 \prod_{j \ne i} (1 - t p_j)\,dt` for every i.

    Args:
        p: shape ``(n,)``, in [0, 1], at least one of them 1/2 or more.

    Returns:
        Shape ``(n,)``, between ``1 / (1 + sum(p))`` and 1.
    """
    total = float(p.sum())
    cut = min(1.0, _TAIL / total)
    nodes = cut * _UNIT_NODES
    if p.size <= _ALWAYS_ONE_BY_ONE:
        near_weights = cut * _UNIT_WEIGHTS * np.exp(_log_products(p, nodes))
        return _without_own_factor(p, nodes, near_weights)
    is_near = p > _SMALL / cut
    near, far = p[is_near], p[~is_near]
    weights = cut * _UNIT_WEIGHTS * np.exp(_log_products(near, nodes) + _log_products_by_series(far, nodes))
    result = np.empty_like(p)
    result[is_near] = _without_own_factor(near, nodes, weights)
    result[~is_near] = _without_own_factor_by_series(far, nodes, weights)
    return result


def _log_products(p: FloatArray, nodes: FloatArray) -> FloatArray:
    """``sum_j log(1 - t p_j)`` at each node t, term by term."""
    return np.log1p(-np.multiply.outer(nodes, p)).sum(axis=1)


def _log_products_by_series(p: FloatArray, nodes: FloatArray) -> FloatArray:
    """``sum_j log(1 - t p_j)`` for small ``t p``: ``-sum_m t^m (sum_j p_j^m) / m``."""
    result = np.zeros_like(nodes)
    power = p.copy()
    for m in range(1, _TERMS):
        result -= nodes**m * (power.sum() / m)
        power *= p
    return result


def _without_own_factor(p: FloatArray, nodes: FloatArray, weights: FloatArray) -> FloatArray:
    """``sum_k weights_k / (1 - t_k p_i)``: the whole product divided by item i's own factor."""
    return (weights[:, np.newaxis] / (1.0 - np.multiply.outer(nodes, p))).sum(axis=0)


def _without_own_factor_by_series(p: FloatArray, nodes: FloatArray, weights: FloatArray) -> FloatArray:
    """The same for small ``t p``, as a geometric series whose coefficients are moments of the weights."""
    result = np.full_like(p, float((weights * nodes**_TERMS).sum()))
    for m in range(_TERMS - 1, -1, -1):
        result *= p
        result += float((weights * nodes**m).sum())
    return result
