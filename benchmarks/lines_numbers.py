"""Numbers from scores of a million pieces: what the first takes, and each of many from the same scores."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

import dpselect as dps
from benchmarks.line import Line
from benchmarks.timing import Call, seconds

PIECES = 10**6
LINES_AT_MOST = 20.0
PRICES_AT_MOST = 50.0
"""Milliseconds that each of many draws may take."""
MANY = 100_000


def lines() -> Iterator[Line]:
    """Scores in lines of three shapes, then offers of three."""
    random = np.random.default_rng(12)
    points = np.sort(random.random(PIECES + 1))
    scores = {
        "steps up and down": random.normal(0.0, 1.0, PIECES + 1).cumsum(),
        "all different": random.random(PIECES + 1),
        "all equal": np.zeros(PIECES + 1),
    }
    for name, heights in scores.items():
        mechanism = dps.mechanisms.PiecewiseLinearMechanism(epsilon=1.0, sensitivity=1.0)
        draws = partial(mechanism.draw_many, points, heights)
        case = f"`PiecewiseLinearMechanism`, {name}"
        yield _line(partial(draws, MANY), what="a number from lines, planned", case=case, at_most=LINES_AT_MOST)
        yield _line(partial(draws, 1), what="planning numbers", case=case)
    offers = {
        "uniform": random.uniform(0.0, 100.0, PIECES),
        "many low ones": np.minimum(random.lognormal(1.0, 1.0, PIECES), 100.0 - 1e-5 * random.random(PIECES)),
        "equal revenues": 100.0 / np.arange(1.0, PIECES + 1.0),
    }
    for name, values in offers.items():
        draws = partial(dps.mechanisms.PriceMechanism(epsilon=1.0, bounds=(0, 100)).draw_many, values)
        case = f"`PriceMechanism`, {name}"
        yield _line(partial(draws, MANY), what="a price, planned", case=case, at_most=PRICES_AT_MOST)
        yield _line(partial(draws, 1), what="planning prices", case=case)
        yield _line(partial(np.sort, values), what="planning prices", case=f"`np.sort` alone, {name}")


def _line(call: Call, *, what: str, case: str, at_most: float | None = None) -> Line:
    described = {"what": what, "case": case, "n": PIECES, "dtype": "float64"}
    each = 1e3 if at_most is None else 1e3 / MANY
    return Line.of(seconds(call, runs=7, budget=2.0), factor=each, unit="ms", at_most=at_most, **described)
