"""Claim 4 of the proof page: for all small scores, what a gap says is wrong as seldom as stated."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from itertools import product
from typing import Any

from tests.reference.exponential_once import gap_tail
from tests.reference.races import uniform_race


def test_with_exponential_noise_a_gap_is_as_likely_as_claimed() -> None:
    """Scores are logarithms of twos; the tail of a difference is exact."""

    def tail(shrink: Fraction) -> Fraction:  # H(x), at exp(-x)
        return shrink / 2 if shrink <= 1 else 1 - 1 / (2 * shrink)

    largest, above_half, race = Fraction(0), Fraction(0), cache(uniform_race)
    for halvings in product((0, 1, 3), repeat=3):
        rates = [Fraction(1, 2) ** each for each in halvings]

        def law(given: Any) -> Any:
            return race(tuple(given), finishers=1)

        for winner in range(3):
            growth = rates[winner] / max(rate for place, rate in enumerate(rates) if place != winner)
            if growth < 1:
                continue
            came = law(rates)[winner,]
            for shrink in (Fraction(1, 2), Fraction(1, 8), Fraction(1, 64)):
                chance = gap_tail(law, rates, (winner,), [shrink]) / came
                largest = max(largest, chance / (tail(shrink * growth) / tail(growth)))
                above_half = max(above_half, chance / tail(shrink * growth))
    assert Fraction(99, 100) < largest <= 1
    assert above_half > 1  # control: without asking whether it is selected
