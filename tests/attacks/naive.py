"""What people write when they read the formulas: short, plausible, and each of them broken in one way.

None of this is used by the product. Every attack on this folder's pages works against one of these and fails against
`dpselect`; ``docs/attacks.md`` tells how.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from typing import Any

import duckdb
import numpy as np


def laplace(rng: np.random.Generator, scale: float) -> float:
    """Laplace noise by inverting its distribution function at a uniform double, as textbooks have it."""
    u = rng.random() - 0.5
    return -scale * math.copysign(1.0, u) * math.log1p(-2.0 * abs(u))


def most_common(values: Iterable[Hashable], epsilon: float, rng: np.random.Generator) -> Hashable:
    """The most frequent value, by report-noisy-max over whatever occurs, every row counted."""
    counts = Counter(values)
    return max(counts, key=lambda value: counts[value] + laplace(rng, 1.0 / epsilon))


def noisy_sum(amounts: Any, upper: float, epsilon: float, rng: np.random.Generator) -> float:
    """The sum of amounts clipped to 0 ... `upper`, in the type they have."""
    return float(sum(np.clip(amounts, 0, upper))) + laplace(rng, upper / epsilon)


def best_by_total(groups: Sequence[str], amounts: Any, names: Sequence[str], rng: np.random.Generator) -> str:
    """The group with the largest sum of amounts of 32 bits, clipped to a million; noise for epsilon 1."""
    totals = np.zeros(len(names), dtype=np.int32)
    np.add.at(totals, [names.index(group) for group in groups], np.clip(amounts, 0, 1_000_000).astype(np.int32))
    noisy = [float(total) + laplace(rng, 2 * 1_000_000) for total in totals]
    return names[int(np.argmax(noisy))]


def noisy_number(value: float, epsilon: float, rng: np.random.Generator) -> float:
    """A count and Laplace noise, as doubles."""
    return value + laplace(rng, 1.0 / epsilon)


def median(values: Sequence[float], lower: float, upper: float, epsilon: float, rng: np.random.Generator) -> float:
    """The exponential mechanism on the intervals between the values, then a uniform double within one."""
    edges = np.concatenate([[lower], np.sort(np.clip(values, lower, upper)), [upper]])
    scores = -np.abs(np.arange(len(values) + 1) - len(values) / 2)
    weights = np.diff(edges) * np.exp(epsilon * scores)
    chosen = rng.choice(len(weights), p=weights / weights.sum())
    return float(edges[chosen] + (edges[chosen + 1] - edges[chosen]) * rng.random())


def select(scores: Sequence[float], epsilon: float, uniform: Any) -> Any:
    """The exponential mechanism in 32-bit floats, as on a graphics card: where do uniform numbers fall?"""
    weights = np.exp(np.float32(epsilon / 2) * (np.array(scores, dtype=np.float32) - np.float32(max(scores))))
    ends = np.cumsum(weights, dtype=np.float32)
    return np.searchsorted(ends, uniform * ends[-1], side="right")


def mean_age(rows: Iterable[tuple[str, str]], epsilon: float, rng: np.random.Generator) -> float:
    """The mean of a column that ought to hold whole numbers."""
    ages = [min(max(int(age), 0), 120) for _, age in rows]
    return sum(ages) / len(ages) + laplace(rng, 120 / (len(ages) * epsilon))


def total_in_file(path: str, upper: float, epsilon: float, rng: np.random.Generator) -> float:
    """The sum of a column of amounts clipped to 0 ... `upper`, where NaN counts nothing; by a database."""
    amount = f"CASE WHEN isnan(amount) THEN 0 ELSE greatest(0, least({upper}, amount)) END"
    ((total,),) = duckdb.execute(f"SELECT sum({amount}) FROM read_parquet('{path}')").fetchall()
    return total + laplace(rng, upper / epsilon)
