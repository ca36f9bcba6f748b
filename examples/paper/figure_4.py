"""Figure 4: noisy max with Laplace noise next to the two mechanisms, on one best score, 0, and the others all c."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from examples.figures.charts import marked_lines
from examples.figures.figure import Figure, Finding
from examples.figures.table import Table
from examples.paper.mechanisms import (
    EXPONENTIAL,
    LAPLACE,
    MECHANISMS,
    PERMUTE_AND_FLIP,
    SCORE_UNIT,
    curve,
    error_column,
)
from scipy.optimize import brentq

import dpselect as dps
from dpselect.charts import Axis

EPSILON = SENSITIVITY = 1.0
CANDIDATES = 3
SCORES = f"({'c, ' * (CANDIDATES - 1)}0)"
ALL = {**MECHANISMS, LAPLACE: partial(dps.ReportNoisyMax, noise="laplace")}
LOWEST = -20.0
C = [LOWEST + step / 10 for step in range(201)]
MORE = (2, 4, 10, 100, 1000)
"""Numbers of candidates for which the crossing is computed too."""


def _error(mechanism: str, c: float, candidates: int = CANDIDATES) -> float:
    made = ALL[mechanism](epsilon=EPSILON, sensitivity=SENSITIVITY)
    return made.expected_error([c] * (candidates - 1) + [0.0])


def crossing(candidates: int) -> float | None:
    """The c below 0 at which Laplace noise and the exponential mechanism have the same error, if there is one.

    >>> round(crossing(3), 2), crossing(2)
    (-3.7, None)
    """

    def excess(c: float) -> float:
        return _error(LAPLACE, c, candidates) / _error(EXPONENTIAL, c, candidates) - 1.0

    better = (c for c in (-0.5, -1.0, -2.0, -4.0, -8.0, -16.0) if excess(c) < 0)
    near = next(better, None)
    return None if near is None else float(brentq(excess, 3 * LOWEST, near, xtol=1e-10))


def table_4() -> Table:
    """Expected errors at each c."""
    return Table({"c_score_units": C, **{error_column(name): [_error(name, c) for c in C] for name in ALL}})


def findings_4(table: Table) -> tuple[Finding, ...]:
    """The paper's claims, checked in the numbers."""
    c, larger, smaller, noisy = (
        table["c_score_units"],
        *(table[error_column(name)] for name in (EXPONENTIAL, PERMUTE_AND_FLIP, LAPLACE)),
    )
    below = c < 0
    wins = below & (noisy < larger)
    loses = below & (noisy > larger)
    nearest, farthest = below.nonzero()[0][-1], 0
    edge = c[wins].min() if wins.any() else np.nan
    at_once = np.minimum(larger, noisy)[below] / smaller[below]
    return (
        Finding(
            claim="noisy max has a smaller error than the exponential mechanism when c is near 0",
            found=f"smaller from c = {edge:.1f} up to c = {c[nearest]:.1f}, by at most "
            f"{(1 - noisy[below] / larger[below]).max():.2%}",
            holds=bool(wins[nearest] and not loses[c >= edge].any()),
        ),
        Finding(
            claim="noisy max has a larger one when c is far below 0",
            found=f"larger at every c below {edge:.1f}: {noisy[farthest] / larger[farthest]:.1f} times "
            f"at c = {c[farthest]:g}",
            holds=bool(loses[farthest] and not wins[c < edge].any()),
        ),
        Finding(
            claim="permute-and-flip beats both",
            found=f"at each of {below.sum()} c below 0 its error is the smallest: the smaller of the other two is "
            f"{at_once.min():.3f} to {at_once.max():.3f} times as large",
            holds=bool((at_once > 1).all()),
        ),
    )


def figure_4() -> Figure:
    """Expected errors against c."""
    table = table_4()
    title = f"Expected error of three mechanisms on the scores {SCORES}"
    here = crossing(CANDIDATES)
    marks = {here: f"c = −{-here:.2f}: the upper two cross"}
    elsewhere = {n: crossing(n) for n in MORE}
    others = "; ".join(f"{c:.2f} for n = {n}" for n, c in elsewhere.items() if c is not None)
    never = ", ".join(str(n) for n, c in elsewhere.items() if c is None)

    def draw() -> Any:
        curves = [curve(name, table["c_score_units"], table[error_column(name)]) for name in ALL]
        x = Axis(title="c, the score of all but the best (unit of the scores)", lowest=LOWEST, highest=0.0)
        y = Axis(title=f"expected error ({SCORE_UNIT})", lowest=0.0)
        subtitle = "One best score and the others equal; epsilon = 1, sensitivity 1."
        return marked_lines(curves, x=x, y=y, title=title, subtitle=subtitle, marks=marks)

    return Figure(
        name="4",
        title=title,
        setting=f"Scores {SCORES}, epsilon = {EPSILON:g}, sensitivity {SENSITIVITY:g}; errors are in the unit of the "
        f"scores. The number of candidates, {CANDIDATES}, is our choice. Laplace noise has scale "
        "2 sensitivity/epsilon.",
        table=table,
        findings=findings_4(table),
        draw=draw,
        beyond=f"Noisy max and the exponential mechanism have the same error at c = {here:.4f}. For other numbers n of "
        f"candidates: {others}; for n = {never} noisy max is never better.",
    )
