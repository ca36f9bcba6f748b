"""Counts combined with gaps: the weights of the best linear estimate, less variance, and a bound that holds."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

import dpselect as dps
from dpselect.mechanisms import ExponentialNoiseTopK, GeometricMechanism
from dpselect.questions.combined_counts import combined, combined_counts
from dpselect.questions.gap import ReleasedGap

K, CANDIDATES, SCALE = 10, 30, 20.0
ZIPF = np.array([2000 * 100 // (place + 1) for place in range(CANDIDATES)])
EQUAL = np.full(CANDIDATES, 500)


def test_the_weights_are_those_of_least_squares() -> None:
    """Among all linear estimates without bias: the normal equations."""
    k, share = 3, 0.5  # variances: of counts 1, of the noise that selects a half
    for true in product((0, 3, 10), repeat=k):
        found = combined(list(true), [float(true[i] - true[i + 1]) for i in range(k - 1)], share=0.5, step=0.0)
        assert found == pytest.approx([float(each) for each in true])  # without noise, the truth
    weights = np.array(
        [combined([int(i == j) for j in range(k)], [0.0] * (k - 1), share=0.5, step=0.0) for i in range(k)]
    )
    of_gaps = np.array(
        [combined([0] * k, [float(i == j) for j in range(k - 1)], share=0.5, step=0.0) for i in range(k - 1)]
    )
    differences = np.array([[1.0, -1.0, 0.0], [0.0, 1.0, -1.0]])
    measured = np.vstack([np.eye(3), differences])
    covariance = np.zeros((5, 5))
    covariance[:3, :3] = np.eye(3)
    covariance[3:, 3:] = share * differences @ differences.T
    precision = np.linalg.inv(covariance)
    best = np.linalg.solve(measured.T @ precision @ measured, measured.T @ precision)
    assert pytest.approx(best) == np.vstack([weights, of_gaps]).T
    assert np.diag(np.linalg.inv(measured.T @ precision @ measured)) == pytest.approx((1 + 3 / 2) / (3 * 1.5))


@pytest.mark.sampled(1)
@pytest.mark.parametrize(("counts", "ratio"), [(ZIPF, 0.4), (EQUAL, None)])
def test_the_variance_is_lower_and_the_bound_holds(counts: Any, ratio: float | None) -> None:
    selection = ExponentialNoiseTopK(epsilon=K / SCALE, sensitivity=1.0, monotonic=True, k=K)
    noise = GeometricMechanism(epsilon=K / SCALE, sensitivity=K)
    assert selection.scale == noise.scale == SCALE
    alone, together, beyond, narrow, draws = 0.0, 0.0, 0, 0, 1500
    for _ in range(draws):
        leads = selection.select_with_gaps(counts)
        true = counts[np.array(leads.winners)]
        gap = ReleasedGap(value=[*leads.gaps], step=leads.step, noise="exponential", scale=leads.scale)
        numbers = noise.draw_many(true).tolist()
        better = combined_counts(numbers, gap, noise, k=K, n_candidates=CANDIDATES)
        away = np.array(better.counts) - true
        alone += float(((np.array(numbers) - true) ** 2).mean()) / draws
        together += float((away**2).mean()) / draws
        beyond += bool((abs(away) > better.within).any())
        narrow += bool((abs(away) > better.within / 5).any())
    assert beyond <= 50  # of 1500 at 99 %: fifteen are allowed on average
    assert narrow > 50  # control
    if ratio is not None:
        assert better.variance_ratio == pytest.approx(ratio, rel=0.01)
        assert 0.33 < together / alone < 0.48  # its deviation is about 0.01


def test_where_there_is_one() -> None:
    people = dps.Dataset("examples/data/adult.csv", unit="person_id")
    asked: dict[str, Any] = {"candidates": range(1, 17), "epsilon": 1.0}
    for without in ({"with_counts": True}, {"with_gap": True}, {"max_values_per_unit": 1, "with_gap": True}):
        assert people.top_k("education_num", 6, **asked, **without).combined_counts is None
    both: Any = people.top_k("education_num", 2, **asked, with_counts=True, with_gap=True, by="age", groups=[20, 30])
    assert {group: len(each) for group, each in both.combined_counts.counts.items()} == {20: 2, 30: 2}
    assert dps.Release.from_json(both.to_json()).combined_counts == both.combined_counts
    all_of: Any = people.top_k("education_num", 3, candidates=[9, 10, 13], epsilon=1e5, with_counts=True, with_gap=True)
    assert all_of.combined_counts.counts == pytest.approx([10501, 7291, 5355], abs=1)
