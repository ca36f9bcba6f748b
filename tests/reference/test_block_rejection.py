"""Block rejection draws from the exponential mechanism whatever the blocks and whatever valid bounds."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from tests.reference import exponential
from tests.reference.block_rejection import expected_rounds, law, round_law, tightest_weights
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
