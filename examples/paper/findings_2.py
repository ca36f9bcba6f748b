"""What figure 2 shows: how far from the optimum each mechanism is, and where it reaches the optimum."""

from __future__ import annotations

import math
from collections.abc import Callable
from math import comb

import numpy as np
from examples.figures.figure import Finding, FloatArray
from examples.figures.table import Table

THRESHOLD = math.log((3 + math.sqrt(5)) / 2)
"""The epsilon from which permute-and-flip is optimal, by the paper's theorem 3 (at sensitivity 1)."""

SOLVED = 1e-6
"""Ratios closer to 1 than this count as 1: the accuracy that the solver is asked for."""

FINE = 2e-4
"""How precisely the epsilon is determined at which a ratio becomes 1."""


def ratios(table: Table) -> FloatArray:
    """Shape ``(curves, epsilons)``."""
    return np.array([table[name] for name in table.columns if name.startswith("ratio")])


def near_one(table: Table, varied: str) -> tuple[Finding, ...]:
    """The paper's claims about permute-and-flip, checked in the numbers."""
    epsilon, ratio = table["epsilon"], ratios(table)
    above = epsilon >= THRESHOLD
    off = np.abs(ratio[:, above] - 1).max()
    worst = epsilon[ratio.max(axis=0).argmax()]
    spread = np.ptp(ratio, axis=0).max()
    return (
        Finding(
            claim=f"permute-and-flip is exactly optimal above epsilon = {THRESHOLD:.4f}",
            found=f"the ratio is within {max(off, 1e-12):.0e} of 1 at the {above.sum()} epsilons in the figure from "
            "there on",
            holds=bool(off < SOLVED),
        ),
        Finding(
            claim="below, the ratio is never much above 1.01",
            found=f"at most {ratio.max():.4f}, at epsilon = {worst:.3g}",
            holds=bool(SOLVED < ratio.max() - 1 < 0.015),
        ),
        Finding(
            claim=f"it barely depends on {varied}",
            found=f"two curves differ by at most {spread:.4f} at any epsilon",
            holds=bool(spread < 0.015),
        ),
    )


def far_from_one(table: Table) -> tuple[Finding, ...]:
    """The paper's claims about the exponential mechanism, checked in the numbers."""
    epsilon, ratio = table["epsilon"], ratios(table)
    least, last = ratio.min(axis=0), ratio[:, -1]
    from_threshold = least[epsilon >= THRESHOLD]
    return (
        Finding(
            claim="the exponential mechanism is clearly above the optimum",
            found=f"at least {from_threshold.min():.3f} times the optimum from epsilon = {THRESHOLD:.4f} on; less "
            f"below, where every mechanism is close to a blind guess: {ratio[:, 0].min():.4f} to "
            f"{ratio[:, 0].max():.4f} times at epsilon = {epsilon[0]:g}",
            holds=bool(least.min() > 1 + SOLVED and from_threshold.min() > 1.1),
        ),
        Finding(
            claim="it tends to twice the optimum for large epsilon",
            found=f"it rises with epsilon, but to less than 2: {last[0]:.4f} (fewest steps) to {last[-1]:.4f} (most "
            f"steps) times at epsilon = {epsilon[-1]:g}",
            holds=bool(last.min() > 1.98 and last.max() < 2 + SOLVED),
        ),
    )


def limit(candidates: int, steps: int) -> float:
    """The exponential mechanism's error over permute-and-flip's, summed over the lattice, as epsilon grows.

    In the limit only scores one step below the best count. If k scores are the best, each score one step below is
    selected with probability p/k and p/(k + 1), p = exp(-epsilon).

    >>> limit(2, 1), limit(2, 10**6) > 1.99
    (2.0, True)
    """
    numerator = denominator = 0.0
    for best in range(1, candidates):
        for next_best in range(1, candidates - best + 1):
            rest = candidates - best - next_best
            vectors = comb(candidates, best) * comb(candidates - best, next_best) * (steps - 1) ** rest
            numerator += vectors * next_best / best
            denominator += vectors * next_best / (best + 1)
    return numerator / denominator


def optimal_from(ratio: Callable[[float], float], low: float, high: float) -> float:
    """The epsilon between `low` and `high` from which a ratio is 1, to within `FINE` above.

    >>> round(optimal_from(lambda epsilon: max(1.0, 2.0 - epsilon), 0.5, 1.5), 3)
    1.0
    """
    while high - low > FINE:
        middle = (low + high) / 2
        low, high = (middle, high) if ratio(middle) > 1 + SOLVED else (low, middle)
    return high
