"""The claims about the mechanisms, checked in the numbers of figures 1 and 2."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
from examples.densities.data import AGES, HEPTH_BINS, NAMES
from examples.densities.names import (
    CUT_OFF,
    DEFAULT_ERROR,
    KS_BEST,
    KS_POINTS,
    KS_SOURCE,
    MONOTONE,
    RULE_ERROR,
    SMOOTHED,
    column,
)
from examples.figures.figure import Finding, FloatArray
from examples.figures.table import Table

BINS = {"HEPTH": HEPTH_BINS, "ADULT": len(AGES)}

FITTED_FROM = 1024
"""Slopes are fitted from this number of records on. With fewer, errors are close to those without any data."""

SOURCE_RATE, HISTOGRAM_RATE, NEAR_RATE = -1 / 3, -1.0, 0.1
NEAR_BEST = 0.1
"""How far a slope may differ from a rate, and an error exceed the smallest, and still count as equal."""

ENOUGH = 100
"""Epsilon times records: below, every method is close to a guess."""


def slope(records: FloatArray, errors: FloatArray) -> float:
    """Of log error on log n, by least squares, from `FITTED_FROM` records on.

    >>> round(slope(np.array([64.0, 1024.0, 4096.0]), np.array([9.0, 1 / 32, 1 / 64])), 6)
    -0.5
    """
    fitted = records >= FITTED_FROM
    return float(np.polyfit(np.log(records[fitted]), np.log(errors[fitted]), 1)[0])


def crossing(records: FloatArray, first: FloatArray, second: FloatArray) -> float:
    """From how many records on `second` is below `first`, by lines between logarithms; NaN if it is not in the end.

    >>> round(crossing(np.array([1.0, 100.0]), np.array([1.0, 1.0]), np.array([10.0, 0.1])), 6)
    10.0
    >>> crossing(np.array([1.0, 100.0]), np.array([1.0, 1.0]), np.array([0.1, 2.0]))
    nan
    """
    lead = np.log(second) - np.log(first)
    behind = np.flatnonzero(lead > 0)
    if len(behind) == 0:
        return float(records[0])
    last = int(behind[-1])
    if last == len(records) - 1:
        return math.nan
    share = lead[last] / (lead[last] - lead[last + 1])
    return float(np.exp((1 - share) * np.log(records[last]) + share * np.log(records[last + 1])))


def findings(table: Table, epsilon: float) -> tuple[Finding, ...]:
    """The claims of the source and of this page."""
    parts = {name: table.where("data_set", name) for name in NAMES}
    return (
        _who_is_best(parts),
        _where_noise_wins(parts, epsilon),
        *_rates(parts),
        _size(table, epsilon, "source", "k = n^(2/3) is the size to choose", column(KS_SOURCE)),
        _size(
            table,
            epsilon,
            "rule",
            "a public rule is close to the best k: the largest of 8, 2 √(epsilon n) and epsilon n/m, for m bins",
            RULE_ERROR,
        ),
        _points(table, epsilon),
        _smoothed(table),
    )


def sampling_note(table: Table) -> str:
    """How the errors compare with the sampling error of the data."""
    n, sampling = table["records"], table["sampling_error"]
    beyond = {}
    for method in (KS_BEST, MONOTONE):
        beyond[method] = [
            crossing(*(p[c] for c in ("records", "sampling_error", column(method))))
            for p in (table.where("data_set", name) for name in NAMES)
        ]
    where = {method: _both(found) for method, found in beyond.items()}
    return (
        "An estimate of the distribution behind the data has their sampling error as well, on average at most about "
        f"0.87/√n ({sampling[n.argmin()]:.3f} at n = {n.min():.0f}, {sampling[n.argmax()]:.4f} at "
        f"n = {n.max():,.0f}). On {' and '.join(NAMES)} the error that privacy adds is below it "
        f"{where[MONOTONE]} with noise on the histogram (made monotone), {where[KS_BEST]} with the "
        "Kolmogorov-Smirnov mechanism."
    )


def _who_is_best(parts: Mapping[str, Table]) -> Finding:
    said = []
    for name, part in parts.items():
        n, ours = part["records"], part[column(KS_BEST)]
        for method in (MONOTONE, CUT_OFF):
            at = crossing(n, ours, part[column(method)])
            where = "nowhere" if math.isnan(at) else f"from n = {_rounded(at)} on"
            said.append(f"{name}: {method} has a smaller error {where}")
    last = [float(p[column(KS_BEST)][-1] / p[column(MONOTONE)][-1]) for p in parts.values()]
    records = next(iter(parts.values()))["records"][-1]
    everywhere = all(
        (p[column(KS_BEST)] <= p[column(method)]).all()
        for p in parts.values()
        for method in (MONOTONE, CUT_OFF, SMOOTHED)
    )
    return Finding(
        claim="the Kolmogorov-Smirnov mechanism is the best of the three (class notes on Wasserman and Zhou)",
        found=f"against its best k, {'; '.join(said)}; at n = {records:,.0f} the error of the Kolmogorov-Smirnov "
        f"mechanism is {min(last):.1f} to {max(last):.1f} times that of the histogram with noise, made monotone",
        holds=everywhere,
    )


def _where_noise_wins(parts: Mapping[str, Table], epsilon: float) -> Finding:
    turns = {
        name: epsilon * crossing(*(part[each] for each in ("records", column(KS_BEST), column(MONOTONE)))) / BINS[name]
        for name, part in parts.items()
    }
    return Finding(
        claim="noise on the histogram, made monotone, is better from about epsilon n = 2 m on, for m bins",
        found="; ".join(f"from {turn:.1f} m on ({name}, m = {BINS[name]})" for name, turn in turns.items()),
        holds=all(1 < turn < 3 for turn in turns.values()),
    )


def _rates(parts: Mapping[str, Table]) -> tuple[Finding, Finding]:
    def slopes(method: str) -> list[float]:
        return [slope(part["records"], part[column(method)]) for part in parts.values()]

    def both(values: list[float]) -> str:
        return ", ".join(f"{value:.2f} ({name})" for name, value in zip(parts, values, strict=True))

    source, best, points, noisy = (slopes(each) for each in (KS_SOURCE, KS_BEST, KS_POINTS, MONOTONE))
    return (
        Finding(
            claim="the error of the Kolmogorov-Smirnov mechanism, with k = n^(2/3), is of the order n^(-1/3)",
            found=f"slope of log error on log n: {both(source)}; with the best k {both(best)}; with the base of points "
            f"and the public k {both(points)}",
            holds=all(abs(each - SOURCE_RATE) <= NEAR_RATE for each in source),
        ),
        Finding(
            claim="the error of a noisy histogram is of the order 1/n if the bins are fixed",
            found=f"slope, made monotone: {both(noisy)}",
            holds=all(abs(each - HISTOGRAM_RATE) <= NEAR_RATE for each in noisy),
        ),
    )


def _size(table: Table, epsilon: float, which: str, claim: str, error: str) -> Finding:
    excess = table[error] / table[column(KS_BEST)] - 1
    enough = epsilon * table["records"] >= ENOUGH
    return Finding(
        claim=claim,
        found=f"error above that of the best k by {_percent(excess[enough])} where epsilon n is at least {ENOUGH}, "
        f"by at most {excess.max():.0%} anywhere",
        holds=bool((excess[enough] <= NEAR_BEST).all()),
    )


def _points(table: Table, epsilon: float) -> Finding:
    enough = epsilon * table["records"] >= ENOUGH
    ratio = table[column(KS_POINTS)] / table[RULE_ERROR]
    default = table[DEFAULT_ERROR] / table[column(KS_POINTS)]
    return Finding(
        claim="with the public k the base of points gives a smaller error than that of histograms",
        found=f"{ratio[enough].min():.2f} to {ratio[enough].max():.2f} times that of histograms where epsilon "
        f"n is at least {ENOUGH}; with the size that `DensityMechanism` chooses by itself, it is "
        f"{default[enough].min():.2f} to {default[enough].max():.2f} times that with the public k above",
        holds=bool((ratio[enough] < 1).all()),
    )


def _smoothed(table: Table) -> Finding:
    big = table["records"] >= FITTED_FROM
    others = np.maximum(table[column(KS_SOURCE)], table[column(MONOTONE)])
    ratio = table[column(SMOOTHED)][big] / others[big]
    return Finding(
        claim="draws from the smoothed histogram are worse than both",
        found=f"from n = {FITTED_FROM:,} on the error, with the best k, is {ratio.min():.1f} to {ratio.max():.0f} "
        "times the larger of the other two",
        holds=bool((ratio > 1).all()),
    )


def _both(crossings: list[float]) -> str:
    """From where on, on the two data sets.

    >>> _both([389.0, math.nan]), _both([math.nan, math.nan])
    ('from n = 390 and nowhere', 'nowhere')
    """
    if all(math.isnan(each) for each in crossings):
        return "nowhere"
    return " and ".join("nowhere" if math.isnan(each) else f"from n = {_rounded(each)}" for each in crossings)


def _percent(values: FloatArray) -> str:
    return f"{values.min():.0%} to {values.max():.0%}"


def _rounded(records: float) -> str:
    """Two digits.

    >>> _rounded(1234.0)
    '1,200'
    """
    return f"{float(f'{records:.2g}'):,.0f}"
