"""How far off a top 10 with counts is, if each unit has one value and says so: errors of releases, not times."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa

import dpselect as dps
from benchmarks.line import Line

CANDIDATES = 200
K = 10
DRAWS = 100
EPSILON = 1.0


def lines() -> Iterator[Line]:
    """Noise once against draws and counts apart, at the same epsilon."""
    exact = 2 * np.arange(CANDIDATES, 0, -1)
    people = dps.Dataset(
        pa.table({"who": np.arange(exact.sum()), "page": np.repeat(np.arange(CANDIDATES), exact)}), unit="who"
    )
    asked: dict[str, Any] = {"candidates": range(CANDIDATES), "epsilon": EPSILON}
    once = [people.top_k("page", K, max_values_per_unit=1, **asked) for _ in range(DRAWS)]
    apart = [people.top_k("page", K, with_counts=True, **asked) for _ in range(DRAWS)]
    described: dict[str, Any] = {"n": CANDIDATES, "dtype": "int64", "unit": "x", "at_most": 0.15, "runs": DRAWS}
    what = "top 10 with counts, one value a unit: noise once / draws and counts apart, same epsilon"
    yield Line(
        what=what, case="deviation of the counts", value=_deviation(once, exact) / _deviation(apart, exact), **described
    )
    yield Line(
        what=what, case="count lost by a wrong choice", value=_lost(once, exact) / _lost(apart, exact), **described
    )


def _deviation(releases: list[dps.Release[Any]], exact: np.ndarray) -> float:
    """Root of the mean square of what released counts are off."""
    off = [np.array(release.counts) - exact[release.value] for release in releases]
    return float(np.sqrt(np.mean(np.square(off))))


def _lost(releases: list[dps.Release[Any]], exact: np.ndarray) -> float:
    """By how much the selected counts are below the highest ones, on average."""
    best = np.sort(exact)[-K:].sum()
    return float(np.mean([best - exact[release.value].sum() for release in releases])) / K
