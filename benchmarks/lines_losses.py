"""The largest privacy loss over all tiny neighbours, from the laws that mechanisms give themselves.

Score vectors, values, bits and tables are enumerated; scores include some that are far apart, where a loss comes near
its bound. Mechanisms that give no law are enumerated in the tests, in fractions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cache
from itertools import chain, combinations_with_replacement, product
from typing import Any

import numpy as np

import dpselect as dps
from benchmarks.line import Line

Data = tuple[float, ...]
Pairs = Iterable[tuple[Data, Data]]
Law = Callable[[Data], Any]
Case = tuple[str, int, Law, Pairs, bool]
"""A name, a size, a law, its neighbours, and whether theory says that the bound is tight."""

EPSILON = 1.0
GRID = (0.0, 1.0, 2.0, 40.0)
"""Of scores: near each other, and one so far ahead that all others are rare."""

ROUNDING = 1e-9
"""Of laws in floats; a loss is that exact at best."""


def lines() -> Iterator[Line]:
    """The loss as a share of the epsilon that is claimed: at most 1, and near it where the bound is tight."""
    for case, size, law, pairs, tight in chain(_selections(), _numbers()):
        value = largest_loss(law, pairs) / EPSILON
        about = {"case": case, "n": size, "dtype": f"ε = {EPSILON:g}", "value": value, "unit": ""}
        yield Line(what="largest loss over all tiny neighbours / ε", at_most=1.0 + ROUNDING, **about)
        if tight:
            yield Line(what="largest loss where the bound is tight / ε", at_least=0.95, **about)


def largest_loss(law: Law, pairs: Pairs) -> float:
    """Over all pairs and answers; infinite if an answer is possible on one side only."""

    @cache
    def logs(data: Data) -> Any:
        with np.errstate(divide="ignore"):
            return np.log(np.asarray(law(data), np.float64))

    found = 0.0
    for one, other in pairs:
        here, there = logs(one), logs(other)
        possible = np.isfinite(here) | np.isfinite(there)
        found = max(found, float(np.abs(here[possible] - there[possible]).max()))
    return found


def scores(moves: Iterable[float], widths: Data = (1.0, 1.0, 1.0)) -> Pairs:
    """Three scores, each moved by its width times one of `moves`."""
    shifts = list(product(moves, repeat=3))
    for start in product(GRID, repeat=3):
        for shift in shifts:
            yield start, tuple(each + by * width for each, by, width in zip(start, shift, widths, strict=True))


def numbers(moves: Iterable[float]) -> Pairs:
    """One number."""
    return (((float(start),), (float(start + by),)) for start in range(3) for by in moves)


def one_more(values: Iterable[float], most: int) -> Pairs:
    """Tables of at most so many values, and the same with one more."""
    known = list(values)
    for size in range(most):
        for table in combinations_with_replacement(known, size):
            for value in known:
                yield table, tuple(sorted((*table, value)))


def flipped() -> Pairs:
    """Three bits, and the same with another first one."""
    return (((0.0, *rest), (1.0, *rest)) for rest in product((0.0, 1.0), repeat=2))


def of(mechanism: Any) -> Law:
    """Its law on an array of the data."""
    return lambda data: mechanism.pmf(np.array(data))


def _selections() -> Iterator[Case]:
    kinds: dict[str, Callable[..., Any]] = {
        "exponential mechanism": dps.ExponentialMechanism,
        "permute-and-flip": dps.PermuteAndFlip,
        "noisy max, Laplace noise": lambda **words: dps.ReportNoisyMax(noise="laplace", **words),
    }
    for name, kind in kinds.items():
        for monotonic, moves in ((False, (-1.0, 1.0)), (True, (0.0, 1.0))):
            mechanism = kind(epsilon=EPSILON, sensitivity=1.0, monotonic=monotonic)
            yield f"{name}{', monotone' if monotonic else ''}", 3, of(mechanism), scores(moves), True
    weighted = dps.ExponentialMechanism(epsilon=EPSILON, sensitivity=1.0, weights=[1, 2, 5])
    yield "exponential mechanism with weights", 3, of(weighted), scores((-1.0, 1.0)), True
    widths = (1.0, 2.0, 4.0)
    for method, monotonic in (("generalized", False), ("generalized", True), ("own_scales", False)):
        unlike = dps.GeneralizedSelection(
            epsilon=EPSILON,
            sensitivities=list(widths),
            method=method,  # type: ignore[arg-type]
            monotonic=monotonic,
        )
        case = f"a sensitivity for each score, {method}{', monotone' if monotonic else ''}"
        yield case, 3, of(unlike), scores((0.0, 1.0) if monotonic else (-1.0, 1.0), widths), False


def _numbers() -> Iterator[Case]:
    points = np.arange(-40, 44)
    geometric = dps.GeometricMechanism(epsilon=EPSILON, sensitivity=1)
    yield "geometric noise", 1, lambda data: geometric.pmf(int(data[0]), points), numbers((-1, 1)), True
    response = dps.RandomizedResponse(epsilon=EPSILON)
    yield "randomized response", 1, lambda data: response.pmf(np.array(data, bool)), flipped(), True
    stream = dps.AboveThreshold(threshold=1.0, epsilon=EPSILON, sensitivity=1.0)
    yield "stream against a threshold", 3, of(stream), scores((-1.0, 1.0)), True
    quantile = dps.mechanisms.QuantileMechanism(epsilon=EPSILON, level=0.5, bounds=(0.0, 4.0), step=1.0)
    yield "median", 5, of(quantile), one_more(range(5), 6), False
    unbounded = dps.mechanisms.UnboundedQuantileMechanism(epsilon=EPSILON, level=0.5, step=1.0)
    yield "median without bounds", 5, of(unbounded), one_more((0.0, 1.0, 3.0, 9.0), 6), False
    prices = dps.mechanisms.PriceListMechanism(epsilon=EPSILON, prices=[1.0, 2.0, 3.0])
    yield "best price of a list", 3, of(prices), one_more((0.0, 1.0, 2.0, 3.0), 5), False
