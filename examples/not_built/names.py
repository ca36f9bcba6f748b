"""How many names weighted counting, DP-SIPS and MAD would release, beside what `values` does, on one public table."""

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
from dpselect.testing import seeded

TABLE = Path(__file__).parents[1] / "data" / "clicks.parquet"
EPSILON, DELTA = 1.0, 1e-6
LIMITS = (1, 3, 10, 30)
"""Of different names a unit counts for."""

ROUNDS = (0.1, 0.25, 0.65)
"""Shares of epsilon and delta of three rounds, growing."""


@cache
def _all_visits() -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], int]:
    """Unit and name of each visit in random order within a unit, its place there, and the number of names."""
    table = pq.read_table(TABLE)
    units = np.unique(table.column("session").to_numpy(), return_inverse=True)[1]
    names, codes = np.unique(table.column("page").to_numpy(), return_inverse=True)
    pairs = np.stack(np.divmod(np.unique(units * len(names) + codes), len(names)), axis=1)
    pairs = pairs[generator("order").permutation(len(pairs))]
    pairs = pairs[np.argsort(pairs[:, 0], kind="stable")]
    starts = np.r_[0, np.flatnonzero(np.diff(pairs[:, 0])) + 1]
    place = np.arange(len(pairs)) - np.repeat(starts, np.diff(np.r_[starts, len(pairs)]))
    return pairs[:, 0], pairs[:, 1], place, len(names)


def visits(most: int) -> tuple[NDArray[np.int64], NDArray[np.int64], int]:
    """Unit and name of each visit, with at most `most` different names a unit, and the number of names."""
    units, names, place, count = _all_visits()
    return units[place < most], names[place < most], count


def discount(most: int) -> float:
    """Of rerouted weight, so that one unit still moves all weights together by at most 1 in l2.

    Of a unit with t names let m have more weight than is needed. Those keep 1/sqrt t - 1/t of its weight, the others
    have 1/sqrt t; no weight falls, and what is rerouted adds a m/t, at worst all of it to one name. The square is then
    1 - 2 (1 - a) m / t^1.5 + (a m)^2 / t^2 + m / t^2, at most 1 if 2 (1 - a) sqrt t >= a^2 t + 1. A unit with one name
    moves weights by at most a.

    >>> round(discount(10), 3)
    0.479
    """
    roots = [math.sqrt(t) for t in range(2, most + 1)]
    return min(((math.sqrt(2.0 * root**3) - root) / root**2 for root in roots), default=1.0)


def weighted_counts(most: int, kept: NDArray[np.bool_], *, enough: float = math.inf) -> NDArray[np.float64]:
    """Each unit spreads a weight of 1 (in l2) over its names that are `kept`.

    With a weight that is `enough`, as in MAD: first 1/t for each of its t names; what a name has above `enough` is
    returned to its units in proportion and, discounted, spread over all their names; then what l2 allows beyond l1.
    """
    units, names, count = visits(most)
    units, names = units[kept[names]], names[kept[names]]
    each = np.bincount(units)
    wide, narrow = 1.0 / np.sqrt(each[units]), 1.0 / each[units]
    if math.isinf(enough):
        return np.bincount(names, weights=wide, minlength=count)
    first = np.bincount(names, weights=narrow, minlength=count)
    returned = np.maximum(first - enough, 0.0) / np.maximum(first, enough)
    excess = np.bincount(units, weights=narrow * returned[names])
    passed_on = discount(most) * excess[units] * narrow
    return np.minimum(first, enough) + np.bincount(names, weights=passed_on + wide - narrow, minlength=count)


def weighted_round(
    most: int,
    kept: NDArray[np.bool_],
    epsilon: float,
    delta: float,
    rng: np.random.Generator,
    *,
    rerouted: bool = False,
) -> NDArray[np.int64]:
    """Names released by weighted Gaussian counts (Gopi and others 2020): half of delta for noise, half for new names.

    A name that one unit alone has gets up to 1/sqrt t, and of what is `rerouted` up to a (t - 1) / t^2.
    """
    sigma, sizes = _gaussian_deviation(epsilon, delta / 2.0), np.arange(1.0, most + 1.0)
    alone = 1.0 / np.sqrt(sizes) + (discount(most) * (sizes - 1.0) / sizes**2 if rerouted else 0.0)
    threshold = float((alone + sigma * norm.ppf((1.0 - delta / 2.0) ** (1.0 / sizes))).max())
    weights = weighted_counts(most, kept, enough=threshold + 2.0 * sigma if rerouted else math.inf)
    return np.flatnonzero((weights > 0.0) & (weights + sigma * rng.standard_normal(len(weights)) >= threshold))


def _gaussian_deviation(epsilon: float, delta: float) -> float:
    low, high = 1e-3, 1e4
    for _ in range(100):
        sigma = math.sqrt(low * high)
        mu = 1.0 / sigma
        one = norm.cdf(mu / 2 - epsilon / mu) - math.exp(epsilon) * norm.cdf(-mu / 2 - epsilon / mu)
        low, high = (sigma, high) if one > delta else (low, sigma)
    return high


def _everything() -> NDArray[np.bool_]:
    return np.ones(visits(1)[2], bool)


def weighted(most: int, runs: int = 5) -> float:
    """Names by one round."""
    rng = generator("weighted")
    return float(np.mean([len(weighted_round(most, _everything(), EPSILON, DELTA, rng)) for _ in range(runs)]))


def mad(most: int, runs: int = 5) -> float:
    """Names by one round that reroutes weight as MAD does."""
    rng = generator("mad")
    found = [len(weighted_round(most, _everything(), EPSILON, DELTA, rng, rerouted=True)) for _ in range(runs)]
    return float(np.mean(found))


def sips(most: int, runs: int = 5) -> float:
    """Names by three rounds; released names are dropped before the next, and its weights go to the others."""
    rng, found = generator("sips"), []
    for _ in range(runs):
        kept = _everything()
        for share in ROUNDS:
            kept[weighted_round(most, kept, share * EPSILON, share * DELTA, rng)] = False
        found.append(int((~kept).sum()))
    return float(np.mean(found))


def _counts(most: int) -> NDArray[np.int64]:
    _, names, count = visits(most)
    return np.bincount(names, minlength=count)


def ours(most: int, runs: int = 5) -> float:
    """Names by `GaussianThresholdCounts`, which come with their counts."""
    mechanism = dps.mechanisms.GaussianThresholdCounts(epsilon=EPSILON, delta=DELTA, max_values_per_unit=most)
    with seeded(1):
        return float(np.mean([len(mechanism.draw(_counts(most)).positions) for _ in range(runs)]))


def optimal(most: int, runs: int = 5) -> float:
    """Names by `PartitionSelection`, without counts."""
    mechanism = dps.mechanisms.PartitionSelection(epsilon=EPSILON, delta=DELTA, max_values_per_unit=most)
    with seeded(1):
        return float(np.mean([len(mechanism.select(_counts(most))) for _ in range(runs)]))
