"""Bar charts, points in their place, and heat maps: horizontal labels, read without turning the head."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from dpselect.charts.files import altair
from dpselect.charts.theme import BAR_COLOURS, DARK, LABELS_AXIS, PALE, TICKS, WIDTH, finished

if TYPE_CHECKING:
    from altair import LayerChart

_NUMBER = "format(datum.value, datum.value % 1 ? '.3g' : ',.0f')"
"""A number as it is written: a whole one as such, else three significant digits."""

_LETTERS, _MOST_LETTERS, _LAST_LETTERS = 32, 120, 40
"""Of a line of a label; of a whole label, if it is cut; and of its end, which may be what differs."""

_BAR, _LINE, _TILE = 20, 15, (84, 34)
"""Pixels of a bar with the space below it, from one line of a label to the next, and of a tile."""


def bars(
    labels: Sequence[str],
    values: Sequence[float],
    *,
    category: str,
    value: str,
    title: str,
    subtitle: str = "",
    others: float | None = None,
    ends: tuple[Sequence[float], Sequence[float]] | None = None,
    as_points: bool = False,
) -> LayerChart:
    """A chart of one bar for each label, with its number at the end, which is on the left below zero.

    Args:
        labels: what each bar is, from the top. Long ones stand in several lines, very long ones lack their middle.
        values: a number for each label.
        category, value: what the labels are, and the numbers, with their unit.
        title, subtitle: what is shown, and under which conditions.
        others: the sum of what has no bar of its own: the last label has a pale bar, cut at the frame if it is more
            than four times as long as the others, which its number then says.
        ends: where the error bar of each bar begins and ends, in the unit of `values`; None: no error bars.
        as_points: draw points on an axis that need not have 0 on it: for places on a scale, such as quantiles.

    Raises:
        MissingExtraError: the extra ``plots`` is not installed.

    >>> chart = bars(["red", "green"], [0.25, 0.75], category="colour", value="share", title="Two colours")
    >>> [(row["label"], row["value"]) for rows in chart.to_dict()["datasets"].values() for row in rows]
    [('red', 0.25), ('green', 0.75)]
    """
    alt = altair()
    shown = [_in_lines(label) for label in labels]
    if len(set(shown)) < len(shown):  # each still has a bar of its own
        shown = [f"{label} [{index}]" for index, label in enumerate(shown)]
    cut = 2 * max(values) if others is not None and others > 4 * max(values) > 0 else math.inf
    numbers = [*values, *([] if others is None else [others])]
    drawn = [min(number, cut) for number in numbers]
    lows, highs = (drawn, drawn) if ends is None else ends
    below = [not as_points and number < 0 for number in numbers]
    tips = [low if is_below else high for low, high, is_below in zip(lows, highs, below, strict=True)]
    columns: dict[str, Sequence[Any]] = {"label": shown, "value": numbers, "drawn": drawn, "below": below, "tip": tips}
    columns |= {"low": lows, "high": highs, "pale": [place == len(values) for place in range(len(numbers))]}
    scale: dict[str, object] = {"nice": TICKS} if cut == math.inf else {"domain": [0, cut]}
    if as_points:
        scale |= {"zero": False, "padding": 30}
    elif any(below):
        lowest, highest = min(0.0, *lows), max(0.0, *highs)
        scale["domainMin"] = lowest - 0.15 * (highest - lowest)  # room for numbers to the left
    axis, higher = _axis_of(shown)
    base = alt.Chart({"values": _rows(columns)}).encode(
        x=alt.X("drawn:Q", title=value, scale=scale).axis(grid=as_points),
        y=alt.Y("label:N", sort=shown, title=category).scale(paddingInner=0.3, paddingOuter=0.2).axis(**axis),
        tooltip=["label:N", alt.Tooltip("value:Q", title=value)],
    )
    at_end = f"{_NUMBER} + (datum.drawn < datum.value ? ', beyond the axis →' : '')"
    told = {"expr": f"datum.label + ': ' + {at_end}"}
    points = {"filled": True, "opacity": 1, "size": 70}
    drawn_as = base.mark_point(**points, description=told) if as_points else base.mark_bar(description=told)
    marks = [drawn_as.encode(color=alt.when("datum.pale").then(alt.value(PALE)).otherwise(alt.value(BAR_COLOURS[0])))]
    if ends is not None:
        between = {"x": alt.X("low:Q", title=value, scale=scale), "x2": "high:Q", "color": alt.value(DARK)}
        marks.append(base.mark_errorbar(ticks={"color": DARK, "size": 8}).encode(**between))
    if as_points:
        marks.reverse()
    beside = {"align": {"expr": "datum.below ? 'right' : 'left'"}, "dx": {"expr": "datum.below ? -4 : 4"}}
    if as_points and ends is None:
        beside["dx"] = {"expr": "9"}
    marks.append(base.mark_text(text={"expr": at_end}, aria=False, **beside).encode(x="tip:Q"))
    return finished(alt.layer(*marks).properties(width=WIDTH, height=alt.Step(_BAR + higher)), title, subtitle)


def tiles(
    places: Sequence[tuple[str, str]],
    values: Sequence[float],
    *,
    categories: tuple[str, str],
    value: str,
    title: str,
    subtitle: str = "",
    from_zero: bool = True,
) -> LayerChart:
    """A heat map: a tile for each place, darker for a larger number; places that are not listed stay empty.

    Args:
        places: the row and the column of each number, both in the order in which they first occur.
        values, value, title, subtitle: as for `bars`.
        categories: what the rows are, and what the columns are.
        from_zero: whether the shades begin at 0, as for amounts, or at the smallest number.

    Raises:
        MissingExtraError: the extra ``plots`` is not installed.

    >>> chart = tiles([("n", "f"), ("s", "f")], [3, 41], categories=("region", "sex"), value="people", title="People")
    >>> [(row["row"], row["column"], row["value"]) for rows in chart.to_dict()["datasets"].values() for row in rows]
    [('n', 'f', 3), ('s', 'f', 41)]
    """
    alt = altair()
    rows, columns = ([_in_lines(each) for each in names] for names in zip(*places, strict=True))
    shaded = [*values, 0.0] if from_zero else values
    lowest, highest = min(shaded), max(shaded)
    axis, higher = _axis_of(rows)
    base = alt.Chart({"values": _rows({"row": rows, "column": columns, "value": values})}).encode(
        x=alt.X("column:N", sort=list(dict.fromkeys(columns)), title=categories[1]).axis(
            orient="top", labelAngle=0, domain=False, ticks=False, labelExpr="split(datum.label, '\\n')"
        ),
        y=alt.Y("row:N", sort=list(dict.fromkeys(rows)), title=categories[0]).axis(**axis, domain=False),
        tooltip=["row:N", "column:N", alt.Tooltip("value:Q", title=value)],
    )
    shades = alt.Scale(domain=[lowest, highest], range=["#f2f5fa", BAR_COLOURS[0]])
    told = {"expr": f"datum.row + ', ' + datum.column + ': ' + {_NUMBER}"}
    filled = base.mark_rect(stroke="white", strokeWidth=2, description=told)
    is_dark = alt.when(f"datum.value > {(lowest + highest) / 2.0}")
    written = base.mark_text(text={"expr": _NUMBER}, aria=False)
    chart = alt.layer(
        filled.encode(color=alt.Color("value:Q", scale=shades, legend=None)),
        written.encode(color=is_dark.then(alt.value("white")).otherwise(alt.value(DARK))),
    )
    return finished(chart.properties(width=alt.Step(_TILE[0]), height=alt.Step(_TILE[1] + higher)), title, subtitle)


def _rows(columns: dict[str, Sequence[Any]]) -> list[dict[str, object]]:
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def _in_lines(label: str) -> str:
    """A label that can be read: in lines that are not long, and without what could not be seen."""
    text = "".join(each if each.isprintable() else " " for each in label).strip() or "(empty)"
    if len(text) > _MOST_LETTERS:
        text = f"{text[: _MOST_LETTERS - _LAST_LETTERS].rstrip()} ... {text[-_LAST_LETTERS:].lstrip()}"
    return "\n".join(textwrap.wrap(text, _LETTERS, break_on_hyphens=False)) if len(text) > _LETTERS else text


def _axis_of(labels: Sequence[str]) -> tuple[dict[str, Any], int]:
    """The axis of such labels, each in the middle of its bar, and how many pixels the longest one adds to a bar."""
    most = 1 + max((label.count("\n") for label in labels), default=0)
    if most == 1:
        return LABELS_AXIS, 0
    above = f"slice({chr(10) * most!r}, 0, floor(({most} - length(split(datum.label, '\\n'))) / 2))"
    higher = _LINE * (most - 1)  # all begin as high as the longest one has to, the others with empty lines
    labelled = {"labelExpr": f"split({above} + datum.label, '\\n')", "labelOffset": -higher / 2.0}
    return LABELS_AXIS | labelled, higher
