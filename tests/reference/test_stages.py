"""The race run in stages has permute-and-flip's law whatever the stages."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from tests.reference.permute_and_flip import law_by_heads
from tests.reference.randomness import Randomness, as_vector, exact_law
from tests.reference.stages import chance_of_arriving, first_arrival_by_stages
from tests.reference.strategies import few_examples, flip_probabilities, proper_fractions

ends_of_stages = st.sets(st.fractions(Fraction(1, 8), Fraction(7, 8), max_denominator=8), max_size=2).map(
    lambda ends: (*sorted(ends), Fraction(1))
)


@few_examples
@given(flip_probabilities(max_size=4), ends_of_stages)
def test_any_stages(p: tuple[Fraction, ...], ends: tuple[Fraction, ...]) -> None:
    law = exact_law(lambda randomness: first_arrival_by_stages(p, ends=ends, randomness=randomness))
    assert as_vector(law, count=len(p)) == law_by_heads(p)


@few_examples
@given(proper_fractions, ends_of_stages)
def test_stages_together_are_one_coin(p: Fraction, ends: tuple[Fraction, ...]) -> None:
    tails, start = Fraction(1), Fraction(0)
    for end in ends:
        tails *= 1 - chance_of_arriving(p, start=start, end=end)
        start = end
    assert tails == 1 - p


def test_forgetting_who_might_have_come_before_gives_another_law() -> None:
    p = (Fraction(1), Fraction(1, 2), Fraction(1, 3))
    half = Fraction(1, 2)

    def program(randomness: Randomness) -> int | None:
        for chances in ([p_i * half for p_i in p], [p_i * half for p_i in p]):
            arrived = [i for i, chance in enumerate(chances) if randomness.coin(chance)]
            if arrived:
                return arrived[randomness.uniform(len(arrived))]
        return None

    law = exact_law(program)
    assert as_vector(law, count=3) != law_by_heads(p)
    assert law[None] > 0  # even the best may be missed
