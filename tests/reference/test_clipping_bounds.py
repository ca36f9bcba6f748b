"""The claims of ``proofs/clipping_bounds.md``, by enumeration."""

from __future__ import annotations

from fractions import Fraction

import pytest

from tests.reference.clipping_bounds import (
    beyond,
    exp_epsilon,
    exp_epsilon_of_moments,
    law,
    worst_moment_ratio,
    worst_ratio,
    worst_sum_ratio,
)

HALF = Fraction(1, 2)


def test_the_law_is_that_of_its_definition() -> None:
    """Summed over thresholds far enough, where the model uses closed sums."""
    for counts in ([0], [5, 2, 2, 0], [9, 9, 9], [0, 0, 0]):
        by_hand = [Fraction(0)] * (len(counts) + 1)
        for threshold in range(90):
            left = HALF ** (threshold + 1)
            for place in reversed(range(len(counts))):
                stops = HALF ** max(threshold + 3 - counts[place], 0)
                by_hand[place + 1] += left * stops
                left *= 1 - stops
            by_hand[1] += left
        exact = law(counts, margin=3, ratio=HALF)
        assert sum(exact) == 1
        assert all(0 <= each - other <= HALF**89 for each, other in zip(exact, by_hand, strict=True))


@pytest.mark.sampled(1)
@pytest.mark.parametrize("ratio", [HALF, Fraction(3, 4)])
@pytest.mark.parametrize("margin", [0, 2])
@pytest.mark.parametrize("replaced", [False, True])
def test_no_more_is_lost_than_is_claimed(replaced: bool, margin: int, ratio: Fraction) -> None:
    assert worst_ratio(margin=margin, ratio=ratio, replaced=replaced) == exp_epsilon(ratio, replaced=replaced)
    control = worst_ratio(margin=margin, ratio=ratio, replaced=replaced, rows_count=2)
    assert control > exp_epsilon(ratio, replaced=replaced)


def test_the_bound_and_the_sum_together_cost_both() -> None:
    quarter = Fraction(1, 4)
    assert worst_sum_ratio(margin=1, ratio=quarter) <= quarter**-2
    assert worst_sum_ratio(margin=1, ratio=quarter, scaled=False) > quarter**-2  # control


@pytest.mark.parametrize("ratio", [HALF, Fraction(3, 4)])
@pytest.mark.parametrize("degree", [1, 2])
@pytest.mark.parametrize("replaced", [False, True])
def test_the_bound_and_the_sums_of_shares_together_cost_both(replaced: bool, degree: int, ratio: Fraction) -> None:
    claimed = exp_epsilon_of_moments(ratio, degree=degree, replaced=replaced)
    worst = worst_moment_ratio(margin=1, ratio=ratio, degree=degree, replaced=replaced)
    assert worst <= claimed
    added = exp_epsilon_of_moments(ratio, degree=degree)
    assert worst == added if not replaced else worst > added  # control: what is replaced counts twice
    if not replaced:
        assert worst_moment_ratio(margin=1, ratio=ratio, degree=degree, shared=False) > claimed  # control


@pytest.mark.parametrize("counts", [[9, 9, 0, 0, 0], [0, 0, 0, 0], [2, 1, 0]])
def test_the_bound_is_seldom_beyond_all_values(counts: list[int]) -> None:
    kappa = (1 - HALF) / (1 - HALF**2)
    for margin in range(6):
        claimed = len(counts) * kappa * HALF**margin
        assert beyond(counts, margin=margin, ratio=HALF) <= claimed
    assert beyond(counts, margin=0, ratio=HALF) > len(counts) * kappa * HALF**5  # control: less than with no margin
