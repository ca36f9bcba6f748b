"""The claims of ``proofs/weighted_candidates.md``, enumerated, with controls."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import pytest

from tests.reference.weighted_candidates import by_copies, failure, law, odds_against, pieces_law, worst_failure

GROWTH = Fraction(9, 4)
"""e^(1/b) for scores that move by 1: e^epsilon is its square, or itself if they all move the same way."""
WEIGHTS = [(1, 1, 1), (1, 5, 2), (1, 100, 100), (3, 0, 7), (0, 0, 4), (Fraction(1, 3), Fraction(7, 2), 1000)]


def largest_ratio(weights: tuple[Fraction, ...], *, moves: tuple[int, ...]) -> Fraction:
    worst = Fraction(1)
    for scores in product(range(3), repeat=3):
        before = law(scores, weights, GROWTH)
        for shift in product(moves, repeat=3):
            after = law([score + move for score, move in zip(scores, shift, strict=True)], weights, GROWTH)
            worst = max([worst, *(max(p / q, q / p) for p, q in zip(before, after, strict=True) if p)])
    return worst


@pytest.mark.sampled(3)
@pytest.mark.parametrize("given", WEIGHTS)
@pytest.mark.parametrize(("moves", "square"), [((-1, 0, 1), 2), ((0, 1), 1)])
def test_weights_cost_nothing(given: tuple[Fraction, ...], moves: tuple[int, ...], square: int) -> None:
    weights = tuple(map(Fraction, given))
    assert largest_ratio(weights, moves=moves) <= GROWTH**square


def test_the_whole_of_epsilon_is_used_and_half_the_noise_is_not_enough() -> None:
    found = largest_ratio((Fraction(1), Fraction(100), Fraction(100)), moves=(-1, 0, 1))
    assert float(found) > float(GROWTH) ** 1.9  # 0.95 epsilon
    assert found > GROWTH  # control: what scores that all move the same way may lose


@pytest.mark.parametrize("scores", [(0, 0, 0), (2, 0, 1), (5, 1, 5)])
@pytest.mark.parametrize("weights", [(1, 2, 3), (4, 0, 1), (1, 1, 1)])
def test_a_weight_is_a_number_of_copies(scores: tuple[int, ...], weights: tuple[int, ...]) -> None:
    exact = law(scores, [Fraction(weight) for weight in weights], GROWTH)
    assert by_copies(scores, weights, GROWTH) == exact
    bounds = [3 * weight * 6**5 + 1 for weight in weights]
    shares = [weight * GROWTH**score for score, weight in zip(scores, weights, strict=True)]
    assert pieces_law(shares, bounds) == exact


@pytest.mark.parametrize("weights", [(1, 2, 3), (10, 1, 1), (1, 1, 1), (0, 2, 5)])
@pytest.mark.parametrize("distance", [1, 2])
def test_no_scores_have_larger_errors_than_the_worst(weights: tuple[int, ...], distance: int) -> None:
    exact = [Fraction(weight) for weight in weights]
    reached = {place: Fraction(0) for place, weight in enumerate(exact) if weight}
    for scores in product(range(4), repeat=3):
        best = max(reached, key=lambda place: (scores[place], exact[place]))
        chance = failure(scores, exact, GROWTH, distance=distance)
        bound = worst_failure(odds_against(exact, best), GROWTH, distance=distance)
        assert chance <= bound
        reached[best] = max(reached[best], chance / bound)
    assert all(share == 1 for share in reached.values()), "attained, whoever is best"


def test_the_bound_of_a_heavy_candidate_does_not_hold_for_a_light_one() -> None:
    weights = [Fraction(10), Fraction(1)]
    chance = failure([0, 1], weights, GROWTH, distance=1)
    assert chance > worst_failure(odds_against(weights, 0), GROWTH, distance=1)
