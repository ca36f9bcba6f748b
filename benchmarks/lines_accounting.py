"""What accounting takes, and how close its bounds are to each other."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

import dpselect as dps
from benchmarks.line import Line
from benchmarks.timing import seconds
from dpselect.accounting import BoundedRangeEvent, LaplaceProfileEvent, compose

TABLE = {
    (0.1, 10): (0.652, 0.635),
    (0.1, 100): (2.40, 2.26),
    (0.5, 10): (3.63, 3.59),
    (0.5, 50): (9.84, 9.39),
    (1.0, 10): (7.77, 7.73),
}
DELTA = 1e-6


def lines() -> Iterator[Line]:
    """Times of compose, calibrate and the exact recursion; totals beside those that are known."""
    equal = [BoundedRangeEvent(epsilon=0.1)] * 10**6
    random = np.random.default_rng(7)
    kinds = (BoundedRangeEvent, LaplaceProfileEvent)
    different = [kinds[i % 2](epsilon=float(e)) for i, e in enumerate(random.uniform(1e-3, 1e-1, 10**4))]
    yield _time("`compose`, 10^6 equal events", len(equal), partial(_total, equal), at_most=0.01)
    yield _time("`compose`, 10^4 different events", len(different), partial(_total, different), at_most=1.0)
    yield _time("`compose(tight=True)`, 100 runs", 100, partial(_total, equal[:100], tight=True), at_most=5.0)
    calibrate = partial(
        dps.accounting.calibrate, dps.ExponentialMechanism, count=100, epsilon=1.0, delta=DELTA, sensitivity=1.0
    )
    yield _time("`calibrate`, 100 runs", 100, calibrate, at_most=1.0)
    for (epsilon, k), (closed, tight) in TABLE.items():
        events = [BoundedRangeEvent(epsilon=epsilon)] * k
        yield _deviation(f"Rényi, {k} runs at {epsilon}", k, _total(events), closed)
        # The published value has a grid error of up to epsilon / 40; what counts is not to be above it.
        yield _deviation(f"exact, {k} runs at {epsilon}", k, _total(events, tight=True), tight, at_most=0.005)


def _total(events: list[BoundedRangeEvent | LaplaceProfileEvent], *, tight: bool = False) -> float:
    return compose(events, tight=tight).epsilon(DELTA)


def _time(case: str, n: int, call: Callable[[], object], *, at_most: float) -> Line:
    return Line.of(seconds(call), what="accounting, time", case=case, n=n, dtype="", unit="s", at_most=at_most)


def _deviation(case: str, n: int, value: float, known: float, *, at_most: float = 0.005) -> Line:
    above = (value / known - 1.0) * 100.0
    return Line(
        what="accounting, above the known total", case=case, n=n, dtype="", value=above, unit="%", at_most=at_most * 100
    )
