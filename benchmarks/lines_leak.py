"""How much the time of a draw says about the scores: one vector against a neighbour of it.

`docs/sharp-edges.md` speaks of it. Where an array lies in memory changes the time of a long pass, too: short vectors
tell small differences, long ones only large ones.
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
from benchmarks.timing import Sample, ratio

Scores = np.ndarray[Any, Any]

SIZES = (1000, 10**6)


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


def with_a_better_third(scores: Scores) -> Scores:
    """The counts with one more unit, which had the third best candidate only."""
    neighbour = scores.copy()
    neighbour[np.argsort(scores)[-3]] += 1
    return neighbour


NEIGHBOURS: dict[str, Callable[[Scores], Scores]] = {
    "every other score one less": without_one_unit,
    "the best score one less": without_the_best_lead,
    "the third best score one more": with_a_better_third,
}


def lines() -> Iterator[Line]:
    """One for each size, mechanism, shape and kind of neighbour; that of the longer of both over the shorter."""
    for n, shape, (change, neighbour_of), name in product(SIZES, SHAPES, NEIGHBOURS.items(), MECHANISMS):
        scores = SHAPES[shape](n)
        select = MECHANISMS[name].select
        sample = ratio(partial(select, neighbour_of(scores)), partial(select, scores), pairs=PAIRS)
        if sample.median < 1.0:
            sample = Sample(tuple(1.0 / each for each in sample.values))
        yield Line.of(
            sample,
            what="time of `select` on neighbouring scores / on the scores (a side channel)",
            case=f"{name}, {shape}, {change}",
            n=n,
            dtype="float64",
            unit="x",
            at_most=4.0,
        )
