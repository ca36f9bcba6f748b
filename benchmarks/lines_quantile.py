"""Quantiles of numbers in memory, against NumPy's without privacy and the peers' with it."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

import dpselect as dps
from benchmarks import peers, unbounded_quantiles
from benchmarks.line import Line
from benchmarks.timing import ratio, seconds

COUNT = 10**7
SMALLEST_EPSILON = 1e-6
JOINT_COUNT, JOINT_LEVELS = 10**5, 9
PEERS_COUNT = 10**5
PEERS_CANDIDATES = 1000
UNBOUNDED_DRAWS = 10
MOST_UNBOUNDED = {(0.9, 0.1): 42.0, (0.9, 1.0): 2.4, (0.99, 1.0): 3.4}
"""Mean rank errors by level and epsilon: those of simulations (37, 2.1 and 3.0), and a seventh more for chance."""


def lines() -> Iterator[Line]:
    """The median of shapes that are easy and hard for either side, then many quantiles, then the peers."""
    random = np.random.default_rng(7)
    shapes = {
        "normal": (random.normal(50.0, 15.0, COUNT), None),
        "uniform": (random.random(COUNT) * 100.0, None),
        "sorted": (np.sort(random.random(COUNT)) * 100.0, None),
        "whole numbers, on their grid": (random.integers(0, 100, COUNT).astype(np.float64), 1),
        "whole numbers": (random.integers(0, 100, COUNT).astype(np.float64), None),
    }
    for shape, (values, step) in shapes.items():
        draw = dps.mechanisms.QuantileMechanism(epsilon=1.0, level=0.5, bounds=(0, 100), step=step).draw
        yield Line.of(
            ratio(partial(draw, values), partial(np.median, values)),
            what="median / `np.median`",
            case=f"`median`, {shape}",
            n=COUNT,
            dtype="float64",
            unit="x",
            at_most=0.5,
        )
    values = shapes["normal"][0]
    wide = dps.mechanisms.QuantileMechanism(epsilon=SMALLEST_EPSILON, level=0.5, bounds=(0, 100)).draw
    yield Line.of(
        ratio(partial(wide, values), partial(np.median, values)),
        what="median at epsilon 1e-6 / `np.median`",
        case="`median`, normal: ranks far from the middle count",
        n=COUNT,
        dtype="float64",
        unit="x",
        at_most=1.0,
    )
    levels = np.arange(1, 100) / 100
    draw_all = dps.mechanisms.QuantilesMechanism(
        epsilon=1.0, levels=tuple(levels), bounds=(0, 100), method="halving"
    ).draw
    yield Line.of(
        ratio(partial(draw_all, values), partial(np.quantile, values, levels)),
        what="99 quantiles / `np.quantile`",
        case="`quantiles` by halving, normal",
        n=COUNT,
        dtype="float64",
        unit="x",
        at_most=1.0,
    )
    many = tuple(np.arange(1, JOINT_LEVELS + 1) / (JOINT_LEVELS + 1))
    draw_joint = dps.mechanisms.QuantilesMechanism(epsilon=1.0, levels=many, bounds=(0, 100), method="joint").draw
    yield Line.of(
        seconds(partial(draw_joint, values[:JOINT_COUNT]), runs=5),
        what=f"{JOINT_LEVELS} joint quantiles",
        case="`quantiles` by one draw, normal",
        n=JOINT_COUNT,
        dtype="float64",
        unit="s",
        at_most=1.0,
    )
    yield from _unbounded()
    yield from _peers(random.normal(50.0, 15.0, PEERS_COUNT))


def _unbounded() -> Iterator[Line]:
    """How far off quantiles without bounds are, in ranks, beside bounds that are ten times too wide."""
    for level, epsilon in unbounded_quantiles.CASES:
        errors = unbounded_quantiles.mean_errors(level, epsilon, draws=UNBOUNDED_DRAWS)
        for name, at_most in (
            ("tested in order", MOST_UNBOUNDED.get((level, epsilon))),
            ("bounds ten times too wide", None),
        ):
            yield Line(
                what="mean rank error of a quantile without bounds",
                case=f"{name}, level {level:g}, epsilon {epsilon:g}, lognormal",
                n=unbounded_quantiles.SIZE,
                dtype="float64",
                value=errors[name],
                unit="ranks",
                at_most=at_most,
                runs=UNBOUNDED_DRAWS * unbounded_quantiles.TABLES,
            )


def _peers(values: np.ndarray[Any, np.dtype[np.float64]]) -> Iterator[Line]:
    """The other libraries' medians: times as fast."""
    draw = dps.mechanisms.QuantileMechanism(epsilon=peers.EPSILON, level=0.5, bounds=(0, 100)).draw
    on_grid = dps.mechanisms.QuantileMechanism(epsilon=peers.EPSILON, level=0.5, bounds=(0, 99.9), step=0.1).draw
    candidates = np.arange(PEERS_CANDIDATES) / 10
    for what, theirs, ours, at_least in (
        ("diffprivlib `quantile` / `median`", peers.diffprivlib_quantile(values), draw, 100.0),
        ("OpenDP `make_private_quantile` / `median`", peers.opendp_quantile(values, candidates), on_grid, 10.0),
    ):
        yield Line.of(
            ratio(theirs, partial(ours, values)),
            what=what,
            case="`median`, normal",
            n=PEERS_COUNT,
            dtype="float64",
            unit="x",
            at_least=at_least,
        )
