"""Streams: what one question costs; tuning: what each run costs beside the run."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import partial

import dpselect as dps
from benchmarks import peers
from benchmarks.line import Line
from benchmarks.timing import Call, Sample, seconds

TEST_AT_MOST = 1.0
"""Microseconds."""

RUNS = 10
STOP = 0.99
"""With it OpenDP 0.16 makes about five runs."""

SEARCHES = 7


def lines() -> Iterator[Line]:
    """Far below the threshold, and near it, where the coin needs its exponential."""
    for case, value in (("far below", 10.5), ("near the threshold", 990.5), ("a whole number", 10)):
        stream = dps.AboveThreshold(1000, epsilon=1.0, sensitivity=1, moves="up", positives=2**40)
        yield Line.of(
            seconds(partial(stream.test, value)),
            factor=1e6,
            what="one question of a stream",
            case=f"`AboveThreshold.test`, {case}",
            n=1,
            dtype="float64",
            unit="us",
            at_most=TEST_AT_MOST,
        )
    plan = dps.mechanisms.BestOfRuns(epsilon_per_run=1.0, expected_runs=RUNS)
    ours = _each(lambda run: partial(plan.run, run, [1]))
    theirs = _each(lambda run: peers.opendp_private_candidate(run, STOP))
    yield Line.of(
        Sample(tuple(there / here for there, here in zip(theirs, ours, strict=True))),
        what="a run of a private selection by peers / ours",
        case=f"OpenDP's private candidates, an empty run; ours with {RUNS} runs on average",
        n=1,
        dtype="runs",
        unit="x",
        at_least=10.0,
    )


def _each(search: Callable[[Callable[[object], tuple[float, object]]], Call]) -> list[float]:
    """Seconds for each run, of a few searches."""
    found: list[float] = []
    for _ in range(SEARCHES):
        ran = 0

        def run(_: object) -> tuple[float, object]:
            nonlocal ran
            ran += 1
            return 0.5, "a model"

        call = search(run)
        start = time.perf_counter()
        while ran < 20 * RUNS:
            call()
        found.append((time.perf_counter() - start) / ran)
    return found
