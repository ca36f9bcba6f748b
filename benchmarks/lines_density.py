"""Samples of whole distributions: what planning and each draw take."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

import dpselect as dps
from benchmarks.line import Line
from benchmarks.timing import Call, seconds

COUNT = 4096
SIZE = 128
AT_MOST = {64: 20.0, 1024: 500.0}
"""Milliseconds a sample may take once it is planned, by the number of bins."""


def lines() -> Iterator[Line]:
    """Both base measures at two numbers of bins, then numbers without bins."""
    random = np.random.default_rng(11)
    values = np.clip(random.normal(0.4, 0.12, COUNT), 0.0, 1.0)
    for bins, at_most in AT_MOST.items():
        counts, _ = np.histogram(values, bins, (0.0, 1.0))
        for base in ("histograms", "points"):
            plan = partial(dps.mechanisms.DensityMechanism(epsilon=1.0, k=SIZE, base=base).plan, counts)
            yield _line(plan().draw, what=f"a sample of {bins} bins, planned", case=base, n=COUNT, at_most=at_most)
            yield _line(plan, what="planning samples", case=f"{bins} bins, {base}", n=COUNT)
    for n in (COUNT, 10**6):
        mechanism = dps.mechanisms.DensityMechanism(epsilon=1.0, k=SIZE)
        plan = partial(mechanism.plan_points, random.normal(0.4, 0.12, n), bounds=(0, 1))
        yield _line(plan().draw, what="a sample of points, planned", case="normal", n=n)
        yield _line(plan, what="planning samples", case="points, normal", n=n)


def _line(call: Call, *, what: str, case: str, n: int, at_most: float | None = None) -> Line:
    described = {"what": what, "case": f"`DensityMechanism`, {case}, k = {SIZE}", "n": n, "dtype": "int64"}
    return Line.of(seconds(call, runs=7, budget=2.0), factor=1e3, unit="ms", at_most=at_most, **described)
