"""Totals: the known table, bounds above every mechanism that can be written down, and extremes."""

from __future__ import annotations

import math
from typing import Any

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dpselect as dps
from dpselect.accounting import (
    ApproximateEvent,
    BoundedRangeEvent,
    ComposedEvent,
    Event,
    LaplaceProfileEvent,
    LogisticProfileEvent,
    PureEvent,
    Run,
    SequenceEvent,
    compose,
)
from dpselect.accounting.divergence import Divergences, rho_of
from dpselect.errors import InvalidParameterError
from tests.accounting.worlds import delta_of, together, two_points, worlds_of

KINDS = [BoundedRangeEvent, LogisticProfileEvent, LaplaceProfileEvent, PureEvent]
epsilons = st.floats(0.01, 2.0)
single = st.one_of([st.builds(kind, epsilon=epsilons) for kind in KINDS])


# Total epsilon at delta = 1e-6 of k runs: pure, logistic and Laplace pairs, exact adaptive, and closed Rényi.
TABLE = [
    (0.1, 10, 0.9994, 0.6861, 0.999, 0.6342, 0.652),
    (0.1, 100, 4.775, 2.612, 4.693, 2.251, 2.40),
    (0.5, 10, 5.0, 3.813, 4.999, 3.580, 3.63),
    (0.5, 50, 20.30, 10.85, 18.75, 9.376, 9.84),
    (1.0, 10, 10.0, 8.116, 9.999, 7.716, 7.77),
]


@pytest.mark.sampled(1)
@pytest.mark.parametrize(("epsilon", "k", "pure", "logistic", "laplace", "tight", "closed"), TABLE)
def test_the_table(
    epsilon: float, k: int, pure: float, logistic: float, laplace: float, tight: float, closed: float
) -> None:
    def total(kind: type, *, tight: bool, work: float = 3e8) -> float:
        return compose([kind(epsilon=epsilon)] * k, tight=tight, work=work).epsilon(1e-6)

    assert total(BoundedRangeEvent, tight=False, work=0.0) == pytest.approx(closed, abs=6e-3)
    assert total(BoundedRangeEvent, tight=True) == pytest.approx(tight, rel=2e-3)
    assert total(PureEvent, tight=True) == pytest.approx(pure, rel=2e-3)
    assert total(LogisticProfileEvent, tight=True) == pytest.approx(logistic, rel=2e-3)
    assert total(LaplaceProfileEvent, tight=True) == pytest.approx(laplace, rel=2e-3)


@given(events=st.lists(single, min_size=1, max_size=5), share=st.floats(0.0, 1.0), place=st.floats(0.0, 0.95))
def test_no_bound_is_below_a_mechanism_that_can_be_written_down(
    events: list[Event], share: float, place: float
) -> None:
    world = together([worlds_of(event, share) for event in events])
    for tight in (False, True):
        total = compose(events, tight=tight, work=3e6)
        epsilon = place * total.epsilon(0.0)
        delta = delta_of(world, epsilon)
        assert delta <= total.delta(epsilon) * (1 + 1e-9) + 1e-15
        if 1e-12 < delta < 1.0:
            assert total.epsilon(delta * (1 - 1e-9)) >= epsilon * (1 - 1e-9) - 1e-12


def test_the_law_above_can_fail() -> None:
    world = together([two_points(0.3, 0.5)] * 5)
    total = compose([BoundedRangeEvent(epsilon=0.4)] * 5, tight=True, work=3e6)
    assert delta_of(world, 1.0) > total.delta(1.0)


@given(events=st.lists(single, min_size=1, max_size=6), delta=st.sampled_from([1e-12, 1e-6, 1e-3, 0.3]))
def test_delta_and_epsilon_invert_each_other(events: list[Event], delta: float) -> None:
    for tight in (False, True):
        total = compose(events, tight=tight, work=3e6)
        epsilon = total.epsilon(delta)
        assert 0.0 <= epsilon <= total.epsilon(0.0)
        assert total.delta(epsilon) <= delta * (1 + 1e-6) + 1e-15
        assert epsilon == min(total.bounds(delta).values())


@given(events=st.lists(single, min_size=2, max_size=8), delta=st.sampled_from([0.0, 1e-6, 1e-3]))
def test_order_and_grouping_do_not_matter(events: list[Event], delta: float) -> None:
    total = compose(events).epsilon(delta)
    assert compose(events[::-1]).epsilon(delta) == pytest.approx(total, rel=1e-12)
    assert compose(tuple(events)).epsilon(delta) == total == compose(iter(events)).epsilon(delta)
    assert compose([SequenceEvent(events=tuple(events))]).epsilon(delta) == pytest.approx(total, rel=1e-12)
    assert compose([ComposedEvent(event=events[0], count=3)]).epsilon(delta) == compose([events[0]] * 3).epsilon(delta)
    group = ComposedEvent(event=events[0], count=3)
    assert compose([group, group]).counts == {events[0]: 6}
    alike = [type(event)(epsilon=event.epsilon) for event in events]
    assert compose([*events, *alike]).counts == compose(events * 2).counts


