"""The style of all charts, and charts as files: offline, by optional libraries that are loaded with the first chart."""

from __future__ import annotations

import io
import json
import os
import textwrap
from html import escape
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, cast

from dpselect.errors import InvalidParameterError, Shown, optional

if TYPE_CHECKING:
    from altair import TopLevelMixin

DARK, MEDIUM = "#222222", "#555555"

TICKS = 5
"""About so many labels along an axis."""

THEME: dict[str, object] = {
    "background": "white",
    "font": "Helvetica, Arial, 'Liberation Sans', 'DejaVu Sans', sans-serif",
    "padding": 8,
    "view": {"stroke": None},
    "style": {
        "group-title": {"fontSize": 14, "fill": DARK},
        "group-subtitle": {"fontSize": 12, "fill": MEDIUM},
        "guide-title": {"fontSize": 12, "fill": DARK, "fontWeight": "normal"},
        "guide-label": {"fontSize": 12, "fill": DARK},
    },
    "title": {"anchor": "start", "frame": "bounds", "offset": 14},
    "axis": {"domainColor": DARK, "tickColor": DARK, "labelLimit": 0, "titleLimit": 0, "titlePadding": 8},
    "axisX": {"labelFlush": False, "labelSeparation": 8},
    "axisQuantitative": {
        "tickCount": TICKS,
        # On a log axis most ticks have no label; their lines are fainter.
        "gridColor": {"condition": {"test": "datum.label", "value": "#d4d4d4"}, "value": "#ededed"},
        "tickSize": {"condition": {"test": "datum.label", "value": 6}, "value": 3},
    },
    "legend": {"title": None, "labelLimit": 0, "rowPadding": 0, "columnPadding": 18, "symbolStrokeWidth": 2},
    "line": {"strokeWidth": 2, "tooltip": True},
    "point": {"filled": True, "opacity": 1, "size": 30, "tooltip": True},
    "bar": {"stroke": DARK, "strokeWidth": 0.6, "tooltip": True},
    "rule": {"color": MEDIUM},
    "text": {"color": DARK},
    "tooltipFormat": {"numberFormat": ".6~g"},
}
"""Configuration of every chart. It names no address: a chart is drawn the same without a network."""

_ABOVE = {"titleAngle": 0, "titleAlign": "right", "titleX": -6, "titleY": -10}
LABELS_AXIS: dict[str, object] = {"labelLimit": 400, "labelPadding": 6, "grid": False, "ticks": False, **_ABOVE}
"""The axis of bars, which has a label for each; its title is above them, where it is read first."""


def finished(chart: Any, title: str, subtitle: str) -> Any:
    """`chart` in this style, with its headings in lines that fit; the title is also what a screen reader says."""
    shown = {"text": textwrap.wrap(title, 80, break_on_hyphens=False)}
    if below := subtitle.strip():
        shown["subtitle"] = textwrap.wrap(below, 100, break_on_hyphens=False)
    return chart.properties(title=shown, description=title).configure(**THEME)


class _ScriptSafe(json.JSONEncoder):
    """JSON within a page: a label with ``</script>`` in it does not end the script."""

    def encode(self, o: object) -> str:
        return super().encode(o).replace("<", "\\u003c")


# The menu of a page saves the picture, and has no link that would hand the data to a web site.
_MENU = {"export": True, "source": False, "compiled": False, "editor": False}
_OPTIONS: dict[str, dict[str, Any]] = {
    ".svg": {},
    ".png": {"scale_factor": 2},  # so that it stays sharp on paper and on dense screens
    ".html": {
        "inline": True,
        "json_kwds": {"cls": _ScriptSafe},
        "embed_options": {"mode": "vega-lite", "renderer": "svg", "actions": _MENU},
    },
    ".json": {"json_kwds": {"indent": 1}},
}


def loaded(name: str) -> ModuleType:
    """One of the libraries that draw; if it is not installed, the error says how to."""
    return optional(name, "plots", "plots")


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
