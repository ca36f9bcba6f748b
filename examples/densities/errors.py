"""Figures 1 and 2: the error of every way to release a distribution, against the number of records."""

from __future__ import annotations

import math
from typing import Any

from examples.densities import methods, noisy_histogram
from examples.densities.data import HEPTH_BINS, NAMES, histogram
from examples.densities.findings import findings, sampling_note
from examples.densities.names import (
    CUT_OFF,
    DEFAULT_ERROR,
    KS_BEST,
    KS_POINTS,
    KS_SOURCE,
    LINES,
    MONOTONE,
    RULE_ERROR,
    SMOOTHED,
    column,
    line,
)
from examples.figures.charts import line_panels
from examples.figures.figure import Figure
from examples.figures.table import Table

from dpselect.charts import Axis

RECORDS = tuple(4**power for power in range(3, 9))


def row(name: str, n: int, epsilon: float) -> dict[str, str | float]:
    """All errors on one data set of `n` records."""
    counts = histogram(name, n)
    m = len(counts)
    sizes = {
        "source": methods.source_size(n),
        "best": methods.best_size(name, n, HEPTH_BINS, epsilon),
        "rule": methods.rule_size(n, epsilon, m),
        "default": methods.default_size(n, epsilon),
        "smoothed": methods.best_smoothed_size(name, n, HEPTH_BINS, epsilon),
    }
    setting = (name, n, HEPTH_BINS, epsilon)
    smoothed = methods.smoothed_histogram(*setting, sizes["smoothed"])
    cut_off, monotone = noisy_histogram.errors(counts, epsilon)
    return {
        "data_set": name,
        "records": n,
        **{f"{which}_k": k for which, k in sizes.items()},
        column(KS_SOURCE): methods.kolmogorov_smirnov(*setting, sizes["source"]).estimate,
        column(KS_BEST): methods.kolmogorov_smirnov(*setting, sizes["best"]).estimate,
        RULE_ERROR: methods.kolmogorov_smirnov(*setting, sizes["rule"]).estimate,
        column(KS_POINTS): methods.kolmogorov_smirnov_of_points(*setting, sizes["rule"]).estimate,
        DEFAULT_ERROR: methods.kolmogorov_smirnov_of_points(*setting, sizes["default"]).estimate,
        column(CUT_OFF): cut_off,
        column(MONOTONE): monotone,
        column(SMOOTHED): smoothed.estimate,
        "smoothed_error_at_least": smoothed.low,
        "smoothed_error_at_most": smoothed.high,
        "sampling_error": math.sqrt(math.pi / 2) * math.log(2) / math.sqrt(n),
    }


def table(epsilon: float) -> Table:
    """All errors at each number of records, for both data sets."""
    rows = [row(name, n, epsilon) for name in NAMES for n in RECORDS]
    return Table({name: [each[name] for each in rows] for name in rows[0]})  # type: ignore[arg-type]


def figure_1() -> Figure:
    """Epsilon 1."""
    return _figure("1", 1.0)


def figure_2() -> Figure:
    """Epsilon 0.1."""
    return _figure("2", 0.1)


def _figure(name: str, epsilon: float) -> Figure:
    numbers = table(epsilon)
    title = f"Error of a released distribution, epsilon = {epsilon:g}"

    def draw() -> Any:
        panels = {}
        for data in NAMES:
            part = numbers.where("data_set", data)
            panels[data] = [line(each, part["records"], part[column(each)]) for each in LINES]
        return line_panels(
            panels,
            x=Axis(title="records n", log=True),
            y=Axis(title="expected Kolmogorov-Smirnov error", log=True),
            title=title,
            subtitle="Against the data's own distribution; one record replaced changes the law by epsilon at most.",
            width=320,
            height=300,
        )

    return Figure(
        name=name,
        title=title,
        setting=f"Epsilon = {epsilon:g} under replace-one; HEPTH in {HEPTH_BINS} bins, the ages of ADULT in "
        f"{len(histogram('ADULT', 64))}; powers of four from {min(RECORDS)} to {max(RECORDS):,} records.",
        table=numbers,
        findings=findings(numbers, epsilon),
        draw=draw,
        beyond=sampling_note(numbers),
    )
