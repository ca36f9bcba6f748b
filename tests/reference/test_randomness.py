"""The enumerator itself: every path, each with its probability, and errors where a program is wrong."""

from __future__ import annotations

from fractions import Fraction

import pytest

from tests.reference.randomness import Randomness, exact_law


def two_dice(randomness: Randomness) -> int:
    return randomness.uniform(6) + randomness.uniform(6) + 2


def test_the_sum_of_two_dice() -> None:
    law = exact_law(two_dice)
    assert law == {total: Fraction(6 - abs(total - 7), 36) for total in range(2, 13)}


def test_paths_of_different_length_and_ways_of_weight_zero() -> None:
    def program(randomness: Randomness) -> str:
        if randomness.coin(Fraction(1, 4)):
            return "short"
        return "abc"[randomness.choose([2, 0, 1])]

    assert exact_law(program) == {"short": Fraction(1, 4), "a": Fraction(1, 2), "c": Fraction(1, 4)}


@pytest.mark.parametrize("weights", [[], [0, 0], [Fraction(3, 2), Fraction(-1, 2)]])
def test_weights_that_are_no_law_are_refused(weights: list[Fraction | int]) -> None:
    with pytest.raises(ValueError, match="weights"):
        Randomness().choose(weights)
