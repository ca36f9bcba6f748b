"""Charts that only the studies need, in the style of the product's: panels, reference lines, bars side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain

import altair as alt

from dpselect.charts import Axis, Series
from dpselect.charts.lines import frame, from_top, look, overlaps
from dpselect.charts.theme import BAR_COLOURS, HEIGHT, LABELS_AXIS, TICKS, WIDTH, finished


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
    return finished(chart.properties(width=WIDTH, height=HEIGHT), title, f"{subtitle} {overlaps(series, y)}")


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
