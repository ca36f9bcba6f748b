r"""The bounded lattice of score vectors, one state for all orders of the same scores.

A state says how many steps below the best each of n items is, sorted: ``(0, ..., k)`` with the best at 0. A *place* is
a level that occurs in a state; the items there are interchangeable, so a symmetric mechanism is one probability per
place. Raising one item by a step leads from its place to exactly one other place, so the privacy constraints link the
places into chains. Proof: ``proofs/optimality.md``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, combinations_with_replacement
from math import comb

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Lattice:
    """States and places, in an order in which the bounds of ``proofs/optimality.md`` can be swept.

    Attributes:
        rows: shape ``(states, n)``, steps below the best, ascending. States with fewer items at the top come first,
            and among those the states with the larger sum of steps.
        weights: shape ``(states,)``, the share of each state's orders among all vectors of the lattice; sums to 1.
        state: shape ``(places,)``, ascending; the top of a state is its first place.
        level: shape ``(places,)``, steps below the best.
        count: shape ``(places,)``, how many items are there.
        better: shape ``(places,)``, the place of an item from here after it has risen by a step; -1 where that leaves
            the lattice.
    """

    rows: NDArray[np.int32]
    weights: FloatArray
    state: IntArray
    level: IntArray
    count: IntArray
    better: IntArray

    @property
    def tops(self) -> IntArray:
        """The first place of each state."""
        return np.flatnonzero(self.level == 0)

    def worse(self) -> IntArray:
        """The inverse of `better`: the place from which an item gets here by rising a step; -1 for none."""
        inverse = np.full(self.better.size, -1)
        linked = np.flatnonzero(self.better >= 0)
        inverse[self.better[linked]] = linked
        return inverse

    def sweeps(self) -> Iterator[tuple[slice, slice]]:
        """States, with their places, whose number at the top and sum of levels agree: they do not affect each other."""
        zeros, depth = (self.rows == 0).sum(axis=1), self.rows.sum(axis=1)
        changes = np.flatnonzero((np.diff(zeros) != 0) | (np.diff(depth) != 0)) + 1
        first = [0, *changes.tolist(), zeros.size]
        first_place = np.searchsorted(self.state, first).tolist()
        for i in range(len(first) - 1):
            yield slice(first[i], first[i + 1]), slice(first_place[i], first_place[i + 1])


def lattice_of(n: int, levels: int) -> Lattice:
    """The lattice of `n` items and scores down to `levels` steps below the best.

    >>> small = lattice_of(2, 2)
    >>> small.rows.tolist(), (5 * small.weights).round(9).tolist()
    ([[0, 2], [0, 1], [0, 0]], [2.0, 2.0, 1.0])
    >>> small.state.tolist(), small.level.tolist(), small.better.tolist()
    ([0, 0, 1, 1, 2], [0, 2, 0, 1, 0], [-1, 3, 0, 4, 2])
    """
    rows = _sorted_rows(n, levels)
    rank_terms = _rank_terms(n, levels)
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
    return Lattice(rows, _weights(count, tops, n), state, level, count, better)


def _sorted_rows(n: int, levels: int) -> NDArray[np.int32]:
    """All states, as rows in the order of `Lattice`."""
    states = comb(n - 1 + levels, levels)
    others = chain.from_iterable(combinations_with_replacement(range(levels + 1), n - 1))
    rows = np.zeros((states, n), dtype=np.int32)
    rows[:, 1:] = np.fromiter(others, dtype=np.int32, count=states * (n - 1)).reshape(states, n - 1)
    order = np.lexsort((-rows.sum(axis=1), (rows == 0).sum(axis=1)))
    return rows[order]


def _rank_terms(n: int, levels: int) -> IntArray:
    """``C(b + i - 1, i)`` at ``[i, b]``: the terms of the rank of a multiset, by the i-th smallest member b."""
    terms = np.zeros((n, levels + 1), dtype=np.int64)
    row = np.ones(levels + 1, dtype=np.int64)
    row[0] = 0
    for i in range(1, n):
        row = np.cumsum(row)
        terms[i] = row
    return terms


def _rank(rows: NDArray[np.int32], rank_terms: IntArray) -> IntArray:
    """A different number for each state, below the number of states; the leading 0 is not used."""
    return sum((rank_terms[i, rows[:, i]] for i in range(1, rows.shape[1])), np.zeros(len(rows), dtype=np.int64))


def _weights(count: IntArray, tops: IntArray, n: int) -> FloatArray:
    """``n! / prod(count!)`` for each state, divided by their sum; in logarithms, because factorials overflow."""
    log_factorials = np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, n + 1)))])
    logs = -np.add.reduceat(log_factorials[count], tops)
    weights = np.exp(logs - logs.max())
    return weights / weights.sum()
