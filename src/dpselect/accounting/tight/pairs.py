r"""Dominating pairs on a grid: the mass of each cell of losses goes to the cell's ends, so that no delta falls.

A pair :math:`(P, Q)` whose profile bounds that of a mechanism may replace it in any adaptive composition. For each cell
of the loss :math:`\ln(P/Q)`, the mass under P *and* the mass under Q are kept; this determines what goes to either end.
All masses are closed forms in positive terms.

Proof: ``proofs/composition.md``, claims 4 and 6. Source of the splitting: Doroshenko, Ghazi, Kamath, Kumar & Manurangsi
(2022).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dpselect.accounting.events import LaplaceProfileEvent, LogisticProfileEvent, SingleEvent

FloatArray = NDArray[np.float64]

_UP = 1.0 + 2.0**-48


def loss_masses(event: SingleEvent, *, steps: int, step: float) -> FloatArray:
    """Probability of each loss ``-steps * step``, ..., ``steps * step`` under the first law of the pair, rounded up.

    Args:
        event: its kind determines the pair; its epsilon counts as ``steps * step``.
        steps: half the width of the losses.
        step: distance of the grid.

    Returns:
        Shape ``(2 * steps + 1,)``.
    """
    epsilon = steps * step
    losses = np.arange(-steps, steps + 1) * step
    if isinstance(event, (LaplaceProfileEvent, LogisticProfileEvent)):
        masses = np.exp((losses - epsilon) / 2.0) * np.tanh(step / 4.0)
        masses[[0, -1]] /= 2.0  # one cell ends there, not two
        if isinstance(event, LogisticProfileEvent):
            masses *= 2.0 / -np.expm1(-epsilon)
        else:
            masses[0] += np.exp(-epsilon) / 2.0
            masses[-1] += 0.5
    else:
        masses = np.zeros(2 * steps + 1)
        masses[0] = 1.0 / (1.0 + np.exp(epsilon)) if epsilon < 700.0 else 1e-304
        masses[-1] = 1.0 / (1.0 + np.exp(-epsilon))
    return masses * _UP


def convolved(masses: FloatArray, other: FloatArray) -> FloatArray:
    """Masses of the sum of two independent losses, rounded up: sums of positive products, so no digit is lost."""
    shorter = min(len(masses), len(other))
    return np.convolve(masses, other) * (1.0 + (shorter + 8.0) * 2.0**-52)


def repeated(masses: FloatArray, count: int) -> FloatArray:
    """Masses of the sum of `count` independent losses, rounded up."""
    total: FloatArray | None = None
    while True:
        if count % 2:
            total = masses if total is None else convolved(total, masses)
        count //= 2
        if not count:
            return np.ones(1) if total is None else total
        masses = convolved(masses, masses)
