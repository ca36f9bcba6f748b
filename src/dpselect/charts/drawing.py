"""Charts of numbers: curves, bars with horizontal labels, points in their place, and heat maps; and charts as files.

Curves differ by dash pattern and by how dark they are; hue comes on top. Each colour is lighter than the one before,
and the lightest still stands out from white paper (contrast 3 or more). The libraries that draw are optional: they are
loaded with the first chart.
"""

from __future__ import annotations

import io
import json
import math
import os
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from importlib.resources import files
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, Literal, cast

import numpy as np
import numpy.typing as npt

from dpselect.errors import InvalidParameterError, Shown, import_extra

if TYPE_CHECKING:
    from altair import LayerChart, TopLevelMixin

FloatArray = npt.NDArray[np.float64]

_THEME: dict[str, Any] = json.loads(files("dpselect.charts").joinpath("theme.json").read_text(encoding="utf-8"))
"""Configuration of every chart. It names no address: a chart is drawn the same without a network."""

DARK: str = _THEME["text"]["color"]
TICKS: int = _THEME["axisQuantitative"]["tickCount"]  # about so many labels along an axis

_ABOVE = {"titleAngle": 0, "titleAlign": "right", "titleX": -6, "titleY": -10}
LABELS_AXIS: dict[str, object] = {"labelLimit": 400, "labelPadding": 6, "grid": False, "ticks": False, **_ABOVE}
"""The axis of bars, which has a label for each; its title is above them, where it is read first."""

LINE_COLOURS = ("#000000", "#7d1040", "#0b549c", "#117a65", "#8a6fd0", "#d67d00")
LINE_DASHES = ((1, 0), (14, 4), (7, 3), (9, 3, 2, 3), (9, 2.5, 2, 2.5, 2, 2.5), (2, 2.5))
DISTINCT_STYLES = (0, 2, 5, 3, 1, 4)
"""Styles in the order in which they are taken: the first three curves are solid, dashed and dotted."""

_STYLES = {"exponential mechanism": 0, "permute-and-flip": 2, "noisy max (Laplace)": 5, "noisy max, Laplace noise": 5}
"""The style of each mechanism, by the names that charts have for it."""

BAR_COLOURS = ("#0b4a8f", "#d67d00", "#d9d9d9")

WIDTH, HEIGHT = 400, 270  # pixels of the frame; with axis and legend a chart is about 650 wide

_LARGEST, _SMALLEST = 1e300, 1e-300
"""What a chart can hold; beyond, the drawing library's arithmetic would leave the doubles."""


def styles_of(names: Sequence[str]) -> list[int]:
    """The style of each curve: that of its mechanism, the same in every chart; for other names by their places."""
    known = [_STYLES[name] for name in names if name in _STYLES]
    return known if len(set(known)) == len(names) else sorted(DISTINCT_STYLES[: len(names)])


@dataclass(frozen=True, slots=True, kw_only=True)
class Axis:
    """What is measured along one side of a chart.

    Args:
        title: the quantity with its unit, as ``"expected error (unit of the scores)"``.
        log: logarithmic; points that are not positive have no place on it, and leave a gap in their line.
        lowest, highest: the ends of the axis, where lines are cut. Default: beyond the points. Without `highest` the
            `lowest` of a log axis is a power of ten.
    """

    title: str
    log: bool = False
    lowest: float = -math.inf
    highest: float = math.inf

    def drawable(self, values: FloatArray) -> npt.NDArray[np.bool_]:
        """Which of `values` have a place on an axis of this kind, however far it reaches."""
        return (values >= _SMALLEST) & (values <= _LARGEST) if self.log else np.abs(values) <= _LARGEST

    def channel(self, side: Literal["x", "y"], values: FloatArray) -> Any:
        """The encoding of one `side` of a chart; refused if none of `values` has a place on it."""
        if not self.drawable(values).any():
            expected = f"at least one finite number{' > 0 (the axis is logarithmic)' if self.log else ''}"
            raise InvalidParameterError(side, Shown("<no point on the axis>"), expected)
        ends = {"domainMin": self.lowest, "domainMax": self.highest}
        scale: dict[str, object] = {name: end for name, end in ends.items() if math.isfinite(end)}
        # Rounding moves both ends: only where it keeps the one that was given, and wastes little of the frame.
        rounded = self.highest == math.inf and (self.lowest > 0 if self.log else self.lowest in (0.0, -math.inf))
        nice = rounded and (self.log or TICKS)
        scale |= {"type": "log" if self.log else "linear", "nice": nice, "zero": False}
        return getattr(loaded("altair"), side.upper())(f"{side}:Q", title=self.title, scale=scale)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Series:
    """One curve: y as a function of x.

    Args:
        name: what the legend calls it.
        x: shape ``(m,)``, finite, in any order; the unit is the axis'.
        y: shape ``(m,)``; where it is not finite (or not positive, on a log axis) the curve has a gap.
        style: dash and colour, from 0 (solid, black) to 5 (dotted, the lightest). Default: that of a mechanism if all
            curves are named after one, else by the place among them. Give it where a curve has to look the same
            in several charts.
    """

    name: str
    x: FloatArray
    y: FloatArray
    style: int | None = None

    def __post_init__(self) -> None:
        order = np.argsort(self.x, kind="stable")
        object.__setattr__(self, "x", self.x[order])
        object.__setattr__(self, "y", self.y[order])


