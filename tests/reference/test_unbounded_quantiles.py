"""The claims of ``proofs/unbounded_quantiles.md``, by enumeration."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise

import pytest

from tests.reference.unbounded_quantiles import data_sets, exp_epsilon, fresh_thresholds, law, scores, worst_ratio

HALF = Fraction(1, 2)
LEVELS = [Fraction(0), Fraction(1, 4), HALF, Fraction(9, 10), Fraction(1)]
RATES = [(1, 1), (1, 2), (2, 1)]


def test_the_law_is_that_of_its_definition() -> None:
    """Summed over thresholds far enough, where the model uses closed sums."""
    for reached in ([0], [-3, 1, 2], [-1, -1, 0, -4], [2, 5]):
        first, second = Fraction(1, 2), Fraction(2, 3)
        by_hand = [Fraction(0)] * (len(reached) + 1)
        for threshold in range(90):
            left = (1 - first) * first**threshold
            for place, score in enumerate(reached):
                passes = second ** max(threshold - score, 0)
                by_hand[place] += left * passes
                left *= 1 - passes
            by_hand[-1] += left
        exact = law(reached, first=first, second=second)
        assert sum(exact) == 1
        assert all(0 <= each - other <= first**90 for each, other in zip(exact, by_hand, strict=True))


@pytest.mark.sampled(3)
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("rates", RATES)
@pytest.mark.parametrize("replaced", [False, True])
@pytest.mark.parametrize("most", [1, 2])
def test_no_more_is_lost_than_is_claimed(level: Fraction, rates: tuple[int, int], replaced: bool, most: int) -> None:
    noise = {"first": HALF ** rates[0], "second": HALF ** rates[1]}
    claimed = exp_epsilon(level, most=most, replaced=replaced, **noise)
    for strict in (False, True):
        worst = worst_ratio(level, most=most, replaced=replaced, units=3 - (most > 1), strict=strict, **noise)
        assert worst <= claimed
        if most == 1 and level in (0, 1):
            assert strict or worst == claimed  # tight


def test_controls_lose_more() -> None:
    """The private number of values costs more than a public threshold; replaced units more than added ones."""
    for level in (HALF, Fraction(1)):
        public_threshold = HALF**-level.denominator
        assert worst_ratio(level, most=1, first=HALF, second=HALF, units=3) > public_threshold
    added = exp_epsilon(HALF, most=1, first=HALF, second=HALF)
    assert worst_ratio(HALF, most=1, first=HALF, second=HALF, units=3, replaced=True) > added
    one_value = exp_epsilon(Fraction(1), most=1, first=HALF, second=HALF)
    assert worst_ratio(Fraction(1), most=2, first=HALF, second=HALF, units=2) > one_value


def test_a_new_threshold_for_each_candidate_is_not_private() -> None:
    here, there = (fresh_thresholds([score] * 12, first=HALF, second=HALF)[-1] for score in (-1, 0))
    assert here / there > exp_epsilon(Fraction(1), most=1, first=HALF, second=HALF)


def test_the_threshold_beyond_the_largest_value() -> None:
    """Claim 6, and that it is nearly attained with small noise."""
    for k in range(1, 12):
        none = law([0] * k, first=HALF, second=HALF)[-1]
        assert none <= Fraction(1, k + 1)
    fine = Fraction(99, 100)
    assert law([0] * 4, first=fine, second=fine)[-1] > Fraction(1, 5) * Fraction(9, 10)


@pytest.mark.sampled(2)
@pytest.mark.parametrize("level", LEVELS)
def test_the_error_bound_holds(level: Fraction) -> None:
    """Claim 5, for all tiny data sets and several bounds, with the chance in fractions."""
    first = second = HALF
    candidates = 3
    kappa = (1 - first) / (1 - first * second)
    for bound in range(0, 4 * level.denominator, max(1, level.denominator // 2)):
        allowed = (candidates * kappa * second**bound if level else 0) + (first**bound if level < 1 else 0)
        for data in data_sets(3, candidates):
            reached = scores(data, candidates, level=level)
            known = [*reached, (level.denominator - level.numerator) * len(data)]
            outside = Fraction(0)
            below = [-level.numerator * len(data), *known]
            for place, chance in enumerate(law(reached, first=first, second=second)):
                if known[place] < -bound or below[place] > bound:
                    outside += chance
            assert outside <= allowed


def test_scores_never_decrease_and_move_as_claimed() -> None:
    for level in LEVELS:
        for data in data_sets(3, 3):
            here = scores(data, 3, level=level)
            assert all(one <= two for one, two in pairwise(here))
            for unit in ((0,), (1, 3), (2, 2), (3,)):
                there = scores((*data, unit), 3, level=level)
                moves = [after - before for before, after in zip(here, there, strict=True)]
                assert all(one <= two for one, two in pairwise(moves))
                assert moves[0] >= -level.numerator * len(unit)
                assert moves[-1] <= (level.denominator - level.numerator) * len(unit)
