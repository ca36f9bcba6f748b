r"""How close to the best possible a mechanism is: the smallest error on a lattice of scores, and the ratio to it.

The smallest error is a linear program. A state says how many steps below the best each of n items is, sorted:
``(0, ..., k)``, for all orders. A *place* is a level that occurs in a state: a symmetric mechanism is one probability
per place. Raising one item by a step leads from its place to exactly one other, so the privacy constraints link the
places into chains. Proof: ``proofs/optimality.md``.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, combinations_with_replacement
from math import comb
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpselect.checks import positive_count, positive_epsilon
from dpselect.errors import InsufficientMemoryError, InvalidParameterError, SelectionError
from dpselect.mechanisms.numbers import FloatArray, IntArray
from dpselect.planning.curves import MechanismKind, planned
from dpselect.planning.worst_case import Bounds


@dataclass(frozen=True, slots=True)
class Lattice:
    """States and places, in an order in which the bounds of ``proofs/optimality.md`` can be swept."""

    rows: NDArray[np.int32]
    """Shape ``(states, n)``, steps below the best, ascending. States with fewer items at the top come first, and among
    those the states with the larger sum of steps."""
    weights: FloatArray
    """Shape ``(states,)``, the share of each state's orders among all vectors of the lattice; sums to 1."""
    state: IntArray  # of each place; ascending, and the top of a state is its first place
    level: IntArray  # of each place: steps below the best
    count: IntArray  # of each place: how many items are there
    better: IntArray
    """Of each place: the place of an item after it has risen by a step; -1 where that leaves the lattice."""

    @property
    def tops(self) -> IntArray:
        """The first place of each state."""
        return np.flatnonzero(self.level == 0)

    def sweeps(self) -> Iterator[tuple[slice, slice]]:
        """States, with their places, whose number at the top and sum of levels agree: they do not affect each other."""
        zeros, depth = (self.rows == 0).sum(axis=1), self.rows.sum(axis=1)
        changes = np.flatnonzero((np.diff(zeros) != 0) | (np.diff(depth) != 0)) + 1
        first = [0, *changes.tolist(), zeros.size]
        first_place = np.searchsorted(self.state, first).tolist()
        for i in range(len(first) - 1):
            yield slice(first[i], first[i + 1]), slice(first_place[i], first_place[i + 1])


def lattice_of(n: int, levels: int) -> Lattice:
    """The lattice of `n` items and scores down to `levels` steps below the best."""
    states = comb(n - 1 + levels, levels)
    others = chain.from_iterable(combinations_with_replacement(range(levels + 1), n - 1))
    rows = np.zeros((states, n), dtype=np.int32)
    rows[:, 1:] = np.fromiter(others, dtype=np.int32, count=states * (n - 1)).reshape(states, n - 1)
    rows = rows[np.lexsort((-rows.sum(axis=1), (rows == 0).sum(axis=1)))]
    # C(b + i - 1, i) at [i, b]: the terms of the rank of a multiset, by its i-th smallest member b.
    terms = [[comb(b + i - 1, i) if i and b else 0 for b in range(levels + 1)] for i in range(n)]
    rank_terms = np.array(terms, dtype=np.int64)
    rank = _rank(rows, rank_terms)
    position = np.empty_like(rank)
    position[rank] = np.arange(rank.size)

    flat = np.flatnonzero(np.diff(rows, axis=1, prepend=-1))  # where a run of equal levels begins
    state, slot = np.divmod(flat, n)
    level = rows.ravel()[flat].astype(np.int64)
    count = np.diff(flat, append=rows.size)
    tops = np.flatnonzero(level == 0)

    better = np.full(level.size, -1)
    below = np.flatnonzero(level > 0)
    # The first of a run rises, so the row stays sorted; if the place before has its new level, it joins that place.
    risen = rank_terms[slot[below], level[below] - 1] - rank_terms[slot[below], level[below]]
    raised = rank[state[below]] + risen
    joins = level[below - 1] == level[below] - 1
    better[below] = tops[position[raised]] + (below - tops[state[below]]) - joins
    # From the top, rising means that all others fall, unless one of them is at the last level.
    inside = np.flatnonzero(rows[:, -1] < levels)
    fallen = rows[inside] + 1
    better[tops[inside]] = tops[position[_rank(fallen, rank_terms)]]
    # Weights are n! / prod(count!), divided by their sum; in logarithms, because factorials overflow.
    log_factorials = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, n + 1)))])
    logs = -np.add.reduceat(log_factorials[count], tops)
    weights = np.exp(logs - logs.max())
    return Lattice(rows, weights / weights.sum(), state, level, count, better)


