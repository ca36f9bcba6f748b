"""Charts in one style, from numbers that are public: offline, and readable in grey.

`lines` and `line_panels` draw `Series` along `Axis`; `bars` draws bars; `save` writes any of them to a file.
"""

from dpselect.charts.axes import Axis
from dpselect.charts.bars import bars
from dpselect.charts.files import altair, save
from dpselect.charts.lines import Series, line_panels, lines

__all__ = ["Axis", "Series", "altair", "bars", "line_panels", "lines", "save"]
