"""The house style: readable in colour, in grey on paper, and by people who see few colours.

Series differ by dash pattern and by how dark they are; hue comes on top. In the order below each colour is lighter
than the one before, and the lightest still stands out from white paper (contrast 3 or more).
"""

from __future__ import annotations

from collections.abc import Mapping

LINE_COLOURS = ("#000000", "#7d1040", "#0b549c", "#117a65", "#8a6fd0", "#d67d00")
LINE_DASHES = ((1, 0), (14, 4), (7, 3), (9, 3, 2, 3), (9, 2.5, 2, 2.5, 2, 2.5), (2, 2.5))
BEST_APART = (0, 2, 5, 3, 1, 4)
"""Styles in the order in which they are taken: so the first three of a chart are solid, dashed and dotted."""

BAR_COLOURS = ("#0b4a8f", "#d67d00", "#d9d9d9")
PALE = "#e4e4e4"
"""Fill of a bar that is not like the others, such as a sum of many."""

DARK, MEDIUM = "#222222", "#555555"
MAJOR_GRID, MINOR_GRID = "#d4d4d4", "#ededed"

WIDTH, HEIGHT = 400, 270
"""Pixels of the frame; with axis and legend a chart is about 650 wide."""

_FONT = "Helvetica, Arial, 'Liberation Sans', 'DejaVu Sans', sans-serif"

HOUSE: Mapping[str, Mapping[str, object] | str | float] = {
    "background": "white",
    "font": _FONT,
    "padding": 8,
    "view": {"stroke": None},
    "title": {
        "anchor": "start",
        "frame": "bounds",
        "fontSize": 14,
        "fontWeight": "bold",
        "color": DARK,
        "subtitleFontSize": 12,
        "subtitleColor": MEDIUM,
        "subtitlePadding": 4,
        "offset": 14,
    },
    "axis": {
        "domainColor": DARK,
        "tickColor": DARK,
        "gridColor": MAJOR_GRID,
        "labelColor": DARK,
        "labelFontSize": 12,
        "labelLimit": 0,
        "titleColor": DARK,
        "titleFontSize": 12,
        "titleFontWeight": "normal",
        "titleLimit": 0,
        "titlePadding": 8,
    },
    "axisX": {"labelFlush": False},
    "header": {"labelFontSize": 12, "labelColor": DARK, "labelLimit": 0},
}
"""Configuration of every chart, beside `LEGEND`. No address in it: a chart is drawn the same without a network."""

LEGEND: Mapping[str, object] = {
    "labelColor": DARK,
    "labelFontSize": 12,
    "labelLimit": 0,
    "symbolSize": 800,
    "symbolStrokeWidth": 2,
    "rowPadding": 0,
    "columnPadding": 18,
}
"""Of line charts; bars are shown by smaller symbols."""
