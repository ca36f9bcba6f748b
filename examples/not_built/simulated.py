"""Top-k mechanisms simulated on public counts; nothing here is a release. Losses are distances below the best k."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

N = 1000
DRAWS = 300
SHAPES: Mapping[str, tuple[Floats, int, float]] = {
    "2000/√i, k = 10, ε = 0.1": (2000 / np.sqrt(np.arange(1.0, N + 1)), 10, 0.1),
    "20000/i, k = 100, ε = 1": (20_000 / np.arange(1.0, N + 1), 100, 1.0),
    "1000 - i, k = 10, ε = 1": (1000 - np.arange(1.0, N + 1), 10, 1.0),
    "20 at 60, the rest 0; k = 10, ε = 1": (np.where(np.arange(N) < 20, 60.0, 0.0), 10, 1.0),
}
"""Whole counts, k and epsilon."""


def generator(name: str) -> np.random.Generator:
    """The same for the same name."""
    return np.random.default_rng(list(name.encode()))


def loss(counts: Floats, chosen: NDArray[np.int64], k: int) -> float:
    """How far the chosen are below the best k, on average."""
    return float((np.sort(counts)[::-1][:k].sum() - counts[chosen].sum()) / k)


def exponential_once(rng: np.random.Generator, counts: Floats, k: int, epsilon: float) -> NDArray[np.int64]:
    """Exponential noise once of scale k / epsilon: what `dpselect.top_k` does without delta."""
    noisy = counts + rng.exponential(k / epsilon, len(counts))
    return np.argpartition(-noisy, k)[:k]


def gumbel_once(scale: float) -> Callable[..., NDArray[np.int64]]:
    """Gumbel noise once."""

    def draw(rng: np.random.Generator, counts: Floats, k: int, epsilon: float) -> NDArray[np.int64]:
        return np.argpartition(-(counts + rng.gumbel(0.0, scale, len(counts))), k)[:k]

    return draw


def uniform_noise(rng: np.random.Generator, counts: Floats, k: int, epsilon: float) -> NDArray[np.int64]:
    """The K-norm mechanism for the largest change (Steinke and Ullman): a Gamma radius times a point of the cube."""
    radius = rng.gamma(len(counts) + 1.0, 1.0 / epsilon)
    return np.argpartition(-(counts + radius * rng.uniform(-1.0, 1.0, len(counts))), k)[:k]


@cache
def _sequences(shape: str) -> tuple[NDArray[np.int64], Floats]:
    """For each row and value, how many places are within it; the log weight of each value."""
    values, k, epsilon = SHAPES[shape]
    ordered = np.sort(np.round(values))[::-1]
    gaps = np.unique(np.maximum(ordered[:k, np.newaxis] - ordered[np.newaxis, :], 0.0))
    within = np.stack([np.searchsorted(-ordered, -(ordered[r] - gaps), side="right") for r in range(k)])
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(np.maximum(within - np.arange(k)[:, np.newaxis], 0)).sum(axis=0)
        fewer = np.concatenate([[-np.inf], logs[:-1]])
        exactly = np.where(np.isfinite(logs), logs + np.log(-np.expm1(np.minimum(fewer - logs, 0.0))), -np.inf)
    return within, exactly - gaps * epsilon / 2.0


def joint(shape: str) -> Callable[..., NDArray[np.int64]]:
    """The joint exponential mechanism on sequences (Gillenwater and others).

    A sequence has the value v = max_r (c_(r) - its r-th count). There are N(v) = prod_r (T_r(v) - r) with at most v,
    where T_r(v) places are within v of the r-th count. A value is drawn, then a sequence that has exactly it.
    """
    within, weights = _sequences(shape)

    def draw(rng: np.random.Generator, counts: Floats, k: int, epsilon: float) -> NDArray[np.int64]:
        place = int(np.argmax(weights + rng.gumbel(size=len(weights))))
        now = within[:, place]
        before = within[:, place - 1] if place else np.arange(k)  # no sequence has less than the smallest value
        free, fewer = (each - np.arange(k) for each in (now, before))
        ratio = np.append(np.cumprod((np.maximum(fewer, 0) / free)[::-1])[::-1][1:], 1.0)
        taken, exact = set[int](), False
        for r in range(k):
            new, old = now[r] - before[r], max(fewer[r], 0) * (1.0 - ratio[r])
            if not exact and rng.random() * (new + old) < new:
                low, high, exact = int(before[r]), int(now[r]), True
            else:
                low, high = 0, int(now[r] if exact else before[r])
            pick = int(rng.integers(low, high))
            while pick in taken:
                pick = int(rng.integers(low, high))
            taken.add(pick)
        return np.argsort(-counts, kind="stable")[sorted(taken)]

    return draw


def mean_loss(name: str, draw: Callable[..., NDArray[np.int64]], shape: str, draws: int = DRAWS) -> float:
    """Of a mechanism on one of the shapes."""
    values, k, epsilon = SHAPES[shape]
    counts, rng = np.round(values), generator(name + shape)
    return float(np.mean([loss(counts, draw(rng, counts, k, epsilon), k) for _ in range(draws)]))
