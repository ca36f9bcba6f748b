"""Several quantiles by halving: law, cost, order, refusals. The core's own tests hold two levels against their law."""

from __future__ import annotations

import copy
import math
import pickle
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest

import dpselect as dps
from dpselect.errors import InvalidDataError, InvalidParameterError
from tests.laws.goodness_of_fit import NEVER, p_value
from tests.laws.test_bad_input import BAD_SCORES, SECRET, assert_says_nothing
from tests.mechanisms.test_quantile import ALLOWED_HERE

GRID = (0, 3)


def law(values: list[float], *, epsilon: float, neighbours: str = "add_remove") -> np.ndarray:
    """Of the levels 1/4, 1/2, 3/4 on the grid 0..3, by the definition: node by node, from the single quantile's law."""
    share = epsilon / 2 if neighbours == "add_remove" else epsilon / 4  # two depths
    chances = np.zeros((4, 4, 4))
    for middle, chance in enumerate(node(values, 0.5, 0, 3, share)):
        below = node([value for value in values if value < middle], 0.5, 0, middle, share)
        above = node([value for value in values if value >= middle], 0.5, middle, 3, share)
        for low, high in product(range(middle + 1), range(middle, 4)):
            chances[low, middle, high] = chance * below[low] * above[high - middle]
    return chances


def node(values: list[float], level: float, first: int, last: int, epsilon: float) -> np.ndarray:
    if first == last:
        return np.ones(1)
    mechanism = dps.QuantileMechanism(epsilon=epsilon, level=level, bounds=(first, last), step=1)
    return mechanism.pmf(values)


@pytest.mark.parametrize("neighbours", ["add_remove", "replace_one"])
def test_three_levels_have_the_law_of_three_nodes(neighbours: Any) -> None:
    values = [0.0, 0.5, 1.0, 1.0, 2.0, 3.0, 3.0, 9.0]
    levels = [0.5, 0.25, 0.75]
    mechanism = dps.QuantilesMechanism(epsilon=4.0, levels=levels, bounds=GRID, step=1, neighbours=neighbours)
    counts = np.zeros((4, 4, 4))
    for _ in range(20_000):
        middle, low, high = mechanism.draw(values)
        assert low <= middle <= high
        counts[int(low), int(middle), int(high)] += 1
    assert p_value(counts.ravel(), law(values, epsilon=4.0, neighbours=neighbours).ravel()) >= NEVER
    assert p_value(counts.ravel(), law(values, epsilon=5.0, neighbours=neighbours).ravel()) < NEVER


@pytest.mark.parametrize("neighbours", ["add_remove", "replace_one"])
def test_the_loss_is_at_most_epsilon(neighbours: str) -> None:
    assert worst_loss(neighbours, epsilon=1.0) <= 1.0 + 1e-9


def test_the_law_above_can_fail() -> None:
    """Not dividing epsilon among the depths."""
    assert worst_loss("add_remove", epsilon=2.0) > 1.1


def worst_loss(neighbours: str, *, epsilon: float) -> float:
    worst = 0.0
    crowds = [0.0] * 9 + [3.0] * 9
    for values in ([], [1.0], [0.0, 3.0], crowds, [*crowds, 0.0, 0.0], [0.5, 1.5, 2.5, 2.5], [1.5] * 9, [3.0] * 15):
        for new, old in product([0.0, 1.0, 1.5, 3.0], [0.0, 2.0, 3.0]):
            before = values if neighbours == "add_remove" else [*values, old]
            laws = [law(data, epsilon=epsilon, neighbours=neighbours) for data in (before, [*values, new])]
            possible = laws[0] > 0
            worst = max(worst, float(np.abs(np.log(laws[0][possible] / laws[1][possible])).max()))
    return worst


def test_many_levels_of_many_values() -> None:
    values = np.random.default_rng(3).normal(50.0, 10.0, 60_000)
    levels = np.arange(1, 100) / 100
    for step in (None, 0.01):
        answers = np.array(dps.quantiles(values, levels, bounds=(0, 100), epsilon=1.0, step=step))
        assert np.all(np.diff(answers) >= 0.0)
        ranks = np.searchsorted(np.sort(values), answers) / values.size
        assert np.abs(ranks - levels).max() < 0.01


def test_what_it_costs() -> None:
    for count, depths in ((1, 1), (2, 2), (3, 2), (4, 3), (99, 7)):
        levels = [(j + 1) / (count + 1) for j in range(count)]
        mechanism = dps.QuantilesMechanism(epsilon=1.0, levels=levels, bounds=(0, 1))
        assert mechanism.event.count == depths
        assert Fraction(mechanism.event.event.epsilon) * depths <= 1
        assert mechanism.event.event.epsilon == pytest.approx(1.0 / depths)


def test_one_level_is_the_single_quantile_and_copies_are_equal() -> None:
    mechanism = dps.QuantilesMechanism(epsilon=50.0, levels=(0.5,), bounds=(0, 120), step=1)
    assert mechanism.draw([37] * 99) == (37.0,)
    for again in (copy.copy(mechanism), pickle.loads(pickle.dumps(mechanism))):
        assert again == mechanism
        assert again.draw([37] * 99) == (37.0,)
    assert len(dps.quantiles([], [0.1, 0.9, 0.5], bounds=(0, 1), epsilon=1.0)) == 3


@pytest.mark.parametrize("levels", [[], [0.5, 0.5], [1.5], [math.nan], 0.5, None, "05", {0.5: 1}, [True], ["0.5"]])
def test_bad_levels(levels: Any) -> None:
    with pytest.raises(InvalidParameterError) as caught:
        dps.quantiles([SECRET], levels, bounds=(0, 1), epsilon=1.0)
    assert caught.value.name == "levels"
    assert_says_nothing(caught.value)


@pytest.mark.parametrize("name", sorted(set(BAD_SCORES) - ALLOWED_HERE))
def test_bad_values(name: str) -> None:
    with pytest.raises(InvalidDataError) as caught:
        dps.quantiles(BAD_SCORES[name], [0.1, 0.5], bounds=(0, 1), epsilon=1.0)
    assert caught.value.name == "values"
    assert_says_nothing(caught.value)
