"""Bar charts: horizontal, so that every label is read without turning the head."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from dpselect.arguments import positive_count
from dpselect.charts.axes import Axis, scale_of, ticks_of
from dpselect.charts.bar_rows import bar_domain, bar_rows, checked_heights
from dpselect.charts.checks import text
from dpselect.charts.extra import altair
from dpselect.charts.marks import NO_MARKS, Marks, checked_marks, mark_layers
from dpselect.charts.style import BAR_COLOURS, DARK, HOUSE, LEGEND, PALE, WIDTH
from dpselect.charts.text import heading, unique_labels

if TYPE_CHECKING:
    from altair import LayerChart

_SINGLE, _GROUPED = 20, 17
"""Pixels from bar to bar: alone, and within a group."""

_TITLE_ABOVE = {
    "titleAngle": 0,
    "titleAlign": "right",
    "titleBaseline": "bottom",
    "titleAnchor": "start",
    "titleX": -6,
    "titleY": -4,
}
"""The title of the labels above them, where it is read first however many there are."""

_LEGEND = {**LEGEND, "symbolSize": 160, "symbolStrokeWidth": 0.6}


def bars(
    labels: Sequence[str],
    groups: Mapping[str, Sequence[float]],
    *,
    category: str,
    value: str,
    title: str,
    subtitle: str = "",
    marks: Marks = NO_MARKS,
    pale: Collection[int] = (),
    width: int = WIDTH,
) -> LayerChart:
    """A chart of one bar per label, or of a few side by side, each with its number at the end.

    Args:
        labels: what each bar (or group of bars) is, from the top; at most 100 bars in all. Long ones are cut.
        groups: one to three names with a number >= 0 for each label; a single name is not shown.
        category: what the labels are.
        value: what the numbers are, with their unit.
        title: what is shown.
        subtitle: under which conditions.
        marks: vertical lines for reference, such as ``{50.0: "exponential mechanism"}``.
        pale: indices of labels whose bars differ in kind, such as the sum of all others (with a single group only). One
            that would dwarf the others is cut at the frame, and its number says so.
        width: of the frame, in pixels; the height follows from the number of bars.

    Raises:
        InvalidParameterError: no or too many bars, or numbers that are missing, negative or not finite.
        MissingExtraError: the extra ``plots`` is not installed.

    >>> chart = bars(["red", "green"], {"share": [0.25, 0.75]}, category="colour", value="share", title="Two colours")
    >>> [row["text"] for rows in chart.to_dict()["datasets"].values() for row in rows]
    ['0.250', '0.750']
    """
    alt = altair()
    heights = checked_heights(labels, groups)
    axis = Axis(title=text("value", value, "a text that says what the numbers are"), lowest=0.0)
    marks = checked_marks("marks", marks, axis)
    domain = bar_domain(heights, marks, pale)
    rows = bar_rows(unique_labels(list(labels)), heights, pale, domain[1])
    grouped = len(heights) > 1
    base = alt.Chart(alt.InlineData(values=rows)).encode(
        y=alt.Y(
            "label:N",
            sort=[row["label"] for row in rows],
            title=text("category", category, "a text that says what the labels are"),
            scale=alt.Scale(paddingInner=0.3, paddingOuter=0.2),
            axis=alt.Axis(grid=False, ticks=False, labelPadding=6, **_TITLE_ABOVE),
        ),
        x=alt.X("drawn:Q", scale=alt.Scale(**scale_of(axis, domain)), axis=alt.Axis(**ticks_of(axis, domain))),
        tooltip=["label:N", *(["group:N"] if grouped else []), alt.Tooltip("value:Q", title=value, format=".6~g")],
        **({"yOffset": alt.YOffset("group:N", sort=list(heights))} if grouped else {}),
    )
    rules, words = mark_layers(alt, marks, "x", axis, domain)
    drawn = base.mark_bar(stroke=DARK, strokeWidth=0.6).encode(**_fill(alt, list(heights)))
    layers = [drawn, *rules, *_numbers_at_ends(base), *words]
    chart = alt.layer(*layers).properties(title=heading(title, subtitle), description=title)
    height = len(labels) * (_GROUPED * len(heights) + 8 if grouped else _SINGLE)
    return chart.properties(width=positive_count(width, "width"), height=height).configure(**HOUSE, legend=_LEGEND)


def _numbers_at_ends(base: Any) -> list[Any]:
    """The number of each bar: behind its end with a white rim, so that a grid line does not cross it, or inside."""
    behind, inside = base.transform_filter("!datum.cut"), base.transform_filter("datum.cut")
    words = {"color": DARK, "fontSize": 11}
    layers = [
        behind.mark_text(align="left", dx=4, stroke="white", strokeWidth=3, **words),
        behind.mark_text(align="left", dx=4, **words),
        inside.mark_text(align="right", dx=-6, **words),
    ]
    return [layer.encode(text="text:N") for layer in layers]


def _fill(alt: Any, groups: list[str]) -> dict[str, Any]:
    """How bars are filled: by group, or the pale ones apart."""
    if len(groups) == 1:
        return {"color": alt.condition("datum.pale", alt.value(PALE), alt.value(BAR_COLOURS[0]))}
    scale = alt.Scale(domain=groups, range=list(BAR_COLOURS[: len(groups)]))
    return {"color": alt.Color("group:N", scale=scale, legend=alt.Legend(title=None, symbolType="square"))}
