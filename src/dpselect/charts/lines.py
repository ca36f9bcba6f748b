"""Line charts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from dpselect.arguments import positive_count
from dpselect.charts.axes import Axis
from dpselect.charts.extra import altair
from dpselect.charts.frame import domain_of, frame_of
from dpselect.charts.marks import NO_MARKS, Marks
from dpselect.charts.overlap import overlap_note
from dpselect.charts.series import Series, checked_series, from_top
from dpselect.charts.style import HEIGHT, HOUSE, LEGEND, WIDTH
from dpselect.charts.text import heading
from dpselect.errors import InvalidParameterError

if TYPE_CHECKING:
    from altair import ConcatChart, LayerChart


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
        A chart with its data inside. The subtitle says so where points were left out (beyond 5000), and where curves
        nearly coincide.

    Raises:
        InvalidParameterError: no or too many series, two of one name, or none with a point on the axes.
        MissingExtraError: the extra ``plots`` is not installed.

    >>> fall = Series(name="1/epsilon", x=[0.1, 1.0, 10.0], y=[10.0, 1.0, 0.1])
    >>> chart = lines([fall], x=Axis(title="epsilon", log=True), y=Axis(title="error", log=True), title="A law")
    >>> chart.to_dict()["title"]
    {'text': ['A law']}
    """
    checked = checked_series(series)
    frame, said = frame_of(checked, x=x, y=y, order=from_top(checked, y), x_marks=x_marks, y_marks=y_marks, steps=steps)
    overlap = overlap_note(checked, y, domain_of("y", y, [one.points[1] for one in checked], y_marks))
    titled = heading(title, subtitle, said, overlap)
    chart = frame.properties(title=titled, description=title, **_size(width, height))
    return chart.configure(**HOUSE, legend=LEGEND)


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
    """Several line charts side by side, with one legend.

    Args:
        panels: curves under the name of their panel. Curves of one name look alike everywhere; at most 6 names.
        x: the axis below of every panel; ends that are not given are chosen for each panel.
        y: the axis at the left of every panel, likewise.
        title: what is shown.
        subtitle: under which conditions.
        columns: panels in a row.
        x_marks: as in `lines`, in every panel.
        y_marks: likewise.
        steps: as in `lines`.
        width: of one panel's frame, in pixels.
        height: of one panel's frame, in pixels.

    Raises:
        InvalidParameterError: as for `lines`, or no panels.
        MissingExtraError: the extra ``plots`` is not installed.

    >>> curve = Series(name="error", x=[0.0, 1.0], y=[4.0, 2.0])
    >>> x, y = Axis(title="epsilon"), Axis(title="error")
    >>> chart = line_panels({"ADULT": [curve], "PATENT": [curve]}, x=x, y=y, title="Two data sets")
    >>> [panel["title"]["text"] for panel in chart.to_dict()["concat"]]
    ['ADULT', 'PATENT']
    """
    if not isinstance(cast(object, panels), Mapping) or not panels:
        raise InvalidParameterError("panels", panels, "at least one panel: a mapping from its name to its series")
    checked = {name: checked_series(series) for name, series in panels.items()}
    known: dict[str, Series] = {}
    for series in checked.values():
        for one in series:
            known.setdefault(one.name, one)
    everything = checked_series(list(known.values()))
    frames: list[Any] = []
    said = ""
    for name, series in checked.items():
        frame, left_out = frame_of(
            series,
            x=x,
            y=y,
            order=[one.name for one in everything],
            x_marks=x_marks,
            y_marks=y_marks,
            steps=steps,
            among=everything,
        )
        said = said or left_out
        panel_title = {"text": str(name), "anchor": "middle", "fontSize": 12, "frame": "group", "offset": 6}
        frames.append(frame.properties(title=panel_title, **_size(width, height)))
    chart = altair().concat(*frames, columns=positive_count(columns, "columns"), spacing={"row": 24, "column": 28})
    chart = chart.properties(title=heading(title, subtitle, said), description=title)
    chart = chart.resolve_scale(color="shared", strokeDash="shared")
    return chart.configure(**HOUSE, legend={**LEGEND, "orient": "bottom"})


def _size(width: object, height: object) -> dict[str, int]:
    return {"width": positive_count(width, "width"), "height": positive_count(height, "height")}
