"""Marks on a line chart: a wanted height, and where a curve reaches it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dpselect.charts.files import altair
from dpselect.charts.theme import DARK, HEIGHT, MEDIUM, WIDTH

_LABEL_HEIGHT = 18
"""Pixels from one label to the next."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """A wanted height on a chart of falling curves.

    Args:
        label: what is wanted, and what it takes.
        x: where the curve reaches it.
        y: the wanted height.

    >>> Mark(label="within 20: epsilon = 0.727", x=0.727, y=20.0).y
    20.0
    """

    label: str
    x: float
    y: float


def mark_layers(marks: Sequence[Mark], ends: tuple[float, float]) -> list[Any]:
    """A line at each wanted height, a line down to the axis where the curve reaches it, a point there, and a label.

    The labels are at the right of the frame, where they hide no curve; so the legend has to be elsewhere.

    Args:
        marks: within the frame.
        ends: of the logarithmic axis at the left.

    >>> len(mark_layers([], (1.0, 100.0)))
    0
    """
    if not marks:
        return []
    alt = altair()
    base = alt.Chart({"values": [{"x": mark.x, "y": mark.y, "label": mark.label} for mark in marks]})
    dashed: dict[str, Any] = {"color": MEDIUM, "strokeDash": [3, 3], "strokeWidth": 1}
    layers = [
        base.mark_rule(**dashed).encode(y="y:Q"),
        base.mark_rule(**dashed).encode(x="x:Q", y="y:Q", y2=alt.value(HEIGHT)),
        base.mark_point(color=DARK, size=60).encode(x="x:Q", y="y:Q", tooltip=["label:N"]),
    ]
    places = _separated([HEIGHT * _share(mark.y, ends) for mark in marks])
    for mark, place in zip(marks, places, strict=True):
        label = alt.Chart({"values": [{"label": mark.label}]}).mark_text(align="left", baseline="middle", fontSize=12)
        layers.append(label.encode(x=alt.value(WIDTH + 8), y=alt.value(HEIGHT - place), text="label:N"))
    return layers


def _separated(places: Sequence[float]) -> list[float]:
    """Heights of labels, in the order of `places`: at least a line of text apart, each at its place or above.

    >>> _separated([50.0, 10.0, 12.0])
    [50.0, 10.0, 28.0]
    """
    found, free = [0.0] * len(places), -math.inf
    for at in sorted(range(len(places)), key=places.__getitem__):
        found[at] = max(places[at], free)
        free = found[at] + _LABEL_HEIGHT
    return found


def _share(value: float, ends: tuple[float, float]) -> float:
    """Where `value` is between the ends of a logarithmic axis, from 0 to 1.

    >>> _share(10.0, (1.0, 100.0))
    0.5
    """
    low, high = map(math.log10, ends)
    return (math.log10(value) - low) / (high - low)
