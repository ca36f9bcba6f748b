"""What two races say of gaps, against the probabilities of orders."""

from __future__ import annotations

from fractions import Fraction

import pytest

from tests.reference.exponential_once import gap_tail
from tests.reference.races import exponential_race
from tests.reference.two_races import gap_tail_by_proposals


@pytest.mark.sampled(1)
@pytest.mark.parametrize("bounds", [[1, 1, 1], [1, 1, 2], [3, 1, 1]])
def test_numbers_of_proposals_decide_the_gap(bounds: list[int]) -> None:
    """Whatever the bounds of the weights are, the law is that of claim 2."""
    rates, factor = [Fraction(1), Fraction(1, 2), Fraction(3, 4)], Fraction(5, 2)
    for winner in range(3):
        right = gap_tail(lambda each: exponential_race(each, finishers=1), rates, (winner,), [1 / factor])
        above = [Fraction(each) for each in bounds]
        low, missing = gap_tail_by_proposals(rates, above, winner, factor, most=12)
        assert low <= right <= low + missing
        wrong, _ = gap_tail_by_proposals(rates, above, winner, 2 * factor, most=12)
        assert wrong + missing < right
