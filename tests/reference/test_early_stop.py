"""The claims of ``proofs/early_stop.md``, by enumeration."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import pytest

from tests.reference import early_stop as model
from tests.reference.permute_and_flip import law_by_dynamic_program

HALF = Fraction(1, 2)
OTHERS = [Fraction(1), Fraction(2, 3), Fraction(1, 10)]
ROOMS = [Fraction(1), HALF, Fraction(1, 7), Fraction(1, 1000)]


@pytest.mark.sampled(2)
@pytest.mark.parametrize("room", ROOMS)
def test_the_law_is_that_of_permute_and_flip(room: Fraction) -> None:
    for others in (*product(OTHERS, repeat=1), *product(OTHERS, repeat=2), *product(OTHERS, repeat=3)):
        flips = (Fraction(1), *others)
        assert model.law(flips, [room] * len(flips)) == law_by_dynamic_program(flips)


def test_a_ceiling_for_each_item_would_give_another_law() -> None:
    flips = (Fraction(1), HALF, Fraction(1, 10))
    assert model.law(flips, [HALF, Fraction(1), Fraction(1, 3)]) != law_by_dynamic_program(flips)


@pytest.mark.parametrize("room", ROOMS)
def test_the_expected_number_of_calls(room: Fraction) -> None:
    """Never more than all; about (1 - e^-Q) n / Q for Q the sum of the coins."""
    flips = [Fraction(1), *[Fraction(1, 3)] * 4]
    found, total = float(model.calls(flips, room)), float(room * sum(flips))
    assert found <= len(flips)
    assert found == pytest.approx(-math.expm1(-total) / total * len(flips), rel=0.2)


def test_no_earlier_stop_is_possible() -> None:
    """With two items: what may be answered at once is what the mechanism answers at once."""
    for own in OTHERS:
        # Half of the time it is visited first, and then its coin is `own`.
        assert model.earliest_stop(own) == HALF * own


@pytest.mark.parametrize(("epsilon", "lost"), [(0.1, 1.476), (1.0, 1.332), (3.0, 1.192)])
def test_a_restart_loses_more(epsilon: float, lost: float) -> None:
    """Two items, one at the ceiling and one far below, each moved by the sensitivity; b is 2 / epsilon."""
    step, far = Fraction(math.exp(-epsilon / 2.0)), Fraction(1, 10**9)

    def second(own: Fraction, other: Fraction) -> Fraction:
        return model.restarting([own, other], Fraction(1))[1]

    loss = math.log(second(step, far) / second(Fraction(1), far * step))
    assert loss / epsilon == pytest.approx(lost, abs=0.001)
    kept = math.log(_law_of_two(step, far) / _law_of_two(Fraction(1), far * step))
    assert kept <= epsilon * (1 + 1e-12)


def _law_of_two(own: Fraction, other: Fraction) -> Fraction:
    best = max(own, other)
    return model.law([own / best, other / best], [best] * 2)[1]
