"""The curves of a line chart, checked and turned into rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np
import numpy.typing as npt

from dpselect.charts.axes import Axis, FloatArray
from dpselect.charts.checks import text, vector
from dpselect.charts.style import BEST_APART, LINE_COLOURS
from dpselect.charts.thinning import MOST_POINTS, thinned
from dpselect.errors import InvalidParameterError, Shown

MOST_SERIES = len(LINE_COLOURS)
"""In one chart: as many as can be told apart in grey."""

Row = dict[str, str | float | bool | None]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Series:
    """One curve: y as a function of x.

    Args:
        name: what the legend calls it.
        x: shape ``(m,)``, m >= 2, finite, in any order; the unit is the axis'.
        y: shape ``(m,)``; where it is not finite (or not positive, on a log axis) the curve has a gap.
        style: which dash and colour of the house style, from 0 (solid, black) to 5 (dotted, the lightest). Default:
            chosen so that the curves of a chart are best told apart; the first is 0, of two the other is 2, of three
            the last is 5. Give it where a curve has to look the same in several charts.

    Raises:
        InvalidParameterError: `x` or `y` is not such an array, or `style` not such a number.

    >>> Series(name="permute-and-flip", x=[0.1, 1.0], y=[20.0, 2.0]).y
    array([20.,  2.])
    """

    name: str
    x: npt.ArrayLike
    y: npt.ArrayLike
    style: int | None = None

    def __post_init__(self) -> None:
        text("name", self.name, "a text for the legend")
        x, y = (vector(side, getattr(self, side), "a one-dimensional array of numbers") for side in ("x", "y"))
        if len(x) != len(y) or len(x) < 2:
            raise InvalidParameterError("y", Shown(f"<{len(y)} numbers>"), f"as many as x has ({len(x)}), at least 2")
        if not np.isfinite(x).all():
            raise InvalidParameterError("x", Shown("<NaN or infinity among them>"), "finite numbers")
        style = cast(object, self.style)
        is_place = isinstance(style, int) and not isinstance(style, bool) and style in range(MOST_SERIES)
        if style is not None and not is_place:
            raise InvalidParameterError("style", style, f"a whole number from 0 to {MOST_SERIES - 1}")
        order = np.argsort(x, kind="stable")
        object.__setattr__(self, "x", x[order])
        object.__setattr__(self, "y", y[order])

    @property
    def points(self) -> tuple[FloatArray, FloatArray]:
        """x, ascending, and y."""
        return cast(FloatArray, self.x), cast(FloatArray, self.y)


def checked_series(series: object) -> list[Series]:
    """`series` as a list, if one chart can show them."""
    given = list(cast("Sequence[object]", series)) if isinstance(series, Sequence) else [None]
    checked = [each for each in given if isinstance(each, Series)]
    if len(checked) < len(given):
        raise InvalidParameterError("series", cast(object, series), "a list of Series")
    if not 1 <= len(checked) <= MOST_SERIES:
        hint = "Show more of them in line_panels." if checked else ""
        raise InvalidParameterError("series", Shown(f"<{len(checked)} series>"), f"1 to {MOST_SERIES} of them", hint)
    if len({each.name for each in checked}) != len(checked):
        raise InvalidParameterError("series", Shown("<two of one name>"), "series with different names")
    return checked


def styles_of(series: Sequence[Series]) -> dict[str, int]:
    """Which dash and colour each curve gets: the one it asks for; of the rest those best apart, the darkest first."""
    asked = {each.style for each in series}
    open_places = sum(each.style is None for each in series)
    free = iter(sorted([style for style in BEST_APART if style not in asked][:open_places]))
    return {each.name: next(free) if each.style is None else each.style for each in series}


def from_top(series: Sequence[Series], y: Axis) -> list[str]:
    """Names in the order in which the curves arrive at the right edge, the highest first: so the legend lists them."""

    def last_height(one: Series) -> float:
        heights = one.points[1][y.drawable(one.points[1])]
        return float(heights[-1]) if len(heights) else -np.inf

    return [one.name for one in sorted(series, key=last_height, reverse=True)]


def rows_of(series: Sequence[Series], x: Axis, y: Axis) -> tuple[list[Row], str]:
    """The points to draw, and what has to be said of those left out (nothing, as a rule).

    A point between two gaps is marked as alone: a line does not show it.
    """
    rows: list[Row] = []
    said = ""
    at_most = MOST_POINTS // len(series)
    for one in series:
        across, up = one.points
        placed = x.drawable(across)
        across, up = across[placed], np.where(y.drawable(up), up, np.nan)[placed]
        if len(across) > at_most:
            kept = thinned(np.log(across) if x.log else across, up, at_most=at_most)
            said = f"Of up to {at_most:,} points drawn per line, each is the lowest or highest of those near it."
            across, up = across[kept], up[kept]
        drawn = np.concatenate([[False], np.isfinite(up), [False]])
        alone = drawn[1:-1] & ~drawn[:-2] & ~drawn[2:]
        rows += [
            {
                "series": one.name,
                "x": float(across[i]),
                "y": float(up[i]) if drawn[i + 1] else None,
                **({"alone": True} if alone[i] else {}),
            }
            for i in range(len(across))
        ]
    return rows, said
