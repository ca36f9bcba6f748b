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


SHAPES: dict[str, Callable[[int], Scores]] = {"uniform 0..999": uniform, "Zipf": zipf, "all equal": all_equal}
