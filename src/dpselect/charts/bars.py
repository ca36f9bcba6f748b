"""Bar charts: horizontal, so that every label is read without turning the head."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, cast

import numpy as np

from dpselect.arguments import positive_count
from dpselect.charts.axes import LARGEST, NO_MARKS, Axis, FloatArray, Marks, mark_layers
from dpselect.charts.files import altair
from dpselect.charts.lines import vector
from dpselect.charts.theme import BAR_COLOURS, PALE, THEME, WIDTH, heading, text
from dpselect.errors import InvalidParameterError

if TYPE_CHECKING:
    from altair import LayerChart

_DWARFED = 4
"""A pale bar longer than the others by more than this factor is cut at the frame, and says so."""

_NUMBER = """
format(datum.value, datum.value % 1 && datum.value < 1000 ? '.3g' : ',.0f')
+ (datum.drawn < datum.value ? ', beyond the axis →' : '')
"""
"""What is written at the end of a bar: a whole number as such, else three significant digits."""

_TITLE_ABOVE = {"titleAngle": 0, "titleAlign": "right", "titleX": -6, "titleY": -10, "labelPadding": 6}
"""The title of the labels above them, where it is read first however many there are."""


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
        labels: what each bar (or group of bars) is, from the top. Very long ones are cut.
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
        InvalidParameterError: no bars, too many groups, or numbers that are missing, negative or not finite.
        MissingExtraError: the extra ``plots`` is not installed.

    >>> chart = bars(["red", "green"], {"share": [0.25, 0.75]}, category="colour", value="share", title="Two colours")
    >>> [(row["label"], row["value"]) for rows in chart.to_dict()["datasets"].values() for row in rows]
    [('red', 0.25), ('green', 0.75)]
    """
    alt = altair()
    heights = _checked(labels, groups)
    shown = ["".join(each if each.isprintable() else " " for each in label).strip() or "(empty)" for label in labels]
    if len(set(shown)) < len(shown):  # each still has a bar of its own
        shown = [f"{label} [{index}]" for index, label in enumerate(shown)]
    end = _end(heights, pale)
    axis = Axis(title=text("value", value, "a text that says what the numbers are"), lowest=0.0, highest=end)
    rules, words = mark_layers(axis, "x", "marks", marks)
    drawn = np.minimum(heights, end or LARGEST)
    rows = [
        {"label": shown[i], "group": name, "value": full, "drawn": some, "pale": i in pale}
        for name, *row in zip(groups, heights.tolist(), drawn.tolist(), strict=True)
        for i, (full, some) in enumerate(zip(*row, strict=True))
    ]
    base = alt.Chart({"values": rows}).encode(
        x=axis.channel("x", drawn.ravel(), marks, "drawn").axis(grid=False),
        y=alt.Y("label:N", sort=shown, title=text("category", category, "a text that says what the labels are"))
        .scale(paddingInner=0.3, paddingOuter=0.2)
        .axis(labelLimit=400, grid=False, ticks=False, **_TITLE_ABOVE),
        tooltip=["label:N", *(["group:N"] if len(groups) > 1 else []), alt.Tooltip("value:Q", title=value)],
    )
    if len(groups) > 1:
        base, step = base.encode(yOffset=alt.YOffset("group:N", sort=list(groups))), alt.Step(17, **{"for": "offset"})
        scale = alt.Scale(domain=list(groups), range=BAR_COLOURS[: len(groups)])
        fill = alt.Color("group:N", scale=scale).legend(symbolType="square", symbolSize=160)
    else:
        fill, step = alt.when("datum.pale").then(alt.value(PALE)).otherwise(alt.value(BAR_COLOURS[0])), alt.Step(20)
    spoken = {"expr": f"datum.label + ', ' + datum.group + ': ' + {_NUMBER}"}
    drawn_bars = base.mark_bar(description=spoken).encode(color=fill)
    numbers = base.mark_text(align="left", dx=4, text={"expr": _NUMBER}, aria=False)
    chart = alt.layer(drawn_bars, *rules, numbers, *words)
    size = {"width": positive_count(width, "width"), "height": step}
    return chart.properties(**heading(title, subtitle), **size).configure(**THEME)


def _checked(labels: object, groups: object) -> FloatArray:
    """The numbers, a row for each group, if there is one for every label."""
    texts = list(cast("Sequence[object]", labels)) if isinstance(labels, Sequence) else []
    if isinstance(labels, str) or not texts or not all(isinstance(label, str) for label in texts):
        raise InvalidParameterError("labels", cast(object, labels), "a list of texts, at least one")
    named = dict(cast("Mapping[str, object]", groups)) if isinstance(groups, Mapping) else {}
    if not 1 <= len(named) <= len(BAR_COLOURS):
        expected = f"a mapping from 1 to {len(BAR_COLOURS)} names to numbers"
        raise InvalidParameterError("groups", cast(object, groups), expected)
    expected = f"{len(texts)} numbers from 0 to {LARGEST:g}"
    heights = [vector("groups", numbers, expected) for numbers in named.values()]
    if any(len(row) != len(texts) or not ((row >= 0) & (row <= LARGEST)).all() for row in heights):
        raise InvalidParameterError("groups", cast(object, groups), expected)
    return np.stack(heights)


def _end(heights: FloatArray, pale: Collection[int]) -> float | None:
    """Where the axis ends if a pale bar would dwarf all others: at twice their length."""
    alike = float(heights[:, [index for index in range(heights.shape[1]) if index not in pale]].max(initial=0.0))
    return 2 * alike if 0 < _DWARFED * alike < heights.max() else None
