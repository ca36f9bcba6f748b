"""The linear program written out, against what is known of it by hand."""

from __future__ import annotations

from fractions import Fraction

import pytest

from tests.reference import permute_and_flip
from tests.reference.optimal import largest, lattice, least_mean_error, risen


def permute_and_flip_error(n: int, levels: int, *, p: Fraction) -> Fraction:
    """The mean error of permute-and-flip; a step is worth one factor of p."""
    vectors = lattice(n, levels)
    return sum(
        sum(
            step * chance
            for step, chance in zip(steps, permute_and_flip.law_by_heads([p**s for s in steps]), strict=True)
        )
        for steps in vectors
    ) / len(vectors)


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("n", "levels"), [(2, 1), (2, 4), (3, 1), (3, 2)])
def test_permute_and_flip_is_exactly_optimal_above_the_threshold(n: int, levels: int) -> None:
    p = Fraction(3, 8)  # exp(-epsilon) for an epsilon of .981, just above .9624
    assert least_mean_error(n, levels, p=p) == permute_and_flip_error(n, levels, p=p)


def test_it_is_not_far_below_it() -> None:
    p = Fraction(2, 3)
    assert (
        least_mean_error(3, 2, p=p)
        < permute_and_flip_error(3, 2, p=p)
        < Fraction(101, 100) * least_mean_error(3, 2, p=p)
    )


def test_two_candidates_one_step_by_hand() -> None:
    """At (0, 1) the worse may win with p/2 and no less, at (0, 0) each wins half the time."""
    p = Fraction(1, 5)
    assert least_mean_error(2, 1, p=p) == Fraction(2, 3) * p / 2


def test_forgetting_a_constraint_allows_less_error() -> None:
    p = Fraction(1, 2)
    whole = least_mean_error(2, 2, p=p)
    assert least_mean_error(2, 2, p=p, leave_out=1) < whole


def test_rising_keeps_the_best_at_zero() -> None:
    assert all(min(risen(steps, candidate)) == 0 for steps in lattice(3, 2) for candidate in range(3))


def test_the_simplex_method_on_a_degenerate_program() -> None:
    rows = [[Fraction(1), Fraction(0)], [Fraction(1), Fraction(1)], [Fraction(1), Fraction(-1)]]
    assert largest([Fraction(2), Fraction(1)], rows, [Fraction(1), Fraction(1), Fraction(1)]) == 2
