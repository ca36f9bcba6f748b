"""The claims of ``proofs/top_k_sets.md``, enumerated over all neighbours of small inputs, with controls."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations, product

import pytest

from tests.reference.top_k_sets import canonical_score, classes, largest_change, law, law_by_classes, stretch

GROWTH = Fraction(9, 4)
SIZES = [(2, 1), (3, 1), (3, 2), (4, 2), (4, 3), (5, 2)]


@pytest.mark.parametrize(("n", "k"), SIZES)
def test_classes_hold_every_set_once_and_give_the_law(n: int, k: int) -> None:
    assert sum(number for _, _, number in classes(n, k)) == math.comb(n, k)
    for scores in [(5, 1, 3, 4, 0), (2, 2, 2, 1, 1), (0,) * 5]:
        assert law_by_classes(scores[:n], k, GROWTH) == law(scores[:n], k, GROWTH)


@pytest.mark.parametrize(("n", "k"), [(6, 2), (7, 4), (5, 4)])
def test_stretches_of_ranks_are_counted_in_closed_form(n: int, k: int) -> None:
    counted = {(h, t): number for h, t, number in classes(n, k)}
    for h in range(1, k + 1):
        for first, last in combinations(range(k + 1, n + 1), 2):
            assert stretch(n, k, h, first, last) == sum(counted[h, t] for t in range(first, last + 1))


def widest_range(n: int, k: int, moves: tuple[int, ...]) -> int:
    """Over all scores up to 3: how far changes of sets' scores lie apart."""
    widest = 0
    for scores in product(range(4), repeat=n):
        for shift in product(moves, repeat=n):
            low, high = largest_change(scores, [score + move for score, move in zip(scores, shift, strict=True)], k)
            widest = max(widest, high - low)
    return widest


@pytest.mark.parametrize(("n", "k"), [(2, 1), (3, 1), (3, 2), (4, 2)])
def test_the_range_is_twice_the_sensitivity_or_four_times(n: int, k: int) -> None:
    assert widest_range(n, k, (0, 1)) == 2
    if n < 4:
        assert widest_range(n, k, (-1, 0, 1)) == 4


def largest_loss(n: int, k: int, *, growth: Fraction, moves: tuple[int, ...], far: int = 12) -> float:
    """Over scores that are few values apart, and all neighbours."""
    worst = 0.0
    for scores in product((0, 1, far), repeat=n):
        before = law(scores, k, growth)
        for shift in product(moves, repeat=n):
            after = law([score + move for score, move in zip(scores, shift, strict=True)], k, growth)
            worst = max([worst, *(abs(math.log(before[each] / after[each])) for each in before)])
    return worst


@pytest.mark.sampled(1)
@pytest.mark.parametrize(("moves", "times"), [((0, 1), 2), ((-1, 1), 4)])
def test_the_loss_is_epsilon_at_most_and_nearly_all_of_it(moves: tuple[int, ...], times: int) -> None:
    growth = Fraction(4)
    epsilon = times * math.log(growth)
    loss = largest_loss(4, 2, growth=growth, moves=moves)
    assert 0.95 * epsilon < loss <= epsilon + 1e-12
    assert loss > epsilon / 2  # control: half the noise would not be enough


def test_a_set_of_all_but_one_costs_the_same() -> None:
    growth = Fraction(4)
    assert largest_loss(3, 2, growth=growth, moves=(0, 1)) <= 2 * math.log(growth) + 1e-12


@pytest.mark.parametrize(("n", "k"), SIZES)
def test_the_bound_of_the_error_holds_for_all_scores(n: int, k: int) -> None:
    """Claim 3: with tau = b theta, Pr[u <= -tau] is at most (N - 1) e^-theta / (1 + (N - 1) e^-theta)."""
    sets = math.comb(n, k)
    for distance in (1, 2):
        bound = Fraction(sets - 1) / GROWTH**distance
        bound /= 1 + bound
        reached = Fraction(0)
        for scores in product(range(3), repeat=n):
            chance = Fraction(0)
            for members, each in law(scores, k, GROWTH).items():
                left_out = [score for place, score in enumerate(scores) if place not in members]
                if min(scores[place] for place in members) <= max(left_out) - distance:
                    chance += each
            reached = max(reached, chance)
        assert reached <= bound
        assert reached > bound / 16


def test_the_score_may_not_be_cut_off_at_zero() -> None:
    """Control: the best set's lead counts. Cut off at 0 it would be drawn less often."""
    scores = (9, 5, 1)
    whole = law(scores, 1, GROWTH)[(0,)]
    cut = {members: GROWTH ** min(0, canonical_score(scores, members)) for members in law(scores, 1, GROWTH)}
    assert whole > cut[(0,)] / sum(cut.values())
