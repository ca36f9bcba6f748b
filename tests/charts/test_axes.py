"""Axes reach as far as the data and carry a readable number of labels."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpselect.charts import Axis
from dpselect.charts.axes import scale_of, ticks_of
from dpselect.charts.text import number_text
from dpselect.errors import InvalidParameterError

magnitudes = st.floats(1e-300, 1e300)


def log_labels(domain: tuple[float, float]) -> dict[float, str]:
    ticks = ticks_of(Axis(title="error", log=True), domain)
    texts, _ = json.JSONDecoder().raw_decode(str(ticks["labelExpr"]))
    values: Any = ticks["values"]
    return dict(zip(values, texts, strict=True))


@pytest.mark.parametrize(
    ("values", "domain"),
    [
        ([0.01, 10.0], (0.01, 10.0)),
        ([2.0, 10_000.0], (2.0, 10_000.0)),
        ([0.013, 742.0], (0.01, 1000.0)),
        ([0.3, 0.0, -1.0, math.nan, math.inf], (0.1, 1.0)),
        ([3.0, 3.0], (1.0, 10.0)),
    ],
)
def test_a_log_axis_reaches_to_round_numbers(values: list[float], domain: tuple[float, float]) -> None:
    assert Axis(title="error", log=True).domain(np.array(values)) == pytest.approx(domain, rel=1e-12)


@pytest.mark.parametrize(
    ("values", "domain"),
    [
        ([0.0, 93.0], (0.0, 100.0)),
        ([1.02, 1.98], (1.0, 2.0)),
        ([-7.0, 7.0], (-8.0, 8.0)),
        ([0.0, math.nan], (-0.6, 0.6)),
    ],
)
def test_a_linear_axis_reaches_to_round_numbers(values: list[float], domain: tuple[float, float]) -> None:
    assert Axis(title="error").domain(np.array(values)) == pytest.approx(domain)


@pytest.mark.parametrize("log", [False, True])
def test_given_ends_are_kept(log: bool) -> None:
    values = np.array([1.0, 300.0])
    assert Axis(title="error", log=log, lowest=7.3).domain(values)[0] == 7.3
    assert Axis(title="error", log=log, highest=77.7).domain(values)[1] == 77.7
    assert Axis(title="error", log=log, lowest=7.3, highest=77.7).domain(values) == (7.3, 77.7)
    assert Axis(title="error", log=log, lowest=1000.0).domain(values)[1] > 1000.0  # all data below: still an axis


@given(st.lists(magnitudes, min_size=1, max_size=5), st.booleans())
def test_every_point_is_on_the_axis(values: list[float], log: bool) -> None:
    low, high = Axis(title="error", log=log).domain(np.array(values))
    assert low <= min(values)
    assert max(values) <= high
    assert 0 < high - low < math.inf
    assert np.isfinite(scale_of(Axis(title="error", log=log), (low, high))["domain"]).all()


@given(magnitudes, st.floats(0.1, 280.0))
def test_a_log_axis_has_a_few_labels_and_all_of_them_inside(low: float, decades: float) -> None:
    high = min(low * 10.0**decades, 1e300)
    low = min(low, high / 1.5)
    labels = log_labels(Axis(title="error", log=True).domain(np.array([low, high])))
    shown = {tick: text for tick, text in labels.items() if text}
    assert 2 <= len(shown) <= 10
    assert all(text == number_text(tick) for tick, text in shown.items())
    assert len(labels) <= 85


def test_labels_between_decades_appear_on_short_axes_only() -> None:
    assert [text for text in log_labels((1.0, 100.0)).values() if text] == ["1", "2", "5", "10", "20", "50", "100"]
    assert [text for text in log_labels((1.0, 1000.0)).values() if text] == ["1", "10", "100", "1,000"]
    assert [text for text in log_labels((1e-6, 1e6)).values() if text][:3] == ["1e−6", "0.0001", "0.01"]


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