def _rank(rows: NDArray[np.int32], rank_terms: IntArray) -> IntArray:
    """A different number for each state, below the number of states; the leading 0 is not used."""
    return sum((rank_terms[i, rows[:, i]] for i in range(1, rows.shape[1])), np.zeros(len(rows), dtype=np.int64))


_TOLERANCE = 1e-9  # absolute, of the solver, whose numbers are of order 1; with a smaller one it is slow or fails


def solve(lattice: Lattice, p: float) -> tuple[FloatArray, FloatArray, FloatArray]:
    """The solver's optimum, for ``exp(-epsilon) = p``; used only for bounds that hold whatever it is.

    Returns:
        Of each place its probability divided by ``p^level``. Of each state the multiplier of "probabilities sum to 1",
        and that of the privacy constraint of items at the top, >= 0.

    Raises:
        SelectionError: the solver gave up.
    """
    from scipy.optimize import linprog  # half a second to load, so only when needed
    from scipy.sparse import csr_array

    places, states = lattice.level.size, lattice.weights.size
    # Each scaled probability is the sum of the variables from its place up to the top of its chain.
    start = end = np.arange(places)
    pairs = [(start, end)]
    while (below := lattice.level[end] > 0).any():
        start, end = start[below], lattice.better[end[below]]
        pairs.append((start, end))
    links = np.concatenate(pairs, axis=1)
    increments: Any = csr_array((np.ones(links.shape[1]), (links[0], links[1])), shape=(places, places))
    counts = scaled_counts(lattice, p), (lattice.state, np.arange(places))
    sums: Any = csr_array(counts, shape=(states, places)) @ increments
    held = np.flatnonzero(lattice.better[lattice.tops] >= 0)
    tops = lattice.tops[held]
    row = np.arange(held.size)
    signs = np.concatenate([np.full(held.size, -1.0), np.full(held.size, p)])
    ends = np.concatenate([row, row]), np.concatenate([tops, lattice.better[tops]])
    privacy: Any = csr_array((signs, ends), shape=(held.size, places))
    for method in ("highs-ipm", "highs-ds"):  # the second, slower on large programs, is used where the first gives up
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
            return increments @ found.x, found.eqlin.marginals / states, top_multipliers / states
    raise SelectionError("The solver of the linear program gave up. Try fewer levels or items.")


def scaled_counts(lattice: Lattice, p: float) -> FloatArray:
    """What each scaled probability adds to its state's sum of probabilities."""
    return lattice.count.astype(np.float64) * np.power(p, lattice.level)


def scaled_costs(lattice: Lattice, p: float) -> FloatArray:
    """What each scaled probability adds to the mean error, in units of ``p`` steps."""
    weight = lattice.weights[lattice.state]
    return weight * lattice.count * lattice.level * np.power(p, np.maximum(lattice.level - 1, 0))


def lower_bound(lattice: Lattice, p: float, prices: FloatArray, top_multipliers: FloatArray) -> float:
    """The dual value of the largest feasible prices that do not exceed the given ones (see `solve`, or infinite)."""
    tops, better = lattice.tops, lattice.better
    worse = np.full(better.size, -1)  # the place from which an item gets to each one by rising a step; -1 for none
    worse[better[better >= 0]] = np.flatnonzero(better >= 0)
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
            at_top, reach[risers] * arriving - multipliers[places] / count[places], costs[places] + arriving
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
    slack, exponential_slack = _top_slack(lattice, p, m), _top_slack(lattice, p, exponential)
    short = slack < 0.0  # where the exponential mechanism's is not negative
    mixed = float((slack[short] / (slack[short] - exponential_slack[short])).max(initial=0.0))
    return float(scaled_costs(lattice, p) @ ((1.0 - mixed) * m + mixed * exponential))


def _top_slack(lattice: Lattice, p: float, m: FloatArray) -> FloatArray:
    """The slack of the constraints of items at the top: privacy where there is one, otherwise being >= 0."""
    top = m[lattice.tops]
    after = lattice.better[lattice.tops]
    return top - p * np.where(after >= 0, m[after], 0.0)


_MOST_MEMORY = 4 * 2**30
_BYTES_PER_ENTRY, _BYTES_PER_SCORE = 1000, 32
"""Bytes for an entry of the program's matrix, its copies, factors and the solver's own (at most 700 were measured), and
for a score in the table of states while it is sorted."""


def program_size(n: int, levels: int) -> tuple[int, int, int]:
    """States and variables of the program for `n` items and `levels` steps, and about how many bytes it needs.

    Proof: ``proofs/optimality.md``.
    """
    states, with_level = _combinations(n - 1 + levels, levels), _combinations(n - 2 + levels, levels)
    entries = states + levels * (levels + 3) // 2 * with_level
    return states, states + levels * with_level, entries * _BYTES_PER_ENTRY + n * states * _BYTES_PER_SCORE


