"""Charts in one style, from numbers that are public: offline, and readable in grey, by people who see few colours."""

from dpselect.charts.bars import bars, tiles
from dpselect.charts.files import altair, save, svg_without_title
from dpselect.charts.lines import Axis, Series, lines
from dpselect.charts.theme import styles_of

__all__ = ["Axis", "Series", "altair", "bars", "lines", "save", "styles_of", "svg_without_title", "tiles"]
