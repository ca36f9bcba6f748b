"""How much the time of a draw says about the scores: one vector against a neighbour of it.

There is nothing to reach here; `docs/sharp-edges.md` speaks of it. Short vectors only: where an array lies in memory
changes the time of a long pass by more than what stands in it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from typing import Any

import numpy as np

from benchmarks.line import Line
from benchmarks.lines_select import MECHANISMS, PAIRS
from benchmarks.shapes import SHAPES
from benchmarks.timing import ratio

Scores = np.ndarray[Any, Any]

N = 1000


def without_one_unit(scores: Scores) -> Scores:
    """The counts without one unit that had every other candidate."""
    neighbour = scores.copy()
    neighbour[::2] -= 1
    return neighbour


def without_the_best_lead(scores: Scores) -> Scores:
    """The counts without one unit that had the best candidate only."""
    neighbour = scores.copy()
    neighbour[np.argmax(scores)] -= 1
    return neighbour


NEIGHBOURS: dict[str, Callable[[Scores], Scores]] = {
    "every other score one less": without_one_unit,
    "the best score one less": without_the_best_lead,
}


def lines() -> Iterator[Line]:
    """One for each mechanism, shape and kind of neighbour."""
    for shape, (change, neighbour_of), name in product(SHAPES, NEIGHBOURS.items(), MECHANISMS):
        scores = SHAPES[shape](N)
        select = MECHANISMS[name].select
        sample = ratio(partial(select, neighbour_of(scores)), partial(select, scores), pairs=PAIRS)
        yield Line.of(
            sample,
            what="time of `select` on neighbouring scores / on the scores (a side channel)",
            case=f"{name}, {shape}, {change}",
            n=N,
            dtype="float64",
            unit="x",
        )
