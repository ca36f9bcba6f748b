"""How much a top k loses on average: exponential noise once against permute-and-flip one after another.

The shapes are those of counts: slowly falling, Zipf's, evenly spaced, and a group that is far ahead.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import integrate, stats

import dpselect as dps

N = 1000
RANKS = np.arange(1, N + 1)
FAR = 6.5
"""Standard deviations: a mean is off by more in one run of 10^10."""


class Case(NamedTuple):
    """A vector of counts, and the mean loss of a selected one by noise once over that of one after another."""

    counts: NDArray[np.float64]
    k: int
    epsilon: float
    ratio: float

    @property
    def once(self) -> Callable[[], NDArray[np.int64]]:
        """One draw."""
        mechanism = dps.ExponentialNoiseTopK(epsilon=self.epsilon, sensitivity=1.0, k=self.k, monotonic=True)
        return lambda: np.asarray(mechanism.select(self.counts))

    @property
    def peeled(self) -> Callable[[], NDArray[np.int64]]:
        """One draw, at the same cost without a delta."""
        mechanism = dps.PermuteAndFlip(epsilon=self.epsilon / self.k, sensitivity=1.0, monotonic=True)
        return lambda: np.asarray(mechanism.peel(self.counts, self.k))

    def loss(self, draw: Callable[[], NDArray[np.int64]], draws: int) -> tuple[float, float]:
        """The mean loss of a selected candidate, and its standard error."""
        best = np.sort(self.counts)[-self.k :].sum()
        losses = np.array([best - self.counts[draw()].sum() for _ in range(draws)]) / self.k
        return float(losses.mean()), float(losses.std() / draws**0.5)


CASES = {
    "falling, 10 at 0.1": Case(2000 / np.sqrt(RANKS), 10, 0.1, 0.848),
    "falling, 30": Case(2000 / np.sqrt(RANKS), 30, 1.0, 0.738),
    "falling, 100": Case(2000 / np.sqrt(RANKS), 100, 1.0, 0.855),
    "Zipf, 100": Case(20000 / RANKS, 100, 1.0, 0.835),
    "Zipf, 100 at 0.2": Case(20000 / RANKS, 100, 0.2, 0.902),
    "even, 10": Case(1000.0 - RANKS, 10, 1.0, 0.787),
    "20 ahead, 10": Case(np.where(RANKS <= 20, 60.0, 0.0), 10, 1.0, 0.817),
}


def exact_loss_of_the_group(scale: float) -> float:
    """Of "20 ahead, 10": 60 times the expected share of others among the selected."""
    k, ahead, behind = 10, 20, N - 20

    def density(height: float) -> float:
        above = np.exp(-height / scale), min(1.0, np.exp(-(height - 60.0) / scale))
        fewer = np.arange(k)
        group = stats.binom.pmf(fewer, ahead, above[1])
        return behind * above[0] / scale * float(group @ stats.binom.cdf(k - 1 - fewer, behind - 1, above[0]))

    found = [integrate.quad(density, *ends, limit=200)[0] for ends in ((0.0, 60.0), (60.0, 60.0 + 40.0 * scale))]
    return 60.0 / k * sum(found)


def test_the_mean_loss_is_the_exact_one() -> None:
    case = CASES["20 ahead, 10"]
    mean, error = case.loss(case.once, 2000)
    assert abs(mean - exact_loss_of_the_group(scale=10.0)) < FAR * error
    # The control: less noise by a fifth would be seen.
    assert abs(mean - exact_loss_of_the_group(scale=8.0)) > 2 * FAR * error


def test_noise_once_loses_less_than_one_after_another() -> None:
    case = CASES["even, 10"]
    once, peeled = case.loss(case.once, 1000), case.loss(case.peeled, 1000)
    assert once[0] + FAR * np.hypot(once[1], peeled[1]) < peeled[0]


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_the_ratio_of_both_losses(name: str) -> None:
    """Within 3 percent, and what chance adds."""
    case = CASES[name]
    draws = {10: 20_000, 30: 10_000, 100: 3_000}[case.k]
    once, peeled = case.loss(case.once, draws), case.loss(case.peeled, draws)
    ratio = once[0] / peeled[0]
    assert abs(ratio / case.ratio - 1.0) < 0.03 + FAR * np.hypot(once[1] / once[0], peeled[1] / peeled[0])
    assert ratio < 1.0
