"""The model of a ranked uniform, against the distribution of order statistics, and what it says of gaps."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import pytest

from tests.reference.exponential_once import gap_tail
from tests.reference.races import exponential_race
from tests.reference.ranked_uniform import chance_below, gap_tail_by_proposals, law_of_cells


@pytest.mark.parametrize("count", [1, 2, 3, 5])
def test_bits_of_a_ranked_uniform_are_those_of_an_order_statistic(count: int) -> None:
    for rank in range(count):
        tails = [chance_below(Fraction(eighths, 8), rank, count) for eighths in range(9)]
        assert law_of_cells(rank, count, 3) == dict(enumerate(high - low for low, high in pairwise(tails)))
    # The control: of one rank more it is another law.
    assert count == 1 or law_of_cells(0, count, 3) != law_of_cells(1, count, 3)


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
