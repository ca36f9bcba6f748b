"""Figures 3(c) and 7: permute-and-flip's error on five data sets where the exponential mechanism's is 50."""

from __future__ import annotations

from typing import Any

import numpy as np
from examples.figures.charts import grouped_bars
from examples.figures.figure import Figure, Finding
from examples.figures.table import Table
from examples.paper.dpbench import BINS, NAMES
from examples.paper.mechanisms import EXPONENTIAL, PERMUTE_AND_FLIP, error_column
from examples.paper.problems import FIXED_ERROR, MEDIAN, MODE, RIVALS, Problem, fixed_error

NEAR = 0.1
"""How far from half of the other error, relative to it, still counts as close."""

PROBLEMS = (MODE, MEDIAN)


def table_3c() -> Table:
    """Errors of the mode."""
    return fixed_error(MODE)


def table_7() -> Table:
    """Errors of both problems."""
    mode, median = (fixed_error(problem) for problem in PROBLEMS)
    parts = ((MODE, mode), (MEDIAN, median))
    columns: dict[str, Any] = {"data_set": mode.columns["data_set"]}
    for problem, part in parts:
        columns |= {f"{problem.name}_{name}": column for name, column in part.columns.items() if name != "data_set"}
    return Table(columns)


def findings_3c(table: Table) -> tuple[Finding, ...]:
    """The paper's claim, checked in the numbers."""
    return (_finding(table, MODE, prefix=""),)


def findings_7(table: Table) -> tuple[Finding, ...]:
    """The paper's claim, checked in the numbers, for each problem."""
    return tuple(_finding(table, problem, prefix=f"{problem.name}_") for problem in PROBLEMS)


def figure_3c() -> Figure:
    """The mode."""
    table = table_3c()
    title = "Permute-and-flip's error of the mode where the exponential mechanism's is 50"
    column = table[error_column(PERMUTE_AND_FLIP, MODE.unit)]
    in_records = fixed_error(MODE, error=FIXED_ERROR * MODE.units_per_record)
    records = in_records[error_column(PERMUTE_AND_FLIP, MODE.unit)] / MODE.units_per_record
    listed = ", ".join(f"{error:.1f}" for error in records)
    return Figure(
        name="3c",
        title=title,
        setting="For the mode; figure 7 has the median too. The epsilon of each data set, listed with the numbers, "
        "is found by `planning.epsilon_for`. Both errors are in the paper's unit, twice the count: 50 is 25 records.",
        table=table,
        findings=findings_3c(table),
        draw=lambda: _drawn(table, {"permute-and-flip": column}, title, MODE.axis),
        beyond=f"If the exponential mechanism's error is {FIXED_ERROR:g} records instead, permute-and-flip's is, in "
        f"records and in the same order, {listed}.",
    )


def figure_7() -> Figure:
    """Both problems."""
    table = table_7()
    title = "Permute-and-flip's error where the exponential mechanism's is 50"
    groups = {problem.name: _errors(table, problem, prefix=f"{problem.name}_") for problem in PROBLEMS}
    axis = "expected error (mode: twice the count; median: records)"
    return Figure(
        name="7",
        title=title,
        setting="Like figure 3(c), for both problems: the mode in the paper's unit, twice the count; the median "
        "in records.",
        table=table,
        findings=findings_7(table),
        draw=lambda: _drawn(table, groups, title, axis),
        beyond=_rivals(table),
    )


def _rivals(table: Table) -> str:
    """Why some data sets are farther from half than others."""
    mode, median = (table[f"{problem.name}_{RIVALS}"] for problem in PROBLEMS)
    listed = (f"{data} {one:.3f} and {other:.3f}" for data, one, other in zip(NAMES, mode, median, strict=True))
    return (
        "The error is close to half if the best bin has almost no rivals at that epsilon, and larger if it has some. "
        f"The expected number of other bins whose coin shows heads is, for mode and median, {'; '.join(listed)}."
    )


def _errors(table: Table, problem: Problem, *, prefix: str) -> np.ndarray:
    return table[prefix + error_column(PERMUTE_AND_FLIP, problem.unit)]


def _finding(table: Table, problem: Problem, *, prefix: str) -> Finding:
    errors = _errors(table, problem, prefix=prefix)
    fixed = table[prefix + error_column(EXPONENTIAL, problem.unit)]
    close = np.abs(errors / (fixed / 2) - 1) < NEAR
    listed = ", ".join(f"{data} {error:.1f}" for data, error in zip(table.words("data_set"), errors, strict=True))
    return Finding(
        claim=f"for the {problem.name}, permute-and-flip's error is close to 25 on most data sets",
        found=f"{listed}: within {NEAR:.0%} of {FIXED_ERROR / 2:g} on {close.sum()} of {len(errors)}",
        holds=bool(np.allclose(fixed, FIXED_ERROR, rtol=1e-9) and close.sum() > len(errors) / 2),
    )


def _drawn(table: Table, groups: dict[str, np.ndarray], title: str, axis: str) -> Any:
    return grouped_bars(
        table.words("data_set"),
        {name: list(map(float, column)) for name, column in groups.items()},
        category="data set",
        value=axis,
        title=title,
        subtitle=f"{BINS} bins; each data set at the epsilon that brings the exponential mechanism to 50.",
        marks={FIXED_ERROR: EXPONENTIAL},
    )
