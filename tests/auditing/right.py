"""Mechanisms of the product on neighbours where they need all of their epsilon, or much of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import dpselect as dps
from dpselect import mechanisms
from tests.auditing.cases import Case

UP, DOWN = [1, 0, 0], [0, 1, 1]
"""Scores that move in both directions by 1."""


def _case(what: str, proofs: str, sampler: Callable[[Any], object], first: Any, second: Any, **claim: float) -> Case:
    """`proofs` are names of pages in ``proofs/``, with a blank between them."""
    return Case(what, lambda seed: sampler, (first, second), proofs=tuple(proofs.split()), **claim)


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


def _ordered(counts: Sequence[int]) -> tuple[Sequence[int], Sequence[int]]:
    drawn = mechanisms.NoisyOrder(3, 2, epsilon=1.0, max_values_per_unit=1).select(counts)
    return drawn.positions.tolist(), drawn.counts.tolist()


_GAP = partial(dps.ReportNoisyMax, noise="exponential")(epsilon=1.0, sensitivity=1.0)
_GENERAL = dps.GeneralizedSelection(epsilon=1.0, sensitivities=[1, 1, 2])
_HISTOGRAM = dps.GeometricMechanism(epsilon=1.0, sensitivity=1)
_AGES = [20, 20, 40, 60]
_WEIGHTED = dps.ExponentialMechanism(epsilon=1.0, sensitivity=1.0, weights=[1, 2, 4])
_WHOLE = mechanisms.IntegerMechanism(epsilon=1.0, sensitivity=1)
_CEILING = mechanisms.IntegerCeiling(center=0, fall=1, height=1)
_LINES = mechanisms.PiecewiseLinearMechanism(epsilon=1.0, sensitivity=1.0)
_PARABOLAS = mechanisms.ConcaveMechanism(epsilon=1.0, sensitivity=1.0)

RIGHT = [
    _case("permute-and-flip", "permute_and_flip", dps.PermuteAndFlip(epsilon=1.0, sensitivity=1.0).select, UP, DOWN),
    _case(
        "exponential mechanism",
        "exponential_mechanism",
        dps.ExponentialMechanism(epsilon=1.0, sensitivity=1.0).select,
        UP,
        DOWN,
    ),
    *(
        _case(
            f"noisy max, {noise}",
            "noisy_max",
            dps.ReportNoisyMax(epsilon=1.0, sensitivity=1.0, noise=noise).select,
            UP,
            DOWN,
        )
        for noise in ("laplace", "exponential", "gumbel")
    ),
    _case(
        "monotonic scores",
        "permute_and_flip",
        dps.PermuteAndFlip(epsilon=1.0, sensitivity=1.0, monotonic=True).select,
        [1, 1],
        [1, 2],
    ),
    _case("winner with gap", "free_gap", lambda scores: [*_GAP.select_with_gap(scores, step=0.125)], UP, DOWN),
    _case(
        "three best in turn",
        "top_k composition",
        lambda scores: dps.top_k(scores, 3, epsilon=1.0, sensitivity=1, delta=0.01),
        UP * 2,
        DOWN * 2,
        delta=0.01,
    ),
    _case(
        "three best at once",
        "exponential_once",
        dps.ExponentialNoiseTopK(epsilon=1.0, sensitivity=1.0, k=3).select,
        UP * 2,
        DOWN * 2,
    ),
    _case("three best as a set", "top_k_sets", dps.TopKSet(epsilon=1.0, sensitivity=1.0, k=3).select, UP * 2, DOWN * 2),
    _case("different sensitivities", "different_sensitivities", _GENERAL.select, [1, 0, 0], [0, 1, 2]),
    _case("Laplace noise", "laplace_mechanism", dps.LaplaceMechanism(epsilon=1.0, sensitivity=1).draw, 0, 1),
    _case("geometric noise", "geometric_mechanism", dps.GeometricMechanism(epsilon=1.0, sensitivity=1).draw, 0, 1),
    _case(
        "geometric noise, zero in between",
        "geometric_mechanism",
        dps.GeometricMechanism(epsilon=1.0, sensitivity=2).draw,
        -1,
        1,
    ),
    _case(
        "Gaussian noise on three counts",
        "discrete_gaussian",
        dps.DiscreteGaussianMechanism(epsilon=1.0, delta=1e-3, squared_sensitivity=3).draw_many,
        [0, 0, 0],
        [1, 1, 1],
        delta=1e-3,
    ),
    _case(
        "randomized response",
        "randomized_response",
        dps.RandomizedResponse(epsilon=1.0).draw,
        [True, False],
        [False, False],
    ),
    _case("stream with one positive", "above_threshold", _stream(1), [0, 0, 0, 1], [1, 1, 1, 0]),
    _case("stream with three positives", "above_threshold", _stream(3), [0, 0, 0, 1, 1, 1], [1, 1, 1, 0, 0, 0]),
    _case(
        "median",
        "quantiles",
        mechanisms.QuantileMechanism(epsilon=1.0, level=0.5, bounds=(0, 9), step=1).draw,
        [0],
        [9],
    ),
    _case(
        "quantiles",
        "joint_quantiles",
        mechanisms.QuantilesMechanism(epsilon=1.0, levels=[0.25, 0.75], bounds=(0, 100)).draw,
        _AGES,
        [*_AGES, 100],
    ),
    _case("histogram", "noisy_histograms", lambda counts: _HISTOGRAM.draw_many(counts), [5, 0, 0], [5, 0, 1]),
    _case(
        "values without a list",
        "partition_selection",
        mechanisms.PartitionSelection(epsilon=1.0, delta=0.01).select,
        [4, 1],
        [4, 2],
        delta=0.01,
    ),
    _case(
        "noisy counts without a list",
        "unknown_candidates",
        lambda counts: [each.tolist() for each in mechanisms.ThresholdCounts(epsilon=1.0, delta=0.01).draw(counts)],
        [3, 0],
        [3, 1],
        delta=0.01,
    ),
    _case(
        "best of private runs",
        "private_candidates",
        _tuned,
        0,
        1,
        epsilon=mechanisms.BestOfRuns(epsilon_per_run=0.2, expected_runs=2).epsilon,
    ),
    _case("candidates with weights", "weighted_candidates", _WEIGHTED.select, UP, DOWN),
    _case(
        "scores computed when needed",
        "early_stop",
        lambda scores: dps.select_lazily(scores.__getitem__, range(3), ceiling=1, epsilon=1.0, sensitivity=1),
        UP,
        DOWN,
    ),
    _case("two most common with counts", "noisy_order", _ordered, [5, 0, 0], [5, 0, 1]),
    _case(
        "values until a candidate that stops",
        "stop_candidate",
        lambda counts: mechanisms.StopCandidate(k=2, epsilon=1.0, delta=0.01).select(counts).tolist(),
        [8, 1],
        [8, 2],
        delta=0.01,
    ),
    _case(
        "price of a list", "best_price", mechanisms.PriceListMechanism(epsilon=1.0, prices=[1, 2, 4]).draw, [1], [1, 4]
    ),
    _case("price between bounds", "prices", mechanisms.PriceMechanism(epsilon=1.0, bounds=(0, 4)).draw, [1], [1, 4]),
    _case(
        "median without bounds",
        "unbounded_quantiles",
        mechanisms.UnboundedQuantileMechanism(epsilon=1.0, level=0.5, step=1).draw,
        [1, 1, 1],
        [1, 1, 1, 9],
    ),
    _case("mean", "means", mechanisms.MeanMechanism(epsilon=1.0, bounds=(0, 1), step=0.5).draw, [0, 0, 1], [1, 0, 1]),
    _case("whole number", "integer_mechanism", lambda best: _WHOLE.draw(lambda y: -abs(y - best), _CEILING), 0, 1),
    _case("scores of lines", "interval_mechanism", lambda scores: _LINES.draw([0, 1], scores), [0, 1], [1, 0]),
    _case("scores of parabolas", "falling_scores", lambda slopes: _PARABOLAS.draw([0, 1], slopes), [0, -2], [2, 0]),
    _case("sample of a distribution", "density", mechanisms.DensityMechanism(epsilon=1.0, k=3).draw, [2, 0], [1, 1]),
]
