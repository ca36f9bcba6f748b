"""No score moves the time of a draw by much: one of them is moved unit by unit, over many shapes, on every way to draw.

What is measured is the processor time of this thread, in blocks in which draws are repeated: the same seed gives the
same work, so the shortest of several runs is that work, whatever else the machine does. Of all seeds the median counts.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import numpy as np
import pytest

import dpselect as dps
from dpselect import ExponentialNoiseTopK
from dpselect.testing import seeded
from tests.laws.subjects import KINDS
from tests.slow import SLOW

SIZES = (1000, 10_000, 100_000) if SLOW else (10_000,)
SEEDS = 9 if SLOW else 3
RUNS = 3 if SLOW else 2
STEPS = 47
SCALES = ({"epsilon": 0.05, "monotonic": True}, {"epsilon": 1.0})
"""Of 20 and of 2 units."""
MOST = 4.0
"""How many times as long as its neighbour a vector may take."""

ANY = dps.PermuteAndFlip(epsilon=1.0, sensitivity=1.0)

Draw = Callable[[np.ndarray], object]


def equal(n: int, rng: np.random.Generator) -> np.ndarray:
    return np.zeros(n)


def few_leaders(n: int, rng: np.random.Generator) -> np.ndarray:
    scores = np.zeros(n)
    scores[[n // 2, 4 * n // 5]] = 40.0
    return scores


def fifty_leaders(n: int, rng: np.random.Generator) -> np.ndarray:
    scores = np.zeros(n)
    scores[rng.integers(n, size=50)] = 20.0
    return scores


def two_levels(n: int, rng: np.random.Generator) -> np.ndarray:
    return np.where(np.arange(n) % 2 == 0, 20.0, 0.0)


def one_in_a_hundred(n: int, rng: np.random.Generator) -> np.ndarray:
    return np.where(rng.random(n) < 0.01, 20.0, 0.0)


def sparse(n: int, rng: np.random.Generator) -> np.ndarray:
    return np.where(rng.random(n) < 0.01, rng.integers(0, 30, n), 0).astype(float)


def dense(n: int, rng: np.random.Generator) -> np.ndarray:
    return rng.integers(0, 40, n).astype(float)


SHAPES = (equal, few_leaders, fifty_leaders, two_levels, one_in_a_hundred, sparse, dense)


def ways(name: str, terms: dict[str, Any]) -> Iterator[tuple[str, Draw]]:
    """All ways to draw by this mechanism."""
    mechanism = KINDS[name](**terms)
    yield "select", mechanism.select
    if name in ("exponential noise", "Gumbel noise") and not SLOW:
        return  # the same draws as those of permute-and-flip and the exponential mechanism
    yield "select_many", lambda scores: mechanism.select_many(scores, 5)
    yield "select_rows", lambda scores: mechanism.select_rows(np.broadcast_to(scores, (3, scores.size)))
    yield "peel", lambda scores: mechanism.peel(scores, 3)
    yield "select_with_gap", lambda scores: mechanism.select_with_gap(scores, step=1.0)
    if name == "permute-and-flip":
        once = ExponentialNoiseTopK(k=3, **terms)
        yield "noise once", once.select


def times(draw: Draw, scores: np.ndarray, heights: range) -> np.ndarray:
    """One score moved unit by unit: for each height the median over seeds of the shortest processor time in seconds."""
    moved, shortest = scores.size // 7, np.full((SEEDS, len(heights)), np.inf)
    for _ in range(RUNS):  # the loops are in this order so that a busy moment meets one run of many vectors
        for seed in range(SEEDS):
            for place, scores[moved] in enumerate(heights):
                with seeded(seed):
                    ANY.select([0.0, 0.0])  # so that the first random bits are there
                    before = time.thread_time()
                    draw(scores)
                    taken = time.thread_time() - before
                shortest[seed, place] = min(shortest[seed, place], taken)
    return np.median(shortest, axis=0)


def largest_step(each: np.ndarray) -> float:
    ratios = each[1:] / each[:-1]
    return float(np.maximum(ratios, 1 / ratios).max())


def check(name: str, terms: dict[str, Any], scores: np.ndarray, heights: range) -> None:
    for way, draw in ways(name, terms | {"sensitivity": 1.0}):
        found = largest_step(times(draw, scores, heights))
        if found > MOST:  # once more, in case something else took the processor in all runs
            found = min(found, largest_step(times(draw, scores, heights)))
        assert found <= MOST, f"{way}, {scores.size} candidates, {terms}: {found:.1f} times as long as its neighbour"


@pytest.mark.parametrize(("name", "shape"), [*product(KINDS, SHAPES)])
def test_neighbours_take_alike(name: str, shape: Callable[..., np.ndarray]) -> None:
    for n, terms in product(SIZES, SCALES):
        check(name, terms, shape(n, np.random.default_rng(7)), range(STEPS))


@pytest.mark.parametrize("name", KINDS)
def test_among_a_million_a_third_leader_takes_no_time(name: str) -> None:
    """Where a guess of how many are near the top is wrong by most."""
    scores = np.zeros(10**6)
    scores[[2 * 10**6 // 7, 3 * 10**6 // 7]] = 400.0
    check(name, SCALES[0], scores, range(374, 382))


def test_more_work_for_one_of_them_is_noticed() -> None:
    def slower_at_a_height(scores: np.ndarray) -> None:
        for _ in range(12 if scores[scores.size // 7] == 30.0 else 1):
            ANY.select(scores)

    assert largest_step(times(slower_at_a_height, np.zeros(SIZES[0]), range(STEPS))) > MOST
