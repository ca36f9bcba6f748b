"""Figures 3(a) and 3(b): both errors on one data set, for the mode and for the median."""

from __future__ import annotations

from typing import Any

import numpy as np
from examples.figures.figure import Figure, Finding
from examples.figures.table import Table
from examples.paper.alternating_sum import alternating_sum
from examples.paper.dpbench import BINS, load
from examples.paper.mechanisms import MECHANISMS, curve, error_column
from examples.paper.problems import LEAST_ERROR, MEDIAN, MODE, SENSITIVITY, STEPS, Problem, curves, ratios

import dpselect as dps
from dpselect.charts import Axis, lines

DATA_SET = "HEPTH"


def table_3a() -> Table:
    """Errors of the mode at each epsilon."""
    return curves(MODE, (DATA_SET,))


def table_3b() -> Table:
    """Errors of the median at each epsilon."""
    return curves(MEDIAN, (DATA_SET,))


def findings_3a(table: Table) -> tuple[Finding, ...]:
    """The paper's claims, checked in the numbers."""
    return _findings(table, MODE, at=0.04, about=1.84)


def findings_3b(table: Table) -> tuple[Finding, ...]:
    """The paper's claims, checked in the numbers."""
    return _findings(table, MEDIAN, at=0.01, about=1.9)


def figure_3a() -> Figure:
    """The mode of HEPTH."""
    table = table_3a()
    title = f"Expected error of the private mode of {DATA_SET}"
    return Figure(
        name="3a",
        title=title,
        setting=f"The fullest of {BINS} bins; {_grid(table)}. Errors in the paper's unit, twice the count.",
        table=table,
        findings=findings_3a(table),
        draw=lambda: _drawn(table, MODE, title),
        beyond=_breakdown(table),
    )


def figure_3b() -> Figure:
    """The median of HEPTH."""
    table = table_3b()
    title = f"Expected error of the private median of {DATA_SET}"
    return Figure(
        name="3b",
        title=title,
        setting=f"The bin of the median among {BINS}; a bin's score is minus the number of records to add or remove "
        f"until it holds the median, so errors are in records; {_grid(table)}.",
        table=table,
        findings=findings_3b(table),
        draw=lambda: _drawn(table, MEDIAN, title),
    )


def _findings(table: Table, problem: Problem, *, at: float, about: float) -> tuple[Finding, ...]:
    epsilon, ratio = table["epsilon"], ratios(table, problem)
    here = float(np.interp(at, epsilon, ratio))
    return (
        Finding(
            claim=f"the ratio of the errors is about {about} at epsilon = {at}",
            found=f"{here:.3f}",
            holds=abs(here - about) < 0.01,
        ),
        Finding(
            claim="it goes from 1 at small epsilon to 2",
            found=f"{ratio[0]:.3f} at epsilon = {epsilon[0]:g}, {ratio[-1]:.3f} at epsilon = {epsilon[-1]:g}; "
            f"never below {ratio.min():.3f} or above {ratio.max():.3f}",
            holds=bool(ratio.min() >= 1 and ratio[0] < 1.05 and ratio[-1] > 1.95 and ratio.max() <= 2),
        ),
    )


def _drawn(table: Table, problem: Problem, title: str) -> Any:
    x = Axis(title="epsilon", lowest=0.0, highest=float(table["epsilon"][-1]))
    y = Axis(title=problem.axis, log=True, lowest=LEAST_ERROR)
    both = [curve(name, table["epsilon"], table[error_column(name, problem.unit)]) for name in MECHANISMS]
    subtitle = f"{BINS} bins; curves are cut where the error is below {LEAST_ERROR:g}."
    return lines(both, x=x, y=y, title=title, subtitle=subtitle)


def _grid(table: Table) -> str:
    return f"{STEPS} equal steps of epsilon up to {table['epsilon'][-1]:g}, where both errors are below {LEAST_ERROR:g}"


def _breakdown(table: Table) -> str:
    """Where the paper's formula for the probabilities fails in doubles on this data set."""
    counts = load(DATA_SET)
    below = counts - counts.max()
    sums = [float(alternating_sum(np.exp(epsilon / SENSITIVITY * below)).sum()) for epsilon in table["epsilon"]]
    wrong = [epsilon for epsilon, total in zip(table["epsilon"], sums, strict=True) if not abs(total - 1) < 1e-3]
    here = (dps.PermuteAndFlip(epsilon=each, sensitivity=SENSITIVITY, monotonic=True) for each in table["epsilon"])
    farthest = max(abs(float(mechanism.pmf(counts).sum()) - 1) for mechanism in here)
    return (
        f"The paper computes permute-and-flip's {BINS} probabilities by an alternating sum. In doubles their sum is "
        f"{sums[0]:.1e} at epsilon = {table['epsilon'][0]:g}. The largest epsilon in the figure at which it differs "
        f"from 1 by more than a thousandth is {max(wrong):g}. The sum of the probabilities used here differs by "
        f"{farthest:.0e} at most."
    )
