"""Figure 1(c): the largest expected error over all scores, against the number of candidates."""

from __future__ import annotations

from typing import Any

import numpy as np
from examples.figures.figure import Figure, Finding, falls
from examples.figures.table import Table
from examples.paper.mechanisms import EXPONENTIAL, MECHANISMS, PERMUTE_AND_FLIP, SCORE_UNIT, curve, error_column

from dpselect import planning
from dpselect.charts import Axis, Series, lines

EPSILON = SENSITIVITY = 1.0
COUNTS = sorted({*range(2, 11), *(round(10 ** (step / 12)) for step in range(12, 49))})
"""Candidates: 2 to 10^4."""

FAR = 10**9
"""Candidates, beyond the paper's range."""

LOWER, UPPER, WORST = "lower_bound_score_units", "upper_bound_score_units", "worst_case_score_units"


def _worst(mechanism: str, n: int) -> float:
    return planning.worst_case_error(MECHANISMS[mechanism], n, epsilon=EPSILON, sensitivity=SENSITIVITY)


def table_1c() -> Table:
    """Worst-case expected errors and the bounds, at each number of candidates."""
    bounds = [
        planning.worst_case_bounds(MECHANISMS[PERMUTE_AND_FLIP], n, epsilon=EPSILON, sensitivity=SENSITIVITY)
        for n in COUNTS
    ]
    return Table(
        {
            "candidates": COUNTS,
            **{error_column(name, WORST): [_worst(name, n) for n in COUNTS] for name in MECHANISMS},
            LOWER: [each.lower for each in bounds],
            UPPER: [each.upper for each in bounds],
        }
    )


def findings_1c(table: Table) -> tuple[Finding, ...]:
    """The paper's claims, checked in the numbers."""
    n = table["candidates"]
    larger, smaller = (table[error_column(name, WORST)] for name in (EXPONENTIAL, PERMUTE_AND_FLIP))
    ratio = larger / smaller
    within = [(table[LOWER] <= each) & (each <= table[UPPER]) for each in (larger, smaller)]
    return (
        Finding(
            claim="the ratio of the two worst-case errors is largest at n = 2",
            found=f"{ratio[0]:.3f} at n = {n[0]:.0f}, {ratio[1]:.3f} at n = {n[1]:.0f}, less for every larger n",
            holds=bool(n[0] == 2 and ratio.argmax() == 0),
        ),
        Finding(
            claim="it falls towards 1",
            found=f"it falls at every n in the figure, to {ratio[-1]:.3f} at n = {n[-1]:,.0f}",
            holds=falls(ratio) and bool(1 < ratio[-1] < 1.05),
        ),
        Finding(
            claim="both errors are between the two bounds",
            found=f"permute-and-flip's is {(smaller / table[LOWER]).min():.2f} to {(smaller / table[LOWER]).max():.2f} "
            f"times the lower bound, the exponential mechanism's {(larger / table[UPPER]).min():.2f} to "
            f"{(larger / table[UPPER]).max():.2f} times the upper bound",
            holds=bool(np.all(within)),
        ),
    )


def figure_1c() -> Figure:
    """Worst-case expected errors against the number of candidates."""
    table = table_1c()
    title = "Worst-case expected error of one selection"

    def draw() -> Any:
        curves = [curve(name, table["candidates"], table[error_column(name, WORST)]) for name in MECHANISMS]
        bounds = [
            Series(name="upper bound, 2 ln n", x=table["candidates"], y=table[UPPER], style=3),
            Series(name="lower bound, (ln n)/2", x=table["candidates"], y=table[LOWER], style=5),
        ]
        x = Axis(title="number of candidates n", log=True, lowest=1.0, highest=1e4)
        y = Axis(title=f"worst-case expected error ({SCORE_UNIT})", log=True)
        return lines(
            [*curves, *bounds],
            x=x,
            y=y,
            title=title,
            subtitle="Epsilon = 1, sensitivity 1; the largest over all scores.",
        )

    far = _worst(EXPONENTIAL, FAR) / _worst(PERMUTE_AND_FLIP, FAR)
    return Figure(
        name="1c",
        title=title,
        setting=f"Epsilon = {EPSILON:g}, sensitivity {SENSITIVITY:g}; errors are in the unit of the scores, from "
        "`planning.worst_case_error`. The bounds are (sensitivity/2 epsilon) ln n and (2 sensitivity/epsilon) ln n.",
        table=table,
        findings=findings_1c(table),
        draw=draw,
        beyond=f"At n = {FAR:,} the ratio is {far:.4f}. [Claim 4](../../proofs/error_bounds.md) proves that no "
        "scores are worse than one best score with all others equal.",
    )