def _combinations(total: int, chosen: int) -> int:
    """``C(total, chosen)``, or a number beyond any memory if it is larger, or computing it would take long."""
    return 10**100 if min(chosen, total - chosen) > 400 and total > 10**4 else min(comb(total, chosen), 10**100)


_STEP = 2.0  # one step of the lattice, in sensitivities
_LARGEST_EPSILON = 700.0  # for a larger epsilon errors are too small for a double


def optimal_ratio(mechanism: MechanismKind, *, n: int, levels: int, epsilon: float) -> float:
    r"""The ratio of a mechanism's error to the smallest possible one, on average over a lattice of scores.

    The lattice consists of all vectors of `n` scores that are 0 or 1, 2, ..., `levels` steps of twice the sensitivity
    below 0, with at least one at 0. The smallest possible error is the optimum of a linear program over all mechanisms
    that do not depend on the order or the common height of the scores, and whose probability for a candidate grows by
    at most a factor of :math:`e^{\varepsilon}` when its score alone rises by a step. Every regular `epsilon`-DP
    mechanism is one of these.

    Args:
        mechanism: a mechanism class, or ``functools.partial`` of one with options.
        n: number of candidates, >= 2.
        levels: number of steps, >= 1.
        epsilon: of one selection, > 0 and at most 700.

    Returns:
        At least 1 for every `epsilon`-DP mechanism; never understated, and overstated by at most `Bounds.gap`.

    Raises:
        InvalidParameterError: an argument is out of range.
        InsufficientMemoryError: the program takes more than 4 GiB of memory; nothing was built.
        SelectionError: the solver gave up.

    Proof: ``proofs/optimality.md``. Source: McKenna & Sheldon (2020), section 4.

    >>> from dpselect import ExponentialMechanism, PermuteAndFlip
    >>> [round(optimal_ratio(each, n=3, levels=4, epsilon=0.3), 4) for each in (PermuteAndFlip, ExponentialMechanism)]
    [1.0077, 1.2414]
    """
    at = planned(mechanism, sensitivity=1.0, monotonic=False)
    lattice, spent = _checked_lattice(n, levels, epsilon)
    made = at(spent)
    errors = [made.expected_error(scores) for scores in -_STEP * lattice.rows]
    return float(lattice.weights @ np.array(errors)) / _least_error(lattice, spent).lower


def optimal_error(*, n: int, levels: int, epsilon: float) -> Bounds:
    """Bounds on the least expected error, averaged over the lattice of `optimal_ratio`, in units of the sensitivity.

    Args and Raises: as for `optimal_ratio`.

    Proof: ``proofs/optimality.md``.

    >>> best = optimal_error(n=3, levels=4, epsilon=1.0)
    >>> round(best.lower, 4), best.gap < 1e-9
    (0.3509, True)
    """
    return _least_error(*_checked_lattice(n, levels, epsilon))


def _least_error(lattice: Lattice, epsilon: float) -> Bounds:
    p = math.exp(-epsilon)
    # Without a guess these are best prices and permute-and-flip; from epsilon = 0.9624 on they meet, on any lattice.
    lower = lower_bound(lattice, p, np.full(lattice.weights.size, np.inf), np.zeros(lattice.weights.size))
    upper = upper_bound(lattice, p, np.zeros(lattice.level.size))
    if upper > lower * (1.0 + 1e-12):  # else they differ by rounding
        scaled, *multipliers = solve(lattice, p)
        lower = max(lower, lower_bound(lattice, p, *multipliers))
        upper = min(upper, upper_bound(lattice, p, scaled))
    return Bounds(lower=_STEP * p * lower, upper=_STEP * p * upper)


def _checked_lattice(n: object, levels: object, epsilon: object) -> tuple[Lattice, float]:
    """The lattice, once the arguments are in range and there is room for it."""
    count = positive_count(n, "n", at_most=sys.maxsize)
    if count == 1:
        raise InvalidParameterError("n", count, "at least 2", "One candidate is selected without error.")
    steps = positive_count(levels, "levels", at_most=sys.maxsize)
    spent = positive_epsilon(epsilon)
    if spent > _LARGEST_EPSILON:
        raise InvalidParameterError("epsilon", spent, f"a number <= {_LARGEST_EPSILON:g}")
    memory = program_size(count, steps)[2]
    if memory > _MOST_MEMORY:
        raise InsufficientMemoryError(
            f"n and levels make a linear program that needs about {memory / 2**30:.3g} GiB of memory; "
            f"{_MOST_MEMORY >> 30} GiB are allowed. Take fewer levels or items."
        )
    return lattice_of(count, steps), spent
