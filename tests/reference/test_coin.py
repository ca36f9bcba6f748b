"""A lazy uniform decides as the real numbers do, by whatever enclosures it is told."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from tests.reference.coin import Enclosure, LazyUniform, first_of_race, is_below
from tests.reference.permute_and_flip import law_by_heads
from tests.reference.randomness import Randomness, as_vector, exact_law
from tests.reference.strategies import few_examples, flip_probabilities

STEPS = 5
targets = st.fractions(0, 1, max_denominator=50)


@st.composite
def valid_enclosures(draw: st.DrawFn, *, target: Fraction) -> Enclosure:
    """At every step any interval with `target` in it: wide or narrow, open to one side or not, in any order."""
    margins = st.fractions(0, Fraction(1, 3), max_denominator=64)
    table = [(target - draw(margins), target + draw(margins)) for _ in range(STEPS + 1)]
    return lambda step: table[step]


def law_of(enclosure: Enclosure) -> dict[bool | None, Fraction]:
    return exact_law(lambda randomness: is_below(LazyUniform(randomness=randomness), enclosure, steps=STEPS))


@few_examples
@given(st.data())
def test_no_decision_is_ever_wrong(data: st.DataObject) -> None:
    target = data.draw(targets)
    enclosure = data.draw(valid_enclosures(target=target))
    for bits in product((0, 1), repeat=STEPS):
        uniform = LazyUniform(randomness=Randomness(bits))
        decision = is_below(uniform, enclosure, steps=STEPS)
        start, end = uniform.cell
        assert decision is None or decision == (end <= target)
        assert decision is not False or start >= target


@few_examples
@given(st.data())
def test_the_law_is_the_target_up_to_what_is_undecided(data: st.DataObject) -> None:
    target = data.draw(targets)
    law = law_of(data.draw(valid_enclosures(target=target)))
    heads, undecided = law.get(True, Fraction(0)), law.get(None, Fraction(0))
    assert heads <= target <= heads + undecided


@few_examples
@given(targets)
def test_little_is_left_undecided(target: Fraction) -> None:
    def enclosure(step: int) -> tuple[Fraction, Fraction]:
        return target - Fraction(1, 2**step), target + Fraction(1, 2**step)

    width = Fraction(2, 2**STEPS)
    assert law_of(enclosure).get(None, Fraction(0)) <= width + Fraction(2, 2**STEPS)


@few_examples
@given(st.integers(0, 2**STEPS))
def test_a_target_of_finitely_many_bits_is_met_exactly(numerator: int) -> None:
    target = Fraction(numerator, 2**STEPS)
    law = law_of(lambda step: (target, target))
    assert law.get(True, Fraction(0)) == target
    assert None not in law


def test_an_enclosure_without_the_target_gives_another_law() -> None:
    target = Fraction(1, 4)
    law = law_of(lambda step: (target + Fraction(1, 8), target + Fraction(1, 8)))
    assert law[True] > target + law.get(None, Fraction(0))


@few_examples
@given(flip_probabilities(min_size=2, max_size=3))
def test_the_smallest_of_lazy_reals(p: tuple[Fraction, ...]) -> None:
    law = exact_law(lambda randomness: first_of_race(p, steps=4, randomness=randomness))
    undecided = law.get(None, Fraction(0))
    assert undecided < Fraction(1, 2)
    for decided, chance in zip(as_vector(law, count=len(p)), law_by_heads(p), strict=True):
        assert decided <= chance <= decided + undecided