def test_counting_is_by_value_and_by_identity() -> None:
    one, equal, other = BoundedRangeEvent(epsilon=0.5), BoundedRangeEvent(epsilon=0.5), PureEvent(epsilon=0.5)
    assert compose([one] * 5000 + [equal] * 3 + [other]).counts == {one: 5003, other: 1}
    assert compose([one] * 4096).counts == {one: 4096}
    assert compose([one] * 4096 + [other]).counts == {one: 4096, other: 1}


def test_rounds_of_one_kind_are_counted_as_they_are_planned_and_others_are_added() -> None:
    rounds, pure = [BoundedRangeEvent(epsilon=0.3)] * 7, PureEvent(epsilon=1e-3)
    planned = compose(rounds).epsilon(1e-6)
    assert planned < compose(rounds, work=0.0).epsilon(1e-6)
    assert compose([*rounds, pure]).epsilon(1e-6) == pytest.approx(planned + 1e-3, rel=1e-12)
    assert compose(rounds).delta(planned) == pytest.approx(1e-6, rel=1e-6)
    assert compose([*rounds, pure]).delta(planned + 1e-3) == pytest.approx(1e-6, rel=1e-6)


def test_nothing_costs_nothing() -> None:
    for tight in (False, True):
        total = compose([], tight=tight)
        assert (total.epsilon(0.0), total.epsilon(1e-6), total.delta(0.0), total.rho) == (0.0, 0.0, 0.0, 0.0)


def test_deltas_of_events_add_up() -> None:
    total = compose([ApproximateEvent(epsilon=0.5, delta=1e-7)] * 5)
    assert total.epsilon(0.0) == total.epsilon(4e-7) == math.inf
    assert total.epsilon(6e-7) == pytest.approx(2.5, rel=1e-5)
    pure = compose([PureEvent(epsilon=0.1)] * 100)
    fails = compose([*[PureEvent(epsilon=0.1)] * 99, ApproximateEvent(epsilon=0.1, delta=9e-7)])
    assert pure.epsilon(1e-6) < fails.epsilon(1e-6) < 10.0
    assert fails.epsilon(1e-6) == pytest.approx(pure.epsilon(1e-7), rel=1e-9)
    assert total.delta(10.0) == pytest.approx(5e-7)
    assert total.delta(10.0) >= 5e-7
    assert total.rho == math.inf
    assert compose([ApproximateEvent(epsilon=1, delta=0.6)] * 2).delta(9.0) == 1.0


def test_what_the_tight_bound_cannot_hold_is_left_to_the_others() -> None:
    many = compose([BoundedRangeEvent(epsilon=0.1 + i / 1000) for i in range(60)], tight=True)
    assert [*many.bounds(1e-6)] == ["renyi", "basic"]  # too many different ones
    for too_much in ([PureEvent(epsilon=1e-3)] * 10**6, [PureEvent(epsilon=100.0)]):
        assert "tight" not in compose(too_much, tight=True).bounds(1e-6)
    apart = [*[LaplaceProfileEvent(epsilon=1e-9)] * 3, LaplaceProfileEvent(epsilon=5.0)]
    assert compose(apart, tight=True).epsilon(1e-6) <= 5.1


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("epsilon", [5e-324, 1e-200, 1e-9, 1e-3, 30.0, 700.0, 1e5, 1e300, 1.7e308])
@pytest.mark.parametrize("tight", [False, True])
def test_extremes(kind: type, epsilon: float, tight: bool) -> None:
    total = compose([kind(epsilon=epsilon)] * 3, tight=tight, work=1e6)
    for delta in (0.0, 5e-324, 1e-300, 1e-6, 0.999999):
        found = total.epsilon(delta)
        assert 0.0 <= found <= total.epsilon(0.0)
    for asked in (0.0, epsilon, 1e308, math.inf):
        assert 0.0 <= total.delta(asked) <= 1.0
    assert total.rho > 0.0


