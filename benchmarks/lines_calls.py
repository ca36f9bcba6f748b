"""What a call costs whole, what many draws cost together, and the best k."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import dpselect as dps
from benchmarks import peers
from benchmarks.line import Line
from benchmarks.lines_select import MECHANISMS
from benchmarks.shapes import SHAPES, Scores
from benchmarks.timing import Call, Sample, ratio, seconds

DRAWS = 10**6
K = 100


def lines() -> Iterator[Line]:
    """All of them."""
    yield from _whole_calls()
    yield from _many_draws()
    yield from _best_k()


def _whole_calls() -> Iterator[Line]:
    for n, at_most in ((10, 1.0), (1000, 5.0)):
        for shape, make in SHAPES.items():
            scores = make(n)
            calls: dict[str, Call] = {
                f"{name} `.select`": partial(each.select, scores) for name, each in MECHANISMS.items()
            }
            calls["`dps.select`"] = _as_written(scores)
            for name, call in calls.items():
                sample = seconds(call)
                yield Line.of(
                    sample,
                    factor=1e6,
                    what=f"whole Python call at n = {n}",
                    case=f"{name}, {shape}",
                    n=n,
                    dtype="float64",
                    unit="us",
                    at_most=at_most,
                )


def _as_written(scores: Scores) -> Call:
    """The call as people write it: keywords of a `partial` would be put into a dictionary each time."""
    epsilon, sensitivity = peers.EPSILON, peers.SENSITIVITY
    return lambda: dps.select(scores, epsilon=epsilon, sensitivity=sensitivity)


def _many_draws() -> Iterator[Line]:
    for n, written in ((1000, "1000"), (10**5, "10^5")):
        for shape, make in SHAPES.items():
            scores = make(n)
            for name, mechanism in MECHANISMS.items():
                sample = seconds(partial(mechanism.select_many, scores, DRAWS), runs=5)
                rates = Sample(tuple(DRAWS / each for each in sample.values))
                yield Line.of(
                    rates,
                    what=f"`select_many`, n = {written}",
                    case=f"{name}, {shape}, 10^6 draws",
                    n=n,
                    dtype="float64",
                    unit="draws/s",
                    at_least=1e6,
                )


def _best_k() -> Iterator[Line]:
    n = 10**6
    for shape, make in SHAPES.items():
        scores = make(n)
        for name, delta in (("EM peeled (delta = 1e-6)", 1e-6), ("exponential noise once (delta = 0)", 0.0)):
            call = partial(dps.top_k, scores, K, epsilon=peers.EPSILON, sensitivity=peers.SENSITIVITY, delta=delta)
            sample = ratio(call, peers.numpy_argpartition(scores, K))
            yield Line.of(
                sample,
                what="`top_k` k = 100, n = 10^6 / `np.argpartition`",
                case=f"{name}, {shape}",
                n=n,
                dtype="float64",
                unit="x",
                at_most=2.0 if delta else 1.0,
            )
        for name, mechanism in MECHANISMS.items():
            yield Line.of(
                ratio(partial(mechanism.select_with_gap, scores, step=0.125), partial(mechanism.select, scores)),
                what="`select_with_gap` / `select`, n = 10^6",
                case=f"{name}, {shape}",
                n=n,
                dtype="float64",
                unit="x",
                at_most=1.2,
            )
