"""Two programs, seven formulas and one noise: all the same law. And what sets it apart from its neighbours."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given

from tests.reference import exponential
from tests.reference.noisy_max import exponential_noise_law
from tests.reference.permute_and_flip import (
    LAWS,
    Law,
    flip_all,
    law_by_dynamic_program,
    law_by_heads,
    law_by_integral,
    law_by_positions,
    permute_and_flip,
)
from tests.reference.randomness import as_vector, exact_law
from tests.reference.strategies import few_examples, flip_probabilities


@few_examples
@given(flip_probabilities(max_size=4))
def test_the_paper_program(p: tuple[Fraction, ...]) -> None:
    drawn = exact_law(lambda randomness: permute_and_flip(p, randomness=randomness))
    assert as_vector(drawn, count=len(p)) == law_by_heads(p)


@few_examples
@given(flip_probabilities(max_size=5))
def test_flipping_every_coin(p: tuple[Fraction, ...]) -> None:
    drawn = exact_law(lambda randomness: flip_all(p, randomness=randomness))
    assert as_vector(drawn, count=len(p)) == law_by_heads(p)


@pytest.mark.parametrize("formula", [law for law in LAWS if law is not law_by_heads])
@few_examples
@given(p=flip_probabilities(max_size=5))
def test_every_formula_is_the_same_law(formula: Law, p: tuple[Fraction, ...]) -> None:
    assert formula(p) == law_by_heads(p)
    assert sum(formula(p)) == 1


@few_examples
@given(flip_probabilities(max_size=5))
def test_exponential_noise_has_this_law(p: tuple[Fraction, ...]) -> None:
    assert exponential_noise_law(p) == law_by_heads(p)


def test_polynomial_time_formulas_agree_where_the_others_cannot_go() -> None:
    p = tuple(Fraction(1, 1 + i % 7) for i in range(40))
    assert law_by_dynamic_program(p) == law_by_integral(p) == law_by_positions(p)
    assert sum(law_by_positions(p)) == 1


def test_in_floats_the_alternating_sum_is_worthless_and_the_positive_one_is_not() -> None:
    floats: Any = (1.0,) * 100
    assert abs(sum(law_by_dynamic_program(floats)) - 1) > 1e6
    assert law_by_positions(floats) == pytest.approx([0.01] * 100, rel=1e-12)


@few_examples
@given(flip_probabilities(min_size=2))
def test_compared_with_the_exponential_mechanism_it_prefers_better_candidates(p: tuple[Fraction, ...]) -> None:
    ratios = [ours / theirs for ours, theirs in zip(law_by_heads(p), exponential.law(p), strict=True)]
    by_score = [ratio for _, ratio in sorted(zip(p, ratios, strict=True))]
    assert by_score == sorted(by_score)
    assert all(Fraction(1, 2) <= ratio for ratio in ratios)


def _chances_of_at_least_each_error(law: Sequence[Fraction], p: Sequence[Fraction]) -> list[Fraction]:
    worst_first = [chance for _, chance in sorted(zip(p, law, strict=True))]
    return [
        sum(worst_first[:count], Fraction()) for count in range(1, len(p)) if sorted(p)[count - 1] < sorted(p)[count]
    ]


@few_examples
@given(flip_probabilities(min_size=2))
def test_the_exponential_mechanism_with_half_the_noise_is_never_worse(p: tuple[Fraction, ...]) -> None:
    halved = exponential.law([each * each for each in p])
    pairs = [_chances_of_at_least_each_error(law, p) for law in (halved, law_by_heads(p))]
    assert all(theirs <= ours for theirs, ours in zip(*pairs, strict=True))


def test_with_the_same_noise_it_is_worse() -> None:
    p = (Fraction(1), Fraction(99, 100))
    assert exponential.law(p)[1] > law_by_heads(p)[1]


def test_the_ratio_of_one_half_is_approached() -> None:
    p = (Fraction(1), Fraction(1, 10**6))
    ratio = law_by_heads(p)[1] / exponential.law(p)[1]
    assert Fraction(1, 2) < ratio < Fraction(1, 2) + Fraction(1, 10**6)


def uniform_law(p: Sequence[Fraction]) -> tuple[Fraction, ...]:
    return (Fraction(1, len(p)),) * len(p)


def law_at_twice_epsilon(p: Sequence[Fraction]) -> tuple[Fraction, ...]:
    return law_by_heads([p_i * p_i for p_i in p])


@pytest.mark.parametrize(
    "wrong_law",
    [
        pytest.param(exponential.law, id="with replacement"),
        pytest.param(uniform_law, id="uniform"),
        pytest.param(law_at_twice_epsilon, id="twice the epsilon"),
    ],
)
def test_other_laws_are_told_apart(wrong_law: Law) -> None:
    p = (Fraction(1), Fraction(1, 2), Fraction(1, 3))
    assert all(formula(p) != wrong_law(p) for formula in LAWS)
