"""Claim 8 of the proof page: for all small scores, what a gap says is wrong as seldom as stated."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from itertools import permutations, product
from typing import Any

from tests.reference.exponential_once import gap_tail
from tests.reference.races import uniform_race


def test_with_exponential_noise_each_gap_is_as_likely_as_claimed() -> None:
    """Scores are logarithms of twos; the tail of a difference is exact."""

    def tail(shrink: Fraction) -> Fraction:  # H(x), at exp(-x)
        return shrink / 2 if shrink <= 1 else 1 - 1 / (2 * shrink)

    largest, above_half, race = Fraction(0), Fraction(0), cache(uniform_race)
    for halvings in product((0, 1, 3), repeat=3):
        rates = [Fraction(1, 2) ** each for each in halvings]

        def law(given: Any, finishers: int) -> Any:
            return race(tuple(given), finishers=finishers)

        for r in (1, 2):
            for first in permutations(range(3), r):
                growth = rates[first[-1]] / max(rate for place, rate in enumerate(rates) if place not in first)
                if growth < 1:
                    continue
                came = law(rates, r)[first]
                for shrink in (Fraction(1, 2), Fraction(1, 8), Fraction(1, 64)):
                    only_last = [*[Fraction(1)] * (r - 1), shrink]
                    chance = gap_tail(lambda given, r=r: law(given, r), rates, first, only_last) / came
                    largest = max(largest, chance / (tail(shrink * growth) / tail(growth)))
                    above_half = max(above_half, chance / tail(shrink * growth))
    assert Fraction(99, 100) < largest <= 1
    assert above_half > 1  # control: without asking whether it is selected
