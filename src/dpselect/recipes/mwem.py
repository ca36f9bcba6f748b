"""MWEM: a synthetic histogram that answers many counting queries, improved where it is worst."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from dpselect.accounting import Event, SequenceEvent
from dpselect.accounting.rounding import divided
from dpselect.checks import probability
from dpselect.errors import InvalidDataError, Shown
from dpselect.mechanisms import GeometricMechanism
from dpselect.privacy import Neighbours
from dpselect.recipes.rows_and_rounds import Rounds, without_mask

_UNIT = 1 << 16
"""Scores are whole multiples of 1/65536, so that the sensitivity holds for what is computed."""

_MOST_ROWS = 1 << 46
"""Beyond this no query counts, so that scores fit into 64 bits."""

_PASSES = 20
"""Over all measurements so far, after each new one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MWEM(Rounds):
    """In each round selects the query with the largest error, measures it, and reweighs the histogram.

    Args:
        rounds: how many queries are measured; public.
        selection_share: the part of epsilon that the selections cost; the rest is for measuring.
        total_share: the part of epsilon that the number of rows costs. Under ``"replace_one"`` it is public, and the
            part goes to the rounds.
        selection: which mechanism selects, ``"auto"``, ``"permute_and_flip"`` or ``"exponential"``.
        delta: that the guarantee may fail, from 0 to below 1, for the selections.

    Proof: ``proofs/marginal_scores.md``, claim 1. Source: Hardt, Ligett & McSherry (2012).

    >>> import numpy as np
    >>> counts = np.array([0, 0, 900, 0, 0, 0, 100, 0])
    >>> queries = np.tril(np.ones((8, 8), bool))  # how many are in the first cell, the first two, ...
    >>> found = MWEM(epsilon=4.0, rounds=6).fit(counts, queries)
    >>> bool(abs(found[2] - 900) < 200)
    True
    """

    total_share: float = 0.05
    totalling: GeometricMechanism | None = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        Rounds.__post_init__(self)
        total, epsilon = probability(self.total_share, "total_share"), self.epsilon
        known = self.neighbours is Neighbours.REPLACE_ONE
        part, rest = divided(epsilon, total)
        self._divide(epsilon if known else rest, sensitivity=_UNIT, moved=1)
        self._set(totalling=None if known else GeometricMechanism(epsilon=part, sensitivity=1))

    @property
    def event(self) -> Event:
        """What one histogram costs, for accounting."""
        total = () if self.totalling is None else (self.totalling.event,)
        return SequenceEvent(events=(*total, *self._costs()))

    def fit(self, counts: NDArray[np.integer], queries: NDArray[np.bool_]) -> NDArray[np.float64]:
        """A histogram that was never of the data, at the cost of `event`.

        Args:
            counts: shape ``(cells,)``: how many rows each cell has, >= 0. A row is in one cell.
            queries: shape ``(queries, cells)``, booleans: the cells that each query counts. Public.

        Returns:
            Shape ``(cells,)``: numbers >= 0 that sum to the (noisy) number of rows.

        Raises:
            InvalidDataError: other shapes or types, or counts below 0. Nothing is drawn then. Large counts are no
                error: a query counts 2^46 rows at most.
        """
        held, asked = _checked(counts, queries)
        held_in_all = int(_summed(np.ones(held.size, bool), held))
        total = held_in_all if self.totalling is None else self.totalling.draw(held_in_all)
        rows = float(min(max(total, 1), _MOST_ROWS))
        answers = _summed(asked, held)
        weights = np.full(held.size, rows / held.size)
        measured: dict[int, float] = {}
        floor = min((1.0 + self.measuring.expected_error) / 8.0, _MOST_ROWS)
        for _ in range(self.rounds):
            guesses = np.rint(asked @ weights * _UNIT).astype(np.int64)
            winner = self.selecting.select(np.abs(answers * _UNIT - guesses))
            found = float(self.measuring.draw(int(answers[winner])))
            # A query that is measured twice is known better; their mean is as good as any.
            measured[winner] = found if winner not in measured else (measured[winner] + found) / 2.0
            weights = _reweighed(weights, asked, measured, rows, floor)
        return weights


def _reweighed(
    weights: NDArray[np.float64], asked: NDArray[np.bool_], measured: dict[int, float], rows: float, floor: float
) -> NDArray[np.float64]:
    """Multiplicative weights: the cells of a query grow by one factor and all others shrink by another.

    A full step would give the query its measured answer. Half a step at a time, as noisy answers contradict each other;
    until the answers are nearly met, or the next round would select a query that is known already. `floor` > 0 keeps
    each cell above 0, as a noisy answer may be 0 or less.
    """
    for _ in range(_PASSES):
        for place, found in measured.items():
            cells, wanted = asked[place], min(max(found, 0.0), rows)
            inside = float(weights[cells].sum())
            outside = max(rows - inside, 0.0)
            step = (wanted + floor) * (outside + floor) / ((inside + floor) * (rows - wanted + floor))
            grown = np.where(cells, weights * math.sqrt(step), weights)
            weights = grown * (rows / grown.sum())
    return weights


def _checked(counts: object, queries: object) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    held, asked = without_mask(counts, "counts"), without_mask(queries, "queries")
    if held.dtype.kind not in "iu" or held.ndim != 1 or held.size == 0:
        shown = Shown(f"<array of {held.dtype}, {held.ndim} dimensions>")
        raise InvalidDataError("counts", shown, "whole numbers >= 0, one for each cell")
    if held.dtype.kind == "i" and (held < 0).any():
        raise InvalidDataError("counts", Shown("<a negative one among them>"), "whole numbers >= 0, one for each cell")
    if asked.dtype.kind != "b" or asked.ndim != 2 or asked.shape[1] != held.size or not len(asked):
        shown = Shown(f"<array of {asked.dtype}, {asked.ndim} dimensions>")
        raise InvalidDataError("queries", shown, f"booleans of shape (queries, {held.size})")
    # A number that is cut off changes by no more than before, so the sensitivity stays.
    return np.minimum(held.astype(np.uint64), np.uint64(_MOST_ROWS)).astype(np.int64), asked


def _summed(asked: NDArray[np.bool_], held: NDArray[np.int64]) -> NDArray[np.int64]:
    """How many rows each query counts, at most `_MOST_ROWS`. Of no number of cells does a sum leave 64 bits."""
    high, low = held >> 32, held & 0xFFFFFFFF
    whole = np.minimum(asked @ high, _MOST_ROWS >> 32) << 32
    return np.minimum(whole + asked @ low, _MOST_ROWS)
