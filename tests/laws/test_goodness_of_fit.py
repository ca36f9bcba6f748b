"""The statistical test itself: how often it is wrong, computed and not tried."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from tests.laws.goodness_of_fit import NEVER, Together, likelihood_ratio, p_value


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


def test_small_deviations_add_up() -> None:
    """Of a law that none of many samples refutes alone; those of the right law never do."""
    rng, right, wrong = np.random.default_rng(3), Together(), Together()
    law, other = np.array([0.25, 0.75]), np.array([0.28, 0.72])
    for _ in range(100):
        right.add(rng.multinomial(1000, law), law)
        wrong.add(rng.multinomial(1000, other), law)
        assert p_value(rng.multinomial(1000, other), law) > NEVER
    assert right.p_value > 1e-3
    assert wrong.p_value < NEVER
    wrong.add(np.array([1, 0]), np.array([0.0, 1.0]))
    assert wrong.p_value == 0.0
    assert Together().p_value == 1.0


@pytest.mark.slow
def test_very_many_rare_outcomes_do_not_add_up_to_a_deviation() -> None:
    """Without the correction they would: each statistic is a little too large on average."""
    rng, together, law, plain = np.random.default_rng(4), Together(), np.full(20, 0.05), 0.0
    for counts in rng.multinomial(400, law, 60_000):
        together.add(counts, law)
        plain += likelihood_ratio(counts, law)[0]
    assert abs(together.statistic - together.freedom) < 5.0 * np.sqrt(2.0 * together.freedom)
    assert plain - together.freedom > 5.0 * np.sqrt(2.0 * together.freedom)
