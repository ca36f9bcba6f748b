"""The claim itself, by exact probabilities: between neighbours no probability changes by more than e^epsilon."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import hypothesis.extra.numpy as hnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dpselect as dps
from tests.laws.subjects import KINDS, epsilons, every_kind, score_vectors

Kind = Callable[..., Any]


def loss(mechanism: Any, scores: np.ndarray, shift: np.ndarray) -> float:
    """Largest absolute log-ratio of the probabilities on both neighbours."""
    return float(np.abs(np.log(mechanism.pmf(scores)) - np.log(mechanism.pmf(scores + shift))).max())


@every_kind
@given(scores=score_vectors(min_size=2), epsilon=epsilons, sensitivity=st.floats(0.1, 3.0), data=st.data())
def test_loss_never_exceeds_epsilon(
    kind: Kind, scores: np.ndarray, epsilon: float, sensitivity: float, data: st.DataObject
) -> None:
    shift = data.draw(hnp.arrays(np.float64, scores.size, elements=st.floats(-sensitivity, sensitivity)))
    assert loss(kind(epsilon=epsilon, sensitivity=sensitivity), scores, shift) <= epsilon + 1e-9


@every_kind
@given(scores=score_vectors(min_size=2), epsilon=epsilons, sensitivity=st.floats(0.15, 3.0), data=st.data())
def test_loss_of_monotone_neighbours_never_exceeds_epsilon(
    kind: Kind, scores: np.ndarray, epsilon: float, sensitivity: float, data: st.DataObject
) -> None:
    shift = data.draw(hnp.arrays(np.float64, scores.size, elements=st.floats(0.0, sensitivity)))
    mechanism = kind(epsilon=epsilon, sensitivity=sensitivity, monotonic=True)
    assert loss(mechanism, scores, shift) <= epsilon + 1e-9
    assert loss(mechanism, scores, -shift) <= epsilon + 1e-9


@every_kind
@given(scores=score_vectors(min_size=2, max_size=9), epsilon=epsilons, data=st.data())
def test_loss_at_the_corners_never_exceeds_epsilon(
    kind: Kind, scores: np.ndarray, epsilon: float, data: st.DataObject
) -> None:
    """Every score moved as far as it may: where the losses are largest."""
    shift = data.draw(hnp.arrays(np.float64, scores.size, elements=st.sampled_from([-1.0, 1.0])))
    assert loss(kind(epsilon=epsilon, sensitivity=1.0), scores, shift) <= epsilon + 1e-9


FAR_BELOW = np.array([0.0, 30.0, 30.0])
APART = np.array([1.0, -1.0, -1.0])


@every_kind
def test_the_bound_is_reached_so_there_is_no_slack_to_hide_in(kind: Kind) -> None:
    assert loss(kind(epsilon=1.0, sensitivity=1.0), FAR_BELOW, APART) > 0.9


@every_kind
def test_half_the_sensitivity_is_not_private(kind: Kind) -> None:
    assert loss(kind(epsilon=1.0, sensitivity=0.5), FAR_BELOW, APART) > 1.8


@every_kind
def test_calling_scores_monotone_that_are_not_is_not_private(kind: Kind) -> None:
    assert loss(kind(epsilon=1.0, sensitivity=1.0, monotonic=True), FAR_BELOW, APART) > 1.8


def test_the_counterexample_to_laplace_noise_without_the_factor_two() -> None:
    mechanism = dps.ReportNoisyMax(epsilon=1.0, sensitivity=1.0, monotonic=True, noise="laplace")
    assert loss(mechanism, np.array([0.0, 4.0, 4.0]), APART) == pytest.approx(1.976, abs=5e-4)


@pytest.mark.parametrize("bounded_range", ["exponential mechanism", "Gumbel noise"])
@given(scores=score_vectors(min_size=2), epsilon=epsilons, data=st.data())
def test_bounded_range(bounded_range: str, scores: np.ndarray, epsilon: float, data: st.DataObject) -> None:
    shift = data.draw(hnp.arrays(np.float64, scores.size, elements=st.floats(-1.0, 1.0)))
    assert spread(KINDS[bounded_range](epsilon=epsilon, sensitivity=1.0), scores, shift) <= epsilon + 1e-9


@pytest.mark.parametrize("kind", [dps.PermuteAndFlip, KINDS["Laplace noise"]])
def test_the_others_are_not_of_bounded_range_and_their_events_say_so(kind: Kind) -> None:
    mechanism = kind(epsilon=1.0, sensitivity=1.0)
    scores = np.r_[np.zeros(400), 5.0]
    assert spread(mechanism, scores, np.r_[1.0, -np.ones(399), 1.0]) > 1.05
    assert isinstance(mechanism.event, dps.accounting.LaplaceProfileEvent)


def spread(mechanism: Any, scores: np.ndarray, shift: np.ndarray) -> float:
    """Largest loss minus smallest, signs kept."""
    losses = np.log(mechanism.pmf(scores)) - np.log(mechanism.pmf(scores + shift))
    return float(losses.max() - losses.min())


@pytest.mark.parametrize("name", ["permute-and-flip", "Laplace noise", "exponential noise"])
@given(scores=score_vectors(min_size=2), epsilon=epsilons, at=st.floats(-1.0, 1.0), data=st.data())
def test_the_laplace_profile_dominates(
    name: str, scores: np.ndarray, epsilon: float, at: float, data: st.DataObject
) -> None:
    """The claim of `LaplaceProfileEvent`: delta at a is at most 1 - exp((a - epsilon) / 2) for |a| <= epsilon."""
    shift = data.draw(hnp.arrays(np.float64, scores.size, elements=st.sampled_from([-1.0, 0.0, 1.0])))
    mechanism = KINDS[name](epsilon=epsilon, sensitivity=1.0)
    here, there = mechanism.pmf(scores), mechanism.pmf(scores + shift)
    a = at * epsilon
    delta = np.maximum(here - np.exp(a) * there, 0.0).sum()
    assert delta <= -np.expm1((a - epsilon) / 2) + 1e-12