def lines(
    series: Sequence[Series], *, x: Axis, y: Axis, title: str, subtitle: str = "", steps: bool = False
) -> LayerChart:
    """A chart of one or more curves, with a legend in the order in which they end at the right.

    Args:
        series: 1 to 6 curves of different names. The first is drawn below the others.
        x, y: the axes below and at the left.
        title, subtitle: what is shown, and under which conditions; broken into lines where they are long.
        steps: keep each point's height up to the next point, instead of a straight line to it.

    Raises:
        InvalidParameterError: none of the points has a place on an axis.
        MissingExtraError: the extra ``plots`` is not installed.

    >>> at = np.array([0.1, 1.0, 10.0])
    >>> fall = Series(name="1/epsilon", x=at, y=1 / at)
    >>> chart = lines([fall], x=Axis(title="epsilon", log=True), y=Axis(title="error", log=True), title="A law")
    >>> chart.to_dict()["title"]
    {'text': ['A law']}
    """
    chart = frame(series, x, y, look(series, from_top(series, y)), steps=steps)
    return finished(chart.properties(width=WIDTH, height=HEIGHT), title, subtitle)


def frame(series: Sequence[Series], x: Axis, y: Axis, encodings: dict[str, Any], *, steps: bool = False) -> LayerChart:
    """The curves without a title, the first below the others; `encodings` come from `look`."""
    alt = loaded("altair")
    rows = [row for one in series for row in _points(one, x, y)]
    base = alt.Chart({"values": rows}).encode(
        x=x.channel("x", np.concatenate([one.x for one in series])),
        y=y.channel("y", np.concatenate([one.y for one in series])),
        **encodings,
    )
    cut = any(map(math.isfinite, (x.lowest, x.highest, y.lowest, y.highest)))
    curves = [base.mark_line(clip=cut, interpolate="step-after" if steps else "linear")]
    if any(row["alone"] for row in rows):
        curves.append(base.transform_filter("datum.alone").mark_point(clip=cut))
    return alt.layer(*curves)


def look(series: Sequence[Series], order: Sequence[str], **legend: object) -> dict[str, Any]:
    """Encodings that tell curves apart by colour and dash, with a legend in this `order` of names."""
    usual = styles_of([one.name for one in series])
    styles = {one.name: style if one.style is None else one.style for one, style in zip(series, usual, strict=True)}
    shown = {"symbolType": "stroke", "symbolSize": 800, **legend} if len(order) > 1 else None
    common = {"title": "curve", "legend": shown and {"title": None, **shown}}
    alt, scales = loaded("altair"), [[looks[styles[name]] for name in order] for looks in (LINE_COLOURS, LINE_DASHES)]
    colours, dashes = ({"scale": {"domain": order, "range": each}, **common} for each in scales)
    return {"color": alt.Color("series:N", **colours), "strokeDash": alt.StrokeDash("series:N", **dashes)}


