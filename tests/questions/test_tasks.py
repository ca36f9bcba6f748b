"""Tasks: the plan is made from public arguments, the draw follows the counts, the certificate says what happened."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

import dpselect
from dpselect import Neighbours, Release
from dpselect.accounting import ComposedEvent, LaplaceProfileEvent
from dpselect.errors import InvalidParameterError
from tests.drawn_answers import WHEN, planned
from tests.drawn_answers import released as released_of

ROOT = Path(__file__).parents[2]
COLOURS = ["red", "green", "blue", "grey"]
GAP = 100_000
"""Between any two counts below; at epsilon >= 0.001 the wrong order has probability below 4 e^-100."""

COUNTS = [2 * GAP, 0, 3 * GAP, GAP]


def released(task: Any, counts: list[int] = COUNTS) -> Release[Any]:
    return released_of(task, counts, column="colour")


@pytest.mark.parametrize("epsilon", [0.001, 1.0, 1e300])
def test_the_most_common_candidate_wins(epsilon: float) -> None:
    assert released(planned("most_common", candidates=COLOURS, epsilon=epsilon)).value == "blue"


def test_at_a_tiny_epsilon_any_candidate_may_win() -> None:
    task = planned("most_common", candidates=COLOURS, epsilon=1e-300)
    winners = {released(task).value for _ in range(200)}  # one of four is missed with probability 4 (3/4)^200 < 1e-24
    assert winners == {"red", "green", "blue", "grey"}


@pytest.mark.parametrize("options", [{"epsilon": 0.01}, {"epsilon": 1.0}, {"epsilon": 1.0, "delta": 1e-6}])
def test_top_k_is_in_order(options: dict[str, float]) -> None:
    for k in (1, 2, 4):
        assert (
            released(planned("top_k", candidates=COLOURS, k=k, **options)).value == ["blue", "red", "grey", "green"][:k]
        )


def test_the_scale_is_that_of_a_monotone_count() -> None:
    assert planned("most_common", candidates=COLOURS, epsilon=0.5).mechanism.scale == 2.0
    mechanism = planned("top_k", candidates=COLOURS, k=4, epsilon=2.0).plan.mechanism
    assert mechanism.scale == pytest.approx(1.5)  # the last of the four colours takes no round
    assert mechanism.monotonic
    assert mechanism.sensitivity == 1.0


def test_events_are_known_before_any_count_is() -> None:
    task = planned("most_common", candidates=COLOURS, epsilon=0.5)
    assert task.mechanism.event == dpselect.PermuteAndFlip(epsilon=0.5, sensitivity=1.0, monotonic=True).event
    assert planned("top_k", candidates=COLOURS, k=2, epsilon=0.5).mechanism.event == LaplaceProfileEvent(epsilon=0.5)
    rounds = planned("top_k", candidates=range(1000), k=20, epsilon=1.0, delta=1e-6).mechanism.event
    assert isinstance(rounds, ComposedEvent)
    assert rounds.count == 20


@pytest.mark.parametrize("epsilon", [0.0, -1.0, math.nan, math.inf, None, "1"])
def test_bad_epsilon(epsilon: Any) -> None:
    with pytest.raises(InvalidParameterError, match="epsilon"):
        planned("most_common", candidates=COLOURS, epsilon=epsilon)
    with pytest.raises(InvalidParameterError, match="epsilon"):
        planned("top_k", candidates=COLOURS, k=2, epsilon=epsilon)


@pytest.mark.parametrize("k", [0, -1, 5, 1.0, True, None, "2"])
def test_bad_k(k: Any) -> None:
    with pytest.raises(InvalidParameterError, match=r"^k="):
        planned("top_k", candidates=COLOURS, k=k, epsilon=1.0)


@pytest.mark.parametrize("delta", [-0.1, 1.0, math.nan, None])
def test_bad_delta(delta: Any) -> None:
    with pytest.raises(InvalidParameterError, match="delta"):
        planned("top_k", candidates=COLOURS, k=2, epsilon=1.0, delta=delta)


def test_the_certificate_of_most_common() -> None:
    task = planned("most_common", candidates=COLOURS, epsilon=0.5)
    release = released(task)
    assert (release.task, release.column, release.unit, release.time) == ("most_common", "colour", "person", WHEN)
    assert (release.mechanism, release.rounds, release.epsilon, release.delta) == ("PermuteAndFlip", 1, 0.5, 0.0)
    assert (release.sensitivity, release.monotonic, release.neighbours) == (1.0, True, Neighbours.ADD_REMOVE)
    assert release.error_bound == task.mechanism.error_bound(4, confidence=0.99)
    assert release.candidates["count"] == 4
    assert release.receipt is None


def test_the_certificate_of_top_k() -> None:
    task = planned("top_k", candidates=range(1000), k=20, epsilon=1.0, delta=1e-6)
    release = released(task, [at * GAP for at in range(1000)])
    assert (release.mechanism, release.rounds, release.epsilon) == ("ExponentialMechanism", 20, 1.0)
    assert 0.0 < release.delta <= 1e-6
    assert release.error_bound == task.plan.error_bound(confidence=0.99)


def test_a_delta_that_is_not_needed_is_not_claimed() -> None:
    release = released(planned("top_k", candidates=COLOURS, k=2, epsilon=1.0, delta=1e-6))
    assert (release.mechanism, release.delta) == ("ExponentialNoiseTopK", 0.0)


def test_mechanisms_and_proofs_named_by_a_release_exist() -> None:
    for task in (
        planned("most_common", candidates=COLOURS, epsilon=1.0),
        planned("top_k", candidates=COLOURS, k=2, epsilon=1.0),
        planned("top_k", candidates=range(100), k=50, epsilon=1.0, delta=1e-3),
    ):
        counts = [i * GAP for i in range(len(task.candidates))]
        release = released(task, counts)
        assert hasattr(dpselect.mechanisms, release.mechanism)
        assert all((ROOT / page).is_file() for page in release.proofs)


def test_equal_counts_leave_the_choice_open() -> None:
    """Control of the tests above: it is the counts that decide."""
    task = planned("most_common", candidates=COLOURS, epsilon=1.0)
    assert len({released(task, [7, 7, 7, 7]).value for _ in range(200)}) == 4
