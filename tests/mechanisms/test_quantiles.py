"""Several quantiles: law and cost of halving, order, refusals. The joint law: ``tests/reference``."""

from __future__ import annotations

import math
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
from tests.slow import SLOW, crossed

GRID = (0, 3)


def drawn(values: Any, levels: Any, **arguments: Any) -> tuple[float, ...]:
    return dps.mechanisms.QuantilesMechanism(levels=levels, **arguments).draw(values)


QUARTILES, EXTREMES = (0.25, 0.5, 0.75), (0.0, 0.5, 1.0)


def law(
    values: list[float], *, epsilon: float, neighbours: str = "add_remove", levels: tuple[float, ...] = QUARTILES
) -> np.ndarray:
    """Of three levels, 1/2 in the middle, on the grid 0..3: node by node, from the law of a single quantile."""
    share = epsilon / 2 if neighbours == "add_remove" else epsilon / 4  # two depths
    chances = np.zeros((4, 4, 4))
    for middle, chance in enumerate(node(values, 0.5, 0, 3, share)):
        below = node([value for value in values if value < middle], 2 * levels[0], 0, middle, share)
        above = node([value for value in values if value >= middle], 2 * levels[2] - 1, middle, 3, share)
        for low, high in product(range(middle + 1), range(middle, 4)):
            chances[low, middle, high] = chance * below[low] * above[high - middle]
    return chances


def node(values: list[float], level: float, first: int, last: int, epsilon: float) -> np.ndarray:
    if first == last:
        return np.ones(1)
    mechanism = dps.mechanisms.QuantileMechanism(epsilon=epsilon, level=level, bounds=(first, last), step=1)
    return mechanism.pmf(values)


@pytest.mark.slow
@pytest.mark.parametrize(("levels", "neighbours"), crossed([QUARTILES, EXTREMES], ["add_remove", "replace_one"]))
def test_three_levels_have_the_law_of_three_nodes(neighbours: Any, levels: tuple[float, ...]) -> None:
    values = [0.5, 1.0, 1.0, 2.0, 9.0]
    shuffled = (levels[1], levels[0], levels[2])
    mechanism = dps.mechanisms.QuantilesMechanism(
        epsilon=4.0, levels=shuffled, bounds=GRID, method="halving", neighbours=neighbours
    )
    counts = np.zeros((6, 6, 6))
    for _ in range(20_000 if SLOW else 8000):
        middle, low, high = mechanism.draw(values)
        assert low <= middle <= high
        counts[tuple(np.searchsorted(values, [low, middle, high]))] += 1
    for epsilon, is_its_own in ((4.0, True), (5.0, False)):
        chances = law_on_the_line(values, epsilon=epsilon, neighbours=neighbours, levels=levels).ravel()
        assert (p_value(counts.ravel(), chances) >= NEVER) is is_its_own


def law_on_the_line(
    values: list[float], *, epsilon: float, neighbours: str, levels: tuple[float, ...] = QUARTILES
) -> np.ndarray:
    """Of the gaps that three answers lie in: the middle one's place is integrated over, as its gap's ends matter."""
    share = epsilon / 2 if neighbours == "add_remove" else epsilon / 4
    ends = np.clip([GRID[0], *values, GRID[1]], *GRID)
    chances = np.zeros((len(values) + 1,) * 3)
    middle = dps.mechanisms.QuantileMechanism(epsilon=share, level=0.5, bounds=GRID)
    masses = np.diff(middle.cdf(values, ends))
    for gap in np.flatnonzero(masses > 0):
        below, above = [v for v in values if v <= ends[gap]], [v for v in values if v > ends[gap]]
        for part in (np.arange(60) + 0.5) / 60:
            at = ends[gap] + part * (ends[gap + 1] - ends[gap])
            low = dps.mechanisms.QuantileMechanism(epsilon=share, level=2 * levels[0], bounds=(GRID[0], at)).cdf(
                below, ends
            )
            high = dps.mechanisms.QuantileMechanism(epsilon=share, level=2 * levels[2] - 1, bounds=(at, GRID[1])).cdf(
                above, ends
            )
            chances[:, gap, :] += masses[gap] / 60 * np.outer(np.diff(low), np.diff(high))
    return chances


@pytest.mark.sampled(1)
@pytest.mark.parametrize("levels", [QUARTILES, EXTREMES], ids=str)
@pytest.mark.parametrize("neighbours", ["add_remove", "replace_one"])
def test_the_loss_is_at_most_epsilon(neighbours: str, levels: tuple[float, ...]) -> None:
    assert worst_loss(neighbours, epsilon=1.0, levels=levels) <= 1.0 + 1e-9


