"""Charts in one style, from numbers that are public: offline, and readable in grey, by people who see few colours."""

from dpselect.charts.drawing import Axis, Series, bars, lines, save, styles_of, svg_without_title, tiles

__all__ = ["Axis", "Series", "bars", "lines", "save", "styles_of", "svg_without_title", "tiles"]
