"""Figure 3: the error against the number of bins."""

from __future__ import annotations

from typing import Any

import numpy as np
from examples.densities import methods, noisy_histogram
from examples.densities.data import histogram
from examples.densities.findings import crossing
from examples.densities.names import CUT_OFF, KS_POINTS, MONOTONE, RULE_ERROR, SMOOTHED, column, line
from examples.figures.charts import line_panels
from examples.figures.figure import Figure, Finding
from examples.figures.table import Table

from dpselect.charts import Axis, Series

DATA, RECORDS = "HEPTH", 4096
EPSILONS = (1.0, 0.1)
BINS = (16, 64, 256, 1024)
GROWS_FROM = 64
MANY_BINS, MANY_RECORDS = 1024, (1024, 4096, 16384)
"""The numbers of records at which the slope is computed once more."""

KS_PUBLIC = "KS, public k"


def row(epsilon: float, bins: int) -> dict[str, float]:
    """All errors with this number of bins."""
    counts = histogram(DATA, RECORDS, bins)
    k = methods.rule_size(RECORDS, epsilon, bins)
    smoothed_k = methods.best_smoothed_size(DATA, RECORDS, bins, epsilon)
    cut_off, monotone = noisy_histogram.errors(counts, epsilon)
    setting = (DATA, RECORDS, bins, epsilon)
    return {
        "epsilon": epsilon,
        "bins": bins,
        "rule_k": k,
        "smoothed_k": smoothed_k,
        RULE_ERROR: methods.kolmogorov_smirnov(*setting, k).estimate,
        column(KS_POINTS): methods.kolmogorov_smirnov_of_points(*setting, k).estimate,
        column(CUT_OFF): cut_off,
        column(MONOTONE): monotone,
        column(SMOOTHED): methods.smoothed_histogram(*setting, smoothed_k).estimate,
    }


def table() -> Table:
    """All errors at each number of bins, for both epsilons."""
    rows = [row(epsilon, bins) for epsilon in EPSILONS for bins in BINS]
    return Table({name: [each[name] for each in rows] for name in rows[0]})


def findings(table: Table) -> tuple[Finding, ...]:
    """The claims about the number of bins, checked in the numbers."""
    parts = {epsilon: _at(table, epsilon) for epsilon in EPSILONS}
    growth = {method: [_growth(part, method) for part in parts.values()] for method in (column(MONOTONE), RULE_ERROR)}
    said, wins = [], []
    for epsilon, part in parts.items():
        noise, ours = part[column(MONOTONE)], part[RULE_ERROR]
        wins.append(bool((ours <= noise).all()))
        at = crossing(part["bins"], noise, ours)
        said.append(
            f"at epsilon = {epsilon:g} "
            + ("it never is" if np.isnan(at) else "it always is" if wins[-1] else f"it is from about {at:,.0f} bins on")
        )
    low, high = (min(growth[column(MONOTONE)]), max(growth[column(MONOTONE)]))
    return (
        Finding(
            claim="noise on the histogram grows in proportion to the number of bins (class notes: Lap(m Δ/epsilon))",
            found=f"one record changes two counts by one, whatever m is, and the noise of a bin does not depend on m. "
            f"Errors add up in the cumulative counts: the error made monotone grows as m to the power {low:.2f} to "
            f"{high:.2f}, from {GROWS_FROM} to {BINS[-1]:,} bins",
            holds=low > 0.9,
        ),
        Finding(
            claim="the Kolmogorov-Smirnov mechanism's error hardly depends on the number of bins",
            found=f"it grows as m to the power {min(growth[RULE_ERROR]):.2f} to {max(growth[RULE_ERROR]):.2f}",
            holds=max(growth[RULE_ERROR]) < 0.2,
        ),
        Finding(
            claim="with the public k, the Kolmogorov-Smirnov mechanism is better than noise, made monotone",
            found=f"{'; '.join(said)}",
            holds=all(wins),
        ),
    )


def figure_3() -> Figure:
    """Error against the number of bins."""
    numbers = table()
    title = f"Error against the number of bins, {DATA}, {RECORDS:,} records"

    def draw() -> Any:
        panels = {}
        for epsilon in EPSILONS:
            part = _at(numbers, epsilon)
            drawn = [line(each, part["bins"], part[column(each)]) for each in (SMOOTHED, KS_POINTS, CUT_OFF, MONOTONE)]
            panels[f"epsilon = {epsilon:g}"] = [
                *drawn,
                Series(name=KS_PUBLIC, x=part["bins"], y=part[RULE_ERROR], style=1),
            ]
        return line_panels(
            panels,
            x=Axis(title="bins m", log=True),
            y=Axis(title="expected Kolmogorov-Smirnov error", log=True),
            title=title,
            subtitle="Against the data's own distribution over the same bins.",
            width=320,
            height=300,
        )

    return Figure(
        name="3",
        title=title,
        setting=f"{DATA} with {RECORDS:,} records; {', '.join(f'{each:,}' for each in BINS)} bins.",
        table=numbers,
        findings=findings(numbers),
        draw=draw,
        beyond=many_bins_note(),
    )


def many_bins_note() -> str:
    """The rate with so many bins that their number does not matter."""
    slopes = {epsilon: _slope_of_many(epsilon) for epsilon in EPSILONS}
    said = " and ".join(f"{each:.2f} (epsilon = {epsilon:g})" for epsilon, each in slopes.items())
    return (
        f"With {MANY_BINS:,} bins the slope of the Kolmogorov-Smirnov mechanism's log error on log n, from "
        f"{MANY_RECORDS[0]:,} to {MANY_RECORDS[-1]:,} records and with the public k, is {said}. The rate "
        "without bins is -1/2: a distance of δ needs about 1/δ independent points, which costs as many factors of the "
        "base measure, against e^(epsilon n δ/2). The two balance at δ of the order (epsilon n)^(-1/2), with k of the "
        "order (epsilon n)^(1/2). The slopes above are steeper because there are few bins for many records."
    )


def _slope_of_many(epsilon: float) -> float:
    errors = [
        methods.kolmogorov_smirnov(DATA, n, MANY_BINS, epsilon, methods.rule_size(n, epsilon, MANY_BINS)).estimate
        for n in MANY_RECORDS
    ]
    return float(np.polyfit(np.log(MANY_RECORDS), np.log(errors), 1)[0])


def _at(table: Table, epsilon: float) -> Table:
    rows = np.flatnonzero(table["epsilon"] == epsilon)
    return Table({name: list(table[name][rows]) for name in table.columns})


def _growth(part: Table, method: str) -> float:
    many = part["bins"] >= GROWS_FROM
    return float(np.polyfit(np.log(part["bins"][many]), np.log(part[method][many]), 1)[0])
