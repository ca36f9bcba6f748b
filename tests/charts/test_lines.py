"""Line charts: every line is told apart, the legend lists them from the top, nothing is left out in silence."""

from __future__ import annotations

import json
import re
from typing import Any

import numpy as np
import pytest

from dpselect import charts
from dpselect.charts import Axis, Series
from tests.charts.pictures import saved, words
from tests.charts.styles import styles

X, Y = Axis(title="epsilon", log=True), Axis(title="error (people)", log=True)
AT = np.geomspace(0.01, 10, 31)


def curve(name: str, height: float, **options: Any) -> Series:
    return Series(name=name, x=AT, y=height / AT, **options)


def chart(*series: Series, x: Axis = X, y: Axis = Y, **options: Any) -> Any:
    return charts.lines(list(series), x=x, y=y, **{"title": "What is shown", **options})


def rows(drawn: Any) -> list[dict[str, Any]]:
    return [row for values in drawn.to_dict()["datasets"].values() for row in values if "series" in row]


def looks(drawn: Any) -> dict[str, tuple[str, tuple[float, ...]]]:
    """Colour and dash of each curve, by name."""
    line = next(layer for layer in drawn.to_dict()["layer"] if layer["mark"]["type"] == "line")["encoding"]
    colour, dash = line["color"]["scale"], line["strokeDash"]["scale"]
    assert colour["domain"] == dash["domain"]
    return {
        name: (shade, tuple(pattern))
        for name, shade, pattern in zip(colour["domain"], colour["range"], dash["range"], strict=True)
    }


def test_the_legend_lists_the_curves_as_they_end_at_the_right() -> None:
    falling = Series(name="falls", x=AT, y=50 / AT**2)
    assert words(chart(curve("low", 1), falling, curve("high", 9)), "legend-label") == ["high", "falls", "low"]
    assert words(chart(curve("high", 9), curve("low", 1)), "legend-label") == ["high", "low"]


def test_curves_keep_the_order_of_dark_to_light_in_which_they_were_given() -> None:
    drawn = looks(chart(curve("low", 1), curve("middle", 3), curve("high", 9)))
    assert [drawn[name] for name in ("low", "middle", "high")] == [styles()[style] for style in (0, 2, 5)]


def test_a_curve_keeps_the_style_it_asks_for() -> None:
    drawn = looks(chart(curve("a", 1, style=1), curve("b", 3, style=0), curve("c", 9, style=4)))
    assert drawn == {name: styles()[style] for name, style in (("c", 4), ("b", 0), ("a", 1))}


def test_a_mechanism_looks_alike_in_every_chart() -> None:
    assert charts.styles_of(["permute-and-flip", "exponential mechanism"]) == [2, 0]
    assert charts.styles_of(["mine", "yours"]) == [0, 2]


def test_one_curve_needs_no_legend() -> None:
    assert words(chart(curve("alone", 1)), "legend-label") == []


def test_titles_and_units_are_there() -> None:
    drawn = chart(curve("a", 1), title="Error of " + "a long story " * 12, subtitle="On 3 scores.")
    assert {"epsilon", "error (people)", "On 3 scores."} <= set(words(drawn))
    lines = drawn.to_dict()["title"]["text"]
    assert max(map(len, lines)) <= 80
    assert " ".join(lines).count("a long story") == 12


def test_what_has_no_place_on_a_log_axis_is_a_gap() -> None:
    holes = Series(name="a", x=np.arange(1.0, 6.0), y=np.array([8.0, np.nan, 4.0, 0.0, 1.0]))
    assert [row["y"] for row in rows(chart(holes))] == [8.0, None, 4.0, None, 1.0]
    assert [row["alone"] for row in rows(chart(holes))] == [True, False, True, False, True]
    assert [row["y"] for row in rows(chart(holes, y=Axis(title="error")))] == [8.0, None, 4.0, 0.0, 1.0]


def test_points_may_come_in_any_order() -> None:
    mixed = Series(name="a", x=np.array([3.0, 1.0, 2.0]), y=np.array([1.0, 2.0, 3.0]))
    assert [(row["x"], row["y"]) for row in rows(chart(mixed))] == [(1, 2), (2, 3), (3, 1)]


def test_every_one_of_many_points_is_drawn() -> None:
    at = np.arange(1.0, 6_001.0)  # more than the 5,000 that Altair takes by itself
    drawn = chart(Series(name="a", x=at, y=at**2))
    assert [row["x"] for row in rows(drawn)] == at.tolist()
    assert saved(drawn, ".svg").count(b",") > 6_000


@pytest.mark.parametrize("log", [False, True])
def test_a_chart_needs_nothing_from_elsewhere(log: bool) -> None:
    axis = Axis(title="error", log=log)
    specification = chart(curve("a", 1), curve("b", 2), y=axis).to_dict()
    assert re.findall(r"https?://\S+?\"", json.dumps(specification)) == [f'{specification["$schema"]}"']
    assert "url" not in json.dumps({key: value for key, value in specification.items() if key != "$schema"})
