"""Figures 1(a) and 1(b): errors and their ratio on one best score, 0, and the others all c."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from examples.figures.figure import Figure, Finding, falls
from examples.figures.table import Table
from examples.paper.mechanisms import EXPONENTIAL, MECHANISMS, PERMUTE_AND_FLIP, SCORE_UNIT, curve, error_column

from dpselect.charts import Axis, Series, lines

EPSILON = SENSITIVITY = 1.0
CANDIDATES = 3
SCORES = f"({'c, ' * (CANDIDATES - 1)}0)"
"""In figure 1(a)."""

COUNTS = (2, 3, 4, 10)
"""Candidates in figure 1(b)."""

_NEAR_ZERO = (1e-6, 1e-5, 1e-4, 1e-3, 2e-3, 5e-3)
P = sorted([*_NEAR_ZERO, *(step / 100 for step in range(1, 100)), 1 / CANDIDATES, 0.995, 0.999])
"""What p = exp(c/b) is drawn for, b the scale."""

_P_AXIS = Axis(title="p = exp(epsilon c / 2 sensitivity), c the score of all but the best", lowest=0.0, highest=1.0)


def _error(mechanism: str, p: float, candidates: int) -> float:
    made = MECHANISMS[mechanism](epsilon=EPSILON, sensitivity=SENSITIVITY)
    return made.expected_error([made.scale * math.log(p)] * (candidates - 1) + [0.0])


def table_1a() -> Table:
    """Expected errors at each p, 1 included."""
    errors = {error_column(name): [_error(name, p, CANDIDATES) for p in [*P, 1.0]] for name in MECHANISMS}
    return Table({"p": [*P, 1.0], **errors})


def findings_1a(table: Table) -> tuple[Finding, ...]:
    """The paper's claims, checked in the numbers."""
    p, larger, smaller = table["p"], table[error_column(EXPONENTIAL)], table[error_column(PERMUTE_AND_FLIP)]
    inside = p < 1.0
    saved = 1.0 - smaller[inside] / larger[inside]
    ends = np.array([larger[0], smaller[0], larger[-1], smaller[-1]])
    peaks = [float(p[each.argmax()]) for each in (larger, smaller)]
    shares = [float(np.interp(1 / CANDIDATES, p, each) / each.max()) for each in (larger, smaller)]
    return (
        Finding(
            claim="permute-and-flip's error is below the exponential mechanism's for every p",
            found=f"below it at each of {inside.sum()} p, by {saved.min():.2%} (at p = {p[inside][saved.argmin()]:g}) "
            f"to {saved.max():.2%} (at p = {p[saved.argmax()]:g})",
            holds=bool((saved > 0).all()),
        ),
        Finding(
            claim="both errors tend to 0 as p → 0 and are 0 at p = 1",
            found=f"at p = {p[0]:g} they are {larger[0]:.1e} and {smaller[0]:.1e}, at p = {p[-1]:g} "
            f"{larger[-1]:g} and {smaller[-1]:g}",
            holds=bool((ends[:2] < 1e-3 * larger.max()).all() and (ends[2:] == 0).all()),
        ),
        Finding(
            claim="both errors are largest in the middle, near p = 1/n",
            found=f"largest at p = {peaks[0]:.2f} (exponential mechanism) and {peaks[1]:.2f} (permute-and-flip), "
            f"where 1/n is {1 / CANDIDATES:.2f}; at p = 1/n they are {shares[0]:.0%} and {shares[1]:.0%} of the "
            "largest",
            holds=min(shares) > 0.9,
        ),
    )


def figure_1a() -> Figure:
    """Expected errors against p."""
    table = table_1a()
    title = f"Expected error of two mechanisms on the scores {SCORES}"

    def draw() -> Any:
        curves = [curve(name, table["p"], table[error_column(name)]) for name in MECHANISMS]
        y = Axis(title=f"expected error ({SCORE_UNIT})", lowest=0.0)
        return lines(
            curves,
            x=_P_AXIS,
            y=y,
            title=title,
            subtitle="One best score and the others equal; epsilon = 1, sensitivity 1.",
        )

    return Figure(
        name="1a",
        title=title,
        setting=f"Scores {SCORES}, epsilon = {EPSILON:g}, sensitivity {SENSITIVITY:g}; errors are in the unit of the "
        "scores, from `expected_error` of the two mechanisms.",
        table=table,
        findings=findings_1a(table),
        draw=draw,
    )


def table_1b() -> Table:
    """The ratio of the errors at each p, for each number of candidates."""
    columns: dict[str, list[float]] = {"p": P}
    for n in COUNTS:
        columns[f"ratio_{n}_candidates"] = [_error(EXPONENTIAL, p, n) / _error(PERMUTE_AND_FLIP, p, n) for p in P]
    return Table(columns)


def findings_1b(table: Table) -> tuple[Finding, ...]:
    """The paper's claims, checked in the numbers."""
    p = table["p"]
    ratios = np.array([table[f"ratio_{n}_candidates"] for n in COUNTS])
    middle = 1.5
    crossings = np.array([np.interp(middle, each[::-1], p[::-1]) for each in ratios])
    listed = ", ".join(f"{crossing:.3f} (n = {n})" for crossing, n in zip(crossings, COUNTS, strict=True))
    return (
        Finding(
            claim="the ratio is between 1 and 2",
            found=f"from {ratios.min():.6f} to {ratios.max():.6f}",
            holds=bool((ratios >= 1).all() and (ratios <= 2).all()),
        ),
        Finding(
            claim="it tends to 2 as p → 0",
            found=f"at p = {p[0]:g} it is at least {ratios[:, 0].min():.6f}, and it rises all the way as p falls",
            holds=bool(ratios[:, 0].min() > 1.9999) and all(falls(each) for each in ratios),
        ),
        Finding(
            claim="the p for a fixed ratio falls with n",
            found=f"the ratio is {middle} at p = {listed}; at every p it falls with n",
            holds=falls(crossings) and all(falls(each) for each in ratios.T),
        ),
    )


def figure_1b() -> Figure:
    """The ratio of the errors against p."""
    table = table_1b()
    title = "The exponential mechanism's expected error as a multiple of permute-and-flip's"

    def draw() -> Any:
        curves = [Series(name=f"{n} candidates", x=table["p"], y=table[f"ratio_{n}_candidates"]) for n in COUNTS]
        y = Axis(title="ratio of expected errors", lowest=1.0, highest=2.0)
        return lines(curves, x=_P_AXIS, y=y, title=title, subtitle="Scores (c, ..., c, 0): one best, the others equal.")

    return Figure(
        name="1b",
        title=title,
        setting=f"Scores (c, ..., c, 0) of n = {', '.join(map(str, COUNTS))} candidates. A ratio has no unit, and "
        "depends on epsilon and the sensitivity only through p.",
        table=table,
        findings=findings_1b(table),
        draw=draw,
        beyond="The paper leaves open whether the ratio can be above 2. It cannot, whatever the scores are: "
        "[claim 3](../../proofs/permute_and_flip.md).",
    )
