"""Block rejection draws from the exponential mechanism whatever the blocks and whatever valid bounds."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from tests.reference import exponential
from tests.reference.block_rejection import (
    expected_rounds,
    law,
    law_after_uniform_tries,
    round_law,
    tightest_weights,
    weight_bound,
)
from tests.reference.strategies import few_examples, flip_probabilities, partitions

units = st.sampled_from([1, 2, 3, 16, 1000])


@few_examples
@given(st.data())
def test_any_blocks_and_any_valid_bounds(data: st.DataObject) -> None:
    p = data.draw(flip_probabilities(max_size=6))
    blocks = data.draw(partitions(count=len(p)))
    unit = data.draw(units)
    slack = [data.draw(st.integers(0, 5)) for _ in blocks]
    weights = [w + s for w, s in zip(tightest_weights(p, blocks=blocks, unit=unit), slack, strict=True)]
    assert law(p, blocks=blocks, weights=weights, unit=unit) == exponential.law(p)


@few_examples
@given(st.data())
def test_any_valid_bounds_of_the_candidates_themselves(data: st.DataObject) -> None:
    p = data.draw(flip_probabilities(max_size=5))
    blocks = data.draw(partitions(count=len(p)))
    weights = [w + data.draw(st.integers(0, 3)) for w in tightest_weights(p, blocks=blocks, unit=16)]
    least = tightest_weights(p, blocks=[[i] for i in range(len(p))], unit=16)
    most = {i: weight for block, weight in zip(blocks, weights, strict=True) for i in block}
    own = [data.draw(st.integers(least[i], most[i])) for i in range(len(p))]
    assert law(p, blocks=blocks, weights=weights, own=own, unit=16) == exponential.law(p)


def test_an_own_bound_that_is_too_small_gives_another_law() -> None:
    p = (Fraction(1), Fraction(1, 2), Fraction(1, 4))
    blocks, weights = [[0, 1], [2]], [16, 4]
    assert law(p, blocks=blocks, weights=weights, own=[16, 8, 4], unit=16) == exponential.law(p)
    assert law(p, blocks=blocks, weights=weights, own=[16, 7, 4], unit=16) != exponential.law(p)


@few_examples
@given(st.data())
def test_any_number_of_uniform_tries_before_the_rounds(data: st.DataObject) -> None:
    p = data.draw(flip_probabilities(max_size=5))
    blocks = data.draw(partitions(count=len(p)))
    weights = tightest_weights(p, blocks=blocks, unit=16)
    tries = data.draw(st.integers(0, 5))
    assert law_after_uniform_tries(p, tries=tries, blocks=blocks, weights=weights, unit=16) == exponential.law(p)


@few_examples
@given(st.fractions(0, 80, max_denominator=12), st.sampled_from([8, 21, 40]))
def test_weight_bounds_are_bounds_and_close(octaves: Fraction, bits: int) -> None:
    """``bound >= 2^(bits - octaves)``, compared as integers: both sides to the power of the denominator."""

    def is_at_least(height: Fraction) -> bool:
        return height**octaves.denominator >= Fraction(2) ** (bits * octaves.denominator - octaves.numerator)

    bound = Fraction(weight_bound(octaves, bits=bits))
    assert is_at_least(bound)
    assert bound <= 2 or not is_at_least((bound - 2) / Fraction(107, 100))
    steeper = weight_bound(octaves * Fraction(11, 10), bits=bits)  # the law can fail: halvings counted too generously
    assert octaves < 2 or bits - octaves <= 2 or not is_at_least(Fraction(steeper))


@few_examples
@given(st.fractions(0, 80), st.fractions(0, 5))
def test_weight_bounds_never_grow_with_the_gap(octaves: Fraction, more: Fraction) -> None:
    assert weight_bound(octaves + more, bits=40) <= weight_bound(octaves, bits=40)


@few_examples
@given(st.data())
def test_expected_rounds(data: st.DataObject) -> None:
    p = data.draw(flip_probabilities(max_size=6))
    blocks = data.draw(partitions(count=len(p)))
    weights = tightest_weights(p, blocks=blocks, unit=16)
    accepted = 1 - round_law(p, blocks=blocks, weights=weights, unit=16).get(None, Fraction(0))
    assert expected_rounds(p, blocks=blocks, weights=weights, unit=16) == 1 / accepted


@few_examples
@given(st.data())
def test_candidates_taken_out_and_bounds_left_as_they_were(data: st.DataObject) -> None:
    """Peeling: whoever was taken has no chance left, and bounds from before the removal are still upper bounds."""
    p = data.draw(flip_probabilities(min_size=2, max_size=6))
    blocks = data.draw(partitions(count=len(p)))
    weights = tightest_weights(p, blocks=blocks, unit=16)
    taken = data.draw(st.sets(st.integers(0, len(p) - 1), max_size=len(p) - 1))
    left = [Fraction(0) if i in taken else p_i for i, p_i in enumerate(p)]
    assert law(left, blocks=blocks, weights=weights, unit=16) == exponential.law(left)


def test_a_bound_that_is_too_small_gives_another_law() -> None:
    p = (Fraction(1), Fraction(1, 2), Fraction(1, 4))
    blocks = [[0, 1], [2]]
    assert law(p, blocks=blocks, weights=[16, 4], unit=16) == exponential.law(p)
    assert law(p, blocks=blocks, weights=[15, 4], unit=16) != exponential.law(p)


def test_forgetting_the_size_of_the_block_gives_another_law() -> None:
    p = (Fraction(1), Fraction(1, 2), Fraction(1, 4))
    as_if_all_had_one = law(p, blocks=[[0, 1], [2, 2]], weights=[16, 4], unit=16)
    assert as_if_all_had_one != exponential.law(p)