def from_top(series: Sequence[Series], y: Axis) -> list[str]:
    """The names of the curves as they end at the right, the highest first; at about one height as they were given."""

    def end(one: Series) -> float:
        drawn = one.y[y.drawable(one.y)]
        return float(f"{drawn[-1]:.2g}") if drawn.size else -math.inf

    return [one.name for one in sorted(series, key=end, reverse=True)]


def _points(one: Series, x: Axis, y: Axis) -> list[dict[str, object]]:
    """The points to draw. One between two gaps is marked as alone, because a line does not show it."""
    on_axis = x.drawable(one.x)
    across, up = one.x[on_axis], one.y[on_axis]
    drawn = np.concatenate([[False], y.drawable(up), [False]])
    alone = drawn[1:-1] & ~drawn[:-2] & ~drawn[2:]
    heights = [height if shown else None for height, shown in zip(up.tolist(), drawn[1:-1], strict=True)]
    return _rows(series=[one.name] * len(heights), x=across.tolist(), y=heights, alone=alone.tolist())


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
    ends: tuple[Sequence[float], Sequence[float]] | None = None,
    as_points: bool = False,
) -> LayerChart:
    """A chart of one bar for each label, with its number at the end, which is on the left below zero.

    Args:
        labels: what each bar is, from the top. Long ones stand in several lines, very long ones lack their middle.
        values: a number for each label.
        category, value: what the labels are, and the numbers, with their unit.
        title, subtitle: what is shown, and under which conditions.
        ends: where the error bar of each bar begins and ends, in the unit of `values`; None: no error bars.
        as_points: draw points on an axis that need not have 0 on it: for places on a scale, such as quantiles.

    Raises:
        MissingExtraError: the extra ``plots`` is not installed.

    >>> chart = bars(["red", "green"], [0.25, 0.75], category="colour", value="share", title="Two colours")
    >>> [(row["label"], row["value"]) for rows in chart.to_dict()["datasets"].values() for row in rows]
    [('red', 0.25), ('green', 0.75)]
    """
    alt = loaded("altair")
    shown = [_in_lines(label) for label in labels]
    if len(set(shown)) < len(shown):  # each still has a bar of its own
        shown = [f"{label} [{index}]" for index, label in enumerate(shown)]
    lows, highs = (values, values) if ends is None else ends
    below = [not as_points and number < 0 for number in values]
    tips = [low if is_below else high for low, high, is_below in zip(lows, highs, below, strict=True)]
    rows = _rows(label=shown, value=values, below=below, tip=tips, low=lows, high=highs)
    scale: dict[str, object] = {"nice": TICKS}
    if as_points:
        scale |= {"zero": False, "padding": 30}
    elif any(below):
        lowest, highest = min(0.0, *lows), max(0.0, *highs)
        scale["domainMin"] = lowest - 0.15 * (highest - lowest)  # room for numbers to the left
    axis, higher = _axis_of(shown)
    base = alt.Chart({"values": rows}).encode(
        x=alt.X("value:Q", title=value, scale=scale).axis(grid=as_points),
        y=alt.Y("label:N", sort=shown, title=category).scale(paddingInner=0.3, paddingOuter=0.2).axis(**axis),
        tooltip=["label:N", alt.Tooltip("value:Q", title=value)],
    )
    told = {"expr": f"datum.label + ': ' + {_NUMBER}"}
    drawn_as = base.mark_point(size=70, description=told) if as_points else base.mark_bar(description=told)
    marks = [drawn_as.encode(color=alt.value(BAR_COLOURS[0]))]
    if ends is not None:
        between = {"x": alt.X("low:Q", title=value, scale=scale), "x2": "high:Q", "color": alt.value(DARK)}
        marks.append(base.mark_errorbar(ticks={"color": DARK, "size": 8}).encode(**between))
    if as_points:
        marks.reverse()
    apart = "9" if as_points and ends is None else "datum.below ? -4 : 4"
    beside = {"align": {"expr": "datum.below ? 'right' : 'left'"}, "dx": {"expr": apart}}
    marks.append(base.mark_text(text={"expr": _NUMBER}, aria=False, **beside).encode(x="tip:Q"))
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
    """
    alt = loaded("altair")
    rows, columns = ([_in_lines(each) for each in names] for names in zip(*places, strict=True))
    shaded = [*values, 0.0] if from_zero else values
    lowest, highest = min(shaded), max(shaded)
    axis, higher = _axis_of(rows)
    base = alt.Chart({"values": _rows(row=rows, column=columns, value=values)}).encode(
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


def _rows(**columns: Sequence[Any]) -> list[dict[str, object]]:
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


def finished(chart: Any, title: str, subtitle: str) -> Any:
    """`chart` in this style, with its headings in lines that fit; the title is also what a screen reader says."""
    shown = {"text": textwrap.wrap(title, 80, break_on_hyphens=False)}
    if below := subtitle.strip():
        shown["subtitle"] = textwrap.wrap(below, 100, break_on_hyphens=False)
    return chart.properties(title=shown, description=title).configure(**_THEME)


class _ScriptSafe(json.JSONEncoder):
    """JSON within a page: a label with ``</script>`` in it does not end the script."""

    def encode(self, o: object) -> str:
        return super().encode(o).replace("<", "\\u003c")


# The menu of a page saves the picture, and has no link that would hand the data to a web site.
_MENU = {"export": True, "source": False, "compiled": False, "editor": False}
_EMBEDDED = {"mode": "vega-lite", "renderer": "svg", "actions": _MENU}
_OPTIONS: dict[str, dict[str, Any]] = {
    ".svg": {},
    ".png": {"scale_factor": 2},  # so that it stays sharp on paper and on dense screens
    ".html": {"inline": True, "json_kwds": {"cls": _ScriptSafe}, "embed_options": _EMBEDDED},
    ".json": {"json_kwds": {"indent": 1}},
}


def loaded(name: str) -> ModuleType:
    """One of the libraries that draw; if it is not installed, the error says how to."""
    return import_extra(name, "plots", "plots")


def save(chart: TopLevelMixin, path: str | os.PathLike[str]) -> None:
    """Write a chart of Altair to a file: SVG, PNG, HTML with all it needs inside, or the JSON of Vega-Lite.

    Args:
        chart: what a ``plot_`` function returned, or any other chart of Altair.
        path: a file in an existing folder, whose suffix says how; it is replaced once the picture is complete.

    Raises:
        InvalidParameterError: another suffix, or a file that cannot be written.
        MissingExtraError: the extra ``plots`` is not installed.
    """
    if not isinstance(cast(object, path), str | os.PathLike) or "\0" in str(path):
        raise InvalidParameterError("path", path, "the path of a file")
    target = Path(path)
    shown, suffix = Shown(repr(str(target))), target.suffix.lower()
    if suffix not in _OPTIONS:
        raise InvalidParameterError("path", shown, f"a file name that ends in one of {', '.join(_OPTIONS)}")
    if not isinstance(cast(object, chart), loaded("altair").TopLevelMixin):
        raise InvalidParameterError("chart", chart, "a chart")
    if suffix != ".json":
        loaded("vl_convert")  # the drawing library's own error, were it missing, would not name the extra
    file, drawn = io.BytesIO() if suffix == ".png" else io.StringIO(), cast(Any, chart)
    drawn.save(file, format=suffix[1:], **_OPTIONS[suffix])
    written = file.getvalue()
    if isinstance(written, str) and suffix == ".html":  # a browser's tab shows the title, a screen reader the language
        head = f'<html lang="en">\n<head>\n  <title>{escape(drawn.to_dict().get("description", "chart"))}</title>'
        written = written.replace("<html>\n<head>", head, 1)
    try:
        target.write_bytes(written if isinstance(written, bytes) else written.encode())
    except OSError as failure:
        reason = os.strerror(failure.errno) if failure.errno else "writing failed"
        raise InvalidParameterError("path", shown, "a file that can be written", f"{reason}.") from None


def svg_without_title(chart: TopLevelMixin) -> str:
    """The picture of `chart` as SVG, without its title and subtitle, for a page that says these in its own text."""
    held = {key: value for key, value in chart.to_dict().items() if key != "title"}
    return loaded("vl_convert").vegalite_to_svg(held)
