"""The statistical test itself: how often it is wrong, computed and not tried."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from tests.laws.goodness_of_fit import NEVER, p_value


@pytest.mark.slow
@pytest.mark.parametrize("probability", [0.01, 0.02, 0.1, 0.5, 0.9])
def test_a_right_law_is_refuted_less_than_once_in_a_billion_runs(probability: float) -> None:
    draws = 2000
    refuted = [
        hits
        for hits in range(draws + 1)
        if p_value(np.array([hits, draws - hits]), np.array([probability, 1 - probability])) < NEVER
    ]
    assert 0.0 < stats.binom.pmf(refuted, draws, probability).sum() < 1e-9


def test_rare_outcomes_are_put_together() -> None:
    probabilities = np.r_[0.9, np.full(1000, 1e-4)]
    typical = np.r_[900, np.tile([0, 0, 0, 0, 1, 0, 0, 0, 0, 0], 100)]
    assert p_value(typical, probabilities) > 0.1
    assert p_value(np.r_[700, np.tile([0, 0, 1, 0, 1, 0, 0, 0, 1, 0], 100)], probabilities) < NEVER


def test_an_impossible_outcome_refutes() -> None:
    assert p_value(np.array([999, 1]), np.array([1.0, 0.0])) == 0.0
    assert p_value(np.array([1000, 0]), np.array([1.0, 0.0])) == 1.0


def test_a_single_rare_outcome_does_not() -> None:
    assert p_value(np.array([999, 1]), np.array([1.0 - 1e-4, 1e-4])) > 1e-3
