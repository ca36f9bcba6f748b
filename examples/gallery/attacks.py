"""The attacks: for each, neighbours that differ in one row or one person, and what is asked of them.

Whatever is asked, the claim is epsilon = 1 for the pair: a library that counts a replaced row as one removed and one
added is asked with half of it.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

FAR = 2.0**52
"""Doubles from here on are whole numbers; from twice of this on, only even ones."""
NAN = math.nan
DELTA = 1e-5
EQUAL = 2982
"""So many equal values lie between the median and the bound that e^(-score) is below the smallest double."""
_HIGH = FAR + 2
_CROWD = [(f"person {place}", "a") for place in range(40)]


@dataclass(frozen=True, kw_only=True)
class Attack:
    """One row of the gallery.

    Args:
        title: what it is called in the table.
        asked: what is asked of which neighbours, in words.
        pairs: the neighbours.
        draws: for each neighbour, at most.
        delta: that is claimed.
    """

    title: str
    asked: str
    pairs: list[tuple[Any, Any]]
    draws: int
    delta: float = 0.0


ATTACKS = {
    "number": Attack(
        title="Bits of a number", asked="Laplace noise on a count that is 0 or 1", pairs=[(0, 1)], draws=20_000
    ),
    "mean": Attack(
        title="Bits of a mean",
        asked="the mean of two numbers between 0 and 1, of which one is replaced",
        pairs=[([0.0, 0.0], [0.0, 1.0])],
        draws=4_000,
    ),
    "median": Attack(
        title="Bits of a median",
        asked="the median of four numbers between 0 and 1, of which one is replaced",
        pairs=[([0.0, 0.0, 1.0, 1.0], [0.0, 0.3, 1.0, 1.0])],
        draws=2_000,
    ),
    "equal": Attack(
        title="Equal values",
        asked=f"the median of {EQUAL:,} zeros, of which one is replaced by the upper bound 1",
        pairs=[([0.0] * EQUAL, [0.0] * (EQUAL - 1) + [1.0])],
        draws=400,
    ),
    "close": Attack(
        title="Close scores",
        asked="the best of two candidates, where one person changes both scores by 1",
        pairs=[([1, 0], [0, 1])],
        draws=10_000,
    ),
    "whole": Attack(
        title="Large scores",
        asked="the best of two candidates with scores of 2^56, of which one grows by 1",
        pairs=[([2**56 + 8, 2**56 + 8], [2**56 + 8, 2**56 + 9])],
        draws=10_000,
    ),
    "far": Attack(
        title="Bounds far from 0",
        asked="the mean of 32 numbers between 2^52 and 2^52 + 2, of which one is replaced",
        pairs=[([_HIGH] * 20 + [FAR] * 12, [_HIGH] * 15 + [FAR] + [_HIGH] * 4 + [FAR] * 12)],
        draws=400,
    ),
    "order": Attack(
        title="Order of rows",
        asked="the mean of the same 18 numbers between 2^52 and 2^52 + 2, in two orders",
        pairs=[([FAR] * 7 + [_HIGH] * 9 + [FAR] * 2, [_HIGH] * 7 + [FAR] * 9 + [_HIGH] * 2)],
        draws=400,
    ),
    "nan": Attack(
        title="NaN in a cell",
        asked="the mean of 20 numbers between 0 and 1: one of them, or all but one, are NaN; one cell is replaced",
        pairs=[([0.5] * 19 + [NAN], [0.5] * 20), ([0.0] + [NAN] * 19, [1.0] + [NAN] * 19)],
        draws=1_000,
    ),
    "values": Attack(
        title="No list of values",
        asked="the counts of the values that occur, with and without a person whose value nobody else has",
        pairs=[([value for _, value in _CROWD], [*(value for _, value in _CROWD), "rare"])],
        draws=400,
        delta=DELTA,
    ),
    "rows": Attack(
        title="Many rows of one",
        asked="the count of people, with and without a person with 50 rows",
        pairs=[(_CROWD, _CROWD + [("busy", "a")] * 50)],
        draws=400,
    ),
    "fork": Attack(
        title="Forked processes",
        asked="noisy counts from two processes forked from one that has drawn: one of nobody, one of 0 or 1 person",
        pairs=[(0, 1)],
        draws=400,
    ),
}

Sampler = Callable[[Any], object]
LIBRARIES = {
    "textbook": ("examples.gallery.textbook", None),
    "diffprivlib": ("examples.gallery.peers.diffprivlib_", "diffprivlib"),
    "OpenDP": ("examples.gallery.peers.opendp_", "opendp"),
    "PipelineDP": ("examples.gallery.peers.pipelinedp_", "pipeline-dp"),
    "dpselect": ("examples.gallery.ours", "dpselect"),
}
"""For each column the module with its `SAMPLERS`, and the name of what is installed."""


def in_two_processes(draw: Callable[[int], float]) -> Sampler:
    """From a count to what two forked processes draw, of 0 and of that count; the parent has drawn before.

    They round to two digits, so that last bits tell nothing here.
    """

    def drawn(count: int) -> list[float]:
        draw(0)
        return [_in_a_fork(lambda each=each: draw(each)) for each in (0, count)]

    return drawn


def _in_a_fork(draw: Callable[[], float]) -> float:
    taken, given = os.pipe()
    if not (child := os.fork()):
        try:
            os.write(given, repr(round(float(draw()), 2)).encode())
        finally:
            os._exit(0)
    os.close(given)
    with os.fdopen(taken) as answer:
        text = answer.read()
    os.waitpid(child, 0)
    return float(text)
