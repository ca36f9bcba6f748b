"""The claims of ``proofs/different_sensitivities.md``, over all neighbours of small inputs, with controls."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cache
from itertools import product

import pytest

from tests.reference.different_sensitivities import (
    Distance,
    by_hull,
    generalized_scores,
    larger,
    own_scale_law,
    plus,
    upper_half,
)
from tests.reference.permute_and_flip import law_by_positions
from tests.reference.precision import exponential

Law = Callable[[tuple[Fraction, ...]], tuple[float, ...]]
SENSITIVITIES = [(1, 1, 1), (1, 1, 3), (1, 2, 4), (2, 1, 1)]


def exact(numbers: Sequence[int]) -> tuple[Fraction, ...]:
    return tuple(map(Fraction, numbers))


def generalized(
    sensitivities: tuple[Fraction, ...], *, epsilon: Fraction, together: Distance, shift: Fraction = Fraction(1)
) -> Law:
    @cache
    def law(scores: tuple[Fraction, ...]) -> tuple[float, ...]:
        u = generalized_scores(scores, sensitivities, shift=shift, together=together)
        return tuple(map(float, law_by_positions([exponential(each * epsilon / 2) for each in u])))

    return law


def own_scales(sensitivities: tuple[Fraction, ...], *, epsilon: Fraction, widths: Sequence[Fraction]) -> Law:
    rates = [epsilon / width for width in widths]

    @cache
    def law(scores: tuple[Fraction, ...]) -> tuple[float, ...]:
        coins = [exponential((score - max(scores)) * rate) for score, rate in zip(scores, rates, strict=True)]
        return tuple(map(float, own_scale_law(coins, rates)))

    return law


def largest_loss(law: Law, sensitivities: tuple[Fraction, ...], *, one_way: bool = False, reach: int = 8) -> float:
    """Over scores that lie some of their sensitivities apart, and all neighbours."""
    worst = 0.0
    steps = range(-reach, reach + 1, 2)
    for middle, last in product(steps, steps):
        scores = (Fraction(0), Fraction(middle), Fraction(last))
        before = law(scores)
        for moves in product((0, 1) if one_way else (-1, 0, 1), repeat=3):
            after = law(tuple(s + move * each for s, move, each in zip(scores, moves, sensitivities, strict=True)))
            worst = max([worst, *(abs(math.log(p / q)) for p, q in zip(before, after, strict=True))])
    return worst


@pytest.mark.sampled(1)
@pytest.mark.parametrize("given", SENSITIVITIES)
@pytest.mark.parametrize(("together", "one_way"), [(plus, False), (larger, True)])
def test_the_generalized_rule_costs_epsilon(given: tuple[int, ...], together: Distance, one_way: bool) -> None:
    epsilon, sensitivities = Fraction(1), exact(given)
    law = generalized(sensitivities, epsilon=epsilon, together=together)
    assert largest_loss(law, sensitivities, one_way=one_way) <= 1 + 1e-12


def loss_of(scores: tuple[int, ...], given: tuple[int, ...], moves: tuple[int, ...], law: Law) -> float:
    """Between two neighbours."""
    after = [score + move * each for score, move, each in zip(scores, moves, given, strict=True)]
    pairs = zip(law(exact(scores)), law(exact(after)), strict=True)
    return max(abs(math.log(p / q)) for p, q in pairs)


def test_the_generalized_rule_uses_most_of_epsilon() -> None:
    """The largest loss that a search found; nothing proves that there is no larger one."""
    sensitivities, half = exact((8, 8, 1, 8, 1)), Fraction(1, 2)
    for share, epsilon in ((0.82, half), (1.15, Fraction(3, 4))):  # control: two thirds of the noise
        law = generalized(sensitivities, epsilon=epsilon, together=plus)
        loss = loss_of((-11, -2, -27, -5, -19), (8, 8, 1, 8, 1), (-1, 1, 1, -1, -1), law)
        assert share * float(half) < loss <= float(epsilon)


def test_the_larger_sensitivity_is_not_enough_if_scores_move_any_way() -> None:
    """Control: the rule for scores that move the same way."""
    given, scores, moves = (6, 1, 1, 1), (-6, -16, -17, -10), (1, -1, 1, 1)
    for together, most in ((plus, 1.0), (larger, 1.2)):
        law = generalized(exact(given), epsilon=Fraction(1), together=together, shift=Fraction(2))
        loss = loss_of(scores, given, moves, law)
        assert (loss > 1.1) == (together is larger)
        assert loss <= most


def test_dividing_a_score_by_its_sensitivity_is_no_such_rule() -> None:
    """Control: it has another best candidate."""
    scores, sensitivities = exact((10, 12)), exact((1, 4))
    divided = [score / each for score, each in zip(scores, sensitivities, strict=True)]
    assert divided.index(max(divided)) == 0
    u = generalized_scores(scores, sensitivities, shift=Fraction(1, 10), together=plus)
    assert list(u).index(max(u)) == 1


@pytest.mark.sampled(1)
@pytest.mark.parametrize("given", SENSITIVITIES)
def test_noise_of_own_scales_costs_epsilon(given: tuple[int, ...]) -> None:
    sensitivities = exact(given)
    widths = [each + max(sensitivities) for each in sensitivities]
    loss = largest_loss(own_scales(sensitivities, epsilon=Fraction(1), widths=widths), sensitivities)
    assert 0.95 < loss <= 1 + 1e-12 or given[0] == max(given)


def test_noise_of_twice_the_own_sensitivity_costs_more() -> None:
    """Control: the scale that would do if all had this sensitivity."""
    sensitivities = exact((1, 1, 4))
    law = own_scales(sensitivities, epsilon=Fraction(1), widths=[2 * each for each in sensitivities])
    assert largest_loss(law, sensitivities) > 1.5


@pytest.mark.parametrize("given", [*SENSITIVITIES, (5, 3, 3), (1, 7, 2)])
@pytest.mark.parametrize("shift", [Fraction(1, 3), Fraction(5)])
def test_the_hull_gives_the_scores(given: tuple[int, ...], shift: Fraction) -> None:
    sensitivities = exact((*given, 4))
    for scores in product(range(0, 7, 3), repeat=4):
        u = generalized_scores(exact(scores), sensitivities, shift=shift, together=plus)
        assert by_hull(exact(scores), sensitivities, shift=shift) == u
        assert max(u) == 0


@pytest.mark.sampled(1)
@pytest.mark.parametrize("together", [plus, larger])
def test_a_score_ahead_is_within_twice_t_of_everybody(together: Distance) -> None:
    """Claim 4: if u_i >= -t, then s_i >= s_j - 2 t D_j for all j."""
    shift, found = Fraction(2), 0
    for scores in product(range(-9, 10, 3), repeat=3):
        for given in SENSITIVITIES:
            u = generalized_scores(exact(scores), exact(given), shift=shift, together=together)
            for i in range(3):
                if u[i] >= -shift:
                    found += scores[i] < max(scores)
                    assert all(scores[i] >= scores[j] - 2 * shift * given[j] for j in range(3))
    assert found > 100, "not only of the best"


def test_coins_halve_a_memoryless_time() -> None:
    for q in (Fraction(1, 2), Fraction(9, 10), Fraction(1, 1000)):
        above_one, below_two = q - q * q, 1 - q * q
        assert upper_half(q) == above_one / below_two
        assert upper_half(q) != q


def test_own_scales_that_are_equal_are_permute_and_flip() -> None:
    coins = [Fraction(1), Fraction(1, 3), Fraction(2, 5)]
    assert own_scale_law(coins, [Fraction(1, 7)] * 3) == law_by_positions(coins)
    assert own_scale_law(coins, [Fraction(1, 7), Fraction(1), Fraction(1)]) != law_by_positions(coins)
    assert sum(own_scale_law(coins, [Fraction(1, 7), Fraction(1, 2), Fraction(1, 3)])) == 1