def test_the_law_above_can_fail() -> None:
    """Not dividing epsilon among the depths; and half the noise where a node's share is not 0 or 1."""
    assert worst_loss("add_remove", epsilon=2.0) > 1.1
    assert worst_loss("add_remove", epsilon=2.0, levels=EXTREMES) > 1.1
    crowds = [[0.01] * 5 + [2.99] * 5 + more for more in ([], [0.0])]
    ends = np.unique(np.concatenate([[0.0, 3.0], *crowds]))
    doubled = dps.mechanisms.QuantileMechanism(epsilon=2.0, level=0.5, bounds=GRID)
    chances = [np.diff(doubled.cdf(values, ends)) for values in crowds]
    assert np.abs(np.log(chances[0] / chances[1])).max() > 1.5


def worst_loss(neighbours: str, *, epsilon: float, levels: tuple[float, ...] = QUARTILES) -> float:
    worst = 0.0
    crowds = [0.0] * 9 + [3.0] * 9
    for values in ([], [1.0], [0.0, 3.0], crowds, [*crowds, 0.0, 0.0], [0.5, 1.5, 2.5, 2.5], [1.5] * 9, [3.0] * 15):
        for new, old in product([0.0, 1.0, 1.5, 3.0], [0.0, 2.0, 3.0]):
            before = values if neighbours == "add_remove" else [*values, old]
            both = (before, [*values, new])
            laws = [law(data, epsilon=epsilon, neighbours=neighbours, levels=levels) for data in both]
            possible = laws[0] > 0
            worst = max(worst, float(np.abs(np.log(laws[0][possible] / laws[1][possible])).max()))
    return worst


@pytest.mark.parametrize(
    ("levels", "apart"),
    [((0,), 1.0), ((1,), 1.0), ((0, 1), 1.0), ((0, 0.5), 1.5), ((0, 0.5, 1), 1.5), ((0.5,), 1.0), ((0, 0.25), 1.75)],
    ids=str,
)
def test_the_planned_scale(levels: tuple[float, ...], apart: float) -> None:
    """At levels 0 and 1 half of two sensitivities, with 1/2 among them three quarters."""
    joint = dps.mechanisms.QuantilesMechanism(epsilon=1.0, levels=levels, bounds=(0, 1))
    assert joint.score_range == apart
    for relation in ("add_remove", "replace_one"):
        halving = dps.mechanisms.QuantilesMechanism(
            epsilon=1.0, levels=levels, bounds=(0, 1), method="halving", neighbours=relation, values_per_unit=4
        )
        is_monotone = relation == "add_remove" and set(levels) <= {0, 1}
        assert (halving.monotonic, halving.score_range) == (is_monotone, 4.0 if is_monotone else 8.0)


@pytest.mark.sampled(1)
@pytest.mark.parametrize(("method", "level"), crossed(["joint", "halving"], [0.0, 1.0]))
@pytest.mark.parametrize("step", [None, 1])
def test_one_level_is_drawn_as_a_single_quantile(level: float, method: Any, step: int | None) -> None:
    """At the extremes too, where the noise is half of what it was."""
    values = [0.4, 1.2, 1.2, 2.5] if step is None else []
    mechanism = dps.mechanisms.QuantilesMechanism(epsilon=2.0, levels=(level,), bounds=GRID, step=step, method=method)
    draws = [mechanism.draw(values)[0] for _ in range(6000)]
    single = dps.mechanisms.QuantileMechanism(epsilon=2.0, level=level, bounds=GRID, step=step)
    ends = np.linspace(0.0, 3.0, 16) if step is None else np.arange(4) + 0.5
    counts = np.diff(np.searchsorted(np.sort(draws), ends, side="right"), prepend=0)
    chances = np.diff(single.cdf(values, ends), prepend=0.0)
    assert p_value(counts[chances > 0], chances[chances > 0]) >= NEVER
    if step is None:
        twice = dps.mechanisms.QuantileMechanism(epsilon=1.0, level=level, bounds=GRID)
        old = np.diff(twice.cdf(values, ends), prepend=0.0)
        assert p_value(counts[old > 0], old[old > 0]) < NEVER


def test_many_levels_of_many_values() -> None:
    values = np.random.default_rng(3).normal(50.0, 10.0, 60_000)
    levels = np.arange(1, 100) / 100
    for step, method in ((None, "joint"), (None, "halving"), (0.01, "joint"), (0.01, "halving")):
        answers = np.array(drawn(values, levels, bounds=(0, 100), epsilon=1.0, step=step, method=method))
        assert np.all(np.diff(answers) >= 0.0)
        ranks = np.searchsorted(np.sort(values), answers) / values.size
        assert np.abs(ranks - levels).max() < 0.01


