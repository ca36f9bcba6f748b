"""The linear program of the best mechanism on a lattice, sparse, given to HiGHS. Proof: ``proofs/optimality.md``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dpselect.errors import SelectionError
from dpselect.planning.optimal.lattice import FloatArray, IntArray, Lattice

_TOLERANCE = 1e-9
"""Absolute tolerance of the solver. The program's numbers are of order 1; with a smaller one it is slow or fails."""

_METHODS = ("highs-ipm", "highs-ds")
"""The second is slower on large programs, and is used where the first gives up."""


@dataclass(frozen=True, slots=True)
class Guess:
    """What the solver returns, used only for bounds that hold whatever it is.

    Attributes:
        scaled: shape ``(places,)``, probabilities divided by ``p^level``.
        prices: shape ``(states,)``, multipliers of "probabilities sum to 1".
        top_multipliers: shape ``(states,)``, >= 0, multipliers of the privacy constraints of items at the top.
    """

    scaled: FloatArray
    prices: FloatArray
    top_multipliers: FloatArray


def solve(lattice: Lattice, p: float) -> Guess:
    """The solver's optimum, for ``exp(-epsilon) = p``.

    Raises:
        SelectionError: the solver gave up.
    """
    from scipy.optimize import linprog  # half a second to load, so only when needed
    from scipy.sparse import csr_array

    places, states = lattice.level.size, lattice.weights.size
    start, end = _increments(lattice)
    increments: Any = csr_array((np.ones(start.size), (start, end)), shape=(places, places))
    counts = scaled_counts(lattice, p), (lattice.state, np.arange(places))
    sums: Any = csr_array(counts, shape=(states, places)) @ increments
    held = np.flatnonzero(lattice.better[lattice.tops] >= 0)
    tops = lattice.tops[held]
    row = np.arange(held.size)
    signs = np.concatenate([np.full(held.size, -1.0), np.full(held.size, p)])
    ends = np.concatenate([row, row]), np.concatenate([tops, lattice.better[tops]])
    privacy: Any = csr_array((signs, ends), shape=(held.size, places))
    for method in _METHODS:
        found: Any = linprog(
            increments.T @ (states * scaled_costs(lattice, p)),  # weights of 1 on average
            A_eq=sums,
            b_eq=np.ones(states),
            A_ub=privacy,
            b_ub=np.zeros(held.size),
            method=method,
            options={"primal_feasibility_tolerance": _TOLERANCE, "dual_feasibility_tolerance": _TOLERANCE},
        )
        if found.x is not None and found.eqlin.marginals is not None:
            top_multipliers = np.zeros(states)
            top_multipliers[held] = np.maximum(-found.ineqlin.marginals, 0.0)
            return Guess(increments @ found.x, found.eqlin.marginals / states, top_multipliers / states)
    raise SelectionError("The solver of the linear program gave up. Try fewer levels or items.")


def _increments(lattice: Lattice) -> tuple[IntArray, IntArray]:
    """Each scaled probability is the sum of the variables from its place up to the top of its chain: which ones."""
    start = end = np.arange(lattice.level.size)
    rows, columns = [start], [end]
    while (below := lattice.level[end] > 0).any():
        start, end = start[below], lattice.better[end[below]]
        rows.append(start)
        columns.append(end)
    return np.concatenate(rows), np.concatenate(columns)


def scaled_counts(lattice: Lattice, p: float) -> FloatArray:
    """What each scaled probability adds to its state's sum of probabilities."""
    return lattice.count.astype(np.float64) * np.power(p, lattice.level)


def scaled_costs(lattice: Lattice, p: float) -> FloatArray:
    """What each scaled probability adds to the mean error, in units of ``p`` steps."""
    weight = lattice.weights[lattice.state]
    return weight * lattice.count * lattice.level * np.power(p, np.maximum(lattice.level - 1, 0))


def lower_bound(lattice: Lattice, p: float, prices: FloatArray, top_multipliers: FloatArray) -> float:
    """The dual value of the largest feasible prices that do not exceed the given ones.

    Args:
        lattice: the lattice.
        p: ``exp(-epsilon)``.
        prices: shape ``(states,)``, guess at the multipliers of "probabilities sum to 1", possibly infinite.
        top_multipliers: shape ``(states,)``, >= 0, guess at those of the privacy constraints of items at the top.
    """
    tops, better, worse = lattice.tops, lattice.better, lattice.worse()
    level, count = lattice.level, lattice.count.astype(np.float64)
    multipliers = np.zeros(level.size)
    multipliers[tops] = np.where(better[tops] >= 0, top_multipliers, 0.0)
    # A multiplier reaches the better of its two places times p, or times 1 where the scaling has taken up the p.
    reach = np.where(level == 0, p, 1.0)
    weight = lattice.weights[lattice.state]
    values = np.empty(tops.size)
    with np.errstate(over="ignore"):
        costs = weight * level / p
    for states, places in lattice.sweeps():
        risers = worse[places]
        arriving = np.where(risers >= 0, multipliers[risers], 0.0) / count[places]
        at_top = level[places] == 0
        limits = np.where(
            at_top,
            reach[risers] * arriving - multipliers[places] / count[places],
            costs[places] + arriving,
        )
        own = lattice.state[places] - states.start
        value = np.minimum(prices[states], np.minimum.reduceat(limits, np.flatnonzero(at_top)))
        values[states] = value
        slack = count[places] * (weight[places] * level[places] + p * (arriving - value[own]))
        multipliers[places] = np.where(at_top, multipliers[places], np.maximum(slack, 0.0))
    return float(values.sum())


def upper_bound(lattice: Lattice, p: float, guess: FloatArray) -> float:
    """The error of a feasible mechanism made from scaled probabilities below the top, shape ``(places,)``.

    They are raised until the privacy constraints below the top hold; the top takes what is left. If its own
    constraints fail, as much of the exponential mechanism is mixed in as needed. Zeros give permute-and-flip.
    """
    tops, better, level = lattice.tops, lattice.better, lattice.level
    shares = scaled_counts(lattice, p)
    m = np.empty(level.size)
    for _, places in reversed(list(lattice.sweeps())):
        at_top = level[places] == 0
        first = np.flatnonzero(at_top)
        raised = np.where(at_top, 0.0, np.maximum(guess[places], m[better[places]]))
        left = 1.0 - np.add.reduceat(shares[places] * raised, first)
        raised[first] = left / lattice.count[places][first]
        m[places] = raised
    exponential = (1.0 / np.add.reduceat(shares, tops))[lattice.state]
    mixed = _share_needed(_top_slack(lattice, p, m), _top_slack(lattice, p, exponential))
    return float(scaled_costs(lattice, p) @ ((1.0 - mixed) * m + mixed * exponential))


def _top_slack(lattice: Lattice, p: float, m: FloatArray) -> FloatArray:
    """The slack of the constraints of items at the top: privacy where there is one, otherwise being >= 0."""
    top = m[lattice.tops]
    after = lattice.better[lattice.tops]
    return top - p * np.where(after >= 0, m[after], 0.0)


def _share_needed(slack: FloatArray, other_slack: FloatArray) -> float:
    """The smallest share of the second mechanism, whose slack is not negative, that makes the mixture feasible."""
    short = slack < 0.0
    return float((slack[short] / (slack[short] - other_slack[short])).max(initial=0.0))
