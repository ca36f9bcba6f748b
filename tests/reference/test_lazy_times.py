"""Times known in part come in the order of the real numbers, up to what a limited number of bits leaves open."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import permutations

import pytest

from tests.reference.lazy_times import Clock, compared, first_of
from tests.reference.permute_and_flip import law_by_heads
from tests.reference.randomness import Randomness, as_vector, exact_law
from tests.slow import SLOW

Law = dict[int | None, Fraction]
STEPS = 5 if SLOW else 4
"""How many bits of a time are looked at: each step leaves less undecided, and takes four times as long."""


def fresh(rates: Sequence[Fraction]) -> list[Clock]:
    """Uniform times on ``[0, 1 / rate]``."""
    return [Clock(0, 0, 1, rate) for rate in rates]


def fits(law: Law, expected: Sequence[Fraction]) -> bool:
    undecided = law.get(None, Fraction(0))
    assert undecided < Fraction(1, 4)
    decided = as_vector(law, count=len(expected))
    return all(chance <= right <= chance + undecided for chance, right in zip(decided, expected, strict=True))


@pytest.mark.parametrize("rates", list(permutations((Fraction(1), Fraction(1, 2), Fraction(1, 5)))), ids=str)
def test_the_first_is_that_of_permute_and_flip(rates: Sequence[Fraction]) -> None:
    law = exact_law(lambda randomness: first_of(fresh(rates), steps=STEPS, randomness=randomness))
    assert fits(law, law_by_heads(tuple(rates)))


def test_forgetting_the_scores_that_times_are_measured_from_gives_another_law() -> None:
    rates = (Fraction(1), Fraction(1, 4))
    law = exact_law(lambda randomness: first_of(fresh([Fraction(1)] * 2), steps=STEPS, randomness=randomness))
    assert not fits(law, law_by_heads(rates))


def test_forgetting_what_a_comparison_said_gives_another_law() -> None:
    """The time of one that came first is known to be early: drawn anew, it loses later comparisons too often."""
    equal = (Fraction(1),) * 3

    def forgetful(randomness: Randomness) -> int | None:
        first = 0
        for place in (1, 2):
            is_before, _, _ = compared(*fresh(equal[:2]), steps=STEPS, randomness=randomness)
            if is_before is None:
                return None
            first = place if is_before else first
        return first

    law = exact_law(lambda randomness: first_of(fresh(equal), steps=STEPS, randomness=randomness))
    assert fits(law, law_by_heads(equal))
    assert not fits(exact_law(forgetful), law_by_heads(equal))


@pytest.mark.sampled(1)
@pytest.mark.parametrize(("known", "chance"), [(1, Fraction(1)), (2, Fraction(5, 6)), (3, Fraction(1, 6))])
def test_a_time_of_several_parts_lies_where_their_sum_does(known: int, chance: Fraction) -> None:
    """``known + U + V`` against ``3 + W``: ``U + V < W`` in a sixth of the cube."""
    clocks = [Clock(known, 0, 2, Fraction(1)), Clock(3, 1, 1, Fraction(1, 2))]
    law = exact_law(lambda randomness: first_of(clocks, steps=4, randomness=randomness))
    assert fits(law, [chance, 1 - chance])
