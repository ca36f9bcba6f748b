"""The exponential mechanism's two forms have one law, which is that of Gumbel noise."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from tests.reference.exponential import choose_by_weight, flip_one, flip_with_replacement, law
from tests.reference.noisy_max import gumbel_noise_law
from tests.reference.permute_and_flip import permute_and_flip
from tests.reference.randomness import as_vector, exact_law, repeated_until_accepted
from tests.reference.strategies import few_examples, flip_probabilities, proper_fractions


@few_examples
@given(flip_probabilities())
def test_the_normalised_form(p: tuple[Fraction, ...]) -> None:
    drawn = exact_law(lambda randomness: choose_by_weight(p, randomness=randomness))
    assert as_vector(drawn, count=len(p)) == law(p)


@few_examples
@given(flip_probabilities())
def test_the_flipping_form(p: tuple[Fraction, ...]) -> None:
    one_round = exact_law(lambda randomness: flip_one(p, randomness=randomness))
    assert repeated_until_accepted(one_round, count=len(p)) == law(p)


@few_examples
@given(flip_probabilities(max_size=3), st.integers(0, 3))
def test_the_flipping_form_cut_short(p: tuple[Fraction, ...], rounds: int) -> None:
    drawn = exact_law(lambda randomness: flip_with_replacement(p, rounds=rounds, randomness=randomness))
    all_tails = (1 - sum(p) / len(p)) ** rounds
    assert drawn.get(None, 0) == all_tails
    assert as_vector(drawn, count=len(p)) == tuple(chance * (1 - all_tails) for chance in law(p))


@few_examples
@given(flip_probabilities())
def test_gumbel_noise_has_this_law(p: tuple[Fraction, ...]) -> None:
    assert gumbel_noise_law(p) == law(p)


@few_examples
@given(flip_probabilities(), proper_fractions)
def test_only_ratios_matter(p: tuple[Fraction, ...], factor: Fraction) -> None:
    assert law([factor * weight for weight in p]) == law(p)


def test_forgetting_to_put_back_gives_another_law() -> None:
    p = (Fraction(1), Fraction(1, 2), Fraction(1, 2))
    without_replacement = exact_law(lambda randomness: permute_and_flip(p, randomness=randomness))
    assert as_vector(without_replacement, count=3) == (
        Fraction(2, 3) - Fraction(1, 12),
        Fraction(5, 24),
        Fraction(5, 24),
    )
    assert law(p) == (Fraction(1, 2), Fraction(1, 4), Fraction(1, 4))
