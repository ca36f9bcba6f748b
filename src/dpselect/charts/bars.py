"""Bar charts, and points in their place: horizontal, so that every label is read without turning the head."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

from dpselect.charts.files import altair
from dpselect.charts.theme import BAR_COLOURS, DARK, LABELS_AXIS, PALE, TICKS, WIDTH, finished

if TYPE_CHECKING:
    from altair import LayerChart

_DWARFED = 4
"""A sum of many that is longer than the longest other bar by more than this factor is cut at the frame, and says so."""

NUMBER = "format(datum.value, datum.value % 1 ? '.3g' : ',.0f')"
"""A number as it is written: a whole one as such, else three significant digits."""

_AT_END = f"{NUMBER} + (datum.drawn < datum.value ? ', beyond the axis →' : '')"
"""What is written at the end of a bar."""

_LETTERS, _MOST_LETTERS, _LAST_LETTERS = 32, 120, 40
"""Of a line of a label; of a whole label, if it is cut; and of its end, which may be what differs."""

LINE = 15
"""Pixels from one line of a label to the next."""

_ROOM = 0.15
"""Of the width of the bars, for a number to the left of a bar below zero."""


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
        category: what the labels are.
        value: what the numbers are, with their unit.
        title: what is shown.
        subtitle: under which conditions.
        others: the sum of what has no bar of its own; the last label is its. The bar is pale. If it would dwarf the
            others it is cut at the frame, and its number says so.
        ends: where the error bar of each bar begins and ends, in the unit of `values`; None: no error bars.
        as_points: draw points on an axis that need not have 0 on it: for places on a scale, such as quantiles, which
            are not amounts.

    Raises:
        MissingExtraError: the extra ``plots`` is not installed.

    >>> chart = bars(["red", "green"], [0.25, 0.75], category="colour", value="share", title="Two colours")
    >>> [(row["label"], row["value"]) for rows in chart.to_dict()["datasets"].values() for row in rows]
    [('red', 0.25), ('green', 0.75)]
    """
    alt = altair()
    shown = [in_lines(label) for label in labels]
    if len(set(shown)) < len(shown):  # each still has a bar of its own
        shown = [f"{label} [{index}]" for index, label in enumerate(shown)]
    rows: list[dict[str, object]] = [
        {"label": label, "value": number, "drawn": number, "pale": False}
        for label, number in zip(shown, [*values, *([] if others is None else [others])], strict=True)
    ]
    scale: dict[str, object] = {"nice": TICKS}
    if others is not None:
        rows[-1]["pale"] = True
        if others > _DWARFED * max(values) > 0:
            rows[-1]["drawn"] = 2 * max(values)
            scale = {"domain": [0, 2 * max(values)]}
    lows, highs = ends if ends is not None else (values, values)
    for row, low, high in zip(rows, lows, highs, strict=False):
        row |= {"low": low, "high": high}
    for row in rows:
        is_below = not as_points and cast(float, row["value"]) < 0
        row |= {"below": is_below, "tip": row.get("low" if is_below else "high", row["drawn"])}
    if as_points:
        scale |= {"zero": False, "padding": 30}
    elif any(row["below"] for row in rows):
        lowest, highest = min(0.0, *lows), max(0.0, *highs)
        scale["domainMin"] = lowest - _ROOM * (highest - lowest)
    most_lines = 1 + max((label.count("\n") for label in shown), default=0)
    axis, step = (
        LABELS_AXIS | ({} if most_lines == 1 else lines_beside_bars(most_lines)),
        alt.Step(20 + LINE * (most_lines - 1)),
    )
    base = alt.Chart({"values": rows}).encode(
        x=alt.X("drawn:Q", title=value, scale=scale).axis(grid=as_points),
        y=alt.Y("label:N", sort=shown, title=category).scale(paddingInner=0.3, paddingOuter=0.2).axis(**axis),
        tooltip=["label:N", alt.Tooltip("value:Q", title=value)],
    )
    fill = alt.when("datum.pale").then(alt.value(PALE)).otherwise(alt.value(BAR_COLOURS[0]))
    told = {"expr": f"datum.label + ': ' + {_AT_END}"}
    marked = (
        base.mark_point(filled=True, opacity=1, size=70, description=told)
        if as_points
        else base.mark_bar(description=told)
    )
    drawn = marked.encode(color=fill)
    beside = {"align": {"expr": "datum.below ? 'right' : 'left'"}, "dx": {"expr": "datum.below ? -4 : 4"}}
    if as_points and ends is None:
        beside["dx"] = {"expr": "9"}
    numbers = base.mark_text(text={"expr": _AT_END}, aria=False, **beside).encode(x="tip:Q")
    layers = [drawn, numbers]
    if ends is not None:
        between = {"x": alt.X("low:Q", title=value, scale=scale), "x2": "high:Q", "color": alt.value(DARK)}
        bar = base.mark_errorbar(ticks={"color": DARK, "size": 8}).encode(**between)
        layers = [bar, drawn, numbers] if as_points else [drawn, bar, numbers]
    return finished(alt.layer(*layers).properties(width=WIDTH, height=step), title, subtitle)


def in_lines(label: str) -> str:
    """A label that can be read: in lines that are not long, and without what could not be seen.

    >>> in_lines("red"), in_lines("Internal Medicine and Rehabilitation, Building 7")
    ('red', 'Internal Medicine and\\nRehabilitation, Building 7')
    """
    text = "".join(each if each.isprintable() else " " for each in label).strip() or "(empty)"
    if len(text) > _MOST_LETTERS:
        text = f"{text[: _MOST_LETTERS - _LAST_LETTERS].rstrip()} ... {text[-_LAST_LETTERS:].lstrip()}"
    return "\n".join(textwrap.wrap(text, _LETTERS, break_on_hyphens=False)) if len(text) > _LETTERS else text


def lines_beside_bars(most: int) -> dict[str, object]:
    """For labels of up to `most` lines: their middle is at the middle of the bar.

    All begin as high as the longest one has to; the others have empty lines above.
    """
    above = f"slice({chr(10) * most!r}, 0, floor(({most} - length(split(datum.label, '\\n'))) / 2))"
    return {"labelExpr": f"split({above} + datum.label, '\\n')", "labelOffset": -LINE * (most - 1) / 2.0}
