"""The theme: curves differ by dash pattern and by how dark they are; hue comes on top.

Each colour is lighter than the one before, and the lightest still stands out from white paper (contrast 3 or more).
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import Any

LINE_COLOURS = ("#000000", "#7d1040", "#0b549c", "#117a65", "#8a6fd0", "#d67d00")
LINE_DASHES = ((1, 0), (14, 4), (7, 3), (9, 3, 2, 3), (9, 2.5, 2, 2.5, 2, 2.5), (2, 2.5))
DISTINCT_STYLES = (0, 2, 5, 3, 1, 4)
"""Styles in the order in which they are taken: the first three curves are solid, dashed and dotted."""

_STYLES = {"exponential mechanism": 0, "permute-and-flip": 2, "noisy max (Laplace)": 5, "noisy max, Laplace noise": 5}
"""The style of each mechanism, by the names that charts have for it."""

BAR_COLOURS = ("#0b4a8f", "#d67d00", "#d9d9d9")
PALE = "#e4e4e4"
"""Fill of a bar that differs from the others in kind, such as a sum of many."""

DARK, MEDIUM = "#222222", "#555555"

WIDTH, HEIGHT = 400, 270
"""Pixels of the frame; with axis and legend a chart is about 650 wide."""

TICKS = 5
"""About so many labels along an axis."""


def styles_of(names: Sequence[str]) -> list[int]:
    """The style of each curve: that of its mechanism, the same in every chart; for other names by their places.

    >>> styles_of(["permute-and-flip", "exponential mechanism"]), styles_of(["mine", "yours"])
    ([2, 0], [0, 2])
    """
    known = [_STYLES[name] for name in names if name in _STYLES]
    return known if len(set(known)) == len(names) else sorted(DISTINCT_STYLES[: len(names)])


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
