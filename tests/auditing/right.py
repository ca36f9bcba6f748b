"""Twenty-four mechanisms of the product on neighbours where they need all of their epsilon, or much of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import dpselect as dps
from dpselect import mechanisms
from tests.auditing.cases import Case

UP, DOWN = [1, 0, 0], [0, 1, 1]
"""Scores that move in both directions by 1."""


def _case(what: str, sampler: Callable[[Any], object], first: Any, second: Any, **claim: float) -> Case:
    return Case(what, lambda seed: sampler, (first, second), **claim)


def _stream(positives: int) -> Callable[[Sequence[int]], list[bool]]:
    def answers(queries: Sequence[int]) -> list[bool]:
        stream = dps.AboveThreshold(0, epsilon=1.0, sensitivity=1, positives=positives)
        found = list[bool]()
        for query in queries:
            found.append(stream.test(query))
            if sum(found) == positives:
                break
        return found

    return answers


def _tuned(count: int) -> object:
    plan = mechanisms.BestOfRuns(epsilon_per_run=0.2, expected_runs=2)
    noise = dps.GeometricMechanism(epsilon=0.2, sensitivity=1)

    def run(size: int) -> tuple[float, str]:
        noisy = noise.draw(count)
        return float(noisy), f"{noisy}"

    best = plan.run(run, [1])
    return None if best is None else best.score


_GAP = partial(dps.ReportNoisyMax, noise="exponential")(epsilon=1.0, sensitivity=1.0)
_GENERAL = dps.GeneralizedSelection(epsilon=1.0, sensitivities=[1, 1, 2])
_HISTOGRAM = dps.GeometricMechanism(epsilon=1.0, sensitivity=1)
_AGES = [20, 20, 40, 60]

RIGHT = [
    _case("permute-and-flip", dps.PermuteAndFlip(epsilon=1.0, sensitivity=1.0).select, UP, DOWN),
    _case("exponential mechanism", dps.ExponentialMechanism(epsilon=1.0, sensitivity=1.0).select, UP, DOWN),
    *(
        _case(f"noisy max, {noise}", dps.ReportNoisyMax(epsilon=1.0, sensitivity=1.0, noise=noise).select, UP, DOWN)
        for noise in ("laplace", "exponential", "gumbel")
    ),
    _case("monotonic scores", dps.PermuteAndFlip(epsilon=1.0, sensitivity=1.0, monotonic=True).select, [1, 1], [1, 2]),
    _case("winner with gap", lambda scores: [*_GAP.select_with_gap(scores, step=0.125)], UP, DOWN),
    _case("three best in turn", lambda scores: dps.top_k(scores, 3, epsilon=1.0, sensitivity=1), UP * 2, DOWN * 2),
    _case("three best at once", dps.ExponentialNoiseTopK(epsilon=1.0, sensitivity=1.0, k=3).select, UP * 2, DOWN * 2),
    _case("three best as a set", dps.TopKSet(epsilon=1.0, sensitivity=1.0, k=3).select, UP * 2, DOWN * 2),
    _case("different sensitivities", _GENERAL.select, [1, 0, 0], [0, 1, 2]),
    _case("Laplace noise", dps.LaplaceMechanism(epsilon=1.0, sensitivity=1).draw, 0, 1),
    _case("geometric noise", dps.GeometricMechanism(epsilon=1.0, sensitivity=1).draw, 0, 1),
    _case("geometric noise, zero in between", dps.GeometricMechanism(epsilon=1.0, sensitivity=2).draw, -1, 1),
    _case(
        "Gaussian noise on three counts",
        dps.DiscreteGaussianMechanism(epsilon=1.0, delta=1e-3, squared_sensitivity=3).draw_many,
        [0, 0, 0],
        [1, 1, 1],
        delta=1e-3,
    ),
    _case("randomized response", dps.RandomizedResponse(epsilon=1.0).draw, [True, False], [False, False]),
    _case("stream with one positive", _stream(1), [0, 0, 0, 1], [1, 1, 1, 0]),
    _case("stream with three positives", _stream(3), [0, 0, 0, 1, 1, 1], [1, 1, 1, 0, 0, 0]),
    _case("median", mechanisms.QuantileMechanism(epsilon=1.0, level=0.5, bounds=(0, 9), step=1).draw, [0], [9]),
    _case(
        "quantiles",
        mechanisms.QuantilesMechanism(epsilon=1.0, levels=[0.25, 0.75], bounds=(0, 100)).draw,
        _AGES,
        [*_AGES, 100],
    ),
    _case("histogram", lambda counts: _HISTOGRAM.draw_many(counts), [5, 0, 0], [5, 0, 1]),
    _case(
        "values without a list",
        mechanisms.PartitionSelection(epsilon=1.0, delta=0.01).select,
        [4, 1],
        [4, 2],
        delta=0.01,
    ),
    _case(
        "noisy counts without a list",
        lambda counts: [each.tolist() for each in mechanisms.ThresholdCounts(epsilon=1.0, delta=0.01).draw(counts)],
        [3, 0],
        [3, 1],
        delta=0.01,
    ),
    _case(
        "best of private runs",
        _tuned,
        0,
        1,
        epsilon=mechanisms.BestOfRuns(epsilon_per_run=0.2, expected_runs=2).epsilon,
    ),
]
