r"""From any guess at the linear program's solution to bounds on its optimum that hold however good the guess is.

The constraints are triangular: swept in one direction a dual guess becomes dual feasible, in the other a primal guess
becomes primal feasible. So a solver is only asked for a guess. Its tolerances affect how close the bounds are, not
whether they hold. Proof: ``proofs/optimality.md``.

The variables are ``m``, a place's probability divided by ``p^level``, and errors are in units of ``p`` steps, with
``p = exp(-epsilon)``: everything is of order 1 for any epsilon.
"""

from __future__ import annotations

import numpy as np

from dpselect.planning.optimal.lattice import FloatArray, Lattice
from dpselect.planning.optimal.program import scaled_costs, scaled_counts


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
