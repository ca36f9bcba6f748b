"""Samples of whole distributions: what the first takes, and each of many from the same data."""

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
"""Milliseconds that each of many samples may take, by the number of bins."""
MANY = 100


def lines() -> Iterator[Line]:
    """Both base measures at two numbers of bins, then numbers without bins."""
    random = np.random.default_rng(11)
    values = np.clip(random.normal(0.4, 0.12, COUNT), 0.0, 1.0)
    for bins, at_most in AT_MOST.items():
        counts, _ = np.histogram(values, bins, (0.0, 1.0))
        for base in ("histograms", "points"):
            mechanism = dps.mechanisms.DensityMechanism(epsilon=1.0, k=SIZE, base=base)
            many = partial(mechanism.draw_many, counts, MANY)
            yield _line(many, what=f"a sample of {bins} bins, planned", case=base, n=COUNT, at_most=at_most)
            yield _line(partial(mechanism.draw, counts), what="planning samples", case=f"{bins} bins, {base}", n=COUNT)
    for n in (COUNT, 10**6):
        mechanism = dps.mechanisms.DensityMechanism(epsilon=1.0, k=SIZE)
        draw = partial(mechanism.draw_points, random.normal(0.4, 0.12, n), bounds=(0, 1))
        yield _line(draw, what="planning samples", case="points, normal", n=n)


def _line(call: Call, *, what: str, case: str, n: int, at_most: float | None = None) -> Line:
    described = {"what": what, "case": f"`DensityMechanism`, {case}, k = {SIZE}", "n": n, "dtype": "int64"}
    each = 1e3 / MANY if at_most is not None else 1e3
    return Line.of(seconds(call, runs=7, budget=2.0), factor=each, unit="ms", at_most=at_most, **described)
