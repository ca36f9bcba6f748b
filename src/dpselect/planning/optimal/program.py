"""The linear program of the best mechanism on a lattice, sparse, given to HiGHS. Proof: ``proofs/optimality.md``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from dpselect.planning.optimal.lattice import FloatArray, Lattice

_TOLERANCE = 1e-9
"""Of the solver, absolute. The program's numbers are of order 1; tighter ones make it slow and prone to fail."""

Method = Literal["highs-ipm", "highs-ds"]


@dataclass(frozen=True, slots=True)
class Solution:
    """What the solver says, to be believed only through the bounds that are made from it.

    Attributes:
        m: shape ``(places,)``, probabilities divided by ``p^level``.
        prices: shape ``(states,)``, multipliers of "probabilities sum to 1".
        top_multipliers: shape ``(states,)``, >= 0, multipliers of the privacy constraints of items at the top.
    """

    m: FloatArray
    prices: FloatArray
    top_multipliers: FloatArray


def solved(lattice: Lattice, p: float, *, method: Method) -> Solution | None:
    """A solution by the interior-point or the dual simplex method; None if the solver gave up."""
    from scipy.optimize import linprog  # half a second to load: only for those who need it
    from scipy.sparse import csr_array

    places, states = lattice.level.size, lattice.weights.size
    every, linked = np.arange(places), np.flatnonzero(lattice.better >= 0)
    sums: Any = csr_array((scaled_counts(lattice, p), (lattice.state, every)), shape=(states, places))
    row = np.arange(linked.size)
    signs = np.concatenate([np.full(linked.size, -1.0), np.where(lattice.level[linked] > 0, 1.0, p)])
    ends = np.concatenate([row, row]), np.concatenate([linked, lattice.better[linked]])
    privacy: Any = csr_array((signs, ends), shape=(linked.size, places))
    found: Any = linprog(
        states * scaled_costs(lattice, p),  # weights of 1 on average
        A_eq=sums,
        b_eq=np.ones(states),
        A_ub=privacy,
        b_ub=np.zeros(linked.size),
        method=method,
        options={"primal_feasibility_tolerance": _TOLERANCE, "dual_feasibility_tolerance": _TOLERANCE},
    )
    if found.x is None or found.eqlin.marginals is None:
        return None
    multipliers = np.zeros(places)
    multipliers[linked] = np.maximum(-found.ineqlin.marginals, 0.0)
    return Solution(found.x, found.eqlin.marginals / states, multipliers[lattice.tops] / states)


def scaled_counts(lattice: Lattice, p: float) -> FloatArray:
    """What each ``m`` adds to its state's sum of probabilities."""
    return lattice.count * np.power(p, lattice.level)


def scaled_costs(lattice: Lattice, p: float) -> FloatArray:
    """What each ``m`` adds to the mean error, in units of ``p`` steps."""
    weight = lattice.weights[lattice.state]
    return weight * lattice.count * lattice.level * np.power(p, np.maximum(lattice.level - 1, 0))
