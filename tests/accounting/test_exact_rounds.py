"""Rounds planned by the exact recursion: never below what an adversary attains, by a rule that needs no clock."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpselect.accounting import (
    BoundedRangeEvent,
    ComposedEvent,
    Event,
    LaplaceProfileEvent,
    SequenceEvent,
    calibrate_rounds,
    compose,
    composition,
    planned_epsilon,
    tight,
)
from dpselect.errors import InvalidParameterError
from tests.accounting.worlds import bounded_range_epsilon, closed_form_rounds, rounds_epsilon
from tests.reference.composition import Grid, lower
from tests.slow import crossed


@pytest.mark.sampled(1)
@pytest.mark.parametrize(("count", "epsilon"), crossed([2, 3, 5], [0.1, 0.8]))
def test_never_below_what_an_adversary_attains(epsilon: float, count: int) -> None:
    """In exact fractions: with losses on a grid only, chosen in view of all earlier results."""
    steps = 6
    grid = Grid.near(epsilon, steps=steps)
    each = 2 * steps * math.log(grid.root)
    compared = 0
    for place in range(1, count * steps):
        attained = float(lower(grid, count, place)) * (1 - 1e-12)
        if attained > 0.0:
            at = 2 * place * math.log(grid.root)
            assert rounds_epsilon(each, count=count, delta=attained) >= at * (1 - 1e-9)
            compared += rounds_epsilon(each, count=count - 1, delta=attained) < at  # the control
    assert compared > count


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("count", "epsilon", "delta"), crossed([2, 10, 11, 57, 100], [1e-3, 0.1, 1.0, 8.0], [1e-12, 1e-6, 1e-3])
)
def test_a_plan_keeps_the_total_and_never_spends_less_than_the_closed_form(
    count: int, epsilon: float, delta: float
) -> None:
    each = calibrate_rounds(epsilon=epsilon, delta=delta, count=count)
    assert rounds_epsilon(each, count=count, delta=delta) <= epsilon
    assert each >= closed_form_rounds(epsilon=epsilon, delta=delta, count=count) * (1 - 1e-8)
    more = rounds_epsilon(each * 1.002, count=count, delta=delta)
    assert more > epsilon or epsilon <= 10 * delta  # the control; there is more to be had where delta is not small


@pytest.mark.sampled(2)
@pytest.mark.parametrize("count", [10, 20, 50, 64, 80, 100])
def test_the_gain(count: int) -> None:
    gain = calibrate_rounds(epsilon=1.0, delta=1e-6, count=count) / closed_form_rounds(
        epsilon=1.0, delta=1e-6, count=count
    )
    assert 1.02 < gain < 1.08


@pytest.mark.parametrize(("count", "delta"), [(1, 1e-6), (101, 1e-6), (10**6, 1e-6), (10, 0.0)])
def test_outside_of_the_rule_the_closed_form_is_all(count: int, delta: float) -> None:
    each = calibrate_rounds(epsilon=1.0, delta=delta, count=count)
    assert each == pytest.approx(closed_form_rounds(epsilon=1.0, delta=delta, count=count), rel=1e-8)
    assert rounds_epsilon(each, count=count, delta=delta) == bounded_range_epsilon(each, count=count, delta=delta)


def test_the_rule_depends_on_the_number_of_rounds_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(tight, "_after_ranges", lambda grid: grid)
        grids: list[Any] = [tight.rounds_curve.__wrapped__(1.0, count) for count in range(1, 103)]
    steps = [grid and round(1 / grid.step) for grid in grids]
    assert steps[0] is None
    assert steps[100:] == [None, None]
    assert steps[1:100] == [min(50, max(4, 400 // count)) for count in range(2, 101)]
    planned = calibrate_rounds(epsilon=0.7, delta=1e-7, count=23)
    composition._largest_once.cache_clear()
    assert calibrate_rounds(epsilon=0.7, delta=1e-7, count=23) == planned


@pytest.mark.sampled(1)
@pytest.mark.parametrize("count", [2, 23, 100])
def test_few_curves_are_computed(count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """So that a plan takes less than a tenth of a second: its work is counted, as a clock would flake."""
    cells = 0
    real = tight._after_ranges

    def counted(grid: Any) -> Any:
        nonlocal cells
        cells += grid.range_width
        return real(grid)

    monkeypatch.setattr(tight, "_after_ranges", counted)
    tight.rounds_curve.cache_clear()
    composition._largest_once.cache_clear()
    for epsilon in (0.01, 0.3, 1.0, 5.0):
        calibrate_rounds(epsilon=epsilon, delta=1e-6, count=count)
    composition._largest_once.cache_clear()
    assert 0 < cells <= 4 * 4 * 400


@given(st.floats(1e-3, 2.0), st.integers(2, 12), st.integers(1, 5), st.sampled_from([1e-9, 1e-4]))
@settings(max_examples=20)
def test_groups_of_rounds_cost_their_sum(epsilon: float, count: int, groups: int, delta: float) -> None:
    rounds = ComposedEvent(event=BoundedRangeEvent(epsilon=epsilon), count=count)
    nested = planned_epsilon(ComposedEvent(event=rounds, count=groups), delta=delta)
    assert nested is not None
    assert nested >= groups * rounds_epsilon(epsilon, count=count, delta=delta / groups) * (1 - 1e-12)
    assert nested >= compose([ComposedEvent(event=rounds, count=groups)], tight=True, work=1e6).epsilon(delta) * 0.97


@pytest.mark.parametrize(
    "event",
    [
        BoundedRangeEvent(epsilon=1.0),
        ComposedEvent(event=LaplaceProfileEvent(epsilon=1.0), count=3),
        SequenceEvent(events=[BoundedRangeEvent(epsilon=1.0)]),
    ],
)
def test_only_rounds_are_planned(event: Event) -> None:
    assert planned_epsilon(event, delta=1e-6) is None


@pytest.mark.sampled(1)
@pytest.mark.parametrize("epsilon", [pytest.param(1e-300, marks=pytest.mark.slow), 1e300, 5e-324 * 10])
def test_extreme_epsilons(epsilon: float) -> None:
    each = calibrate_rounds(epsilon=epsilon, delta=1e-6, count=5)
    assert rounds_epsilon(each, count=5, delta=1e-6) <= epsilon
    assert each >= epsilon / 5 * (1 - 1e-15)


@pytest.mark.parametrize(
    "changed",
    [{"epsilon": 0.0}, {"delta": 1.0}, {"delta": math.nan}, {"count": 0}, {"count": 2.5}, {"epsilon": math.nan}],
)
def test_bad_arguments(changed: dict[str, Any]) -> None:
    arguments = {"epsilon": 1.0, "delta": 1e-6, "count": 3, **changed}
    with pytest.raises(InvalidParameterError):
        calibrate_rounds(**arguments)
    with pytest.raises(InvalidParameterError):
        rounds_epsilon(arguments.pop("epsilon"), **arguments)


def test_an_epsilon_too_small_to_be_divided_is_refused() -> None:
    with pytest.raises(InvalidParameterError, match="divided"):
        calibrate_rounds(epsilon=5e-324, delta=1e-6, count=3)
