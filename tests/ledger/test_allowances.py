"""The question every charge asks, to the last unit of a divergence."""

from __future__ import annotations

import math
from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from dpselect.accounting.filter import UNIT, Cost, Limits, conversion


@given(st.fractions(Fraction(1, 100), 20, max_denominator=1000))
def test_the_last_unit_decides(limit: Fraction) -> None:
    delta = Fraction(1, 10**6)
    terms = Limits.new(epsilon=limit, delta=delta, set_aside=Fraction(0))
    most = [math.floor((limit - conversion(order, delta)) * UNIT) for order in terms.orders]
    far = limit + 10**9
    for place, units in enumerate(most):
        if units < 0:
            continue
        others = [2**200 if each != place else units for each in range(len(most))]
        assert terms.allow(limit, Cost(far, Fraction(0), tuple(others)))
        others[place] += 1
        assert not terms.allow(limit, Cost(far, Fraction(0), tuple(others)))
