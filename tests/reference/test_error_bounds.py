"""The worst score vectors: nothing random does worse, and the closed forms are what they give."""

from __future__ import annotations

import math
from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from tests.reference import exponential
from tests.reference.error_bounds import (
    chance_of_falling_behind,
    worst_chance_exponential,
    worst_chance_permute_and_flip,
    worst_flip_probabilities,
)
from tests.reference.noisy_max import laplace_noise_law
from tests.reference.permute_and_flip import law_by_integral
from tests.reference.strategies import few_examples, flip_probabilities

ROUNDING = Fraction(1, 10**50)
cutoffs = st.fractions(Fraction(1, 24), Fraction(23, 24), max_denominator=24)


@few_examples
@given(flip_probabilities(), cutoffs)
def test_no_scores_fall_further_behind_than_one_best_and_the_rest_at_the_distance(
    p: tuple[Fraction, ...], cutoff: Fraction
) -> None:
    n = len(p)
    behind = chance_of_falling_behind(exponential.law(p), p, cutoff=cutoff)
    assert behind <= worst_chance_exponential(n, cutoff=cutoff)
    behind = chance_of_falling_behind(law_by_integral(p), p, cutoff=cutoff)
    assert behind <= worst_chance_permute_and_flip(n, cutoff=cutoff)
    worst = worst_flip_probabilities(n, cutoff=cutoff)
    laplace = [chance.value() for chance in laplace_noise_law(p)]
    laplace_at_worst = [chance.value() for chance in laplace_noise_law(worst)]
    behind = chance_of_falling_behind(laplace, p, cutoff=cutoff)
    assert behind <= chance_of_falling_behind(laplace_at_worst, worst, cutoff=cutoff) + ROUNDING


@few_examples
@given(st.integers(1, 7), cutoffs)
def test_the_closed_forms_are_attained(n: int, cutoff: Fraction) -> None:
    p = worst_flip_probabilities(n, cutoff=cutoff)
    attained = chance_of_falling_behind(exponential.law(p), p, cutoff=cutoff)
    assert attained == worst_chance_exponential(n, cutoff=cutoff)
    attained = chance_of_falling_behind(law_by_integral(p), p, cutoff=cutoff)
    assert attained == worst_chance_permute_and_flip(n, cutoff=cutoff)


@few_examples
@given(st.integers(2, 7), cutoffs)
def test_permute_and_flip_falls_behind_less_often(n: int, cutoff: Fraction) -> None:
    ours, theirs = worst_chance_permute_and_flip(n, cutoff=cutoff), worst_chance_exponential(n, cutoff=cutoff)
    assert theirs / 2 <= ours < theirs
    assert ours <= (n - 1) * cutoff / 2


def expected_error(law: tuple[Fraction, ...], p: tuple[Fraction, ...]) -> float:
    """In units of the scale."""
    return sum(float(chance) * -math.log(p_i) for chance, p_i in zip(law, p, strict=True))


def worst_expected_error(n: int, *, exponential_mechanism: bool) -> float:
    """The largest over ``(1, p, ..., p)``, by golden-section search over ``ln(1/p)``, where it has one peak."""

    def error(distance: float) -> float:
        p = math.exp(-distance)
        best = 1 / (1 + (n - 1) * p) if exponential_mechanism else -math.expm1(n * math.log1p(-p)) / (n * p)
        return distance * (1 - best)

    low, high, golden = 1e-9, 3 + 2 * math.log(n), (math.sqrt(5) - 1) / 2
    for _ in range(60):
        left, right = high - golden * (high - low), low + golden * (high - low)
        low, high = (left, high) if error(left) < error(right) else (low, right)
    return error((low + high) / 2)


@few_examples
@given(flip_probabilities(min_size=2))
def test_no_scores_have_a_larger_expected_error(p: tuple[Fraction, ...]) -> None:
    n = len(p)
    ours, theirs = expected_error(law_by_integral(p), p), expected_error(exponential.law(p), p)
    assert ours <= worst_expected_error(n, exponential_mechanism=False) + 1e-12
    assert theirs <= worst_expected_error(n, exponential_mechanism=True) + 1e-12
    assert ours - 1e-12 <= theirs <= 2 * ours + 1e-12
    assert theirs <= math.log(n)


def test_the_worst_expected_error_lies_between_the_two_logarithms() -> None:
    for n in (2, 3, 10, 1000):
        ours = worst_expected_error(n, exponential_mechanism=False)
        theirs = worst_expected_error(n, exponential_mechanism=True)
        assert math.log(n) / 4 <= ours < theirs <= math.log(n)


def test_a_bound_for_fewer_candidates_does_not_hold() -> None:
    cutoff = Fraction(1, 4)
    p = worst_flip_probabilities(4, cutoff=cutoff)
    behind = chance_of_falling_behind(law_by_integral(p), p, cutoff=cutoff)
    assert behind > worst_chance_permute_and_flip(3, cutoff=cutoff)
    behind = chance_of_falling_behind(exponential.law(p), p, cutoff=cutoff)
    assert behind > worst_chance_exponential(3, cutoff=cutoff)
