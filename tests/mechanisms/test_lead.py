"""Gaps: their joint law with the winner, what they cost, and how often what they say of the true lead is wrong."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np
import pytest

import dpselect as dps
from dpselect.accounting import LaplaceProfileEvent, LogisticProfileEvent
from dpselect.errors import InvalidCandidatesError, InvalidParameterError, InvalidScoresError
from tests.laws.goodness_of_fit import NEVER, p_value
from tests.laws.subjects import every_kind


@every_kind
@pytest.mark.parametrize("scores", [[3.0, 0.0, 2.5, 1.0], [2.0, 2.0, 2.0], [9.0, 1.0]])
def test_winner_and_gap_have_their_joint_law(kind: Any, scores: list[float]) -> None:
    """Ahead by t if and only if it still wins with t less: the pmf of lowered scores is the law of gaps."""
    mechanism, step, draws = kind(epsilon=1.0, sensitivity=1.0), 0.75, 12_000
    drawn = [mechanism.select_with_gap(np.array(scores), step=step) for _ in range(draws)]
    counts = np.zeros((len(scores), 4))
    for lead in drawn:
        counts[lead.winner, min(round(lead.gap / step), 3)] += 1

    def law(mechanism: Any) -> np.ndarray:
        cells = np.zeros_like(counts)
        for winner in range(len(scores)):
            lowered = [np.array(scores) - step * cut * (np.arange(len(scores)) == winner) for cut in range(4)]
            tails = [mechanism.pmf(each)[winner] for each in lowered]
            cells[winner] = -np.diff([*tails, 0.0])
        return cells

    assert p_value(counts.ravel().astype(int), law(mechanism).ravel()) >= NEVER
    wrong = kind(epsilon=1.5, sensitivity=1.0)
    assert p_value(counts.ravel().astype(int), law(wrong).ravel()) < NEVER


@every_kind
@pytest.mark.parametrize("lead", [-3.0, 0.0, 2.0])
def test_what_is_said_of_the_true_lead_is_wrong_as_seldom_as_stated(kind: Any, lead: float) -> None:
    """Given that a candidate wins, by exact tails: no confidence is exceeded, and with two candidates it is met."""
    mechanism = kind(epsilon=2.0, sensitivity=1.0)  # at the scale 1
    for others, is_met in (([0.0], True), ([0.0, -1.0, -0.5], False)):
        scores = np.array([lead, *others])
        for failure in (0.2, 0.01):
            # The smallest gap that says more than the truth.
            low, high = 0.0, 60.0
            for _ in range(60):
                middle = (low + high) / 2
                says_too_much = dps.planning.lead_shown(mechanism, middle, 1 - failure) > max(lead, 0.0)
                low, high = (low, middle) if says_too_much else (middle, high)
            lowered = scores - high * (np.arange(scores.size) == 0)
            chance = mechanism.pmf(lowered)[0] / mechanism.pmf(scores)[0]
            assert chance <= failure * (1 + 1e-6)
            if is_met and lead >= 0:
                assert chance >= failure * (1 - 1e-6)


def test_gaps_cost_what_their_event_says() -> None:
    common: dict[str, Any] = {"epsilon": 0.5, "sensitivity": 1.0}
    assert dps.ExponentialMechanism(**common).event_with_gap == LogisticProfileEvent(epsilon=0.5)
    assert dps.ReportNoisyMax(**common, noise="gumbel").event_with_gap == LogisticProfileEvent(epsilon=0.5)
    assert dps.PermuteAndFlip(**common).event_with_gap == LaplaceProfileEvent(epsilon=0.5)
    assert dps.ReportNoisyMax(**common).event_with_gap == LaplaceProfileEvent(epsilon=0.5)


def test_candidates_steps_and_bad_input() -> None:
    mechanism = dps.PermuteAndFlip(epsilon=8.0, sensitivity=1.0, monotonic=True)
    winner, gap = mechanism.select_with_gap(np.array([1, 900, 30]), ["cat", "dog", "eel"], step=0.0625)
    assert winner == "dog"
    assert gap % 0.0625 == 0.0
    assert 860 < gap < 880
    assert mechanism.select_with_gap([1.0, 2.0], step=1000).gap == 0.0
    with pytest.raises(InvalidScoresError, match="at least two scores"):
        mechanism.select_with_gap([1.0], step=1.0)
    for scores in ([], [1.0, math.nan], [[1.0]]):
        with pytest.raises(InvalidScoresError):
            mechanism.select_with_gap(scores, step=1.0)  # type: ignore[arg-type]
    with pytest.raises(InvalidCandidatesError):
        mechanism.select_with_gap([1.0, 2.0], ["a", "a"], step=1.0)
    for step in (0.0, -1.0, math.inf, math.nan, True, "a", 10**400):
        with pytest.raises(InvalidParameterError, match="step"):
            mechanism.select_with_gap([1.0, 2.0], step=step)  # type: ignore[arg-type]
    for vector in (np.array([1.0]), np.array([]), np.array([1.0, math.inf]), np.array([[1.0, 2.0]]), np.array(["a"])):
        with pytest.raises(InvalidScoresError):
            mechanism.select_with_gap(vector, step=1.0)
    assert mechanism.select_with_gap(np.array([1, 900], dtype=">i2"), step=1.0).winner == 1
    for confidence in (0.0, 1.0, math.nan):
        with pytest.raises(InvalidParameterError, match="confidence"):
            dps.planning.lead_shown(mechanism, 1.0, confidence)
    for gap in (-1.0, math.nan, math.inf, "1", None):
        with pytest.raises(InvalidParameterError, match="gap"):
            dps.planning.lead_shown(mechanism, gap)  # type: ignore[arg-type]
    with pytest.raises(InvalidParameterError, match="mechanism"):
        dps.planning.lead_shown(dps.PermuteAndFlip, 1.0)  # type: ignore[arg-type]


def test_extreme_scales_and_steps() -> None:
    for epsilon in (1e-300, 1e300):
        for kind in (dps.PermuteAndFlip, dps.ExponentialMechanism, partial(dps.ReportNoisyMax, noise="laplace")):
            mechanism = kind(epsilon=epsilon, sensitivity=1.0)
            gap = mechanism.select_with_gap([0.0, 1e308, -1e308], step=1e-3 / epsilon).gap
            assert 0.0 <= dps.planning.lead_shown(mechanism, gap) <= gap
    far = dps.PermuteAndFlip(epsilon=1.0, sensitivity=1.0).select_with_gap([0.0, 1e308], step=1e-300)
    assert 0.99e308 < far.gap <= 1.01e308


@every_kind
def test_a_scale_that_no_double_is_small_enough_for(kind: Any) -> None:
    """The largest gap there is: all of it is sure."""
    mechanism = kind(epsilon=1e308, sensitivity=1e-308)
    winner, gap = mechanism.select_with_gap([1.0, 0.0], step=2.0**-40)
    assert (winner, mechanism.scale, gap) == (0, 0.0, pytest.approx(1.0))
    assert dps.planning.lead_shown(mechanism, gap, 1.0 - 2.0**-53) == pytest.approx(1.0, rel=1e-11)
    assert dps.planning.lead_shown(mechanism, gap) <= gap
    none = mechanism.select_with_gap([0.0, 0.0], step=1.0).gap
    assert (none, dps.planning.lead_shown(mechanism, none)) == (0.0, 0.0)


@every_kind
@pytest.mark.parametrize("ratio", [1e-3, 0.9, 1.1, 1e5])
def test_leads_far_beyond_the_noise_go_on_where_bisection_ends(kind: Any, ratio: float) -> None:
    mechanism, gap = kind(epsilon=2.0, sensitivity=1.0), ratio * 1e15  # at the scale 1
    assert dps.planning.lead_shown(mechanism, gap, 0.999999) == pytest.approx(gap, rel=1e-9)
    assert dps.planning.lead_shown(mechanism, gap, 0.999999) < gap
