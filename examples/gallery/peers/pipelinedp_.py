"""The column of PipelineDP: its engine on the local backend, where a person is a privacy id.

A replaced row is a person less and another one more, so epsilon is 1/2 where the pair has one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pipeline_dp
from examples.gallery.attacks import DELTA, FAR, Sampler, in_two_processes

_METRICS: Any = pipeline_dp.Metrics


def _asked(
    rows: Sequence[tuple[Any, str, float]], metric: Any, *, epsilon: float, delta: float = 0.0, **more: Any
) -> Any:
    """What the engine answers for rows of a person, a partition and a value; partitions are public without a delta."""
    extractors = pipeline_dp.DataExtractors(
        privacy_id_extractor=lambda row: row[0],
        partition_extractor=lambda row: row[1],
        value_extractor=lambda row: row[2],
    )
    parameters = pipeline_dp.AggregateParams(
        metrics=[metric],
        noise_kind=pipeline_dp.NoiseKind.LAPLACE,
        max_partitions_contributed=1,
        max_contributions_per_partition=1,
        **more,
    )
    accountant = pipeline_dp.NaiveBudgetAccountant(total_epsilon=epsilon, total_delta=delta)
    engine = pipeline_dp.DPEngine(accountant, pipeline_dp.LocalBackend())
    answers = engine.aggregate(rows, parameters, extractors, public_partitions=None if delta else ["all", "others"])
    accountant.compute_budgets()
    return {partition: answer[0] for partition, answer in answers}


def _of_numbers(metric: Any, lower: float = 0.0, upper: float = 1.0) -> Sampler:
    def asked(values: Sequence[float]) -> float:
        rows = [(person, "all", value) for person, value in enumerate(values)]
        return _asked(rows, metric, epsilon=0.5, min_value=lower, max_value=upper)["all"]

    return asked


def _count(rows: Sequence[tuple[str, str]]) -> float:
    return _asked([(person, "all", 0.0) for person, _ in rows], _METRICS.COUNT, epsilon=1.0)["all"]


def _number(count: int) -> float:
    """How many are in a partition, beside somebody in another: a table without any row is refused."""
    rows = [("somebody", "others", 0.0), *((f"person {place}", "all", 0.0) for place in range(count))]
    return _asked(rows, _METRICS.COUNT, epsilon=1.0)["all"]


def _values(values: Sequence[str]) -> Any:
    rows = [(person, value, 0.0) for person, value in enumerate(values)]
    return _asked(rows, _METRICS.COUNT, epsilon=1.0, delta=DELTA)


SAMPLERS: dict[str, Sampler] = {
    "number": _number,
    "mean": _of_numbers(_METRICS.MEAN),
    "median": _of_numbers(_METRICS.PERCENTILE(50)),
    "equal": _of_numbers(_METRICS.PERCENTILE(50)),
    "far": _of_numbers(_METRICS.MEAN, FAR, FAR + 2),
    "order": _of_numbers(_METRICS.MEAN, FAR, FAR + 2),
    "nan": _of_numbers(_METRICS.MEAN),
    "values": _values,
    "rows": _count,
    "fork": in_two_processes(_number),
}
