"""Axes reach as far as the data and carry a readable number of labels."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpselect import charts
from dpselect.charts import Axis, Series
from dpselect.errors import InvalidParameterError
from tests.charts.pictures import axis_labels, saved
from tests.charts.styles import height as frame

magnitudes = st.floats(1e-300, 1e300)


def chart(values: list[float], **options: Any) -> Any:
    points = Series(name="a", x=np.arange(len(values) + 1.0), y=np.array([*values, math.nan]))
    return charts.lines([points], x=Axis(title="x"), y=Axis(**{"title": "error", **options}), title="What is shown")


def line(drawn: Any) -> dict[str, Any]:
    return next(layer for layer in drawn.to_dict()["layer"] if layer["mark"]["type"] == "line")


def curve(drawn: Any) -> str:
    """The path of the curve, in pixels from the top left corner of the frame."""
    (path,) = re.findall(r'aria-roledescription="line mark" d="([^"]+)"', saved(drawn, ".svg").decode())
    return path


@pytest.mark.parametrize(
    ("values", "ends"), [([0.0, 93.0], ("0", "100")), ([1.02, 1.98], ("1.0", "2.0")), ([-7.0, 7.0], ("−10", "10"))]
)
def test_a_linear_axis_reaches_to_round_numbers(values: list[float], ends: tuple[str, str]) -> None:
    labels = axis_labels(chart(values), "Y")
    assert (labels[0], labels[-1]) == ends


def test_a_log_axis_that_begins_at_a_power_of_ten_ends_at_one() -> None:
    labels = axis_labels(chart([0.004, 77.0], log=True, lowest=0.01), "Y")
    assert (labels[0], labels[-1]) == ("0.01", "100")


@pytest.mark.parametrize("log", [False, True])
@pytest.mark.parametrize("ends", [{"highest": 30.0}, {"lowest": 10.0, "highest": 50.0}])
def test_ends_that_are_given_stay_and_lines_are_cut_there(log: bool, ends: dict[str, float]) -> None:
    drawn = chart([1.0, 20.0, 300.0], log=log, **ends)
    labels = axis_labels(drawn, "Y")
    assert labels[-1] == f"{ends['highest']:g}"
    assert labels[0] == "10" or "lowest" not in ends
    assert line(drawn)["mark"]["clip"]
    assert not line(chart([1.0, 20.0, 300.0], log=log))["mark"]["clip"]


def test_an_axis_from_zero_ends_at_a_round_number() -> None:
    assert axis_labels(chart([3.0, 93.0], lowest=0.0), "Y")[-1] == "100"


@given(st.lists(magnitudes, min_size=1, max_size=5), st.booleans())
def test_every_point_is_on_the_axis(values: list[float], log: bool) -> None:
    heights = [float(y) for y in re.findall(r"[ML][^,]+,([^MLZ]+)", curve(chart([*values, values[0]], log=log)))]
    assert len(heights) == len(values) + 1
    assert all(-1e-6 <= height <= frame() + 1e-6 for height in heights)


@pytest.mark.parametrize(
    ("low", "high", "among"),
    [
        (0.9, 800.0, {"1", "10", "100"}),
        (1e-5, 55.0, {"0.001", "0.1", "10"}),
        (10.0, 100.0, {"10", "20", "100"}),
        (100.0, 160.0, {"100", "120", "150"}),
        (1e-300, 1e290, {"1e-200", "1", "1e+200"}),
        (0.2, 4.0, {"0.2", "1", "2"}),
    ],
)
def test_a_log_axis_has_a_few_labels(low: float, high: float, among: set[str]) -> None:
    labels = axis_labels(chart([low, high], log=True), "Y")
    assert among <= set(labels)
    assert len(labels) <= 10


@pytest.mark.parametrize(("values", "log"), [([0.0, -1.0], True), ([math.nan, math.inf], False), ([1e-310], True)])
def test_a_curve_without_a_point_on_the_axis_is_refused(values: list[float], log: bool) -> None:
    with pytest.raises(InvalidParameterError, match=r"^y=<no point on the axis>: expected at least one finite number"):
        chart(values, log=log)
