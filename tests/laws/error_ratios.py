"""The ratio of two mechanisms' expected errors over many random vectors of scores."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

VECTORS = 100_000


def random_vectors(count: int) -> Iterator[np.ndarray]:
    """`count` vectors of 2 to 60 gaps in units of the noise: scattered, tied, two-level, geometric, one far ahead."""
    rng = np.random.default_rng(20261121)
    batch = min(400, count // 50)
    for _ in range(0, count, 5 * batch):
        n = int(rng.integers(2, 61))
        shape, scale = (batch, n), 10.0 ** rng.uniform(-3.0, 3.0, (5, batch, 1))
        two_levels = np.ones(shape)
        two_levels[:, -1] = 0.0
        one_ahead = 1.0 + rng.random(shape)
        one_ahead[:, 0] = 0.0
        yield from rng.random(shape) * scale[0]
        yield from rng.integers(0, 4, shape) * scale[1]
        yield from two_levels * scale[2]
        yield from rng.uniform(0.1, 1.0, (batch, 1)) ** np.arange(n) * scale[3]
        yield from one_ahead * scale[4]


def range_of_ratios(larger: Any, smaller: Any, *, count: int) -> tuple[float, float]:
    """The smallest and the largest quotient of the two mechanisms' expected errors, over `count` random vectors."""
    ratios = [_ratio(larger.expected_error(-gaps), smaller.expected_error(-gaps)) for gaps in random_vectors(count)]
    return min(ratios), max(ratios)


def furthest_outside_one_to_two(larger: Any, smaller: Any, *, count: int) -> float:
    """How far that range leaves the interval from 1 to 2; 0 if it does not."""
    smallest, largest = range_of_ratios(larger, smaller, count=count)
    return max(1.0 - smallest, largest - 2.0, 0.0)


def _ratio(larger: float, smaller: float) -> float:
    """Their quotient; 1 where there is nothing to compare: all scores equal, or errors that underflow."""
    return larger / smaller if larger > 1e-290 else 1.0
