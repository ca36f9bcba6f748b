"""The optimum of the linear program, between two bounds that hold whatever the solver did."""

from __future__ import annotations

import math

import numpy as np

from dpselect.errors import SelectionError
from dpselect.planning.optimal.bounds import lower_bound, upper_bound
from dpselect.planning.optimal.lattice import Lattice
from dpselect.planning.optimal.program import Method, solved
from dpselect.planning.worst_case import Bounds

PERMUTE_AND_FLIP_IS_BEST = math.log((3.0 + math.sqrt(5.0)) / 2.0)
"""From this epsilon on permute-and-flip attains the optimum, on every lattice: no program has to be solved."""

_CLOSE_ENOUGH = 1e-12
_LARGEST_GAP = 1e-6
_METHODS: tuple[Method, ...] = ("highs-ipm", "highs-ds")


def bounds_on_optimum(lattice: Lattice, p: float) -> Bounds:
    """Lower and upper bound on the least mean error, in units of ``p`` steps, at most a millionth apart.

    Raises:
        SelectionError: the solver found no solution as close as that.

    Proof: ``proofs/optimality.md``.
    """
    states, places = lattice.weights.size, lattice.level.size
    lower = lower_bound(lattice, p, prices=np.full(states, np.inf), top_multipliers=np.zeros(states))
    upper = upper_bound(lattice, p, np.zeros(places))
    if upper <= lower * (1.0 + _CLOSE_ENOUGH):
        return Bounds(lower, upper)
    for method in _METHODS:  # the second is slower, and a way out where the first gives up
        solution = solved(lattice, p, method=method)
        if solution is None:
            continue
        lower = max(lower, lower_bound(lattice, p, solution.prices, solution.top_multipliers))
        upper = min(upper, upper_bound(lattice, p, solution.m))
        if upper <= lower * (1.0 + _LARGEST_GAP):
            return Bounds(lower, upper)
    raise SelectionError(
        f"The solver stopped before it had found the best mechanism to a relative precision of {_LARGEST_GAP}. "
        "Try a smaller lattice."
    )
