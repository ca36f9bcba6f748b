"""Limits for epsilons chosen on the way: exact games against adversaries that look at every result."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpselect.accounting import (
    ApproximateEvent,
    BoundedRangeEvent,
    Event,
    Filter,
    LaplaceProfileEvent,
    PureEvent,
    Run,
    compose,
)
from dpselect.errors import InvalidParameterError, LimitExceededError
from tests.accounting.worlds import worlds_of
from tests.slow import crossed

Strategy = Callable[[tuple[bool, ...], float], Event | None]


def play(strategy: Strategy, limit: Filter, *, share: float, depth: int) -> list[tuple[float, float]]:
    """Every way the game may go: the loss at its end and its probability. The filter decides what may run."""
    ends: list[tuple[float, float]] = []

    def go(history: tuple[bool, ...], events: list[Event], loss: float, chance: float) -> None:
        event = strategy(history, loss) if len(history) < depth else None
        if event is not None:
            replay = Filter(epsilon=limit.epsilon, delta=limit.delta)
            for earlier in events:
                replay.spend(earlier)
            if not replay.admits(event):
                event = None
        if event is None:
            ends.append((loss, chance))
            return
        for index, (more, p) in enumerate(zip(*worlds_of(event, share), strict=True)):
            go((*history, index == 0), [*events, event], loss + float(more), chance * float(p))

    go((), [], 0.0, 1.0)
    return ends


def delta_at(ends: list[tuple[float, float]], epsilon: float) -> float:
    return sum(chance * -math.expm1(epsilon - loss) for loss, chance in ends if loss > epsilon)


def greedy(history: tuple[bool, ...], loss: float) -> Event:
    """Spends more where it is behind."""
    return BoundedRangeEvent(epsilon=0.35 if loss > 0 else 0.5)


def chasing(history: tuple[bool, ...], loss: float) -> Event:
    return PureEvent(epsilon=0.45) if sum(history) * 2 >= len(history) else BoundedRangeEvent(epsilon=0.2)


@pytest.mark.sampled(1)
@pytest.mark.parametrize(("share", "strategy"), crossed([0.2, 0.5, 0.8], [greedy, chasing]))
def test_no_adversary_gets_past_the_limit(strategy: Strategy, share: float) -> None:
    delta, epsilon = 0.05, 1.5
    ends = play(strategy, Filter(epsilon=epsilon, delta=delta), share=share, depth=8)
    assert sum(chance for _, chance in ends) == pytest.approx(1.0)
    assert delta_at(ends, epsilon) <= delta
    if strategy is greedy and share == 0.8:
        assert delta_at(ends, epsilon) > delta * 1e-3, "a limit, but no idle one"


def test_the_game_above_can_be_lost() -> None:
    ends = [(0.0, 1.0)]
    for _ in range(8):
        ends = [
            (loss + float(more), chance * float(p))
            for loss, chance in ends
            for more, p in zip(*worlds_of(PureEvent(epsilon=0.45), 0.5), strict=True)
        ]
    assert delta_at(ends, 1.5) > 0.05


def spend_all(limit: Filter, event: Event) -> int:
    count = 0
    while limit.admits(event):
        limit.spend(event)
        count += 1
    return count


@pytest.mark.parametrize("kind", [BoundedRangeEvent, LaplaceProfileEvent, PureEvent])
def test_what_a_filter_admits_fits(kind: type) -> None:
    limit = Filter(epsilon=1.0, delta=1e-6)
    count = spend_all(limit, kind(epsilon=0.04))
    assert compose([kind(epsilon=0.04)] * count).epsilon(1e-6) <= 1.0
    assert compose([kind(epsilon=0.04)] * math.ceil(count * 1.2)).epsilon(1e-6) > 1.0
    assert 0.9 < limit.share <= 1.0
    with pytest.raises(LimitExceededError):
        limit.spend(kind(epsilon=0.04))
    assert limit.basic == pytest.approx(0.04 * count)


def test_without_delta_exact_sums_decide() -> None:
    limit = Filter(epsilon=1.0, delta=0.0)
    assert spend_all(limit, PureEvent(epsilon=0.1)) == 9  # ten doubles of 0.1 are more than 1
    assert spend_all(limit, PureEvent(epsilon=0.0625)) == 1
    quarter = Filter(epsilon=1.0, delta=0.0)
    assert spend_all(quarter, PureEvent(epsilon=0.25)) == 4
    assert not quarter.admits(PureEvent(epsilon=5e-324))


def test_a_refused_event_changes_nothing() -> None:
    limit = Filter(epsilon=1.0, delta=1e-6)
    limit.spend(PureEvent(epsilon=0.5))
    before = (limit.basic, limit.share)
    for event in (PureEvent(epsilon=5.0), ApproximateEvent(epsilon=0.1, delta=1e-9)):
        with pytest.raises(LimitExceededError):
            limit.spend(event)
    assert (limit.basic, limit.share) == before
    limit.spend(PureEvent(epsilon=0.5))


def test_deltas_of_events_come_out_of_what_was_set_aside() -> None:
    limit = Filter(epsilon=1.0, delta=1e-6, set_aside=5e-7)
    assert spend_all(limit, ApproximateEvent(epsilon=0.01, delta=1e-7)) == 5
    assert limit.admits(PureEvent(epsilon=0.01))


@given(
    epsilons=st.lists(st.floats(1e-3, 0.5), min_size=1, max_size=30),
    limit=st.floats(1e-3, 10.0),
    delta=st.sampled_from([0.0, 1e-12, 1e-6, 0.3]),
)
def test_a_filter_is_never_looser_than_composition(epsilons: list[float], limit: float, delta: float) -> None:
    guard = Filter(epsilon=limit, delta=delta)
    admitted = []
    for epsilon in epsilons:
        event = BoundedRangeEvent(epsilon=epsilon)
        if guard.admits(event):
            guard.spend(event)
            admitted.append(event)
    assert compose(admitted).epsilon(delta) <= limit * (1 + 1e-9)
    assert sum(epsilons) > limit * (1 - 1e-9) or len(admitted) == len(epsilons)


@pytest.mark.parametrize("epsilon", [5e-324, 1e-12, 1e3, 1e308])
@pytest.mark.parametrize("delta", [0.0, 5e-324, 1e-6, 0.999])
def test_extremes(epsilon: float, delta: float) -> None:
    limit = Filter(epsilon=epsilon, delta=delta)
    limit.spend(PureEvent(epsilon=epsilon))
    assert 0.0 <= limit.share <= 1.0


def test_runs_for_another_unit_are_refused() -> None:
    def run(unit: str) -> Run:
        return Run(event=PureEvent(epsilon=0.1), mechanism="m", neighbours="add_remove", unit=unit)  # type: ignore[arg-type]

    limit = Filter(epsilon=1.0, delta=0.0)
    limit.spend(run("u"))
    limit.spend(run("u"))
    with pytest.raises(InvalidParameterError, match="events"):
        limit.spend(run("v"))
    assert limit.basic == pytest.approx(0.2)


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("epsilon", {"epsilon": 0.0}),
        ("epsilon", {"epsilon": math.nan}),
        ("delta", {"delta": 1.0}),
        ("delta", {"delta": math.nan}),
        ("set_aside", {"set_aside": -1e-9}),
    ],
)
def test_bad_limits(name: str, arguments: dict[str, Any]) -> None:
    with pytest.raises(InvalidParameterError, match=name):
        Filter(**{"epsilon": 1.0, "delta": 1e-6, **arguments})


@pytest.mark.parametrize("event", [None, 1.0, [PureEvent(epsilon=1.0)]])
def test_only_events_are_spent(event: Any) -> None:
    with pytest.raises(InvalidParameterError):
        Filter(epsilon=1.0, delta=0.0).spend(event)
