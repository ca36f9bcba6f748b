"""Heat maps: a number for each pair of a row and a column, in a tile that is darker for a larger number."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from dpselect.charts.bars import LINE, NUMBER, in_lines, lines_beside_bars
from dpselect.charts.files import altair
from dpselect.charts.theme import BAR_COLOURS, DARK, LABELS_AXIS, finished

if TYPE_CHECKING:
    from altair import LayerChart

_WIDE, _HIGH = 84, 34
"""Pixels of a tile."""


def tiles(
    places: Sequence[tuple[str, str]],
    values: Sequence[float],
    *,
    categories: tuple[str, str],
    value: str,
    title: str,
    subtitle: str = "",
    from_zero: bool = True,
) -> LayerChart:
    """A chart of one tile for each place, with its number in it; places that are not listed stay empty.

    Args:
        places: the row and the column of each number, both in the order in which they first occur.
        values: a number for each place.
        categories: what the rows are, and what the columns are.
        value: what the numbers are, with their unit.
        title: what is shown.
        subtitle: under which conditions.
        from_zero: whether the shades begin at 0, as for amounts, or at the smallest number.

    Raises:
        MissingExtraError: the extra ``plots`` is not installed.

    >>> chart = tiles([("n", "f"), ("s", "f")], [3, 41], categories=("region", "sex"), value="people", title="People")
    >>> [(row["row"], row["column"], row["value"]) for rows in chart.to_dict()["datasets"].values() for row in rows]
    [('n', 'f', 3), ('s', 'f', 41)]
    """
    alt = altair()
    shown = [(in_lines(row), in_lines(column)) for row, column in places]
    rows, columns = (list(dict.fromkeys(names)) for names in zip(*shown, strict=True))
    shaded = [*values, 0.0] if from_zero else values
    lowest, highest = min(shaded), max(shaded)
    data = [
        {"row": row, "column": column, "value": number} for (row, column), number in zip(shown, values, strict=True)
    ]
    most_lines = 1 + max(row.count("\n") for row in rows)
    beside = LABELS_AXIS | {"domain": False} | (lines_beside_bars(most_lines) if most_lines > 1 else {})
    base = alt.Chart({"values": data}).encode(
        x=alt.X("column:N", sort=columns, title=categories[1]).axis(
            orient="top", labelAngle=0, domain=False, ticks=False, labelExpr="split(datum.label, '\\n')"
        ),
        y=alt.Y("row:N", sort=rows, title=categories[0]).axis(**beside),
        tooltip=["row:N", "column:N", alt.Tooltip("value:Q", title=value)],
    )
    shades = alt.Scale(domain=[lowest, highest], range=["#f2f5fa", BAR_COLOURS[0]])
    told = {"expr": f"datum.row + ', ' + datum.column + ': ' + {NUMBER}"}
    filled = base.mark_rect(stroke="white", strokeWidth=2, description=told).encode(
        color=alt.Color("value:Q", scale=shades, legend=None)
    )
    written = base.mark_text(text={"expr": NUMBER}, aria=False).encode(
        color=alt.when(f"datum.value > {(lowest + highest) / 2.0}").then(alt.value("white")).otherwise(alt.value(DARK))
    )
    sized = alt.layer(filled, written).properties(
        width=alt.Step(_WIDE), height=alt.Step(_HIGH + LINE * (most_lines - 1))
    )
    return finished(sized, title, subtitle)
