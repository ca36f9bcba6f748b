r"""Probabilities with exponential noise of a scale of its own for each candidate, by quadrature.

Candidate i wins with the noisy score :math:`s^* + z` with density :math:`\frac{p_i}{b_i} e^{-z/b_i} \prod_{j \ne i} (1
- p_j e^{-z/b_j})`, where :math:`p_i = e^{-(s^* - s_i)/b_i}`: nobody else wins below :math:`s^*`, because the best
candidate's noise is positive. Proof: ``proofs/different_sensitivities.md``, claim 6.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
from numpy.polynomial.legendre import leggauss

from dpselect.mechanisms.gaps import Gaps

FloatArray = npt.NDArray[np.float64]

_NODES, _WEIGHTS = leggauss(24)
_UNIT_NODES, _UNIT_WEIGHTS = (1.0 + _NODES) / 2.0, _WEIGHTS / 2.0
_TAIL = 45.0
_AT_ONCE = 1 << 20


def own_scale_probabilities(gaps: Gaps, sensitivities: FloatArray, epsilon: float) -> FloatArray:
    """Probability of each candidate with noise of the scale ``(sensitivity + largest) / epsilon``, summing to 1.

    >>> equal = np.array([2.0, 2.0])
    >>> own_scale_probabilities(Gaps.below_best(np.array([4.0 * np.log(2.0), 0.0])), equal, 1.0).round(12)
    array([0.75, 0.25])
    """
    most = float(sensitivities.max())
    relative = (sensitivities / most + 1.0) / 2.0  # scales in units of the widest, from 1/2 to 1
    exponents = gaps.scaled(epsilon=epsilon, sensitivity=most, factor=2) / relative
    end = _TAIL + math.log(sensitivities.size)
    # The first to stand out has its peak where the product turns from 0 to 1: short pieces at first, then longer ones.
    edges = np.concatenate([[0.0], np.geomspace(1e-12, end, 160)])
    width = np.diff(edges)
    places = (edges[:-1, np.newaxis] + width[:, np.newaxis] * _UNIT_NODES).ravel()
    weights = (width[:, np.newaxis] * _UNIT_WEIGHTS).ravel()
    found = np.zeros(sensitivities.size)
    batch = max(1, _AT_ONCE // sensitivities.size)
    for start in range(0, places.size, batch):
        z, weight = places[start : start + batch, np.newaxis], weights[start : start + batch]
        with np.errstate(under="ignore"):
            above = np.exp(-exponents - z / relative)
        log_below = np.log1p(-above)
        others = np.exp(log_below.sum(axis=1, keepdims=True) - log_below)
        found += weight @ (above / relative * others)
    return found / found.sum()
