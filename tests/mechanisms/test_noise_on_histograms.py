"""Histograms with geometric noise: whose noise it is, and what is made of it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpselect.mechanisms import GeometricMechanism
from dpselect.mechanisms.density import shares


def test_the_loss_between_neighbours_is_epsilon_and_not_more() -> None:
    points = np.arange(-30, 40)

    def loss(here: tuple[int, ...], there: tuple[int, ...], noise: GeometricMechanism) -> float:
        pairs = zip(here, there, strict=True)
        return sum(float(np.abs(np.log(noise.pmf(a, points) / noise.pmf(b, points))).max()) for a, b in pairs)

    replacing = GeometricMechanism(epsilon=0.7, sensitivity=2)
    assert loss((3, 0, 4), (2, 1, 4), replacing) == pytest.approx(0.7)
    adding = GeometricMechanism(epsilon=0.7, sensitivity=1)
    assert loss((3, 0, 4), (3, 1, 4), adding) == pytest.approx(0.7)
    assert loss((3, 0, 4), (2, 1, 4), adding) == pytest.approx(1.4)  # what replacing costs at the other's noise


@pytest.mark.parametrize("noisy", [[3, 0, 1], [-5, 2, 2], [0, 0, -1], [7], [9, -3, 2, -1, 0, -2, 4], [-2, 9, 5, -3]])
def test_shares_are_a_distribution(noisy: list[int]) -> None:
    found = shares(np.array(noisy))
    assert found.sum() == pytest.approx(1.0)
    assert found.min() >= 0.0


@given(st.lists(st.integers(-5, 9), min_size=1, max_size=8))
def test_no_distribution_of_the_sum_is_nearer_to_the_cumulative_counts(noisy: list[int]) -> None:
    reached = np.cumsum(noisy)
    total = int(reached[-1])
    if total <= 0:
        return
    made = np.cumsum(shares(np.array(noisy))) * total
    inside = np.clip(reached, 0, total)
    # What decreases between two places cannot be followed closer than by half of it.
    falls = [inside[i] - inside[j] for i in range(len(noisy)) for j in range(i, len(noisy))]
    assert np.abs(made - inside).max() == pytest.approx(max(falls) / 2)
    assert np.diff(made).min(initial=0.0) >= -1e-9


def test_cutting_off_at_zero_would_be_further_from_many_empty_bins() -> None:
    counts = np.zeros(1024, dtype=np.int64)
    counts[200:210] = 400
    truth = np.cumsum(counts) / counts.sum()
    errors = []
    for _ in range(20):
        noisy = GeometricMechanism(epsilon=1.0, sensitivity=1).draw_many(counts)
        cut = np.cumsum(np.maximum(noisy, 0)) / np.maximum(noisy, 0).sum()
        errors.append((np.abs(np.cumsum(shares(noisy)) - truth).max(), np.abs(cut - truth).max()))
    mine, cut_off = np.mean(errors, axis=0)
    assert mine < cut_off / 2
