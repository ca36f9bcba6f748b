"""Line charts: one frame of curves, or several side by side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import numpy.typing as npt

from dpselect.arguments import positive_count
from dpselect.charts.axes import NO_MARKS, Axis, FloatArray, Marks, mark_layers
from dpselect.charts.files import altair
from dpselect.charts.theme import DISTINCT_STYLES, HEIGHT, LINE_COLOURS, LINE_DASHES, THEME, WIDTH, heading, text
from dpselect.errors import InvalidParameterError, Shown

if TYPE_CHECKING:
    from altair import ConcatChart, LayerChart

Look = dict[str, Any]
"""Encodings that tell curves apart."""

MOST_SERIES = len(LINE_COLOURS)
"""In one chart: as many as can be told apart in grey."""

_TOO_CLOSE = 1.5 / HEIGHT
"""Of the height of all curves: less than the width of a line."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Series:
    """One curve: y as a function of x.

    Args:
        name: what the legend calls it.
        x: shape ``(m,)``, m >= 2, finite, in any order; the unit is the axis'.
        y: shape ``(m,)``; where it is not finite (or not positive, on a log axis) the curve has a gap.
        style: dash and colour, from 0 (solid, black) to 5 (dotted, the lightest). Default: chosen so that the curves
            of a chart are easy to distinguish; the first is 0, of two the other is 2, of three the last is 5. Give it
            where a curve has to look the same in several charts.

    Raises:
        InvalidParameterError: `x` or `y` is not such an array, or `style` not such a number.

    >>> Series(name="permute-and-flip", x=[0.1, 1.0], y=[20.0, 2.0]).y
    array([20.,  2.])
    """

    name: str
    x: npt.ArrayLike
    y: npt.ArrayLike
    style: int | None = None

    def __post_init__(self) -> None:
        text("name", self.name, "a text for the legend")
        x, y = (vector(side, getattr(self, side), "a one-dimensional array of numbers") for side in ("x", "y"))
        if len(x) != len(y) or len(x) < 2:
            raise InvalidParameterError("y", Shown(f"<{len(y)} numbers>"), f"as many as x has ({len(x)}), at least 2")
        if not np.isfinite(x).all():
            raise InvalidParameterError("x", Shown("<NaN or infinity among them>"), "finite numbers")
        if self.style is not None and (type(self.style) is not int or self.style not in range(MOST_SERIES)):
            raise InvalidParameterError("style", self.style, f"a whole number from 0 to {MOST_SERIES - 1}")
        order = np.argsort(x, kind="stable")
        object.__setattr__(self, "x", x[order])
        object.__setattr__(self, "y", y[order])

    @property
    def points(self) -> tuple[FloatArray, FloatArray]:
        """x, ascending, and y."""
        return cast(FloatArray, self.x), cast(FloatArray, self.y)


def lines(
    series: Sequence[Series],
    *,
    x: Axis,
    y: Axis,
    title: str,
    subtitle: str = "",
    x_marks: Marks = NO_MARKS,
    y_marks: Marks = NO_MARKS,
    steps: bool = False,
    width: int = WIDTH,
    height: int = HEIGHT,
) -> LayerChart:
    """A chart of one or more curves, with a legend in the order in which they end at the right.

    Args:
        series: 1 to 6 curves of different names. The first is drawn solid and black, below the others.
        x: the axis below.
        y: the axis at the left.
        title: what is shown; broken into lines where it is long.
        subtitle: under which conditions.
        x_marks: vertical lines for reference, such as ``{0.9624: "optimal above"}``.
        y_marks: horizontal ones.
        steps: keep each point's height up to the next point, instead of a straight line to it.
        width: of the frame, in pixels.
        height: of the frame, in pixels.

    Returns:
        A chart with its data inside. The subtitle says so where curves nearly coincide.

    Raises:
        InvalidParameterError: no or too many series, two of one name, or none with a point on the axes.
        MissingExtraError: the extra ``plots`` is not installed.

    >>> fall = Series(name="1/epsilon", x=[0.1, 1.0, 10.0], y=[10.0, 1.0, 0.1])
    >>> chart = lines([fall], x=Axis(title="epsilon", log=True), y=Axis(title="error", log=True), title="A law")
    >>> chart.to_dict()["title"]
    {'text': ['A law']}
    """
    checked = checked_series(series)
    heights = {one.name: one.points[1][y.drawable(one.points[1])] for one in checked}
    from_top = sorted(heights, key=lambda name: heights[name][-1] if len(heights[name]) else -np.inf, reverse=True)
    frame = _frame(checked, x, y, x_marks, y_marks, steps, _look(checked, from_top)).properties(**_size(width, height))
    return frame.properties(**heading(title, subtitle, _overlaps(checked, y))).configure(**THEME)


def line_panels(
    panels: Mapping[str, Sequence[Series]],
    *,
    x: Axis,
    y: Axis,
    title: str,
    subtitle: str = "",
    columns: int = 2,
    x_marks: Marks = NO_MARKS,
    y_marks: Marks = NO_MARKS,
    steps: bool = False,
    width: int = 250,
    height: int = 180,
) -> ConcatChart:
    """Several line charts side by side, with one legend; arguments as for `lines`, except:

    Args:
        panels: curves under the name of their panel. Curves of one name look alike everywhere; at most 6 names.
        x: the axis below of every panel; ends that are not given are chosen for each panel.
        y: the axis at the left of every panel, likewise.
        columns: panels in a row.
        width: of one panel's frame, in pixels.
        height: of one panel's frame, in pixels.
    """
    if not isinstance(cast(object, panels), Mapping) or not panels:
        raise InvalidParameterError("panels", panels, "at least one panel: a mapping from its name to its series")
    checked = {name: checked_series(series) for name, series in panels.items()}
    first: dict[str, Series] = {}
    for one in chain(*checked.values()):
        first.setdefault(one.name, one)
    look = _look(checked_series(list(first.values())), list(first), orient="bottom")
    frames = [
        _frame(series, x, y, x_marks, y_marks, steps, look).properties(
            title={"text": str(name), "anchor": "middle", "frame": "group", "fontSize": 12, "offset": 6},
            **_size(width, height),
        )
        for name, series in checked.items()
    ]
    chart = altair().concat(*frames, columns=positive_count(columns, "columns"), spacing={"row": 24, "column": 28})
    chart = chart.resolve_scale(color="shared", strokeDash="shared")
    return chart.properties(**heading(title, subtitle)).configure(**THEME)


