"""Figures 5 and 6: both errors on five data sets, for the mode and for the median."""

from __future__ import annotations

from typing import Any

from examples.figures.charts import line_panels
from examples.figures.figure import Figure, Finding
from examples.figures.table import Table
from examples.paper.dpbench import BINS, NAMES
from examples.paper.mechanisms import MECHANISMS, curve, error_column
from examples.paper.problems import LEAST_ERROR, MEDIAN, MODE, STEPS, Problem, curves, ratios

from dpselect.charts import Axis

_SETTING = (
    f"{BINS} bins; {STEPS} equal steps of epsilon on each data set, up to where both errors are below {LEAST_ERROR:g}."
)


def table_5() -> Table:
    """Errors of the mode."""
    return curves(MODE, NAMES)


def table_6() -> Table:
    """Errors of the median."""
    return curves(MEDIAN, NAMES)


def findings_5(table: Table) -> tuple[Finding, ...]:
    """The paper's claims, checked in the numbers."""
    return _findings(table, MODE)


def findings_6(table: Table) -> tuple[Finding, ...]:
    """The paper's claims, checked in the numbers."""
    return _findings(table, MEDIAN)


def figure_5() -> Figure:
    """The mode."""
    table, title = table_5(), "Expected error of the private mode of five data sets"
    setting = f"The fullest of {_SETTING} Errors in the paper's unit, twice the count."
    return Figure(
        name="5",
        title=title,
        setting=setting,
        table=table,
        findings=findings_5(table),
        draw=lambda: _drawn(table, MODE, title),
    )


def figure_6() -> Figure:
    """The median."""
    table, title = table_6(), "Expected error of the private median of five data sets"
    setting = f"The bin of the median among {_SETTING} Errors in records, as in figure 3(b)."
    return Figure(
        name="6",
        title=title,
        setting=setting,
        table=table,
        findings=findings_6(table),
        draw=lambda: _drawn(table, MEDIAN, title),
    )


def _findings(table: Table, problem: Problem) -> tuple[Finding, ...]:
    by_data = {data: ratios(table.where("data_set", data), problem) for data in NAMES}
    ends = "; ".join(f"{data} {ratio[0]:.3f} to {ratio[-1]:.3f}" for data, ratio in by_data.items())
    least, most = (limit(float(limit(ratio)) for ratio in by_data.values()) for limit in (min, max))
    return (
        Finding(
            claim="the ratio of the errors is between 1 and 2 on every data set",
            found=f"between {least:.6f} and {most:.6f} at all {len(table)} points",
            holds=bool(least >= 1 and most <= 2),
        ),
        Finding(
            claim="on every data set it goes from 1 at small epsilon to 2",
            found=ends,
            holds=all(ratio[0] < 1.05 and ratio[-1] > 1.95 for ratio in by_data.values()),
        ),
    )


def _drawn(table: Table, problem: Problem, title: str) -> Any:
    panels = {}
    for data in NAMES:
        rows = table.where("data_set", data)
        panels[data] = [curve(name, rows["epsilon"], rows[error_column(name, problem.unit)]) for name in MECHANISMS]
    x, y = Axis(title="epsilon", lowest=0.0), Axis(title=problem.axis, log=True, lowest=LEAST_ERROR)
    subtitle = f"{BINS} bins each; curves are cut where the error is below {LEAST_ERROR:g}."
    return line_panels(panels, x=x, y=y, title=title, subtitle=subtitle, width=290)
