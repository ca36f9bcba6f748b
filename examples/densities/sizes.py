"""Figure 4: the error against the size of the sample."""

from __future__ import annotations

from typing import Any

import numpy as np
from examples.densities import methods
from examples.densities.data import HEPTH_BINS, NAMES, histogram
from examples.figures.charts import line_panels
from examples.figures.figure import Figure, Finding
from examples.figures.table import Table

from dpselect.charts import Axis, Series

RECORDS, EPSILON = 4096, 1.0
SIZES = tuple(2**power for power in range(2, 10))

CURVES = {
    "KS, all histograms alike": ("histograms_error", 1),
    "KS, uniform points": ("points_error", 3),
    "smoothed histogram": ("smoothed_error", 0),
}


def row(name: str, k: int) -> dict[str, str | float]:
    """All errors of samples of size `k`."""
    setting = (name, RECORDS, HEPTH_BINS, EPSILON, k)
    laws = (methods.kolmogorov_smirnov, methods.kolmogorov_smirnov_of_points, methods.smoothed_histogram)
    errors = [law(*setting).estimate for law in laws]
    columns = [column for column, _ in CURVES.values()]
    return {"data_set": name, "k": k, **dict(zip(columns, errors, strict=True))}


def table() -> Table:
    """All errors at each size, for both data sets."""
    rows = [row(name, k) for name in NAMES for k in SIZES]
    return Table({name: [each[name] for each in rows] for name in rows[0]})  # type: ignore[arg-type]


def findings(table: Table) -> tuple[Finding, ...]:
    """The claims about the size, checked in the numbers."""
    parts = [table.where("data_set", name) for name in NAMES]
    best = {curve: [int(p["k"][p[column].argmin()]) for p in parts] for curve, (column, _) in CURVES.items()}
    public = [methods.rule_size(RECORDS, EPSILON, len(histogram(name, RECORDS))) for name in NAMES]
    losses = {
        column: [float(p[column][-1] / p[column].min()) for p in parts]
        for column in ("histograms_error", "points_error")
    }
    few = [float((p["histograms_error"] * p["k"])[p["k"] <= RECORDS ** (1 / 3)].min()) for p in parts]
    near = [abs(np.log2(k / rule)) for curve in list(CURVES)[:2] for k, rule in zip(best[curve], public, strict=True)]
    said = "; ".join(f"{curve}: {', '.join(map(str, sizes))}" for curve, sizes in best.items())
    return (
        Finding(
            claim="the public k is within a factor of two of the best, for both base measures",
            found=f"the public k is {', '.join(map(str, public))} on {' and '.join(NAMES)}; the best: {said}",
            holds=max(near) <= 1,
        ),
        Finding(
            claim="once it is large enough, the size hardly matters",
            found=f"with k up to n^(1/3) the error is at least {min(few):.2f}/k; with k = {SIZES[-1]:,} it is "
            f"{max(losses['histograms_error']):.2f} times the smallest if all histograms have the same weight, "
            f"{max(losses['points_error']):.1f} times if points are uniform, whose own influence grows with k",
            holds=max(*losses["histograms_error"], *losses["points_error"]) < 1.1,
        ),
    )


def figure_4() -> Figure:
    """Error against the size of the sample."""
    numbers = table()
    title = f"Error against the size of the sample, {RECORDS:,} records, epsilon = {EPSILON:g}"

    def draw() -> Any:
        panels = {}
        for name in NAMES:
            part = numbers.where("data_set", name)
            panels[name] = [
                Series(name=curve, x=part["k"], y=part[column], style=style)
                for curve, (column, style) in CURVES.items()
            ]
        return line_panels(
            panels,
            x=Axis(title="size k of the sample", log=True),
            y=Axis(title="expected Kolmogorov-Smirnov error", log=True),
            title=title,
            subtitle="Exact laws; the two KS mechanisms differ in what samples weigh before their distance counts.",
            width=320,
            height=300,
        )

    return Figure(
        name="4",
        title=title,
        setting=f"{RECORDS:,} records, epsilon = {EPSILON:g}, the bins of figure 1; powers of two from {SIZES[0]} to "
        f"{SIZES[-1]:,} points.",
        table=numbers,
        findings=findings(numbers),
        draw=draw,
    )
