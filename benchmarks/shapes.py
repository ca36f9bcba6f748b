"""The shapes of scores everything is measured on, in the order the summary names them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Scores = NDArray[np.float64]

_SEED = 20260101  # for the benchmark's own data; no release is drawn from it
_PIECE = 1 << 20


def uniform(n: int) -> Scores:
    """Whole numbers 0..999: from n = 1000 on, many candidates tie at the top."""
    generator = np.random.default_rng(_SEED)
    scores = np.empty(n)
    for start in range(0, n, _PIECE):  # piecewise, so that making an array never takes more memory than the array
        piece = scores[start : start + _PIECE]
        piece[:] = generator.integers(0, 1000, size=piece.size, dtype=np.int16)
    return scores


def zipf(n: int) -> Scores:
    """Counts n, n/2, n/3, ... rounded down, in random order: a few clear leaders and a long tail."""
    scores = np.arange(1, n + 1, dtype=np.float64)
    np.floor(np.divide(n, scores, out=scores), out=scores)
    np.random.default_rng(_SEED).shuffle(scores)
    return scores


def all_equal(n: int) -> Scores:
    """Every candidate is as good as every other."""
    return np.full(n, 7.0)


def few_leaders(n: int) -> Scores:
    """Counts of 0 but for three candidates close to each other, far apart in the vector."""
    scores = np.zeros(n)
    scores[[n // 7, n // 2, n - 1 - n // 5]] = [400.0, 378.0, 400.0]
    return scores


def sparse(n: int) -> Scores:
    """One count in a hundred above 0, whole numbers up to 400: several close leaders, wherever they lie."""
    scores = np.zeros(n)
    generator = np.random.default_rng(_SEED)
    places = generator.integers(0, n, size=max(1, n // 100))
    scores[places] = generator.integers(1, 401, size=places.size)
    return scores


SHAPES: dict[str, Callable[[int], Scores]] = {
    "uniform 0..999": uniform,
    "Zipf": zipf,
    "all equal": all_equal,
    "few leaders": few_leaders,
    "sparse": sparse,
}
