"""Line charts: a frame of curves that differ by dash and colour."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from dpselect.charts.files import altair
from dpselect.charts.theme import DISTINCT_STYLES, HEIGHT, LINE_COLOURS, LINE_DASHES, TICKS, WIDTH, finished
from dpselect.errors import InvalidParameterError, Shown

if TYPE_CHECKING:
    from altair import LayerChart

FloatArray = npt.NDArray[np.float64]

_LARGEST, _SMALLEST = 1e300, 1e-300
"""What a chart can hold; beyond, the drawing library's arithmetic would leave the doubles."""

MOST_SERIES = len(LINE_COLOURS)
"""In one chart: as many as can be told apart in grey."""


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
        return getattr(altair(), side.upper())(f"{side}:Q", title=self.title, scale=scale)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Series:
    """One curve: y as a function of x.

    Args:
        name: what the legend calls it.
        x: shape ``(m,)``, finite, in any order; the unit is the axis'.
        y: shape ``(m,)``; where it is not finite (or not positive, on a log axis) the curve has a gap.
        style: dash and colour, from 0 (solid, black) to 5 (dotted, the lightest). Default: by the place among the
            curves of its chart, from dark to light. Give it where a curve has to look the same in several charts.
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
    alt = altair()
    rows = [row for one in series for row in _rows(one, x, y)]
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
    default = sorted(DISTINCT_STYLES[: len(series)])
    styles = {one.name: default[place] if one.style is None else one.style for place, one in enumerate(series)}
    shown = {"symbolType": "stroke", "symbolSize": 800, **legend} if len(order) > 1 else None

    def scale(looks: Sequence[object]) -> dict[str, object]:
        return {"domain": order, "range": [looks[styles[name]] for name in order]}

    common = {"title": "curve", "legend": shown and {"title": None, **shown}}
    return {
        "color": altair().Color("series:N", scale=scale(LINE_COLOURS), **common),
        "strokeDash": altair().StrokeDash("series:N", scale=scale(LINE_DASHES), **common),
    }


def from_top(series: Sequence[Series], y: Axis) -> list[str]:
    """The names of the curves as they end at the right, the highest first; at one height as they were given."""
    drawn = [one.y[y.drawable(one.y)] for one in series]
    heights = [np.log10(each) if y.log else each for each in drawn]
    every = np.concatenate(heights)
    least = 1.5 / HEIGHT * float(np.ptp(every)) if every.size else 0.0  # less than the width of a line
    ends = {one.name: float(each[-1]) if each.size else -math.inf for one, each in zip(series, heights, strict=True)}
    places = {name: round(end / least) if least > 0 and math.isfinite(end) else end for name, end in ends.items()}
    return sorted(places, key=places.__getitem__, reverse=True)


def _rows(one: Series, x: Axis, y: Axis) -> list[dict[str, object]]:
    """The points to draw. One between two gaps is marked as alone, because a line does not show it."""
    on_axis = x.drawable(one.x)
    across, up = one.x[on_axis], one.y[on_axis]
    drawn = np.concatenate([[False], y.drawable(up), [False]])
    columns = (each.tolist() for each in (across, up, drawn[1:-1], drawn[1:-1] & ~drawn[:-2] & ~drawn[2:]))
    return [
        {"series": one.name, "x": here, "y": height if shown else None, "alone": alone}
        for here, height, shown, alone in zip(*columns, strict=True)
    ]
