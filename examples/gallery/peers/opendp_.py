"""The column of OpenDP: measurements built once, whose privacy map gives epsilon 1 for the pair."""

from __future__ import annotations

import math
from typing import Any

import opendp.prelude as dp
import polars as pl
from examples.gallery.attacks import DELTA, FAR, Sampler, in_two_processes

dp.enable_features("contrib")


def _mean(size: int, lower: float = 0.0, upper: float = 1.0, *, nan: bool = False) -> Sampler:
    """Of a table of a known size, whose replaced row is a distance of 2; missing numbers become the lower bound."""
    rows: Any = dp.vector_domain(dp.atom_domain(T=float, nan=nan), size=size), dp.symmetric_distance()
    given = rows >> dp.t.then_impute_constant(lower) if nan else rows
    added = given >> dp.t.then_clamp(bounds=(lower, upper)) >> dp.t.then_sum()
    noisy = dp.binary_search_chain(lambda scale: added >> dp.m.then_laplace(scale=scale), d_in=2, d_out=1.0)
    return lambda values: noisy(values) / size


def _median() -> Any:
    rows: Any = dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.symmetric_distance()
    steps = [step / 10 for step in range(11)]
    return _claimed(rows >> dp.m.then_private_quantile(dp.max_divergence(), candidates=steps, alpha=0.5, scale=2.0), 2)


def _best() -> Any:
    scores: Any = dp.vector_domain(dp.atom_domain(T="i64")), dp.linf_distance(T="i64")
    return _claimed(scores >> dp.m.then_noisy_max(dp.max_divergence(), scale=2.0), 1)


def _values() -> Any:
    rows: Any = dp.vector_domain(dp.atom_domain(T=str)), dp.symmetric_distance()
    counted = rows >> dp.t.then_count_by() >> dp.m.then_laplace_threshold(scale=1.0, threshold=12)
    assert counted.map(1) <= (1.0, DELTA)
    return counted


def _people() -> Sampler:
    """A frame with the column of persons; each is cut to one row."""

    def frame(rows: list[tuple[str, str]]) -> pl.LazyFrame:
        return pl.LazyFrame(rows, schema=["person", "value"], orient="row")

    table = dp.Context.compositor(
        data=frame([("", "")]),
        privacy_unit=dp.unit_of(contributions=1, identifier=pl.col("person")),
        privacy_loss=dp.loss_of(epsilon=1.0),
        split_evenly_over=1,
        margins=[dp.polars.Margin(max_length=1000)],
    )
    counted = table.query().truncate_per_group(1).select(dp.len(signed=True)).resolve()
    return lambda rows: _claimed(counted, 1)(frame(rows)).collect().item()


def _claimed(measurement: Any, distance: int) -> Any:
    assert math.isclose(measurement.map(distance), 1.0)
    return measurement


_NUMBER: Any = dp.m.make_laplace(dp.atom_domain(T=float, nan=False), dp.absolute_distance(T=float), scale=1.0)
_MEDIAN, _BEST = _median(), _best()


def _number(count: int) -> float:
    return _claimed(_NUMBER, 1)(float(count))


SAMPLERS: dict[str, Sampler] = {
    "number": _number,
    "mean": _mean(2),
    "median": _MEDIAN,
    "equal": _MEDIAN,
    "close": _BEST,
    "whole": _BEST,
    "far": _mean(32, FAR, FAR + 2),
    "order": _mean(18, FAR, FAR + 2),
    "nan": _mean(20, nan=True),
    "values": _values(),
    "rows": _people(),
    "fork": in_two_processes(_number),
}
