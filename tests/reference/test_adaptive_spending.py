"""No strategy gets past the ledger's filter, and some would get past a wrong one."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from dpselect.accounting import PureEvent
from dpselect.accounting.filter import Cost, Limits
from tests.reference.adaptive_spending import Counts, worst_delta

EXP_EPSILON = Fraction(27, 20)  # epsilon = 0.300...
EPSILON = Fraction(math.log(1.35))
DELTA = Fraction(1, 20)
ODDS = [Fraction(21, 20), Fraction(5, 4)]
EVENTS = [PureEvent(epsilon=math.nextafter(math.log(float(odds)), 1)) for odds in ODDS]


def terms(delta: Fraction) -> Limits:
    return Limits.new(epsilon=EPSILON, delta=delta, set_aside=Fraction(0))


def total(account: Limits, counts: Counts) -> Cost:
    costs = (account.cost(event).times(count) for event, count in zip(EVENTS, counts, strict=True))
    return sum(costs, account.nothing)


@pytest.mark.parametrize("delta", [Fraction(0), DELTA])
def test_no_strategy_gets_past_the_filter(delta: Fraction) -> None:
    account = terms(delta)
    worst = worst_delta(ODDS, lambda counts: account.allow(EPSILON, total(account, counts)), EXP_EPSILON)
    assert worst <= delta
    if delta:
        assert account.allow(EPSILON, total(account, (7, 0)))  # more than the sum of epsilons would allow: 6
        assert not terms(Fraction(0)).allow(EPSILON, total(terms(Fraction(0)), (7, 0)))


def test_the_law_above_can_fail() -> None:
    account = terms(DELTA)
    for factor in (1.5, 2):
        wrong = Fraction(factor) * EPSILON
        worst = worst_delta(ODDS, lambda counts, wrong=wrong: account.allow(wrong, total(account, counts)), EXP_EPSILON)
        if worst > DELTA:
            return
    pytest.fail("a filter that lets twice as much through was found private")
