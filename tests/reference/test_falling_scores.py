"""Rounds have the density wanted, are rarely in vain, and need every part of their rule."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import mpmath as mp
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.reference.falling_scores import Fall, density, density_of_a_round, kept, proposed, run_is_even, split
from tests.reference.precision import exponential
from tests.reference.strategies import few_examples
from tests.slow import crossed

small = st.fractions(0, 6, max_denominator=8)
positive = st.fractions(Fraction(1, 8), 6, max_denominator=8)
tiny = Fraction(1, 10**40)


@st.composite
def landscapes(draw: st.DrawFn) -> list[Fall]:
    """A rising piece, a falling one, and a tail to each side."""
    middle = draw(small)
    return [
        Fall(middle, False, draw(positive), draw(small), draw(small), draw(small)),
        Fall(middle, True, draw(positive), draw(small), draw(small), draw(small)),
        Fall(middle - 6, False, None, draw(small), draw(positive)),
        Fall(middle + 6, True, None, draw(small), draw(positive), draw(small)),
    ]


@few_examples
@given(landscapes(), st.fractions(-9, 15, max_denominator=7), positive, positive)
def test_a_round_returns_points_with_the_density(
    falls: list[Fall], x: Fraction, scale: Fraction, reach: Fraction
) -> None:
    wanted = density(falls, x, scale=scale)
    assert abs(density_of_a_round(falls, x, scale=scale, reach=reach) - wanted) <= wanted * tiny


def test_the_law_above_can_fail() -> None:
    fall, scale, reach = Fall(Fraction(0), True, None, Fraction(0), Fraction(1), Fraction(1)), Fraction(1), Fraction(1)
    straight = replace(fall, curvature=Fraction(0))
    x = Fraction(3, 2)
    assert density_of_a_round([straight], x, scale=scale, reach=reach) != density([fall], x, scale=scale)
    uneven = split(fall, reach=reach)[1]
    unmoved = replace(uneven, score=fall.score)  # the rest of a parabola as if it began at the top's score
    assert density_of_a_round([unmoved], x, scale=scale, reach=reach) > 2 * density([fall], x, scale=scale)


@pytest.mark.sampled(2)
@pytest.mark.parametrize(("slope", "length", "bend"), crossed([0, 1, 4, 40], [0.9, 1.1, None], [0.126, 1]))
def test_a_proposal_is_kept_at_least_one_time_in_four(slope: float, bend: float, length: float | None) -> None:
    """With ``curvature * reach**2 / scale`` between 1/8 and 1."""
    size = None if length is None else Fraction(length)
    fall = Fall(Fraction(0), True, size, Fraction(0), Fraction(slope), Fraction(bend))
    for part in split(fall, reach=Fraction(1)):
        end = mp.inf if part.length is None else mp.mpf(float(part.length))

        def both(t: mp.mpf, part: Fall = part) -> float:
            at, one = Fraction(float(t)), Fraction(1)
            return float(proposed(part, at, scale=one) * kept(part, at, scale=one))

        assert mp.quad(both, mp.linspace(0, min(end, 30), 9), maxdegree=3) >= 0.25


@given(st.fractions(0, 1, max_denominator=50))
def test_a_fraction_is_kept_with_its_exponential(v: Fraction) -> None:
    assert abs(run_is_even(v, longest=40) - exponential(-v)) < tiny
