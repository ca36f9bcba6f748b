"""The law of several quantiles drawn at once: its formula against all paths enumerated, and draws against it."""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import dpselect as dps
from tests.laws.goodness_of_fit import NEVER, p_value
from tests.mechanisms.joint_law import cdf
from tests.reference.joint_quantiles import path_law

CASES = {"none": [], "one": [3.0], "ties": [1.0, 2.0, 2.0, 6.0], "outside": [-9.0, 0.5, 4.0, 7.0, 99.0]}


def marginal(
    values: list[float], levels: tuple[float, ...], at: float, mechanism: dps.mechanisms.QuantilesMechanism
) -> list[float]:
    """P(answer <= at) for each level, by the law of paths, and a path's answers in a gap by counting which half."""
    ends = [Fraction(0), *sorted(Fraction(min(max(value, 0.0), 8.0)) for value in values), Fraction(8)]
    rate = mechanism.epsilon / (2 * mechanism.score_range)
    exact = [Fraction(level) for level in levels]
    unit = np.lcm.reduce([level.denominator for level in exact])
    law = path_law(ends, levels=exact, decay=Fraction(np.exp(-rate / float(unit))))
    found = [0.0] * len(levels)
    for path, chance in law.items():
        for j, gap in enumerate(path):
            start, end = float(ends[gap]), float(ends[gap + 1])
            if at >= end:
                found[j] += float(chance)
            elif at > start:
                share, size, rank = (at - start) / (end - start), path.count(gap), path[: j + 1].count(gap)
                below = [
                    np.prod([share if is_low else 1 - share for is_low in which])
                    for which in itertools.product([True, False], repeat=size)
                    if sum(which) >= rank
                ]
                found[j] += float(chance) * float(sum(below))
    return found


@pytest.mark.parametrize("values", CASES.values(), ids=CASES)
@pytest.mark.parametrize("levels", [(0.5,), (0.25, 0.75), (0.0, 0.5, 0.625)])
def test_the_law_is_the_sum_over_all_paths(values: list[float], levels: tuple[float, ...]) -> None:
    mechanism = dps.mechanisms.QuantilesMechanism(epsilon=2.0, levels=levels, bounds=(0, 8))
    points = [0.0, 0.25, 1.0, 1.5, 2.0, 3.5, 5.0, 7.5, 8.0]
    expected = np.array([marginal(values, levels, at, mechanism) for at in points]).T
    np.testing.assert_allclose(cdf(mechanism, values, points), expected, atol=1e-12)


def test_draws_have_the_planned_law() -> None:
    values = np.random.default_rng(5).normal(50.0, 20.0, 300)
    levels = (0.9, 0.1, 0.5)
    mechanism = dps.mechanisms.QuantilesMechanism(epsilon=0.5, levels=levels, bounds=(0, 100))
    other = dps.mechanisms.QuantilesMechanism(epsilon=2.0, levels=levels, bounds=(0, 100))
    draws = np.array([mechanism.draw(values) for _ in range(1500)])
    for j, level in enumerate(levels):
        edges = np.concatenate(
            [[0.0], np.quantile(values.clip(0, 100), np.linspace(level - 0.09, level + 0.09, 13)), [100.0]]
        )
        counts = np.histogram(draws[:, j], edges)[0]
        assert p_value(counts, np.diff(cdf(mechanism, values, edges)[j])) >= NEVER
        assert p_value(counts, np.diff(cdf(other, values, edges)[j])) < NEVER


def test_one_level_is_the_single_quantile_and_shapes_are_kept() -> None:
    values = np.arange(1000.0)
    points = np.linspace(-5, 1005, 60).reshape(3, 20)
    many = cdf(dps.mechanisms.QuantilesMechanism(epsilon=1.0, levels=(0.3,), bounds=(0, 1000)), values, points)
    one = dps.mechanisms.QuantileMechanism(epsilon=1.0, level=0.3, bounds=(0, 1000)).cdf(values, points)
    assert many.shape == (1, 3, 20)
    np.testing.assert_allclose(many[0], one, atol=1e-12)


@pytest.mark.parametrize("bounds", [(1e-300, 1e300), (-1.7e308, 1.7e308)])
@pytest.mark.parametrize("epsilon", [1e-300, 1.0, 100.0])
def test_extreme_bounds_and_scales(bounds: Any, epsilon: float) -> None:
    mechanism = dps.mechanisms.QuantilesMechanism(epsilon=epsilon, levels=(0.1, 0.5, 0.99), bounds=bounds)
    for values in ([], [bounds[0]] * 40, [bounds[1]] * 40, [1.0, 2.0]):
        sums = cdf(mechanism, values, [-1.75e308, bounds[0] / 2 + 1, 1.0, 5e299, 1.75e308])
        assert np.all(np.diff(sums) >= -1e-12)
        assert np.all(np.diff(sums, axis=0) <= 1e-12)
        assert np.all(sums[:, -1] == 1.0)
