"""The filter of accounts with a delta: fifty digits, shares that add up, and what is left is accepted."""

from __future__ import annotations

from fractions import Fraction

import mpmath as mp
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpselect.accounting import (
    BoundedRangeEvent,
    ComposedEvent,
    Event,
    LaplaceProfileEvent,
    LogisticProfileEvent,
    PureEvent,
    compose,
)
from dpselect.accounting.filter import UNIT, Cost, Limits, Order, conversion, cost_of, orders_for
from dpselect.checks import fraction_down
from dpselect.ledger.accounts import cost_from

MILLIONTH = Fraction(1, 10**6)


def account(epsilon: Fraction, delta: Fraction = MILLIONTH) -> Limits:
    return Limits.new(epsilon=epsilon, delta=delta, set_aside=Fraction(0))


def most(event: Event, epsilon: Fraction, terms: Limits) -> int:
    """How many of `event` fit."""
    low, high = 0, 10**7
    while low < high:
        middle = (low + high + 1) // 2
        fits = terms.allow(epsilon, terms.cost(event).times(middle))
        low, high = (middle, high) if fits else (low, middle - 1)
    return low


@given(st.fractions(Fraction(1, 10**9), 10**9), st.fractions(Fraction(1, 10**12), Fraction(1, 2)))
def test_shares_add_up_and_orders_are_orders(epsilon: Fraction, delta: Fraction) -> None:
    orders = orders_for(epsilon, delta)
    assert sum(each.share for each in orders) == 1
    assert all(each.order > 1 and each.share > 0 for each in orders)
    assert len({each.order for each in orders}) == len(orders)


@pytest.mark.parametrize("order", [1.0009765625, 2.0, 21.5, 1e6])
@pytest.mark.parametrize("delta", [MILLIONTH, Fraction(1, 3), Fraction(1, 10**300)])
def test_the_conversion_is_rounded_up_but_hardly(order: float, delta: Fraction) -> None:
    share = Fraction(9, 10)
    ours = conversion(Order(order, share), delta)
    with mp.workdps(100):
        a, weight = mp.mpf(order), mp.mpf(share.numerator) / share.denominator * delta.numerator / delta.denominator
        exact = -(mp.log(weight) + mp.log(a)) / (a - 1) - mp.log(a / (a - 1))
        held = mp.mpf(ours.numerator) / ours.denominator
        assert exact < held < exact + mp.mpf(10) ** -30 * (1 + abs(exact))


def test_costs_are_never_rounded_down() -> None:
    event = BoundedRangeEvent(epsilon=0.1)
    cost = cost_of(event, (2.0, 21.5))
    for units, order in zip(cost.renyi, (2.0, 21.5), strict=True):
        with mp.workdps(60):
            e, a = mp.mpf(event.epsilon), mp.mpf(order)
            log_sinhc = lambda z: mp.log(mp.sinh(z / 2) / (z / 2))  # noqa: E731
            exact = (a * log_sinhc(a * e) - (a - 1) * log_sinhc((a - 1) * e) - log_sinhc(e)) / (a - 1)
            assert exact <= mp.mpf(units) / UNIT <= exact * (1 + mp.mpf(10) ** -9)
    assert cost_of(ComposedEvent(event=event, count=3), (2.0, 21.5)) == cost + cost + cost
    assert cost_from(cost.to_list()) == cost
    assert Cost(Fraction(0), Fraction(0), (0, 0)) + cost == cost


@pytest.mark.parametrize(
    ("event", "epsilon"),
    [(BoundedRangeEvent(epsilon=0.01), 1), (LaplaceProfileEvent(epsilon=0.01), 1), (BoundedRangeEvent(epsilon=0.1), 3)],
)
def test_little_is_lost_against_the_best_order_afterwards(event: Event, epsilon: int) -> None:
    limit = Fraction(epsilon)
    count = most(event, limit, account(limit))
    assert compose([ComposedEvent(event=event, count=count)]).epsilon(1e-6) <= epsilon
    assert compose([ComposedEvent(event=event, count=round(count * 1.02) + 1)]).epsilon(1e-6) > epsilon


KINDS = st.sampled_from([BoundedRangeEvent, LaplaceProfileEvent, LogisticProfileEvent, PureEvent])


@given(
    KINDS, st.floats(1e-6, 2), st.integers(0, 300), st.sampled_from([Fraction(1), Fraction(3), Fraction(1, 3)]), KINDS
)
def test_what_is_left_is_accepted(kind: type, epsilon: float, count: int, limit: Fraction, last: type) -> None:
    terms = account(limit)
    count = min(count, most(kind(epsilon=epsilon), limit, terms))
    total = terms.cost(kind(epsilon=epsilon)).times(count)
    left = fraction_down(limit - terms.spent(total))
    if left > 0:
        assert terms.allow(limit, total + terms.cost(last(epsilon=left)))


def test_a_raised_limit_keeps_its_orders_and_still_lets_most_through() -> None:
    event = BoundedRangeEvent(epsilon=0.01)
    raised, fresh = most(event, Fraction(4), account(Fraction(1))), most(event, Fraction(4), account(Fraction(4)))
    assert 0.7 * fresh < raised < fresh
