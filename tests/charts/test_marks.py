"""Marks on a line chart: a wanted height is at its place, and its label hides no curve and no other label."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any
from xml.etree import ElementTree

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from dpselect import charts
from dpselect.charts import Axis, Mark, Series
from dpselect.charts.lines import _LABEL_HEIGHT, _separated
from dpselect.charts.theme import HEIGHT, WIDTH
from tests.charts.pictures import saved, words

AT = np.geomspace(0.01, 10, 31)
X = Axis(title="epsilon", log=True, lowest=0.01, highest=10.0)
Y = Axis(title="error", log=True, lowest=1.0, highest=1000.0)
MARKS = (
    Mark(label="within 100: epsilon = 0.1", x=0.1, y=100.0),
    Mark(label="within 90: epsilon = 0.11", x=0.11, y=90.0),
)
PLACE = re.compile(r"translate\(([\d.]+), ?([\d.]+)\)")


def chart(*marks: Mark) -> Any:
    series = [Series(name="bound", x=AT, y=10 / AT), Series(name="expected", x=AT, y=5 / AT)]
    return charts.lines(series, x=X, y=Y, title="Errors", marks=marks)


def places(drawn: Any) -> dict[str, tuple[float, float]]:
    """Where each label stands in the frame, from its upper left corner."""
    found: dict[str, tuple[float, float]] = {}
    for text in ElementTree.fromstring(saved(drawn, ".svg")).iter("{http://www.w3.org/2000/svg}text"):
        if (place := PLACE.match(text.get("transform", ""))) is not None:
            found["".join(text.itertext())] = (float(place[1]), float(place[2]))
    return found


def test_labels_are_right_of_the_frame_at_their_heights_and_apart() -> None:
    found = places(chart(*MARKS))
    (x, up), (x_of_lower, low) = (found[mark.label] for mark in MARKS)
    assert x == x_of_lower > WIDTH
    assert abs(low - HEIGHT * (1 - np.log10(90) / 3)) < 6  # the baseline of a text is below its middle
    assert low - up >= _LABEL_HEIGHT - 0.01


def test_the_legend_makes_room_for_the_labels() -> None:
    assert words(chart(*MARKS), "legend-label") == words(chart(), "legend-label") == ["bound", "expected"]
    marked, plain = (each.to_dict()["layer"] for each in (chart(*MARKS), chart()))
    assert "'orient': 'bottom'" in str(marked)
    assert "'orient': 'bottom'" not in str(plain)


@given(st.lists(st.floats(0, HEIGHT), min_size=1, max_size=6))
def test_no_label_hides_another(heights: list[float]) -> None:
    placed = _separated(heights)
    assert all(above - below >= _LABEL_HEIGHT - 1e-9 for below, above in pairwise(sorted(placed)))
    assert all(place >= height for place, height in zip(placed, heights, strict=True))
    assert min(placed) == min(heights)
