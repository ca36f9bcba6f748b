"""Claims 5 and 6 of ``proofs/top_k_sets.md``, enumerated, with controls."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import pytest

from tests.reference import top_k_sets
from tests.reference.weighted_sets import failure_bound, law, law_by_walks

GROWTH = Fraction(9, 4)
WEIGHTS = [(1, 5, 2, 3, 4), (100, 1, 1, 1, 7), (0, 2, 5, 1, 1), (Fraction(1, 3), 7, 1000, 1, 2), (1, 1, 1, 1, 1)]
SIZES = [(3, 1), (4, 2), (5, 2), (5, 3)]


def fractions(weights: tuple[float, ...], n: int) -> list[Fraction]:
    return [Fraction(weight) for weight in weights[:n]]


@pytest.mark.parametrize("given", WEIGHTS)
@pytest.mark.parametrize(("n", "k"), SIZES)
def test_walks_give_the_law_whatever_margins_the_table_has(given: tuple[float, ...], n: int, k: int) -> None:
    weights = fractions(given, n)
    if k >= sum(weight > 0 for weight in weights):
        return
    for scores in [(5, 1, 3, 4, 0), (2, 2, 2, 1, 1), (0,) * 5]:
        exact = law(scores[:n], weights, k, GROWTH)
        assert law_by_walks(scores[:n], weights, k, GROWTH) == exact
        assert law_by_walks(scores[:n], weights, k, GROWTH, lambda each: each * Fraction(11, 10)) == exact


def test_a_table_without_room_for_what_leads_to_it_has_another_law() -> None:
    weights = fractions((1, 5, 2, 3), 4)
    cut = law_by_walks((5, 1, 3, 4), weights, 2, GROWTH, lambda each: each * Fraction(9, 10))
    assert cut != law((5, 1, 3, 4), weights, 2, GROWTH)


def test_equal_weights_are_none() -> None:
    scores = (5, 1, 3, 4, 0)
    assert law(scores, [Fraction(7)] * 5, 2, GROWTH) == top_k_sets.law(scores, 2, GROWTH)


def test_one_without_a_weight_changes_nothing_whatever_its_score() -> None:
    for score in (-100, 2, 100):
        with_it = law((4, score, 1, 3), fractions((1, 0, 2, 3), 4), 2, GROWTH)
        assert list(with_it.values()) == list(law((4, 1, 3), fractions((1, 2, 3), 3), 2, GROWTH).values())


def largest_loss(weights: list[Fraction], k: int, *, growth: Fraction, moves: tuple[int, ...], far: int = 12) -> float:
    worst, n = 0.0, len(weights)
    for scores in product((0, 1, far), repeat=n):
        before = law(scores, weights, k, growth)
        for shift in product(moves, repeat=n):
            after = law([score + move for score, move in zip(scores, shift, strict=True)], weights, k, growth)
            worst = max([worst, *(abs(math.log(before[each] / after[each])) for each in before)])
    return worst


@pytest.mark.parametrize("given", [(1, 5, 2), (100, 1, 1)])
@pytest.mark.parametrize(("moves", "times"), [((0, 1), 2), ((-1, 1), 4)])
def test_weights_cost_nothing(given: tuple[float, ...], moves: tuple[int, ...], times: int) -> None:
    growth = Fraction(4)
    epsilon = times * math.log(growth)
    loss = largest_loss(fractions(given, 3), 2, growth=growth, moves=moves)
    assert 0.9 * epsilon < loss <= epsilon + 1e-12
    assert loss > epsilon / 2  # control: half the noise would not be enough


@pytest.mark.parametrize("given", WEIGHTS[:3])
@pytest.mark.parametrize(("n", "k"), [(3, 1), (4, 2)])
def test_the_bound_of_the_error_holds_for_all_scores(given: tuple[float, ...], n: int, k: int) -> None:
    weights, held = fractions(given, n), [place for place in range(n) if given[place]]
    for distance in (1, 2):
        reached = Fraction(0)
        for scores in product(range(3), repeat=n):
            chance = Fraction(0)
            for members, each in law(scores, weights, k, GROWTH).items():
                left_out = [scores[place] for place in held if place not in members]
                if min(scores[place] for place in members) <= max(left_out) - distance:
                    chance += each
            reached = max(reached, chance)
        bound = failure_bound(weights, k, GROWTH, distance=distance)
        assert reached <= bound
        assert reached > bound / 16


def test_the_bound_without_weights_does_not_hold_with_them() -> None:
    """Control: the light candidate is the best."""
    weights = fractions((1, 50, 50), 3)
    chance = sum(each for members, each in law((1, 0, 0), weights, 1, GROWTH).items() if members != (0,))
    assert chance > failure_bound([Fraction(1)] * 3, 1, GROWTH, distance=1)
