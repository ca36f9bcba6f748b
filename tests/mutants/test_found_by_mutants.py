"""Tests that were missing until an error of the list went unnoticed."""

from __future__ import annotations

import math

import numpy as np
import pytest

import dpselect as dps
from tests.laws.goodness_of_fit import NEVER, p_value

DRAWS = 40_000


@pytest.mark.parametrize("n", [3, 5, 64, 512])
def test_both_routes_of_permute_and_flip_taken_one_after_the_other_have_the_law(n: int) -> None:
    """One best, and one other head to be expected: most draws first visit some items and then list all heads."""
    scores = np.zeros(n)
    scores[n // 3] = 2.0 * math.log(n - 1)
    mechanism, wrong = (dps.PermuteAndFlip(epsilon=epsilon, sensitivity=1.0) for epsilon in (1.0, 1.1))
    draws = np.array([mechanism.select(scores) for _ in range(DRAWS)])
    counts = np.bincount(draws, minlength=n)
    best_or_not = counts[n // 3] * np.array([1, -1]) + np.array([0, DRAWS])
    for each, expected in ((mechanism, True), (wrong, False)):
        best = each.pmf(scores)[n // 3]
        assert (p_value(best_or_not, np.array([best, 1.0 - best])) >= NEVER) is expected
    assert p_value(counts, mechanism.pmf(scores)) >= NEVER
