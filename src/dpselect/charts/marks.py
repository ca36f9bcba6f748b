"""Reference lines: places on an axis worth naming."""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Literal, cast

import numpy as np

from dpselect.charts.axes import Axis, FloatArray
from dpselect.charts.checks import is_number
from dpselect.charts.style import MEDIUM
from dpselect.errors import InvalidParameterError

Marks = Mapping[float, str]
"""Places on an axis, each with the words written there."""

NO_MARKS: Marks = MappingProxyType({})

_ROOM_FOR_WORDS = 0.6
"""Beyond this fraction of the width, words stand at the left of their line."""


def checked_marks(name: str, marks: object, axis: Axis) -> Marks:
    """`marks`, if they are places on `axis` with words."""
    expected = "a mapping from finite numbers" + (" > 0" if axis.log else "") + " to texts"
    if not isinstance(marks, Mapping):
        raise InvalidParameterError(name, marks, expected)
    for place, words in cast("Mapping[object, object]", marks).items():
        fits = is_number(place) and axis.drawable(np.array([place], dtype=np.float64))[0]
        if not fits or not isinstance(words, str):
            raise InvalidParameterError(name, cast(object, marks), expected)
    return cast(Marks, marks)


def with_marks(values: FloatArray, marks: Marks) -> FloatArray:
    """`values` and the places of `marks`, so that an axis reaches to all of them."""
    return np.concatenate([values, np.array(list(marks), dtype=np.float64)])


def mark_layers(
    alt: Any, marks: Marks, side: Literal["x", "y"], axis: Axis, domain: tuple[float, float]
) -> tuple[list[Any], list[Any]]:
    """Thin lines across the frame, to lie below the curves, and their words, to stand above."""
    shown = {place: words for place, words in marks.items() if domain[0] <= place <= domain[1]}
    rules: list[Any] = []
    texts: list[Any] = []
    for place, words in shown.items():
        row = {side: float(place), "words": words}
        base = alt.Chart(alt.InlineData(values=[row])).encode(**{side: f"{side}:Q"})
        rules.append(base.mark_rule(color=MEDIUM, strokeWidth=1))
        if side == "x":
            at_left = _fraction(place, axis, domain) > _ROOM_FOR_WORDS
            placed = {"align": "right" if at_left else "left", "dx": -4 if at_left else 4, "baseline": "top"}
            across = {"y": alt.value(5)}
        else:
            placed = {"align": "left", "baseline": "bottom", "dy": -3}
            across = {"x": alt.value(5)}
        for halo in ({"stroke": "white", "strokeWidth": 4}, {}):
            text = base.mark_text(color=MEDIUM, fontSize=11, **placed, **halo)
            texts.append(text.encode(text="words:N", **across))
    return rules, texts


def _fraction(place: float, axis: Axis, domain: tuple[float, float]) -> float:
    """How far along the axis `place` is, from 0 to 1."""
    low, here, high = (math.log(each) if axis.log else each for each in (domain[0], place, domain[1]))
    return (here - low) / (high - low)
