"""Noise added once against peeling: the same for Gumbel noise, not for exponential noise."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from tests.reference import exponential
from tests.reference.permute_and_flip import law_by_integral, permute_and_flip
from tests.reference.randomness import Randomness, exact_law
from tests.reference.strategies import few_examples, flip_probabilities
from tests.reference.top_k import exponential_noise_once, gumbel_noise_once, peeled


@few_examples
@given(flip_probabilities(max_size=5), st.data())
def test_gumbel_noise_once_is_peeling_by_the_exponential_mechanism(
    p: tuple[Fraction, ...], data: st.DataObject
) -> None:
    k = data.draw(st.integers(1, len(p)))
    assert gumbel_noise_once(p, k=k) == peeled(exponential.law, p, k=k)


@few_examples
@given(flip_probabilities(max_size=4), st.data())
def test_peeling_by_a_program_that_measures_from_the_best_left(p: tuple[Fraction, ...], data: st.DataObject) -> None:
    k = data.draw(st.integers(1, min(2, len(p))))

    def program(randomness: Randomness) -> tuple[int, ...]:
        picks: tuple[int, ...] = ()
        for _ in range(k):
            left = [i for i in range(len(p)) if i not in picks]
            best = max(p[i] for i in left)
            picks += (left[permute_and_flip([p[i] / best for i in left], randomness=randomness)],)
        return picks

    assert exact_law(program) == peeled(law_by_integral, p, k=k)


@few_examples
@given(flip_probabilities(max_size=4), st.data())
def test_laws_of_orders_sum_to_one(p: tuple[Fraction, ...], data: st.DataObject) -> None:
    k = data.draw(st.integers(1, len(p)))
    for law in (peeled(law_by_integral, p, k=k), gumbel_noise_once(p, k=k), exponential_noise_once(p, k=k)):
        assert sum(law.values()) == 1
        assert all(len(set(order)) == k for order in law)


def test_exponential_noise_once_is_not_peeling_by_permute_and_flip() -> None:
    p = (Fraction(1), Fraction(1), Fraction(1, 2))
    assert exponential_noise_once(p, k=2)[0, 1] == Fraction(1, 3)
    assert peeled(law_by_integral, p, k=2)[0, 1] == Fraction(5, 16)


@few_examples
@given(flip_probabilities(max_size=4))
def test_for_one_selection_there_is_no_difference(p: tuple[Fraction, ...]) -> None:
    assert exponential_noise_once(p, k=1) == peeled(law_by_integral, p, k=1)


def test_not_measuring_from_the_best_left_gives_another_law() -> None:
    """The second round's coins would be those of the first: with what is left, nobody may be sure to show heads."""
    p = (Fraction(1), Fraction(1, 2), Fraction(1, 4))
    stale = law_by_integral(p[1:])
    fresh = law_by_integral([Fraction(1), Fraction(1, 2)])
    assert sum(stale) < 1
    assert tuple(chance / sum(stale) for chance in stale) != fresh
