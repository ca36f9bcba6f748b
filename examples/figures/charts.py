"""Charts that only the studies need, in the style of the product's: panels, reference lines, bars side by side."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain

import altair as alt
import numpy as np
from examples.figures.figure import FloatArray

from dpselect.charts import Axis, Series
from dpselect.charts.drawing import BAR_COLOURS, HEIGHT, LABELS_AXIS, TICKS, WIDTH, finished, frame, from_top, look


def line_panels(
    panels: Mapping[str, Sequence[Series]],
    *,
    x: Axis,
    y: Axis,
    title: str,
    subtitle: str,
    width: int,
    height: int = 180,
) -> alt.ConcatChart:
    """Line charts, two in a row, with one legend; `panels` are curves under the name of their panel.

    Curves of one name have to have one style. Ends that an axis does not give are chosen for each panel.
    """
    curves = list({one.name: one for one in chain(*panels.values())}.values())
    encodings = look(curves, list(dict.fromkeys(one.name for one in chain(*panels.values()))), orient="bottom")
    frames = [
        frame(series, x, y, encodings).properties(
            title={"text": name, "anchor": "middle", "frame": "group", "fontSize": 12, "offset": 6},
            width=width,
            height=height,
        )
        for name, series in panels.items()
    ]
    chart = alt.concat(*frames, columns=2, spacing={"row": 24, "column": 28})
    return finished(chart.resolve_scale(color="shared", strokeDash="shared"), title, subtitle)


def marked_lines(
    series: Sequence[Series], *, x: Axis, y: Axis, title: str, subtitle: str, marks: Mapping[float, str]
) -> alt.LayerChart:
    """As `dpselect.charts.lines`, with vertical lines below the curves at the `marks`, each with its words above it."""
    rules, words = _verticals(marks, "x")
    chart = alt.layer(rules, frame(series, x, y, look(series, from_top(series, y))), words)
    return finished(chart.properties(width=WIDTH, height=HEIGHT), title, subtitle)


def grouped_bars(
    labels: Sequence[str],
    groups: Mapping[str, Sequence[float]],
    *,
    category: str,
    value: str,
    title: str,
    subtitle: str,
    marks: Mapping[float, str],
) -> alt.LayerChart:
    """Bars side by side, one of each group under each label, with their numbers and vertical lines at the `marks`."""
    rows = [
        {"label": label, "group": group, "value": number}
        for group, numbers in groups.items()
        for label, number in zip(labels, numbers, strict=True)
    ]
    base = alt.Chart({"values": rows}).encode(
        x=alt.X("value:Q", title=value).scale(nice=TICKS).axis(grid=False),
        y=alt.Y("label:N", sort=labels, title=category).scale(paddingInner=0.3, paddingOuter=0.2).axis(**LABELS_AXIS),
        yOffset=alt.YOffset("group:N", sort=list(groups)),
    )
    colours = alt.Scale(domain=list(groups), range=BAR_COLOURS[: len(groups)])
    legend = {"symbolType": "square", "symbolSize": 160} if len(groups) > 1 else None
    fill = alt.Color("group:N", scale=colours, legend=legend)
    numbers = base.mark_text(align="left", dx=4, aria=False).encode(text=alt.Text("value:Q", format=".3g"))
    rules, words = _verticals(marks, "value")
    chart = alt.layer(base.mark_bar().encode(color=fill), rules, numbers, words)
    return finished(chart.properties(width=540, height=alt.Step(17, **{"for": "offset"})), title, subtitle)


def _verticals(marks: Mapping[float, str], field: str) -> tuple[alt.Chart, alt.Chart]:
    """Thin lines across the frame, to lie below what is drawn, and their words at its top, to lie above."""
    base = alt.Chart({"values": [{field: place, "words": words} for place, words in marks.items()]})
    base = base.encode(x=f"{field}:Q")
    words = base.mark_text(baseline="bottom", align="left", dy=-3).encode(y=alt.value(0), text="words:N")
    return base.mark_rule(), words


@dataclass(frozen=True, kw_only=True)
class Panel:
    """A frame of curves with the interval of each of their points.

    Args:
        name: above the frame.
        curves: what is drawn; the first below the others.
        halves: of each curve, half of the interval of each of its points.
        y: the axis at the left.
        zero: draw a line at height 0.
    """

    name: str
    curves: Sequence[Series]
    halves: Sequence[FloatArray]
    y: Axis
    zero: bool = False

    @property
    def ends(self) -> tuple[float, float]:
        """The lowest and the highest end of all intervals; on a logarithmic axis of those above 0."""
        middles, halves = np.concatenate([one.y for one in self.curves]), np.concatenate(list(self.halves))
        lows = np.concatenate([middles, middles - halves])
        return float(lows[lows > 0].min() if self.y.log else lows.min()), float((middles + halves).max())


def alike(panels: Sequence[Panel]) -> list[Panel]:
    """The panels with one and the same range at the left, because they are compared with each other."""
    low, high = min(each.ends[0] for each in panels), max(each.ends[1] for each in panels)
    if panels[0].y.log:
        ends = low / 1.05, high * 1.05
    else:
        step = 10.0 ** math.floor(math.log10(high - low)) / 2.0
        ends = math.floor(low / step) * step, math.ceil(high / step) * step
    return [replace(each, y=replace(each.y, lowest=ends[0], highest=ends[1])) for each in panels]


_APART = 0.01
"""Of the axis below: between points of different curves at one place, so that no interval hides another."""

_MARGIN = 0.03
"""Of the axis below: free at both sides."""


def interval_panels(
    panels: Sequence[Panel], *, x: Axis, title: str, subtitle: str, width: int, height: int = 150
) -> alt.ConcatChart:
    """Curves with intervals, two panels in a row, with one legend.

    Points of different curves at one place are drawn side by side. Curves of one name have to have one style.
    """
    curves = list({one.name: one for panel in panels for one in panel.curves}.values())
    encodings = look(curves, [one.name for one in curves], orient="bottom")
    across = np.concatenate([one.x for one in curves])
    margins = _beside(across, -_MARGIN, log=x.log).min(), _beside(across, _MARGIN, log=x.log).max()
    x = replace(x, lowest=float(margins[0]), highest=float(margins[1]))
    frames = []
    for panel in panels:
        middle = (len(panel.curves) - 1) / 2.0
        moved = [
            replace(one, x=_beside(one.x, _APART * (place - middle), log=x.log))
            for place, one in enumerate(panel.curves)
        ]
        layers: list[alt.Chart | alt.LayerChart] = [frame(moved, x, panel.y, encodings)]
        if panel.zero:
            layers.insert(0, alt.Chart({"values": [{"y": 0.0}]}).mark_rule(strokeDash=[3, 3]).encode(y="y:Q"))
        least = panel.ends[0] if panel.y.log else -math.inf
        rows = [
            {"series": one.name, "x": at, "y": mean, "low": max(mean - half, least), "high": mean + half}
            for one, halves in zip(moved, panel.halves, strict=True)
            for at, mean, half in zip(one.x.tolist(), one.y.tolist(), halves.tolist(), strict=True)
        ]
        base = alt.Chart({"values": rows}).encode(x="x:Q", color=encodings["color"])
        layers.append(base.mark_rule(strokeWidth=1.5).encode(y="low:Q", y2="high:Q"))
        layers.append(base.mark_point(size=22).encode(y="y:Q"))
        heading = {"text": panel.name, "anchor": "middle", "frame": "group", "fontSize": 12, "offset": 6}
        frames.append(alt.layer(*layers).properties(title=heading, width=width, height=height))
    chart = alt.concat(*frames, columns=2, spacing={"row": 24, "column": 28})
    return finished(chart.resolve_scale(color="shared", strokeDash="shared"), title, subtitle)


def _beside(places: FloatArray, share: float, *, log: bool) -> FloatArray:
    """`places` moved by a share of the axis that they span."""
    if log:
        return places * (places.max() / places.min()) ** share
    return places + share * float(np.ptp(places))
