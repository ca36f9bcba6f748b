"""One frame of curves: what single charts and panels are made of."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np

from dpselect.charts.axes import Axis, FloatArray, scale_of, ticks_of
from dpselect.charts.extra import altair
from dpselect.charts.marks import Marks, checked_marks, mark_layers, with_marks
from dpselect.charts.series import Series, rows_of, styles_of
from dpselect.charts.style import LINE_COLOURS, LINE_DASHES
from dpselect.errors import InvalidParameterError, Shown


def frame_of(
    series: Sequence[Series],
    *,
    x: Axis,
    y: Axis,
    order: list[str],
    x_marks: Marks,
    y_marks: Marks,
    steps: bool,
    among: Sequence[Series] = (),
) -> tuple[Any, str]:
    """A layered chart without title or size, and what has to be said of points left out.

    Args:
        series: the curves, the first below the others.
        x: the axis below.
        y: the axis at the left.
        order: names as the legend lists them.
        x_marks: vertical lines.
        y_marks: horizontal lines.
        steps: whether a curve keeps the height of each point up to the next.
        among: all curves that share the legend, if there are more than `series`.
    """
    alt = altair()
    x_marks, y_marks = checked_marks("x_marks", x_marks, x), checked_marks("y_marks", y_marks, y)
    x_domain = domain_of("x", x, [one.points[0] for one in series], x_marks)
    y_domain = domain_of("y", y, [one.points[1] for one in series], y_marks)
    rows, said = rows_of(series, x, y)
    styles = styles_of(among or series)
    colours = alt.Scale(domain=order, range=[LINE_COLOURS[styles[name]] for name in order])
    dashes = alt.Scale(domain=order, range=[list(LINE_DASHES[styles[name]]) for name in order])
    legend = alt.Legend(title=None, symbolType="stroke") if len(order) > 1 else None
    placed = alt.Chart(alt.InlineData(values=rows)).encode(
        x=alt.X("x:Q", scale=alt.Scale(**scale_of(x, x_domain)), axis=alt.Axis(**ticks_of(x, x_domain))),
        y=alt.Y("y:Q", scale=alt.Scale(**scale_of(y, y_domain)), axis=alt.Axis(**ticks_of(y, y_domain))),
        color=alt.Color("series:N", scale=colours, legend=legend),
        tooltip=[
            alt.Tooltip("series:N", title="curve"),
            alt.Tooltip("x:Q", title=x.title, format=".4~g"),
            alt.Tooltip("y:Q", title=y.title, format=".4~g"),
        ],
    )
    curves = placed.mark_line(strokeWidth=2, clip=True, interpolate="step-after" if steps else "linear")
    layers = [curves.encode(strokeDash=alt.StrokeDash("series:N", scale=dashes, legend=legend))]
    if any("alone" in row for row in rows):
        inside = f"inrange(datum.x, {json.dumps(x_domain)}) && inrange(datum.y, {json.dumps(y_domain)})"
        points = placed.transform_filter(f"datum.alone && {inside}")
        layers.append(points.mark_point(filled=True, opacity=1, size=30))
    verticals, words_beside = mark_layers(alt, x_marks, "x", x, x_domain)
    horizontals, words_above = mark_layers(alt, y_marks, "y", y, y_domain)
    chart = alt.layer(*verticals, *horizontals, *layers, *words_beside, *words_above)
    return chart, said


def domain_of(name: str, axis: Axis, parts: list[FloatArray], marks: Marks) -> tuple[float, float]:
    """How far the axis reaches for these numbers, of which at least one has to have a place on it."""
    values = np.concatenate(parts)
    if not axis.drawable(values).any():
        expected = "at least one finite number" + (" > 0 (the axis is logarithmic)" if axis.log else "")
        raise InvalidParameterError(name, Shown("<no point on the axis>"), expected)
    return axis.domain(with_marks(values, marks))
