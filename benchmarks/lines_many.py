"""Many draws from one vector, all candidates in order, and the largest Laplace noise: what shares one index."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

import dpselect as dps
from benchmarks import peers
from benchmarks.line import Line
from benchmarks.lines_select import MECHANISMS
from benchmarks.shapes import SHAPES
from benchmarks.timing import ratio, seconds

LAPLACE = dps.ReportNoisyMax(epsilon=peers.EPSILON, sensitivity=peers.SENSITIVITY, noise="laplace")


def lines() -> Iterator[Line]:
    """All of them."""
    yield from _laplace()
    yield from _many_draws()
    yield from _everybody()


def _laplace() -> Iterator[Line]:
    n, draws = 10**6, 1000
    for shape, make in SHAPES.items():
        for dtype in (np.float64, np.float32, np.int64, np.int32):
            scores = make(n).astype(dtype, copy=False)
            sample = ratio(partial(LAPLACE.select, scores), peers.numpy_argmax(scores))
            yield Line.of(
                sample,
                what="Laplace noisy max `select` / `np.argmax`",
                case=f"Laplace, {shape}",
                n=n,
                dtype=str(scores.dtype),
                unit="x",
                at_most=2.0,
            )
        yield _timed(
            partial(LAPLACE.select_many, make(n), draws),
            what=f"Laplace noisy max, `select_many` of {draws:,}",
            case=f"Laplace, {shape}",
            n=n,
            unit="ms",
            at_most=50.0,
        )


def _many_draws() -> Iterator[Line]:
    n = 10**7
    for shape, draws, at_most in (("all equal", 10**6, 0.4), ("Zipf", 10**4, 0.25)):
        yield _timed(
            partial(MECHANISMS["PF"].select_many, SHAPES[shape](n), draws),
            what="PF `select_many`, n = 10^7",
            case=f"PF, {shape}, {draws:,} draws",
            n=n,
            unit="s",
            at_most=at_most,
        )


def _everybody() -> Iterator[Line]:
    n = 10**5
    for shape, make in SHAPES.items():
        for name, at_most in (("PF", 1.0), ("EM", None)):
            yield _timed(
                partial(MECHANISMS[name].peel, make(n), n),
                what=f"all candidates in the order of {name} rounds (`top_k` peeled, k = n)",
                case=f"{name}, {shape}",
                n=n,
                unit="s",
                at_most=at_most,
            )


def _timed(call: Callable[[], Any], *, unit: str, **described: Any) -> Line:
    factor = {"s": 1.0, "ms": 1e3}[unit]
    return Line.of(seconds(call, runs=5), factor=factor, dtype="float64", unit=unit, **described)
