"""Which epsilon buys an error: reached, not undercut, and refused where no epsilon does."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dpselect as dps
from dpselect.planning import epsilon_for, worst_case_error
from tests.laws.subjects import every_kind, score_vectors

Kind = Callable[..., Any]
SCORES = [530, 520, 480, 475, 300, 120]
flip_for = partial(epsilon_for, dps.PermuteAndFlip, sensitivity=1.0)


@every_kind
@given(scores=score_vectors(min_size=2), share=st.floats(1e-6, 0.999), monotonic=st.booleans())
def test_the_expected_error_is_reached_and_a_little_less_epsilon_does_not(
    kind: Kind, scores: np.ndarray, share: float, monotonic: bool
) -> None:
    blind = float((scores.max() - scores).mean())
    if blind < 1e-250:  # all equal; or so close that epsilon would leave the doubles, which is refused
        return
    target = share * blind
    given_to_all: dict[str, Any] = {"sensitivity": 2.0, "monotonic": monotonic}
    epsilon = epsilon_for(kind, scores, expected_error=target, **given_to_all)
    assert kind(epsilon=epsilon, **given_to_all).expected_error(scores) <= target
    assert kind(epsilon=epsilon * (1 - 1e-6), **given_to_all).expected_error(scores) >= target * (1 - 1e-12)


@every_kind
@given(scores=score_vectors(min_size=2), rank=st.integers(0, 5), confidence=st.floats(0.05, 0.9999))
def test_the_distance_is_kept_with_the_confidence(kind: Kind, scores: np.ndarray, rank: int, confidence: float) -> None:
    scores = scores.round(3)
    gaps = scores.max() - scores
    distance = float(np.sort(gaps)[min(rank, gaps.size - 1)])
    within = gaps <= distance
    if within.mean() >= confidence * (1 - 1e-9):
        return
    epsilon = epsilon_for(kind, scores, within=distance, confidence=confidence, sensitivity=1.0)
    assert kind(epsilon=epsilon, sensitivity=1.0).pmf(scores)[within].sum() >= confidence - 1e-12
    assert kind(epsilon=epsilon * (1 - 1e-6), sensitivity=1.0).pmf(scores)[within].sum() <= confidence + 1e-12


@every_kind
@pytest.mark.parametrize("n", [2, 3, 1000, 10**9])
def test_the_worst_case_is_reached_and_scales_with_the_inverse_of_epsilon(kind: Kind, n: int) -> None:
    epsilon = epsilon_for(kind, n=n, expected_error=7.0, sensitivity=3.0)
    worst = worst_case_error(kind, n, epsilon=epsilon, sensitivity=3.0)
    assert worst == pytest.approx(7.0, rel=1e-10)
    assert worst <= 7.0
    assert epsilon_for(kind, n=n, expected_error=3.5, sensitivity=3.0) == pytest.approx(2 * epsilon, rel=1e-10)
    assert epsilon_for(kind, n=n, expected_error=7.0, sensitivity=3.0, monotonic=True) == pytest.approx(
        epsilon / 2, rel=1e-10
    )


@every_kind
@pytest.mark.parametrize("confidence", [0.6, 0.99, 0.999999])
def test_the_worst_bound_is_the_published_one(kind: Kind, confidence: float) -> None:
    epsilon = epsilon_for(kind, n=500, within=12.0, confidence=confidence, sensitivity=1.0)
    bound = kind(epsilon=epsilon, sensitivity=1.0).error_bound(500, confidence)
    assert 12.0 * (1 - 1e-9) <= bound <= 12.0


def test_the_law_above_can_fail() -> None:
    """The epsilon of another mechanism does not do."""
    epsilon = epsilon_for(dps.PermuteAndFlip, SCORES, expected_error=5.0, sensitivity=1.0)
    assert dps.ExponentialMechanism(epsilon=epsilon, sensitivity=1.0).expected_error(SCORES) > 5.0


def test_permute_and_flip_needs_the_least() -> None:
    kinds = [dps.PermuteAndFlip, dps.ExponentialMechanism, dps.ReportNoisyMax]
    needed = [epsilon_for(kind, SCORES, expected_error=1.0, sensitivity=1.0) for kind in kinds]
    assert min(needed) == needed[0]


def test_options_of_a_mechanism_go_in_by_partial() -> None:
    gumbel = partial(dps.ReportNoisyMax, noise="gumbel")
    expected = epsilon_for(dps.ExponentialMechanism, SCORES, expected_error=5.0, sensitivity=1.0)
    assert epsilon_for(gumbel, SCORES, expected_error=5.0, sensitivity=1.0) == expected


def test_integers_beyond_doubles_are_subtracted_exactly() -> None:
    far = [2**63 - 1, 2**63 - 11, 2**63 - 21]
    near = [20, 10, 0]
    assert flip_for(far, expected_error=2.0) == flip_for(near, expected_error=2.0)


@pytest.mark.parametrize("target", [1e-200, 1e-288, 9.999999999])
def test_extreme_targets_within_reach(target: float) -> None:
    epsilon = flip_for([20.0, 10.0, 0.0], expected_error=target)
    assert dps.PermuteAndFlip(epsilon=epsilon, sensitivity=1.0).expected_error([20.0, 10.0, 0.0]) <= target


@pytest.mark.parametrize("target", [10.0, 11.0, 1e300])
def test_an_error_of_a_blind_guess_or_more_names_the_range(target: float) -> None:
    with pytest.raises(dps.errors.InvalidParameterError, match=r"expected_error=.*> 0 and < 10\..*blind guess"):
        flip_for([20, 10, 0], expected_error=target)


@pytest.mark.parametrize("target", [0.0, -1.0, math.nan, math.inf, True, "5", [5.0], None])
def test_an_error_that_is_none_is_refused(target: Any) -> None:
    for where in ({"scores": SCORES}, {"n": 6}):
        with pytest.raises(dps.errors.InvalidParameterError, match=r"expected_error=|within=None"):
            flip_for(**where, expected_error=target)


def test_a_confidence_of_a_blind_guess_or_less_names_the_range() -> None:
    with pytest.raises(dps.errors.InvalidParameterError, match=r"confidence=0\.5: expected a number > 0\.5 and < 1"):
        flip_for([9, 8, 1, 0], within=1, confidence=0.5)
    with pytest.raises(dps.errors.InvalidParameterError, match=r"confidence=0\.1: expected a number > 0\.25 and < 1"):
        flip_for(n=4, within=1, confidence=0.1)


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        ({"scores": [3, 3], "expected_error": 1.0}, "0 at every epsilon, because all scores are equal"),
        ({"scores": [3], "expected_error": 1.0}, "0 at every epsilon"),
        ({"scores": [3, 3], "within": 1, "confidence": 0.9}, "0 at every epsilon, because all scores are equal"),
        ({"scores": [9, 5], "expected_error": 1e-300}, r"expected_error=1e-300.*> 4e-290 and < 2\."),
        ({"n": 1, "expected_error": 1.0}, "one candidate is always the best"),
        ({"n": 1, "within": 1.0, "confidence": 0.9}, "one candidate is always the best"),
        ({"scores": [9, 5], "within": 4, "confidence": 0.9}, r"within=4.*>= 0 and < 4\..*distance between the worst"),
        ({"n": 5, "within": 0, "confidence": 0.9}, "within=0: expected a finite number > 0"),
        ({"scores": [9, 5], "within": -1, "confidence": 0.9}, "within=-1: expected a finite number >= 0"),
        ({"scores": [9, 5], "within": 1}, "confidence=None"),
        ({"scores": [9, 5], "confidence": 0.9}, "within=None"),
        ({"scores": [9, 5]}, "within=None: expected expected_error, or both"),
        ({"scores": [9, 5], "within": 1, "expected_error": 1.0}, "not both"),
        ({"scores": [9, 5], "n": 2, "expected_error": 1.0}, "n=2: expected scores or n, not both"),
        ({"expected_error": 1.0}, "scores=None"),
        ({"scores": [9, 5], "within": 1, "confidence": 1.0}, "confidence=1.0"),
        ({"n": 2.0, "expected_error": 1.0}, r"n=2\.0: expected a whole number"),
        ({"n": 10**9, "expected_error": 1e-300}, "expected_error=1e-300.*epsilon below"),
        ({"n": 10**9, "expected_error": 1e300}, r"expected_error=1e\+300.*epsilon above"),
    ],
)
def test_bad_input(arguments: dict[str, Any], match: str) -> None:
    with pytest.raises(dps.errors.InvalidParameterError, match=match):
        flip_for(**arguments)


@pytest.mark.parametrize(
    "mechanism", ["PermuteAndFlip", None, int, dps.PermuteAndFlip(epsilon=1, sensitivity=1), lambda **_: 3, abs]
)
def test_what_makes_no_mechanism_is_refused(mechanism: Any) -> None:
    with pytest.raises(dps.errors.InvalidParameterError, match=r"^mechanism=.*: expected PermuteAndFlip, .*partial"):
        epsilon_for(mechanism, SCORES, expected_error=1.0, sensitivity=1.0)


def test_a_class_that_is_not_planned_is_named() -> None:
    for kind in (dps.TopKSet, dps.GeneralizedSelection, partial(dps.TopKSet, k=2)):
        with pytest.raises(dps.errors.InvalidParameterError) as refused:
            epsilon_for(kind, n=9, expected_error=1.0, sensitivity=1.0)  # pyright: ignore
        named = "<partial>" if isinstance(kind, partial) else f"<class {kind.__name__}>"
        assert str(refused.value) == (
            f"mechanism={named}: expected PermuteAndFlip, ExponentialMechanism or ReportNoisyMax, or functools.partial "
            "of one. Others are not planned by a target error."
        )


@pytest.mark.parametrize("scores", [[1.0, math.nan], [math.inf], [], "123", [[1, 2]]])
def test_bad_scores_are_refused_without_being_shown(scores: Any) -> None:
    with pytest.raises(dps.errors.InvalidScoresError) as refused:
        flip_for(scores, expected_error=1.0)
    assert "123" not in str(refused.value)
