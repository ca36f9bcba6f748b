"""The likelihood-ratio chi-square test of counts, whose far tail can be trusted.

Pearson's statistic overstates how unlikely a large count in a rare cell is, a hundredfold at one in 10^9. The
likelihood ratio follows the true tail; rare cells are put together all the same.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from scipy import special, stats

NEVER = 1e-10
"""Below it a law is refuted. A right law comes below it less than once in 10^9 runs (tested, not assumed)."""

RARE = 20.0


def p_value(counts: np.ndarray, probabilities: np.ndarray) -> float:
    """Probability of counts as unlikely as these, or more so, if `probabilities` were their law.

    Args:
        counts: shape ``(m,)``, how often each outcome came.
        probabilities: shape ``(m,)``, sums to 1.
    """
    statistic, freedom, _ = likelihood_ratio(counts, probabilities)
    return float(stats.chi2.sf(statistic, freedom)) if freedom else float(statistic == 0.0)


def likelihood_ratio(counts: np.ndarray, probabilities: np.ndarray) -> tuple[float, int, float]:
    """The statistic, its degrees of freedom, and how many times too large it is on average (Williams, 1976)."""
    expected = probabilities * counts.sum()
    if np.any(counts[expected == 0.0] > 0):
        return np.inf, 0, 1.0
    seen, hoped = _without_rare_cells(counts.astype(float), expected)
    if hoped.size == 1:
        return 0.0, 0, 1.0
    statistic = 2.0 * float(special.xlogy(seen, seen / hoped).sum())
    freedom = hoped.size - 1
    excess = float((1.0 / hoped).sum() - 1.0 / hoped.sum()) / (6.0 * freedom)
    return max(statistic, 0.0), freedom, 1.0 + excess


class Together:
    """Counts of many kinds, each with a law of its own, and one decision: what all are off by a little counts."""

    def __init__(self) -> None:
        self.statistic, self.freedom = 0.0, 0

    def add(self, counts: np.ndarray, probabilities: np.ndarray) -> None:
        statistic, freedom, excess = likelihood_ratio(counts, probabilities)
        self.statistic += statistic / excess
        self.freedom += freedom

    @property
    def p_value(self) -> float:
        return float(stats.chi2.sf(self.statistic, self.freedom)) if self.freedom else float(self.statistic == 0.0)


def _without_rare_cells(counts: np.ndarray, expected: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Cells in order of expectation, put together until each expects `RARE`; what is left joins the last."""
    order = np.argsort(expected)
    starts, together = [0], 0.0
    for position, each in enumerate(expected[order]):
        together += each
        if together >= RARE:
            starts.append(position + 1)
            together = 0.0
    if starts[-1] != order.size and len(starts) > 1:
        starts.pop()
    ends = [*starts[1:], order.size] if starts[-1] != order.size else starts[1:]
    cells = [order[start:end] for start, end in pairwise([starts[0], *ends])]
    return np.array([counts[cell].sum() for cell in cells]), np.array([expected[cell].sum() for cell in cells])
