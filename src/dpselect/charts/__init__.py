"""Charts in one style, from numbers that are public: offline, and readable in grey.

A theme for Altair, and thin functions: `lines` draws `Series` along `Axis`, `bars` draws bars, `tiles` a heat map,
`save` writes files.
"""

from dpselect.charts.bars import bars
from dpselect.charts.files import altair, save, svg_without_title
from dpselect.charts.lines import Axis, Series, lines
from dpselect.charts.theme import styles_of
from dpselect.charts.tiles import tiles

__all__ = ["Axis", "Series", "altair", "bars", "lines", "save", "styles_of", "svg_without_title", "tiles"]