def _look(series: Sequence[Series], order: list[str], **legend: object) -> Look:
    """Colours and dashes of the curves, the darkest first where it is not given, and a legend in this `order`."""
    given = {each.style for each in series}
    free = [style for style in DISTINCT_STYLES if style not in given][: sum(each.style is None for each in series)]
    free.sort(reverse=True)
    styles = {each.name: free.pop() if each.style is None else each.style for each in series}
    colours = {"domain": order, "range": [LINE_COLOURS[styles[name]] for name in order]}
    dashes = {"domain": order, "range": [LINE_DASHES[styles[name]] for name in order]}
    legend = {"title": None, "symbolType": "stroke", "symbolSize": 800, **legend}
    common = {"title": "curve", "legend": legend if order[1:] else None}
    alt = altair()
    return {
        "color": alt.Color("series:N", scale=colours, **common),
        "strokeDash": alt.StrokeDash("series:N", scale=dashes, **common),
    }


def _frame(series: Sequence[Series], x: Axis, y: Axis, x_marks: Marks, y_marks: Marks, steps: bool, look: Look) -> Any:
    """The curves, the first below the others, and the reference lines."""
    alt = altair()
    verticals, words_above = mark_layers(x, "x", "x_marks", x_marks)
    horizontals, words_beside = mark_layers(y, "y", "y_marks", y_marks)
    rows = [row for one in series for row in _rows(one, x, y)]
    base = alt.Chart({"values": rows}).encode(
        x=x.channel("x", np.concatenate([one.points[0] for one in series]), x_marks),
        y=y.channel("y", np.concatenate([one.points[1] for one in series]), y_marks),
        **look,
    )
    curves = [base.mark_line(clip=True, interpolate="step-after" if steps else "linear")]
    if any(row["alone"] for row in rows):
        curves.append(base.transform_filter("datum.alone").mark_point())
    return alt.layer(*verticals, *horizontals, *curves, *words_above, *words_beside)


def _size(width: int, height: int) -> dict[str, int]:
    return {"width": positive_count(width, "width"), "height": positive_count(height, "height")}


def _rows(one: Series, x: Axis, y: Axis) -> list[dict[str, object]]:
    """The points to draw. One between two gaps is marked as alone, because a line does not show it."""
    across, up = (values[x.drawable(one.points[0])] for values in one.points)
    drawn = np.concatenate([[False], y.drawable(up), [False]])
    alone = drawn[1:-1] & ~drawn[:-2] & ~drawn[2:] & x.seen(across) & y.seen(up)
    columns = (each.tolist() for each in (across, up, drawn[1:-1], alone))
    return [
        {"series": one.name, "x": here, "y": height if shown else None, "alone": single}
        for here, height, shown, single in zip(*columns, strict=True)
    ]


def _overlaps(series: Sequence[Series], y: Axis) -> str:
    """Which curves nearly coincide everywhere, in a sentence, because no style can show it; nothing if none do."""
    heights = [np.where(y.seen(one.points[1]), one.points[1], np.nan) for one in series]
    heights = [np.log10(each) if y.log else each for each in heights]
    span = float(np.nanmax(np.concatenate(heights)) - np.nanmin(np.concatenate(heights)))
    clusters: dict[int, list[int]] = {}
    for i, one in enumerate(series):
        alike = (
            first
            for first in clusters
            if np.array_equal(series[first].points[0], one.points[0])
            and np.allclose(heights[first], heights[i], rtol=0, atol=_TOO_CLOSE * span, equal_nan=True)
        )
        clusters.setdefault(next(alike, i), []).append(i)
    together = [", ".join(series[i].name for i in cluster) for cluster in clusters.values() if len(cluster) > 1]
    return f"Nearly on one line: {'; '.join(together)}." if together else ""


def checked_series(series: object) -> list[Series]:
    """`series` as a list, if one chart can show them."""
    given = list(cast("Sequence[object]", series)) if isinstance(series, Sequence) else [None]
    checked = [each for each in given if isinstance(each, Series)]
    if len(checked) < len(given):
        raise InvalidParameterError("series", cast(object, series), "a list of Series")
    if not 1 <= len(checked) <= MOST_SERIES:
        hint = "Show more of them in line_panels." if checked else ""
        raise InvalidParameterError("series", Shown(f"<{len(checked)} series>"), f"1 to {MOST_SERIES} of them", hint)
    if len({each.name for each in checked}) != len(checked):
        raise InvalidParameterError("series", Shown("<two of one name>"), "series with different names")
    return checked


def vector(name: str, values: object, expected: str) -> FloatArray:
    """`values` as an array of doubles, if they are a one-dimensional array-like of numbers."""
    try:
        array = np.asarray(values)
    except (TypeError, ValueError):  # the text of the library's own error may quote the values
        raise InvalidParameterError(name, values, expected) from None
    if array.ndim != 1 or array.dtype.kind not in "fiu":
        raise InvalidParameterError(name, values, expected)
    return array.astype(np.float64)
