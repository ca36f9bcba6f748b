"""Randomised response is the exponential mechanism on agreements, private for units of several bits, and unbiased."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import pytest

from tests.reference.randomized_response import estimated_count, exponential_law, respond
from tests.reference.randomness import exact_law

ODDS = [Fraction(3), Fraction(11, 10), Fraction(500)]
VECTORS = list(product([False, True], repeat=3))


@pytest.mark.parametrize("odds", ODDS)
@pytest.mark.parametrize("bits", VECTORS)
def test_turning_bits_is_the_exponential_mechanism(bits: tuple[bool, ...], odds: Fraction) -> None:
    drawn = exact_law(lambda randomness: respond(bits, odds=odds, randomness=randomness))
    assert drawn == exponential_law(bits, odds=odds)
    totals = {sum(odds ** sum(a == b for a, b in zip(x, y, strict=True)) for y in VECTORS) for x in VECTORS}
    assert totals == {(1 + odds) ** 3}  # the normaliser that does not move


@pytest.mark.parametrize("odds", ODDS)
def test_the_loss_is_the_number_of_bits_that_differ(odds: Fraction) -> None:
    laws = {bits: exponential_law(bits, odds=odds) for bits in VECTORS}
    for before, after in product(VECTORS, VECTORS):
        different = sum(a != b for a, b in zip(before, after, strict=True))
        assert max(laws[before][y] / laws[after][y] for y in VECTORS) == odds**different


@pytest.mark.parametrize("odds", ODDS)
@pytest.mark.parametrize("bits", VECTORS)
def test_the_estimate_is_unbiased_with_a_known_variance(bits: tuple[bool, ...], odds: Fraction) -> None:
    law = exponential_law(bits, odds=odds)
    mean = sum(chance * estimated_count(answer, odds=odds) for answer, chance in law.items())
    variance = sum(chance * (estimated_count(answer, odds=odds) - mean) ** 2 for answer, chance in law.items())
    assert mean == sum(bits)
    assert variance == len(bits) * odds / (odds - 1) ** 2  # n / (2 sinh(x/2))^2
