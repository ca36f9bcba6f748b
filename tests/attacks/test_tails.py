"""Attack: what noise of low resolution can never bring about proves that somebody is there when it comes.

Source: Haney et al. (2022), Ilvento (2020).
"""

from __future__ import annotations

import math

import numpy as np
import pytest

import dpselect as dps
from tests.attacks import naive

RESOLUTION = 1 << 24
"""How many uniform numbers of 32-bit floats there are: each 2^-24."""

WITHOUT, WITH = [60, 26], [60, 27]
"""Scores without and with one person, who has the second candidate."""


def outcomes(scores: list[int]) -> int:
    """With how many of all uniform numbers the naive script selects the second candidate: its law, in full."""
    uniform = np.arange(RESOLUTION, dtype=np.float32) / np.float32(RESOLUTION)
    return int(naive.select(scores, 1.0, uniform).sum())


def test_a_naive_selection_that_falls_into_the_tail_proves_somebody() -> None:
    """Impossible without the person, possible with: no epsilon bounds that."""
    assert outcomes(WITHOUT) == 0
    assert outcomes(WITH) > 0


def test_here_the_tail_is_as_likely_as_it_should_be() -> None:
    for mechanism in (
        dps.ExponentialMechanism(epsilon=1.0, sensitivity=1),
        dps.PermuteAndFlip(epsilon=1.0, sensitivity=1),
        dps.ReportNoisyMax(epsilon=1.0, sensitivity=1),
    ):
        without, present = mechanism.pmf(np.array(WITHOUT)), mechanism.pmf(np.array(WITH))
        assert 0.0 < without[1] < present[1] <= math.e * without[1] * (1 + 1e-9)


def test_here_the_tail_is_drawn() -> None:
    """A candidate of probability 2^-18 of numbers of which a generator of 16 bits has none.

    It is missed in 2^23 draws with probability below e^-31, and drawn more than 128 times with even less.
    """
    gap = 18 * math.log(2)
    drawn = dps.ExponentialMechanism(epsilon=1.0, sensitivity=0.5).select_many(np.array([gap, 0.0]), 1 << 23)
    assert 0 < int(drawn.sum()) <= 128


class Constant:
    """A generator whose next number is known."""

    def __init__(self, number: float) -> None:
        self.random = lambda: number


def test_the_noise_of_a_naive_script_ends_somewhere() -> None:
    """With a double 37 scales away: what is farther away proves another number. At 0 itself there is an error."""
    assert abs(naive.laplace(Constant(2.0**-53), 1.0)) < 37.0  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="math domain error"):
        naive.laplace(Constant(0.0), 1.0)  # type: ignore[arg-type]


def test_here_noise_ends_nowhere() -> None:
    mechanism = dps.LaplaceMechanism(epsilon=1.0, sensitivity=1)
    for distance in (37.0, 100.0, 700.0):
        beyond = [float(mechanism.cdf(value, [-distance])[0]) for value in (0, 1)]
        assert 0.0 < beyond[1] < beyond[0] <= math.e * beyond[1] * (1 + 1e-9)
