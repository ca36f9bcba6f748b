"""Candidates that are not alike, and sets: weights, a sensitivity for each, the k best at once."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

import dpselect as dps
from benchmarks import peers
from benchmarks.line import Line
from benchmarks.shapes import SHAPES
from benchmarks.timing import ratio, seconds

N, K = 10**6, 100


def lines() -> Iterator[Line]:
    """All of them."""
    yield from _sensitivities()
    yield from _weights()
    yield from _sets()


def _sensitivities() -> Iterator[Line]:
    generator = np.random.default_rng(20261125)
    scores, widths = generator.normal(scale=100.0, size=N), generator.uniform(1.0, 50.0, N)
    for method, monotonic in (("generalized", False), ("generalized", True), ("own_scales", False)):
        mechanism = dps.GeneralizedSelection(
            epsilon=1.0,
            sensitivities=widths,
            method=method,  # type: ignore[arg-type]
            monotonic=monotonic,
        )
        yield Line.of(
            seconds(partial(mechanism.select, scores), runs=5),
            what="a sensitivity for each score, `select`",
            case=f"{method}{', monotonic' if monotonic else ''}",
            n=N,
            dtype="float64",
            unit="s",
            at_most=1.0,
        )


def _weights() -> Iterator[Line]:
    for shape, make in SHAPES.items():
        scores = make(N)
        mechanism = dps.ExponentialMechanism(epsilon=1.0, sensitivity=1.0, weights=np.arange(1.0, N + 1.0))
        yield Line.of(
            ratio(partial(mechanism.select, scores), peers.numpy_gumbel(scores), pairs=5),
            what="EM with weights, `select` / NumPy Gumbel noise",
            case=shape,
            n=N,
            dtype=str(scores.dtype),
            unit="x",
        )
        plain = dps.ExponentialMechanism(epsilon=1.0, sensitivity=1.0)
        yield Line.of(
            ratio(partial(mechanism.select, scores), partial(plain.select, scores)),
            what="EM with weights, `select` / without",
            case=shape,
            n=N,
            dtype=str(scores.dtype),
            unit="x",
            at_most=3.0,
        )


def _sets() -> Iterator[Line]:
    mechanism = dps.TopKSet(k=K, epsilon=1.0, sensitivity=1.0, monotonic=True)
    for shape, make in SHAPES.items():
        scores = make(N)
        yield Line.of(
            seconds(partial(mechanism.select, scores), runs=5),
            factor=1e3,
            what=f"the {K} best as a set",
            case=shape,
            n=N,
            dtype=str(scores.dtype),
            unit="ms",
            at_most=50.0,
        )
