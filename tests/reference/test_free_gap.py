"""Claims 8 and 9 of the proof page: for all small counts, what a gap says is wrong as seldom as stated."""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from itertools import permutations, product
from math import log
from typing import Any

import pytest

from dpselect.mechanisms import DiscreteGaussianMechanism
from dpselect.mechanisms.discrete_gaussian import difference_bound, log_chance_of_noise
from dpselect.mechanisms.gap_noise import GapNoise
from tests.reference import discrete_gaussian, geometric
from tests.reference.exponential_once import gap_tail
from tests.reference.free_gap import at_least, excluded, normal, orders_and_gaps
from tests.reference.precision import exponential as exp
from tests.reference.races import uniform_race

STEEP = normal({offset: Fraction(1, 2) ** abs(offset) for offset in range(-2, 3)})
FLAT = normal({offset: Fraction(2, 3) ** (offset * offset) for offset in range(-2, 3)})


def worst(noise: Any, denominator: int, *, rarest: bool = False) -> Fraction:
    """The largest chance of a gap over ``H(t - L) / H(denominator - L)``, for all counts, winners and ranks."""
    found = Fraction(0)
    for counts in product((0, 1), (0, 2), (0, 1, 3)):
        law = orders_and_gaps(counts, noise, k=2, rarest=rarest)
        signed = [-count for count in counts] if rarest else counts
        for first in (*permutations(range(3), 1), *permutations(range(3), 2)):

            def bound(gap: int, true: int) -> Fraction:
                above, selected = at_least(noise, gap - true), at_least(noise, denominator - true)
                return above / selected if selected and above else Fraction(1)

            found = max([found, *excluded(law, signed, first, bound)])
    return found


@pytest.mark.parametrize(("noise", "rarest"), [(STEEP, False), (FLAT, True)])
def test_a_gap_of_whole_counts_is_as_likely_as_claimed(noise: Any, rarest: bool) -> None:
    assert Fraction(99, 100) < worst(noise, 1, rarest=rarest) <= 1
    assert worst(noise, 0, rarest=rarest) > 1  # control: as if the later of two equal ones were never selected


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


def test_the_product_bounds_the_exact_tails() -> None:
    """Of geometric noise to all digits, of Gaussian noise from the safe side."""
    for scale in (0.3, 1.0, 3.0):
        ratio = exp(-1 / Fraction(scale))
        noise: Any = {offset: float(geometric.law(ratio, offset)) for offset in range(-80, 81)}
        said = GapNoise("geometric", scale)
        for gap, true in ((1, 0), (3, 0), (6, 2), (9, 9), (2, 5)):
            exact = at_least(noise, gap - true) / at_least(noise, 1 - true)
            assert said._quotient(gap, true) == pytest.approx(exact, rel=1e-6)
    for variance in (0.2, 1.0, 9.0):
        law = discrete_gaussian.law(Fraction(variance), reach=30)
        noise = {offset: float(chance) for offset, chance in law.items()}
        assert log_chance_of_noise(variance) <= log(1 - max(noise.values()))
        said = GapNoise("discrete gaussian", variance**0.5)
        for gap, true in ((1, 0), (3, 0), (6, 2), (9, 9), (2, 5), (12, 1)):
            exact = at_least(noise, gap - true) / at_least(noise, 1 - true)
            assert exact * (1 - 1e-9) <= said._quotient(gap, true) <= max(5 * exact, 1e-9)
    mechanism = DiscreteGaussianMechanism(epsilon=1.0, delta=1e-6, squared_sensitivity=3)
    assert mechanism.difference_bound(20) == difference_bound(mechanism.variance, 20)
