"""The question every charge asks, in whole numbers, against its definition."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from dpselect.accounting import BoundedRangeEvent, PureEvent
from dpselect.accounting.filter import Cost, Limits


def _terms(epsilon: Fraction, delta: Fraction) -> Limits:
    return Limits.new(epsilon=epsilon, delta=delta, set_aside=Fraction(0))


limits = st.fractions(Fraction(1, 100), 20, max_denominator=1000)
deltas = st.sampled_from([Fraction(0), Fraction(1, 10**6), Fraction(1, 100)])


@given(limits, deltas, st.floats(1e-6, 2.0), st.integers(1, 5000), st.booleans())
def test_it_is_allowed_exactly_when_what_is_spent_is_within_the_limit(
    limit: Fraction, delta: Fraction, epsilon: float, count: int, is_pure: bool
) -> None:
    terms = _terms(limit, delta)
    event = PureEvent(epsilon=epsilon) if is_pure else BoundedRangeEvent(epsilon=epsilon)
    total = terms.cost(event).times(count)
    assert terms.allow(limit, total) == (terms.spent(total) <= limit)
    assert terms.allow(limit, total) == (terms.spent(total) <= limit)  # also from what was kept


@given(limits)
def test_the_last_unit_decides(limit: Fraction) -> None:
    terms = _terms(limit, Fraction(1, 10**6))
    most = terms.allowances(limit)
    far = limit + 10**9
    for place, units in enumerate(most):
        if units < 0:
            continue
        others = [2**200 if each != place else units for each in range(len(most))]
        assert terms.allow(limit, Cost(far, Fraction(0), tuple(others)))
        others[place] += 1
        assert not terms.allow(limit, Cost(far, Fraction(0), tuple(others)))