def test_what_it_costs() -> None:
    for count, depths in ((1, 1), (2, 2), (3, 2), (4, 3), (99, 7)):
        levels = [(j + 1) / (count + 1) for j in range(count)]
        mechanism = dps.mechanisms.QuantilesMechanism(epsilon=1.0, levels=levels, bounds=(0, 1), method="halving")
        assert mechanism.event.count == depths
        assert Fraction(mechanism.event.event.epsilon) * depths <= 1
        assert mechanism.event.event.epsilon == pytest.approx(1.0 / depths)
        joint = dps.mechanisms.QuantilesMechanism(epsilon=1.0, levels=levels, bounds=(0, 1))
        assert joint.event == dps.accounting.BoundedRangeEvent(epsilon=1.0)
        assert joint.sensitivity == pytest.approx(1 - 1 / (count + 1))


def test_values_of_a_unit_and_the_relation() -> None:
    for method, neighbours, sensitivity in (
        ("joint", "add_remove", 3 * 0.75),
        ("joint", "replace_one", 3.0),
        ("halving", "add_remove", 3.0),
    ):
        mechanism = dps.mechanisms.QuantilesMechanism(
            epsilon=1.0, levels=(0.25, 0.5), bounds=(0, 1), method=method, neighbours=neighbours, values_per_unit=3
        )
        assert mechanism.sensitivity == sensitivity
    # With more values of a unit the answers are as uncertain as at a smaller epsilon.
    values = [0.2, 0.4, 0.6, 0.8] * 30
    for method in ("joint", "halving"):
        spread = [
            np.std(
                [
                    dps.mechanisms.QuantilesMechanism(
                        epsilon=2.0, levels=(0.5, 0.9), bounds=(0, 1), method=method, values_per_unit=rows
                    ).draw(values)[0]
                    for _ in range(300)
                ]
            )
            for rows in (1, 200)
        ]
        assert spread[1] > 2 * spread[0]


def test_equal_values_are_shared_by_both_methods() -> None:
    values = [37.0] * 900 + [20.0] * 100
    for method in ("joint", "halving"):
        answers = drawn(values, [0.2, 0.4, 0.5, 0.9], bounds=(0, 120), step=1, epsilon=4.0, method=method)
        assert answers == (37.0,) * 4


@pytest.mark.parametrize(("name", "value"), [("method", "both"), ("epsilon", 101.0), ("values_per_unit", 0)])
def test_bad_arguments(name: str, value: Any) -> None:
    given: dict[str, Any] = {"epsilon": 1.0, "levels": (0.5,), "bounds": (0, 1), name: value}
    with pytest.raises(InvalidParameterError) as caught:
        dps.mechanisms.QuantilesMechanism(**given)
    assert caught.value.name == name


@pytest.mark.parametrize("bounds", [(1e-300, 1e300), (-1.7e308, 1.7e308)])
@pytest.mark.parametrize("epsilon", [1e-300, 1e-6, 100.0])
def test_extreme_scales(bounds: Any, epsilon: float) -> None:
    for values in ([], [bounds[0]] * 400, [bounds[1]] * 400):
        answers = drawn(values, [0.1, 0.5, 0.99], bounds=bounds, epsilon=epsilon)
        assert bounds[0] <= answers[0] <= answers[1] <= answers[2] <= bounds[1]


def test_one_level_is_the_single_quantile() -> None:
    mechanism = dps.mechanisms.QuantilesMechanism(epsilon=50.0, levels=(0.5,), bounds=(0, 120), step=1)
    assert mechanism.draw([37] * 99) == (37.0,)
    assert len(drawn([], [0.1, 0.9, 0.5], bounds=(0, 1), epsilon=1.0)) == 3


@pytest.mark.parametrize("levels", [[], [0.5, 0.5], [1.5], [math.nan], 0.5, None, "05", {0.5: 1}, [True], ["0.5"]])
def test_bad_levels(levels: Any) -> None:
    with pytest.raises(InvalidParameterError) as caught:
        drawn([SECRET], levels, bounds=(0, 1), epsilon=1.0)
    assert caught.value.name == "levels"
    assert_says_nothing(caught.value)


@pytest.mark.parametrize("name", sorted(set(BAD_SCORES) - ALLOWED_HERE))
def test_bad_values(name: str) -> None:
    with pytest.raises(InvalidDataError) as caught:
        drawn(BAD_SCORES[name], [0.1, 0.5], bounds=(0, 1), epsilon=1.0)
    assert caught.value.name == "values"
    assert_says_nothing(caught.value)


def test_joint_quantiles_of_too_many_gaps_are_refused_and_halving_is_named() -> None:
    values = np.broadcast_to(np.float64(0.5), 25_000_000)  # of one number in memory
    mechanism = dps.mechanisms.QuantilesMechanism(epsilon=1.0, levels=[0.25, 0.75], bounds=(0, 1))
    with pytest.raises(dps.errors.InvalidParameterError, match=r"levels=<2 of them>: .*method=.halving") as refused:
        mechanism.draw(values)
    assert "25" not in str(refused.value)
    fewer = dps.mechanisms.QuantilesMechanism(epsilon=1.0, levels=[0.25, 0.75], bounds=(0, 1), method="halving")
    assert len(fewer.draw(values[:1000])) == 2
