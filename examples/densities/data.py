"""Two real histograms, scaled to any number of records without changing their shape."""

from __future__ import annotations

import csv
from functools import cache
from pathlib import Path

import numpy as np
from examples.densities.bands import IntArray
from examples.paper.dpbench import load

ADULT = Path(__file__).parents[1] / "data" / "adult.csv"

HEPTH_BINS = 64
AGES = range(16, 96)
"""Public: one bin for each year of age."""

NAMES = ("HEPTH", "ADULT")


def histogram(name: str, n: int, bins: int = HEPTH_BINS) -> IntArray:
    """The data set called `name` as if it had `n` records.

    Args:
        name: "HEPTH" or "ADULT".
        n: records, >= 1.
        bins: of HEPTH, a power of two up to 1024. ADULT always has one for each of `AGES`.

    Returns:
        Shape ``(m,)``, counts with sum `n`.

    >>> histogram("HEPTH", 4096)[:6]
    array([0, 0, 0, 1, 1, 2])
    >>> len(histogram("ADULT", 64)), int(histogram("ADULT", 64).sum())
    (80, 64)
    """
    return apportioned(_ages() if name == "ADULT" else load(name).reshape(bins, -1).sum(axis=1), n)


def apportioned(counts: IntArray, n: int) -> IntArray:
    """`counts` in proportion, with sum `n`: whole parts first, the rest to the largest remainders.

    >>> apportioned(np.array([5, 3, 2]), 4)
    array([2, 1, 1])
    """
    parts, remainders = np.divmod(counts * n, counts.sum())
    parts[np.argsort(-remainders, kind="stable")[: n - int(parts.sum())]] += 1
    return parts


@cache
def _ages() -> IntArray:
    with ADULT.open(encoding="utf-8", newline="") as file:
        ages = [int(row["age"]) for row in csv.DictReader(file)]
    return np.bincount(ages, minlength=AGES.stop)[AGES.start : AGES.stop].astype(np.int64)
