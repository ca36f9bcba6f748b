"""Attack: read the number off the last bits of the noisy one, however much noise there is.

Sources: Mironov (2012), Haney et al. (2022).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import dpselect as dps
from tests.attacks import naive
from tests.laws.goodness_of_fit import NEVER, p_value

GRID = 2.0**53
WINDOW = (0.125, 0.25)
"""Doubles in it are multiples of 2^-55: three quarters of them are no multiples of 2^-53."""


def is_fine(answer: float) -> bool:
    """No multiple of 2^-53. One plus a double near -0.8 never is fine: both are such multiples."""
    return not (answer * GRID).is_integer()


def in_window(draw: Callable[[], float], size: int) -> list[float]:
    """Those of `size` answers that fall into the window."""
    drawn = (draw() for _ in range(size))
    return [answer for answer in drawn if WINDOW[0] <= answer < WINDOW[1]]


def test_the_last_bits_of_a_naive_count_tell_whether_it_is_zero() -> None:
    """At epsilon = 0.5 the answers' laws are nearly equal. A fine one is from 0, with certainty; many of those are."""
    rng = np.random.default_rng(3)
    zero = in_window(lambda: naive.noisy_number(0, 0.5, rng), 20_000)
    one = in_window(lambda: naive.noisy_number(1, 0.5, rng), 20_000)
    assert sum(map(is_fine, one)) == 0
    assert sum(map(is_fine, zero)) > len(zero) / 3 > 100


@pytest.mark.parametrize("value", [0, 1])
def test_here_they_are_those_of_a_rounded_real_number(value: int) -> None:
    """Three in four are fine, whatever the number is."""
    mechanism = dps.LaplaceMechanism(epsilon=0.5, sensitivity=1)
    found = [is_fine(answer) for answer in in_window(lambda: mechanism.draw(value), 20_000)]
    counts = np.array([found.count(True), found.count(False)])
    assert counts.sum() > 100
    assert p_value(counts, np.array([0.75, 0.25])) > NEVER


def test_a_naive_count_does_not_pass_for_a_rounded_real_number() -> None:
    """Control: the test above refutes it."""
    rng = np.random.default_rng(4)
    found = [is_fine(answer) for answer in in_window(lambda: naive.noisy_number(1, 0.5, rng), 20_000)]
    assert p_value(np.array([found.count(True), found.count(False)]), np.array([0.75, 0.25])) < NEVER


def test_the_last_bits_of_a_naive_median_tell_whether_anybody_is_there() -> None:
    """Nobody: a uniform double from 0 to 1, a multiple of 2^-53. Somebody at 0.7: a product, and mostly fine."""
    rng = np.random.default_rng(5)
    nobody = in_window(lambda: naive.median([], 0.0, 1.0, 0.5, rng), 3000)
    somebody = in_window(lambda: naive.median([0.7], 0.0, 1.0, 0.5, rng), 3000)
    assert sum(map(is_fine, nobody)) == 0
    assert sum(map(is_fine, somebody)) > len(somebody) / 3 > 50


@pytest.mark.parametrize("values", [[], [0.7]])
def test_here_a_median_has_the_last_bits_of_a_rounded_real_number(values: list[float]) -> None:
    mechanism = dps.mechanisms.QuantileMechanism(epsilon=0.5, level=0.5, bounds=(0, 1))
    found = [is_fine(answer) for answer in in_window(lambda: mechanism.draw(values), 3000)]
    counts = np.array([found.count(True), found.count(False)])
    assert counts.sum() > 50
    assert p_value(counts, np.array([0.75, 0.25])) > NEVER


def test_on_a_public_grid_there_are_no_last_bits() -> None:
    mechanism = dps.mechanisms.QuantileMechanism(epsilon=0.5, level=0.5, bounds=(0, 1), step=0.25)
    for values in ([], [0.7]):
        assert {mechanism.draw(values) for _ in range(300)} <= {0.0, 0.25, 0.5, 0.75, 1.0}
