"""Axes reach as far as the data and carry a readable number of labels."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpselect import charts
from dpselect.charts import Axis, Series
from dpselect.errors import InvalidParameterError
from tests.charts.pictures import axis_labels

magnitudes = st.floats(1e-300, 1e300)


def chart(values: list[float], **options: Any) -> Any:
    points = Series(name="a", x=range(len(values) + 1), y=[*values, math.nan])
    return charts.lines([points], x=Axis(title="x"), y=Axis(**{"title": "error", **options}), title="What is shown")


def scale(values: list[float], **options: Any) -> dict[str, Any]:
    layer = chart(values, **options).to_dict()["layer"][0]
    return layer["encoding"]["y"]["scale"]


@pytest.mark.parametrize(
    ("values", "domain"),
    [
        ([0.01, 10.0], (0.01, 10.0)),
        ([2.0, 10_000.0], (2.0, 10_000.0)),
        ([0.013, 742.0], (0.01, 1000.0)),
        ([0.3, 0.0, -1.0, math.nan, math.inf], (0.1, 1.0)),
        ([5.0, 5.0], (2.0, 10.0)),
    ],
)
def test_a_log_axis_reaches_to_round_numbers(values: list[float], domain: tuple[float, float]) -> None:
    assert scale(values, log=True)["domain"] == pytest.approx(domain, rel=1e-12)


@pytest.mark.parametrize(
    ("values", "ends"), [([0.0, 93.0], ("0", "100")), ([1.02, 1.98], ("1.0", "2.0")), ([-7.0, 7.0], ("−10", "10"))]
)
def test_a_linear_axis_reaches_to_round_numbers(values: list[float], ends: tuple[str, str]) -> None:
    labels = axis_labels(chart(values), "Y")
    assert (labels[0], labels[-1]) == ends


@pytest.mark.parametrize("log", [False, True])
@pytest.mark.parametrize("ends", [{"lowest": 7.3}, {"highest": 77.7}, {"lowest": 7.3, "highest": 77.7}])
def test_ends_that_are_given_stay(log: bool, ends: dict[str, float]) -> None:
    drawn = scale([1.0, 20.0, 300.0], log=log, **ends)
    assert drawn["nice"] is False
    assert drawn["domain"][0] == ends.get("lowest", 1.0)
    assert drawn["domain"][1] == ends.get("highest", 500.0 if log else 300.0)


def test_an_axis_from_zero_ends_at_a_round_number() -> None:
    assert axis_labels(chart([3.0, 93.0], lowest=0.0), "Y")[-1] == "100"
    assert axis_labels(chart([0.0, 0.0], lowest=0.0), "Y")[-1] == "1.0"


@given(st.lists(magnitudes, min_size=1, max_size=5), st.booleans())
def test_every_point_is_on_the_axis(values: list[float], log: bool) -> None:
    low, high = scale(values, log=log)["domain"]
    assert low <= min(values)
    assert max(values) <= high
    assert 0 < high - low < math.inf


@pytest.mark.parametrize(
    ("low", "high", "among"),
    [
        (0.9, 800.0, {"1", "10", "100", "1,000"}),
        (1e-5, 55.0, {"0.001", "0.1", "10"}),
        (10.0, 100.0, {"10", "20", "100"}),
        (100.0, 160.0, {"100", "120", "200"}),
        (1e-300, 1e290, {"1e-200", "1", "1e+200"}),
        (0.2, 4.0, {"0.2", "1", "2"}),
    ],
)
def test_a_log_axis_has_a_few_labels(low: float, high: float, among: set[str]) -> None:
    labels = axis_labels(chart([low, high], log=True), "Y")
    assert among <= set(labels)
    assert len(labels) <= 10


@pytest.mark.parametrize("ends", [{"lowest": 1000.0}, {"highest": 0.5}])
def test_an_axis_beyond_every_point_is_refused(ends: dict[str, float]) -> None:
    with pytest.raises(InvalidParameterError, match=r"^y=<no point on the axis>"):
        chart([1.0, 300.0], **ends)


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ({"title": ""}, "title"),
        ({"title": 3}, "title"),
        ({"lowest": math.nan}, "lowest"),
        ({"lowest": True}, "lowest"),
        ({"highest": "9"}, "highest"),
        ({"highest": math.inf}, "highest"),
        ({"lowest": 2.0, "highest": 1.0}, "highest"),
        ({"lowest": 0.0, "log": True}, "lowest"),
        ({"lowest": 10**400}, "lowest"),
    ],
)
def test_bad_axes_are_refused(arguments: dict[str, Any], named: str) -> None:
    with pytest.raises(InvalidParameterError, match=f"^{named}="):
        Axis(**{"title": "error", **arguments})