@pytest.mark.parametrize("kind", KINDS)
def test_rho_is_the_divergence_at_order_one_and_bounds_all_orders(kind: type) -> None:
    def renyi(epsilon: float, order: Any) -> Any:
        e, a = mp.mpf(epsilon), mp.mpf(order)
        if kind is BoundedRangeEvent:
            x = (a - 1) * (1 - mp.exp(-a * e)) / (a * (mp.exp(-e) - mp.exp(-a * e)))
            return mp.log(x) + mp.log((1 - mp.exp(-a * e)) / (a * (1 - mp.exp(-e)))) / (a - 1)
        if kind is LogisticProfileEvent:
            return mp.log(mp.sinh((2 * a - 1) * e / 2) / ((2 * a - 1) * mp.sinh(e / 2))) / (a - 1)
        if kind is LaplaceProfileEvent:
            return mp.log((a * mp.exp((a - 1) * e) + (a - 1) * mp.exp(-a * e)) / (2 * a - 1)) / (a - 1)
        return mp.log(mp.cosh((a - mp.mpf(1) / 2) * e) / mp.cosh(e / 2)) / (a - 1)

    with mp.workdps(60):
        for epsilon in (1e-8, 1e-3, 0.0999, 0.1001, 1.0, 5.0, 40.0):
            rho = rho_of(kind(epsilon=epsilon))
            near_one = renyi(epsilon, 1 + mp.mpf(10) ** -20)
            assert near_one <= rho <= near_one * (1 + mp.mpf(10) ** -15)
            for order in (1.001, 1.5, 2, 5, 30, 1000):
                assert renyi(epsilon, order) <= mp.mpf(rho) * order
            if kind in (LogisticProfileEvent, PureEvent):
                for order in (1.0 + 2.0**-20, 1.5, 2.0, 37.0, 1e6):
                    exact = renyi(epsilon, order)
                    computed = float(Divergences({kind(epsilon=epsilon): 1})(np.array([order]))[0])
                    assert exact <= computed
                    assert computed <= exact * (1 + mp.mpf(10) ** -6) or epsilon * order < 1e-2


def test_rho_of_all_and_what_it_implies() -> None:
    events = [BoundedRangeEvent(epsilon=1.0), LaplaceProfileEvent(epsilon=0.5), PureEvent(epsilon=0.25)]
    total = compose(events)
    assert total.rho == pytest.approx(sum(rho_of(event) for event in events))
    delta = 1e-6
    assert total.epsilon(delta) <= total.rho + 2 * math.sqrt(total.rho * math.log(1 / delta))


def test_runs_add_up_for_one_unit_and_one_relation_only() -> None:
    def run(unit: str, neighbours: Any) -> Run:
        return Run(event=PureEvent(epsilon=0.5), mechanism="m", neighbours=neighbours, unit=unit)

    assert compose([run("u", "add_remove"), run("u", "add_remove"), PureEvent(epsilon=0.5)]).epsilon(0.0) == 1.5
    for other in (run("v", "add_remove"), run("u", "replace_one")):
        with pytest.raises(InvalidParameterError, match="events"):
            compose([run("u", "add_remove"), other])


@pytest.mark.parametrize(
    "bad", [None, 3, "events", PureEvent(epsilon=1), [None], [PureEvent(epsilon=1), 1.0], [PureEvent]]
)
def test_only_lists_of_events(bad: Any) -> None:
    with pytest.raises(InvalidParameterError, match="events"):
        compose(bad)


@pytest.mark.parametrize("delta", [-1e-9, 1.0, 1.5, math.nan, math.inf, None, "0", True])
def test_bad_delta(delta: Any) -> None:
    for events in ([], [PureEvent(epsilon=1.0)]):
        with pytest.raises(InvalidParameterError, match="delta"):
            compose(events).epsilon(delta)


@pytest.mark.parametrize("epsilon", [-1e-9, math.nan, -math.inf, None, "0", True])
def test_bad_epsilon(epsilon: Any) -> None:
    with pytest.raises(InvalidParameterError, match="epsilon"):
        compose([PureEvent(epsilon=1.0)]).delta(epsilon)


def test_bad_tight() -> None:
    with pytest.raises(InvalidParameterError, match="tight"):
        compose([], tight=1)  # type: ignore[arg-type]


def test_mechanisms_compose() -> None:
    mechanisms = [
        dps.PermuteAndFlip(epsilon=0.1, sensitivity=1.0),
        dps.ExponentialMechanism(epsilon=0.1, sensitivity=1.0),
        dps.mechanisms.QuantilesMechanism(epsilon=0.1, levels=(0.25, 0.5, 0.75), bounds=(0, 1)),
    ]
    total = compose([mechanism.event for mechanism in mechanisms] * 5, tight=True, work=3e8)
    assert total.epsilon(1e-6) < compose([mechanism.event for mechanism in mechanisms] * 5).epsilon(1e-6) <= 1.5


@pytest.mark.parametrize("work", ["x", None, math.nan, math.inf, -1, True, [1e8]])
@pytest.mark.parametrize("tight", [False, True])
def test_work_that_is_no_time_is_refused(work: Any, tight: bool) -> None:
    with pytest.raises(InvalidParameterError, match=r"^work=.*: expected a finite number >= 0\."):
        compose([BoundedRangeEvent(epsilon=0.5)], tight=tight, work=work)


def test_no_work_at_all_gives_no_tight_bound() -> None:
    total = compose([BoundedRangeEvent(epsilon=0.5)] * 5, tight=True, work=0)
    assert "tight" not in total.bounds(1e-6)
