"""What the property tests of the models draw from: few candidates, small denominators, so that exact stays quick."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import settings
from hypothesis import strategies as st

from tests.slow import EXAMPLES

few_examples = settings(max_examples=EXAMPLES * 3 // 4)
"""For properties whose exact arithmetic takes long."""

proper_fractions = st.fractions(min_value=Fraction(1, 24), max_value=1, max_denominator=24)
"""Flip probabilities as they occur: positive, at most 1."""


@st.composite
def flip_probabilities(draw: st.DrawFn, *, min_size: int = 1, max_size: int = 5) -> tuple[Fraction, ...]:
    """One candidate, at any place, is the best: its coin is certain to show heads. Others may be as good."""
    others = draw(st.lists(proper_fractions, min_size=min_size - 1, max_size=max_size - 1))
    place = draw(st.integers(0, len(others)))
    return (*others[:place], Fraction(1), *others[place:])


@st.composite
def partitions(draw: st.DrawFn, *, count: int) -> list[list[int]]:
    """The numbers below `count`, in any order, cut into blocks that are not empty."""
    order = draw(st.permutations(range(count)))
    cuts = sorted(draw(st.sets(st.integers(1, count - 1)))) if count > 1 else []
    return [list(order[start:end]) for start, end in zip([0, *cuts], [*cuts, count], strict=True)]
