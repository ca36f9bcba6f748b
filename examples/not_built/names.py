"""How many names DP-SIPS would release, beside what `values` does, on one public table."""

from __future__ import annotations

import math
from functools import cache
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
from examples.not_built.simulated import generator
from numpy.typing import NDArray
from scipy.stats import norm

import dpselect as dps

TABLE = Path(__file__).parents[1] / "data" / "clicks.parquet"
EPSILON, DELTA, MOST = 1.0, 1e-6, 10
ROUNDS = (0.1, 0.25, 0.65)
"""Shares of epsilon and delta of three rounds, growing."""


@cache
def visits() -> tuple[NDArray[np.int64], NDArray[np.int64], int]:
    """Unit and name of each visit, with at most `MOST` different names a unit, and the number of names."""
    table = pq.read_table(TABLE)
    units = np.unique(table.column("session").to_numpy(), return_inverse=True)[1]
    names, codes = np.unique(table.column("page").to_numpy(), return_inverse=True)
    pairs = np.unique(np.stack([units, codes], axis=1), axis=0)
    pairs = pairs[generator("order").permutation(len(pairs))]
    pairs = pairs[np.argsort(pairs[:, 0], kind="stable")]
    starts = np.r_[0, np.flatnonzero(np.diff(pairs[:, 0])) + 1]
    place = np.arange(len(pairs)) - np.repeat(starts, np.diff(np.r_[starts, len(pairs)]))
    kept = pairs[place < MOST]
    return kept[:, 0], kept[:, 1], len(names)


def weighted_round(
    kept: NDArray[np.bool_], epsilon: float, delta: float, rng: np.random.Generator
) -> NDArray[np.int64]:
    """Names released by weighted Gaussian counts: each unit spreads weight 1 (in l2) over its names that are kept."""
    units, names, count = visits()
    units, names = units[kept[names]], names[kept[names]]
    each = np.bincount(units)
    weights = np.bincount(names, weights=1.0 / np.sqrt(each[units]), minlength=count)
    sigma = _gaussian_deviation(epsilon, delta / 2.0)
    share = [(1.0 - delta / 2.0) ** (1.0 / t) for t in range(1, MOST + 1)]
    threshold = max(1.0 / math.sqrt(t) + sigma * norm.ppf(s) for t, s in enumerate(share, 1))
    occurs = np.bincount(names, minlength=count) > 0
    return np.flatnonzero(occurs & (weights + sigma * rng.standard_normal(count) >= threshold))


def _gaussian_deviation(epsilon: float, delta: float) -> float:
    low, high = 1e-3, 1e4
    for _ in range(100):
        sigma = math.sqrt(low * high)
        mu = 1.0 / sigma
        one = norm.cdf(mu / 2 - epsilon / mu) - math.exp(epsilon) * norm.cdf(-mu / 2 - epsilon / mu)
        low, high = (sigma, high) if one > delta else (low, sigma)
    return high


def weighted(runs: int = 5) -> float:
    """Names by one round."""
    rng, count = generator("weighted"), visits()[2]
    return float(np.mean([len(weighted_round(np.ones(count, bool), EPSILON, DELTA, rng)) for _ in range(runs)]))


def sips(runs: int = 5) -> float:
    """Names by three rounds; released names are dropped before the next, and its weights go to the others."""
    rng, count, found = generator("sips"), visits()[2], []
    for _ in range(runs):
        kept = np.ones(count, bool)
        for share in ROUNDS:
            kept[weighted_round(kept, share * EPSILON, share * DELTA, rng)] = False
        found.append(int((~kept).sum()))
    return float(np.mean(found))


def ours(runs: int = 5) -> float:
    """Names by `GaussianThresholdCounts`, which come with their counts."""
    counts = np.bincount(visits()[1], minlength=visits()[2])
    mechanism = dps.GaussianThresholdCounts(epsilon=EPSILON, delta=DELTA, max_values_per_unit=MOST)
    return float(np.mean([len(mechanism.draw(counts).positions) for _ in range(runs)]))


def optimal(runs: int = 5) -> float:
    """Names by `PartitionSelection`."""
    counts = np.bincount(visits()[1], minlength=visits()[2])
    mechanism = dps.PartitionSelection(epsilon=EPSILON, delta=DELTA, max_values_per_unit=MOST)
    return float(np.mean([len(mechanism.select(counts)) for _ in range(runs)]))
