"""No strategy gets past the ledger's filter, and some would get past a wrong one."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from dpselect.accounting import Filter, PureEvent
from dpselect.errors import LimitExceededError
from tests.reference.adaptive_spending import Counts, worst_delta

EXP_EPSILON = Fraction(27, 20)  # epsilon = 0.300...
EPSILON = math.log(1.35)
DELTA = Fraction(0.05)
ODDS = [Fraction(21, 20), Fraction(5, 4)]
EVENTS = [PureEvent(epsilon=math.nextafter(math.log(float(odds)), 1)) for odds in ODDS]


def allowed(counts: Counts, *, delta: Fraction, epsilon: float = EPSILON) -> bool:
    """Whether a filter admits so many of each event, one after another."""
    limit = Filter(epsilon=epsilon, delta=float(delta))
    try:
        for event, count in zip(EVENTS, counts, strict=True):
            for _ in range(count):
                limit.spend(event)
    except LimitExceededError:
        return False
    return True


@pytest.mark.parametrize("delta", [Fraction(0), DELTA])
def test_no_strategy_gets_past_the_filter(delta: Fraction) -> None:
    worst = worst_delta(ODDS, lambda counts: allowed(counts, delta=delta), EXP_EPSILON)
    assert worst <= delta
    assert allowed((7, 0), delta=delta) == (delta > 0)  # more than the sum of epsilons would allow: 6


def test_the_law_above_can_fail() -> None:
    for factor in (1.5, 2):
        wrong = factor * EPSILON
        worst = worst_delta(ODDS, lambda counts, wrong=wrong: allowed(counts, delta=DELTA, epsilon=wrong), EXP_EPSILON)
        if worst > DELTA:
            return
    pytest.fail("a filter that lets twice as much through was found private")
