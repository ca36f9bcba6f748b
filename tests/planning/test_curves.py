"""Errors at many an epsilon."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dpselect as dps
from dpselect.planning import error_curve, worst_case_error
from tests.laws.subjects import every_kind, score_vectors

Kind = Callable[..., Any]
EPSILONS = np.logspace(-3, 2, 16)


@pytest.mark.sampled(1)
@every_kind
@given(scores=score_vectors(), confidence=st.none() | st.floats(0.01, 0.9999))
def test_errors_never_rise_with_epsilon(kind: Kind, scores: np.ndarray, confidence: float | None) -> None:
    curve = error_curve(kind, scores, epsilons=EPSILONS, sensitivity=1.0, confidence=confidence)
    assert curve.shape == EPSILONS.shape
    assert (np.diff(curve) <= 1e-12 * curve[:-1]).all()


def test_the_law_above_can_fail() -> None:
    """The expected *distance from the middle score* does rise with epsilon."""
    scores = np.array([2.0, 1.0, 0.0])
    means = [float(dps.PermuteAndFlip(epsilon=e, sensitivity=1.0).pmf(scores) @ np.abs(scores - 1.0)) for e in EPSILONS]
    assert (np.diff(means) > 1e-6).any()


@every_kind
def test_every_point_is_what_the_mechanism_says(kind: Kind) -> None:
    scores = [9, 5, 5, 1]
    arguments: dict[str, Any] = {"sensitivity": 2.0, "monotonic": True}
    mechanisms = [kind(epsilon=epsilon, **arguments) for epsilon in EPSILONS]
    on_scores = error_curve(kind, scores, epsilons=EPSILONS, **arguments)
    assert on_scores.tolist() == [mechanism.expected_error(scores) for mechanism in mechanisms]
    worst = error_curve(kind, n=4, epsilons=EPSILONS, **arguments)
    assert worst.tolist() == [worst_case_error(kind, 4, epsilon=epsilon, **arguments) for epsilon in EPSILONS]
    bounds = error_curve(kind, n=4, epsilons=EPSILONS, confidence=0.9, **arguments)
    assert bounds.tolist() == [mechanism.error_bound(4, 0.9) for mechanism in mechanisms]
    assert (on_scores <= worst).all()


@every_kind
@given(scores=score_vectors(), confidence=st.floats(0.01, 0.9999))
def test_the_bound_on_scores_is_the_smallest_distance_that_holds(
    kind: Kind, scores: np.ndarray, confidence: float
) -> None:
    (bound,) = error_curve(kind, scores, epsilons=[0.8], sensitivity=1.0, confidence=confidence)
    pmf, gaps = kind(epsilon=0.8, sensitivity=1.0).pmf(scores), scores.max() - scores
    assert pmf[gaps <= bound].sum() >= confidence - 1e-12
    assert pmf[gaps < bound].sum() <= confidence + 1e-12


@pytest.mark.parametrize(
    "epsilons", [[], 1.0, "1", [[1.0]], [[1.0], [1.0, 2.0]], {1.0}, [1.0, 0.0], [math.nan], [True], ["1"], None]
)
def test_bad_epsilons(epsilons: Any) -> None:
    with pytest.raises(dps.errors.InvalidParameterError, match="epsilons="):
        error_curve(dps.PermuteAndFlip, [1, 2], epsilons=epsilons, sensitivity=1.0)


def test_both_or_neither_of_scores_and_their_number() -> None:
    with pytest.raises(dps.errors.InvalidParameterError, match="scores=None"):
        error_curve(dps.PermuteAndFlip, epsilons=[1.0], sensitivity=1.0)
    with pytest.raises(dps.errors.InvalidParameterError, match="not both"):
        error_curve(dps.PermuteAndFlip, [1, 2], n=2, epsilons=[1.0], sensitivity=1.0)
