"""The types of answers, as callers see them. `make lint` has Pyright and mypy judge this file; it is never run."""

from datetime import date
from typing import Any, assert_type

import dpselect as dps
from dpselect.session.asking import GroupedQuestions


def one_answer(data: dps.Dataset) -> None:
    assert_type(data.median("age", bounds=(0, 120), step=1, epsilon=1.0), dps.Release[float])
    assert_type(data.median("born", bounds=(date(1900, 1, 1), "2026-01-01"), epsilon=1.0), dps.Release[date])
    assert_type(data.quantile("age", 0.9, bounds=(0, 120), step=1, epsilon=1.0).value, float)
    assert_type(data.quantiles("age", [0.1, 0.9], bounds=(0, 120), step=1, epsilon=1.0).value, list[float])
    assert_type(data.mean("age", bounds=(0, 120), step=1, epsilon=1.0).value, float)
    assert_type(data.mean("age", bounds=(0, 120), epsilon=1.0).value, float)
    assert_type(data.variance("age", bounds=(0, 120), epsilon=1.0).value, float)
    assert_type(data.std("age", bounds=(0, 120), epsilon=1.0).value, float)
    assert_type(data.best_price("offer", prices=[1, 2], epsilon=1.0).value, float)
    assert_type(data.density("age", bounds=(0, 120), bins=4, epsilon=1.0).value, list[float])
    assert_type(data.best_date("free_on", dates=["2026-12-01"], epsilon=1.0).value, date)
    assert_type(data.top_k("page", 3, candidates=range(9), epsilon=1.0).value, list[Any])
    assert_type(data.count(epsilon=1.0).value, int)
    assert_type(data.histogram("page", candidates=range(9), epsilon=1.0).value, list[int])
    assert_type(data.sum("age", clip=(0, 120), epsilon=1.0).value, float)
    assert_type(data.most_common("page", candidates=range(9), epsilon=1.0), dps.Release[Any])


def an_answer_for_each_group(data: dps.Dataset, sexes: list[str]) -> None:
    assert_type(data.by("sex", groups=sexes), GroupedQuestions)
    median = data.by("sex", groups=sexes).median("age", bounds=(0, 120), step=1, epsilon=1.0)
    assert_type(median.value, dict[Any, float])
    counted = data.by("sex", groups=sexes).count("age", between=(0, 17), epsilon=1.0)
    assert_type(counted.value, dict[Any, int])
    top = data.by("sex", groups=sexes).top_k("page", 3, candidates=range(9), epsilon=1.0)
    assert_type(top.value, dict[Any, list[Any]])
    mean = data.by("sex", groups=sexes).mean("age", bounds=(0, 120), step=1, epsilon=1.0)
    assert_type(mean.value, dict[Any, float])


def without_a_row() -> None:
    dry = dps.DryRun(unit="person")
    forecast = dry.median("age", bounds=(0, 120), step=1, epsilon=1.0)
    assert_type(forecast.error_bound, float | None)
    by_sex: dps.Forecast = dry.by("sex", groups=["f", "m"]).median("age", bounds=(0, 120), step=1, epsilon=1.0)
    assert_type(by_sex.error_bound, float | None)


def of_any_kind(release: dps.Release, text: str) -> str:
    """A release without brackets is one of any question, as before."""
    assert_type(dps.verify(text).release, dps.Release[Any])
    number: dps.Release[object] = release
    return number.to_json()
